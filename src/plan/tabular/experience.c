/* Data that planners learn from: parameters of the last plan, and transitions of a log.
 *
 * Contents: learning cache · batch */
#include <math.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "plan/plan.h"
#include "plan/tabular/learner.h"

/* === learning cache ========================================================================= */

/* Parameters of theta for which a planner last learnt. */

static size_t utilities(const idm_theta *theta)
{
  return theta->block[IDM_UTILITY].size * theta->block[IDM_UTILITY].variants;
}

bool idm_learning_cache_create(learning_cache *l, const idm_theta *theta)
{
  l->learnt = false;
  l->number = idm_new(2 + utilities(theta), sizeof *l->number);
  return l->number;
}

void idm_learning_cache_destroy(learning_cache *l)
{
  free(l->number);
}

bool idm_learning_cache_update(learning_cache *l, const idm_theta *theta)
{
  const double scalar[2] = {idm_theta_scalar(theta, IDM_DISCOUNT),
                            idm_theta_scalar(theta, IDM_ALPHA)};
  const double *utility = theta->block[IDM_UTILITY].value;
  const size_t size = utilities(theta) * sizeof *utility;
  if (l->learnt && memcmp(l->number, scalar, sizeof scalar) == 0 &&
      memcmp(l->number + 2, utility, size) == 0)
    return false;
  memcpy(l->number, scalar, sizeof scalar);
  memcpy(l->number + 2, utility, size);
  l->learnt = true;
  return true;
}

void idm_learning_cache_reset(learning_cache *l)
{
  l->learnt = false;
}

idm_plan_report idm_learning_cache_report(const learning_cache *l)
{
  return (idm_plan_report){.bound = INFINITY,
                           .iterations = l->learnt_report.transitions,
                           .stop = IDM_STOP_BUDGET,
                           .learning = l->learnt_report};
}

/* === batch ================================================================================== */

/* Transitions of a log. */

void idm_batch_destroy(idm_batch *batch)
{
  if (!batch) return;
  free(batch->state);
  free(batch->action);
  free(batch->next);
  free(batch->reward);
  free(batch);
}

idm_batch *idm_batch_copy(const idm_batch *batch)
{
  idm_batch *b = idm_duplicate(batch, 1, sizeof *b);
  if (!b) return NULL;
  const size_t n = batch->count;
  b->state = idm_duplicate(batch->state, n, sizeof *b->state);
  b->action = idm_duplicate(batch->action, n, sizeof *b->action);
  b->next = idm_duplicate(batch->next, n, sizeof *b->next);
  if (batch->reward) b->reward = idm_duplicate(batch->reward, n, sizeof *b->reward);
  if (b->state && b->action && b->next && (b->reward || !batch->reward)) return b;
  idm_batch_destroy(b);
  return NULL;
}

static idm_batch *make_batch(size_t rows, bool rewards)
{
  idm_batch *b = idm_new(1, sizeof *b);
  if (!b) return NULL;
  b->state = idm_new(rows, sizeof *b->state);
  b->action = idm_new(rows, sizeof *b->action);
  b->next = idm_new(rows, sizeof *b->next);
  if (rewards) b->reward = idm_new(rows, sizeof *b->reward);
  if (b->state && b->action && b->next && (b->reward || !rewards)) return b;
  idm_batch_destroy(b);
  return NULL;
}

/* State at the start of a trajectory; IDM_MISSING if the log does not determine it. */
static int32_t first_state(const idm_data *data, const idm_setting *setting, size_t t)
{
  const size_t states = setting->states.count;
  const int32_t start = data->start[t];
  const double *belief = start < 0 ? setting->start : data->start_belief + (size_t)start * states;
  for (size_t s = 0; s < states; s++)
    if (belief[s] == 1) return (int32_t)s;
  return IDM_MISSING;
}

/* Adds the transition of one row, from `state`; an incomplete transition is omitted. IDM_INPUT if
 * its reward is missing. */
static idm_status add_row(idm_batch *b, const idm_data *data, const idm_setting *setting, size_t r,
                          int32_t state, idm_error *opt_error)
{
  const int32_t action = data->action[r];
  const bool ends = (action != IDM_MISSING && setting->terminal[action]) ||
                    idm_observation_is_terminal(setting, data->observation[r]);
  if (state == IDM_MISSING || action == IDM_MISSING ||
      (!ends && data->observation[r] == IDM_MISSING)) {
    b->omitted++;
    return IDM_OK;
  }
  const size_t i = b->count++;
  b->state[i] = (uint32_t)state;
  b->action[i] = (uint32_t)action;
  b->next[i] = ends ? IDM_BATCH_END : (uint32_t)data->observation[r];
  if (!b->reward) return IDM_OK;
  b->reward[i] = data->number[IDM_COLUMN_REWARD][r];
  if (isfinite(b->reward[i])) return IDM_OK;
  const idm_status status =
      idm_fail(opt_error, IDM_INPUT,
               "a step has no reward; learning from a log requires a reward at every step");
  idm_data_locate(data, r, opt_error);
  return status;
}

idm_status idm_batch_create(const idm_setting *setting, const idm_data *data, bool rewards,
                            idm_batch **ret_batch, idm_error *opt_error)
{
  idm_require(setting, data, ret_batch);
  *ret_batch = NULL;
  if (!setting->fully_observed)
    return idm_fail(opt_error, IDM_INPUT,
                    "learning from transitions requires observed states, but here they are hidden; "
                    "expected a problem with `observations: states`");
  if (rewards && !data->number[IDM_COLUMN_REWARD])
    return idm_fail(opt_error, IDM_INPUT, "the log has no column of rewards to learn from");
  idm_batch *b = make_batch(data->rows, rewards);
  if (!b) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++) {
    int32_t state = first_state(data, setting, t);
    for (size_t r = data->first[t]; r < data->first[t + 1] && status == IDM_OK; r++) {
      status = add_row(b, data, setting, r, state, opt_error);
      state = data->observation[r];
    }
  }
  if (status == IDM_OK && !b->count)
    status = idm_fail(opt_error, IDM_INPUT,
                      "no row of the log has a state, an action and the state after it: there is "
                      "nothing to learn from");
  if (status == IDM_OK)
    *ret_batch = b;
  else
    idm_batch_destroy(b);
  return status;
}
