/* How far the occupancy of a planner's policy is from a given one. */
#include "invert/utility/occupancy_loss.h"

#include <math.h>

#include "base/memory.h"
#include "invert/policy.h"
#include "invert/utility/flows.h"

const double idm_occupancy_step = 1e-4;

void idm_occupancy_loss_close(idm_occupancy_loss *loss)
{
  idm_choice_slope_destroy(loss->slope);
  idm_workspace_destroy(loss->workspace);
  idm_theta_destroy(loss->theta);
  idm_theta_destroy(loss->theta_slope);
  free(loss->paid);
  free(loss->value);
  free(loss->chosen);
  free(loss->policy);
  free(loss->occupancy);
  free(loss->corner);
  free(loss->unit);
  free(loss->own);
  free(loss->moved);
  *loss = (idm_occupancy_loss){0};
}

static bool allocate(idm_occupancy_loss *loss, idm_sizes n)
{
  loss->paid = idm_new(loss->entries, sizeof *loss->paid);
  loss->value = idm_new(n.states, sizeof *loss->value);
  loss->chosen = idm_new(n.actions, sizeof *loss->chosen);
  loss->policy = idm_new(loss->entries, sizeof *loss->policy);
  loss->occupancy = idm_new(loss->entries, sizeof *loss->occupancy);
  loss->corner = idm_new(loss->asked->problem->setting->states.count, sizeof *loss->corner);
  loss->unit = idm_new(loss->dimension, sizeof *loss->unit);
  loss->own = idm_new(loss->dimension, sizeof *loss->own);
  loss->moved = idm_new(loss->dimension, sizeof *loss->moved);
  return loss->policy && loss->occupancy && loss->corner && loss->unit && loss->own &&
         loss->moved && loss->paid && loss->value && loss->chosen;
}

/* Slopes by theta, all of whose blocks are free in it: what is not is not pulled. */
static idm_status open_slope(idm_occupancy_loss *loss, idm_error *opt_error)
{
  loss->leaps = idm_policy_leaps(loss->asked->problem);
  if (loss->leaps || !idm_choice_slope_possible(loss->workspace)) return IDM_OK;
  idm_status status = idm_theta_copy(loss->theta, &loss->theta_slope, opt_error);
  for (size_t i = 0; status == IDM_OK && i < loss->theta_slope->blocks; i++)
    loss->theta_slope->block[i].role = IDM_DESCRIPTIVE;
  return status == IDM_OK ? idm_choice_slope_create(loss->workspace, &loss->slope, opt_error)
                          : status;
}

idm_status idm_occupancy_loss_open(idm_occupancy_loss *loss, idm_asked *asked,
                                   const idm_parameters *parameters, const double *target,
                                   idm_error *opt_error)
{
  const idm_problem *problem = asked->problem;
  const idm_sizes n = asked->world->n;
  *loss = (idm_occupancy_loss){.asked = asked,
                               .parameters = parameters,
                               .target = target,
                               .dimension = parameters->dimension,
                               .entries = n.states * n.actions,
                               .divergence = asked->settings->divergence,
                               .window = INFINITY};
  idm_status status = allocate(loss, n) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &loss->theta, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, loss->theta, &problem->agent, &loss->workspace,
                                  opt_error);
  if (status == IDM_OK) status = open_slope(loss, opt_error);
  if (status != IDM_OK) return status;
  idm_parameters_units(parameters, loss->unit);
  idm_parameters_get(parameters, problem->theta, loss->own);
  return IDM_OK;
}

/* The belief that state i of the world is. */
static const double *belief_of(idm_occupancy_loss *loss, size_t i)
{
  const idm_belief_world *beliefs = loss->asked->beliefs;
  const size_t states = loss->asked->problem->setting->states.count;
  if (beliefs) return beliefs->lattice->belief + i * states;
  memset(loss->corner, 0, states * sizeof *loss->corner);
  loss->corner[i] = 1;
  return loss->corner;
}

idm_status idm_occupancy_visit(idm_occupancy_loss *loss, const double *y, idm_error *opt_error)
{
  const idm_sizes n = loss->asked->world->n;
  idm_solver solver;
  idm_solver_default(&solver);
  solver.slots = IDM_FROM_NOTHING;
  idm_parameters_set(loss->parameters, y, loss->theta);
  const idm_status status =
      idm_halt_plan(&loss->asked->halt, loss->theta, &solver, loss->workspace, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < n.states; i++)
    idm_plan_choice(loss->workspace, 0, 0, belief_of(loss, i), IDM_MISSING,
                    loss->policy + i * n.actions);
  return idm_mdp_occupancy(loss->asked->world, loss->policy, loss->occupancy, opt_error);
}

static double add_up(const idm_occupancy_loss *loss)
{
  const idm_fit_settings *settings = loss->asked->settings;
  double sum = 0;
  for (size_t e = 0; e < loss->entries; e++) {
    const double q = loss->occupancy[e], p = loss->target[e];
    if (p > 0 || q > 0)
      sum += idm_flows_diverge(loss->divergence, idm_flows_lambda(settings), p, q);
    if (q > 0) sum += settings->entropy * q * log(loss->policy[e]);
  }
  return isnan(sum) ? INFINITY : sum;
}

static bool is_near(const idm_occupancy_loss *loss, const double *y)
{
  for (size_t j = 0; j < loss->dimension; j++)
    if (!(fabs(y[j] - loss->own[j]) <= (loss->window + idm_occupancy_step) * loss->unit[j]))
      return false;
  return true;
}

static idm_status look(idm_occupancy_loss *loss, const double *y, double *ret_loss,
                       idm_error *opt_error)
{
  *ret_loss = INFINITY;
  if (!is_near(loss, y)) return IDM_OK;
  const idm_status status = idm_occupancy_visit(loss, y, opt_error);
  if (status == IDM_OK) *ret_loss = add_up(loss);
  return status == IDM_NUMERICAL || status == IDM_INPUT ? IDM_OK : status;
}

/* g = dJ/dq, as what actions pay in states; 0 where nothing is, or is to be, done. */
static void pay(idm_occupancy_loss *loss)
{
  const idm_fit_settings *settings = loss->asked->settings;
  const idm_sizes n = loss->asked->world->n;
  for (size_t e = 0; e < loss->entries; e++) {
    const double q = loss->occupancy[e], p = loss->target[e];
    double g = 0;
    if (q > 0)
      g = idm_flows_diverge_slope(loss->divergence, idm_flows_lambda(settings), p, q) +
          settings->entropy * log(loss->policy[e]);
    loss->paid[e % n.actions * n.states + e / n.actions] = g;
  }
}

/* dJ/dy at what was visited last: through the policy of every state that is come to. */
static idm_status pull(idm_occupancy_loss *loss, const double *y, double *gradient,
                       idm_error *opt_error)
{
  const idm_mdp *world = loss->asked->world;
  const idm_sizes n = world->n;
  pay(loss);
  idm_status status = idm_mdp_evaluate(world, loss->policy, loss->paid, loss->value, opt_error);
  if (status != IDM_OK) return status;
  idm_choice_slope_begin(loss->slope);
  for (size_t s = 0; s < n.states; s++) {
    double mass = 0;
    for (size_t u = 0; u < n.actions; u++) mass += loss->occupancy[s * n.actions + u];
    if (!(mass > 0)) continue;
    for (size_t u = 0; u < n.actions; u++)
      loss->chosen[u] = mass * (loss->paid[u * n.states + s] +
                                idm_mdp_next(world, u, s, loss->value) - loss->value[s]);
    idm_choice_slope_point(loss->slope, belief_of(loss, s), loss->chosen);
  }
  status = idm_choice_slope_finish(loss->slope, loss->theta_slope, opt_error);
  if (status == IDM_OK) idm_parameters_pull(loss->parameters, y, loss->theta_slope, gradient);
  return status;
}

/* J and its gradient by the planner's adjoint. */
static idm_status differentiate(idm_occupancy_loss *loss, const double *y, double *ret_loss,
                                double *gradient, idm_error *opt_error)
{
  memset(gradient, 0, loss->dimension * sizeof *gradient);
  idm_status status = look(loss, y, ret_loss, opt_error);
  if (status == IDM_OK && *ret_loss < INFINITY) status = pull(loss, y, gradient, opt_error);
  if (status != IDM_NUMERICAL && status != IDM_INPUT) return status;
  *ret_loss = INFINITY;
  return IDM_OK;
}

/* Its gradient by central differences. */
static idm_status differ(idm_occupancy_loss *loss, const double *y, double *gradient,
                         idm_error *opt_error)
{
  double side[2] = {0, 0};
  idm_status status = IDM_OK;
  for (size_t j = 0; j < loss->dimension && status == IDM_OK; j++) {
    const double step = idm_occupancy_step * loss->unit[j];
    memcpy(loss->moved, y, loss->dimension * sizeof *y);
    for (int k = 0; k < 2 && status == IDM_OK; k++) {
      loss->moved[j] = y[j] + (k ? step : -step);
      status = look(loss, loss->moved, &side[k], opt_error);
    }
    gradient[j] = (side[1] - side[0]) / (2 * step);
  }
  return status;
}

idm_status idm_occupancy_loss_at(idm_occupancy_loss *loss, const double *y, double *ret_loss,
                                 double *opt_gradient, idm_error *opt_error)
{
  *ret_loss = INFINITY;
  if (opt_gradient && loss->slope && loss->divergence != IDM_DIVERGENCE_TV)
    return differentiate(loss, y, ret_loss, opt_gradient, opt_error);
  const idm_status status = opt_gradient ? differ(loss, y, opt_gradient, opt_error) : IDM_OK;
  return status == IDM_OK ? look(loss, y, ret_loss, opt_error) : status;
}
