/* Tests the verdict on answers over learnt dynamics: convergence, conflict of observations and
 * decisions, the mean of the dynamics, and the checks given it. */
#include "invert/joint/joint.h"

#include "invert/assess.h"
#include "invert/joint/joint_support.h"

/* Results of the checks of joint dynamics. */
typedef struct judged {
  idm_checks checks;
  idm_notes remarks, failures;
  bool trusted;
} judged;

static judged judge(idm_joint_dynamics d)
{
  judged j = {.trusted = true};
  idm_checks_begin(&j.checks, IDM_CHECK_FIT);
  idm_joint_check(&d, &j.checks, &j.remarks, &j.failures, &j.trusted);
  return j;
}

static void forget(judged *j)
{
  idm_notes_clear(&j->remarks);
  idm_notes_clear(&j->failures);
}

static void test_verdict(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++) {
    judged j =
        judge((idm_joint_dynamics){.rhat = i ? 1.2 : 1.02, .effective = 300, .lost = 1, .free = 3});
    assert_int_equal(j.trusted, !i);
    assert_int_equal(j.failures.count, i);
    assert_int_equal(j.checks.of[IDM_CHECK_JOINT_RHAT].outcome,
                     i ? IDM_CHECK_FAILED : IDM_CHECK_PASSED);
    assert_true(support_mentions(&j.remarks, "drawn together"));
    forget(&j);
  }
}

/* With 3 free probabilities a loss of 3 nats is likely (p = .11), one of 9 is not (p = .0004). */
static void test_loss(void **state)
{
  (void)state;
  for (int i = 0; i < 2; i++) {
    judged j =
        judge((idm_joint_dynamics){.rhat = 1, .effective = 900, .lost = i ? 9 : 3, .free = 3});
    assert_int_equal(j.trusted, !i);
    assert_int_equal(support_mentions(&j.failures, "contradict each other about the dynamics"), i);
    assert_near(j.checks.of[IDM_CHECK_JOINT_OBSERVATIONS].value, i ? 4.398e-4 : 0.1116, 1e-4);
    forget(&j);
  }
}

/* The mean of the cut posterior's draws, or of the draws made jointly with the decisions. */
static void test_mean(void **state)
{
  (void)state;
  joint_scene s = joint_open(20);
  const idm_cut_draws cut = {s.problem, &s.draws, 10};
  const size_t all = s.draws.chains * s.draws.draws;
  double own[2] = {0.3, 0.7}, sum = 0;
  const idm_joint_dynamics drawn = {.mean = own};
  for (size_t i = 0; i < all; i++) sum += s.draws.value[i] / (double)all;
  for (int k = 0; k < 2; k++) {
    idm_dynamics_draws mean;
    check(idm_dynamics_mean(&cut, k ? &drawn : NULL, &mean, &support_error));
    assert_int_equal(mean.chains * mean.draws, 1);
    assert_near(mean.value[0], k ? 0.3 : sum, 1e-12);
    assert_near(mean.value[0] + mean.value[1], 1, 1e-12);
    idm_dynamics_draws_clear(&mean);
  }
  joint_close(&s);
}

static bool stop(void *context, const idm_progress_state *work)
{
  (void)context;
  (void)work;
  return true;
}

/* The joint posterior of a correct model has no misfit, and an interrupted assessment returns NULL.
 */
static void test_assess(void **state)
{
  (void)state;
  joint_scene s = joint_open(60);
  const idm_cut_draws cut = {s.problem, &s.draws, 10};
  const idm_inverse *bayes = idm_inverse_find("bayes");
  const idm_fit_monitor watch = {.progress = stop};
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_assessment *a;
  idm_error error = {0};
  idm_fit_settings_default(&settings);
  settings.draws = 1000;
  settings.warmup = 200;
  check(idm_joint_fit(s.problem, s.data, &settings, &cut, NULL, &posterior, NULL, &support_error));
  check(idm_joint_assess(s.problem, s.data, bayes, &settings, posterior, NULL, &a, &support_error));
  assert_int_equal(a->misfits.count, 0);
  assert_int_equal(a->checks.of[IDM_CHECK_GIVEN_MEAN].outcome, IDM_CHECK_PASSED);
  assert_true(a->checks.of[IDM_CHECK_LATTICE].outcome >= IDM_CHECK_PASSED);
  assert_true(a->checks.of[IDM_CHECK_EXTENSIONS].outcome >= IDM_CHECK_PASSED);
  idm_assessment_destroy(a);
  assert_int_equal(
      idm_joint_assess(s.problem, s.data, bayes, &settings, posterior, &watch, &a, &error),
      IDM_UNTRUSTED);
  assert_null(a);
  idm_posterior_destroy(posterior);
  joint_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdict), cmocka_unit_test(test_mean),
                                     cmocka_unit_test(test_loss), cmocka_unit_test(test_assess)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
