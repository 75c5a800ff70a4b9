/* Tests the heterogeneity test between agents against scores by central differences of the
 * log-likelihood of each agent. */
#include "invert/assess/residual.h"

#include <math.h>

#include "invert/assess/context_support.h"

enum { AGENTS = 4 };

static void open_all(assessed_fit *a, decision_residuals *r, agents_check *c, const double *alpha)
{
  idm_problem *problem = make_reversal(0.3);
  idm_data *data = simulate_agents(problem, alpha, AGENTS, 2, 60, 7);
  assessed_fit_open(a, problem, data, "alpha");
  check(idm_residual_open(r, &a->q, &support_error));
  check(idm_agents_open(c, r, &support_error));
  assert_int_equal(c->agents, AGENTS);
}

static void close_all(assessed_fit *a, decision_residuals *r, agents_check *c)
{
  idm_agents_close(c);
  idm_residual_close(r);
  assessed_fit_close(a);
}

/* sum_a s_a^2 / V of the log, from differences of the scorer's log-likelihoods by agent. */
static double plain_statistic(assessed_fit *a, double information)
{
  const double h = 1e-4;
  double y[1], total, side[2][AGENTS], sum = 0;
  idm_context_draw(&a->q, 0, y);
  const double centre = y[0];
  for (int k = 0; k < 2; k++) {
    y[0] = centre + (k ? h : -h);
    check(idm_matching_log_likelihood(a->f.matching[0], y, &total, NULL, &support_error));
    idm_scorer_agents(idm_matching_scorer(a->f.matching[0]), side[k]);
  }
  for (size_t i = 0; i < AGENTS; i++) sum += pow((side[1][i] - side[0][i]) / (2 * h), 2);
  return sum / information;
}

static double statistic(decision_residuals *r, agents_check *c)
{
  double shift[1];
  idm_residual_shift(r, r->taken, shift);
  return idm_agents_statistic(c, r->taken, shift);
}

static void test_statistic(void **state)
{
  (void)state;
  static const double alpha[AGENTS] = {0.1, 0.2, 0.5, 2};
  assessed_fit a;
  decision_residuals r;
  agents_check c;
  open_all(&a, &r, &c, alpha);
  const double t = statistic(&r, &c);
  /* The tolerance covers the gradient of the prior, which the statistic under test removes. */
  assert_near(t, plain_statistic(&a, r.information[0]), 0.02);
  assert_true(t > 5);
  double between, own = 0;
  idm_agents_between(&c, &between);
  assert_true(between > 0.2 && between < 3);
  for (size_t i = 0; i < AGENTS; i++) own += c.information[i];
  assert_near(own, r.information[0], 1e-9);
  close_all(&a, &r, &c);
}

static void test_alike(void **state)
{
  (void)state;
  static const double alpha[AGENTS] = {0.3, 0.3, 0.3, 0.3};
  assessed_fit a;
  decision_residuals r;
  agents_check c;
  open_all(&a, &r, &c, alpha);
  assert_true(
      statistic(&r, &c) <
      3); /* chi-square with 3 degrees of freedom, divided by 4: above 3 with probability .02 */
  close_all(&a, &r, &c);
}

static void test_one_agent(void **state)
{
  (void)state;
  static const double alpha[1] = {0.3};
  idm_problem *problem = make_reversal(0.3);
  idm_data *data = simulate_agents(problem, alpha, 1, 1, 20, 7);
  assessed_fit a;
  decision_residuals r;
  agents_check c;
  assessed_fit_open(&a, problem, data, "alpha");
  check(idm_residual_open(&r, &a.q, &support_error));
  check(idm_agents_open(&c, &r, &support_error));
  assert_int_equal(c.agents, 0);
  close_all(&a, &r, &c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_statistic),
      cmocka_unit_test(test_alike),
      cmocka_unit_test(test_one_agent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
