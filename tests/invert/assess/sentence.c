/* Tests the sentences on free parameters against literal text, and the check that a point estimate
 * is a maximum against moved points. */
#include "invert/assess/context.h"

#include <math.h>
#include <string.h>

#include "invert/assess/context_support.h"
#include "invert/matching/fit.h"

/* Checks the sentence on parameter i of (log alpha, 1/beta). */
static void expect(size_t i, idm_identification id, const char *words)
{
  described_fit a;
  idm_posterior *p;
  described_fit_open(&a);
  check(idm_posterior_create(&a.f, idm_inverse_find("bayes"), "metropolis", 1, 1, &p,
                             &support_error));
  const check_context q = {.f = &a.f, .posterior = p};
  const parameter *item = &a.f.parameters->item[i];
  id.quantity = idm_parameter_reported(item);
  idm_identification_sentence(&q, item, &id);
  if (strcmp(id.sentence, words) != 0) fail_msg("'%s', expected '%s'", id.sentence, words);
  idm_posterior_destroy(p);
  described_fit_close(&a);
}

static const double far = 50; /* drop of the profile at a limit */

static void bounded(void **state)
{
  (void)state;
  idm_identification id = {
      .low = 0.25, .high = 0.75, .regions = 1, .region = {{0.25, 0.75}}, .gap = {far, far}};
  expect(0, id, "the data bound alpha within [0.25, 0.75] (95 % profile likelihood)");
  id.unchecked = true;
  expect(0, id,
         "the data bound alpha within [0.25, 0.75] (95 % profile likelihood); the search was cut "
         "short, so that this is not certain");
  id = (idm_identification){
      .low = 0.1, .high = 0.9, .regions = 2, .region = {{0.1, 0.2}, {0.8, 0.9}}, .gap = {far, far}};
  expect(0, id, "the data bound alpha within [0.1, 0.2] or [0.8, 0.9] (95 % profile likelihood)");
}

static void open_on_a_side(void **state)
{
  (void)state;
  idm_identification id = {.low = 0.25,
                           .high = INFINITY,
                           .regions = 1,
                           .region = {{0.25, INFINITY}},
                           .gap = {far, 0.5},
                           .proper = {true, true}};
  expect(0, id,
         "the data bound alpha below only: it is above 0.25 (95 % profile likelihood); above it is "
         "bounded by the prior, not by the data (at the limit the log-likelihood is within 0.50 of "
         "its maximum)");
  id.proper[1] = false;
  id.gap[0] = 0.25;
  expect(0, id,
         "the data do not bound alpha; below it is bounded by the prior, not by the data (at the "
         "limit the log-likelihood is within 0.25 of its maximum); above it is bounded neither by "
         "the data (at the limit the log-likelihood is within 0.50 of its maximum) nor by the "
         "prior");
}

/* Beta is inferred as 1/beta, which may be 0. */
static void by_its_inverse(void **state)
{
  (void)state;
  idm_identification id = {
      .low = 0.25, .high = 0.5, .regions = 1, .region = {{0.25, 0.5}}, .gap = {far, far}};
  expect(1, id,
         "the data bound 1/beta within [0.25, 0.5] (95 % profile likelihood) (beta between 2 and "
         "4)");
  id.low = id.region[0][0] = -0.25;
  expect(1, id,
         "the data bound 1/beta within [-0.25, 0.5] (95 % profile likelihood); beta itself is not "
         "bounded above: report 1/beta, optimism, not beta");
}

/* --- points ------------------------------------------------------------------------------------ */

static double density_at(const assessed_fit *a, const double *y)
{
  const idm_target target = idm_matching_target(a->f.matching[0]);
  double value;
  check(target.evaluate(target.context, y, &value, NULL, &support_error));
  return value;
}

/* A point at the maximum passes, also if shifted by so little that the log density falls by less
 * than .02. Farther points fail, with the maximum in the message. */
static void test_moved_points(void **state)
{
  (void)state;
  idm_problem *problem = make_reversal(0.3);
  idm_data *data = simulate_agents(problem, (double[]){0.3}, 1, 3, 60, 4);
  assessed_fit a;
  assessed_fit_open(&a, problem, data, "{alpha: }");
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
    check(idm_assess_monitored(problem, data, &moved, 1, NULL, &assessment, &support_error));
    const bool told = support_mentions(&assessment->failures, "not the most probable point");
    /* A margin, as points are compared with the maximum of the likelihood, which differs from that
     * of the posterior. */
    if (lost < 0.01) assert_false(told);
    if (lost > 0.5) assert_true(told);
    if (told) assert_true(support_mentions(&assessment->failures, "alpha 0."));
    if (i == 40) assert_true(lost > 0.5);
    idm_assessment_destroy(assessment);
  }
  assessed_fit_close(&a);
}

/* A discontinuous likelihood may be higher by more than .02 near the point: within a fifth of an sd
 * this is a remark, farther away a failure. The log density of the point is lowered artificially.
 */
static void test_jumps(void **state)
{
  (void)state;
  static const double off[] = {0, 0.1, 0.5};
  idm_problem *problem = make_reversal(0.3);
  idm_data *data = simulate_agents(problem, (double[]){0.3}, 1, 3, 60, 4);
  assessed_fit a;
  assessed_fit_open(&a, problem, data, "{alpha: }");
  for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
    idm_posterior moved = *a.posterior;
    idm_statistics statistics = *a.posterior->statistics;
    idm_assessment *assessment;
    check(idm_assess_monitored(problem, data, a.posterior, 1, NULL, &assessment, &support_error));
    const idm_identification *id = &assessment->parameter[0];
    const double sd = (id->high - id->low) / 3.92;
    idm_assessment_destroy(assessment);
    statistics.log_density -= 0.5;
    moved.value = (double[]){a.posterior->value[0] + off[i] * sd};
    moved.unconstrained = (double[]){log(moved.value[0])};
    moved.statistics = &statistics;
    check(idm_assess_monitored(problem, data, &moved, 1, NULL, &assessment, &support_error));
    const bool near = off[i] < 0.2;
    assert_int_equal(assessment->checks.of[IDM_CHECK_HIGHEST_POINT].outcome,
                     near ? IDM_CHECK_REMARK : IDM_CHECK_FAILED);
    assert_int_equal(support_mentions(&assessment->remarks, "the likelihood is not smooth near"),
                     near);
    assert_int_equal(support_mentions(&assessment->failures, "not the most probable"), !near);
    idm_assessment_destroy(assessment);
  }
  assessed_fit_close(&a);
}

/* Posterior draws are not checked, as most are below the maximum. */
static void test_posteriors_are_left_alone(void **state)
{
  (void)state;
  idm_problem *problem = make_reversal(0.3);
  assessed_fit a;
  assessed_fit_open(&a, problem, simulate_agents(problem, (double[]){0.3}, 1, 3, 60, 4),
                    "{alpha: }");
  const size_t before = a.assessment->failures.count;
  a.posterior->answer = IDM_POSTERIOR;
  idm_assess_maximum(&a.q, a.posterior->unconstrained, INFINITY);
  assert_int_equal(a.assessment->failures.count, before);
  a.posterior->answer = IDM_POINT;
  idm_assess_maximum(&a.q, a.posterior->unconstrained, INFINITY);
  assert_int_equal(a.assessment->failures.count, before + 1);
  assessed_fit_close(&a);
}

/* The assessment of alpha under a prior, from decisions of an agent with the given alpha. */
static idm_assessment *judge(double alpha, const char *prior)
{
  idm_problem *problem = make_reversal(alpha);
  assessed_fit a;
  idm_assessment *assessment;
  assessed_fit_open(&a, problem, simulate_agents(problem, (double[]){alpha}, 1, 4, 80, 4), prior);
  check(idm_assess_monitored(problem, a.data, a.posterior, 1, NULL, &assessment, &support_error));
  assessed_fit_close(&a);
  return assessment;
}

/* Under a flat prior a point estimate requires a maximum of the likelihood, not a proper posterior.
 */
static void test_points_under_a_flat_prior(void **state)
{
  (void)state;
  idm_assessment *assessment = judge(0.3, "{alpha: {scale: log, prior: flat}}");
  assert_int_equal(assessment->failures.count, 0);
  idm_assessment_destroy(assessment);
}

/* A point that the prior holds outside its own profile interval is reported. */
static void test_points_and_their_priors(void **state)
{
  (void)state;
  static const char words[] = "disagree about alpha: the most probable value";
  idm_assessment *assessment = judge(0.3, "{alpha: {scale: log, prior: {normal: [2, 0.1]}}}");
  assert_true(support_mentions(&assessment->remarks, words));
  assert_int_equal(assessment->checks.of[IDM_CHECK_PRIOR_CONFLICT].outcome, IDM_CHECK_REMARK);
  idm_assessment_destroy(assessment);
  assessment = judge(0.3, "{alpha: }");
  assert_false(support_mentions(&assessment->remarks, words));
  assert_int_equal(assessment->checks.of[IDM_CHECK_PRIOR_CONFLICT].outcome, IDM_CHECK_PASSED);
  idm_assessment_destroy(assessment);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(bounded),
                                     cmocka_unit_test(open_on_a_side),
                                     cmocka_unit_test(by_its_inverse),
                                     cmocka_unit_test(test_moved_points),
                                     cmocka_unit_test(test_jumps),
                                     cmocka_unit_test(test_points_under_a_flat_prior),
                                     cmocka_unit_test(test_points_and_their_priors),
                                     cmocka_unit_test(test_posteriors_are_left_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
