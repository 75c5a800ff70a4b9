/* Simulation of trajectories, and traces of an agent along given steps.
 *
 * Contents: follow · simulate */
#include <math.h>
#include <stdio.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "data/log.h"
#include "idm/extension/behavior.h"
#include "idm/extension/data.h"
#include "idm/extension/planner.h"
#include "idm/extension/prefix.h"
#include "plan/plan.h"
#include "plan/workspace.h"
#include "setting/model.h"

/* === follow ================================================================================= */

/* Traces of an agent along a path of actions and observations. */

void idm_path_trace_destroy(idm_path_trace *trace)
{
  if (!trace) return;
  for (size_t i = 0; trace->step_label && i < trace->step_count; i++) free(trace->step_label[i]);
  free(trace->belief);
  free(trace->policy);
  free(trace->action);
  free(trace->step_label);
  free(trace);
}

static idm_status create_trace(const idm_setting *setting, size_t step_count,
                               idm_path_trace **ret_trace, idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(setting);
  idm_path_trace *f = *ret_trace = idm_new(1, sizeof *f);
  if (!f) return idm_fail_memory(opt_error);
  f->step_count = step_count;
  f->belief = idm_new(idm_times(step_count, n.states), sizeof *f->belief);
  f->policy = idm_new(idm_times(step_count, n.actions), sizeof *f->policy);
  f->action = idm_new(step_count, sizeof *f->action);
  f->step_label = idm_new(step_count, sizeof *f->step_label);
  if (!f->belief || !f->policy || !f->action || !f->step_label) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < step_count * n.states; i++) f->belief[i] = NAN;
  f->action[step_count - 1] = IDM_MISSING;
  return IDM_OK;
}

/* Parses one step "action:observation"; either name may contain colons. */
static idm_status parse_step(const idm_setting *setting, const char *step, size_t length,
                             idm_event *event, idm_error *opt_error)
{
  for (const char *colon = step; (colon = memchr(colon, ':', (size_t)(step + length - colon)));
       colon++) {
    event->action = (int)idm_labels_find(&setting->actions, step, (size_t)(colon - step));
    event->observation = (int)idm_labels_find(&setting->observations, colon + 1,
                                              (size_t)(step + length - colon - 1));
    if (event->action >= 0 && event->observation >= 0) return IDM_OK;
  }
  return idm_fail(opt_error, IDM_USAGE,
                  "the path has '%.*s'; expected ACTION:OBSERVATION, as in %s:%s", (int)length,
                  step, setting->actions.name[0], setting->observations.name[0]);
}

/* Parses all steps of a path. IDM_USAGE if a step is unknown or ends the episode. */
static idm_status parse_path(const idm_setting *setting, const char *path, size_t count,
                             idm_event *events, idm_error *opt_error)
{
  const char *step = path;
  for (size_t i = 0; i < count; i++) {
    const size_t length = strcspn(step, ",");
    const idm_status status = parse_step(setting, step, length, &events[i], opt_error);
    if (status != IDM_OK) return status;
    if (setting->terminal[events[i].action] ||
        idm_observation_is_terminal(setting, events[i].observation) ||
        (setting->horizon > 0 && i + 1 >= (size_t)setting->horizon))
      return idm_fail(opt_error, IDM_USAGE,
                      "the path continues where the episode has ended: no step can follow '%.*s'",
                      (int)length, step);
    step += length + (step[length] == ',');
  }
  return IDM_OK;
}

/* Records the belief and the policy of the agent at place i. */
static idm_status record_step(const idm_setting *setting, idm_behavior b, void *memory, size_t i,
                              idm_path_trace *f, idm_error *opt_error)
{
  const idm_status status =
      b.ops->act(b.content, memory, NULL, f->policy + i * setting->actions.count, opt_error);
  if (status == IDM_OK && b.ops->belief)
    b.ops->belief(b.content, memory, f->belief + i * setting->states.count);
  return status;
}

static idm_status run_path(const idm_setting *setting, idm_behavior b, void *memory,
                           const double *opt_start, const idm_event *events, idm_path_trace *f,
                           idm_error *opt_error)
{
  idm_status status = b.ops->begin_agent(b.content, memory, opt_error);
  if (status == IDM_OK)
    status = b.ops->begin_trajectory(b.content, memory, memory, 0, opt_start, opt_error);
  if (status == IDM_OK) status = record_step(setting, b, memory, 0, f, opt_error);
  for (size_t i = 1; i < f->step_count && status == IDM_OK; i++) {
    status = b.ops->observe(b.content, memory, memory, &events[i - 1], NULL, NULL, opt_error);
    if (status == IDM_OK) status = record_step(setting, b, memory, i, f, opt_error);
    f->action[i - 1] = events[i - 1].action;
  }
  return status;
}

idm_status idm_path_trace_events(const idm_setting *setting, const idm_workspace *workspace,
                                 const double *opt_start, const idm_event *events, size_t count,
                                 idm_path_trace **ret_trace, idm_error *opt_error)
{
  const idm_behavior b = idm_workspace_behavior(workspace);
  void *memory = NULL;
  idm_status status = create_trace(setting, count + 1, ret_trace, opt_error);
  if (status == IDM_OK) status = b.ops->memory_create(b.content, &memory, opt_error);
  if (status == IDM_OK)
    status = run_path(setting, b, memory, opt_start, events, *ret_trace, opt_error);
  if (memory) b.ops->memory_destroy(memory);
  if (status == IDM_OK) return IDM_OK;
  idm_path_trace_destroy(*ret_trace);
  *ret_trace = NULL;
  return status;
}

/* Copies the text of the step that leads to each place. */
static idm_status name_steps(const char *path, idm_path_trace *f, idm_error *opt_error)
{
  const char *step = path;
  for (size_t i = 1; i < f->step_count; i++) {
    const size_t length = strcspn(step, ",");
    f->step_label[i] = idm_text_copy(step, length);
    if (!f->step_label[i]) return idm_fail_memory(opt_error);
    step += length + (step[length] == ',');
  }
  return IDM_OK;
}

idm_status idm_path_trace_create(const idm_setting *setting, const idm_workspace *workspace,
                                 const char *opt_path, idm_path_trace **ret_trace,
                                 idm_error *opt_error)
{
  idm_require(setting, workspace, ret_trace);
  *ret_trace = NULL;
  if (!idm_sizes_same(idm_setting_sizes(setting), idm_workspace_theta(workspace)->sizes))
    return idm_fail(opt_error, IDM_USAGE, "the workspace belongs to another problem");
  size_t count = opt_path ? 1 : 0;
  for (const char *c = opt_path; c && *c; c++) count += *c == ',';
  idm_event *events = idm_new(count, sizeof *events);
  idm_status status = events ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = parse_path(setting, opt_path, count, events, opt_error);
  if (status == IDM_OK)
    status = idm_path_trace_events(setting, workspace, NULL, events, count, ret_trace, opt_error);
  if (status == IDM_OK && opt_path) status = name_steps(opt_path, *ret_trace, opt_error);
  free(events);
  if (status == IDM_OK) return IDM_OK;
  idm_path_trace_destroy(*ret_trace);
  *ret_trace = NULL;
  /* The path is an argument of the caller, not an input file. */
  return status == IDM_INPUT ? IDM_USAGE : status;
}

/* === simulate =============================================================================== */

/* Simulation of a behaviour in the environment.
 *
 * Contents: design · rows · one trajectory · all trajectories */

/* Steps of a trajectory if neither the caller nor a horizon limits it. */
enum { default_steps = 1000 };

typedef struct simulator {
  const idm_setting *setting;
  idm_behavior behavior;
  const idm_simulation *simulation;
  idm_data *data;
  size_t capacity; /* rows allocated in `data` */
  size_t memories; /* one per agent if the memory persists across trajectories, else 1 */
  void **memory;   /* [memories]: NULL until its agent begins */
  double *probability;
  bool states;          /* the log has a column of states */
  bool has_missed;      /* the design log has missed responses */
  int32_t *start_index; /* [state]: index of the start belief that is certain of it, or -1; NULL if
                           states are hidden */
} simulator;

/* --- design ---------------------------------------------------------------------------------- */

/* Design without a design log: trajectories are distributed evenly over the agents. */
static idm_status make_design(const idm_setting *setting, const idm_simulation *simulation,
                              idm_data **ret_data, idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(setting);
  const size_t trajectories = simulation->trajectories;
  idm_data *data = *ret_data = idm_new(1, sizeof *data);
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
  data->start_belief = idm_new(0, sizeof *data->start_belief);
  data->variant_value = idm_new(1, sizeof *data->variant_value);
  if (!data->first || !data->agent || !data->variant || !data->start || !data->available_set ||
      !data->start_belief || !data->variant_value)
    return idm_fail_memory(opt_error);
  for (size_t u = 0; u < n.actions; u++) data->available_set[u] = true;
  const size_t agents = simulation->agents ? simulation->agents : 1;
  idm_status status = idm_labels_create(&data->agent_name, agents, opt_error);
  for (size_t i = 0; i < agents && status == IDM_OK; i++) {
    char name[24];
    const int length = snprintf(name, sizeof name, "%zu", i + 1);
    status = idm_labels_set(&data->agent_name, i, name, (size_t)length, opt_error);
  }
  for (size_t i = 0; i < trajectories; i++) {
    data->agent[i] = (uint32_t)(i * agents / trajectories);
    data->start[i] = -1;
  }
  return status;
}

/* If states are observed and the first state is drawn, records it as the start belief of the
 * trajectory. */
static idm_status record_start(simulator *s, size_t index, size_t state, idm_error *opt_error)
{
  idm_data *data = s->data;
  const size_t k = data->sizes.states;
  if (s->start_index[state] < 0) {
    double *belief = realloc(data->start_belief, (data->starts + 1) * k * sizeof *belief);
    if (!belief) return idm_fail_memory(opt_error);
    data->start_belief = belief;
    memset(belief + data->starts * k, 0, k * sizeof *belief);
    belief[data->starts * k + state] = 1;
    s->start_index[state] = (int32_t)data->starts++;
  }
  data->start[index] = s->start_index[state];
  return IDM_OK;
}

static bool is_corner(const double *belief, size_t states)
{
  for (size_t i = 0; i < states; i++)
    if (belief[i] == 1) return true;
  return false;
}

static idm_status prepare(simulator *s, idm_error *opt_error)
{
  const idm_data *design_log = s->simulation->opt_design_log;
  idm_status status = design_log ? idm_data_design(design_log, &s->data, opt_error)
                                 : make_design(s->setting, s->simulation, &s->data, opt_error);
  if (status != IDM_OK) return status;
  s->states = s->simulation->states || s->setting->fully_observed;
  s->has_missed = design_log && design_log->missed;
  if (s->setting->fully_observed) {
    s->start_index = idm_new(s->data->sizes.states, sizeof *s->start_index);
    if (!s->start_index) return idm_fail_memory(opt_error);
    for (size_t i = 0; i < s->data->sizes.states; i++) s->start_index[i] = -1;
  }
  const bool per_agent = s->behavior.ops->scope & IDM_SCOPE_AGENT;
  s->memories = 1;
  for (size_t i = 0; per_agent && i < s->data->trajectories; i++)
    if (s->data->agent[i] >= s->memories) s->memories = s->data->agent[i] + (size_t)1;
  s->memory = idm_new(s->memories, sizeof *s->memory);
  s->probability = idm_new(s->data->sizes.actions, sizeof *s->probability);
  return s->memory && s->probability ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* Enlarges an array, keeping its content. Returns false, with the old array valid, if memory runs
 * out. */
static bool grow(int32_t **array, size_t capacity)
{
  int32_t *larger = realloc(*array, capacity * sizeof *larger);
  if (larger) *array = larger;
  return larger;
}

static idm_status reserve_row(simulator *s, idm_error *opt_error)
{
  idm_data *data = s->data;
  if (data->rows < s->capacity) return IDM_OK;
  const size_t capacity = 2 * data->rows + 64;
  uint32_t *available = realloc(data->available, capacity * sizeof *available);
  if (available) data->available = available;
  if (!available || !grow(&data->action, capacity) || !grow(&data->observation, capacity) ||
      (s->states && !grow(&data->state, capacity)) ||
      (s->has_missed && !grow(&data->missed, capacity)))
    return idm_fail_memory(opt_error);
  if (s->simulation->opt_reward_theta) {
    double *reward = realloc(data->number[IDM_COLUMN_REWARD], capacity * sizeof *reward);
    if (!reward) return idm_fail_memory(opt_error);
    data->number[IDM_COLUMN_REWARD] = reward;
  }
  s->capacity = capacity;
  return IDM_OK;
}

/* Row of the design log that corresponds to step t; past its end, the last row of the trajectory.
 */
static size_t like_row(const idm_data *design_log, size_t index, int t)
{
  const size_t row = design_log->first[index] + (size_t)t;
  return row < design_log->first[index + 1] ? row : design_log->first[index + 1] - 1;
}

/* Maximum number of steps of a trajectory. The length of a trajectory that an action or a terminal
 * state ended is a result of behaviour; the length of one that the log cuts off is part of the
 * design. */
static int max_steps(const simulator *s, size_t index)
{
  const idm_data *design_log = s->simulation->opt_design_log;
  const int requested = s->simulation->steps;
  const int horizon = s->setting->horizon;
  int steps = requested > 0 ? requested : default_steps;
  if (horizon > 0 && (requested <= 0 || steps > horizon)) steps = horizon;
  if (!design_log) return steps;
  const size_t length = design_log->first[index + 1] - design_log->first[index];
  const size_t final = design_log->first[index + 1] - 1;
  const int32_t action = design_log->action[final];
  if (action != IDM_MISSING && s->setting->ends[action]) return steps;
  if (idm_observation_is_terminal(s->setting, design_log->observation[final])) return steps;
  return requested > 0 && (size_t)requested < length ? requested : (int)length;
}

/* --- one trajectory ------------------------------------------------------------------------- */

/* Draws the first state from the start belief of the trajectory, and records it if states are
 * observed. */
static idm_status draw_start(simulator *s, size_t index, idm_random *random, size_t *ret_state,
                             idm_error *opt_error)
{
  const idm_data *data = s->data;
  const size_t k = data->sizes.states;
  const int32_t start = data->start[index];
  const double *distribution =
      start < 0 ? s->setting->start : data->start_belief + (size_t)start * k;
  *ret_state = idm_random_choice(random, distribution, k);
  return s->start_index && !is_corner(distribution, k)
             ? record_start(s, index, *ret_state, opt_error)
             : IDM_OK;
}

/* Memory of a trajectory's agent, initialised for the trajectory. */
static idm_status begin(simulator *s, size_t index, void **ret_memory, idm_error *opt_error)
{
  const idm_behavior b = s->behavior;
  const idm_data *data = s->data;
  const size_t agent = s->memories > 1 ? data->agent[index] : 0;
  const bool new_agent = !s->memory[agent] || (s->memories == 1 && index &&
                                               data->agent[index] != data->agent[index - 1]);
  idm_status status = IDM_OK;
  if (!s->memory[agent]) status = b.ops->memory_create(b.content, &s->memory[agent], opt_error);
  void *memory = *ret_memory = s->memory[agent];
  if (status == IDM_OK && new_agent) status = b.ops->begin_agent(b.content, memory, opt_error);
  const int32_t start = data->start[index];
  if (status == IDM_OK)
    status = b.ops->begin_trajectory(
        b.content, memory, memory, data->variant[index],
        start < 0 ? NULL : data->start_belief + (size_t)start * data->sizes.states, opt_error);
  return status;
}

/* Label of the missed response at step t, or IDM_MISSING. Missed responses are part of the design,
 * up to the end of the design log. */
static int32_t missed_at(const idm_data *design_log, size_t index, int t)
{
  const size_t row = design_log->first[index] + (size_t)t;
  return row < design_log->first[index + 1] && idm_data_missed(design_log, row)
             ? design_log->missed[row]
             : IDM_MISSING;
}

/* Sets and returns the reward of the row under construction; 0 without an action. Without a reward
 * theta returns 0 and sets nothing. */
static double set_reward(simulator *s, size_t index, size_t state)
{
  idm_data *data = s->data;
  const int32_t u = data->action[data->rows];
  if (!s->simulation->opt_reward_theta) return 0;
  const double *utility =
      idm_theta_values(s->simulation->opt_reward_theta, IDM_UTILITY, data->variant[index]);
  const double reward = u == IDM_MISSING ? 0 : utility[(size_t)u * data->sizes.states + state];
  data->number[IDM_COLUMN_REWARD][data->rows] = reward;
  return reward;
}

/* Appends one row: action, availability, state and reward. */
static idm_status act(simulator *s, size_t index, int t, size_t state, void *memory,
                      idm_random *random, double *reward, idm_error *opt_error)
{
  idm_data *data = s->data;
  const idm_data *design_log = s->simulation->opt_design_log;
  idm_status status = reserve_row(s, opt_error);
  if (status != IDM_OK) return status;
  const size_t row = data->rows, actions = data->sizes.actions;
  const uint32_t set = design_log ? design_log->available[like_row(design_log, index, t)] : 0;
  data->available[row] = set;
  status = s->behavior.ops->act(s->behavior.content, memory,
                                set ? data->available_set + set * actions : NULL, s->probability,
                                opt_error);
  if (status != IDM_OK) return status;
  data->action[row] = (int32_t)idm_random_choice(random, s->probability, actions);
  if (design_log && s->has_missed) {
    data->missed[row] = missed_at(design_log, index, t);
    /* The action of a missed response is that of the design log, or missing. */
    if (data->missed[row] >= 0)
      data->action[row] = design_log->action[like_row(design_log, index, t)];
  }
  if (s->states) data->state[row] = (int32_t)state;
  *reward = set_reward(s, index, state);
  data->rows++;
  return IDM_OK;
}

/* Draws the observation after the last row and updates *state. IDM_MISSING without an action, or
 * after one that ends the episode. */
static int environment_step(const simulator *s, size_t *state, idm_random *random)
{
  const int32_t u = s->data->action[s->data->rows - 1];
  const bool moves = u != IDM_MISSING && !s->setting->ends[u];
  return moves ? idm_draw_transition(s->setting, (size_t)u, state, random) : IDM_MISSING;
}

static idm_status run_trajectory(simulator *s, size_t index, idm_random *random,
                                 idm_error *opt_error)
{
  const idm_behavior b = s->behavior;
  idm_data *data = s->data;
  const bool per_agent = b.ops->scope & IDM_SCOPE_AGENT;
  const int steps = max_steps(s, index);
  size_t state;
  void *memory;
  idm_status status = draw_start(s, index, random, &state, opt_error);
  if (status == IDM_OK) status = begin(s, index, &memory, opt_error);
  for (int t = 0; status == IDM_OK && t < steps; t++) {
    double reward;
    status = act(s, index, t, state, memory, random, &reward, opt_error);
    if (status != IDM_OK) break;
    const int32_t u = data->action[data->rows - 1];
    const int x = environment_step(s, &state, random);
    data->observation[data->rows - 1] = x;
    /* A memory that persists across trajectories also observes the last row. */
    const bool last = (u != IDM_MISSING && s->setting->ends[u]) || t + 1 == steps ||
                      idm_observation_is_terminal(s->setting, x);
    const idm_event event = {.action = u,
                             .observation = x,
                             .missed = s->has_missed && data->missed[data->rows - 1] >= 0,
                             .reward = reward,
                             .last = last,
                             .all_recorded = true};
    if (!last || per_agent)
      status = b.ops->observe(b.content, memory, memory, &event, NULL, random, opt_error);
    if (last) break;
  }
  data->first[index + 1] = data->rows;
  return status;
}

/* --- all trajectories ------------------------------------------------------------------------ */

static idm_status finish(simulator *s, idm_error *opt_error)
{
  s->data->line = idm_new(s->data->rows, sizeof *s->data->line);
  return s->data->line ? IDM_OK : idm_fail_memory(opt_error);
}

static void close_simulator(simulator *s)
{
  for (size_t i = 0; s->memory && i < s->memories; i++)
    if (s->memory[i]) s->behavior.ops->memory_destroy(s->memory[i]);
  free(s->memory);
  free(s->probability);
  free(s->start_index);
}

void idm_simulation_adapt(idm_simulation *simulation, const idm_problem *problem)
{
  if (!simulation || !problem) return;
  const idm_columns *columns = &problem->columns;
  if (idm_agent_planner(&problem->agent)->needs & IDM_NEEDS_REWARDS ||
      columns->role[IDM_COLUMN_REWARD].count)
    simulation->opt_reward_theta = problem->theta;
  bool same_columns = true;
  for (size_t i = 0; i < idm_columns_count(columns, IDM_COLUMN_TRAJECTORY); i++)
    same_columns =
        same_columns && idm_columns_shared(columns, IDM_COLUMN_TRAJECTORY, i, IDM_COLUMN_AGENT);
  if (same_columns) simulation->agents = simulation->trajectories;
}

/* With several states a missed response needs an action, because the transition is undefined
 * without one. */
static idm_status check_missed(const idm_setting *setting, const idm_data *design_log,
                               idm_error *opt_error)
{
  for (size_t row = 0; setting->states.count > 1 && row < design_log->rows; row++) {
    if (!idm_data_missed(design_log, row) || design_log->action[row] != IDM_MISSING) continue;
    const idm_status status =
        idm_fail(opt_error, IDM_INPUT,
                 "a missed response without an action: the transition of the state is not defined; "
                 "expected data: {missed: {values: [...], action: ACTION}} in the problem file");
    idm_data_locate(design_log, row, opt_error);
    return status;
  }
  return IDM_OK;
}

static idm_status check_request(const idm_setting *setting, const idm_simulation *simulation,
                                idm_error *opt_error)
{
  if (!idm_setting_has_dynamics(setting))
    return idm_fail(opt_error, IDM_INPUT,
                    "the environment's dynamics are not given, so nothing can be simulated");
  if (simulation->trajectories > UINT32_MAX)
    return idm_fail(opt_error, IDM_USAGE, "too many trajectories");
  if (!simulation->opt_design_log) return IDM_OK;
  const idm_status status = idm_data_validate(simulation->opt_design_log, setting, opt_error);
  return status == IDM_OK ? check_missed(setting, simulation->opt_design_log, opt_error) : status;
}

idm_status idm_simulate(const idm_setting *setting, idm_behavior behavior,
                        const idm_simulation *simulation, idm_data **ret_data, idm_error *opt_error)
{
  idm_require(setting, simulation, ret_data);
  *ret_data = NULL;
  if (!behavior.ops || !idm_sizes_same(behavior.sizes, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE,
                    "the behaviour and the setting belong to different problems");
  simulator s = {.setting = setting, .behavior = behavior, .simulation = simulation};
  idm_status status = check_request(setting, simulation, opt_error);
  if (status != IDM_OK) return status;
  status = prepare(&s, opt_error);
  for (size_t i = 0; status == IDM_OK && i < s.data->trajectories; i++) {
    idm_random random;
    idm_random_init(&random, simulation->seed, i);
    if (simulation->opt_before)
      status = simulation->opt_before(simulation->context, i, s.data->agent[i], opt_error);
    if (status == IDM_OK) status = run_trajectory(&s, i, &random, opt_error);
  }
  if (status == IDM_OK) status = finish(&s, opt_error);
  close_simulator(&s);
  if (status == IDM_OK)
    *ret_data = s.data;
  else
    idm_data_destroy(s.data);
  return status;
}
