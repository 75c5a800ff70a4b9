/* Tests the normal approximation of a cell's log-likelihood against the log-likelihood on a grid.
 */
#include <math.h>
#include <stdlib.h>

#include "invert/audit/audit_support.h"
#include "invert/audit/model.h"

static void the_approximation_has_the_slope_and_curvature_of_the_log(void **state)
{
  (void)state;
  idm_problem *problem = audit_problem(1.5);
  idm_data *data = audit_data(problem, (const double[]){0.6}, 1, 150);
  const idm_fit_settings settings = audit_settings().fit;
  const double mean = 0, sd = 1.5;
  bool *everybody = malloc(data->trajectories * sizeof *everybody);
  audit_table table;
  assert_non_null(everybody);
  for (size_t t = 0; t < data->trajectories; t++) everybody[t] = true;
  audit_tabulate(problem, data, everybody, &table);
  audit_cell cell = {.problem = problem, .data = data};
  check(idm_audit_cell_open(&cell, &settings, &mean, &sd, NULL, &support_error));
  /* Compare log L one posterior sd on either side of the posterior mode. */
  const double precision = cell.precision[0] + 1 / (sd * sd);
  const double mode = cell.linear_term[0] / precision;
  const double width = 1 / sqrt(precision);
  for (int side = -1; side <= 1; side += 2) {
    const double x = mode + side * width;
    const double about =
        cell.linear_term[0] * (x - mode) - 0.5 * cell.precision[0] * (x * x - mode * mode);
    assert_near(about, audit_look_up(&table, x) - audit_look_up(&table, mode), 0.15);
  }
  for (size_t i = 0; i < settings.chains; i++) assert_true(fabs(cell.start[i] - mode) < 10 * width);
  idm_audit_cell_close(&cell); /* with its data */
  idm_problem_destroy(problem);
  free(everybody);
}

static void priors_come_in_the_order_of_the_numbers(void **state)
{
  (void)state;
  idm_problem *problem = audit_problem(1.5);
  idm_parameters *parameters;
  double mean[2], sd[2];
  check(
      idm_problem_set_free(problem,
                           "{alpha: {scale: log, prior: {normal: [1, 2]}}, beta: {scale: inverse, "
                           "prior: {normal: [3, 4]}}}",
                           &support_error));
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_audit_priors(parameters, mean, sd, &support_error));
  assert_near(mean[0], 1, 0);
  assert_near(sd[0], 2, 0);
  assert_near(mean[1], 3, 0);
  assert_near(sd[1], 4, 0);
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_approximation_has_the_slope_and_curvature_of_the_log),
      cmocka_unit_test(priors_come_in_the_order_of_the_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
