/* Draws of the generalised posterior against sums over a grid, written out here. */
#include <math.h>

#include "invert/utility/occupancy_support.h"

/* Mean and sd of log alpha under normal(0, 1) times exp(-scale J), by sums over a grid. */
static void integrate(double scale, double p[S][U], double *mean, double *sd)
{
  enum { points = 2001 };
  const double least =
      occupancy_objective(IDM_DIVERGENCE_KL, 0, p, occupancy_alpha(IDM_DIVERGENCE_KL, 0, p), 0);
  double sum[3] = {0, 0, 0};
  for (int i = 0; i < points; i++) {
    const double c = -3 + 5.0 * i / (points - 1);
    const double loss = occupancy_objective(IDM_DIVERGENCE_KL, 0, p, exp(c), 0) - least;
    const double density = exp(-scale * loss - 0.5 * c * c);
    for (int k = 0; k < 3; k++) sum[k] += density * pow(c, k);
  }
  *mean = sum[1] / sum[0];
  *sd = sqrt(sum[2] / sum[0] - *mean * *mean);
}

/* N sum m / sum (m^2 / f), with m the mass of a state and f its share of the N decisions. */
static double effective_decisions(const idm_data *data, double p[S][U])
{
  double visits[S] = {0}, sum = 0, weighed = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    int32_t at = 0;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      visits[at]++;
      at = data->observation[row];
    }
  }
  for (int s = 0; s < S; s++) {
    const double mass = p[s][0] + p[s][1];
    sum += mass;
    weighed += mass * mass / (visits[s] / (double)data->rows);
  }
  return (double)data->rows * sum / weighed;
}

/* 8,000 draws with an effective size of at least 1,000: the standard errors are 0.03 sd for the
 * mean and 0.023 for the relative error of the sd; five of them are allowed. */
static void test_draws(void **state)
{
  (void)state;
  double p[S][U], mean, sd;
  idm_problem *problem = occupancy_problem(0, "{alpha: {scale: log, prior: {normal: [0, 1]}}}");
  idm_data *data = occupancy_log(problem, 5);
  occupancy_demonstrate(data, p);
  for (int k = 0; k < 2; k++) {
    idm_fit_settings settings = occupancy_settings(IDM_DIVERGENCE_KL, 0);
    settings.loss_scale = k ? 0.2 : 1;
    settings.draws = 2000;
    settings.threads = 1;
    idm_posterior *found = support_fit("distribution-matching-bayes", problem, data, &settings);
    double sum = 0, squares = 0;
    const size_t all = found->chains * found->draws;
    for (size_t i = 0; i < all; i++) {
      sum += found->unconstrained[i] / (double)all;
      squares += found->unconstrained[i] * found->unconstrained[i] / (double)all;
    }
    integrate(settings.loss_scale * effective_decisions(data, p), p, &mean, &sd);
    assert_near(sum, mean, 0.15 * sd);
    assert_near(sqrt(squares - sum * sum), sd, 0.115 * sd);
    assert_true(idm_optimality_certified(found->optimality));
    assert_int_equal(found->optimality->faults.count, 0);
    /* The model and the width of the intervals are not checked. */
    idm_assessment *a;
    check(idm_assess_monitored(problem, data, found, 1, NULL, &a, &support_error));
    assert_true(idm_check_is_left_out(&a->checks, IDM_CHECK_COVERAGE));
    assert_int_not_equal(idm_checks_left_out(&a->checks), 0);
    idm_assessment_destroy(a);
    idm_posterior_destroy(found);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_draws)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
