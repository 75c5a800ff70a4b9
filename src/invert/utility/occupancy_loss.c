/* Divergence of the occupancy of a planner's policy from a target, and its gradient.
 *
 * Contents: beliefs of the log · opening · evaluation */
#include "invert/utility/occupancy_loss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "invert/predict.h"
#include "invert/utility/mdp.h"
#include "plan/plan.h"

const double idm_occupancy_step = 1e-4;

/* --- beliefs of the log ---------------------------------------------------------------------- */

static void close_decision_beliefs(idm_decision_beliefs *d)
{
  free(d->belief);
  free(d->first);
  free(d->point);
  free(d->weight);
  *d = (idm_decision_beliefs){0};
}

/* A row with a decision. */
typedef struct decision {
  const double *belief;
  const uint32_t *point; /* [points]: lattice points around the belief */
  const double *weight;  /* [points] */
  size_t states, points;
  double cells; /* beliefs in the same cell of width 1/cells are merged; 0: only equal beliefs */
} decision;

static int compare_beliefs(const void *left, const void *right)
{
  const decision *a = left, *b = right;
  for (size_t s = 0; s < a->states; s++) {
    const double own = a->cells > 0 ? floor(a->belief[s] * a->cells) : a->belief[s];
    const double other = a->cells > 0 ? floor(b->belief[s] * a->cells) : b->belief[s];
    if (own != other) return own < other ? -1 : 1;
  }
  if (a->points != b->points) return a->points < b->points ? -1 : 1;
  return memcmp(a->point, b->point, a->points * sizeof *a->point);
}

/* Equal beliefs keep the order of their rows, so that sums do not depend on the sorting algorithm.
 */
static int compare_decisions(const void *left, const void *right)
{
  const decision *a = left, *b = right;
  const int difference_gradient = compare_beliefs(a, b);
  return difference_gradient ? difference_gradient
                             : (a->belief > b->belief) - (a->belief < b->belief);
}

/* Sorts the rows; returns the number of distinct beliefs. */
static size_t sort_beliefs(decision *row, size_t rows, double cells)
{
  size_t count = rows > 0;
  for (size_t i = 0; i < rows; i++) row[i].cells = cells;
  qsort(row, rows, sizeof *row, compare_decisions);
  for (size_t i = 1; i < rows; i++) count += compare_beliefs(&row[i - 1], &row[i]) != 0;
  return count;
}

static bool allocate_decision_beliefs(idm_decision_beliefs *d, size_t count, size_t states)
{
  d->belief = idm_new(idm_times(count, states), sizeof *d->belief);
  d->first = idm_new(count + 1, sizeof *d->first);
  d->point = idm_new(idm_times(count, states), sizeof *d->point);
  d->weight = idm_new(idm_times(count, states), sizeof *d->weight);
  return d->belief && d->first && d->point && d->weight;
}

/* For sorted rows: stores the mean of each group of merged beliefs, and the weights. */
static void merge_beliefs(const double *visits, const decision *row, size_t rows,
                          idm_decision_beliefs *d)
{
  for (size_t i = 0, next; i < rows; i = next) {
    double *belief = d->belief + d->count * row[i].states;
    const size_t at = d->first[d->count];
    memcpy(d->point + at, row[i].point, row[i].points * sizeof *d->point);
    for (next = i; next < rows && compare_beliefs(&row[i], &row[next]) == 0; next++) {
      for (size_t s = 0; s < row[i].states; s++) belief[s] += row[next].belief[s];
      for (size_t k = 0; k < row[i].points; k++)
        d->weight[at + k] += row[next].weight[k] / visits[d->point[at + k]];
    }
    for (size_t s = 0; s < row[i].states; s++) belief[s] /= (double)(next - i);
    d->first[++d->count] = at + row[i].points;
  }
}

/* Collects the beliefs of the log; if they are many, close ones are merged, because a policy
 * evaluation takes about a microsecond per belief. */
static idm_status open_decision_beliefs(idm_occupancy_loss *loss, idm_error *opt_error)
{
  enum { max_beliefs = 1000, finest = 4096, coarsest = 64 };
  const idm_demonstrator *of = loss->task->demonstrator;
  const idm_data *data = loss->task->data;
  const size_t states = loss->task->problem->setting->states.count;
  if (!of || !of->row_states || !of->row_states->belief) return IDM_OK;
  const idm_row_states *at = of->row_states;
  decision *row = idm_new(data->rows, sizeof *row);
  const bool made = row && allocate_decision_beliefs(&loss->decision_beliefs, data->rows, states);
  size_t rows = 0;
  for (size_t r = 0; r < data->rows && made; r++)
    if (idm_demonstrator_counts_row(of, data, r))
      row[rows++] = (decision){.belief = at->belief + r * states,
                               .point = at->state + at->first[r],
                               .weight = at->weight + at->first[r],
                               .states = states,
                               .points = at->first[r + 1] - at->first[r]};
  if (made) {
    size_t count = sort_beliefs(row, rows, 0);
    for (int cells = finest; cells >= coarsest && count > max_beliefs; cells /= 2)
      count = sort_beliefs(row, rows, cells);
    merge_beliefs(of->visits, row, rows, &loss->decision_beliefs);
  }
  free(row);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- opening --------------------------------------------------------------------------------- */

void idm_occupancy_loss_close(idm_occupancy_loss *loss)
{
  idm_choice_adjoint_destroy(loss->choice_gradient);
  idm_workspace_destroy(loss->workspace);
  idm_theta_destroy(loss->theta);
  idm_theta_destroy(loss->theta_gradient);
  free(loss->reward);
  free(loss->value);
  free(loss->policy_gradient);
  free(loss->choice);
  close_decision_beliefs(&loss->decision_beliefs);
  free(loss->policy);
  free(loss->occupancy);
  free(loss->completed);
  free(loss->completed_target);
  free(loss->target_reward);
  free(loss->target_value);
  free(loss->corner);
  free(loss->unit);
  free(loss->own);
  free(loss->shifted);
  *loss = (idm_occupancy_loss){0};
}

static bool allocate(idm_occupancy_loss *loss, idm_sizes n)
{
  loss->reward = idm_new(loss->entries, sizeof *loss->reward);
  loss->value = idm_new(n.states, sizeof *loss->value);
  loss->policy_gradient = idm_new(loss->entries, sizeof *loss->policy_gradient);
  loss->choice = idm_new(n.actions, sizeof *loss->choice);
  loss->policy = idm_new(loss->entries, sizeof *loss->policy);
  loss->occupancy = idm_new(loss->entries, sizeof *loss->occupancy);
  loss->corner = idm_new(loss->task->problem->setting->states.count, sizeof *loss->corner);
  loss->unit = idm_new(loss->dimension, sizeof *loss->unit);
  loss->own = idm_new(loss->dimension, sizeof *loss->own);
  loss->shifted = idm_new(loss->dimension, sizeof *loss->shifted);
  return loss->policy && loss->occupancy && loss->corner && loss->unit && loss->own &&
         loss->shifted && loss->reward && loss->value && loss->policy_gradient && loss->choice;
}

/* If the demonstrator reaches states that the log never visits, p is the occupancy of its policy
 * completed by the planner's. */
static idm_status open_completed_policy(idm_occupancy_loss *loss, idm_error *opt_error)
{
  const idm_demonstrator *d = loss->task->demonstrator;
  if (!d || loss->task->settings->occupancy == IDM_OCCUPANCY_EMPIRICAL ||
      !(idm_demonstrator_unvisited(d, loss->target) > 0))
    return IDM_OK;
  loss->completed = idm_new(loss->entries, sizeof *loss->completed);
  loss->completed_target = idm_new(loss->entries, sizeof *loss->completed_target);
  loss->target_reward = idm_new(loss->entries, sizeof *loss->target_reward);
  loss->target_value = idm_new(loss->task->mdp->n.states, sizeof *loss->target_value);
  const bool made =
      loss->completed && loss->completed_target && loss->target_reward && loss->target_value;
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* Prepares the gradient by theta, in which all blocks are marked free: adjoints skip blocks that
 * are not. */
static idm_status open_gradient(idm_occupancy_loss *loss, idm_error *opt_error)
{
  loss->discontinuous = idm_policy_is_discontinuous(loss->task->problem);
  if (loss->discontinuous || !idm_choice_adjoint_possible(loss->workspace)) return IDM_OK;
  idm_status status = idm_theta_copy(loss->theta, &loss->theta_gradient, opt_error);
  for (size_t i = 0; status == IDM_OK && i < loss->theta_gradient->blocks; i++)
    loss->theta_gradient->block[i].role = IDM_DESCRIPTIVE;
  return status == IDM_OK
             ? idm_choice_adjoint_create(loss->workspace, &loss->choice_gradient, opt_error)
             : status;
}

idm_status idm_occupancy_loss_open(idm_occupancy_loss *loss, idm_task *task,
                                   const idm_parameters *parameters, const double *target,
                                   idm_error *opt_error)
{
  const idm_problem *problem = task->problem;
  const idm_sizes n = task->mdp->n;
  *loss = (idm_occupancy_loss){.task = task,
                               .parameters = parameters,
                               .target = target,
                               .dimension = parameters->dimension,
                               .entries = n.states * n.actions,
                               .divergence = task->settings->divergence,
                               .window = INFINITY};
  idm_status status = allocate(loss, n) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = open_completed_policy(loss, opt_error);
  if (status == IDM_OK) status = open_decision_beliefs(loss, opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &loss->theta, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, loss->theta, &problem->agent, &loss->workspace,
                                  opt_error);
  if (status == IDM_OK) status = open_gradient(loss, opt_error);
  if (status != IDM_OK) return status;
  idm_parameters_units(parameters, loss->unit);
  idm_parameters_get(parameters, problem->theta, loss->own);
  return IDM_OK;
}

/* --- evaluation ------------------------------------------------------------------------------ */

/* Belief that is state i of the MDP. */
static const double *belief_of(idm_occupancy_loss *loss, size_t i)
{
  const idm_belief_mdp *beliefs = loss->task->beliefs;
  const size_t states = loss->task->problem->setting->states.count;
  if (beliefs) return beliefs->lattice->belief + i * states;
  memset(loss->corner, 0, states * sizeof *loss->corner);
  loss->corner[i] = 1;
  return loss->corner;
}

/* Computes p(y): the occupancy of the demonstrator's policy, with the planner's in unvisited
 * states. */
static idm_status complete_target(idm_occupancy_loss *loss, idm_error *opt_error)
{
  const idm_demonstrator *d = loss->task->demonstrator;
  if (!loss->completed) return IDM_OK;
  for (size_t e = 0; e < loss->entries; e++)
    loss->completed[e] = d->visits[e / d->n.actions] > 0 ? d->policy[e] : loss->policy[e];
  loss->target = loss->completed_target;
  return idm_mdp_occupancy(loss->task->mdp, loss->completed, loss->completed_target, opt_error);
}

/* true if the planner's policy in a state of the MDP is a mean over beliefs of the log. */
static bool is_mean(const idm_occupancy_loss *loss, size_t state)
{
  return loss->decision_beliefs.count && loss->task->demonstrator->visits[state] > 0;
}

static void put_policy(idm_occupancy_loss *loss)
{
  const idm_decision_beliefs *d = &loss->decision_beliefs;
  const idm_sizes n = loss->task->mdp->n;
  const size_t states = loss->task->problem->setting->states.count;
  memset(loss->policy, 0, loss->entries * sizeof *loss->policy);
  for (size_t i = 0; i < n.states; i++)
    if (!is_mean(loss, i))
      idm_plan_choice(loss->workspace, 0, 0, belief_of(loss, i), IDM_MISSING,
                      loss->policy + i * n.actions);
  for (size_t b = 0; b < d->count; b++) {
    idm_plan_choice(loss->workspace, 0, 0, d->belief + b * states, IDM_MISSING, loss->choice);
    for (size_t k = d->first[b]; k < d->first[b + 1]; k++)
      for (size_t u = 0; u < n.actions; u++)
        loss->policy[d->point[k] * n.actions + u] += d->weight[k] * loss->choice[u];
  }
}

idm_status idm_occupancy_compute(idm_occupancy_loss *loss, const double *y, idm_error *opt_error)
{
  idm_solver solver;
  idm_solver_default(&solver);
  solver.slots = IDM_START_COLD;
  idm_parameters_set(loss->parameters, y, loss->theta);
  idm_status status =
      idm_cancel_plan(&loss->task->cancel, loss->theta, &solver, loss->workspace, opt_error);
  if (status != IDM_OK) return status;
  put_policy(loss);
  status = complete_target(loss, opt_error);
  if (status != IDM_OK) return status;
  return idm_mdp_occupancy(loss->task->mdp, loss->policy, loss->occupancy, opt_error);
}

static double total_loss(const idm_occupancy_loss *loss)
{
  const idm_fit_settings *settings = loss->task->settings;
  double sum = 0;
  for (size_t e = 0; e < loss->entries; e++) {
    const double q = loss->occupancy[e], p = loss->target[e];
    if (p > 0 || q > 0)
      sum += idm_flows_divergence(loss->divergence, idm_flows_lambda(settings), p, q);
    if (q > 0) sum += settings->entropy * q * log(loss->policy[e]);
  }
  return isnan(sum) ? INFINITY : sum;
}

static bool in_window(const idm_occupancy_loss *loss, const double *y)
{
  for (size_t j = 0; j < loss->dimension; j++)
    if (!(fabs(y[j] - loss->own[j]) <= (loss->window + idm_occupancy_step) * loss->unit[j]))
      return false;
  return true;
}

static idm_status evaluate(idm_occupancy_loss *loss, const double *y, double *ret_loss,
                           idm_error *opt_error)
{
  *ret_loss = INFINITY;
  if (!in_window(loss, y)) return IDM_OK;
  const idm_status status = idm_occupancy_compute(loss, y, opt_error);
  if (status == IDM_OK) *ret_loss = total_loss(loss);
  return status == IDM_NUMERICAL || status == IDM_INPUT ? IDM_OK : status;
}

/* dJ/dp as a reward by action and state. */
static void set_target_reward(idm_occupancy_loss *loss)
{
  const double lambda = idm_flows_lambda(loss->task->settings);
  const idm_sizes n = loss->task->mdp->n;
  for (size_t e = 0; e < loss->entries; e++) {
    const double q = loss->occupancy[e], p = loss->target[e];
    loss->target_reward[e % n.actions * n.states + e / n.actions] =
        p > 0 ? idm_flows_derivative_p(loss->divergence, lambda, p, q) : 0;
  }
}

/* g = dJ/dq as a reward by action and state; 0 at zero occupancy. */
static void set_reward(idm_occupancy_loss *loss)
{
  const idm_fit_settings *settings = loss->task->settings;
  const idm_sizes n = loss->task->mdp->n;
  for (size_t e = 0; e < loss->entries; e++) {
    const double q = loss->occupancy[e], p = loss->target[e];
    double g = 0;
    if (q > 0)
      g = idm_flows_derivative_q(loss->divergence, idm_flows_lambda(settings), p, q) +
          settings->entropy * log(loss->policy[e]);
    loss->reward[e % n.actions * n.states + e / n.actions] = g;
  }
}

/* Advantage of an action in a state under a reward, given the policy's value function. */
static double advantage(const idm_mdp *mdp, const double *reward, const double *value, size_t s,
                        size_t u)
{
  return reward[u * mdp->n.states + s] + idm_mdp_next_value(mdp, u, s, value) - value[s];
}

static double mass_of(const double *occupancy, size_t s, size_t actions)
{
  double mass = 0;
  for (size_t u = 0; u < actions; u++) mass += occupancy[s * actions + u];
  return mass;
}

/* Sets dJ/dpi in a state: through q, and in states that the log never visits also through p.
 * Returns false if it is 0. */
static bool set_policy_gradient(idm_occupancy_loss *loss, size_t s)
{
  const idm_mdp *mdp = loss->task->mdp;
  const size_t actions = mdp->n.actions;
  const double mass = mass_of(loss->occupancy, s, actions);
  const bool completed = loss->completed && !(loss->task->demonstrator->visits[s] > 0);
  const double other = completed ? mass_of(loss->target, s, actions) : 0;
  for (size_t u = 0; u < actions; u++)
    loss->policy_gradient[s * actions + u] =
        (mass > 0 ? mass * advantage(mdp, loss->reward, loss->value, s, u) : 0) +
        (other > 0 ? other * advantage(mdp, loss->target_reward, loss->target_value, s, u) : 0);
  return mass > 0 || other > 0;
}

/* Propagates dJ/dpi to the choices at beliefs of the log. */
static void backpropagate_beliefs(idm_occupancy_loss *loss)
{
  const idm_decision_beliefs *d = &loss->decision_beliefs;
  const size_t actions = loss->task->mdp->n.actions;
  const size_t states = loss->task->problem->setting->states.count;
  for (size_t b = 0; b < d->count; b++) {
    memset(loss->choice, 0, actions * sizeof *loss->choice);
    for (size_t k = d->first[b]; k < d->first[b + 1]; k++)
      for (size_t u = 0; u < actions; u++)
        loss->choice[u] += d->weight[k] * loss->policy_gradient[d->point[k] * actions + u];
    idm_choice_adjoint_point(loss->choice_gradient, d->belief + b * states, loss->choice);
  }
}

/* Computes dJ/dy at the last evaluated y, through the policies of all states of positive occupancy.
 */
static idm_status backpropagate(idm_occupancy_loss *loss, const double *y, double *gradient,
                                idm_error *opt_error)
{
  const idm_mdp *mdp = loss->task->mdp;
  set_reward(loss);
  idm_status status = idm_mdp_evaluate(mdp, loss->policy, loss->reward, loss->value, opt_error);
  if (status == IDM_OK && loss->completed) {
    set_target_reward(loss);
    status =
        idm_mdp_evaluate(mdp, loss->completed, loss->target_reward, loss->target_value, opt_error);
  }
  if (status != IDM_OK) return status;
  idm_choice_adjoint_begin(loss->choice_gradient);
  for (size_t s = 0; s < mdp->n.states; s++)
    if (set_policy_gradient(loss, s) && !is_mean(loss, s))
      idm_choice_adjoint_point(loss->choice_gradient, belief_of(loss, s),
                               loss->policy_gradient + s * mdp->n.actions);
  backpropagate_beliefs(loss);
  status = idm_choice_adjoint_finish(loss->choice_gradient, loss->theta_gradient, opt_error);
  if (status == IDM_OK)
    idm_parameters_backward(loss->parameters, y, loss->theta_gradient, gradient);
  return status;
}

/* J and its gradient by the planner's adjoint. */
static idm_status differentiate(idm_occupancy_loss *loss, const double *y, double *ret_loss,
                                double *gradient, idm_error *opt_error)
{
  memset(gradient, 0, loss->dimension * sizeof *gradient);
  idm_status status = evaluate(loss, y, ret_loss, opt_error);
  if (status == IDM_OK && *ret_loss < INFINITY)
    status = backpropagate(loss, y, gradient, opt_error);
  if (status != IDM_NUMERICAL && status != IDM_INPUT) return status;
  *ret_loss = INFINITY;
  return IDM_OK;
}

/* Gradient of J by central differences. */
static idm_status difference_gradient(idm_occupancy_loss *loss, const double *y, double *gradient,
                                      idm_error *opt_error)
{
  double side[2] = {0, 0};
  idm_status status = IDM_OK;
  for (size_t j = 0; j < loss->dimension && status == IDM_OK; j++) {
    const double step = idm_occupancy_step * loss->unit[j];
    memcpy(loss->shifted, y, loss->dimension * sizeof *y);
    for (int k = 0; k < 2 && status == IDM_OK; k++) {
      loss->shifted[j] = y[j] + (k ? step : -step);
      status = evaluate(loss, loss->shifted, &side[k], opt_error);
    }
    gradient[j] = (side[1] - side[0]) / (2 * step);
  }
  return status;
}

idm_status idm_occupancy_loss_at(idm_occupancy_loss *loss, const double *y, double *ret_loss,
                                 double *opt_gradient, idm_error *opt_error)
{
  *ret_loss = INFINITY;
  if (opt_gradient && loss->choice_gradient && loss->divergence != IDM_DIVERGENCE_TV)
    return differentiate(loss, y, ret_loss, opt_gradient, opt_error);
  const idm_status status =
      opt_gradient ? difference_gradient(loss, y, opt_gradient, opt_error) : IDM_OK;
  return status == IDM_OK ? evaluate(loss, y, ret_loss, opt_error) : status;
}
