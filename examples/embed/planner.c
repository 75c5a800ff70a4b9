/* A planner of one's own: a softmax of the expected utilities of the current step.
 *
 *     cc planner.c $(pkg-config --cflags --libs idm) -lm -o planner && ./planner */
#include <idm/extension/planner.h>
#include <idm/idm.h>
#include <math.h>
#include <stdio.h>

static idm_status create(const idm_setting *setting, const idm_theta *theta,
                         const idm_agent_options *agent, void **ret_content, idm_error *opt_error)
{
  (void)setting, (void)agent;
  return idm_theta_copy(theta, (idm_theta **)ret_content, opt_error);
}
static idm_status plan(void *content, const idm_theta *theta, const idm_solver *solver,
                       idm_plan_report *report, idm_error *opt_error)
{
  (void)solver, (void)opt_error;
  idm_theta_assign(content, theta);
  *report = (idm_plan_report){.bound = NAN, .stop = IDM_STOP_UNPLANNED};
  return IDM_OK;
}
static void policy(const void *content, size_t variant, int steps, const double *z,
                   double *decision, double *opt_specification, double *scratch)
{
  const idm_theta *theta = content;
  const size_t states = theta->sizes.states, actions = theta->sizes.actions, m = theta->models;
  const double *utility = idm_theta_values(theta, IDM_UTILITY, variant);
  double sum = 0;
  (void)steps, (void)scratch;
  for (size_t u = 0; u < actions; u++) {
    double expected = 0;
    for (size_t s = 0; s < states; s++) expected += z[s] * utility[u * states + s];
    sum += decision[u] = exp(expected / 10);
  }
  for (size_t u = 0; u < actions; u++) decision[u] /= sum;
  for (size_t i = 0; opt_specification && i < actions * m; i++)
    opt_specification[i] = 1.0 / (double)m;
}
static void log_policy(const void *content, size_t variant, int steps, const double *z,
                       double *log_decision, double *scratch)
{
  policy(content, variant, steps, z, log_decision, NULL, scratch);
  for (size_t u = 0; u < ((const idm_theta *)content)->sizes.actions; u++)
    log_decision[u] = log(log_decision[u]);
}
static size_t no_scratch(const void *content)
{
  (void)content;
  return 0;
}
static void destroy(void *content)
{
  idm_theta_destroy(content);
}
static const idm_belief_ops belief = {no_scratch, policy, log_policy, NULL, NULL, NULL};
static const idm_planner impulsive = {
    .size = sizeof impulsive,
    .name = "impulsive",
    .summary = "softmax of the expected utilities of the current step",
    .row = "General",
    .reads = (const idm_block_id[]){IDM_UTILITY, IDM_TRANSITION, IDM_EMISSION, IDM_BLOCK_COUNT},
    .supports = IDM_SUPPORTS_STATIONARY | IDM_SUPPORTS_HORIZON,
    .create = create,
    .plan = plan,
    .destroy = destroy,
    .belief = &belief};

int main(void)
{
  idm_error error = {0};
  idm_problem *problem = NULL;
  idm_workspace *workspace = NULL;
  double decision[3] = {0};
  idm_status status = idm_planner_register(&impulsive, &error);
  if (status == IDM_OK) status = idm_problem_read("example:diag", &problem, NULL, &error);
  if (status == IDM_OK) status = idm_problem_set(problem, "planner=impulsive", &error);
  if (status == IDM_OK) status = idm_solve(problem, &workspace, &error);
  if (status == IDM_OK) idm_plan_policy(workspace, 0, (double[]){.2, .8}, decision, NULL);
  printf("%s%.3f\n", error.message, decision[1]); /* pi(declare_diseased | P(diseased) = 0.8) */
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  return idm_status_exit_code(status);
}
