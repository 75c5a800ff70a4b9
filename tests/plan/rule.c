/* Tests planners of rules: policies are softmaxes of the scores, and parameters of a rule are set
 * and inferred as any other. */
#include <math.h>
#include <string.h>

#include "idm/extension/rule.h"
#include "support.h"

enum { OWN_WEIGHT = IDM_BLOCK_COUNT };

static const idm_block_info weight = {.name = "rule_weight",
                                      .summary = "weight of the belief",
                                      .support = IDM_NOT_NEGATIVE,
                                      .default_number = 2,
                                      .scales = IDM_SCALES_ALL,
                                      .scale = IDM_SCALE_LOG,
                                      .spread = 1,
                                      .of_agent = true};

static void score(const idm_theta *theta, size_t variant, int steps, const double *z, double *score)
{
  (void)variant, (void)steps;
  for (size_t u = 0; u < theta->sizes.actions; u++)
    score[u] = idm_theta_scalar(theta, OWN_WEIGHT) * (double)u * z[1];
}

static const idm_rule_planner rule = {.size = sizeof rule,
                                      .name = "test-rule",
                                      .summary = "a rule of this test",
                                      .own = &weight,
                                      .own_count = 1,
                                      .score = score};

static void policies(void **state)
{
  (void)state;
  idm_error error = {0};
  check(idm_rule_register(&rule, &support_error));
  assert_int_equal(idm_rule_register(&rule, &error), IDM_INPUT); /* the name is taken */
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  idm_workspace *workspace;
  double decision[3], specification[9], sum = 0;
  check(idm_problem_set(problem, "planner=test-rule", &support_error));
  check(idm_problem_set(problem, "rule_weight=3", &support_error));
  check(idm_solve(problem, &workspace, &support_error));
  idm_plan_policy(workspace, 0, (double[]){0.4, 0.6}, decision, specification);
  for (size_t u = 0; u < 3; u++) sum += exp(1.8 * (double)u);
  for (size_t u = 0; u < 3; u++) assert_near(decision[u], exp(1.8 * (double)u) / sum, 1e-14);
  for (size_t u = 0; u < 3; u++)
    assert_near(specification[3 * u] + specification[3 * u + 1] + specification[3 * u + 2], 1,
                1e-14);
  idm_workspace_destroy(workspace);
  /* The parameter is inferred: more of it, more of the last action. */
  idm_data *data;
  idm_score low, high;
  check(idm_simulate_log(problem, 50, 8, 1, &data, &support_error));
  check(idm_score_log(problem, data, &high, NULL, &support_error));
  check(idm_problem_set(problem, "rule_weight=0.1", &support_error));
  check(idm_score_log(problem, data, &low, NULL, &support_error));
  assert_true(high.log_likelihood > low.log_likelihood);
  check(idm_problem_set_free(problem, "rule_weight", &support_error));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void tables_that_are_refused(void **state)
{
  (void)state;
  idm_error error = {0};
  idm_rule_planner bad = rule;
  const size_t planners = idm_planner_find("test-rule") != NULL;
  bad.name = "other";
  bad.size = 8;
  assert_int_equal(idm_rule_register(&bad, &error), IDM_USAGE);
  bad.size = sizeof bad;
  bad.score = NULL;
  assert_int_equal(idm_rule_register(&bad, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "'other' has no score"));
  bad = rule;
  bad.name = NULL;
  assert_int_equal(idm_rule_register(&bad, &error), IDM_INPUT);
  assert_null(idm_planner_find("other"));
  assert_int_equal(planners, 1);
  assert_int_equal(idm_rule_register(NULL, &error), IDM_USAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(policies),
      cmocka_unit_test(tables_that_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
