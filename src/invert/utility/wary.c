/* The program of one mixture, and the true margin.
 *
 * V of the demonstrator is the least over all that the models' mixtures may do, so it is concave in
 * the utility, and so is Q of every action: the margin V(s) - Q(s,u) is a difference of two concave
 * functions. V stands in a linear program exactly, by the dual of the worst share,
 *   min {sigma . k : 0 <= sigma <= w / level, sum sigma = 1}
 *     = max {t - sum_m w_m y_m / level : t - y_m <= k_m, y >= 0},
 * and Q(s,u) is at most Q under any one mixture: a program with that mixture fixed has true
 * margins of at least what it says. */
#include "invert/utility/wary.h"

#include <math.h>

#include "base/memory.h"
#include "infer/nearest.h"
#include "invert/utility/bellman.h"
#include "invert/utility/penalty.h"

/* A program whose certificate is further from closed than this has found nothing. */
static const double open_at_most = 1e-6;

static const char no_utility[] =
    "no utility within the box was found that makes every action of the demonstrator the best of "
    "its state under its models, with the entries that are held and the --epsilon asked for; free "
    "more of them, or widen --bound";
static const char no_end[] =
    "without an end to the box the margin grows for ever; expected a finite --bound";

/* --- the program ---------------------------------------------------------------------------- */

/* Columns: numbers, V, margins a state, what numbers are above and below 0, W of the mixture, then
 * t and y of the worst share, an entry after the other. */
static size_t value_column(const idm_wary *w, size_t s)
{
  return w->sought->count + s;
}

static size_t margin_column(const idm_wary *w, size_t s)
{
  return w->sought->count + w->n.states + s;
}

static size_t mixed_column(const idm_wary *w, size_t s)
{
  const size_t penalty = w->settings->penalty > 0 ? 2 * w->sought->count : 0;
  return margin_column(w, w->n.states) + penalty + s;
}

static size_t share_column(const idm_wary *w, size_t entry)
{
  return mixed_column(w, w->n.states) + w->place[entry] * (1 + w->models->count);
}

static size_t columns_of(const idm_wary *w)
{
  return mixed_column(w, w->n.states) + w->models->differing * (1 + w->models->count);
}

/* t - y_m <= discount P_m V. */
static idm_status add_shares(const idm_wary *w, idm_program *program, size_t entry,
                             idm_error *opt_error)
{
  const size_t t = share_column(w, entry);
  idm_status status = IDM_OK;
  for (size_t m = 0; m < w->models->count && status == IDM_OK; m++) {
    const idm_mdp *world = w->models->world[m];
    const idm_moves *moves = world->moves;
    /* At level 0 no share ends before the worst model has all. */
    idm_program_set_bounds(program, t + 1 + m, 0, w->level > 0 ? INFINITY : 0);
    status = idm_program_enter(program, t, -1, opt_error);
    if (status == IDM_OK) status = idm_program_enter(program, t + 1 + m, 1, opt_error);
    for (size_t i = moves->first[entry]; i < moves->first[entry + 1] && status == IDM_OK; i++)
      status = idm_program_enter(program, value_column(w, moves->next[i]),
                                 world->discount * moves->probability[i], opt_error);
    if (status == IDM_OK) status = idm_program_add(program, 0, INFINITY, opt_error);
  }
  return status;
}

/* Enter weight times -(utility + the worst share of what follows). */
static idm_status enter_worst(const idm_wary *w, idm_bellman *rows, size_t entry, double weight,
                              idm_error *opt_error)
{
  const size_t s = entry % w->n.states;
  if (!w->models->differ[entry])
    return idm_bellman_enter(rows, s, entry / w->n.states, weight, opt_error);
  const size_t t = share_column(w, entry);
  idm_status status = idm_bellman_utility(rows, entry, -weight, opt_error);
  if (status == IDM_OK) status = idm_program_enter(rows->program, t, -weight, opt_error);
  for (size_t m = 0; m < w->models->count && status == IDM_OK && w->level > 0; m++)
    status = idm_program_enter(rows->program, t + 1 + m, weight * w->models->weight[m] / w->level,
                               opt_error);
  return status;
}

/* V <= sum_u policy (utility + the worst share): the largest such V is the demonstrator's. */
static idm_status add_values(const idm_wary *w, idm_program *program, idm_error *opt_error)
{
  idm_bellman rows = idm_bellman_begin(program, w->models->world[0], w->sought, value_column(w, 0));
  idm_status status = IDM_OK;
  for (size_t s = 0; s < w->n.states && status == IDM_OK; s++) {
    for (size_t u = 0; u < w->n.actions && status == IDM_OK; u++) {
      const double p = w->demonstrator->policy[s * w->n.actions + u];
      const size_t entry = u * w->n.states + s;
      if (p > 0 && w->models->differ[entry]) status = add_shares(w, program, entry, opt_error);
    }
    for (size_t u = 0; u < w->n.actions && status == IDM_OK; u++) {
      const double p = w->demonstrator->policy[s * w->n.actions + u];
      if (p > 0) status = enter_worst(w, &rows, u * w->n.states + s, p, opt_error);
    }
    if (status == IDM_OK) status = idm_bellman_add(&rows, s, -INFINITY, 0, opt_error);
  }
  return status;
}

/* V - Q(s,u) of the mixture >= margin of s for every other action. */
static idm_status add_margins(const idm_wary *w, idm_bellman *mixed, size_t s, idm_error *opt_error)
{
  idm_program *program = mixed->program;
  idm_status status = IDM_OK;
  idm_program_set_bounds(program, margin_column(w, s), 0, 0);
  for (size_t u = 0; u < w->n.actions && status == IDM_OK && w->taken[s] != IDM_MISSING; u++) {
    if (u == (size_t)w->taken[s] || !idm_bellman_open(mixed->world, u)) continue;
    status = idm_bellman_enter(mixed, s, u, 1, opt_error);
    if (status == IDM_OK) status = idm_program_enter(program, margin_column(w, s), -1, opt_error);
    if (status == IDM_OK) status = idm_program_enter(program, value_column(w, s), 1, opt_error);
    if (status == IDM_OK) status = idm_program_add(program, mixed->held, INFINITY, opt_error);
    mixed->held = 0;
    idm_program_set_bounds(program, margin_column(w, s), w->settings->epsilon, INFINITY);
    idm_program_set_cost(program, margin_column(w, s), -1);
  }
  return status;
}

/* The program with the mixture w->sigma, in the world that this makes. */
static idm_status put_program(const idm_wary *w, const idm_mdp *world, idm_program *program,
                              idm_error *opt_error)
{
  idm_bellman mixed = idm_bellman_begin(program, world, w->sought, mixed_column(w, 0));
  for (size_t k = 0; k < w->sought->count; k++)
    idm_program_set_bounds(program, k, -w->settings->bound, w->settings->bound);
  idm_status status = add_values(w, program, opt_error);
  if (status == IDM_OK) status = idm_bellman_policy(&mixed, w->demonstrator->policy, opt_error);
  for (size_t s = 0; s < w->n.states && status == IDM_OK; s++)
    status = add_margins(w, &mixed, s, opt_error);
  if (status == IDM_OK && w->settings->penalty > 0)
    status = idm_penalty_add(program, w->sought->count, margin_column(w, w->n.states),
                             w->settings->penalty, w->weight, NULL, opt_error);
  return status;
}

static idm_status build(const idm_wary *w, idm_program **ret_program, idm_error *opt_error)
{
  idm_mdp *world = NULL;
  *ret_program = NULL;
  idm_status status = idm_models_mix(w->models, w->sigma, &world, opt_error);
  if (status == IDM_OK) status = idm_program_create(columns_of(w), ret_program, opt_error);
  if (status == IDM_OK) status = put_program(w, world, *ret_program, opt_error);
  idm_mdp_destroy(world);
  return status;
}

/* --- the true margin ------------------------------------------------------------------------ */

/* The row's own expression at numbers x, by sweeps and no program, and the worst mixture there. */
idm_status idm_wary_measure(idm_wary *w, const double *x, idm_error *opt_error)
{
  idm_sought_fill(w->sought, x, w->utility);
  const idm_status status = idm_models_evaluate(w->models, w->level, w->demonstrator->policy,
                                                w->utility, w->v, opt_error);
  if (status != IDM_OK) return status;
  idm_models_quality(w->models, w->level, w->utility, w->v, w->q, w->worst);
  w->margin = 0;
  for (size_t s = 0; s < w->n.states; s++) {
    double least = INFINITY;
    for (size_t u = 0; u < w->n.actions && w->taken[s] != IDM_MISSING; u++)
      if (u != (size_t)w->taken[s] && idm_bellman_open(w->models->world[0], u))
        least = fmin(least, w->v[s] - w->q[u * w->n.states + s]);
    if (isfinite(least)) w->margin += least;
  }
  for (size_t k = 0; k < w->sought->count; k++)
    w->margin -= w->settings->penalty * w->weight[k] * fabs(x[k]);
  return IDM_OK;
}

/* --- optima --------------------------------------------------------------------------------- */

/* Solve the program of w->sigma: w->x, w->objective, and w->worst, or -inf. */
idm_status idm_wary_solve(idm_wary *w, idm_error *opt_error)
{
  idm_program *program = NULL;
  idm_program_solution found = {0};
  idm_status status = build(w, &program, opt_error);
  if (status == IDM_OK)
    status = idm_program_solve(program, idm_bellman_ask, w->halt, &found, opt_error);
  if (status == IDM_OK) status = idm_halt_check(w->halt, opt_error);
  /* Without a box what grows for ever may also end at numbers that show nothing. */
  const bool shown =
      found.end == IDM_PROGRAM_SOLVED && fmax(found.gap, found.violation) <= open_at_most;
  const bool endless = found.end == IDM_PROGRAM_UNBOUNDED ||
                       (found.end == IDM_PROGRAM_SOLVED && !shown && isinf(w->settings->bound));
  w->unclear = w->unclear || (!shown && found.end != IDM_PROGRAM_INFEASIBLE);
  if (status == IDM_OK && endless) status = idm_fail(opt_error, IDM_INPUT, "%s", no_end);
  w->objective = -INFINITY;
  if (status == IDM_OK && shown) {
    w->objective = 0 - found.objective;
    memcpy(w->x, found.x, w->sought->count * sizeof *w->x);
    status = idm_wary_measure(w, w->x, opt_error);
  }
  idm_program_destroy(program);
  return status;
}

/* The nearest of all optima of a program that was chosen from, where rounding did not let that be
 * shown to the last digits: it is enough that its true margin is. */
static idm_status approach(idm_wary *w, const idm_program *program, idm_error *opt_error)
{
  const size_t columns = idm_program_columns(program);
  const double close = 1e-9 * fmax(1, fabs(w->face.objective));
  double *x = idm_duplicate(w->face.x, columns, sizeof *x);
  double *weight = idm_new(2 * columns, sizeof *weight);
  idm_status status = x && weight ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    idm_nearest near = {.weight = weight, .aim = weight + columns, .effort = 1e9};
    memcpy(weight, w->weight, w->sought->count * sizeof *weight);
    status = idm_program_nearest(program, &near, x, idm_bellman_ask, w->halt, opt_error);
    if (status == IDM_OK) status = idm_halt_check(w->halt, opt_error);
    if (status == IDM_OK) status = idm_wary_measure(w, x, opt_error);
    w->face.nearest = status == IDM_OK && near.residual <= open_at_most &&
                      fabs(w->margin + w->face.objective) <= close;
    if (w->face.nearest) memcpy(w->face.x, x, w->sought->count * sizeof *x);
  }
  free(x);
  free(weight);
  return status;
}

idm_status idm_wary_choose(idm_wary *w, idm_error *opt_error)
{
  idm_program *program = NULL;
  idm_status status = build(w, &program, opt_error);
  if (status == IDM_OK)
    status = idm_face_choose(program, no_utility, no_end, &w->face, w->halt, opt_error);
  if (status == IDM_OK && !w->face.only && !w->face.nearest)
    status = approach(w, program, opt_error);
  if (status == IDM_OK) status = idm_wary_measure(w, w->face.x, opt_error);
  w->objective = 0 - w->face.objective;
  idm_program_destroy(program);
  return status;
}

idm_status idm_wary_refuse(idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT, "%s", no_utility);
}

/* --- memory --------------------------------------------------------------------------------- */

static idm_status allocate(idm_wary *w, idm_error *opt_error)
{
  const size_t mixture = idm_wary_mixture(w);
  const size_t count = w->sought->count;
  w->taken = idm_new(w->n.states, sizeof *w->taken);
  w->weight = idm_new(3 * count, sizeof *w->weight);
  w->place = idm_new(w->entries, sizeof *w->place);
  w->sigma = idm_new(idm_times(mixture, 2), sizeof *w->sigma);
  w->utility = idm_new(2 * w->entries + w->n.states, sizeof *w->utility);
  w->face.x = idm_new(columns_of(w), sizeof *w->face.x);
  if (!w->taken || !w->weight || !w->place || !w->sigma || !w->utility || !w->face.x)
    return idm_fail_memory(opt_error);
  w->key = w->weight + count;
  w->x = w->key + count;
  w->worst = w->sigma + mixture;
  w->q = w->utility + w->entries;
  w->v = w->q + w->entries;
  return IDM_OK;
}

static void number(idm_wary *w)
{
  for (size_t e = 0, place = 0; e < w->entries; e++) {
    w->place[e] = place;
    place += w->models->differ[e];
  }
  idm_sought_weights(w->sought, w->weight);
  w->face.count = w->sought->count;
  w->face.weight = w->weight;
  w->face.key = w->key;
}

size_t idm_wary_mixture(const idm_wary *w)
{
  return idm_times(w->entries, w->models->count);
}

idm_status idm_wary_create(idm_asked *asked, idm_wary **ret_wary, idm_error *opt_error)
{
  *ret_wary = NULL;
  idm_wary *w = idm_new(1, sizeof *w);
  if (!w) return idm_fail_memory(opt_error);
  *w = (idm_wary){.settings = asked->settings,
                  .sought = asked->sought,
                  .demonstrator = asked->demonstrator,
                  .halt = &asked->halt,
                  .n = asked->world->n,
                  .entries = asked->world->n.actions * asked->world->n.states,
                  .level = 1};
  idm_status status = idm_models_create(asked->problem, asked->world, &w->models, opt_error);
  if (status == IDM_OK) status = allocate(w, opt_error);
  if (status == IDM_OK) number(w);
  if (status == IDM_OK) status = idm_sought_keys(asked->problem, w->sought, w->key, opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_deterministic(w->demonstrator, asked->problem->setting,
                                            asked->inverse->name, w->taken, opt_error);
  if (status == IDM_OK)
    *ret_wary = w;
  else
    idm_wary_destroy(w);
  return status;
}

void idm_wary_destroy(idm_wary *w)
{
  if (!w) return;
  free(w->taken);
  free(w->weight);
  free(w->place);
  free(w->sigma);
  free(w->utility);
  free(w->face.x);
  idm_models_destroy(w->models);
  free(w);
}
