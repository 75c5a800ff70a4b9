/* The inverse planner `maximum-margin`: utilities under which the demonstrator is better than
 * others by as much as can be.
 *
 * By state it is Ng and Russell's (2000), of the return Syed and Schapire's (2008), see game.h;
 * where states are hidden it goes by beliefs, after Choi and Kim (2011), see belief_margin.h. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "invert/utility/answer.h"
#include "invert/utility/asked.h"
#include "invert/utility/belief_margin.h"
#include "invert/utility/bellman.h"
#include "invert/utility/face.h"
#include "invert/utility/game.h"
#include "invert/utility/open.h"
#include "invert/utility/penalty.h"
#include "invert/utility/risk_margin.h"

extern const idm_inverse idm_inverse_maximum_margin; /* registered below */

/* What is asked, and what is being found. */
typedef struct question {
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  const idm_mind *mind; /* NULL where states are observed */
  const idm_mdp *world;
  const idm_sought *sought;
  const idm_demonstrator *demonstrator; /* NULL where they are not */
  double bound;                         /* the box, in units */
  double epsilon;                       /* the least margin of a state, in units */
  double *weight;                       /* [number]: entries that share it */
  double *key;                          /* [number]: see idm_sought_keys */
  idm_program *program;
  idm_face face;
  idm_halt *halt;
  idm_finding *finding;
  idm_notes *opt_notes;
} question;

static const char no_utility[] =
    "no utility within the box makes every action of the demonstrator the best of its state, with "
    "the entries that are held and the --epsilon asked for; free more of them, or widen --bound";
static const char no_end[] =
    "without an end to the box the margin grows for ever; expected a finite --bound";

/* --- by state ------------------------------------------------------------------------------- */

/* Columns after numbers and values: a margin a state, then what numbers are above and below 0. */
static size_t margin_column(const question *q, size_t s)
{
  return q->sought->count + q->world->n.states + s;
}

/* V - Q(s,u) >= margin of s for every other action. */
static idm_status add_margins(question *q, idm_bellman *rows, size_t s, size_t taken,
                              idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t u = 0; u < q->world->n.actions && status == IDM_OK; u++) {
    if (u == taken || !idm_bellman_open(q->world, u)) continue;
    status = idm_bellman_enter(rows, s, u, 1, opt_error);
    if (status == IDM_OK)
      status = idm_program_enter(q->program, margin_column(q, s), -1, opt_error);
    if (status == IDM_OK) status = idm_bellman_add(rows, s, 0, INFINITY, opt_error);
    idm_program_set_bounds(q->program, margin_column(q, s), q->epsilon, INFINITY);
    idm_program_set_cost(q->program, margin_column(q, s), -1);
  }
  return status;
}

static idm_status state_program(question *q, const int32_t *taken, idm_error *opt_error)
{
  const size_t states = q->world->n.states;
  const size_t count = q->sought->count;
  const bool penalty = q->settings->penalty > 0;
  idm_status status =
      idm_program_create(count + 2 * states + (penalty ? 2 * count : 0), &q->program, opt_error);
  if (status != IDM_OK) return status;
  idm_bellman rows = idm_bellman_begin(q->program, q->world, q->sought, count);
  for (size_t k = 0; k < count; k++) idm_program_set_bounds(q->program, k, -q->bound, q->bound);
  status = idm_bellman_policy(&rows, q->demonstrator->policy, opt_error);
  for (size_t s = 0; s < states && status == IDM_OK; s++) {
    idm_program_set_bounds(q->program, margin_column(q, s), 0, 0);
    if (taken[s] != IDM_MISSING) status = add_margins(q, &rows, s, (size_t)taken[s], opt_error);
  }
  if (status == IDM_OK && penalty)
    status = idm_penalty_add(q->program, count, margin_column(q, states), q->settings->penalty,
                             q->weight, NULL, opt_error);
  return status;
}

/* max sum over visited s of min_{u != u_s} (Q(s,u_s) - Q(s,u)) - penalty |utility|_1, Q that of the
 * demonstrator, each at least epsilon. */
static idm_status find_by_state(question *q, idm_error *opt_error)
{
  int32_t *taken = idm_new(q->world->n.states, sizeof *taken);
  idm_status status = taken ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_deterministic(q->demonstrator, q->problem->setting,
                                            idm_inverse_maximum_margin.name, taken, opt_error);
  if (status == IDM_OK) status = state_program(q, taken, opt_error);
  /* Measured on gridworlds: 3 s in place of 132 s at 2,500 states, and no faster at 400. */
  if (status == IDM_OK && q->world->n.states > 1000)
    idm_program_set_method(q->program, IDM_PROGRAM_BARRIER);
  if (status == IDM_OK) {
    q->face.x = idm_new(idm_program_columns(q->program), sizeof *q->face.x);
    if (!q->face.x) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK)
    status = idm_face_choose(q->program, no_utility, no_end, &q->face, q->halt, opt_error);
  q->finding->objective = 0 - q->face.objective;
  free(taken);
  return status;
}

/* --- of the return -------------------------------------------------------------------------- */

static bool everything_free(const idm_sought *sought)
{
  for (size_t e = 0; e < sought->entries; e++)
    if (sought->number[e] < 0) return false;
  return true;
}

/* Whether the utility that was found is 0 everywhere. */
static bool is_zero(const question *q)
{
  for (size_t e = 0; e < q->sought->entries; e++)
    if (fabs(idm_sought_value(q->sought, e, q->face.x)) > 1e-9) return false;
  return true;
}

static void say_of_game(const question *q, const idm_game *game)
{
  idm_notes *words = &q->finding->words;
  if (everything_free(q->sought) && fabs(game->objective) <= 1e-9)
    idm_notes_add(words,
                  "every entry of the utility is free and a policy can have the demonstrator's "
                  "occupancy: whatever a policy gains at one utility it loses at another, so the "
                  "margin is 0, at the utility 0; hold some entries");
  else if (is_zero(q))
    idm_notes_add(words,
                  "the answer is the utility 0, at which all policies are alike: no policy has a "
                  "better return than the demonstrator at every utility of the box. Hold some "
                  "entries, or use --class me-irl for a demonstrator whose actions vary");
  else
    idm_notes_add(words,
                  "the policy shown is the one that plays against this utility: its return is "
                  "better than the demonstrator's by %.6g at least, whichever utility of the box "
                  "is the true one",
                  q->sought->unit * game->objective);
  if (!game->policy_nearest)
    idm_notes_add(words,
                  "of the policies that play as well, the one nearest the demonstrator's was not "
                  "found; another is shown");
}

/* The policy of the game is the finding's. */
static idm_status keep_policy(question *q, idm_game *game, idm_error *opt_error)
{
  const idm_setting *setting = q->problem->setting;
  idm_status status = idm_labels_copy(&setting->states, &q->finding->state, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->actions, &q->finding->action, opt_error);
  if (status != IDM_OK) return status;
  q->finding->policy = game->policy;
  game->policy = NULL;
  return IDM_OK;
}

static idm_status find_by_return(question *q, idm_error *opt_error)
{
  const idm_sizes n = q->world->n;
  idm_game game = {.bound = q->bound, .face = &q->face};
  double *occupancy = idm_new(idm_times(n.states, n.actions), sizeof *occupancy);
  idm_status status = occupancy ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_occupancy(q->demonstrator, q->world, q->data, q->problem->setting,
                                        q->settings->occupancy == IDM_OCCUPANCY_EMPIRICAL,
                                        occupancy, q->opt_notes, opt_error);
  if (status == IDM_OK)
    status = idm_game_play(q->world, q->sought, occupancy, q->demonstrator->policy, &game, q->halt,
                           opt_error);
  if (status == IDM_OK) status = keep_policy(q, &game, opt_error);
  if (status == IDM_OK) {
    q->finding->objective = game.objective;
    q->face.attained = fmax(q->face.attained, game.attained);
    say_of_game(q, &game);
  }
  free(game.policy);
  free(occupancy);
  return status;
}

/* --- where states are observed, and where they are not -------------------------------------- */

static idm_status find_by_states(question *q, idm_error *opt_error)
{
  const idm_status status = q->settings->margin == IDM_MARGIN_STATE ? find_by_state(q, opt_error)
                                                                    : find_by_return(q, opt_error);
  snprintf(q->finding->certificate, sizeof q->finding->certificate, "duality gap");
  q->finding->attained = q->face.attained;
  q->finding->closed = 1e-9;
  return status;
}

static idm_status find_by_beliefs(question *q, idm_error *opt_error)
{
  const idm_belief_margin asked = {.mind = q->mind,
                                   .data = q->data,
                                   .sought = q->sought,
                                   .settings = q->settings,
                                   .who = idm_inverse_maximum_margin.name,
                                   .halt = q->halt,
                                   .opt_notes = q->opt_notes};
  return idm_belief_margin_find(&asked, &q->face, q->finding, opt_error);
}

/* --- words ---------------------------------------------------------------------------------- */

static void say(const question *q)
{
  idm_notes *words = &q->finding->words;
  const char *margin = q->settings->penalty > 0 ? "margin less its price" : "margin";
  bool scale = true;
  for (size_t e = 0; e < q->sought->entries; e++)
    scale = scale && idm_sought_constant(q->sought, e) == 0;
  if (scale) idm_notes_add(words, "a positive factor is open too: the box alone sets the scale");
  if (q->face.only)
    idm_notes_add(words, "no other utility of the box has as large a %s", margin);
  else if (q->face.nearest)
    idm_notes_add(words,
                  "other utilities have as large a %s; this is the one of least norm, which "
                  "does not depend on the order of states and actions",
                  margin);
  else
    idm_notes_add(words,
                  "other utilities have as large a %s; this is one of them, picked by the names "
                  "of its entries and not by their order",
                  margin);
}

/* --- the inverse planner -------------------------------------------------------------------- */

static idm_status find(question *q, idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_finding *f = NULL;
  idm_status status = idm_finding_create(q->sought->count, &f, opt_error);
  q->finding = f;
  q->weight = idm_new(q->sought->count, sizeof *q->weight);
  q->key = idm_new(q->sought->count, sizeof *q->key);
  if (status == IDM_OK && !(q->weight && q->key)) status = idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_sought_keys(q->problem, q->sought, q->key, opt_error);
  if (status == IDM_OK) idm_sought_weights(q->sought, q->weight);
  q->face = (idm_face){.count = q->sought->count, .weight = q->weight, .key = q->key};
  if (status == IDM_OK)
    status = q->mind ? find_by_beliefs(q, opt_error) : find_by_states(q, opt_error);
  if (status == IDM_OK) f->objective *= q->sought->unit;
  if (status == IDM_OK)
    status = idm_open_shaping(q->world, q->demonstrator, q->sought, f, opt_error);
  if (status == IDM_OK) {
    say(q);
    if (q->mind)
      idm_notes_add(&f->words, "unchecked: a log that acts at few beliefs may leave more open");
    status = idm_answer_utility(&idm_inverse_maximum_margin, q->problem, q->settings, q->sought,
                                q->face.x, "linear-program", f, ret_posterior, opt_error);
  } else {
    idm_finding_destroy(f);
  }
  idm_program_destroy(q->program);
  free(q->weight);
  free(q->key);
  free(q->face.x);
  return status;
}

static idm_status check_settings(const idm_fit_settings *settings, bool observed,
                                 idm_error *opt_error)
{
  if (!observed && settings->occupancy == IDM_OCCUPANCY_EMPIRICAL)
    return idm_fail(opt_error, IDM_USAGE,
                    "--occupancy empirical is of problems whose states are observed");
  if (settings->margin == IDM_MARGIN_RETURN && settings->penalty != 0)
    return idm_fail(opt_error, IDM_USAGE, "--penalty is of --margin state, not of return");
  if (settings->margin == IDM_MARGIN_RETURN && settings->epsilon != 0)
    return idm_fail(opt_error, IDM_USAGE, "--epsilon is of --margin state, not of return");
  if (settings->margin == IDM_MARGIN_RETURN && !isfinite(settings->bound))
    return idm_fail(opt_error, IDM_USAGE, "--margin return needs a finite --bound");
  return IDM_OK;
}

static idm_status answer(idm_asked *asked, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_problem *problem = asked->problem;
  const idm_fit_settings *settings = asked->settings;
  idm_status status = check_settings(settings, problem->setting->fully_observed, opt_error);
  if (status == IDM_OK)
    status = idm_bellman_check(asked->world, problem->setting, asked->inverse->name, opt_error);
  if (status == IDM_OK && !asked->mind) status = idm_asked_demonstrator(asked, opt_error);
  if (status != IDM_OK) return status;
  if (!asked->mind && idm_risk_margin_is_asked(problem))
    return idm_risk_margin_fit(asked, ret_posterior, opt_error);
  /* Margins on beliefs are held against searches in the file's own unit. */
  if (!asked->mind) idm_sought_measure(asked->sought, false, settings->bound);
  question q = {.problem = problem,
                .data = asked->data,
                .settings = settings,
                .mind = asked->mind,
                .world = asked->world,
                .sought = asked->sought,
                .bound = settings->bound / asked->sought->unit,
                .epsilon = settings->epsilon / asked->sought->unit,
                .demonstrator = asked->demonstrator,
                .halt = &asked->halt,
                .opt_notes = asked->opt_notes};
  return find(&q, ret_posterior, opt_error);
}

static const idm_asked_method method = {
    .by = IDM_BY_MIND, .doing = "looking for the utility of the largest margin", .answer = answer};

static const char *const settings_read[] = {"margin", "penalty",   "epsilon",
                                            "bound",  "occupancy", NULL};

const idm_inverse idm_inverse_maximum_margin = {
    .name = "maximum-margin",
    .summary = "utilities under which the demonstrator is better than others by as much as can be",
    .row = "Maximum margin",
    .answer = IDM_POINT,
    .finds = "utility",
    .alone = "margins at different alphas, discounts or dynamics are in different units, and their "
             "size does not depend on these in a way that data bound; use --inverse "
             "distribution-matching, map or bayes",
    .also = "risk_level",
    .features = true,
    .settings = settings_read,
    .method = &method,
    .fit = idm_asked_fit,
};
