/* The inverse planner `maximum-margin`: utilities that maximise the margin between the
 * demonstrator's actions and others (`docs/method/inverse.md, 4`). Margins by state follow Ng and
 * Russell (2000), margins of the return Syed and Schapire (2008), see bellman.h; for hidden states
 * margins are over beliefs, after Choi and Kim (2011), see mind.h.
 *
 * Contents: game · maximum margin */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "infer/program.h"
#include "invert/utility/belief_mdp.h"
#include "invert/utility/bellman.h"
#include "invert/utility/mdp.h"
#include "invert/utility/task.h"

/* === game ===================================================================================== */

/* Game of a policy against utilities: the policy maximises its advantage over the demonstrator for
 * the worst utility in the box. */

/* Data of both sides of the game. */
typedef struct game_data {
  const idm_mdp *mdp;
  const idm_free_utility *free_utility;
  const double *occupancy; /* [state][action]: the demonstrator's */
  idm_game *game;
  idm_cancel *cancel;
} game_data;

static const char no_value_message[] =
    "the game of policies against utilities has no value: the problem's numbers are invalid";

/* Index in an occupancy of the (state, action) of an entry. */
static size_t occupancy_index(const game_data *t, size_t entry)
{
  const idm_sizes n = t->mdp->n;
  return entry % n.states * n.actions + entry / n.states;
}

/* --- utilities ------------------------------------------------------------------------------ */

/* min over utilities of (optimal value - the demonstrator's) at the start, with V >= utility +
 * discount P V in every state. */
static idm_status add_rows(const game_data *t, idm_program *program, idm_error *opt_error)
{
  const idm_sizes n = t->mdp->n;
  idm_bellman_rows rows =
      idm_bellman_begin(program, t->mdp, t->free_utility, t->free_utility->count);
  idm_status status = IDM_OK;
  for (size_t s = 0; s < n.states && status == IDM_OK; s++)
    for (size_t u = 0; u < n.actions && status == IDM_OK; u++) {
      if (!idm_mdp_allows(t->mdp, u)) continue;
      status = idm_bellman_enter(&rows, s, u, 1, opt_error);
      if (status == IDM_OK) status = idm_bellman_add(&rows, s, 0, INFINITY, opt_error);
    }
  return status;
}

/* Costs: minus the demonstrator's expected count of each number, and the start distribution.
 * Returns the demonstrator's return from fixed entries. */
static double set_costs(const game_data *t, double *expected_count, idm_program *program)
{
  const size_t count = t->free_utility->count;
  double held = 0;
  for (size_t e = 0; e < t->free_utility->entries; e++) {
    const double share = t->occupancy[occupancy_index(t, e)] / (1 - t->mdp->discount);
    held -= idm_free_utility_add(t->free_utility, e, -share, expected_count);
  }
  for (size_t k = 0; k < count; k++) {
    idm_program_set_bounds(program, k, -t->game->bound, t->game->bound);
    idm_program_set_cost(program, k, expected_count[k]);
  }
  for (size_t s = 0; s < t->mdp->n.states; s++)
    idm_program_set_cost(program, count + s, t->mdp->start[s]);
  return held;
}

static idm_status choose_utility(const game_data *t, idm_error *opt_error)
{
  const size_t columns = t->free_utility->count + t->mdp->n.states;
  idm_program *program = NULL;
  double held = 0;
  double *expected_count = idm_new(t->free_utility->count, sizeof *expected_count);
  t->game->face->x = idm_new(columns, sizeof *t->game->face->x);
  idm_status status = expected_count && t->game->face->x ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_program_create(columns, &program, opt_error);
  if (status == IDM_OK) held = set_costs(t, expected_count, program);
  if (status == IDM_OK) status = add_rows(t, program, opt_error);
  if (status == IDM_OK)
    status = idm_face_choose_unique(program, no_value_message, no_value_message, t->game->face,
                                    t->cancel, opt_error);
  if (status == IDM_OK) t->game->objective = t->game->face->objective - held;
  idm_program_destroy(program);
  free(expected_count);
  return status;
}

/* --- policies ------------------------------------------------------------------------------- */

/* Occupancies of suboptimal actions under the utility are 0 (complementary slackness). */
static void bound_occupancy(const game_data *t, const double *utility, idm_program *program)
{
  const idm_sizes n = t->mdp->n;
  const double *v = t->game->face->x + t->free_utility->count;
  for (size_t s = 0; s < n.states; s++)
    for (size_t u = 0; u < n.actions; u++) {
      const double loss = v[s] - utility[u * n.states + s] - idm_mdp_next_value(t->mdp, u, s, v);
      const bool best = idm_mdp_allows(t->mdp, u) && loss <= 1e-8 * fmax(1, fabs(v[s]));
      idm_program_set_bounds(program, s * n.actions + u, 0, best ? INFINITY : 0);
    }
}

/* Adds the flow constraints. Transitions are sorted by next state first. */
static idm_status add_flow(const game_data *t, idm_program *program, idm_error *opt_error)
{
  const idm_sizes n = t->mdp->n;
  const idm_sparse_rows *moves = t->mdp->moves;
  const size_t entries = moves->first[moves->rows];
  size_t *begin = idm_new(n.states + 2, sizeof *begin);
  size_t *row = idm_new(entries, sizeof *row);
  double *share = idm_new(entries, sizeof *share);
  idm_status status = begin && row && share ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < entries && status == IDM_OK; i++) begin[moves->next[i] + 2]++;
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) begin[s + 2] += begin[s + 1];
  for (size_t r = 0; r < moves->rows && status == IDM_OK; r++)
    for (size_t i = moves->first[r]; i < moves->first[r + 1]; i++) {
      share[begin[moves->next[i] + 1]] = t->mdp->discount * moves->probability[i];
      row[begin[moves->next[i] + 1]++] = r;
    }
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    for (size_t u = 0; u < n.actions && status == IDM_OK; u++)
      status = idm_program_add_entry(program, s * n.actions + u, 1, opt_error);
    for (size_t i = begin[s]; i < begin[s + 1] && status == IDM_OK; i++)
      status = idm_program_add_entry(program, occupancy_index(t, row[i]), -share[i], opt_error);
    const double start = (1 - t->mdp->discount) * t->mdp->start[s];
    if (status == IDM_OK) status = idm_program_add_row(program, start, start, opt_error);
  }
  free(begin);
  free(row);
  free(share);
  return status;
}

/* Optimality of the utility: for a number inside the box the expected counts of both sides are
 * equal; at a bound an inequality holds. */
static idm_status add_number_rows(const game_data *t, idm_program *program, idm_error *opt_error)
{
  const double box_tolerance = t->game->bound * (1 - 1e-9);
  idm_status status = IDM_OK;
  for (size_t k = 0; k < t->free_utility->count && status == IDM_OK; k++) {
    const double x = t->game->face->x[k];
    double target = 0;
    for (size_t e = 0; e < t->free_utility->entries && status == IDM_OK; e++) {
      const double share = idm_free_utility_coefficient(t->free_utility, e, k);
      if (share == 0) continue;
      target += share * t->occupancy[occupancy_index(t, e)];
      status = idm_program_add_entry(program, occupancy_index(t, e), share, opt_error);
    }
    if (status == IDM_OK)
      status = idm_program_add_row(program, x > box_tolerance ? -INFINITY : target,
                                   x < -box_tolerance ? INFINITY : target, opt_error);
  }
  return status;
}

/* Projects the demonstrator's occupancy onto the optimal occupancies and stores the policy; in
 * states of zero occupancy the demonstrator's own. */
static idm_status choose_nearest(const game_data *t, const idm_program *program,
                                 const double *demonstrated, idm_error *opt_error)
{
  const idm_sizes n = t->mdp->n;
  const size_t entries = n.states * n.actions;
  double *mu = idm_duplicate(t->occupancy, entries, sizeof *mu);
  double *weight = idm_new(entries, sizeof *weight);
  idm_status status = mu && weight ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t i = 0; i < entries && status == IDM_OK; i++) weight[i] = 1;
  idm_program_projection near = {.weight = weight, .target = t->occupancy, .effort = 2e9};
  if (status == IDM_OK)
    status = idm_program_project(program, &near, mu, idm_bellman_interrupted, t->cancel, opt_error);
  if (status == IDM_OK) status = idm_cancel_check(t->cancel, opt_error);
  if (status == IDM_OK) {
    t->game->policy_nearest = near.residual <= 1e-9;
    t->game->attained = near.residual;
  }
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    double total = 0;
    for (size_t u = 0; u < n.actions; u++) total += fmax(0, mu[s * n.actions + u]);
    for (size_t u = 0; u < n.actions; u++)
      t->game->policy[s * n.actions + u] =
          total > 1e-9 ? fmax(0, mu[s * n.actions + u]) / total : demonstrated[s * n.actions + u];
  }
  free(mu);
  free(weight);
  return status;
}

static idm_status choose_policy(const game_data *t, const double *demonstrated,
                                idm_error *opt_error)
{
  const size_t entries = t->free_utility->entries;
  idm_program *program = NULL;
  double *utility = idm_new(entries, sizeof *utility);
  t->game->policy = idm_new(entries, sizeof *t->game->policy);
  idm_status status = utility && t->game->policy ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_program_create(entries, &program, opt_error);
  if (status == IDM_OK) {
    idm_free_utility_fill(t->free_utility, t->game->face->x, utility);
    bound_occupancy(t, utility, program);
    status = add_flow(t, program, opt_error);
  }
  if (status == IDM_OK) status = add_number_rows(t, program, opt_error);
  if (status == IDM_OK) status = choose_nearest(t, program, demonstrated, opt_error);
  idm_program_destroy(program);
  free(utility);
  return status;
}

idm_status idm_game_solve(const idm_mdp *mdp, const idm_free_utility *free_utility,
                          const double *occupancy, const double *demonstrated, idm_game *game,
                          idm_cancel *cancel, idm_error *opt_error)
{
  const game_data t = {.mdp = mdp,
                       .free_utility = free_utility,
                       .occupancy = occupancy,
                       .game = game,
                       .cancel = cancel};
  game->policy = NULL;
  idm_status status = choose_utility(&t, opt_error);
  if (status == IDM_OK) status = choose_policy(&t, demonstrated, opt_error);
  return status;
}

/* === maximum margin =========================================================================== */

extern const idm_inverse idm_inverse_maximum_margin; /* registered below */

/* Arguments and intermediate results. */
typedef struct margin_problem {
  const idm_task *task;
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  const idm_pomdp *pomdp; /* NULL if states are observed */
  const idm_mdp *mdp;
  const idm_free_utility *free_utility;
  const idm_demonstrator *demonstrator; /* NULL if states are hidden */
  double bound;                         /* bound of the box, in units */
  double epsilon;                       /* least margin per state, in units */
  double *weight;                       /* [number]: number of entries that share it */
  double *key;                          /* [number]: see idm_free_utility_keys */
  idm_program *program;
  idm_face face;
  idm_cancel *cancel;
  idm_optimality *optimality;
  idm_notes *opt_notes;
} margin_problem;

static const char infeasible_message[] =
    "no utility within the box makes every action of the demonstrator optimal in its state, with "
    "the entries that are held and the given --epsilon; free more of them, or widen --bound";
static const char unbounded_message[] =
    "without a box the margin is unbounded; expected a finite --bound";

/* --- by state ------------------------------------------------------------------------------- */

/* Columns after numbers and values: one margin per state, then positive and negative parts of the
 * numbers. */
static size_t margin_column(const margin_problem *q, size_t s)
{
  return q->free_utility->count + q->mdp->n.states + s;
}

/* Adds V - Q(s,u) >= margin of s for every other action. */
static idm_status add_margins(margin_problem *q, idm_bellman_rows *rows, size_t s,
                              size_t demonstrated_action, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t u = 0; u < q->mdp->n.actions && status == IDM_OK; u++) {
    if (u == demonstrated_action || !idm_mdp_allows(q->mdp, u)) continue;
    status = idm_bellman_enter(rows, s, u, 1, opt_error);
    if (status == IDM_OK)
      status = idm_program_add_entry(q->program, margin_column(q, s), -1, opt_error);
    if (status == IDM_OK) status = idm_bellman_add(rows, s, 0, INFINITY, opt_error);
    idm_program_set_bounds(q->program, margin_column(q, s), q->epsilon, INFINITY);
    idm_program_set_cost(q->program, margin_column(q, s), -1);
  }
  return status;
}

static idm_status state_program(margin_problem *q, const int32_t *demonstrated_action,
                                idm_error *opt_error)
{
  const size_t states = q->mdp->n.states;
  const size_t count = q->free_utility->count;
  const bool penalty = q->settings->penalty > 0;
  idm_status status =
      idm_program_create(count + 2 * states + (penalty ? 2 * count : 0), &q->program, opt_error);
  if (status != IDM_OK) return status;
  idm_bellman_rows rows = idm_bellman_begin(q->program, q->mdp, q->free_utility, count);
  for (size_t k = 0; k < count; k++) idm_program_set_bounds(q->program, k, -q->bound, q->bound);
  status = idm_bellman_policy(&rows, q->demonstrator->policy, opt_error);
  for (size_t s = 0; s < states && status == IDM_OK; s++) {
    idm_program_set_bounds(q->program, margin_column(q, s), 0, 0);
    if (demonstrated_action[s] != IDM_MISSING)
      status = add_margins(q, &rows, s, (size_t)demonstrated_action[s], opt_error);
  }
  if (status == IDM_OK && penalty)
    status = idm_penalty_add(q->program, count, margin_column(q, states), q->settings->penalty,
                             q->weight, NULL, opt_error);
  return status;
}

/* max sum over visited s of min_{u != u_s} (Q(s,u_s) - Q(s,u)) - penalty |utility|_1, Q the
 * demonstrator's, each margin at least epsilon. */
static idm_status find_by_state(margin_problem *q, idm_error *opt_error)
{
  int32_t *demonstrated_action = idm_new(q->mdp->n.states, sizeof *demonstrated_action);
  idm_status status = demonstrated_action ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_deterministic(q->demonstrator, q->problem->setting,
                                            idm_inverse_maximum_margin.name, demonstrated_action,
                                            opt_error);
  if (status == IDM_OK) status = state_program(q, demonstrated_action, opt_error);
  /* The barrier method takes 3 s instead of 132 s on gridworlds of 2,500 states, and is no faster
   * at 400. */
  if (status == IDM_OK && q->mdp->n.states > 1000)
    idm_program_set_method(q->program, IDM_PROGRAM_BARRIER);
  if (status == IDM_OK) {
    q->face.x = idm_new(idm_program_columns(q->program), sizeof *q->face.x);
    if (!q->face.x) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK)
    status = idm_face_choose_unique(q->program, infeasible_message, unbounded_message, &q->face,
                                    q->cancel, opt_error);
  q->optimality->objective = 0 - q->face.objective;
  free(demonstrated_action);
  return status;
}

/* --- of the return -------------------------------------------------------------------------- */

static bool all_free(const idm_free_utility *free_utility)
{
  for (size_t e = 0; e < free_utility->entries; e++)
    if (free_utility->number[e] < 0) return false;
  return true;
}

/* true if the estimated utility is 0 everywhere. */
static bool is_zero(const margin_problem *q)
{
  for (size_t e = 0; e < q->free_utility->entries; e++)
    if (fabs(idm_free_utility_value(q->free_utility, e, q->face.x)) > 1e-9) return false;
  return true;
}

static void note_game(const margin_problem *q, const idm_game *game)
{
  idm_notes *words = &q->optimality->words;
  if (all_free(q->free_utility) && fabs(game->objective) <= 1e-9)
    idm_notes_add(words,
                  "every entry of the utility is free and a policy can have the demonstrator's "
                  "occupancy: whatever a policy gains at one utility it loses at another, so the "
                  "margin is 0, at the utility 0; hold some entries");
  else if (is_zero(q))
    idm_notes_add(words,
                  "the answer is the utility 0, under which all policies are equal: no policy has "
                  "a better return than the demonstrator at every utility of the box. Hold some "
                  "entries, or use --class me-irl for a demonstrator whose actions vary");
  else
    idm_notes_add(words,
                  "the policy shown is the one that plays against this utility: its return is "
                  "better than the demonstrator's by %.6g at least, whichever utility of the box "
                  "is the true one",
                  q->free_utility->unit * game->objective);
  if (!game->policy_nearest)
    idm_notes_add(words,
                  "of the policies that play as well, the one nearest the demonstrator's was not "
                  "found; another is shown");
}

/* Moves the game's policy to the optimality record. */
static idm_status store_policy(margin_problem *q, idm_game *game, idm_error *opt_error)
{
  const idm_setting *setting = q->problem->setting;
  idm_status status = idm_labels_copy(&setting->states, &q->optimality->state, opt_error);
  if (status == IDM_OK)
    status = idm_labels_copy(&setting->actions, &q->optimality->action, opt_error);
  if (status != IDM_OK) return status;
  q->optimality->policy = game->policy;
  game->policy = NULL;
  return IDM_OK;
}

static idm_status find_by_return(margin_problem *q, idm_error *opt_error)
{
  const idm_sizes n = q->mdp->n;
  idm_game game = {.bound = q->bound, .face = &q->face};
  double *occupancy = idm_new(idm_times(n.states, n.actions), sizeof *occupancy);
  idm_status status = occupancy ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_occupancy(q->demonstrator, q->mdp, q->data, q->problem->setting,
                                        q->settings->occupancy == IDM_OCCUPANCY_EMPIRICAL,
                                        occupancy, q->opt_notes, opt_error);
  if (status == IDM_OK)
    status = idm_game_solve(q->mdp, q->free_utility, occupancy, q->demonstrator->policy, &game,
                            q->cancel, opt_error);
  if (status == IDM_OK) status = store_policy(q, &game, opt_error);
  if (status == IDM_OK) {
    idm_task_check_truncation(q->task, q->optimality);
    q->optimality->objective = game.objective;
    q->face.attained = fmax(q->face.attained, game.attained);
    note_game(q, &game);
  }
  free(game.policy);
  free(occupancy);
  return status;
}

/* --- where states are observed, and where they are not -------------------------------------- */

static idm_status find_by_states(margin_problem *q, idm_error *opt_error)
{
  const idm_status status = q->settings->margin == IDM_MARGIN_STATE ? find_by_state(q, opt_error)
                                                                    : find_by_return(q, opt_error);
  snprintf(q->optimality->certificate, sizeof q->optimality->certificate, "duality gap");
  q->optimality->attained = q->face.attained;
  q->optimality->closed = 1e-9;
  return status;
}

static idm_status find_by_beliefs(margin_problem *q, idm_error *opt_error)
{
  const idm_belief_margin task = {.pomdp = q->pomdp,
                                  .data = q->data,
                                  .free_utility = q->free_utility,
                                  .settings = q->settings,
                                  .caller = idm_inverse_maximum_margin.name,
                                  .cancel = q->cancel,
                                  .opt_notes = q->opt_notes};
  return idm_belief_margin_find(&task, &q->face, q->optimality, opt_error);
}

/* --- words ---------------------------------------------------------------------------------- */

static void note_result(const margin_problem *q)
{
  idm_notes *words = &q->optimality->words;
  const char *margin = q->settings->penalty > 0 ? "margin minus its penalty" : "margin";
  bool scale = true;
  for (size_t e = 0; e < q->free_utility->entries; e++)
    scale = scale && idm_free_utility_constant(q->free_utility, e) == 0;
  if (scale) idm_notes_add(words, "a positive factor is open too: the box alone sets the scale");
  if (q->face.unique)
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

static idm_status find(margin_problem *q, idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_optimality *f = NULL;
  idm_status status = idm_optimality_create(q->free_utility->count, &f, opt_error);
  q->optimality = f;
  q->weight = idm_new(q->free_utility->count, sizeof *q->weight);
  q->key = idm_new(q->free_utility->count, sizeof *q->key);
  if (status == IDM_OK && !(q->weight && q->key)) status = idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_free_utility_keys(q->problem, q->free_utility, q->key, opt_error);
  if (status == IDM_OK) idm_free_utility_weights(q->free_utility, q->weight);
  q->face = (idm_face){.count = q->free_utility->count, .weight = q->weight, .key = q->key};
  if (status == IDM_OK)
    status = q->pomdp ? find_by_beliefs(q, opt_error) : find_by_states(q, opt_error);
  if (status == IDM_OK) f->objective *= q->free_utility->unit;
  if (status == IDM_OK)
    status = idm_nullspace_shaping(q->mdp, q->demonstrator, q->free_utility, f, opt_error);
  if (status == IDM_OK) {
    note_result(q);
    if (q->pomdp)
      idm_notes_add(&f->words,
                    "unchecked: a log with decisions at few beliefs may leave more open");
    status =
        idm_estimate_utility(&idm_inverse_maximum_margin, q->problem, q->settings, q->free_utility,
                             q->face.x, "linear-program", f, ret_posterior, opt_error);
  } else {
    idm_optimality_destroy(f);
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
    return idm_fail(opt_error, IDM_USAGE, "--occupancy empirical needs states that are observed");
  if (settings->margin == IDM_MARGIN_STATE && settings->occupancy == IDM_OCCUPANCY_EMPIRICAL)
    return idm_fail(opt_error, IDM_USAGE,
                    "--occupancy empirical needs --margin return: margins by state depend on the "
                    "actions of each state alone");
  if (settings->margin == IDM_MARGIN_RETURN && settings->penalty != 0)
    return idm_fail(opt_error, IDM_USAGE, "--penalty applies to --margin state, not to return");
  if (settings->margin == IDM_MARGIN_RETURN && settings->epsilon != 0)
    return idm_fail(opt_error, IDM_USAGE, "--epsilon applies to --margin state, not to return");
  if (settings->margin == IDM_MARGIN_RETURN && !isfinite(settings->bound))
    return idm_fail(opt_error, IDM_USAGE, "--margin return needs a finite --bound");
  return IDM_OK;
}

static idm_status answer(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_problem *problem = task->problem;
  const idm_fit_settings *settings = task->settings;
  idm_status status = check_settings(settings, problem->setting->fully_observed, opt_error);
  if (status == IDM_OK)
    status = idm_bellman_check(task->mdp, problem->setting, task->inverse->name, opt_error);
  if (status == IDM_OK && !task->pomdp) status = idm_task_demonstrator(task, opt_error);
  if (status != IDM_OK) return status;
  if (!task->pomdp && idm_risk_margin_applies(problem))
    return idm_risk_margin_fit(task, ret_posterior, opt_error);
  /* Margins over beliefs are compared with searches in the file's own unit. */
  if (!task->pomdp) idm_free_utility_rescale(task->free_utility, false, settings->bound);
  margin_problem q = {.task = task,
                      .problem = problem,
                      .data = task->data,
                      .settings = settings,
                      .pomdp = task->pomdp,
                      .mdp = task->mdp,
                      .free_utility = task->free_utility,
                      .bound = settings->bound / task->free_utility->unit,
                      .epsilon = settings->epsilon / task->free_utility->unit,
                      .demonstrator = task->demonstrator,
                      .cancel = &task->cancel,
                      .opt_notes = task->opt_notes};
  return find(&q, ret_posterior, opt_error);
}

static const idm_task_method method = {.by = IDM_BY_BELIEFS,
                                       .activity =
                                           "searching for the utility of the largest margin",
                                       .answer = answer};

static const char *const settings_read[] = {"margin", "penalty",   "epsilon",
                                            "bound",  "occupancy", NULL};

const idm_inverse idm_inverse_maximum_margin = {
    .name = "maximum-margin",
    .summary = "utilities under which the demonstrator's margin over other policies is largest",
    .row = "Maximum margin",
    .answer = IDM_POINT,
    .target_block = "utility",
    .alone = "margins are of best actions, which numbers that soften choices do not enter, and at "
             "different discounts or dynamics they are in different units and cannot be compared; "
             "use --inverse distribution-matching, map or bayes",
    .extra_block = "risk_level",
    .features = true,
    .settings = settings_read,
    .method = &method,
    .fit = idm_task_fit,
};
