/* A planner of one's own: a softmax of the expected utilities of the current step.
 *
 *     cc planner.c $(pkg-config --cflags --libs idm) -o planner && ./planner */
#include <idm/extension/rule.h>
#include <idm/idm.h>
#include <stdio.h>

/* A parameter of the planner, which can be inferred as any other. */
static const idm_block_info sharpness = {.name = "sharpness",
                                         .summary = "weight of the utility",
                                         .support = IDM_NOT_NEGATIVE,
                                         .default_number = 0.1,
                                         .scales = IDM_SCALES_ALL,
                                         .scale = IDM_SCALE_LOG,
                                         .spread = 1,
                                         .of_agent = true};

static void score(const idm_theta *theta, size_t variant, int steps, const double *z, double *score)
{
  const double *utility = idm_theta_values(theta, IDM_UTILITY, variant);
  const double weight = idm_theta_scalar(theta, IDM_BLOCK_COUNT);
  const size_t states = theta->sizes.states;
  (void)steps;
  for (size_t u = 0; u < theta->sizes.actions; u++) {
    score[u] = 0;
    for (size_t s = 0; s < states; s++) score[u] += weight * z[s] * utility[u * states + s];
  }
}

static const idm_rule_planner impulsive = {.size = sizeof impulsive,
                                           .name = "impulsive",
                                           .summary = "softmax of the utilities of one step",
                                           .own = &sharpness,
                                           .own_count = 1,
                                           .score = score};

int main(void)
{
  idm_error error = {0};
  idm_problem *problem = NULL;
  idm_workspace *workspace = NULL;
  double decision[3] = {0};
  idm_status status = idm_rule_register(&impulsive, &error);
  if (status == IDM_OK) status = idm_problem_read("example:diag", &problem, NULL, &error);
  if (status == IDM_OK) status = idm_problem_set(problem, "planner=impulsive", &error);
  if (status == IDM_OK) status = idm_solve(problem, &workspace, &error);
  if (status == IDM_OK) idm_plan_policy(workspace, 0, (double[]){.2, .8}, decision, NULL);
  printf("%s%.3f\n", error.message, decision[1]); /* pi(declare_diseased | P(diseased) = 0.8) */
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  return idm_status_exit_code(status);
}
