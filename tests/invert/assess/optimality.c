/* Tests the verdict on answers with a certificate, and the objective, certificate and policy of
 * answers by the likelihood against a plan at the posterior mean. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idm/extension/inverse.h"
#include "invert/assess.h"
#include "invert/utility/task.h"
#include "invert/utility/walk.h"
#include "support.h"

/* Assess utilities x of the walk, with a certificate that attains `attained`, optionally from
 * preferences between trajectories and with a fault. */
static idm_assessment *judge_as(const double *x, double attained, bool compared, const char *fault)
{
  idm_problem *problem = support_yaml(WALK);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 50, .steps = 10, .seed = 2});
  idm_free_utility *free_utility;
  idm_optimality *optimality;
  idm_posterior *p;
  idm_assessment *a;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  check(idm_problem_set_free(problem, "utility", &support_error));
  check(idm_free_utility_create(problem, &free_utility, &support_error));
  check(idm_optimality_create(6, &optimality, &support_error));
  snprintf(optimality->certificate, sizeof optimality->certificate, "duality gap");
  optimality->attained = attained;
  optimality->closed = 1e-9;
  optimality->compared = compared;
  if (fault) idm_notes_add(&optimality->faults, "%s", fault);
  check(idm_estimate_utility(idm_inverse_find("distance"), problem, &settings, free_utility, x,
                             "by hand", optimality, &p, &support_error));
  check(idm_assess_monitored(problem, data, p, 1, NULL, &a, &support_error));
  support_check_listed(&a->checks);
  assert_int_equal(a->checks.kind, IDM_CHECK_PROGRAM);
  idm_posterior_destroy(p);
  idm_free_utility_destroy(free_utility);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return a;
}

static idm_assessment *judge(const double *x, double attained)
{
  return judge_as(x, attained, false, NULL);
}

static const double truth[] = {0.5, -1, 2, 3, -0.25, 1};

static void test_closed(void **state)
{
  (void)state;
  idm_assessment *a = judge(truth, 1e-12);
  assert_true(a->trusted);
  assert_int_equal(a->failures.count, 0);
  assert_int_equal(a->misfits.count, 0);
  idm_assessment_destroy(a);
}

static void test_open(void **state)
{
  (void)state;
  const double attained[] = {1e-3, NAN, INFINITY};
  char failing[80];
  for (size_t i = 0; i < 3; i++) {
    idm_assessment *a = judge(truth, attained[i]);
    assert_false(a->trusted);
    assert_int_equal(a->failures.count, 1);
    assert_non_null(strstr(a->failures.text[0], "the certificate is not closed"));
    assert_string_equal(support_failing(&a->checks, failing, sizeof failing), "certificate");
    idm_assessment_destroy(a);
  }
}

/* With a closed certificate, utilities that reverse the preferences still fail the behaviour check.
 */
static void test_misfit(void **state)
{
  (void)state;
  double x[6];
  for (size_t i = 0; i < 6; i++) x[i] = -5 * truth[i];
  idm_assessment *a = judge(x, 0);
  char failing[80];
  assert_false(a->trusted);
  assert_string_equal(support_failing(&a->checks, failing, sizeof failing), "behaviour");
  assert_int_equal(a->misfits.count, 1);
  assert_non_null(strstr(a->misfits.text[0], "no better than chance"));
  idm_assessment_destroy(a);
}

/* A constant utility makes every choice uniform, which is no better than chance, whatever its
 * rounding. */
static void test_constant(void **state)
{
  (void)state;
  const double constant[] = {0, 1, -1, 0.1, 0.3, -0.7, 3.3, 1e-12, 1e3, 12345.678, -1e-3, 77.7};
  for (size_t i = 0; i < sizeof constant / sizeof *constant; i++) {
    const double c = constant[i];
    idm_assessment *a = judge((const double[]){c, c, c, c, c, c}, 0);
    assert_false(a->trusted);
    assert_int_equal(a->misfits.count, 1);
    assert_non_null(strstr(a->misfits.text[0], "no better than chance"));
    idm_assessment_destroy(a);
  }
}

/* With preferences between trajectories, the log is not assumed to be the behaviour of the agent.
 */
static void test_compared(void **state)
{
  (void)state;
  double x[6];
  for (size_t i = 0; i < 6; i++) x[i] = -5 * truth[i];
  idm_assessment *a = judge_as(x, 0, true, NULL);
  assert_true(a->trusted);
  assert_int_equal(a->misfits.count, 0);
  idm_assessment_destroy(a);
  a = judge_as(x, 1, true, NULL);
  assert_false(a->trusted);
  idm_assessment_destroy(a);
}

/* A fault fails an answer, whatever its certificate. */
static void test_fault(void **state)
{
  (void)state;
  idm_assessment *a = judge_as(truth, 0, false, "it is not so");
  assert_false(a->trusted);
  assert_int_equal(a->failures.count, 1);
  assert_string_equal(a->failures.text[0], "it is not so");
  idm_assessment_destroy(a);
}

/* --- answers by the likelihood ------------------------------------------------------------------ */

#define PROBLEM                                                                                    \
  "states: [a, b]\nactions: [u, v]\nobservations: states\ndiscount: 0.5\n"                         \
  "transition: {u: [[0.9, 0.1], [0.2, 0.8]], v: uniform}\nutility: {u: [1, 0], v: [0, 2]}\n"       \
  "agent: {planner: maximum-entropy, alpha: 1}\nfree: {alpha: {scale: log, prior: {normal: [0, "   \
  "1]}}}\n"

static idm_assessment *fitted(const idm_problem *problem, const idm_data *data, const char *inverse,
                              size_t chains, idm_posterior **ret_posterior)
{
  idm_fit_settings settings;
  idm_assessment *assessment;
  idm_fit_settings_default(&settings);
  settings.chains = chains;
  settings.draws = settings.warmup = 100;
  settings.threads = 1;
  check(idm_inverse_fit(idm_inverse_find(inverse), problem, data, &settings, NULL, ret_posterior,
                        NULL, &support_error));
  check(idm_assess_monitored(problem, data, *ret_posterior, 1, NULL, &assessment, &support_error));
  return assessment;
}

/* Checks the policy against the plan at the mean of log alpha, and the objective against the
 * log-likelihood under it, row by row. */
static void check_centre(const idm_problem *problem, const idm_data *data, const idm_posterior *p,
                         const idm_optimality *f)
{
  double mean = 0, sum = 0;
  const size_t all = p->chains * p->draws;
  for (size_t i = 0; i < all; i++) mean += p->unconstrained[i] / (double)all;
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, exp(mean));
  idm_workspace *workspace = support_plan(problem, NULL);
  double policy[4];
  for (size_t s = 0; s < 2; s++)
    idm_plan_policy(workspace, 0, (double[]){s == 0, s == 1}, policy + 2 * s, NULL);
  for (size_t i = 0; i < 4; i++) assert_near(f->policy[i], policy[i], 1e-9);
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      const size_t s = r == data->first[t] ? 0 : (size_t)data->observation[r - 1];
      sum += log(policy[2 * s + (size_t)data->action[r]]);
    }
  assert_near(f->objective, -sum, 1e-6);
  idm_workspace_destroy(workspace);
}

static void test_answers(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml("start: [1, 0]\n" PROBLEM);
  const idm_simulation simulation = {.trajectories = 20, .steps = 5, .seed = 3};
  idm_data *data = support_simulate(problem, simulation);
  idm_posterior *p;
  idm_assessment *a = fitted(problem, data, "bayes", 2, &p);
  assert_null(a->optimality);
  assert_string_equal(a->matched->certificate, "R-hat");
  assert_true(a->matched->attained == fmax(a->diagnosis[0].rhat, 1) &&
              a->matched->closed == idm_check_threshold(IDM_CHECK_RHAT));
  check_centre(problem, data, p, a->matched);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  /* R-hat needs more than one chain; a point estimate has no such certificate. */
  a = fitted(problem, data, "bayes", 1, &p);
  assert_true(isnan(a->matched->attained));
  assert_false(idm_optimality_certified(a->matched));
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  a = fitted(problem, data, "map", 1, &p);
  assert_string_equal(a->matched->certificate, "");
  check_centre(problem, data, p, a->matched);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* With hidden states there is no policy by state. */
static void test_hidden(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  check(idm_problem_set_free(problem, "alpha", &support_error));
  const idm_simulation simulation = {.trajectories = 20, .steps = 5, .seed = 3};
  idm_data *data = support_simulate(problem, simulation);
  idm_posterior *p;
  idm_assessment *a = fitted(problem, data, "bayes", 2, &p);
  assert_true(isfinite(a->matched->objective) && a->matched->objective > 0);
  assert_null(a->matched->policy);
  idm_assessment_destroy(a);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* The assessment of an inverse planner's answer to a log of `agent`, simulated in the walk or, if
 * `exchanged`, in a walk whose actions are exchanged. */
static idm_assessment *answered_by(const char *inverse, const char *agent, const char *numbers,
                                   idm_occupancy occupancy, bool exchanged, uint64_t seed)
{
  static const char other[] =
      "name: walk\nstates: [a, b, c]\nactions: [left, right]\nobservations: states\n"
      "discount: 0.9\nstart: a\n"
      "transition:\n"
      "  right: {a: {a: 1}, b: {a: 0.8, b: 0.2}, c: {b: 1}}\n"
      "  left: {a: {b: 0.8, a: 0.2}, b: {c: 0.9, b: 0.1}, c: {c: 0.9, b: 0.1}}\n"
      "utility: {left: [0.5, -1, 2], right: [3, -0.25, 1]}\nagent: ";
  /* No row of this walk is certain, so that no transition of a log has probability 0. */
  static const char own[] =
      "name: walk\nstates: [a, b, c]\nactions: [left, right]\nobservations: states\n"
      "discount: 0.9\nstart: a\n"
      "transition:\n"
      "  left: {a: {a: 0.8, b: 0.2}, b: {a: 0.8, b: 0.1, c: 0.1}, c: {b: 0.9, c: 0.1}}\n"
      "  right: {a: {b: 0.8, a: 0.2}, b: {c: 0.8, b: 0.1, a: 0.1}, c: {c: 0.9, b: 0.1}}\n"
      "utility: {left: [0.5, -1, 2], right: [3, -0.25, 1]}\nagent: ";
  /* An environment of the file that the log does not use has no effect. */
  char text[2][1000];
  snprintf(text[0], sizeof text[0], "%s%s\n%s", own, agent,
           exchanged ? "environments: {elsewhere: {start: b}}\n" : "");
  snprintf(text[1], sizeof text[1], "%s%s\n", exchanged ? other : own, agent);
  idm_problem *problem = support_yaml(text[0]), *maker = support_yaml(text[1]);
  idm_data *data =
      support_simulate(maker, (idm_simulation){.trajectories = 60, .steps = 12, .seed = seed});
  const bool scored = idm_inverse_find(inverse)->columns & 1U << IDM_COLUMN_SCORE;
  if (scored) {
    data->number[IDM_COLUMN_SCORE] = calloc(data->trajectories, sizeof(double));
    assert_non_null(data->number[IDM_COLUMN_SCORE]);
    for (size_t t = 0; t < data->trajectories; t++)
      data->number[IDM_COLUMN_SCORE][t] = cos((double)t);
  }
  idm_fit_settings settings;
  idm_posterior *p;
  idm_assessment *a;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = settings.warmup = 50;
  settings.occupancy = occupancy;
  check(idm_problem_set_free(problem, numbers, &support_error));
  check(idm_inverse_fit(idm_inverse_find(inverse), problem, data, &settings, NULL, &p, NULL,
                        &support_error));
  check(idm_assess_monitored(problem, data, p, 1, NULL, &a, &support_error));
  support_check_listed(&a->checks);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  idm_problem_destroy(maker);
  return a;
}

static idm_assessment *answered(const char *inverse, bool exchanged, uint64_t seed)
{
  const bool scored = idm_inverse_find(inverse)->columns & 1U << IDM_COLUMN_SCORE;
  return answered_by(inverse, "{planner: maximum-entropy, alpha: 1}", scored ? "utility" : "alpha",
                     IDM_OCCUPANCY_POLICY, exchanged, seed);
}

/* Observations that contradict the file's dynamics fail answers by divergences of occupancies, with
 * and without draws. At a level of half a percent, more than 3 alarms of 40 under true dynamics
 * have a probability of 5e-5; the seeds are fixed. */
static void test_environment(void **state)
{
  (void)state;
  static const char *const inverses[] = {"distribution-matching", "distribution-matching-bayes"};
  size_t alarms = 0;
  for (size_t i = 0; i < 2; i++) {
    idm_assessment *a = answered(inverses[i], true, 1);
    assert_int_equal(a->checks.of[IDM_CHECK_ENVIRONMENT].outcome, IDM_CHECK_MISFIT);
    assert_near(a->checks.of[IDM_CHECK_ENVIRONMENT].threshold, 0.005, 1e-12);
    assert_true(support_mentions(&a->misfits, "contradict the environment"));
    assert_false(a->trusted);
    idm_assessment_destroy(a);
  }
  for (uint64_t seed = 1; seed <= 40; seed++) {
    idm_assessment *a = answered(inverses[0], false, seed);
    assert_true(a->checks.of[IDM_CHECK_ENVIRONMENT].outcome >= IDM_CHECK_PASSED);
    alarms += a->checks.of[IDM_CHECK_ENVIRONMENT].outcome != IDM_CHECK_PASSED;
    idm_assessment_destroy(a);
  }
  assert_in_range(alarms, 0, 3);
  /* Preference scores of recorded trajectories do not depend on dynamics. */
  idm_assessment *a = answered("distance", true, 1);
  assert_int_equal(a->checks.of[IDM_CHECK_ENVIRONMENT].outcome, IDM_CHECK_NOT_RUN);
  assert_non_null(strstr(a->checks.of[IDM_CHECK_ENVIRONMENT].why, "states that were recorded"));
  idm_assessment_destroy(a);
}

/* The projection onto the occupancy of the demonstrator's policy returns that policy under any
 * dynamics; the projection onto the empirical occupancy depends on the dynamics. */
static void test_repeated(void **state)
{
  (void)state;
  static const char rule[] =
      "{planner: decision-rule, weights: {left: [0, 0.5, 0, -0.5], right: [0, 0, 0, 0]}}";
  idm_assessment *a =
      answered_by("distribution-matching", rule, "weights", IDM_OCCUPANCY_POLICY, true, 1);
  assert_int_equal(a->checks.of[IDM_CHECK_ENVIRONMENT].outcome, IDM_CHECK_REMARK);
  assert_false(support_mentions(&a->misfits, "contradict the environment"));
  idm_assessment_destroy(a);
  a = answered_by("distribution-matching", rule, "weights", IDM_OCCUPANCY_EMPIRICAL, true, 1);
  assert_int_equal(a->checks.of[IDM_CHECK_ENVIRONMENT].outcome, IDM_CHECK_MISFIT);
  idm_assessment_destroy(a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_repeated), cmocka_unit_test(test_closed),
      cmocka_unit_test(test_open),     cmocka_unit_test(test_misfit),
      cmocka_unit_test(test_constant), cmocka_unit_test(test_compared),
      cmocka_unit_test(test_fault),    cmocka_unit_test(test_answers),
      cmocka_unit_test(test_hidden),   cmocka_unit_test(test_environment)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
