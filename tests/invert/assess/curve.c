/* Profiles as curves, against likelihoods planned for and scored one by one. */
#include "invert/assess/curve.h"

#include <math.h>

#include "invert/assess/asked_support.h"

static void open_asked(asked *a, const char *free_blocks)
{
  static const double alpha[1] = {3};
  idm_problem *problem = support_diag(3, 1.25, 0.3);
  problem->agent.resolution = 20;
  asked_open(a, problem, asked_simulate(problem, alpha, 1, 60, 40, 5), free_blocks);
}

/* By planning for these numbers alone. */
static double likelihood(const asked *a, double alpha, double beta)
{
  idm_problem *problem = support_diag(alpha, beta, 0.3);
  problem->agent.resolution = 20;
  idm_workspace *workspace = support_plan(problem, NULL);
  const double score = support_score(workspace, a->data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  return score;
}

/* Where a curve crosses a level, by straight lines between its points. */
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

/* Of one number the profile is the likelihood. */
static void test_one(void **state)
{
  (void)state;
  asked a;
  idm_assessment *assessment;
  open_asked(&a, "alpha");
  check(idm_assess(a.problem, a.data, a.posterior, 1, &assessment, &support_error));
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
  asked_close(&a);
}

/* Of two it is at least what any value of the other gives. */
static void test_two(void **state)
{
  (void)state;
  asked a;
  idm_assessment *assessment;
  open_asked(&a, "{alpha: {scale: log}, beta: {scale: inverse}}");
  check(idm_assess(a.problem, a.data, a.posterior, 1, &assessment, &support_error));
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
  asked_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one), cmocka_unit_test(test_two)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
