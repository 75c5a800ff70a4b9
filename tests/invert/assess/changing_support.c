/* An agent whose alpha changes within trajectories: a behaviour of two plans, one of which acts at
 * each step. */
#include "invert/assess/changing_support.h"

#include <stdlib.h>
#include <string.h>

#include "idm/extension/behavior.h"
#include "plan/plan.h"

typedef struct changing {
  idm_behavior plan[2];
  changing_when when;
} changing;

typedef struct memory {
  int step;
  void *of[2];
  void (*destroy)(void *memory);
} memory;

bool changing_middle(int step)
{
  return step >= 10 && step < 20;
}

bool changing_parity(int step)
{
  return step % 2;
}

idm_problem *changing_problem(void)
{
  return support_yaml(
      "states: [a, b, c]\nactions: [l, r]\nobservations: states\nstart: uniform\ndiscount: 0.9\n"
      "transition: {l: [[0.8, 0.2, 0], [0.7, 0.2, 0.1], [0.1, 0.6, 0.3]],\n"
      "             r: [[0.1, 0.8, 0.1], [0, 0.3, 0.7], [0.2, 0, 0.8]]}\n"
      "utility: {l: [0, 1, -1], r: [-0.5, 0, 2]}\n"
      "agent: {planner: bounded-rational, alpha: 0.6}\n");
}

static void memory_destroy(void *of)
{
  memory *m = of;
  for (size_t k = 0; m && k < 2; k++) m->destroy(m->of[k]);
  free(m);
}

static idm_status memory_create(const void *content, void **ret_memory, idm_error *opt_error)
{
  const changing *c = content;
  memory *m = calloc(1, sizeof *m);
  idm_status status = IDM_OK;
  assert_non_null(m);
  m->destroy = c->plan[0].ops->memory_destroy;
  for (size_t k = 0; k < 2 && status == IDM_OK; k++)
    status = c->plan[k].ops->memory_create(c->plan[k].content, &m->of[k], opt_error);
  *ret_memory = m;
  return status;
}

static idm_status begin_agent(const void *content, void *of, idm_error *opt_error)
{
  const changing *c = content;
  const memory *m = of;
  idm_status status = IDM_OK;
  for (size_t k = 0; k < 2 && status == IDM_OK; k++)
    status = c->plan[k].ops->begin_agent(c->plan[k].content, m->of[k], opt_error);
  return status;
}

static idm_status begin_trajectory(const void *content, void *before, void *after, size_t variant,
                                   const double *opt_start, idm_error *opt_error)
{
  const changing *c = content;
  const memory *from = before;
  memory *to = after;
  idm_status status = IDM_OK;
  to->step = 0;
  for (size_t k = 0; k < 2 && status == IDM_OK; k++)
    status = c->plan[k].ops->begin_trajectory(c->plan[k].content, from->of[k], to->of[k], variant,
                                              opt_start, opt_error);
  return status;
}

static idm_status act(const void *content, void *of, const bool *opt_available, double *probability,
                      idm_error *opt_error)
{
  const changing *c = content;
  const memory *m = of;
  const size_t k = c->when(m->step);
  return c->plan[k].ops->act(c->plan[k].content, m->of[k], opt_available, probability, opt_error);
}

static idm_status observe(const void *content, void *before, void *after, const idm_event *event,
                          double *opt_log_evidence, idm_random *opt_random, idm_error *opt_error)
{
  const changing *c = content;
  const memory *from = before;
  memory *to = after;
  idm_status status = IDM_OK;
  to->step = from->step + 1;
  for (size_t k = 0; k < 2 && status == IDM_OK; k++)
    status = c->plan[k].ops->observe(c->plan[k].content, from->of[k], to->of[k], event,
                                     opt_log_evidence, opt_random, opt_error);
  return status;
}

static idm_workspace *plan_at(const idm_problem *problem, double alpha)
{
  idm_workspace *workspace;
  idm_theta *theta;
  check(idm_theta_copy(problem->theta, &theta, &support_error));
  idm_theta_set_scalar(theta, IDM_ALPHA, alpha);
  check(idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, &support_error));
  check(idm_plan(theta, NULL, workspace, NULL, &support_error));
  idm_theta_destroy(theta);
  return workspace;
}

idm_data *changing_simulate(const idm_problem *problem, double factor, changing_when when,
                            size_t trajectories, int steps, uint64_t seed)
{
  const double alpha = idm_theta_scalar(problem->theta, IDM_ALPHA);
  idm_workspace *usual = plan_at(problem, alpha), *other = plan_at(problem, factor * alpha);
  const changing c = {.plan = {idm_workspace_behavior(usual), idm_workspace_behavior(other)},
                      .when = when};
  const idm_behavior_ops ops = {.scope = c.plan[0].ops->scope,
                                .memory_create = memory_create,
                                .memory_destroy = memory_destroy,
                                .begin_agent = begin_agent,
                                .begin_trajectory = begin_trajectory,
                                .act = act,
                                .observe = observe};
  const idm_behavior behavior = {.ops = &ops, .content = &c, .sizes = c.plan[0].sizes};
  const idm_simulation simulation = {
      .trajectories = trajectories, .steps = steps, .seed = seed, .agents = 1};
  idm_data *data;
  check(idm_simulate(problem->setting, behavior, &simulation, &data, &support_error));
  idm_workspace_destroy(other);
  idm_workspace_destroy(usual);
  return data;
}
