/* Decision rules: pi(u|z) proportional to pi~_u exp(chi_u0 + sum_s chi_us z_s). */
#include "plan/rule.h"

#include <math.h>

#include "base/memory.h"
#include "base/soft.h"

typedef struct rule {
  idm_sizes sizes;
  size_t models;
  double *weights; /* [action][constant, states] */
  double *action_prior;
  double *model_prior;
} rule;

void idm_rule_destroy(void *content)
{
  rule *r = content;
  if (!r) return;
  free(r->weights);
  free(r->action_prior);
  free(r->model_prior);
  free(r);
}

idm_status idm_rule_create(const idm_setting *setting, const idm_theta *theta,
                           const idm_agent *agent, void **ret_content, idm_error *opt_error)
{
  (void)setting;
  (void)agent;
  *ret_content = NULL;
  const size_t count = theta->sizes.actions * (theta->sizes.states + 1);
  if (theta->block[IDM_WEIGHTS].size != count)
    return idm_fail(opt_error, IDM_INPUT,
                    "the decision-rule planner needs agent.weights: for each action a constant and "
                    "one number a state");
  rule *r = idm_new(1, sizeof *r);
  if (!r) return idm_fail_memory(opt_error);
  r->sizes = theta->sizes;
  r->models = theta->models;
  r->weights = idm_new(count, sizeof *r->weights);
  r->action_prior = idm_new(theta->sizes.actions, sizeof *r->action_prior);
  r->model_prior = idm_new(theta->models, sizeof *r->model_prior);
  if (!r->weights || !r->action_prior || !r->model_prior) {
    idm_rule_destroy(r);
    return idm_fail_memory(opt_error);
  }
  *ret_content = r;
  return IDM_OK;
}

idm_status idm_rule_plan(void *content, const idm_theta *theta, const idm_solver *solver,
                         idm_plan_report *report, idm_error *opt_error)
{
  (void)solver;
  (void)opt_error;
  rule *r = content;
  memcpy(r->weights, idm_theta_values(theta, IDM_WEIGHTS, 0),
         r->sizes.actions * (r->sizes.states + 1) * sizeof *r->weights);
  memcpy(r->action_prior, idm_theta_values(theta, IDM_ACTION_PRIOR, 0),
         r->sizes.actions * sizeof *r->action_prior);
  memcpy(r->model_prior, idm_theta_values(theta, IDM_MODEL_PRIOR, 0),
         r->models * sizeof *r->model_prior);
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}

size_t idm_rule_scratch(const void *content)
{
  return ((const rule *)content)->sizes.actions;
}

static const double *scores(const rule *r, const double *z, double *score)
{
  const size_t k = r->sizes.states;
  for (size_t u = 0; u < r->sizes.actions; u++) {
    const double *w = r->weights + u * (k + 1);
    score[u] = w[0];
    for (size_t s = 0; s < k; s++) score[u] += w[s + 1] * z[s];
  }
  return score;
}

void idm_rule_policy(const void *content, size_t variant, int steps, const double *z,
                     double *decision, double *opt_specification, double *scratch)
{
  (void)variant;
  (void)steps;
  const rule *r = content;
  idm_soft(1, r->sizes.actions, r->action_prior, scores(r, z, scratch), decision);
  for (size_t u = 0; opt_specification && u < r->sizes.actions; u++)
    memcpy(opt_specification + u * r->models, r->model_prior, r->models * sizeof(double));
}

void idm_rule_log_policy(const void *content, size_t variant, int steps, const double *z,
                         double *log_decision, double *scratch)
{
  (void)variant;
  (void)steps;
  const rule *r = content;
  idm_soft_logs(1, r->sizes.actions, r->action_prior, scores(r, z, scratch), log_decision);
}
