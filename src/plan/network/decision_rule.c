/* Decision rules: pi(u|z) proportional to pi~_u exp(chi_u0 + sum_s chi_us z_s). */
#include <math.h>

#include "base/memory.h"
#include "base/soft.h"
#include "idm/planner.h"

typedef struct rule {
  idm_sizes sizes;
  size_t models;
  double *weights; /* [action][constant, states] */
  double *action_prior;
  double *model_prior;
} rule;

static void destroy(void *content)
{
  rule *r = content;
  if (!r) return;
  free(r->weights);
  free(r->action_prior);
  free(r->model_prior);
  free(r);
}

static idm_status create(const idm_setting *setting, const idm_theta *theta, const idm_agent *agent,
                         void **ret_content, idm_error *opt_error)
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
    destroy(r);
    return idm_fail_memory(opt_error);
  }
  *ret_content = r;
  return IDM_OK;
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
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

static size_t scratch(const void *content)
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

static void policy(const void *content, size_t variant, int steps, const double *z,
                   double *decision, double *opt_specification, double *score)
{
  (void)variant;
  (void)steps;
  const rule *r = content;
  idm_soft(1, r->sizes.actions, r->action_prior, scores(r, z, score), decision);
  for (size_t u = 0; opt_specification && u < r->sizes.actions; u++)
    memcpy(opt_specification + u * r->models, r->model_prior, r->models * sizeof(double));
}

static void log_policy(const void *content, size_t variant, int steps, const double *z,
                       double *log_decision, double *score)
{
  (void)variant;
  (void)steps;
  const rule *r = content;
  idm_soft_logs(1, r->sizes.actions, r->action_prior, scores(r, z, score), log_decision);
}

/* --- the derivative in reverse -------------------------------------------------------------- */

typedef struct rule_adjoint {
  const rule *rule;
  double *weights;      /* sums of the derivatives, as in the rule */
  double *action_prior; /* [action] */
  double *model_prior;  /* [model] */
} rule_adjoint;

static void adjoint_destroy(void *content)
{
  rule_adjoint *a = content;
  if (!a) return;
  free(a->weights);
  free(a->action_prior);
  free(a->model_prior);
  free(a);
}

static size_t weight_count(const rule *r)
{
  return r->sizes.actions * (r->sizes.states + 1);
}

static idm_status adjoint_create(void *content, void **ret_adjoint, idm_error *opt_error)
{
  const rule *r = content;
  *ret_adjoint = NULL;
  rule_adjoint *a = idm_new(1, sizeof *a);
  if (!a) return idm_fail_memory(opt_error);
  a->rule = r;
  a->weights = idm_new(weight_count(r), sizeof *a->weights);
  a->action_prior = idm_new(r->sizes.actions, sizeof *a->action_prior);
  a->model_prior = idm_new(r->models, sizeof *a->model_prior);
  if (!a->weights || !a->action_prior || !a->model_prior) {
    adjoint_destroy(a);
    return idm_fail_memory(opt_error);
  }
  *ret_adjoint = a;
  return IDM_OK;
}

static void adjoint_begin(void *content)
{
  rule_adjoint *a = content;
  memset(a->weights, 0, weight_count(a->rule) * sizeof *a->weights);
  memset(a->action_prior, 0, a->rule->sizes.actions * sizeof *a->action_prior);
  memset(a->model_prior, 0, a->rule->models * sizeof *a->model_prior);
}

static void adjoint_point(void *content, const idm_policy_slope *point)
{
  rule_adjoint *a = content;
  const rule *r = a->rule;
  const size_t k = r->sizes.states;
  double total = 0;
  for (size_t u = 0; u < r->sizes.actions; u++) total += point->log_decision_slope[u];
  for (size_t u = 0; u < r->sizes.actions; u++) {
    const double score = point->log_decision_slope[u] - total * point->decision[u];
    double *weights = a->weights + u * (k + 1);
    weights[0] += score;
    for (size_t s = 0; s < k; s++) weights[s + 1] += score * point->belief[s];
    if (r->action_prior[u] > 0) a->action_prior[u] += score / r->action_prior[u];
    for (size_t m = 0; m < r->models; m++)
      a->model_prior[m] += point->specification_slope[u * r->models + m];
    for (size_t s = 0; point->opt_belief_slope && s < k; s++)
      point->opt_belief_slope[s] += score * r->weights[u * (k + 1) + s + 1];
  }
}

static void add(double *to, const double *from, size_t count)
{
  for (size_t i = 0; i < count; i++) to[i] += from[i];
}

static idm_status adjoint_finish(void *content, idm_theta *slope, idm_error *opt_error)
{
  (void)opt_error;
  const rule_adjoint *a = content;
  add(slope->block[IDM_WEIGHTS].value, a->weights, weight_count(a->rule));
  add(slope->block[IDM_ACTION_PRIOR].value, a->action_prior, a->rule->sizes.actions);
  add(slope->block[IDM_MODEL_PRIOR].value, a->model_prior, a->rule->models);
  return IDM_OK;
}

/* --- the table ------------------------------------------------------------------------------ */

static const idm_adjoint_ops adjoint = {.create = adjoint_create,
                                        .destroy = adjoint_destroy,
                                        .begin = adjoint_begin,
                                        .point = adjoint_point,
                                        .finish = adjoint_finish};

static const idm_belief_ops belief = {
    .scratch = scratch, .policy = policy, .log_policy = log_policy, .adjoint = &adjoint};

static const idm_block_id reads[] = {IDM_WEIGHTS,    IDM_ACTION_PRIOR, IDM_MODEL_PRIOR,
                                     IDM_TRANSITION, IDM_EMISSION,     IDM_BLOCK_COUNT};

const idm_planner idm_decision_rule = {
    .name = "decision-rule",
    .summary = "a softmax of linear scores of the belief; nothing is planned",
    .row = "Decision-rule (CMP, IOHMM) policy",
    .reads = reads,
    .needs = IDM_NEEDS_MODEL,
    .gives = IDM_GIVES_STATIONARY | IDM_GIVES_HORIZON | IDM_GIVES_MOVES | IDM_GIVES_ENDLESS,
    .create = create,
    .plan = plan,
    .destroy = destroy,
    .belief = &belief,
};
