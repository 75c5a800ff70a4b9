/* The planner `learner` keeps one value per action and updates it from rewards. */
#include <math.h>

#include "base/memory.h"
#include "idm/extension/behavior.h"
#include "idm/extension/data.h"
#include "idm/extension/planner.h"
#include "idm/extension/prefix.h"

/* --- parameters ------------------------------------------------------------------------------ */

enum { LEARNING_RATE, INVERSE_TEMPERATURE, OWNS };

static const idm_block_info own[OWNS] = {
    [LEARNING_RATE] = {.name = "learning_rate",
                       .summary = "how far a reward moves the value of its action",
                       .support = IDM_FRACTION,
                       .default_number = 0.3,
                       .scales = IDM_SCALES_IDENTITY,
                       .of_agent = true},
    [INVERSE_TEMPERATURE] = {.name = "inverse_temperature",
                             .summary = "how much a value counts in a choice",
                             .support = IDM_NOT_NEGATIVE,
                             .default_number = 3,
                             .scales = IDM_SCALES_ALL,
                             .scale = IDM_SCALE_LOG,
                             .spread = 20,
                             .of_agent = true},
};

typedef struct learner {
  size_t actions;
  double number[OWNS];
} learner;

static void destroy(void *content)
{
  free(content);
}

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  (void)theta;
  (void)agent;
  learner *l = idm_new(1, sizeof *l);
  *ret_content = l;
  if (!l) return idm_fail_memory(opt_error);
  l->actions = setting->actions.count;
  return IDM_OK;
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  (void)opt_error;
  learner *l = content;
  for (size_t i = 0; i < OWNS; i++) l->number[i] = idm_theta_scalar(theta, IDM_BLOCK_COUNT + i);
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}

/* --- behaviour ------------------------------------------------------------------------------- */

/* The memory is an array of values [action]. */
static idm_status memory_create(const void *content, void **ret_memory, idm_error *opt_error)
{
  const learner *l = content;
  *ret_memory = idm_new(l->actions, sizeof(double));
  return *ret_memory ? IDM_OK : idm_fail_memory(opt_error);
}

static idm_status begin_agent(const void *content, void *memory, idm_error *opt_error)
{
  (void)opt_error;
  memset(memory, 0, ((const learner *)content)->actions * sizeof(double));
  return IDM_OK;
}

static idm_status begin_trajectory(const void *content, void *before, void *after, size_t variant,
                                   const double *opt_start, idm_error *opt_error)
{
  (void)variant;
  (void)opt_start;
  (void)opt_error;
  memmove(after, before, ((const learner *)content)->actions * sizeof(double));
  return IDM_OK;
}

static idm_status act(const void *content, void *memory, const bool *opt_available,
                      double *probability, idm_error *opt_error)
{
  (void)opt_error;
  const learner *l = content;
  const double *value = memory;
  double most = -INFINITY;
  double sum = 0;
  for (size_t u = 0; u < l->actions; u++)
    if (!opt_available || opt_available[u]) most = fmax(most, value[u]);
  for (size_t u = 0; u < l->actions; u++) {
    const bool open = !opt_available || opt_available[u];
    probability[u] = open ? exp(l->number[INVERSE_TEMPERATURE] * (value[u] - most)) : 0;
    sum += probability[u];
  }
  for (size_t u = 0; u < l->actions; u++) probability[u] /= sum;
  return IDM_OK;
}

static idm_status observe(const void *content, void *before, void *after, const idm_event *event,
                          double *opt_log_evidence, idm_random *opt_random, idm_error *opt_error)
{
  (void)opt_log_evidence;
  (void)opt_random;
  (void)opt_error;
  const int action = event->action;
  const double reward = event->reward;
  const learner *l = content;
  double *value = after;
  memmove(after, before, l->actions * sizeof *value);
  if (action != IDM_MISSING) value[action] += l->number[LEARNING_RATE] * (reward - value[action]);
  return IDM_OK;
}

static const idm_behavior_ops behavior = {.scope = IDM_SCOPE_AGENT | IDM_SCOPE_REWARD,
                                          .memory_create = memory_create,
                                          .memory_destroy = free,
                                          .begin_agent = begin_agent,
                                          .begin_trajectory = begin_trajectory,
                                          .act = act,
                                          .observe = observe};

/* --- table ----------------------------------------------------------------------------------- */

const idm_planner idm_learner = {.size = sizeof(idm_planner),
                                 .name = "learner",
                                 .summary = "keeps a value an action, and learns it from rewards",
                                 .row = "(beyond the table)",
                                 .reads = (const idm_block_id[]){IDM_BLOCK_COUNT},
                                 .own = own,
                                 .own_count = OWNS,
                                 .needs = IDM_NEEDS_REWARDS,
                                 .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON,
                                 .create = create,
                                 .plan = plan,
                                 .destroy = destroy,
                                 .behavior = &behavior};
