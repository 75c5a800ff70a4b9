/* Posterior draws of a density with two separate modes, against its masses and means. */
#include "invert/utility/task.h"

#include <math.h>

#include "invert/utility/occupancy_support.h"

enum { CHAINS = 4 };

/* 0.3 normal(-4, 0.5) + 0.7 normal(3, 1). */
static idm_status evaluate(void *context, const double *y, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  const double a = 0.3 / 0.5 * exp(-2 * (y[0] + 4) * (y[0] + 4));
  const double b = 0.7 * exp(-0.5 * (y[0] - 3) * (y[0] - 3));
  *log_density = log(a + b);
  if (opt_gradient) *opt_gradient = (-4 * a * (y[0] + 4) - b * (y[0] - 3)) / (a + b);
  return IDM_OK;
}

/* Of 8,000 draws at least 400 are effective: the standard error is 0.023 for the share of a mode
 * and 0.06 for the mean of the broad one; four of them are allowed. */
static void test_two_peaks(void **state)
{
  (void)state;
  idm_problem *problem = occupancy_problem(0, "{alpha: {scale: log, prior: {normal: [0, 4]}}}");
  idm_fit_settings settings = occupancy_settings(IDM_DIVERGENCE_KL, 0);
  idm_target target[CHAINS];
  idm_parameters *parameters;
  idm_local_modes *modes;
  idm_optimality *optimality;
  idm_posterior *found;
  idm_cancel cancel;
  const idm_fit_monitor nobody = {0};
  settings.chains = CHAINS;
  settings.draws = 2000;
  settings.threads = 1;
  idm_cancel_init(&cancel, &nobody, "");
  for (int i = 0; i < CHAINS; i++)
    target[i] = (idm_target){.dimension = 1, .gradient = true, .evaluate = evaluate};
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_local_modes_create(1, 4, &modes, &support_error));
  for (int k = 0; k < 2; k++) {
    double from = k ? 2 : -3.5;
    check(idm_local_modes_ascend(modes, target, &from, &support_error));
  }
  assert_int_equal(modes->count, 2);
  check(idm_optimality_create(1, &optimality, &support_error));
  const idm_sampling_target drawn = {.inverse = idm_inverse_find("distribution-matching-bayes"),
                                     .problem = problem,
                                     .settings = &settings,
                                     .parameters = parameters,
                                     .target = target,
                                     .key = 7,
                                     .cancel = &cancel,
                                     .watch = &nobody};
  check(idm_target_draws(&drawn, modes, optimality, &found, &support_error));
  assert_string_equal(found->optimality->certificate, "R-hat");
  assert_true(idm_optimality_certified(found->optimality));
  double broad = 0, sum = 0;
  const size_t all = found->chains * found->draws;
  for (size_t i = 0; i < all; i++) {
    if (found->unconstrained[i] < 0) continue;
    broad++;
    sum += found->unconstrained[i];
  }
  assert_near(broad / (double)all, 0.7, 0.092);
  assert_near(sum / broad, 3, 0.24);
  idm_posterior_destroy(found);
  idm_local_modes_destroy(modes);
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_peaks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
