/* Simulated preferences under a known utility: frequencies and log-likelihood against the logistic
 * model by hand. */
#include "invert/utility/preference_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/utility/walk.h"
#include "support.h"

/* Three trajectories with discounted sums by hand under left [0.5, -1, 2], right [3, -0.25, 1]. */
static const char log_text[] = "trajectory,action,observation\n"
                               "1,left,a\n1,left,a\n"
                               "2,right,b\n2,left,a\n"
                               "3,right,b\n3,right,c\n3,left,b\n";
static const double sum[] = {0.5 + 0.9 * 0.5, 3 + 0.9 * -1, 3 + 0.9 * -0.25 + 0.81 * 2};

static double logistic(double x)
{
  return 1 / (1 + exp(-x));
}

/* 30,000 pairs: each of the three pairs is equally frequent and has the preference rate of the
 * model, within 4.5 sds (one seed in 20,000 fails). */
static void test_shares(void **state)
{
  enum { PAIRS = 30000 };
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  check(idm_problem_set_free(problem, "utility", &support_error));
  idm_data *data = support_data(problem, log_text);
  idm_random random;
  idm_random_init(&random, 7, 1);
  check(idm_preferences_simulate(problem, problem->theta, PAIRS, "somebody", &random, data,
                                 &support_error));
  const idm_preferences *p = data->preferences;
  double preference_model[3][3] = {{0}}, expected = 0, found = 0;
  assert_int_equal(p->count, PAIRS);
  for (size_t i = 0; i < PAIRS; i++) {
    assert_true(p->worse[i] < 3 && p->better[i] < 3 && p->worse[i] != p->better[i]);
    assert_true(p->weight[i] == 1);
    preference_model[p->better[i]][p->worse[i]]++;
    expected += log(logistic(sum[p->better[i]] - sum[p->worse[i]]));
  }
  for (size_t a = 0; a < 3; a++)
    for (size_t b = a + 1; b < 3; b++) {
      const double all = preference_model[a][b] + preference_model[b][a];
      const double share = logistic(sum[a] - sum[b]);
      assert_near(all / PAIRS, 1.0 / 3, 4.5 * sqrt(2.0 / 9 / PAIRS));
      assert_near(preference_model[a][b] / all, share, 4.5 * sqrt(share * (1 - share) / all));
    }
  check(idm_preferences_log_likelihood(problem, data, problem->theta, "somebody", &found,
                                       &support_error));
  assert_near(found, expected, 1e-7);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Held entries enter with the problem's values. */
static void test_held(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  check(idm_problem_set_free(problem, "{utility: {entries: [left.a]}}", &support_error));
  idm_data *data = support_data(problem, log_text);
  idm_theta *theta;
  check(idm_theta_copy(problem->theta, &theta, &support_error));
  for (size_t e = 0; e < 6; e++) theta->block[IDM_UTILITY].value[e] = e ? 1000 : 2.5;
  idm_random random;
  idm_random_init(&random, 7, 2);
  check(idm_preferences_simulate(problem, theta, 5, "somebody", &random, data, &support_error));
  /* left.a is taken twice in the first trajectory, never in the others. */
  const double other[] = {2.5 + 0.9 * 2.5, sum[1], sum[2]};
  double expected = 0, found = 0;
  for (size_t i = 0; i < 5; i++)
    expected +=
        log(logistic(other[data->preferences->better[i]] - other[data->preferences->worse[i]]));
  check(idm_preferences_log_likelihood(problem, data, theta, "somebody", &found, &support_error));
  assert_near(found, expected, 1e-12);
  idm_theta_destroy(theta);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_one_alone(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  check(idm_problem_set_free(problem, "utility", &support_error));
  idm_data *data = support_data(problem, "trajectory,action,observation\n1,left,a\n");
  idm_random random;
  idm_error error = {0};
  idm_random_init(&random, 7, 3);
  assert_int_equal(
      idm_preferences_simulate(problem, problem->theta, 5, "somebody", &random, data, &error),
      IDM_INPUT);
  assert_non_null(strstr(error.message, "expected two or more"));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shares), cmocka_unit_test(test_held),
                                     cmocka_unit_test(test_one_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
