/* How far the occupancy of a planner's policy is from a given one. */
#include "invert/utility/occupancy_loss.h"

#include <math.h>

#include "base/memory.h"
#include "invert/utility/flows.h"

const double idm_occupancy_step = 1e-4;

void idm_occupancy_loss_close(idm_occupancy_loss *loss)
{
  idm_workspace_destroy(loss->workspace);
  idm_theta_destroy(loss->theta);
  free(loss->policy);
  free(loss->occupancy);
  free(loss->corner);
  free(loss->unit);
  free(loss->own);
  free(loss->moved);
  *loss = (idm_occupancy_loss){0};
}

static bool allocate(idm_occupancy_loss *loss, size_t states)
{
  loss->policy = idm_new(loss->entries, sizeof *loss->policy);
  loss->occupancy = idm_new(loss->entries, sizeof *loss->occupancy);
  loss->corner = idm_new(states, sizeof *loss->corner);
  loss->unit = idm_new(loss->dimension, sizeof *loss->unit);
  loss->own = idm_new(loss->dimension, sizeof *loss->own);
  loss->moved = idm_new(loss->dimension, sizeof *loss->moved);
  return loss->policy && loss->occupancy && loss->corner && loss->unit && loss->own && loss->moved;
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
  idm_status status = allocate(loss, n.states) ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_theta_copy(problem->theta, &loss->theta, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, loss->theta, &problem->agent, &loss->workspace,
                                  opt_error);
  if (status != IDM_OK) return status;
  idm_parameters_units(parameters, loss->unit);
  idm_parameters_get(parameters, problem->theta, loss->own);
  return IDM_OK;
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
  for (size_t i = 0; i < n.states; i++) {
    loss->corner[i] = 1;
    idm_plan_choice(loss->workspace, 0, 0, loss->corner, IDM_MISSING, loss->policy + i * n.actions);
    loss->corner[i] = 0;
  }
  return idm_world_occupancy(loss->asked->world, loss->policy, loss->occupancy, opt_error);
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

idm_status idm_occupancy_loss_at(idm_occupancy_loss *loss, const double *y, double *ret_loss,
                                 double *opt_gradient, idm_error *opt_error)
{
  double side[2] = {0, 0};
  idm_status status = IDM_OK;
  for (size_t j = 0; j < loss->dimension && opt_gradient && status == IDM_OK; j++) {
    const double step = idm_occupancy_step * loss->unit[j];
    memcpy(loss->moved, y, loss->dimension * sizeof *y);
    for (int k = 0; k < 2 && status == IDM_OK; k++) {
      loss->moved[j] = y[j] + (k ? step : -step);
      status = look(loss, loss->moved, &side[k], opt_error);
    }
    opt_gradient[j] = (side[1] - side[0]) / (2 * step);
  }
  *ret_loss = INFINITY;
  return status == IDM_OK ? look(loss, y, ret_loss, opt_error) : status;
}
