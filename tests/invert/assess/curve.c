/* Tests profile likelihoods against likelihoods planned and scored point by point, and against a
 * dense grid of a softmax likelihood. */

#include <math.h>

#include "invert/assess/context_support.h"

static void open_fit(assessed_fit *a, const char *free_blocks)
{
  static const double alpha[1] = {3};
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  problem->agent.resolution = 20;
  assessed_fit_open(a, problem, simulate_agents(problem, alpha, 1, 60, 40, 5), free_blocks);
}

/* Log-likelihood planned and scored at these parameters. */
static double likelihood(const assessed_fit *a, double alpha, double beta)
{
  idm_problem *problem = support_diag(alpha, beta, 0.3);
  problem->agent.resolution = 20;
  idm_workspace *workspace = support_plan(problem, NULL);
  const double score = support_score(workspace, a->data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  return score;
}

/* The value at which a profile crosses a level, by linear interpolation. */
static double crossing(const idm_identification *t, double level, bool last)
{
  double found = NAN;
  for (size_t i = 0; i + 1 < t->points; i++) {
    const double a = t->drop[i] - level, b = t->drop[i + 1] - level;
    if ((a < 0) == (b < 0)) continue;
    if (isnan(found) || last) found = t->value[i] - a / (b - a) * (t->value[i + 1] - t->value[i]);
  }
  return found;
}

/* With one free parameter the profile is the likelihood. */
static void test_one(void **state)
{
  (void)state;
  assessed_fit a;
  idm_assessment *assessment;
  open_fit(&a, "alpha");
  check(idm_assess_monitored(a.problem, a.data, a.posterior, 1, NULL, &assessment, &support_error));
  assert_int_equal(assessment->parameters, 1);
  const idm_identification *t = &assessment->parameter[0];
  const double top = likelihood(&a, t->maximum, 1.25);
  assert_int_equal(t->points, 49);
  for (size_t i = 0; i < t->points; i++) {
    if (i) assert_true(t->value[i] > t->value[i - 1]);
    assert_true(t->drop[i] <= 1e-4);
    if (i % 6 == 0) assert_near(t->drop[i], likelihood(&a, t->value[i], 1.25) - top, 1e-6);
  }
  assert_near(t->value[24], t->maximum, 1e-9);
  assert_near(crossing(t, -1.92, false), t->low, 0.01);
  assert_near(crossing(t, -1.92, true), t->high, 0.01);
  idm_assessment_destroy(assessment);
  assessed_fit_close(&a);
}

/* With two, the profile is at least the likelihood at every value of the other. */
static void test_two(void **state)
{
  (void)state;
  assessed_fit a;
  idm_assessment *assessment;
  open_fit(&a, "{alpha: {scale: log}, beta: {scale: inverse}}");
  check(idm_assess_monitored(a.problem, a.data, a.posterior, 1, NULL, &assessment, &support_error));
  assert_int_equal(assessment->parameters, 2);
  const idm_identification *t = &assessment->parameter[0];
  const double top = assessment->log_likelihood;
  for (size_t i = 0; i < t->points; i += 12) {
    double best = -INFINITY;
    for (int k = -8; k <= 8; k++) {
      const double inverse = assessment->parameter[1].maximum + 0.05 * k;
      best = fmax(best, likelihood(&a, t->value[i], 1 / inverse));
    }
    assert_true(t->drop[i] >= best - top - 1e-3);
    assert_true(t->drop[i] <= 1e-4);
  }
  idm_assessment_destroy(assessment);
  assessed_fit_close(&a);
}

/* Ten choices of a myopic agent: softmax of utilities, [action][state], with a lapse rate. */
static const double utility[3][3] = {
    {-0.58, -1.199, -1.177}, {2.553, 0.133, 0.112}, {0.867, 0.291, -0.927}};
static const double times[3][3] = {{1, 0, 0}, {4, 0, 2}, {1, 1, 1}};

static double softmax_likelihood(double alpha, double lapse)
{
  double sum = 0;
  for (size_t s = 0; s < 3; s++) {
    double best = -INFINITY, total = 0;
    for (size_t u = 0; u < 3; u++) best = fmax(best, utility[u][s]);
    for (size_t u = 0; u < 3; u++) total += exp((utility[u][s] - best) / alpha);
    for (size_t u = 0; u < 3; u++) {
      const double p = exp((utility[u][s] - best) / alpha) / total;
      if (times[u][s] > 0) sum += times[u][s] * log((1 - lapse) * p + lapse / 3);
    }
  }
  return sum;
}

/* The largest log-likelihood over a grid of alpha. */
static double dense_profile(double lapse)
{
  double best = -INFINITY;
  for (int k = 0; k <= 20000; k++)
    best = fmax(best, softmax_likelihood(1e-5 * pow(1e10, k / 20000.0), lapse));
  return best;
}

/* The best alpha is 0 where the lapse is large and about 1 where it is small; a local search from
 * one does not reach the other. */
static void test_two_peaks_of_the_other(void **state)
{
  (void)state;
  assessed_fit a;
  idm_assessment *assessment;
  idm_problem *problem =
      support_yaml("states: [a, b, c]\nactions: [u, v, w]\nobservations: states\n"
                   "discount: 0\nstart: a\ntransition: {\"*\": uniform}\n"
                   "utility: {u: [-0.58, -1.199, -1.177], v: [2.553, 0.133, 0.112],\n"
                   "  w: [0.867, 0.291, -0.927]}\n"
                   "agent: {planner: bounded-rational, alpha: 0.5, lapse: 0.1}\n");
  assessed_fit_open(&a, problem,
                    support_data(problem,
                                 "trajectory,state,action\n1,a,u\n1,a,v\n1,a,v\n1,a,v\n1,a,v\n"
                                 "1,a,w\n1,b,w\n1,c,v\n1,c,v\n1,c,w\n"),
                    "{alpha: {scale: log}, lapse: {}}");
  check(idm_assess_monitored(a.problem, a.data, a.posterior, 1, NULL, &assessment, &support_error));
  assert_int_equal(assessment->parameters, 2);
  const idm_identification *t = &assessment->parameter[1];
  const double top = dense_profile(t->maximum);
  assert_int_equal(t->points, 49);
  for (size_t i = 0; i < t->points; i++)
    assert_near(t->drop[i], dense_profile(t->value[i]) - top, 2e-3);
  idm_assessment_destroy(assessment);
  assessed_fit_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one), cmocka_unit_test(test_two),
                                     cmocka_unit_test(test_two_peaks_of_the_other)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
