/* Tests sensitivities to held dynamics against covariances of the draws with log-likelihoods of
 * shifted problems, and the check of dependence on dynamics. */
#include "invert/assess/environment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/assess/answered_support.h"

enum { ALL = 240, SAMPLE = ALL };

static answered ask(bool rule)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0);
  problem->agent.resolution = 30;
  problem->agent.tolerance = 1e-12;
  if (rule)
    check(idm_problem_apply_rule(problem, &(idm_model_rule){.perturb = {0, 0.1}}, &support_error));
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 60, .seed = 2});
  check(idm_problem_set_free(problem, "{beta: {scale: inverse}}", &support_error));
  return answered_fit("bayes", problem, data, ALL / 2, 50, 8);
}

/* Log-likelihoods of all draws where tests are right with a probability larger by h, in the
 * environment and in all three models. */
static void sample_likelihood(const answered *f, double h, double *value)
{
  idm_problem *problem = f->problem;
  for (size_t m = 0; m < 4; m++) {
    double *matrices =
        m == 3 ? problem->setting->emission : problem->theta->block[IDM_EMISSION].value + 12 * m;
    for (size_t i = 0; i < 12; i++) matrices[i] += i % 4 == 0 || i % 4 == 3 ? h : -h;
  }
  answered_likelihoods(f, SAMPLE, value);
}

/* d mean of 1/beta / d probability: the covariance with slopes between two shifts at a distance h.
 */
static double shift_by_covariance(const answered *f, const double *below, const double *above,
                                  double h)
{
  const double *value = f->posterior->value + ALL;
  double sum = 0, x = 0, y = 0;
  for (size_t k = 0; k < SAMPLE; k++) {
    const double derivative = (above[k] - below[k]) / h, own = value[k * ALL / SAMPLE];
    sum += derivative * own;
    x += derivative;
    y += own;
  }
  return (sum - x * y / SAMPLE) / (SAMPLE - 1);
}

/* Quantities: beta, inverse_beta. The models are explicit lists shifted with the environment, or
 * follow it by a rule. */
static void check_shift(bool rule)
{
  answered f = ask(rule);
  const idm_assessment *a = f.assessment;
  const idm_sensitivity *s = answered_sensitivity(&f, "observation[*]");
  double above[SAMPLE], below[SAMPLE];
  assert_true(s->dynamics);
  assert_near(s->value, 0.7, 1e-12);
  assert_true(s->step > 0.01 && s->step < 0.1);
  const double scale = s->step / a->diagnosis[1].sd, found = s->derivative[1] * scale;
  sample_likelihood(&f, s->step / 4, above);
  sample_likelihood(&f, -s->step / 2, below);
  const double shift = shift_by_covariance(&f, below, above, s->step / 2) * scale;
  /* The implementation fits a quadratic function to 15 draws; its measured error is 3.6 %. */
  assert_near(found / shift, 1, 0.05);
  assert_true(shift < -1.5);
  /* The shift exceeds one sd, which the verdict and the sentence of the interval report. */
  assert_int_equal(a->checks.of[IDM_CHECK_DEPENDS].outcome, IDM_CHECK_REMARK);
  assert_true(a->checks.of[IDM_CHECK_DEPENDS].value >= fabs(found) - 1e-9);
  char sentence[900];
  snprintf(sentence, sizeof sentence,
           "%.640s; this holds given the file's probabilities, as it depends on dynamics",
           a->parameter[0].sentence);
  assert_true(support_mentions(&a->remarks, sentence));
  assert_true(support_mentions(&a->remarks, "1/beta depends on dynamics: raising observation[*"));
  const double most = a->checks.of[IDM_CHECK_DEPENDS].value, sd = a->diagnosis[1].sd;
  snprintf(sentence, sizeof sentence, "its sd is about %.2g instead of %.2g; `idm learn --draws`",
           sd * hypot(1, most), sd);
  assert_true(support_mentions(&a->remarks, sentence));
  answered_close(&f);
}

static void test_models(void **state)
{
  (void)state;
  check_shift(false);
  check_shift(true);
}

/* The verdict sentence. */
static void test_verdict(void **state)
{
  (void)state;
  idm_assessment a = {.answer = IDM_POSTERIOR, .trusted = true};
  a.model.evaluated = true;
  a.checks.of[IDM_CHECK_DEPENDS].outcome = IDM_CHECK_PASSED;
  assert_null(strstr(idm_assessment_verdict(&a), "dynamics"));
  a.checks.of[IDM_CHECK_DEPENDS].outcome = IDM_CHECK_REMARK;
  assert_non_null(strstr(idm_assessment_verdict(&a), "the answer depends on dynamics"));
}

/* Without observations the dynamics have no standard error, and the check is not run. */
static void test_passes(void **state)
{
  (void)state;
  answered f = ask(false);
  idm_assessment *other;
  for (size_t row = 0; row < f.data->rows; row++) f.data->observation[row] = IDM_MISSING;
  check(idm_assess_monitored(f.problem, f.data, f.posterior, 1, NULL, &other, &support_error));
  assert_int_equal(other->checks.of[IDM_CHECK_DEPENDS].outcome, IDM_CHECK_NOT_RUN);
  assert_non_null(strstr(other->checks.of[IDM_CHECK_DEPENDS].why, "too few observations"));
  idm_assessment_destroy(other);
  answered_close(&f);
}

/* An agent with the environment's dynamics except for a free hazard rate: only the environment is
 * shifted, and the rate is that of each draw. */
static void test_free_models(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "states: 2\nactions: [a, b]\nobservations: [win, loss]\ndiscount: 0\nobservation_from: "
      "before\n"
      "transition: {\"*\": [[0.9, 0.1], [0.1, 0.9]]}\n"
      "observation: {a: [[0.8, 0.2], [0.3, 0.7]], b: [[0.3, 0.7], [0.8, 0.2]]}\n"
      "utility: {a: [1, 0], b: [0, 1]}\nagent: {alpha: 0.2, beta: inf, eta: 0, resolution: 30}\n");
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 10, .steps = 30, .seed = 3});
  check(idm_problem_set_free(problem, "{transition: {hazard: [[a, b], [b, a]]}}", &support_error));
  answered f = answered_fit("bayes", problem, data, ALL / 2, 50, 8);
  assert_false(support_mentions(&f.assessment->failures, "other dynamics would replace them"));
  assert_int_not_equal(f.assessment->checks.of[IDM_CHECK_DEPENDS].outcome, IDM_CHECK_NOT_RUN);
  answered_close(&f);
}

/* A planner without models plans in the environment and depends on it: the shift is that of shifted
 * environments. */
static void test_planned_environment(void **state)
{
  (void)state;
  static const char text[] =
      "name: walk\nstates: [a, b, c]\nactions: [left, right]\nobservations: states\n"
      "discount: 0.9\nstart: a\n"
      "transition:\n"
      "  left: [[0.8, 0.2, 0], [0.8, 0.1, 0.1], [0, 0.9, 0.1]]\n"
      "  right: [[0.2, 0.8, 0], [0.1, 0.1, 0.8], [0, 0.1, 0.9]]\n"
      "utility: {left: [0.5, -1, 2], right: [3, -0.25, 1]}\n"
      "agent: {planner: maximum-entropy, alpha: 1}\n";
  idm_problem *problem = support_yaml(text);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 100, .steps = 12, .seed = 2});
  check(idm_problem_set_free(problem, "{alpha: {scale: log}}", &support_error));
  answered f = answered_fit("bayes", problem, data, ALL / 2, 50, 8);
  const idm_sensitivity *s = answered_sensitivity(&f, "transition[left,a,a]");
  double side[2][SAMPLE], sum = 0, x = 0, y = 0;
  const double h = 0.5 * s->step;
  assert_true(s->dynamics);
  assert_near(s->value, 0.8, 1e-12);
  for (int k = 0; k < 2; k++) {
    double *row = f.problem->setting->transition, was[2] = {row[0], row[1]};
    row[0] += k ? h : -h;
    row[1] -= k ? h : -h;
    answered_likelihoods(&f, SAMPLE, side[k]);
    memcpy(row, was, sizeof was);
  }
  const double *value = f.posterior->value;
  for (size_t i = 0; i < SAMPLE; i++) {
    const double derivative = (side[1][i] - side[0][i]) / (2 * h), own = value[i * ALL / SAMPLE];
    sum += derivative * own;
    x += derivative;
    y += own;
  }
  const double shift = (sum - x * y / SAMPLE) / (SAMPLE - 1);
  assert_near(s->derivative[0] / shift, 1, 0.05);
  assert_true(shift * s->step / f.assessment->diagnosis[0].sd < -0.2);
  answered_close(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_models),
      cmocka_unit_test(test_verdict),
      cmocka_unit_test(test_passes),
      cmocka_unit_test(test_free_models),
      cmocka_unit_test(test_planned_environment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
