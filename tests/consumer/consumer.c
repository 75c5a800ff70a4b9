/* The value of an optimistic diagnostician, through the installed library. */
#include <stdio.h>

#include <idm/idm.h>

int main(void)
{
  idm_error error = {0};
  idm_problem *problem = NULL;
  idm_workspace *workspace = NULL;
  const double *start;
  size_t states;
  idm_status status = idm_problem_read("example:diag", &problem, NULL, &error);
  if (status == IDM_OK) status = idm_problem_set(problem, "beta=1.25", &error);
  if (status == IDM_OK) status = idm_problem_set(problem, "eta=0.001", &error);
  if (status == IDM_OK) status = idm_problem_numbers(problem, "start", &start, &states, &error);
  if (status == IDM_OK) status = idm_solve(problem, &workspace, &error);
  if (status == IDM_OK)
    printf("V = %.6f\n", idm_plan_value(workspace, 0, start));
  else
    fprintf(stderr, "%s\n", error.message);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  return idm_status_exit_code(status);
}
