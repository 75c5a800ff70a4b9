/* Tests shifts of posterior means of a population against covariances with likelihoods at every
 * draw of every person. */
#include "invert/assess/environment.h"

#include <math.h>
#include <stdlib.h>

#include "invert/assess/context_support.h"
#include "invert/assess/crowd_support.h"
#include "invert/matching.h"

/* --- a population --------------------------------------------------------------------------- */

enum { PEOPLE = 5, DRAWS = 200, ALL = 2 * DRAWS };

static void open_diag(population *p)
{
  static const double alpha[PEOPLE] = {0.4, 0.5, 0.7, 0.3, 0.6};
  idm_problem *problem = support_diag(0.5, 1.25, 0);
  problem->agent.resolution = 20;
  problem->agent.tolerance = 1e-12;
  idm_data *data = simulate_agents(problem, alpha, PEOPLE, 12, 20, 4);
  population_open(p, problem, data, "{alpha: {prior: {normal: [0, 1]}}}", DRAWS);
}

/* The problem with another discount; stores its parameters in *theta. */
static idm_problem with_discount(const idm_problem *problem, idm_theta **theta, double discount)
{
  idm_problem moved = *problem;
  check(idm_theta_copy(problem->theta, theta, &support_error));
  idm_theta_set_scalar(*theta, IDM_DISCOUNT, discount);
  moved.theta = *theta;
  return moved;
}

/* total[draw] += weight * log-likelihood of all people at their own parameters. */
static void add_exactly(const population *p, const idm_problem *problem, double weight,
                        double *total)
{
  for (size_t c = 0; c < p->strata.count; c++) {
    const stratum *one = &p->strata.one[c];
    idm_matching *matching;
    check(idm_matching_create(problem, one->data, one->tree, p->f.parameters, &matching,
                              &support_error));
    for (size_t i = 0; i < ALL; i++) {
      double y, value;
      idm_strata_draw(&p->strata, c, i, &y);
      check(idm_matching_log_likelihood(matching, &y, &value, NULL, &support_error));
      total[i] += weight * value;
    }
    idm_matching_destroy(matching);
  }
}

static double covariance(const double *x, const double *y)
{
  double mean[2] = {0}, sum = 0;
  for (size_t i = 0; i < ALL; i++) {
    mean[0] += x[i] / ALL;
    mean[1] += y[i] / ALL;
  }
  for (size_t i = 0; i < ALL; i++) sum += (x[i] - mean[0]) * (y[i] - mean[1]);
  return sum / (ALL - 1);
}

static void test_population(void **state)
{
  (void)state;
  population p;
  open_diag(&p);
  idm_theta *theta;
  const idm_problem moved = with_discount(p.problem, &theta, 0.9);
  const size_t quantities = p.posterior->quantity.count;
  double *shift = calloc(2 * quantities, sizeof *shift), total[ALL] = {0};
  assert_non_null(shift);
  double *uncertain = shift + quantities;
  response r;
  check(idm_response_open(&r, &p.q, 100, 1, &support_error));
  assert_int_equal(r.points, 100);
  assert_int_equal(r.strata, PEOPLE);
  check(idm_response_add(&r, 0, &moved, 1, &support_error));
  check(idm_response_add(&r, 0, p.problem, -1, &support_error));
  check(idm_response_shifts(&r, 0, shift, uncertain, &support_error));
  add_exactly(&p, &moved, 1, total);
  add_exactly(&p, p.problem, -1, total);
  size_t judged = 0;
  const double noise =
      sqrt(covariance(total, total) / 100); /* standard error of a covariance over 100 points */
  for (size_t i = 0; i < quantities; i++) {
    const double sd = p.assessment->diagnosis[i].sd;
    const double exact = covariance(p.posterior->value + i * ALL, total);
    assert_near(shift[i] / sd, exact / sd, 4 * noise);
    if (!idm_context_is_assessed(&p.q, i)) continue;
    assert_near(shift[i] / sd, exact / sd, 0.05);
    judged++;
    print_message("  shift %.3f, exactly %.3f, +- %.3f of an sd\n", shift[i] / sd, exact / sd,
                  uncertain[i]);
    assert_true(fabs(exact / sd) > 0.1); /* the shift is not negligible */
    assert_true(uncertain[i] > 0 && uncertain[i] < 0.05);
  }
  assert_int_equal(judged, 1); /* the coefficient of the mean */
  idm_response_close(&r);
  idm_theta_destroy(theta);
  free(shift);
  population_close(&p);
}

/* Points without a likelihood are left out; without any point the shift is NaN. */
static void test_lost_points(void **state)
{
  (void)state;
  population p;
  open_diag(&p);
  double *shift = calloc(2 * p.posterior->quantity.count, sizeof *shift);
  assert_non_null(shift);
  double *other = shift + p.posterior->quantity.count;
  response r;
  check(idm_response_open(&r, &p.q, 60, 1, &support_error));
  /* A linear change: the sum of all people's parameters. */
  for (size_t c = 0; c < r.strata; c++)
    for (size_t k = 0; k < r.points; k++) idm_response_point(&r, k, &idm_response_row(&r, 0, c)[k]);
  check(idm_response_shifts(&r, 0, shift, NULL, &support_error));
  for (size_t c = 0; c < r.strata; c++) idm_response_row(&r, 0, c)[7] = NAN;
  check(idm_response_shifts(&r, 0, other, NULL, &support_error));
  for (size_t i = 0; i < p.posterior->quantity.count; i++) assert_near(other[i], shift[i], 1e-9);
  for (size_t k = 0; k < r.points; k++) idm_response_row(&r, 0, 2)[k] = NAN;
  check(idm_response_shifts(&r, 0, other, NULL, &support_error));
  for (size_t i = 0; i < p.posterior->quantity.count; i++) assert_true(isnan(other[i]));
  idm_response_close(&r);
  idm_response_close(&r);
  free(shift);
  population_close(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_population),
                                     cmocka_unit_test(test_lost_points)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
