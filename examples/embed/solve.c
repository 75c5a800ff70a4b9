/* Solve a problem, and let its agent act step by step.
 *
 *     cc solve.c $(pkg-config --cflags --libs idm) -o solve && ./solve */
#include <idm/idm.h>
#include <stdio.h>

/* A patient has a disease, or not. The doctor asks for tests, which are right in 70 % of cases,
 * until a diagnosis is declared. */
static const double stays[2][2] = {{1, 0}, {0, 1}}, random_case[2][2] = {{.5, .5}, {.5, .5}};
static const double test[2][2] = {{.7, .3}, {.3, .7}};

int main(void)
{
  double transition[3][2][2], emission[3][2][2];
  for (size_t u = 0; u < 3; u++)
    for (size_t i = 0; i < 4; i++) {
      transition[u][i / 2][i % 2] = u == 2 ? stays[i / 2][i % 2] : random_case[i / 2][i % 2];
      emission[u][i / 2][i % 2] = test[i / 2][i % 2];
    }
  const idm_problem_arrays arrays = {
      .size = sizeof arrays,
      .states = 2,
      .state = (const char *const[]){"healthy", "diseased"},
      .actions = 3,
      .action = (const char *const[]){"declare_healthy", "declare_diseased", "monitor"},
      .observations = 2,
      .observation = (const char *const[]){"negative", "positive"},
      .transition = transition[0][0],
      .opt_emission = emission[0][0],
      .utility = (const double[]){10, -36, -36, 10, -1, -1},
      .discount = .95,
      .opt_more = "agent: {alpha: 0.5}\nends: [declare_healthy, declare_diseased]"};
  idm_error error = {0};
  idm_problem *problem = NULL;
  idm_workspace *plan = NULL;
  idm_agent *agent = NULL;
  const double *belief;
  size_t states, action = 2;
  idm_status status = idm_problem_from_arrays(&arrays, &problem, &error);
  if (status == IDM_OK) status = idm_solve(problem, &plan, &error);
  if (status == IDM_OK) status = idm_agent_create(plan, 1, &agent, &error);
  if (status == IDM_OK) status = idm_agent_begin(agent, NULL, &error);
  for (int step = 1; status == IDM_OK && action == 2; step++) {
    status = idm_agent_belief(agent, &belief, &states, &error);
    if (status == IDM_OK) status = idm_agent_act(agent, &action, &error);
    if (status != IDM_OK) break;
    printf("%d: P(diseased) = %.3f, V = %.2f: %s\n", step, belief[1],
           idm_plan_value(plan, 0, belief), idm_problem_action_name(problem, action));
    /* Every test is positive in this example. */
    if (action == 2) status = idm_agent_observe(agent, action, 1, 0, &error);
  }
  if (status != IDM_OK) fprintf(stderr, "%s\n", error.message);
  idm_agent_destroy(agent);
  idm_workspace_destroy(plan);
  idm_problem_destroy(problem);
  return idm_status_exit_code(status);
}
