/* One model of the world, and the beliefs that it makes. */
#include "invert/utility/mind.h"

#include <math.h>

#include "base/memory.h"
#include "idm/planner.h"
#include "plan/clamp.h"

/* Below this an observation cannot be seen, to all purposes. */
static const double impossible = 1e-300;

/* --- what it cannot do ---------------------------------------------------------------------- */

static idm_status check_log(const idm_data *data, const char *who, idm_error *opt_error)
{
  if (idm_data_spans(data))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs one environment, and the trajectories of the log are of several",
                    who);
  for (size_t t = 0; t < data->trajectories; t++)
    if (data->start[t] >= 0)
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' needs trajectories that begin at the problem's own `start`, and the "
                      "log gives start beliefs",
                      who);
  for (size_t r = 0; r < data->rows; r++) {
    if (idm_data_missed(data, r)) continue;
    if (idm_data_open(data, data->available[r]) == data->sizes.actions) continue;
    const idm_status status =
        idm_fail(opt_error, IDM_INPUT,
                 "'%s' needs every action open at every step, and here some are not", who);
    idm_data_locate(data, r, opt_error);
    return status;
  }
  return IDM_OK;
}

static idm_status check_agent(const idm_problem *problem, const char *who, idm_error *opt_error)
{
  const idm_theta *theta = problem->theta;
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  if (!planner->belief)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' goes by the beliefs of a log, and the planner '%s' holds none", who,
                    planner->name);
  if (theta->block[IDM_UTILITY].variants > 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' looks for one utility, and this one varies with columns of the log", who);
  if (problem->agent.discounting != IDM_EXPONENTIAL)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs an agent that discounts by the step; expected discounting: "
                    "exponential",
                    who);
  return IDM_OK;
}

static idm_status check_belief_utility(const idm_theta *theta, const char *who,
                                       idm_error *opt_error)
{
  const idm_block *worth = &theta->block[IDM_BELIEF_UTILITY];
  bool paid = idm_theta_values(theta, IDM_CERTAINTY, 0)[1] != 0;
  for (size_t i = 0; i < worth->size; i++) paid = paid || worth->value[i] != 0;
  if (paid)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' looks for a utility by state and action, and here beliefs are worth "
                    "something themselves (certainty, belief_utility)",
                    who);
  return IDM_OK;
}

/* After the clamps: models that are all the same are one. */
static idm_status check_models(const idm_theta *theta, const char *who, idm_error *opt_error)
{
  static const idm_block_id dynamics[] = {IDM_TRANSITION, IDM_EMISSION};
  for (size_t i = 0; i < 2; i++) {
    const idm_block *block = &theta->block[dynamics[i]];
    const size_t size = block->size / theta->models;
    for (size_t m = 1; m < theta->models; m++)
      if (memcmp(block->value, block->value + m * size, size * sizeof *block->value) != 0)
        return idm_fail(opt_error, IDM_INPUT,
                        "'%s' needs an agent with one model of the world, and this one has %zu; "
                        "see the planner 'deterministic-optimal', which knows the environment",
                        who, theta->models);
  }
  if (idm_theta_scalar(theta, IDM_PRIOR_WEIGHT) != 1 ||
      idm_theta_scalar(theta, IDM_EVIDENCE_WEIGHT) != 1)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs beliefs by Bayes' rule; expected prior_weight: 1 and "
                    "evidence_weight: 1",
                    who);
  if (isfinite(idm_theta_scalar(theta, IDM_SENSOR_CAPACITY)))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' needs an agent that sees everything; expected sensor_capacity: inf", who);
  return IDM_OK;
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Lay down the entries of all rows, or count them where there is no room yet. */
static size_t put_rows(idm_mind *mind)
{
  const idm_sizes n = mind->n;
  const double *transition = idm_theta_values(mind->theta, IDM_TRANSITION, 0);
  const double *emission = idm_theta_values(mind->theta, IDM_EMISSION, 0);
  size_t at = 0;
  for (size_t row = 0; row < n.actions * n.states; row++) {
    const size_t u = row / n.states;
    mind->first[row] = at;
    for (size_t to = 0; to < n.states && !mind->setting->terminal[u]; to++) {
      const double moves = transition[row * n.states + to];
      const size_t emitter = mind->setting->emits_before ? row % n.states : to;
      const double *shows = emission + (u * n.states + emitter) * n.observations;
      for (size_t x = 0; x < n.observations && moves > 0; x++) {
        if (!(shows[x] > 0)) continue;
        if (mind->p) {
          mind->seen[at] = (uint32_t)x;
          mind->next[at] = (uint32_t)to;
          mind->p[at] = moves * shows[x];
        }
        at++;
      }
    }
  }
  mind->first[n.actions * n.states] = at;
  return at;
}

static idm_status lay_down(idm_mind *mind, idm_error *opt_error)
{
  mind->first = idm_new(idm_times(mind->n.actions, mind->n.states) + 1, sizeof *mind->first);
  if (!mind->first) return idm_fail_memory(opt_error);
  const size_t entries = put_rows(mind);
  mind->seen = idm_new(entries, sizeof *mind->seen);
  mind->next = idm_new(entries, sizeof *mind->next);
  mind->p = idm_new(entries, sizeof *mind->p);
  if (!mind->seen || !mind->next || !mind->p) return idm_fail_memory(opt_error);
  put_rows(mind);
  return IDM_OK;
}

idm_status idm_mind_create_acting(const idm_problem *problem, const idm_data *data, const char *who,
                                  idm_mind **ret_mind, idm_error *opt_error)
{
  *ret_mind = NULL;
  idm_status status = check_agent(problem, who, opt_error);
  if (status == IDM_OK) status = check_log(data, who, opt_error);
  if (status != IDM_OK) return status;
  idm_mind *mind = idm_new(1, sizeof *mind);
  if (!mind) return idm_fail_memory(opt_error);
  mind->setting = problem->setting;
  mind->n = idm_setting_sizes(problem->setting);
  mind->discount = idm_theta_scalar(problem->theta, IDM_DISCOUNT);
  status = idm_theta_copy(problem->theta, &mind->theta, opt_error);
  if (status == IDM_OK)
    status = idm_clamp_apply(idm_agent_planner(&problem->agent), problem->setting, mind->theta,
                             opt_error);
  if (status == IDM_OK) status = check_models(mind->theta, who, opt_error);
  if (status == IDM_OK) status = lay_down(mind, opt_error);
  if (status != IDM_OK) {
    idm_mind_destroy(mind);
    return status;
  }
  mind->start = problem->setting->start;
  mind->terminal = problem->setting->terminal;
  mind->prior = idm_theta_values(mind->theta, IDM_ACTION_PRIOR, 0);
  *ret_mind = mind;
  return IDM_OK;
}

idm_status idm_mind_create(const idm_problem *problem, const idm_data *data, const char *who,
                           idm_mind **ret_mind, idm_error *opt_error)
{
  *ret_mind = NULL;
  idm_status status = check_agent(problem, who, opt_error);
  if (status == IDM_OK) status = check_belief_utility(problem->theta, who, opt_error);
  return status == IDM_OK ? idm_mind_create_acting(problem, data, who, ret_mind, opt_error)
                          : status;
}

void idm_mind_destroy(idm_mind *mind)
{
  if (!mind) return;
  idm_theta_destroy(mind->theta);
  free(mind->first);
  free(mind->seen);
  free(mind->next);
  free(mind->p);
  free(mind);
}

/* --- beliefs -------------------------------------------------------------------------------- */

double idm_mind_joint(const idm_mind *mind, const double *z, size_t action, size_t observation,
                      double *joint)
{
  const size_t states = mind->n.states;
  double total = 0;
  memset(joint, 0, states * sizeof *joint);
  for (size_t s = 0; s < states; s++) {
    const size_t row = action * states + s;
    if (!(z[s] > 0)) continue;
    for (size_t i = mind->first[row]; i < mind->first[row + 1]; i++)
      if (mind->seen[i] == observation) joint[mind->next[i]] += z[s] * mind->p[i];
  }
  for (size_t s = 0; s < states; s++) total += joint[s];
  return total;
}

double idm_mind_update(const idm_mind *mind, const double *z, size_t action, size_t observation,
                       double *next)
{
  const double p = idm_mind_joint(mind, z, action, observation, next);
  if (!(p > impossible)) return 0;
  for (size_t s = 0; s < mind->n.states; s++) next[s] /= p;
  return p;
}

/* --- logs ----------------------------------------------------------------------------------- */

/* Following under way. */
typedef struct following {
  const idm_mind *mind;
  const idm_data *data;
  idm_mind_visit visit;
  void *context;
  double *z; /* [state]: the belief */
  double *after;
  size_t cut; /* trajectories that are used in part */
} following;

static idm_status fail_unseen(const following *f, size_t row, size_t x, idm_error *opt_error)
{
  const idm_status status = idm_fail(
      opt_error, IDM_INPUT, "'%s' is seen here, and by the agent's model of the world it cannot be",
      f->mind->setting->observations.name[x]);
  idm_data_locate(f->data, row, opt_error);
  return status;
}

static idm_status follow_trajectory(following *f, size_t trajectory, idm_error *opt_error)
{
  const idm_data *data = f->data;
  const size_t states = f->mind->n.states;
  const size_t end = data->first[trajectory + 1];
  memcpy(f->z, f->mind->start, states * sizeof *f->z);
  for (size_t row = data->first[trajectory]; row < end; row++) {
    if (data->action[row] == IDM_MISSING) {
      f->cut++;
      return IDM_OK;
    }
    const size_t action = (size_t)data->action[row];
    const idm_status status =
        idm_data_missed(data, row) ? IDM_OK : f->visit(f->context, row, f->z, opt_error);
    if (status != IDM_OK) return status;
    if (f->mind->terminal[action]) return IDM_OK;
    if (data->observation[row] == IDM_MISSING) {
      f->cut += row + 1 < end;
      return IDM_OK;
    }
    const size_t x = (size_t)data->observation[row];
    if (!(idm_mind_update(f->mind, f->z, action, x, f->after) > 0))
      return fail_unseen(f, row, x, opt_error);
    memcpy(f->z, f->after, states * sizeof *f->z);
  }
  return IDM_OK;
}

idm_status idm_mind_follow(const idm_mind *mind, const idm_data *data, idm_mind_visit visit,
                           void *context, idm_notes *opt_notes, idm_error *opt_error)
{
  double *z = idm_new(2 * mind->n.states, sizeof *z);
  if (!z) return idm_fail_memory(opt_error);
  following f = {.mind = mind,
                 .data = data,
                 .visit = visit,
                 .context = context,
                 .z = z,
                 .after = z + mind->n.states};
  idm_status status = IDM_OK;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++)
    status = follow_trajectory(&f, t, opt_error);
  if (status == IDM_OK && f.cut)
    idm_notes_add(opt_notes,
                  "%zu %s used up to the first action or observation that is not recorded: beyond "
                  "it beliefs are not known",
                  f.cut, f.cut == 1 ? "trajectory is" : "trajectories are");
  free(z);
  return status;
}
