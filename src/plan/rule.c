/* Planners of rules: the softmax of scores, without planning. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/extension/planner.h"
#include "idm/extension/rule.h"

enum { MAX_RULES = 32 };

/* Rules that are registered, in the order of their planners. */
static idm_rule_planner registered[MAX_RULES];
static size_t rules;

/* What a workspace holds: the rule and its parameters. */
typedef struct rule_content {
  const idm_rule_planner *rule;
  idm_theta *theta;
} rule_content;

static const idm_rule_planner *find_rule(const idm_planner *planner)
{
  for (size_t i = 0; i < rules; i++)
    if (registered[i].name == planner->name) return &registered[i];
  return NULL;
}

static void destroy(void *content)
{
  rule_content *c = content;
  idm_theta_destroy(c->theta);
  free(c);
}

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  rule_content *c = idm_new(1, sizeof *c);
  (void)setting;
  if (!c) return idm_fail_memory(opt_error);
  c->rule = find_rule(idm_agent_planner(agent));
  const idm_status status = idm_theta_copy(theta, &c->theta, opt_error);
  if (status == IDM_OK)
    *ret_content = c;
  else
    destroy(c);
  return status;
}

static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver, (void)opt_error;
  idm_theta_assign(((rule_content *)content)->theta, theta);
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}

static size_t no_scratch(const void *content)
{
  (void)content;
  return 0;
}

static void log_policy(const void *content, size_t variant, int steps, const double *z,
                       double *log_decision, double *scratch)
{
  const rule_content *c = content;
  const size_t actions = c->theta->sizes.actions;
  double max = -INFINITY, sum = 0;
  (void)scratch;
  c->rule->score(c->theta, variant, steps, z, log_decision);
  for (size_t u = 0; u < actions; u++) max = fmax(max, log_decision[u]);
  for (size_t u = 0; u < actions; u++) sum += exp(log_decision[u] - max);
  for (size_t u = 0; u < actions; u++) log_decision[u] -= max + log(sum);
}

static void policy(const void *content, size_t variant, int steps, const double *z,
                   double *decision, double *opt_specification, double *scratch)
{
  const idm_theta *theta = ((const rule_content *)content)->theta;
  const double *prior = idm_theta_values(theta, IDM_MODEL_PRIOR, 0);
  const size_t actions = theta->sizes.actions;
  log_policy(content, variant, steps, z, decision, scratch);
  for (size_t u = 0; u < actions; u++) decision[u] = exp(decision[u]);
  for (size_t i = 0; opt_specification && i < actions * theta->models; i++)
    opt_specification[i] = prior[i % theta->models];
}

static const idm_belief_ops belief = {
    .scratch = no_scratch, .policy = policy, .log_policy = log_policy};
static const idm_block_id reads[] = {IDM_UTILITY, IDM_MODEL_PRIOR, IDM_TRANSITION, IDM_EMISSION,
                                     IDM_BLOCK_COUNT};

idm_status idm_rule_register(const idm_rule_planner *rule, idm_error *opt_error)
{
  idm_require(rule);
  if (rules == MAX_RULES) return idm_fail(opt_error, IDM_INPUT, "more than %d rules", MAX_RULES);
  idm_rule_planner *own = &registered[rules];
  idm_status status = idm_struct_read(own, sizeof *own, IDM_SIZE_UP_TO(idm_rule_planner, score),
                                      rule, "idm_rule_planner", opt_error);
  if (status == IDM_OK && !own->score)
    status =
        idm_fail(opt_error, IDM_INPUT, "the rule '%s' has no score", own->name ? own->name : "");
  const idm_planner planner = {.size = sizeof planner,
                               .name = own->name,
                               .summary = own->summary,
                               .row = "General",
                               .rule = true,
                               .reads = reads,
                               .own = own->own,
                               .own_count = own->own_count,
                               .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON |
                                           IDM_SUPPORTS_SPARSE,
                               .create = create,
                               .plan = plan,
                               .destroy = destroy,
                               .belief = &belief};
  if (status == IDM_OK) status = idm_planner_register(&planner, opt_error);
  rules += status == IDM_OK;
  return status;
}
