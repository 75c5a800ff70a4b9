/* Tests the visitor of rows that computes explanations: the layout of its parts, the action that is
 * due, and the numbers of rational and noisy agents. */
#include "invert/explain/explain.h"

#include <math.h>

#include "invert/explain/explain_support.h"

/* Parts are contiguous, and those of the visitor are the last. */
static void test_parts(void **state)
{
  (void)state;
  const idm_sizes n = {.states = 4, .actions = 3, .observations = 5};
  static const size_t size[IDM_EXPLAIN_PARTS] = {
      [IDM_EXPLAIN_BELIEF] = 4,         [IDM_EXPLAIN_PROBABILITY] = 3,
      [IDM_EXPLAIN_QUALITY] = 3,        [IDM_EXPLAIN_OBS_SURPRISE] = 1,
      [IDM_EXPLAIN_LOG_LIKELIHOOD] = 1, [IDM_EXPLAIN_RATIONAL_BELIEF] = 4,
      [IDM_EXPLAIN_RATIONAL] = 3,       [IDM_EXPLAIN_RATIONAL_AT_BELIEF] = 3,
      [IDM_EXPLAIN_REGRET] = 1,         [IDM_EXPLAIN_DUE] = 1};
  size_t place = 0;
  for (int part = 0; part < IDM_EXPLAIN_PARTS; part++) {
    assert_int_equal(idm_explain_part_size(n, (idm_explain_part)part), size[part]);
    assert_int_equal(idm_explain_part_offset(n, (idm_explain_part)part), place);
    place += size[part];
  }
  explain_visitor o = {0};
  assert_int_equal(idm_explain_visitor(&o, n).width,
                   place - idm_explain_part_offset(n, IDM_EXPLAIN_RATIONAL_BELIEF));
}

/* The named action, or any terminal action. */
static void test_due(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  explain_visitor o = {.problem = problem};
  idm_explain_settings_default(&o.settings);
  assert_true(idm_explain_is_due(&o, 0) && idm_explain_is_due(&o, 1));
  assert_false(idm_explain_is_due(&o, 2));
  o.settings.due = 2;
  assert_true(idm_explain_is_due(&o, 2));
  assert_false(idm_explain_is_due(&o, 0));
  idm_problem_destroy(problem);
}

/* --- what it sees --------------------------------------------------------------------------- */

/* A rational agent that knows the environment has the beliefs and policies of the rational agent,
 * no regret, and reactions of 1. */
static void test_rational(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0, INFINITY, 0);
  const idm_model_rule none = {0};
  check(idm_problem_apply_rule(problem, &none, &support_error));
  problem->agent.resolution = 40;
  problem->agent.evaluate = IDM_LOOKAHEAD;
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 20, .seed = 3});
  idm_explanation *e = explain_rows(problem, data);
  for (size_t row = 0; row < data->rows; row++) {
    assert_near(explained_mean(e, row, IDM_EXPLAIN_BELIEF, 0),
                explained_mean(e, row, IDM_EXPLAIN_RATIONAL_BELIEF, 0), 1e-12);
    for (size_t u = 0; u < 3; u++) {
      assert_near(explained_mean(e, row, IDM_EXPLAIN_RATIONAL, u),
                  explained_mean(e, row, IDM_EXPLAIN_RATIONAL_AT_BELIEF, u), 1e-12);
      assert_near(explained_mean(e, row, IDM_EXPLAIN_RATIONAL, u),
                  explained_mean(e, row, IDM_EXPLAIN_PROBABILITY, u), 1e-9);
    }
    assert_near(explained_mean(e, row, IDM_EXPLAIN_REGRET, 0), 0, 1e-9);
    /* In these beliefs, a best action that is terminal is the only best one. */
    const bool ends = problem->setting->ends[data->action[row]];
    assert_near(explained_mean(e, row, IDM_EXPLAIN_DUE, 0), ends, 1e-12);
  }
  assert_near(e->person[0].reaction.mean, 1, 1e-9);
  assert_near(e->person[0].base_rate.mean, 1, 1e-9);
  assert_near(e->person[0].noise.mean, 0, 1e-12);
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Noise is alpha divided by the range of the utilities, 46 here. A declaration at the start has
 * regret, monitoring has none, and a missing action has NaN. */
static void test_noise_and_regret(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2.3, INFINITY, 0);
  problem->agent.resolution = 40;
  idm_data *data = support_data(problem, "trajectory,action,observation\n1,declare_healthy,\n"
                                         "2,monitor,negative\n2,,\n");
  idm_explanation *e = explain_rows(problem, data);
  assert_near(e->person[0].noise.mean, 2.3 / 46, 1e-12);
  assert_true(explained_mean(e, 0, IDM_EXPLAIN_REGRET, 0) > 1);
  assert_near(explained_mean(e, 1, IDM_EXPLAIN_REGRET, 0), 0, 1e-9);
  assert_true(isnan(explained_mean(e, 2, IDM_EXPLAIN_REGRET, 0)));
  assert_int_equal(e->person[0].updates, 1);
  idm_explanation_destroy(e);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_due),
                                     cmocka_unit_test(test_rational),
                                     cmocka_unit_test(test_noise_and_regret)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
