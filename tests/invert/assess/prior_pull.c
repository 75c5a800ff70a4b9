/* Tests the conflict of prior and data against conjugate normals, and its check on fits with
 * correct and wrong priors. */
#include "invert/assess/context.h"

#include <math.h>

#include "support.h"

/* A normal likelihood with maximum 4 and variance 1 under normal(0, 0.5): m = 0.8, v = 0.2. */
static void a_normal_likelihood_is_recovered(void **state)
{
  (void)state;
  const prior_pull pull = idm_prior_pull(0.8, 0.2, 0, 0.25);
  assert_near(pull.conflict, 4 / sqrt(1.25), 1e-12);
  assert_near(pull.shift, (4 - 0.8) / sqrt(0.2), 1e-12);
  assert_near(idm_prior_pull_value(&pull), pull.conflict, 0);
}

/* Many data move the posterior away from a wrong prior; without data there is no conflict. */
static void neither_much_nor_no_data_are_pulled(void **state)
{
  (void)state;
  const prior_pull much = idm_prior_pull(4.99, 0.001, 0, 0.25);
  assert_true(much.conflict > 9 && much.shift < 1);
  assert_near(idm_prior_pull_value(&much), 0, 0);
  const prior_pull none = idm_prior_pull(0.02, 0.251, 0, 0.25);
  assert_true(idm_prior_pull_value(&none) < 0.5);
}

/* Assessment of a fit of DIAG with alpha = 1. */
static idm_assessment *assess(const char *free_blocks)
{
  idm_problem *problem = support_diag(1, INFINITY, 0);
  problem->agent.resolution = 20;
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 30, .seed = 4});
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  idm_posterior *posterior;
  idm_assessment *a;
  check(idm_inverse_fit(idm_inverse_at(0), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  check(idm_assess_monitored(problem, data, posterior, 1, NULL, &a, &support_error));
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return a;
}

/* A prior of log alpha around the true value, and one far from it. */
static void a_fit_under_a_prior_far_off_is_a_misfit(void **state)
{
  (void)state;
  for (int off = 0; off < 2; off++) {
    idm_assessment *a = assess(off ? "{alpha: {scale: log, prior: {normal: [-2, 0.2]}}}"
                                   : "{alpha: {scale: log, prior: {normal: [0, 0.2]}}}");
    assert_int_equal(a->checks.of[IDM_CHECK_PRIOR_PULL].outcome,
                     off ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED);
    assert_string_equal(a->checks.of[IDM_CHECK_PRIOR_PULL].why, "");
    assert_int_equal(support_mentions(&a->misfits, "the prior of alpha contradicts the data"), off);
    assert_int_equal(a->trusted, !off);
    idm_assessment_destroy(a);
  }
}

/* Uniform priors: one that contains the true value, and one that ends below it. */
static void a_prior_that_ends_before_the_data_do_is_a_misfit(void **state)
{
  (void)state;
  for (int off = 0; off < 2; off++) {
    idm_assessment *a = assess(off ? "{alpha: {scale: identity, prior: {uniform: [0.01, 0.3]}}}"
                                   : "{alpha: {scale: identity, prior: {uniform: [0.1, 8]}}}");
    const idm_check_result *pull = &a->checks.of[IDM_CHECK_PRIOR_PULL];
    print_message("  prior-pull %.3g\n", pull->value);
    assert_int_equal(pull->outcome, off ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED);
    /* Some draws are near the maximum of the likelihood within the prior, so that prior-gap passes.
     */
    assert_int_equal(a->checks.of[IDM_CHECK_PRIOR_GAP].outcome, IDM_CHECK_PASSED);
    assert_int_equal(support_mentions(&a->misfits, "the prior of alpha excludes the maximum of the "
                                                   "likelihood: at "),
                     off);
    assert_int_equal(support_mentions(&a->remarks, "above the prior ends, at 0.3"), off);
    assert_false(support_mentions(&a->remarks, "bounded by the prior, not by the data"));
    assert_int_equal(a->trusted, !off);
    idm_assessment_destroy(a);
  }
}

/* A prior that is neither normal nor uniform is named with the assessed one; without an assessed
 * one the check is not run. */
static void numbers_that_are_not_judged_are_named(void **state)
{
  (void)state;
  idm_assessment *a = assess("{alpha: {scale: log, prior: {normal: [0, 1]}}, lapse: }");
  const idm_check_result *pull = &a->checks.of[IDM_CHECK_PRIOR_PULL];
  assert_int_equal(pull->outcome, IDM_CHECK_PASSED);
  assert_string_equal(pull->why, "not of lapse (see prior-gap)");
  idm_assessment_destroy(a);
  a = assess("{alpha: {scale: identity, prior: {gamma: [2, 2]}}}");
  assert_int_equal(a->checks.of[IDM_CHECK_PRIOR_PULL].outcome, IDM_CHECK_NOT_RUN);
  idm_assessment_destroy(a);
}

/* An exponential prior that is correct, and one that few draws exceed: the likeliest of thousands
 * of draws is near the maximum of the likelihood, most are not. */
static void a_prior_of_another_form_is_judged_by_all_draws(void **state)
{
  (void)state;
  for (int off = 0; off < 2; off++) {
    idm_assessment *a = assess(off ? "{alpha: {scale: identity, prior: {exponential: [80]}}}"
                                   : "{alpha: {scale: identity, prior: {exponential: [1]}}}");
    const idm_check_result *gap = &a->checks.of[IDM_CHECK_PRIOR_GAP];
    print_message("  prior-gap %.3g\n", gap->value);
    assert_int_equal(gap->outcome, off ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED);
    assert_int_equal(support_mentions(&a->misfits, "than at the draws on average"), off);
    assert_int_equal(a->trusted, !off);
    idm_assessment_destroy(a);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_normal_likelihood_is_recovered),
      cmocka_unit_test(neither_much_nor_no_data_are_pulled),
      cmocka_unit_test(a_fit_under_a_prior_far_off_is_a_misfit),
      cmocka_unit_test(a_prior_that_ends_before_the_data_do_is_a_misfit),
      cmocka_unit_test(numbers_that_are_not_judged_are_named),
      cmocka_unit_test(a_prior_of_another_form_is_judged_by_all_draws),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
