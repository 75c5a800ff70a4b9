/* The inverse planner `regularised-margin`: utilities that minimise the soft plan's advantage over
 * the demonstrator plus a quadratic penalty (`docs/method/inverse.md, 4`); without the penalty,
 * maximum causal entropy.
 *
 * Contents: attained · lambda · regularised margin */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/extension/planner.h"
#include "idm/extension/random.h"
#include "invert/utility/bellman.h"
#include "invert/utility/mdp.h"
#include "invert/utility/soft_plan.h"
#include "invert/utility/task.h"
#include "plan/plan.h"

/* === attained ================================================================================= */

/* Attainability of a demonstrator's occupancy by soft plans at finite utilities: a linear program
 * over directions d of the free numbers and values V of states. The demonstrator is optimal for d
 * if V(s) - d(s,u) - discount P V is 0 for its actions and a nonnegative slack for others; a
 * direction with a positive slack in a state that some policy visits is one along which the soft
 * plan approaches the demonstrator without attaining it. Slacks are bounded by 1, because
 * directions can be scaled. */

/* Smaller slacks are rounding errors of the solver. */
static const double min_slack = 1e-6;

/* visited[state]: true if reachable by some policy of available actions. `queue` is scratch,
 * [state]. */
static void find_visited(const idm_mdp *mdp, bool *visited, size_t *queue)
{
  const idm_sparse_rows *moves = mdp->moves;
  size_t count = 0;
  for (size_t s = 0; s < mdp->n.states; s++)
    if ((visited[s] = mdp->start[s] > 0)) queue[count++] = s;
  for (size_t k = 0; k < count; k++)
    for (size_t u = 0; u < mdp->n.actions; u++) {
      const size_t row = u * mdp->n.states + queue[k];
      for (size_t i = moves->first[row]; idm_mdp_allows(mdp, u) && i < moves->first[row + 1]; i++) {
        const size_t next = moves->next[i];
        if (visited[next] || !(moves->probability[i] > 0)) continue;
        visited[next] = true;
        queue[count++] = next;
      }
    }
}

/* A direction of the free utility: fixed entries are 0. */
static idm_status make_direction(const idm_free_utility *free_utility, idm_free_utility *direction,
                                 idm_error *opt_error)
{
  *direction = *free_utility;
  direction->held = idm_new(free_utility->entries, sizeof *direction->held);
  return direction->held ? IDM_OK : idm_fail_memory(opt_error);
}

/* slack[state * actions + action]: its column, 0 if there is none. Returns the number of slacks. */
static size_t place_slacks(const idm_task *task, const double *demonstrated, const bool *visited,
                           size_t *slack)
{
  const idm_sizes n = task->mdp->n;
  const size_t first = task->free_utility->count + n.states;
  size_t count = 0;
  for (size_t s = 0; s < n.states; s++)
    for (size_t u = 0; u < n.actions; u++)
      if (visited[s] && idm_mdp_allows(task->mdp, u) && !(demonstrated[u * n.states + s] > 0))
        slack[s * n.actions + u] = first + count++;
  return count;
}

static idm_status put_rows(idm_bellman_rows *rows, const bool *visited, const size_t *slack,
                           idm_error *opt_error)
{
  const idm_sizes n = rows->mdp->n;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < n.states * n.actions && status == IDM_OK; i++) {
    const size_t s = i / n.actions, u = i % n.actions;
    if (!visited[s] || !idm_mdp_allows(rows->mdp, u)) continue;
    status = idm_bellman_enter(rows, s, u, 1, opt_error);
    if (status == IDM_OK && slack[i]) {
      status = idm_program_add_entry(rows->program, slack[i], -1, opt_error);
      idm_program_set_cost(rows->program, slack[i], -1);
      idm_program_set_bounds(rows->program, slack[i], 0, 1);
    }
    if (status == IDM_OK) status = idm_bellman_add(rows, s, 0, 0, opt_error);
  }
  return status;
}

static idm_status fail_unattainable(const idm_task *task, const size_t *slack, const double *x,
                                    idm_error *opt_error)
{
  enum { max_listed = 5 };
  const idm_setting *setting = task->problem->setting;
  const idm_sizes n = task->mdp->n;
  char list[900] = "";
  size_t pairs = 0;
  for (size_t i = 0; i < n.states * n.actions; i++) {
    if (!slack[i] || !(x[slack[i]] > min_slack) || pairs++ >= max_listed) continue;
    const size_t length = strlen(list);
    snprintf(list + length, sizeof list - length, "%s'%.60s' in '%.60s'", length ? ", " : "",
             setting->actions.name[i % n.actions], setting->states.name[i / n.actions]);
  }
  return idm_fail(
      opt_error, IDM_INPUT,
      "with --lambda inf utilities grow without bound: a direction of them makes the demonstrator "
      "optimal and actions that it never takes worse without limit (%s%s); expected a finite "
      "--lambda, --lambda auto, fewer free numbers (ties), or more data",
      list, pairs > max_listed ? ", ..." : "");
}

idm_status idm_attainable_check(idm_task *task, const double *demonstrated, idm_error *opt_error)
{
  const idm_sizes n = task->mdp->n;
  const size_t pairs = n.states * n.actions;
  idm_free_utility direction = {0};
  idm_program *program = NULL;
  idm_program_solution solution = {0};
  bool *visited = idm_new(n.states, sizeof *visited);
  size_t *slack = idm_new(pairs, sizeof *slack);
  size_t *queue = idm_new(n.states, sizeof *queue);
  idm_status status = visited && slack && queue ? IDM_OK : idm_fail_memory(opt_error);
  size_t slacks = 0;
  if (status == IDM_OK) {
    find_visited(task->mdp, visited, queue);
    slacks = place_slacks(task, demonstrated, visited, slack);
  }
  if (status == IDM_OK && slacks) {
    status = make_direction(task->free_utility, &direction, opt_error);
    if (status == IDM_OK)
      status =
          idm_program_create(task->free_utility->count + n.states + slacks, &program, opt_error);
    if (status == IDM_OK) {
      idm_bellman_rows rows =
          idm_bellman_begin(program, task->mdp, &direction, task->free_utility->count);
      status = put_rows(&rows, visited, slack, opt_error);
    }
    if (status == IDM_OK)
      status = idm_face_solve(program, "no direction is 0", "slacks are unbounded", &solution,
                              &task->cancel, opt_error);
    if (status == IDM_OK && -solution.objective > min_slack)
      status = fail_unattainable(task, slack, solution.x, opt_error);
  }
  idm_program_destroy(program);
  free(direction.held);
  free(visited);
  free(slack);
  free(queue);
  return status;
}

/* === lambda =================================================================================== */

/* Choice of lambda by cross-validation over held-out decisions. Decisions of a soft plan are
 * independent given their states, so a fold can consist of whole trajectories or, if these are few,
 * of runs of decisions. */

enum { folds = 5, lambda_values = 8, runs_per_fold = 10 };
/* lambda = alpha 10^(first_decade + k). */
static const int first_decade = -1;
/* Used if there are too few decisions for cross-validation. */
static const double default_lambda = 100;
/* Key of the random stream of folds. */
static const uint64_t stream = (uint64_t)1 << 40;
/* Smaller weights of decisions are rounding errors of 0. */
static const double rounding = 1e-9;
/* Log-losses that differ by less are equal. */
static const double loss_tolerance = 1e-9;

typedef struct cross_validation {
  idm_task *task;
  const idm_soft_agent *agent;
  int32_t *fold; /* [row]; IDM_MISSING: not a decision in a known state */
  size_t decisions;
  double loss[folds][lambda_values]; /* sums over a fold's held-out decisions */
  idm_status status[folds];
  idm_error error[folds];
} cross_validation;

static double lambda_at(const cross_validation *c, int k)
{
  return c->agent->alpha * pow(10, first_decade + k);
}

/* --- folds ---------------------------------------------------------------------------------- */

typedef struct shuffle_key {
  double key;
  size_t at;
} shuffle_key;

static int by_key(const void *a, const void *b)
{
  const double x = ((const shuffle_key *)a)->key, y = ((const shuffle_key *)b)->key;
  return (x > y) - (x < y);
}

/* fold_of[unit]: units in random order, assigned to the folds in turn. */
static idm_status assign_folds(uint64_t seed, size_t units, int32_t *fold_of, idm_error *opt_error)
{
  shuffle_key *keys = idm_new(units, sizeof *keys);
  idm_random random;
  if (!keys) return idm_fail_memory(opt_error);
  idm_random_init(&random, seed, stream);
  for (size_t i = 0; i < units; i++) keys[i] = (shuffle_key){idm_random_uniform(&random), i};
  qsort(keys, units, sizeof *keys, by_key);
  for (size_t i = 0; i < units; i++) fold_of[keys[i].at] = (int32_t)(i % folds);
  free(keys);
  return IDM_OK;
}

static bool is_decision(const cross_validation *c, size_t row)
{
  const idm_data *data = c->task->data;
  const idm_row_states *at = c->task->demonstrator->row_states;
  return data->action[row] != IDM_MISSING && !idm_data_missed(data, row) &&
         at->first[row] < at->first[row + 1];
}

/* Units are trajectories, or runs of decisions of about equal length. */
static idm_status divide(cross_validation *c, bool by_trajectory, idm_error *opt_error)
{
  const idm_data *data = c->task->data;
  const size_t runs = c->decisions < folds * runs_per_fold ? c->decisions : folds * runs_per_fold;
  const size_t units = by_trajectory ? data->trajectories : runs;
  int32_t *fold_of = idm_new(units, sizeof *fold_of);
  idm_status status = fold_of ? assign_folds(c->task->settings->seed, units, fold_of, opt_error)
                              : idm_fail_memory(opt_error);
  size_t decision = 0;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++)
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      c->fold[r] = IDM_MISSING;
      if (!is_decision(c, r)) continue;
      c->fold[r] = fold_of[by_trajectory ? t : decision * units / c->decisions];
      decision++;
    }
  free(fold_of);
  return status;
}

/* --- one fold ------------------------------------------------------------------------------- */

/* Copies the demonstrator without the decisions of a fold. */
static idm_status exclude_fold(const cross_validation *c, int32_t fold, idm_demonstrator **ret,
                               idm_error *error)
{
  const idm_task *a = c->task;
  const idm_sizes n = a->mdp->n;
  const idm_row_states *at = a->demonstrator->row_states;
  const idm_status status = idm_demonstrator_copy(a->demonstrator, ret, error);
  if (status != IDM_OK) return status;
  idm_demonstrator *d = *ret;
  for (size_t r = 0; r < a->data->rows; r++) {
    if (c->fold[r] != fold) continue;
    for (size_t i = at->first[r]; i < at->first[r + 1]; i++) {
      d->visits[at->state[i]] -= at->weight[i];
      d->count[at->state[i] * n.actions + (size_t)a->data->action[r]] -= at->weight[i];
    }
    d->decisions--;
  }
  for (size_t s = 0; s < n.states; s++)
    for (size_t u = 0; u < n.actions; u++) {
      const size_t e = s * n.actions + u;
      /* Differences of equal sums of weights leave rounding errors. */
      d->policy[e] =
          d->visits[s] > rounding ? fmax(d->count[e], 0) / d->visits[s] : a->mdp->prior[u];
    }
  return IDM_OK;
}

/* -log pi of the held-out decisions, each by the policy of its step and state. */
static double held_out_loss(const cross_validation *c, int32_t fold, const idm_soft_plan *plan)
{
  const idm_data *data = c->task->data;
  const idm_sizes n = c->task->mdp->n;
  const idm_row_states *at = c->task->demonstrator->row_states;
  double sum = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      if (c->fold[r] != fold) continue;
      const size_t step = r - data->first[t];
      const size_t stage = step < plan->stages ? step : plan->stages - 1;
      double p = 0;
      for (size_t i = at->first[r]; i < at->first[r + 1]; i++)
        p += at->weight[i] *
             plan->policy[(stage * n.states + at->state[i]) * n.actions + (size_t)data->action[r]];
      sum -= log(fmax(p, 1e-300));
    }
  return sum;
}

/* Held-out loss at one lambda of the utility that is fitted to the occupancy mu. A new plan is used
 * for each lambda: planning for utilities of 0 does not converge from the values of others. */
static idm_status evaluate_lambda(const cross_validation *c, int32_t fold, const double *mu,
                                  double lambda, double *x, double *ret_loss, idm_error *error)
{
  idm_task *a = c->task;
  idm_soft_plan *plan = NULL;
  double objective, derivative;
  idm_status status = idm_soft_plan_create(a->mdp, c->agent->alpha, c->agent->prior, &plan, error);
  if (status == IDM_OK) {
    const idm_smooth_margin margin = {idm_task_utility(a), plan, mu, lambda, &a->cancel};
    status = idm_smooth_margin_minimise(&margin, x, &objective, &derivative, error);
  }
  /* A lambda for which planning fails has an infinite loss. */
  *ret_loss = status == IDM_OK ? held_out_loss(c, fold, plan) : INFINITY;
  idm_soft_plan_destroy(plan);
  return status == IDM_NUMERICAL ? IDM_OK : status;
}

static idm_status evaluate_fold(cross_validation *c, size_t fold, idm_error *error)
{
  const idm_task *a = c->task;
  idm_demonstrator *d = NULL;
  double *x = idm_new(a->free_utility->count, sizeof *x);
  double *mu = idm_new(2 * idm_task_utility(a)->entries, sizeof *mu);
  idm_status status = x && mu ? exclude_fold(c, (int32_t)fold, &d, error) : idm_fail_memory(error);
  if (status == IDM_OK)
    status = idm_soft_agent_demonstrated(d, a->mdp, a->data, a->problem->setting, false, mu, NULL,
                                         error);
  for (int k = 0; k < lambda_values && status == IDM_OK; k++)
    status = evaluate_lambda(c, (int32_t)fold, mu, lambda_at(c, k), x, &c->loss[fold][k], error);
  idm_demonstrator_destroy(d);
  free(x);
  free(mu);
  return status;
}

static void run_fold(void *context, size_t fold)
{
  cross_validation *c = context;
  c->status[fold] = evaluate_fold(c, fold, &c->error[fold]);
}

/* --- all of them ---------------------------------------------------------------------------- */

static void select_lambda(const cross_validation *c, idm_lambda *ret)
{
  ret->log_loss = INFINITY;
  for (int k = 0; k < lambda_values; k++) {
    double sum = 0;
    for (size_t f = 0; f < folds; f++) sum += c->loss[f][k];
    sum /= (double)c->decisions;
    if (!(sum < ret->log_loss - loss_tolerance)) continue;
    ret->log_loss = sum;
    ret->value = lambda_at(c, k);
  }
}

static idm_status compare(cross_validation *c, idm_lambda *ret, idm_error *opt_error)
{
  const idm_data *data = c->task->data;
  ret->trajectories = data->trajectories >= folds;
  ret->folds = folds;
  ret->min_value = lambda_at(c, 0);
  ret->max_value = lambda_at(c, lambda_values - 1);
  for (size_t r = 0; r < data->rows; r++) c->decisions += is_decision(c, r);
  if (c->decisions < 2 * folds) {
    *ret = (idm_lambda){.value = default_lambda, .log_loss = NAN};
    return IDM_OK;
  }
  idm_status status = divide(c, ret->trajectories, opt_error);
  if (status == IDM_OK)
    status = idm_cancel_parallel(&c->task->cancel, folds, c->task->settings->threads, run_fold, c,
                                 opt_error);
  for (size_t f = 0; f < folds && status == IDM_OK; f++) {
    status = c->status[f];
    if (status != IDM_OK && opt_error) *opt_error = c->error[f];
  }
  if (status == IDM_OK) select_lambda(c, ret);
  return status;
}

idm_status idm_lambda_choose(idm_task *task, const idm_soft_agent *agent, idm_lambda *ret_lambda,
                             idm_error *opt_error)
{
  const size_t rows = task->data->rows;
  cross_validation *c = idm_new(1, sizeof *c);
  *ret_lambda = (idm_lambda){0};
  if (!c) return idm_fail_memory(opt_error);
  c->task = task;
  c->agent = agent;
  c->fold = idm_new(rows, sizeof *c->fold);
  idm_status status = c->fold ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = compare(c, ret_lambda, opt_error);
  free(c->fold);
  free(c);
  return status;
}

/* === regularised margin ======================================================================= */

extern const idm_inverse idm_inverse_regularised_margin; /* registered below */

/* Eigenvalues of the occupancy's derivative below this share of the largest are rounding errors. */
static const double eigenvalue_tolerance = 1e-10;

/* --- what it cannot do without -------------------------------------------------------------- */

/* With a horizon the linear program does not apply, so with an infinite lambda every action must be
 * observed in every visited state. */
static idm_status check_actions_visited(const idm_demonstrator *d, const idm_setting *setting,
                                        const double *prior, idm_error *opt_error)
{
  enum { max_listed = 5 };
  char list[600] = "";
  size_t states = 0;
  for (size_t s = 0; s < d->n.states; s++) {
    size_t untaken = 0;
    for (size_t u = 0; u < d->n.actions && d->visits[s] > 0; u++)
      untaken += prior[u] > 0 && !(d->count[s * d->n.actions + u] > 0);
    if (!untaken || states++ >= max_listed) continue;
    const size_t length = strlen(list);
    snprintf(list + length, sizeof list - length, "%s'%.80s'", length ? ", " : "",
             setting->states.name[s]);
  }
  if (!states) return IDM_OK;
  return idm_fail(
      opt_error, IDM_INPUT,
      "with --lambda inf and a horizon every action must have been observed in every visited "
      "state, and some never was in %zu: %s%s; expected a finite --lambda, or more data",
      states, list, states > max_listed ? ", ..." : "");
}

static idm_status check_settings(const idm_fit_settings *settings, idm_error *opt_error)
{
  if (isinf(settings->lambda) && settings->occupancy != IDM_OCCUPANCY_POLICY)
    return idm_fail(
        opt_error, IDM_USAGE,
        "with --lambda inf the demonstrator's occupancy must be one that some policy has, or "
        "utilities grow without bound; expected --occupancy policy, or a finite --lambda");
  return IDM_OK;
}

/* Limits over beliefs: Bayes' rule, lattices that can be factorised, and a finite lambda, because
 * the linear program for attainability does not apply. */
enum { max_points = 300 };

static int resolution_of(const idm_problem *problem, const idm_data *data)
{
  const int supported = idm_belief_mdp_resolution(problem, data);
  const int max_value = idm_lattice_max_resolution(problem->setting->states.count, max_points);
  return supported < max_value ? supported : max_value;
}

static idm_status check_beliefs(const idm_problem *problem, const idm_fit_settings *settings,
                                idm_error *opt_error)
{
  const char *caller = idm_inverse_regularised_margin.name;
  const size_t states = problem->setting->states.count;
  const double beta = idm_theta_scalar(problem->theta, IDM_BETA);
  if (problem->setting->fully_observed) return IDM_OK;
  if (idm_lattice_max_resolution(states, max_points) < IDM_BELIEF_COARSEST)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' plans at the points of a lattice of beliefs, which with %zu hidden "
                    "states would be too coarse; use --inverse map or bayes",
                    caller, states);
  if (isinf(settings->lambda) || settings->occupancy != IDM_OCCUPANCY_POLICY)
    return idm_fail(opt_error, IDM_USAGE,
                    "'%s' of hidden states needs a finite --lambda and --occupancy policy", caller);
  if (!isinf(beta) && idm_planner_reads(idm_agent_planner(&problem->agent), IDM_BETA))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' inverts plans with beliefs by Bayes' rule; expected beta: inf, found %g",
                    caller, beta);
  if (problem->setting->horizon)
    return idm_fail(opt_error, IDM_INPUT, "'%s' of hidden states needs a problem without `horizon`",
                    caller);
  return IDM_OK;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static void note_result(const idm_mdp *mdp, const idm_free_utility *free_utility,
                        const idm_fit_settings *settings, const idm_lambda *opt_chosen,
                        double derivative, idm_optimality *f)
{
  if (opt_chosen && !opt_chosen->folds)
    idm_notes_add(&f->words, "lambda is %.3g: there are too few decisions for cross-validation",
                  opt_chosen->value);
  else if (opt_chosen)
    idm_notes_add(
        &f->words,
        "lambda is %.3g, of the decades from %.3g to %.3g the one of least log-loss of held-out "
        "decisions (%.4f per decision, %zu folds of %s)%s",
        opt_chosen->value, opt_chosen->min_value, opt_chosen->max_value, opt_chosen->log_loss,
        opt_chosen->folds, opt_chosen->trajectories ? "trajectories" : "decisions",
        opt_chosen->value >= opt_chosen->max_value ? "; larger ones were not compared" : "");
  if (isinf(settings->lambda))
    idm_notes_add(
        &f->words,
        free_utility->features
            ? "no penalty on weights: the plan's mean features equal the demonstrator's "
              "to %.1g, and of all weights that fit as well these have the least norm in units "
              "of the features"
            : "no penalty on utilities: the plan's occupancy equals the demonstrator's "
              "to %.1g, and of all utilities that fit as well these have the least norm",
        derivative);
  if (mdp->horizon)
    idm_notes_add(&f->words,
                  "with a horizon plans change from step to step; the policy is that of the first");
}

/* Directions along which the plan's occupancy is constant: the null space of its derivative. */
static idm_status find_flat_directions(const idm_free_utility *planned, idm_soft_plan *plan,
                                       idm_optimality *f, idm_error *opt_error)
{
  const size_t n = planned->count;
  double *work = idm_new(3 * n + 2 * planned->entries, sizeof *work);
  double *gram = idm_new(idm_times(2 * n, n), sizeof *gram);
  f->direction = idm_new(idm_times(n, n), sizeof *f->direction);
  const bool made = work && gram && f->direction;
  double *values = work + n, *entry = work + 3 * n;
  for (size_t k = 0; k < n && made; k++) {
    work[k] = 1;
    idm_free_utility_apply(planned, work, entry);
    idm_soft_plan_hessian_product(plan, entry, entry + planned->entries);
    idm_free_utility_backward(planned, entry + planned->entries, gram + k * n);
    work[k] = 0;
  }
  if (made) idm_symmetric_eigen(n, gram, values, gram + n * n);
  for (size_t k = 0; k < n && made && values[k] <= eigenvalue_tolerance * values[n - 1]; k++)
    memcpy(f->direction + f->open++ * n, gram + n * n + k * n, n * sizeof *work);
  f->evaluated = made;
  free(work);
  free(gram);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* Directions of the utility that no behaviour identifies. */
static idm_status find_nullspace(const idm_task *task, idm_soft_plan *plan, idm_optimality *f,
                                 idm_error *opt_error)
{
  if (task->beliefs) return find_flat_directions(task->belief_utility, plan, f, opt_error);
  return idm_soft_agent_nullspace(task->mdp, task->demonstrator, task->free_utility, f, opt_error);
}

/* Without a penalty, checks that the optimal utility is finite. */
static idm_status check_finite(idm_task *task, const idm_soft_agent *agent,
                               const double *demonstrated, idm_error *opt_error)
{
  if (!isinf(task->settings->lambda)) return IDM_OK;
  /* The linear program needs values that do not depend on the step. */
  return task->mdp->horizon ? check_actions_visited(task->demonstrator, task->problem->setting,
                                                    agent->prior, opt_error)
                            : idm_attainable_check(task, demonstrated, opt_error);
}

/* --- another lattice ------------------------------------------------------------------------ */

/* Fits the utility at a coarser resolution. */
static idm_status find_coarser(const idm_task *task, double alpha, const double *prior,
                               int resolution, double *x, idm_error *opt_error)
{
  idm_task coarse;
  idm_soft_plan *plan = NULL;
  double *demonstrated = NULL;
  double objective, derivative;
  const idm_fit_arguments call = idm_task_call(task);
  idm_status status = idm_task_open(&coarse, &call, resolution, opt_error);
  if (status == IDM_OK) status = idm_task_demonstrator(&coarse, opt_error);
  if (status == IDM_OK) status = idm_soft_plan_create(coarse.mdp, alpha, prior, &plan, opt_error);
  if (status == IDM_OK) {
    demonstrated = idm_new(2 * coarse.belief_utility->entries, sizeof *demonstrated);
    status = demonstrated ? idm_soft_agent_demonstrated(coarse.demonstrator, coarse.mdp,
                                                        coarse.data, task->problem->setting, false,
                                                        demonstrated, NULL, opt_error)
                          : idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) {
    const idm_smooth_margin margin = {coarse.belief_utility, plan, demonstrated,
                                      task->settings->lambda, &coarse.cancel};
    status = idm_smooth_margin_minimise(&margin, x, &objective, &derivative, opt_error);
  }
  idm_soft_plan_destroy(plan);
  free(demonstrated);
  idm_task_close(&coarse);
  return status;
}

/* Share of the plan's decisions in which the plan under utility numbers x differs; on return the
 * plan is that of x. */
static idm_status policy_difference(const idm_task *task, idm_soft_plan *plan, const double *x,
                                    double *share, idm_error *opt_error)
{
  const idm_sizes n = task->mdp->n;
  const size_t all = n.states * n.actions;
  double value;
  double *work = idm_new(2 * all + n.states, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  memcpy(work, plan->policy, all * sizeof *work);
  memcpy(work + 2 * all, plan->mass, n.states * sizeof *work);
  idm_free_utility_fill(task->belief_utility, x, work + all);
  const idm_status status = idm_soft_plan_solve(plan, work + all, &value, opt_error);
  *share = 0;
  for (size_t e = 0; e < all; e++)
    *share += 0.5 * work[2 * all + e / n.actions] * fabs(work[e] - plan->policy[e]);
  free(work);
  return status;
}

static idm_status compare_lattices(const idm_task *task, idm_soft_plan *plan, const double *x,
                                   idm_optimality *f, idm_error *opt_error)
{
  const idm_lattice *lattice = task->beliefs->lattice;
  const int coarse_resolution = (lattice->resolution + 1) / 2;
  double share = INFINITY;
  double *other = idm_duplicate(x, task->free_utility->count, sizeof *other);
  idm_status status = other ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = find_coarser(task, plan->alpha, plan->prior, coarse_resolution, other, opt_error);
  if (status == IDM_OK) status = policy_difference(task, plan, other, &share, opt_error);
  free(other);
  if (status == IDM_OK) idm_belief_mdp_note(task->beliefs, coarse_resolution, share, f);
  return status;
}

static idm_status find(idm_task *task, const idm_soft_agent *agent, const idm_lambda *opt_chosen,
                       idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_mdp *mdp = task->mdp;
  const idm_free_utility *free_utility = task->free_utility;
  const idm_free_utility *planned = idm_task_utility(task);
  const idm_fit_settings *settings = task->settings;
  idm_optimality *f = NULL;
  idm_soft_plan *plan = NULL;
  double derivative = NAN;
  double *x = idm_new(free_utility->count, sizeof *x);
  double *demonstrated = idm_new(2 * planned->entries, sizeof *demonstrated);
  idm_status status = x && demonstrated ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_optimality_create(free_utility->count, &f, opt_error);
  if (status == IDM_OK)
    status = idm_soft_plan_create(mdp, agent->alpha, agent->prior, &plan, opt_error);
  if (status == IDM_OK)
    status = idm_soft_agent_demonstrated(
        task->demonstrator, mdp, task->data, task->problem->setting,
        settings->occupancy == IDM_OCCUPANCY_EMPIRICAL, demonstrated, task->opt_notes, opt_error);
  if (status == IDM_OK) status = check_finite(task, agent, demonstrated, opt_error);
  if (status == IDM_OK) {
    const idm_smooth_margin margin = {planned, plan, demonstrated, settings->lambda, &task->cancel};
    status = idm_smooth_margin_minimise(&margin, x, &f->objective, &derivative, opt_error);
  }
  if (status == IDM_OK) {
    snprintf(f->certificate, sizeof f->certificate, "gradient norm");
    f->attained = derivative;
    f->closed = 1e-9;
    note_result(mdp, free_utility, settings, opt_chosen, derivative, f);
    idm_task_check_truncation(task, f);
    status = find_nullspace(task, plan, f, opt_error);
  }
  if (status == IDM_OK && task->beliefs) status = compare_lattices(task, plan, x, f, opt_error);
  if (status == IDM_OK && !mdp->horizon && !task->beliefs) {
    f->count = idm_duplicate(task->demonstrator->count, free_utility->entries, sizeof *f->count);
    if (!f->count) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK)
    status = idm_estimate_utility(task->inverse, task->problem, settings, free_utility, x, "newton",
                                  f, ret_posterior, opt_error);
  else
    idm_optimality_destroy(f);
  idm_soft_plan_destroy(plan);
  free(x);
  free(demonstrated);
  return status;
}

static idm_status answer(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_fit_settings *settings = task->settings;
  idm_soft_agent *agent = NULL;
  idm_fit_settings own = *settings;
  idm_lambda chosen;
  const bool automatic = settings->lambda == 0;
  idm_status status = check_beliefs(task->problem, settings, opt_error);
  if (status == IDM_OK) status = check_settings(settings, opt_error);
  if (status == IDM_OK)
    status = idm_soft_agent_create(task->problem, task->inverse->name, &agent, opt_error);
  if (status == IDM_OK) status = idm_task_demonstrator(task, opt_error);
  if (status == IDM_OK && automatic) {
    status = idm_lambda_choose(task, agent, &chosen, opt_error);
    own.lambda = chosen.value;
  }
  task->settings = &own;
  if (status == IDM_OK)
    status = find(task, agent, automatic ? &chosen : NULL, ret_posterior, opt_error);
  task->settings = settings;
  idm_soft_agent_destroy(agent);
  return status;
}

static const idm_task_method method = {.by = IDM_BY_LATTICE,
                                       .activity = "planning under one utility after the other",
                                       .answer = answer,
                                       .resolution = resolution_of};

static const char *const settings_read[] = {"lambda", "occupancy", NULL};

const idm_inverse idm_inverse_regularised_margin = {
    .name = "regularised-margin",
    .summary = "utilities under which a soft plan gains least over the demonstrator, with a "
               "penalty on their squares",
    .row = "Regularised maximum margin",
    .answer = IDM_POINT,
    .family = IDM_LATTICE_PLANNER,
    .target_block = "utility",
    .alone = "its objective is what the best plan gains over the demonstrator, and is least where "
             "other numbers leave least to gain (an infinite alpha), whatever the log is; use "
             "--inverse distribution-matching, map or bayes",
    .features = true,
    .settings = settings_read,
    .method = &method,
    .fit = idm_task_fit,
};
