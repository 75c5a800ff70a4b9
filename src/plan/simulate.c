/* Simulation: a behaviour acting in the environment. */
#include <stdio.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/behavior.h"
#include "idm/data.h"
#include "idm/planner.h"
#include "idm/prefix.h"
#include "idm/simulate.h"

/* Steps of a trajectory where neither the caller nor a horizon says. */
enum { default_steps = 1000 };

typedef struct simulator {
  const idm_setting *setting;
  idm_behavior behavior;
  const idm_simulation *simulation;
  idm_data *data;
  size_t capacity; /* rows that the data has room for */
  void *memory;
  double *probability;
} simulator;

static idm_status reserve_rows(simulator *s, size_t rows, idm_error *opt_error)
{
  if (rows <= s->capacity) return IDM_OK;
  const size_t capacity = 2 * rows;
  int32_t *action = realloc(s->data->action, capacity * sizeof *action);
  if (action) s->data->action = action;
  int32_t *observation = realloc(s->data->observation, capacity * sizeof *observation);
  if (observation) s->data->observation = observation;
  if (!action || !observation) return idm_fail_memory(opt_error);
  if (s->simulation->opt_reward) {
    double *reward = realloc(s->data->number[IDM_COLUMN_REWARD], capacity * sizeof *reward);
    if (!reward) return idm_fail_memory(opt_error);
    s->data->number[IDM_COLUMN_REWARD] = reward;
  }
  s->capacity = capacity;
  return IDM_OK;
}

/* Where the setting is fully observed and the first state is drawn, the log must say which it was.
 */
static bool records_start(const idm_setting *setting)
{
  if (!setting->fully_observed) return false;
  for (size_t i = 0; i < setting->states.count; i++)
    if (setting->start[i] == 1) return false;
  return true;
}

static idm_status prepare(simulator *s, size_t trajectories, idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(s->setting);
  idm_data *data = s->data = idm_new(1, sizeof *data);
  if (!data) return idm_fail_memory(opt_error);
  data->sizes = n;
  data->trajectories = trajectories;
  data->variants = 1;
  data->available_sets = 1;
  data->first = idm_new(trajectories + 1, sizeof *data->first);
  data->agent = idm_new(trajectories, sizeof *data->agent);
  data->variant = idm_new(trajectories, sizeof *data->variant);
  data->start = idm_new(trajectories, sizeof *data->start);
  data->available_set = idm_new(n.actions, sizeof *data->available_set);
  data->start_belief = idm_new(n.states * n.states, sizeof *data->start_belief);
  data->variant_value = idm_new(1, sizeof *data->variant_value);
  s->probability = idm_new(n.actions, sizeof *s->probability);
  if (!data->first || !data->agent || !data->variant || !data->start || !data->available_set ||
      !data->start_belief || !data->variant_value || !s->probability)
    return idm_fail_memory(opt_error);
  for (size_t u = 0; u < n.actions; u++) data->available_set[u] = true;
  if (records_start(s->setting)) {
    data->starts = n.states;
    for (size_t i = 0; i < n.states; i++) data->start_belief[i * n.states + i] = 1;
  }
  const size_t agents = s->simulation->agents ? s->simulation->agents : 1;
  idm_status status = idm_labels_create(&data->agent_name, agents, opt_error);
  for (size_t i = 0; i < agents && status == IDM_OK; i++) {
    char name[24];
    const int length = snprintf(name, sizeof name, "%zu", i + 1);
    status = idm_labels_set(&data->agent_name, i, name, (size_t)length, opt_error);
  }
  for (size_t i = 0; i < trajectories; i++) data->agent[i] = (uint32_t)(i * agents / trajectories);
  if (status == IDM_OK)
    status = s->behavior.ops->memory_create(s->behavior.content, &s->memory, opt_error);
  return status;
}

/* The environment's answer to an action: it moves, and something is seen. */
static int move(const idm_setting *setting, size_t u, size_t *state, idm_random *random)
{
  const idm_sizes n = idm_setting_sizes(setting);
  const size_t acted_in = *state;
  *state =
      idm_random_choice(random, setting->transition + (u * n.states + *state) * n.states, n.states);
  const size_t emitter = setting->emits_before ? acted_in : *state;
  return (int)idm_random_choice(
      random, setting->emission + (u * n.states + emitter) * n.observations, n.observations);
}

static idm_status run_trajectory(simulator *s, size_t index, int steps, idm_random *random,
                                 idm_error *opt_error)
{
  const idm_setting *setting = s->setting;
  const idm_sizes n = idm_setting_sizes(setting);
  const idm_behavior b = s->behavior;
  idm_data *data = s->data;
  size_t state = idm_random_choice(random, setting->start, n.states);
  data->start[index] = data->starts ? (int32_t)state : -1;
  const double *start = data->starts ? data->start_belief + state * n.states : NULL;
  const bool lasting = b.ops->scope & IDM_SCOPE_AGENT;
  const bool first = index == 0 || data->agent[index] != data->agent[index - 1];
  idm_status status = first ? b.ops->begin_agent(b.content, s->memory, opt_error) : IDM_OK;
  if (status == IDM_OK)
    status = b.ops->begin_trajectory(b.content, s->memory, s->memory, 0, start, opt_error);

  for (int t = 0; status == IDM_OK && t < steps; t++) {
    status = reserve_rows(s, data->rows + 1, opt_error);
    if (status == IDM_OK)
      status = b.ops->act(b.content, s->memory, NULL, s->probability, opt_error);
    if (status != IDM_OK) break;
    const size_t u = idm_random_choice(random, s->probability, n.actions);
    const double *pays = s->simulation->opt_reward;
    const double reward = pays ? pays[u * n.states + state] : 0;
    data->action[data->rows] = (int32_t)u;
    if (pays) data->number[IDM_COLUMN_REWARD][data->rows] = reward;
    data->rows++;
    int x = IDM_MISSING;
    if (!setting->ends[u]) x = move(setting, u, &state, random);
    data->observation[data->rows - 1] = x;
    /* What comes last matters to a memory that outlives the trajectory. */
    const bool last = setting->ends[u] || t + 1 == steps;
    const idm_event event = {
        .action = (int)u, .observation = x, .reward = reward, .last = last, .whole = true};
    if (!last || lasting)
      status = b.ops->observe(b.content, s->memory, s->memory, &event, NULL, random, opt_error);
    if (last) break;
  }
  data->first[index + 1] = data->rows;
  return status;
}

static idm_status finish(simulator *s, idm_error *opt_error)
{
  idm_data *data = s->data;
  data->available = idm_new(data->rows, sizeof *data->available);
  data->line = idm_new(data->rows, sizeof *data->line);
  return data->available && data->line ? IDM_OK : idm_fail_memory(opt_error);
}

void idm_simulation_pay(idm_simulation *simulation, const idm_problem *problem)
{
  if (!simulation || !problem) return;
  if (idm_agent_planner(&problem->agent)->needs & IDM_NEEDS_REWARDS)
    simulation->opt_reward = idm_theta_values(problem->theta, IDM_UTILITY, 0);
}

idm_status idm_simulate(const idm_setting *setting, idm_behavior behavior,
                        const idm_simulation *simulation, idm_data **ret_data, idm_error *opt_error)
{
  idm_require(setting, simulation, ret_data);
  *ret_data = NULL;
  if (!behavior.ops || !idm_sizes_same(behavior.sizes, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE, "the behaviour is of another problem than the setting");
  if (!setting->transition || !setting->emission)
    return idm_fail(opt_error, IDM_INPUT,
                    "the environment's dynamics are not given, so nothing can be simulated");
  if (simulation->trajectories > UINT32_MAX)
    return idm_fail(opt_error, IDM_USAGE, "too many trajectories");
  int steps = simulation->steps > 0 ? simulation->steps : default_steps;
  if (setting->horizon > 0 && (simulation->steps <= 0 || steps > setting->horizon))
    steps = setting->horizon;

  simulator s = {.setting = setting, .behavior = behavior, .simulation = simulation};
  idm_status status = prepare(&s, simulation->trajectories, opt_error);
  for (size_t i = 0; status == IDM_OK && i < simulation->trajectories; i++) {
    idm_random random;
    idm_random_init(&random, simulation->seed, i);
    if (simulation->opt_before)
      status = simulation->opt_before(simulation->context, i, s.data->agent[i], opt_error);
    if (status == IDM_OK) status = run_trajectory(&s, i, steps, &random, opt_error);
  }
  if (status == IDM_OK) status = finish(&s, opt_error);
  if (s.memory) behavior.ops->memory_destroy(s.memory);
  free(s.probability);
  if (status == IDM_OK)
    *ret_data = s.data;
  else
    idm_data_destroy(s.data);
  return status;
}
