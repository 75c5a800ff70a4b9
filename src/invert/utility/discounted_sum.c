/* Discounted sums of a utility: see the header. */
#include "invert/utility/discounted_sum.h"

#include <math.h>

#include "base/memory.h"
#include "idm/planner.h"
#include "idm/trials.h"
#include "idm/workspace.h"
#include "invert/utility/demonstrator.h"

static idm_status check_beliefs(const idm_problem *problem, const char *who, idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  if (!planner->belief)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' sums utilities over beliefs, and the planner '%s' does not decide by a "
                    "belief; expected another planner, or states that are observed",
                    who, planner->name);
  if (problem->theta->models > 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' sums utilities over beliefs, and those of an agent with several models "
                    "depend on the utility itself; expected one model, or states that are observed",
                    who);
  if (isfinite(idm_theta_scalar(problem->theta, IDM_SENSOR_CAPACITY)))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' sums utilities over beliefs, which a log of an agent with a finite "
                    "sensor_capacity leaves open; expected sensor_capacity: inf",
                    who);
  return IDM_OK;
}

/* The agent's filter along the log: it depends on dynamics and start alone, so that any plan gives
 * the same beliefs. */
static idm_status follow(const idm_problem *problem, const idm_data *data, const char *who,
                         idm_trials **ret_trials, idm_error *opt_error)
{
  idm_workspace *workspace = NULL;
  idm_status status = check_beliefs(problem, who, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                                  opt_error);
  if (status == IDM_OK) status = idm_plan(problem->theta, NULL, workspace, NULL, opt_error);
  if (status == IDM_OK) status = idm_trials_create(workspace, data, ret_trials, opt_error);
  idm_workspace_destroy(workspace);
  return status;
}

static idm_status locate(const idm_problem *problem, const char *who, idm_discounted_sum *sum,
                         idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  if (problem->theta->block[IDM_UTILITY].variants > 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' looks for one utility, and this one varies with columns of the log", who);
  if (!setting->fully_observed) return follow(problem, sum->data, who, &sum->trials, opt_error);
  sum->state = idm_new(sum->data->rows, sizeof *sum->state);
  if (!sum->state) return idm_fail_memory(opt_error);
  idm_demonstrator_states(sum->data, setting, sum->state);
  return IDM_OK;
}

idm_status idm_discounted_sum_create(const idm_problem *problem, const idm_data *data,
                                     const idm_sought *sought, const char *who,
                                     idm_discounted_sum **ret_sum, idm_error *opt_error)
{
  *ret_sum = NULL;
  idm_discounted_sum *sum = idm_new(1, sizeof *sum);
  if (!sum) return idm_fail_memory(opt_error);
  *sum = (idm_discounted_sum){.data = data,
                              .sought = sought,
                              .states = problem->setting->states.count,
                              .discount = idm_theta_scalar(problem->theta, IDM_DISCOUNT)};
  const idm_status status = locate(problem, who, sum, opt_error);
  if (status == IDM_OK)
    *ret_sum = sum;
  else
    idm_discounted_sum_destroy(sum);
  return status;
}

void idm_discounted_sum_destroy(idm_discounted_sum *sum)
{
  if (!sum) return;
  free(sum->state);
  idm_trials_destroy(sum->trials);
  free(sum);
}

/* What is not recorded at a row that the sum depends on; NULL: nothing. */
static const char *gap_at(const idm_discounted_sum *sum, size_t row, bool last)
{
  if (sum->data->action[row] == IDM_MISSING) return "the action";
  if (sum->state) return sum->state[row] == IDM_MISSING ? "the state" : NULL;
  return sum->data->observation[row] == IDM_MISSING && !last ? "the observation" : NULL;
}

static void add_row(const idm_discounted_sum *sum, size_t r, double amount, double *row,
                    double *offset)
{
  const size_t entry = (size_t)sum->data->action[r] * sum->states;
  if (sum->state) {
    *offset += idm_sought_add(sum->sought, entry + (size_t)sum->state[r], amount, row);
    return;
  }
  const double *belief = sum->trials->mean + sum->trials->node[r] * sum->trials->width;
  for (size_t s = 0; s < sum->states; s++)
    if (belief[s] != 0) *offset += idm_sought_add(sum->sought, entry + s, amount * belief[s], row);
}

idm_status idm_discounted_sum_add(const idm_discounted_sum *sum, size_t trajectory, double sign,
                                  const char *needed, double *row, double *offset,
                                  idm_error *opt_error)
{
  const size_t first = sum->data->first[trajectory], end = sum->data->first[trajectory + 1];
  double amount = sign;
  for (size_t r = first; r < end; r++, amount *= sum->discount) {
    const bool last = r + 1 == end;
    if (sum->data->action[r] == IDM_MISSING && last) break; /* a state that was come to */
    const char *gap = gap_at(sum, r, last);
    if (!gap) {
      add_row(sum, r, amount, row, offset);
      continue;
    }
    const idm_status status = idm_fail(opt_error, IDM_INPUT,
                                       "the trajectory %s, and %s here is not recorded: its "
                                       "discounted sum of utilities is unknown",
                                       needed, gap);
    idm_data_locate(sum->data, r, opt_error);
    return status;
  }
  return IDM_OK;
}
