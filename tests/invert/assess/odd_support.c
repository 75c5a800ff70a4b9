/* Learners from rewards with carryovers that the planner `td-learner` lacks. */
#include "invert/assess/odd_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "idm/extension/behavior.h"
#include "plan/plan.h"

enum { ARMS = 2 };

typedef struct memory {
  double value[ARMS], trace[ARMS];
  int last, pending; /* actions; IDM_MISSING: none */
  double due;        /* the reward of `pending` */
  bool lost;
} memory;

idm_problem *odd_bandit(void)
{
  /* The good arm changes with probability .06; whether it wins is drawn in every step. */
  static const char text[] =
      "states: [a_wins, a_loses, b_wins, b_loses]\n"
      "actions: [a, b]\n"
      "observations: [done]\n"
      "start: [0.4, 0.1, 0.4, 0.1]\n"
      "discount: 0\n"
      "transition: {'*': [[0.752, 0.188, 0.048, 0.012], [0.752, 0.188, 0.048, 0.012],\n"
      "                   [0.048, 0.012, 0.752, 0.188], [0.048, 0.012, 0.752, 0.188]]}\n"
      "observation: {'*': uniform}\n"
      "utility: {a: [1, -1, -1, 1], b: [-1, 1, 1, -1]}\n"
      "agent: {planner: td-learner, inverse_temperature: 4, learning_rate_gain: 0.4,\n"
      "        learning_rate_loss: 0.3}\n";
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "odd.yaml", &problem, NULL, &support_error));
  return problem;
}

static idm_status memory_create(const void *content, void **ret_memory, idm_error *opt_error)
{
  (void)content;
  (void)opt_error;
  *ret_memory = calloc(1, sizeof(memory));
  assert_non_null(*ret_memory);
  return IDM_OK;
}

static idm_status begin_agent(const void *content, void *of, idm_error *opt_error)
{
  (void)content;
  (void)opt_error;
  *(memory *)of = (memory){.last = IDM_MISSING, .pending = IDM_MISSING};
  return IDM_OK;
}

static idm_status begin_trajectory(const void *content, void *before, void *after, size_t variant,
                                   const double *opt_start, idm_error *opt_error)
{
  (void)content;
  (void)variant;
  (void)opt_start;
  (void)opt_error;
  memory *m = after;
  *m = *(const memory *)before;
  m->last = IDM_MISSING;
  m->lost = false;
  return IDM_OK;
}

static idm_status act(const void *content, void *of, const bool *opt_available, double *probability,
                      idm_error *opt_error)
{
  (void)opt_available;
  (void)opt_error;
  const odd_learner *odd = content;
  const memory *m = of;
  const double odds = 4 * (m->value[1] - m->value[0]) + odd->habit * (m->trace[1] - m->trace[0]);
  const double lapse = m->lost ? odd->lapse : 0, p = 1 / (1 + exp(odds));
  probability[0] = (1 - lapse) * p + lapse / ARMS;
  probability[1] = 1 - probability[0];
  return IDM_OK;
}

static void learn(memory *m, int action, double reward, double share)
{
  if (action == IDM_MISSING) return;
  m->value[action] += share * (reward > 0 ? 0.4 : 0.3) * (reward - m->value[action]);
}

static idm_status observe(const void *content, void *before, void *after, const idm_event *event,
                          double *opt_log_evidence, idm_random *opt_random, idm_error *opt_error)
{
  (void)opt_log_evidence;
  (void)opt_random;
  (void)opt_error;
  const odd_learner *odd = content;
  memory *m = after;
  *m = *(const memory *)before;
  learn(m, odd->late ? m->pending : event->action, odd->late ? m->due : event->reward, 1);
  learn(m, m->last, event->reward, odd->credit);
  for (int u = 0; u < ARMS; u++) m->trace[u] += 0.15 * ((u == event->action) - m->trace[u]);
  m->pending = m->last = event->action;
  m->due = event->reward;
  m->lost = event->reward < 0;
  return IDM_OK;
}

static const idm_behavior_ops ops = {.scope = IDM_SCOPE_AGENT | IDM_SCOPE_REWARD,
                                     .memory_create = memory_create,
                                     .memory_destroy = free,
                                     .begin_agent = begin_agent,
                                     .begin_trajectory = begin_trajectory,
                                     .act = act,
                                     .observe = observe};

idm_data *odd_simulate(const idm_problem *problem, const odd_learner *odd, size_t trajectories,
                       int steps, uint64_t seed)
{
  const idm_behavior behavior = {
      .ops = &ops, .content = odd, .sizes = idm_setting_sizes(problem->setting)};
  const idm_simulation simulation = {.trajectories = trajectories,
                                     .steps = steps,
                                     .seed = seed,
                                     .agents = 1,
                                     .opt_reward_theta = problem->theta};
  idm_data *data;
  check(idm_simulate(problem->setting, behavior, &simulation, &data, &support_error));
  return data;
}
