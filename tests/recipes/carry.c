/* carry PROBLEM IN OUT: reads a log by the columns of a problem and writes it again. */
#include <idm/idm.h>
#include <stdio.h>

int main(int count, char **words)
{
  idm_problem *problem = NULL;
  idm_data *data = NULL;
  idm_error error = {0};
  if (count != 4) return 2;
  idm_status status = idm_problem_read(words[1], &problem, NULL, &error);
  if (status == IDM_OK)
    status = idm_data_read(problem, (const char *const[]){words[2]}, 1, NULL, &data, NULL, &error);
  if (status == IDM_OK) status = idm_data_write_csv(data, problem, words[3], &error);
  if (status != IDM_OK) fprintf(stderr, "%s\n", error.message);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return status == IDM_OK ? 0 : 1;
}
