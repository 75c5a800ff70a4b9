/* Maximum margin for a demonstrator that maximises CVaR over its models: the linear program for a
 * fixed mixture, and the true margin.
 *
 * V of the demonstrator is a minimum over mixtures of the models, hence concave in the utility, and
 * so is Q of every action: the margin V(s) - Q(s,u) is a difference of concave functions. V enters
 * a linear program exactly, by the dual of CVaR,
 *   min {sigma . k : 0 <= sigma <= w / level, sum sigma = 1}
 *     = max {t - sum_m w_m y_m / level : t - y_m <= k_m, y >= 0},
 * and Q(s,u) is at most Q under any one mixture: with that mixture fixed, the true margins are at
 * least those of the program. */
#include "invert/utility/task.h"

#include <math.h>

#include "base/memory.h"
#include "infer/program.h"
#include "invert/utility/bellman.h"

/* A solution with a larger residual is rejected. */
static const double certificate_tolerance = 1e-6;

static const char infeasible_message[] =
    "no utility within the box was found that makes every action of the demonstrator optimal in "
    "its state under its models, with the entries that are held and the given --epsilon; free more "
    "of them, or widen --bound";
static const char unbounded_message[] =
    "without a box the margin is unbounded; expected a finite --bound";

/* --- the program ---------------------------------------------------------------------------- */

/* Columns: numbers; V; one margin per state; positive and negative parts of the numbers; W, the
 * values under the mixture; then t and y of the CVaR dual, entry by entry. */
static size_t value_column(const idm_cvar_program *w, size_t s)
{
  return w->free_utility->count + s;
}

static size_t margin_column(const idm_cvar_program *w, size_t s)
{
  return w->free_utility->count + w->n.states + s;
}

static size_t mixture_column(const idm_cvar_program *w, size_t s)
{
  const size_t penalty = w->settings->penalty > 0 ? 2 * w->free_utility->count : 0;
  return margin_column(w, w->n.states) + penalty + s;
}

static size_t dual_column(const idm_cvar_program *w, size_t entry)
{
  return mixture_column(w, w->n.states) + w->differ_index[entry] * (1 + w->models->count);
}

static size_t columns_of(const idm_cvar_program *w)
{
  return mixture_column(w, w->n.states) + w->models->differing * (1 + w->models->count);
}

/* Adds t - y_m <= discount P_m V. */
static idm_status add_dual_rows(const idm_cvar_program *w, idm_program *program, size_t entry,
                                idm_error *opt_error)
{
  const size_t t = dual_column(w, entry);
  idm_status status = IDM_OK;
  for (size_t m = 0; m < w->models->count && status == IDM_OK; m++) {
    const idm_mdp *mdp = w->models->mdp[m];
    const idm_sparse_rows *moves = mdp->moves;
    /* At level 0 weights are unbounded, and the worst model has all weight. */
    idm_program_set_bounds(program, t + 1 + m, 0, w->level > 0 ? INFINITY : 0);
    status = idm_program_add_entry(program, t, -1, opt_error);
    if (status == IDM_OK) status = idm_program_add_entry(program, t + 1 + m, 1, opt_error);
    for (size_t i = moves->first[entry]; i < moves->first[entry + 1] && status == IDM_OK; i++)
      status = idm_program_add_entry(program, value_column(w, moves->next[i]),
                                     mdp->discount * moves->probability[i], opt_error);
    if (status == IDM_OK) status = idm_program_add_row(program, 0, INFINITY, opt_error);
  }
  return status;
}

/* Adds -weight times (utility + CVaR of the successors). */
static idm_status enter_cvar(const idm_cvar_program *w, idm_bellman_rows *rows, size_t entry,
                             double weight, idm_error *opt_error)
{
  const size_t s = entry % w->n.states;
  if (!w->models->differ[entry])
    return idm_bellman_enter(rows, s, entry / w->n.states, weight, opt_error);
  const size_t t = dual_column(w, entry);
  idm_status status = idm_bellman_utility(rows, entry, -weight, opt_error);
  if (status == IDM_OK) status = idm_program_add_entry(rows->program, t, -weight, opt_error);
  for (size_t m = 0; m < w->models->count && status == IDM_OK && w->level > 0; m++)
    status = idm_program_add_entry(rows->program, t + 1 + m,
                                   weight * w->models->weight[m] / w->level, opt_error);
  return status;
}

/* Adds V <= sum_u policy (utility + CVaR): the largest such V is the demonstrator's value. */
static idm_status add_values(const idm_cvar_program *w, idm_program *program, idm_error *opt_error)
{
  idm_bellman_rows rows =
      idm_bellman_begin(program, w->models->mdp[0], w->free_utility, value_column(w, 0));
  idm_status status = IDM_OK;
  for (size_t s = 0; s < w->n.states && status == IDM_OK; s++) {
    for (size_t u = 0; u < w->n.actions && status == IDM_OK; u++) {
      const double p = w->demonstrator->policy[s * w->n.actions + u];
      const size_t entry = u * w->n.states + s;
      if (p > 0 && w->models->differ[entry]) status = add_dual_rows(w, program, entry, opt_error);
    }
    for (size_t u = 0; u < w->n.actions && status == IDM_OK; u++) {
      const double p = w->demonstrator->policy[s * w->n.actions + u];
      if (p > 0) status = enter_cvar(w, &rows, u * w->n.states + s, p, opt_error);
    }
    if (status == IDM_OK) status = idm_bellman_add(&rows, s, -INFINITY, 0, opt_error);
  }
  return status;
}

/* Adds V - Q(s,u) of the mixture >= margin of s for every other action. */
static idm_status add_margins(const idm_cvar_program *w, idm_bellman_rows *mixture_rows, size_t s,
                              idm_error *opt_error)
{
  idm_program *program = mixture_rows->program;
  idm_status status = IDM_OK;
  idm_program_set_bounds(program, margin_column(w, s), 0, 0);
  for (size_t u = 0;
       u < w->n.actions && status == IDM_OK && w->demonstrated_action[s] != IDM_MISSING; u++) {
    if (u == (size_t)w->demonstrated_action[s] || !idm_mdp_allows(mixture_rows->mdp, u)) continue;
    status = idm_bellman_enter(mixture_rows, s, u, 1, opt_error);
    if (status == IDM_OK)
      status = idm_program_add_entry(program, margin_column(w, s), -1, opt_error);
    if (status == IDM_OK) status = idm_program_add_entry(program, value_column(w, s), 1, opt_error);
    if (status == IDM_OK)
      status = idm_program_add_row(program, mixture_rows->fixed_part, INFINITY, opt_error);
    mixture_rows->fixed_part = 0;
    idm_program_set_bounds(program, margin_column(w, s), w->settings->epsilon, INFINITY);
    idm_program_set_cost(program, margin_column(w, s), -1);
  }
  return status;
}

/* Builds the program with the mixture w->sigma, whose MDP is `mdp`. */
static idm_status put_program(const idm_cvar_program *w, const idm_mdp *mdp, idm_program *program,
                              idm_error *opt_error)
{
  idm_bellman_rows mixture_rows =
      idm_bellman_begin(program, mdp, w->free_utility, mixture_column(w, 0));
  for (size_t k = 0; k < w->free_utility->count; k++)
    idm_program_set_bounds(program, k, -w->settings->bound, w->settings->bound);
  idm_status status = add_values(w, program, opt_error);
  if (status == IDM_OK)
    status = idm_bellman_policy(&mixture_rows, w->demonstrator->policy, opt_error);
  for (size_t s = 0; s < w->n.states && status == IDM_OK; s++)
    status = add_margins(w, &mixture_rows, s, opt_error);
  if (status == IDM_OK && w->settings->penalty > 0)
    status = idm_penalty_add(program, w->free_utility->count, margin_column(w, w->n.states),
                             w->settings->penalty, w->weight, NULL, opt_error);
  return status;
}

static idm_status build_program(const idm_cvar_program *w, idm_program **ret_program,
                                idm_error *opt_error)
{
  idm_mdp *mdp = NULL;
  *ret_program = NULL;
  idm_status status = idm_models_mix(w->models, w->sigma, &mdp, opt_error);
  if (status == IDM_OK) status = idm_program_create(columns_of(w), ret_program, opt_error);
  if (status == IDM_OK) status = put_program(w, mdp, *ret_program, opt_error);
  idm_mdp_destroy(mdp);
  return status;
}

/* --- the true margin ------------------------------------------------------------------------ */

/* Evaluates the margin at numbers x by iterative policy evaluation, and the worst mixture there. */
idm_status idm_cvar_program_evaluate(idm_cvar_program *w, const double *x, idm_error *opt_error)
{
  idm_free_utility_fill(w->free_utility, x, w->utility);
  const idm_status status = idm_models_evaluate(w->models, w->level, w->demonstrator->policy,
                                                w->utility, w->v, opt_error);
  if (status != IDM_OK) return status;
  idm_models_action_values(w->models, w->level, w->utility, w->v, w->q, w->worst);
  w->margin = 0;
  for (size_t s = 0; s < w->n.states; s++) {
    double least = INFINITY;
    for (size_t u = 0; u < w->n.actions && w->demonstrated_action[s] != IDM_MISSING; u++)
      if (u != (size_t)w->demonstrated_action[s] && idm_mdp_allows(w->models->mdp[0], u))
        least = fmin(least, w->v[s] - w->q[u * w->n.states + s]);
    if (isfinite(least)) w->margin += least;
  }
  for (size_t k = 0; k < w->free_utility->count; k++)
    w->margin -= w->settings->penalty * w->weight[k] * fabs(x[k]);
  return IDM_OK;
}

/* --- optima --------------------------------------------------------------------------------- */

/* Solves the program of w->sigma; sets w->x, w->objective (-inf if infeasible) and w->worst. */
idm_status idm_cvar_program_solve(idm_cvar_program *w, idm_error *opt_error)
{
  idm_program *program = NULL;
  idm_program_solution found = {0};
  idm_status status = build_program(w, &program, opt_error);
  if (status == IDM_OK)
    status = idm_program_solve(program, idm_bellman_interrupted, w->cancel, &found, opt_error);
  if (status == IDM_OK) status = idm_cancel_check(w->cancel, opt_error);
  /* Without a box the solver can also report an unbounded program as solved without a certificate.
   */
  const bool certified =
      found.end == IDM_PROGRAM_SOLVED && fmax(found.gap, found.violation) <= certificate_tolerance;
  const bool unbounded =
      found.end == IDM_PROGRAM_UNBOUNDED ||
      (found.end == IDM_PROGRAM_SOLVED && !certified && isinf(w->settings->bound));
  w->undetermined = w->undetermined || (!certified && found.end != IDM_PROGRAM_INFEASIBLE);
  if (status == IDM_OK && unbounded)
    status = idm_fail(opt_error, IDM_INPUT, "%s", unbounded_message);
  w->objective = -INFINITY;
  if (status == IDM_OK && certified) {
    w->objective = 0 - found.objective;
    memcpy(w->x, found.x, w->free_utility->count * sizeof *w->x);
    status = idm_cvar_program_evaluate(w, w->x, opt_error);
  }
  idm_program_destroy(program);
  return status;
}

/* Projects onto the optimal face of a chosen program if rounding prevented its certification: the
 * true margin must then equal the optimum. */
static idm_status choose_nearest(idm_cvar_program *w, const idm_program *program,
                                 idm_error *opt_error)
{
  const size_t columns = idm_program_columns(program);
  const double tolerance = 1e-9 * fmax(1, fabs(w->face.objective));
  double *x = idm_duplicate(w->face.x, columns, sizeof *x);
  double *weight = idm_new(2 * columns, sizeof *weight);
  idm_status status = x && weight ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    idm_program_projection near = {.weight = weight, .target = weight + columns, .effort = 1e9};
    memcpy(weight, w->weight, w->free_utility->count * sizeof *weight);
    status = idm_program_project(program, &near, x, idm_bellman_interrupted, w->cancel, opt_error);
    if (status == IDM_OK) status = idm_cancel_check(w->cancel, opt_error);
    if (status == IDM_OK) status = idm_cvar_program_evaluate(w, x, opt_error);
    w->face.nearest = status == IDM_OK && near.residual <= certificate_tolerance &&
                      fabs(w->margin + w->face.objective) <= tolerance;
    if (w->face.nearest) memcpy(w->face.x, x, w->free_utility->count * sizeof *x);
  }
  free(x);
  free(weight);
  return status;
}

idm_status idm_cvar_program_choose(idm_cvar_program *w, idm_error *opt_error)
{
  idm_program *program = NULL;
  idm_status status = build_program(w, &program, opt_error);
  if (status == IDM_OK)
    status = idm_face_choose_unique(program, infeasible_message, unbounded_message, &w->face,
                                    w->cancel, opt_error);
  if (status == IDM_OK && !w->face.unique && !w->face.nearest)
    status = choose_nearest(w, program, opt_error);
  if (status == IDM_OK) status = idm_cvar_program_evaluate(w, w->face.x, opt_error);
  w->objective = 0 - w->face.objective;
  idm_program_destroy(program);
  return status;
}

idm_status idm_cvar_program_infeasible(idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT, "%s", infeasible_message);
}

/* --- memory --------------------------------------------------------------------------------- */

static idm_status allocate(idm_cvar_program *w, idm_error *opt_error)
{
  const size_t mixture = idm_cvar_mixture_size(w);
  const size_t count = w->free_utility->count;
  w->demonstrated_action = idm_new(w->n.states, sizeof *w->demonstrated_action);
  w->weight = idm_new(3 * count, sizeof *w->weight);
  w->differ_index = idm_new(w->entries, sizeof *w->differ_index);
  w->sigma = idm_new(idm_times(mixture, 2), sizeof *w->sigma);
  w->utility = idm_new(2 * w->entries + w->n.states, sizeof *w->utility);
  w->face.x = idm_new(columns_of(w), sizeof *w->face.x);
  if (!w->demonstrated_action || !w->weight || !w->differ_index || !w->sigma || !w->utility ||
      !w->face.x)
    return idm_fail_memory(opt_error);
  w->key = w->weight + count;
  w->x = w->key + count;
  w->worst = w->sigma + mixture;
  w->q = w->utility + w->entries;
  w->v = w->q + w->entries;
  return IDM_OK;
}

static void number_entries(idm_cvar_program *w)
{
  for (size_t e = 0, differ_index = 0; e < w->entries; e++) {
    w->differ_index[e] = differ_index;
    differ_index += w->models->differ[e];
  }
  idm_free_utility_weights(w->free_utility, w->weight);
  w->face.count = w->free_utility->count;
  w->face.weight = w->weight;
  w->face.key = w->key;
}

size_t idm_cvar_mixture_size(const idm_cvar_program *w)
{
  return idm_times(w->entries, w->models->count);
}

idm_status idm_cvar_program_create(idm_task *task, idm_cvar_program **ret_cvar,
                                   idm_error *opt_error)
{
  *ret_cvar = NULL;
  idm_cvar_program *w = idm_new(1, sizeof *w);
  if (!w) return idm_fail_memory(opt_error);
  *w = (idm_cvar_program){.settings = task->settings,
                          .free_utility = task->free_utility,
                          .demonstrator = task->demonstrator,
                          .cancel = &task->cancel,
                          .n = task->mdp->n,
                          .entries = task->mdp->n.actions * task->mdp->n.states,
                          .level = 1};
  idm_status status = idm_models_create(task->problem, task->mdp, &w->models, opt_error);
  if (status == IDM_OK) status = allocate(w, opt_error);
  if (status == IDM_OK) number_entries(w);
  if (status == IDM_OK)
    status = idm_free_utility_keys(task->problem, w->free_utility, w->key, opt_error);
  if (status == IDM_OK)
    status = idm_demonstrator_deterministic(w->demonstrator, task->problem->setting,
                                            task->inverse->name, w->demonstrated_action, opt_error);
  if (status == IDM_OK)
    *ret_cvar = w;
  else
    idm_cvar_program_destroy(w);
  return status;
}

void idm_cvar_program_destroy(idm_cvar_program *w)
{
  if (!w) return;
  free(w->demonstrated_action);
  free(w->weight);
  free(w->differ_index);
  free(w->sigma);
  free(w->utility);
  free(w->face.x);
  idm_models_destroy(w->models);
  free(w);
}
