/* Tests the checks of the model: correct models pass, and each kind of wrong model fails the check
 * that names it. */
#include "invert/assess/context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/assess/context_support.h"

enum { AGENTS = 20 };

static void judge(assessed_fit *a, idm_problem *problem, idm_data *data, const char *free_blocks)
{
  assessed_fit_open(a, problem, data, free_blocks);
  check(idm_assess_model(&a->q, &support_error));
}

static void spread(double *alpha, double sd)
{
  idm_random random;
  idm_random_init(&random, 11, 0);
  for (size_t i = 0; i < AGENTS; i++) alpha[i] = 0.3 * exp(sd * idm_random_normal(&random));
}

/* --- right models --------------------------------------------------------------------------- */

/* A correct model fails in one fit of a hundred: of LOGS logs, more than MOST do with probability
 * 6e-4. Some logs are of one agent, some of several with few decisions each. */
static void test_false_alarms(void **state)
{
  (void)state;
  enum { LOGS = 40, MOST = 3 };
  size_t alarms = 0;
  for (uint64_t seed = 1; seed <= LOGS; seed++) {
    double alpha[AGENTS];
    const bool reversal = seed % 2;
    idm_problem *problem = reversal ? make_reversal(0.3) : support_diag(1.5, 1.25, 0.3);
    problem->agent.resolution = 20;
    for (size_t i = 0; i < AGENTS; i++) alpha[i] = reversal ? 0.3 : 1.5;
    const size_t agents = seed % 3 ? AGENTS : 1;
    assessed_fit a;
    judge(&a, problem, simulate_agents(problem, alpha, agents, 20 / agents + 1, 30, seed), "alpha");
    alarms += a.assessment->misfits.count > 0;
    assert_true(a.assessment->model.evaluated);
    assessed_fit_close(&a);
  }
  if (alarms > MOST) fail_msg("%zu of %d right models raised an alarm", alarms, LOGS);
}

static void test_right_model(void **state)
{
  (void)state;
  double alpha[AGENTS];
  spread(alpha, 0);
  idm_problem *problem = make_reversal(0.3);
  assessed_fit a;
  judge(&a, problem, simulate_agents(problem, alpha, AGENTS, 1, 50, 1), "alpha");
  const idm_model_check *m = &a.assessment->model;
  assert_int_equal(a.assessment->misfits.count, 0);
  assert_true(
      support_mentions(&a.assessment->remarks, "20 agents share one set of numbers (alpha)"));
  assert_true(
      support_mentions(&a.assessment->remarks, "of 20 agents are outside their own 95 % band"));
  assert_int_equal(m->decisions, AGENTS * 50);
  assert_near(m->uniform, -AGENTS * 50 * log(2), 1e-9);
  assert_true(m->log_likelihood > m->rates && m->rates >= m->uniform);
  assert_near(m->test[IDM_TEST_HOMOGENEITY].expected, 1, 0.15); /* one free parameter */
  assert_near(m->test[IDM_TEST_AGENT_BANDS].expected, 1, 0.1);
  assert_false(m->test[IDM_TEST_LENGTHS].evaluated); /* no action is terminal */
  assert_near(m->level, 0.01 / 10, 1e-12);
  assessed_fit_close(&a);
}

/* --- wrong models --------------------------------------------------------------------------- */

static void test_agents_differ(void **state)
{
  (void)state;
  double alpha[AGENTS];
  spread(alpha, 1);
  idm_problem *problem = make_reversal(0.3);
  assessed_fit a;
  judge(&a, problem, simulate_agents(problem, alpha, AGENTS, 1, 100, 1), "alpha");
  const idm_model_check *m = &a.assessment->model;
  assert_true(support_mentions(&a.assessment->misfits, "the 20 agents are not alike enough"));
  assert_true(
      support_mentions(&a.assessment->misfits, "of 20 agents are outside their own 95 % band"));
  assert_true(m->test[IDM_TEST_HOMOGENEITY].statistic > 3);
  assert_true(m->test[IDM_TEST_HOMOGENEITY].p <= m->level);
  assert_true(m->test[IDM_TEST_AGENT_BANDS].statistic > 5);
  assert_true(m->between[0] > 0.3);
  assessed_fit_close(&a);
}

/* Trajectories of one agent whose alpha is .1 in half of them and .6 in the others. If agents
 * differ, the check of trajectories is not run. */
static void test_trajectories_differ(void **state)
{
  (void)state;
  double alpha[AGENTS];
  for (size_t i = 0; i < AGENTS; i++) alpha[i] = i % 2 ? 0.1 : 0.6;
  for (size_t own = 0; own < 2; own++) {
    idm_problem *problem = make_reversal(0.3);
    idm_data *data = simulate_agents(problem, alpha, AGENTS, 1 + own, 50, 1);
    if (!own) assign_one_agent(data);
    assessed_fit a;
    judge(&a, problem, data, "alpha");
    const idm_model_check *m = &a.assessment->model;
    assert_true(m->test[IDM_TEST_TRAJECTORIES].p <= m->level);
    assert_int_equal(
        support_mentions(&a.assessment->misfits,
                         "the 20 trajectories are not alike enough to share one set of numbers "
                         "(alpha)"),
        !own);
    assert_int_equal(support_mentions(&a.assessment->misfits,
                                      "from trajectory to trajectory alpha (scale log) has an sd"),
                     !own);
    assert_int_equal(a.assessment->checks.of[IDM_CHECK_TRAJECTORIES].outcome,
                     own ? IDM_CHECK_NOT_RUN : IDM_CHECK_MISFIT);
    assessed_fit_close(&a);
  }
}

/* One agent with uniformly random actions. */
static void test_chance(void **state)
{
  (void)state;
  const double alpha = 0.3;
  idm_problem *problem = make_reversal(alpha);
  idm_data *data = simulate_agents(problem, &alpha, 1, 1, 200, 1);
  idm_random random;
  idm_random_init(&random, 5, 0);
  for (size_t row = 0; row < data->rows; row++)
    data->action[row] = idm_random_uniform(&random) < 0.5;
  assessed_fit a;
  judge(&a, problem, data, "alpha");
  assert_true(support_mentions(&a.assessment->misfits, "no better than chance"));
  assessed_fit_close(&a);
}

/* DIAG by an agent whose every decision has a probability near 1: the statistic of 2 log 3 per
 * decision exceeds the 1 % quantile of chi-square (one free parameter: 6.63) from the fourth on.
 * Fewer decisions do not test the model and do not contradict it. */
static void test_too_few(void **state)
{
  (void)state;
  static const char free_blocks[] = "{alpha: {scale: log, prior: {normal: [-12, 0.1]}}}";
  static const char rows[][40] = {"1,monitor,negative\n", "1,monitor,positive\n",
                                  "1,monitor,negative\n", "1,monitor,negative\n"};
  for (size_t decisions = 1; decisions <= 4; decisions++) {
    char csv[200] = "trajectory,action,observation\n", words[160];
    for (size_t i = 0; i < decisions; i++) strcat(csv, rows[i]);
    idm_problem *problem = support_diag(0.5, INFINITY, 0);
    problem->agent.resolution = 20;
    idm_data *data = support_data(problem, csv);
    assessed_fit a;
    judge(&a, problem, data, free_blocks);
    const idm_checks *checks = &a.assessment->checks;
    snprintf(words, sizeof words,
             "%zu decision%s too few to distinguish the model from chance, for any predictions: "
             "its log-loss is 0.0000 per decision",
             decisions, decisions == 1 ? " is" : "s are");
    assert_int_equal(support_mentions(&a.assessment->remarks, words), decisions < 4);
    assert_int_equal(a.assessment->misfits.count, 0);
    assert_int_equal(checks->of[IDM_CHECK_CHANCE].outcome,
                     decisions < 4 ? IDM_CHECK_REMARK : IDM_CHECK_PASSED);
    assert_int_equal(checks->of[IDM_CHECK_EVIDENCE].outcome,
                     decisions < 4 ? IDM_CHECK_PASSED : IDM_CHECK_NOT_RUN);
    assessed_fit_close(&a);
  }
}

/* DIAG with random declarations: the model predicts worse than the actions' own rates. */
static void test_rates(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, INFINITY, 0);
  problem->agent.resolution = 20;
  const double alpha = 1;
  idm_data *data = simulate_agents(problem, &alpha, 1, 150, 30, 2);
  idm_random random;
  idm_random_init(&random, 6, 0);
  for (size_t t = 0; t < data->trajectories; t++)
    data->action[data->first[t + 1] - 1] = idm_random_uniform(&random) < 0.5;
  assessed_fit a;
  judge(&a, problem, data, "alpha");
  assert_true(support_mentions(&a.assessment->misfits, "worse than the actions' own rates"));
  assessed_fit_close(&a);
}

/* An agent that changes its action after every loss, so that repetitions differ from the
 * predictions. */
static void test_stays(void **state)
{
  (void)state;
  const double alpha = 0.3;
  idm_problem *problem = make_reversal(alpha);
  idm_data *data = simulate_agents(problem, &alpha, 1, 1, 300, 1);
  for (size_t row = 1; row < data->rows; row++)
    data->action[row] = data->action[row - 1] ^ (data->observation[row - 1] == 1);
  assessed_fit a;
  judge(&a, problem, data, "alpha");
  assert_true(support_mentions(&a.assessment->misfits,
                               "stays after each observation are not what the model predicts"));
  assert_true(
      support_mentions(&a.assessment->misfits, "after 'loss' the same action was taken again"));
  assessed_fit_close(&a);
}

/* --- what cannot be checked ----------------------------------------------------------------- */

/* Rows without an action are not decisions. */
static void test_missing_rows(void **state)
{
  (void)state;
  double alpha[AGENTS];
  spread(alpha, 0);
  idm_problem *problem = make_reversal(0.3);
  idm_data *data = simulate_agents(problem, alpha, AGENTS, 1, 30, 1);
  for (size_t row = 0; row < data->rows; row += 5) data->action[row] = IDM_MISSING;
  assessed_fit a;
  judge(&a, problem, data, "alpha");
  assert_int_equal(a.assessment->model.decisions, AGENTS * 24);
  assert_int_equal(a.assessment->misfits.count, 0);
  assessed_fit_close(&a);
}

static void test_names(void **state)
{
  (void)state;
  for (size_t i = 0; i < IDM_TEST_COUNT; i++) {
    assert_non_null(idm_model_test_name((idm_model_test)i));
    for (size_t k = 0; k < i; k++)
      assert_string_not_equal(idm_model_test_name((idm_model_test)i),
                              idm_model_test_name((idm_model_test)k));
  }
  assert_null(idm_model_test_name(IDM_TEST_COUNT));
}

/* Utilities with opposite errors in two observed states: rates by step are correct, rates after
 * each observation are not. */
static void test_utilities(void **state)
{
  (void)state;
  static const char by_state[] =
      "states: [p, q]\nactions: [a, b]\nobservations: states\nstart: [0.5, 0.5]\ndiscount: 0\n"
      "transition: {'*': uniform}\nutility: {a: [%g, %g], b: [0, 0]}\n"
      "agent: {planner: bounded-rational, alpha: 1}\n";
  char text[400];
  snprintf(text, sizeof text, by_state, 2.0, -0.5);
  idm_problem *truth = support_yaml(text);
  idm_data *data =
      support_simulate(truth, (idm_simulation){.trajectories = 20, .steps = 30, .seed = 4});
  for (int wrong = 0; wrong < 2; wrong++) {
    idm_assessment *assessment;
    idm_posterior *posterior;
    idm_fit_settings settings;
    snprintf(text, sizeof text, by_state, wrong ? 0.75 : 2.0, wrong ? 0.75 : -0.5);
    idm_problem *problem = support_yaml(text);
    check(idm_problem_set_free(problem, "alpha", &support_error));
    idm_fit_settings_default(&settings);
    check(idm_inverse_fit(idm_inverse_find("map"), problem, data, &settings, NULL, &posterior, NULL,
                          &support_error));
    check(idm_assess_monitored(problem, data, posterior, 1, NULL, &assessment, &support_error));
    assert_int_equal(assessment->checks.of[IDM_CHECK_RESPONSES].outcome,
                     wrong ? IDM_CHECK_MISFIT : IDM_CHECK_PASSED);
    assert_int_equal(assessment->checks.of[IDM_CHECK_STEPS].outcome, IDM_CHECK_PASSED);
    assert_int_equal(support_mentions(&assessment->misfits, "rates after each observation"), wrong);
    idm_assessment_destroy(assessment);
    idm_posterior_destroy(posterior);
    idm_problem_destroy(problem);
  }
  idm_data_destroy(data);
  idm_problem_destroy(truth);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_false_alarms),  cmocka_unit_test(test_right_model),
      cmocka_unit_test(test_agents_differ), cmocka_unit_test(test_trajectories_differ),
      cmocka_unit_test(test_chance),        cmocka_unit_test(test_too_few),
      cmocka_unit_test(test_rates),         cmocka_unit_test(test_stays),
      cmocka_unit_test(test_missing_rows),  cmocka_unit_test(test_names),
      cmocka_unit_test(test_utilities),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
