/* Fit a log that is in memory, and read the answer without copying it.
 *
 *     cc fit.c $(pkg-config --cflags --libs idm) -o fit && ./fit */
#include <idm/idm.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  idm_error error = {0};
  idm_problem *problem = NULL;
  idm_data *simulated = NULL, *data = NULL;
  idm_settings *settings = NULL;
  idm_posterior *posterior = NULL;
  int64_t *trajectory = NULL;
  size_t rows = 0, count = 0, draws = 0;
  idm_status status = idm_problem_read("example:diag", &problem, NULL, &error);
  if (status == IDM_OK) status = idm_problem_set(problem, "alpha=2", &error);
  /* Arrays of a program: here, those of a simulated log. */
  if (status == IDM_OK) status = idm_simulate_log(problem, 200, 0, 1, &simulated, &error);
  const int32_t *action = idm_data_actions(simulated, &rows);
  const int32_t *observation = idm_data_observations(simulated, NULL);
  const size_t *first = idm_data_first_rows(simulated, &count);
  trajectory = calloc(rows + 1, sizeof *trajectory);
  for (size_t t = 0; trajectory && t + 1 < count; t++)
    for (size_t row = first[t]; row < first[t + 1]; row++) trajectory[row] = (int64_t)t;
  const idm_data_arrays arrays = {.size = sizeof arrays,
                                  .rows = rows,
                                  .action = action,
                                  .observation = observation,
                                  .trajectory = trajectory};
  if (status == IDM_OK) status = idm_data_from_arrays(problem, &arrays, &data, &error);
  if (status == IDM_OK) status = idm_problem_set_free(problem, "alpha", &error);
  if (status == IDM_OK) status = idm_settings_create(&settings, &error);
  if (status == IDM_OK) status = idm_settings_set(settings, "draws", "500", &error);
  if (status == IDM_OK) status = idm_fit(problem, data, settings, &posterior, NULL, &error);
  const double *alpha = idm_posterior_values(posterior, 0, &draws);
  double mean = 0;
  for (size_t i = 0; i < draws; i++) mean += alpha[i] / (double)draws;
  if (status == IDM_OK)
    printf("%s: mean %.1f of %zu draws; %s\n", idm_posterior_quantity_name(posterior, 0), mean,
           draws, idm_assessment_verdict(idm_posterior_assessment(posterior)));
  else
    fprintf(stderr, "%s\n", error.message);
  idm_posterior_destroy(posterior);
  idm_settings_destroy(settings);
  idm_data_destroy(data);
  idm_data_destroy(simulated);
  idm_problem_destroy(problem);
  free(trajectory);
  return idm_status_exit_code(status);
}
