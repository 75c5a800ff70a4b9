/* Whether a point is the top that it is said to be: points moved off it, and onto it. */
#include <math.h>

#include "invert/assess/asked_support.h"
#include "invert/assess/top.h"

static double density_at(const asked *a, const double *y)
{
  const idm_target target = idm_matching_target(a->f.matching[0]);
  double value;
  check(target.evaluate(target.context, y, &value, NULL, &support_error));
  return value;
}

/* The point at the top passes; moved off it by so much that the posterior falls by less than a
 * fiftieth it does too; further off it fails, and is told how far and where to. */
static void test_moved_points(void **state)
{
  (void)state;
  idm_problem *problem = asked_reversal(0.3);
  idm_data *data = asked_simulate(problem, (double[]){0.3}, 1, 3, 60, 4);
  asked a;
  asked_open(&a, problem, data, "{alpha: }");
  const double top = a.posterior->unconstrained[0];
  for (int i = 0; i <= 40; i++) {
    const double y = top + 0.02 * i;
    const double lost = a.posterior->statistics[0].log_density - density_at(&a, &y);
    idm_posterior moved = *a.posterior;
    idm_statistics statistics = *a.posterior->statistics;
    statistics.log_density -= lost;
    moved.unconstrained = (double[]){y};
    moved.statistics = &statistics;
    idm_assessment *assessment;
    check(idm_assess(problem, data, &moved, 1, &assessment, &support_error));
    const bool told = support_mentions(&assessment->failures, "not the most probable point");
    /* The likelihood's own top, which points are held against, lies beside the posterior's. */
    if (lost < 0.01) assert_false(told);
    if (lost > 0.5) assert_true(told);
    if (told) assert_true(support_mentions(&assessment->failures, "alpha 0."));
    if (i == 40) assert_true(lost > 0.5);
    idm_assessment_destroy(assessment);
  }
  asked_close(&a);
}

/* Draws of a posterior are no points: most of them lie below the top. */
static void test_posteriors_are_left_alone(void **state)
{
  (void)state;
  idm_problem *problem = asked_reversal(0.3);
  asked a;
  asked_open(&a, problem, asked_simulate(problem, (double[]){0.3}, 1, 3, 60, 4), "{alpha: }");
  const size_t before = a.assessment->failures.count;
  a.posterior->answer = IDM_POSTERIOR;
  idm_judge_top(&a.q, a.posterior->unconstrained, INFINITY);
  assert_int_equal(a.assessment->failures.count, before);
  a.posterior->answer = IDM_POINT;
  idm_judge_top(&a.q, a.posterior->unconstrained, INFINITY);
  assert_int_equal(a.assessment->failures.count, before + 1);
  asked_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_moved_points),
      cmocka_unit_test(test_posteriors_are_left_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
