/* Tests a refit with one more free parameter against `map` with the same parameters free. */
#include "invert/assess/extension.h"

#include <math.h>

#include "invert/assess/context_support.h"

static idm_data *slips(uint64_t seed)
{
  static const double alpha = 0.05;
  idm_problem *problem = make_reversal(alpha);
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0.2);
  idm_data *data = simulate_agents(problem, &alpha, 1, 8, 100, seed);
  idm_problem_destroy(problem);
  return data;
}

static double top(assessed_fit *a, double *y)
{
  double log_likelihood;
  idm_context_draw(&a->q, 0, y);
  check(idm_matching_log_likelihood(a->f.matching[0], y, &log_likelihood, NULL, &support_error));
  return log_likelihood;
}

static void test_like_map(void **state)
{
  (void)state;
  assessed_fit held, freed;
  double y[2];
  assessed_fit_open(&held, make_reversal(0.3), slips(4), "alpha");
  assessed_fit_open(&freed, make_reversal(0.3), slips(4), "alpha,lapse");
  refit without, with;
  check(idm_refit(&held.q, NULL, &without, &support_error));
  check(idm_refit(&held.q, &(fixed_override){IDM_LAPSE, 0.02}, &with, &support_error));
  assert_near(without.log_likelihood, top(&held, y), 1e-3);
  assert_true(isnan(without.value));
  assert_near(with.log_likelihood, top(&freed, y), 1e-2);
  idm_theta *theta;
  check(idm_theta_copy(freed.problem->theta, &theta, &support_error));
  idm_parameters_set(freed.f.parameters, y, theta);
  assert_near(with.value, theta->block[IDM_LAPSE].value[0], 0.01);
  assert_true(with.log_likelihood > without.log_likelihood + 5);
  /* The refit does not change the roles of the problem. */
  assert_int_equal(held.problem->theta->block[IDM_LAPSE].role, IDM_NORMATIVE);
  idm_theta_destroy(theta);
  assessed_fit_close(&held);
  assessed_fit_close(&freed);
}

/* Freeing a correct parameter gains little: half a chi-square beyond 4 has probability .005. */
static void test_right(void **state)
{
  (void)state;
  assessed_fit a;
  refit one, without;
  static const double alpha = 0.3;
  idm_problem *problem = make_reversal(alpha);
  assessed_fit_open(&a, problem, simulate_agents(problem, &alpha, 1, 8, 100, 4), "alpha");
  check(idm_refit(&a.q, NULL, &without, &support_error));
  check(idm_refit(&a.q, &(fixed_override){IDM_PERSEVERANCE, 0.02}, &one, &support_error));
  assert_true(one.log_likelihood >= without.log_likelihood - 0.05);
  assert_true(one.log_likelihood < without.log_likelihood + 4);
  assert_near(one.value, 0, 0.4);
  assessed_fit_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_like_map), cmocka_unit_test(test_right)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
