/* The planner `td-learner`: values learnt from rewards, for as long as its agent lasts. */
#include "plan/tabular/td_learner.h"

#include "base/memory.h"
#include "idm/data.h"
#include "idm/planner.h"
#include "plan/tabular/td_rule.h"
#include "plan/tabular/td_slope.h"

/* --- what it reads -------------------------------------------------------------------------- */

static const idm_block_info own[TD_OWNS] = {
    [TD_TEMPERATURE] = {.name = "inverse_temperature",
                        .summary = "how much a learnt value counts in a choice",
                        .support = IDM_NOT_NEGATIVE,
                        .standard = 1,
                        .scales = IDM_SCALES_ALL,
                        .scale = IDM_SCALE_LOG,
                        .spread = 20,
                        .of_agent = true},
    [TD_GAIN] = {.name = "learning_rate_gain",
                 .summary = "share of an error that is learnt after a gain",
                 .support = IDM_FRACTION,
                 .standard = 0.3,
                 .scales = IDM_SCALES_FRACTION,
                 .of_agent = true},
    [TD_LOSS] = {.name = "learning_rate_loss",
                 .summary = "share of an error that is learnt after a loss",
                 .support = IDM_FRACTION,
                 .standard = 0.3,
                 .scales = IDM_SCALES_FRACTION,
                 .of_agent = true},
    [TD_DECAY] = {.name = "decay",
                  .summary = "share of their values that actions not taken lose at a step",
                  .support = IDM_FRACTION,
                  .scales = IDM_SCALES_FRACTION,
                  .of_agent = true},
    [TD_INITIAL] = {.name = "initial_value",
                    .summary = "value of every action before anything was learnt",
                    .scales = IDM_SCALES_SIGNED,
                    .spread = 1,
                    .in_utility = true,
                    .of_agent = true},
};

static idm_status create(const idm_setting *setting, const idm_theta *theta, const idm_agent *agent,
                         void **ret_content, idm_error *opt_error)
{
  (void)theta;
  td_learner *l = idm_new(1, sizeof *l);
  *ret_content = l;
  if (!l) return idm_fail_memory(opt_error);
  *l = (td_learner){.setting = setting,
                    .states = setting->fully_observed ? setting->states.count : 1,
                    .actions = setting->actions.count,
                    .asymmetry = agent->asymmetry,
                    .fictive = agent->fictive};
  return IDM_OK;
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  (void)opt_error;
  td_learner *l = content;
  for (size_t i = 0; i < TD_OWNS; i++) l->number[i] = idm_theta_scalar(theta, IDM_BLOCK_COUNT + i);
  l->discount = idm_theta_scalar(theta, IDM_DISCOUNT);
  l->habits = idm_habit_of(theta);
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}

/* --- how it behaves ------------------------------------------------------------------------- */

static void memory_destroy(void *content)
{
  td_memory *m = content;
  if (!m) return;
  free(m->value);
  free(m->log_pi);
  free(m);
}

static idm_status memory_create(const void *content, void **ret_memory, idm_error *opt_error)
{
  const td_learner *l = content;
  td_memory *m = idm_new(1, sizeof *m);
  *ret_memory = NULL;
  if (!m) return idm_fail_memory(opt_error);
  m->value = idm_new(idm_times(l->states, l->actions), sizeof *m->value);
  m->log_pi = idm_new(l->actions, sizeof *m->log_pi);
  if (!m->value || !m->log_pi) {
    memory_destroy(m);
    return idm_fail_memory(opt_error);
  }
  *ret_memory = m;
  return IDM_OK;
}

static idm_status begin_agent(const void *content, void *memory, idm_error *opt_error)
{
  (void)opt_error;
  const td_learner *l = content;
  td_memory *m = memory;
  for (size_t i = 0; i < l->states * l->actions; i++) m->value[i] = l->number[TD_INITIAL];
  return IDM_OK;
}

/* What one memory holds, into another. */
static void pass_on(const td_learner *l, const td_memory *before, td_memory *after)
{
  if (before == after) return;
  after->state = before->state;
  after->last = before->last;
  memcpy(after->value, before->value, l->states * l->actions * sizeof *after->value);
}

static idm_status begin_trajectory(const void *content, void *before, void *after, size_t variant,
                                   const double *opt_start, idm_error *opt_error)
{
  (void)variant;
  const td_learner *l = content;
  td_memory *m = after;
  pass_on(l, before, m);
  m->last = IDM_MISSING;
  return idm_td_start(l, opt_start, &m->state, opt_error);
}

/* log q over the open actions into m->log_pi; how many are open. */
static double tilt(const td_learner *l, td_memory *m, const bool *opt_open)
{
  const double *q = m->value + m->state * l->actions;
  double open;
  for (size_t u = 0; u < l->actions; u++) m->log_pi[u] = l->number[TD_TEMPERATURE] * q[u];
  idm_habit_tilt_logs(l->habits, l->actions, m->log_pi, opt_open, m->last, m->log_pi, &open);
  return open;
}

static idm_status act(const void *content, void *memory, const bool *opt_available,
                      double *probability, idm_error *opt_error)
{
  (void)opt_error;
  const td_learner *l = content;
  td_memory *m = memory;
  const double open = tilt(l, m, opt_available);
  for (size_t u = 0; u < l->actions; u++)
    probability[u] =
        opt_available && !opt_available[u] ? 0 : idm_habit_slip(l->habits, exp(m->log_pi[u]), open);
  return IDM_OK;
}

static idm_status log_act(const void *content, void *memory, const bool *opt_available,
                          size_t action, double *log_probability, idm_error *opt_error)
{
  (void)opt_error;
  const td_learner *l = content;
  td_memory *m = memory;
  const double open = tilt(l, m, opt_available);
  *log_probability = opt_available && !opt_available[action]
                         ? -INFINITY
                         : idm_habit_log_slip(l->habits, m->log_pi[action], open);
  return IDM_OK;
}

static idm_status observe(const void *content, void *before, void *after, const idm_event *event,
                          double *opt_log_evidence, idm_random *opt_random, idm_error *opt_error)
{
  (void)opt_log_evidence;
  (void)opt_random;
  const td_learner *l = content;
  td_memory *m = after;
  td_update update;
  const idm_status status = idm_td_look(l, before, event, &update, opt_error);
  if (status != IDM_OK) return status;
  pass_on(l, before, m);
  idm_td_learn(l, &update, m->value);
  m->state = update.next;
  if (!event->missed) m->last = event->action;
  return IDM_OK;
}

static const idm_behavior_ops behavior = {.scope = IDM_SCOPE_AGENT | IDM_SCOPE_REWARD,
                                          .idles = true,
                                          .memory_create = memory_create,
                                          .memory_destroy = memory_destroy,
                                          .begin_agent = begin_agent,
                                          .begin_trajectory = begin_trajectory,
                                          .act = act,
                                          .log_act = log_act,
                                          .observe = observe,
                                          .slope = &idm_td_slope};

/* --- the table ------------------------------------------------------------------------------ */

const idm_planner idm_td_learner = {
    .name = "td-learner",
    .summary = "learns values from rewards, over all trajectories of an agent",
    .row = "(beyond the table)",
    .keys = (const char *const[]){"asymmetry", "fictive", NULL},
    .reads = (const idm_block_id[]){IDM_DISCOUNT, IDM_PERSEVERANCE, IDM_LAPSE, IDM_BLOCK_COUNT},
    .own = own,
    .owns = TD_OWNS,
    .needs = IDM_NEEDS_REWARDS | IDM_NEEDS_ACTIONS,
    .gives = IDM_GIVES_STATIONARY | IDM_GIVES_HORIZON | IDM_GIVES_MOVES | IDM_GIVES_ENDLESS,
    .create = create,
    .plan = plan,
    .destroy = free,
    .behavior = &behavior};
