/* Simulation: a behaviour acting in the environment.
 *
 * Contents: the design · rows · one trajectory · all of them */
#include <stdio.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/behavior.h"
#include "idm/data.h"
#include "idm/planner.h"
#include "idm/prefix.h"
#include "idm/simulate.h"
#include "plan/draw.h"

/* Steps of a trajectory where neither the caller nor a horizon says. */
enum { default_steps = 1000 };

typedef struct simulator {
  const idm_setting *setting;
  idm_behavior behavior;
  const idm_simulation *simulation;
  idm_data *data;
  size_t capacity; /* rows that the data has room for */
  size_t memories; /* one, or where it outlives a trajectory one an agent */
  void **memory;   /* [memories]: NULL until its agent begins */
  double *probability;
  bool states;     /* the log keeps them */
  bool misses;     /* the log that is followed has missed responses */
  int32_t *corner; /* [state]: the start belief that is certain of it, or -1; NULL where states are
                      hidden */
} simulator;

/* --- the design ----------------------------------------------------------------------------- */

/* A design without a log to follow: agents share the trajectories out evenly. */
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

/* Where the setting is fully observed and the first state is drawn, the log must say which it was.
 */
static idm_status start_in(simulator *s, size_t index, size_t state, idm_error *opt_error)
{
  idm_data *data = s->data;
  const size_t k = data->sizes.states;
  if (s->corner[state] < 0) {
    double *belief = realloc(data->start_belief, (data->starts + 1) * k * sizeof *belief);
    if (!belief) return idm_fail_memory(opt_error);
    data->start_belief = belief;
    memset(belief + data->starts * k, 0, k * sizeof *belief);
    belief[data->starts * k + state] = 1;
    s->corner[state] = (int32_t)data->starts++;
  }
  data->start[index] = s->corner[state];
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
  const idm_data *like = s->simulation->opt_like;
  idm_status status = like ? idm_data_design(like, &s->data, opt_error)
                           : make_design(s->setting, s->simulation, &s->data, opt_error);
  if (status != IDM_OK) return status;
  s->states = s->simulation->states || s->setting->fully_observed;
  s->misses = like && like->missed;
  if (s->setting->fully_observed) {
    s->corner = idm_new(s->data->sizes.states, sizeof *s->corner);
    if (!s->corner) return idm_fail_memory(opt_error);
    for (size_t i = 0; i < s->data->sizes.states; i++) s->corner[i] = -1;
  }
  const bool lasting = s->behavior.ops->scope & IDM_SCOPE_AGENT;
  s->memories = 1;
  for (size_t i = 0; lasting && i < s->data->trajectories; i++)
    if (s->data->agent[i] >= s->memories) s->memories = s->data->agent[i] + (size_t)1;
  s->memory = idm_new(s->memories, sizeof *s->memory);
  s->probability = idm_new(s->data->sizes.actions, sizeof *s->probability);
  return s->memory && s->probability ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* A larger array with the same content; the old one stays where memory runs out. */
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
      (s->states && !grow(&data->state, capacity)) || (s->misses && !grow(&data->missed, capacity)))
    return idm_fail_memory(opt_error);
  if (s->simulation->opt_pay) {
    double *reward = realloc(data->number[IDM_COLUMN_REWARD], capacity * sizeof *reward);
    if (!reward) return idm_fail_memory(opt_error);
    data->number[IDM_COLUMN_REWARD] = reward;
  }
  s->capacity = capacity;
  return IDM_OK;
}

/* The row of the log that step t of a trajectory follows: the last stands for what comes after. */
static size_t like_row(const idm_data *like, size_t index, int t)
{
  const size_t row = like->first[index] + (size_t)t;
  return row < like->first[index + 1] ? row : like->first[index + 1] - 1;
}

/* Steps that a trajectory may take. How long one took that an action or an arrival ended is
 * behaviour; where the log stops without one, that is design. */
static int most_steps(const simulator *s, size_t index)
{
  const idm_data *like = s->simulation->opt_like;
  const int asked = s->simulation->steps;
  const int horizon = s->setting->horizon;
  int steps = asked > 0 ? asked : default_steps;
  if (horizon > 0 && (asked <= 0 || steps > horizon)) steps = horizon;
  if (!like) return steps;
  const size_t length = like->first[index + 1] - like->first[index];
  const size_t final = like->first[index + 1] - 1;
  const int32_t action = like->action[final];
  if (action != IDM_MISSING && s->setting->ends[action]) return steps;
  if (idm_setting_arrives(s->setting, like->observation[final])) return steps;
  return asked > 0 && (size_t)asked < length ? asked : (int)length;
}

/* --- one trajectory ------------------------------------------------------------------------- */

/* The first state, from the start belief of the trajectory; what the log says of it. */
static idm_status draw_start(simulator *s, size_t index, idm_random *random, size_t *ret_state,
                             idm_error *opt_error)
{
  const idm_data *data = s->data;
  const size_t k = data->sizes.states;
  const int32_t start = data->start[index];
  const double *law = start < 0 ? s->setting->start : data->start_belief + (size_t)start * k;
  *ret_state = idm_random_choice(random, law, k);
  return s->corner && !is_corner(law, k) ? start_in(s, index, *ret_state, opt_error) : IDM_OK;
}

/* The memory of a trajectory's agent, at its beginning. */
static idm_status begin(simulator *s, size_t index, void **ret_memory, idm_error *opt_error)
{
  const idm_behavior b = s->behavior;
  const idm_data *data = s->data;
  const size_t agent = s->memories > 1 ? data->agent[index] : 0;
  const bool fresh = !s->memory[agent] ||
                     (s->memories == 1 && index && data->agent[index] != data->agent[index - 1]);
  idm_status status = IDM_OK;
  if (!s->memory[agent]) status = b.ops->memory_create(b.content, &s->memory[agent], opt_error);
  void *memory = *ret_memory = s->memory[agent];
  if (status == IDM_OK && fresh) status = b.ops->begin_agent(b.content, memory, opt_error);
  const int32_t start = data->start[index];
  if (status == IDM_OK)
    status = b.ops->begin_trajectory(
        b.content, memory, memory, data->variant[index],
        start < 0 ? NULL : data->start_belief + (size_t)start * data->sizes.states, opt_error);
  return status;
}

/* Whether a response is missed is design, as far as the log goes. Which text; IDM_MISSING: none. */
static int32_t missed_at(const idm_data *like, size_t index, int t)
{
  const size_t row = like->first[index] + (size_t)t;
  return row < like->first[index + 1] && idm_data_missed(like, row) ? like->missed[row]
                                                                    : IDM_MISSING;
}

/* The reward of the row that is made now; nothing is paid where nothing is done. */
static double pay(simulator *s, size_t index, size_t state)
{
  idm_data *data = s->data;
  const int32_t u = data->action[data->rows];
  if (!s->simulation->opt_pay) return 0;
  const double *utility =
      idm_theta_values(s->simulation->opt_pay, IDM_UTILITY, data->variant[index]);
  const double reward = u == IDM_MISSING ? 0 : utility[(size_t)u * data->sizes.states + state];
  data->number[IDM_COLUMN_REWARD][data->rows] = reward;
  return reward;
}

/* Act once: the row's action, availability, state and reward. */
static idm_status act(simulator *s, size_t index, int t, size_t state, void *memory,
                      idm_random *random, double *reward, idm_error *opt_error)
{
  idm_data *data = s->data;
  const idm_data *like = s->simulation->opt_like;
  idm_status status = reserve_row(s, opt_error);
  if (status != IDM_OK) return status;
  const size_t row = data->rows, actions = data->sizes.actions;
  const uint32_t set = like ? like->available[like_row(like, index, t)] : 0;
  data->available[row] = set;
  status = s->behavior.ops->act(s->behavior.content, memory,
                                set ? data->available_set + set * actions : NULL, s->probability,
                                opt_error);
  if (status != IDM_OK) return status;
  data->action[row] = (int32_t)idm_random_choice(random, s->probability, actions);
  if (like && s->misses) {
    data->missed[row] = missed_at(like, index, t);
    /* The log's action of a missed response is the problem's, or none. */
    if (data->missed[row] >= 0) data->action[row] = like->action[like_row(like, index, t)];
  }
  if (s->states) data->state[row] = (int32_t)state;
  *reward = pay(s, index, state);
  data->rows++;
  return IDM_OK;
}

/* What the environment shows after the last row, and where it moves. Without an action nothing. */
static int respond(const simulator *s, size_t *state, idm_random *random)
{
  const int32_t u = s->data->action[s->data->rows - 1];
  const bool moves = u != IDM_MISSING && !s->setting->ends[u];
  return moves ? idm_draw_move(s->setting, (size_t)u, state, random) : IDM_MISSING;
}

static idm_status run_trajectory(simulator *s, size_t index, idm_random *random,
                                 idm_error *opt_error)
{
  const idm_behavior b = s->behavior;
  idm_data *data = s->data;
  const bool lasting = b.ops->scope & IDM_SCOPE_AGENT;
  const int steps = most_steps(s, index);
  size_t state;
  void *memory;
  idm_status status = draw_start(s, index, random, &state, opt_error);
  if (status == IDM_OK) status = begin(s, index, &memory, opt_error);
  for (int t = 0; status == IDM_OK && t < steps; t++) {
    double reward;
    status = act(s, index, t, state, memory, random, &reward, opt_error);
    if (status != IDM_OK) break;
    const int32_t u = data->action[data->rows - 1];
    const int x = respond(s, &state, random);
    data->observation[data->rows - 1] = x;
    /* What comes last matters to a memory that outlives the trajectory. */
    const bool last = (u != IDM_MISSING && s->setting->ends[u]) || t + 1 == steps ||
                      idm_setting_arrives(s->setting, x);
    const idm_event event = {.action = u,
                             .observation = x,
                             .missed = s->misses && data->missed[data->rows - 1] >= 0,
                             .reward = reward,
                             .last = last,
                             .whole = true};
    if (!last || lasting)
      status = b.ops->observe(b.content, memory, memory, &event, NULL, random, opt_error);
    if (last) break;
  }
  data->first[index + 1] = data->rows;
  return status;
}

/* --- all of them ---------------------------------------------------------------------------- */

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
  free(s->corner);
}

void idm_simulation_suit(idm_simulation *simulation, const idm_problem *problem)
{
  if (!simulation || !problem) return;
  const idm_columns *columns = &problem->columns;
  if (idm_agent_planner(&problem->agent)->needs & IDM_NEEDS_REWARDS ||
      columns->role[IDM_COLUMN_REWARD].count)
    simulation->opt_pay = problem->theta;
  bool alone = true;
  for (size_t i = 0; i < idm_columns_count(columns, IDM_COLUMN_TRAJECTORY); i++)
    alone = alone && idm_columns_shared(columns, IDM_COLUMN_TRAJECTORY, i, IDM_COLUMN_AGENT);
  if (alone) simulation->agents = simulation->trajectories;
}

/* Where there are several states, what a missed response does to them must be known. */
static idm_status check_missed(const idm_setting *setting, const idm_data *like,
                               idm_error *opt_error)
{
  for (size_t row = 0; setting->states.count > 1 && row < like->rows; row++) {
    if (!idm_data_missed(like, row) || like->action[row] != IDM_MISSING) continue;
    const idm_status status =
        idm_fail(opt_error, IDM_INPUT,
                 "a missed response without an action: how the state moves then is not defined; "
                 "expected data: {missed: {values: [...], action: ACTION}} in the problem file");
    idm_data_locate(like, row, opt_error);
    return status;
  }
  return IDM_OK;
}

static idm_status check_request(const idm_setting *setting, const idm_simulation *simulation,
                                idm_error *opt_error)
{
  if (!idm_setting_known(setting))
    return idm_fail(opt_error, IDM_INPUT,
                    "the environment's dynamics are not given, so nothing can be simulated");
  if (simulation->trajectories > UINT32_MAX)
    return idm_fail(opt_error, IDM_USAGE, "too many trajectories");
  if (!simulation->opt_like) return IDM_OK;
  const idm_status status = idm_data_validate(simulation->opt_like, setting, opt_error);
  return status == IDM_OK ? check_missed(setting, simulation->opt_like, opt_error) : status;
}

idm_status idm_simulate(const idm_setting *setting, idm_behavior behavior,
                        const idm_simulation *simulation, idm_data **ret_data, idm_error *opt_error)
{
  idm_require(setting, simulation, ret_data);
  *ret_data = NULL;
  if (!behavior.ops || !idm_sizes_same(behavior.sizes, idm_setting_sizes(setting)))
    return idm_fail(opt_error, IDM_USAGE, "the behaviour is of another problem than the setting");
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
