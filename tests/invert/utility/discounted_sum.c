/* Discounted sums of a utility as linear functions of its free numbers, against sums written out
 * here. */
#include "invert/utility/preference_model.h"
#include "invert/utility/preference_support.h"

static idm_status open_sum(const idm_problem *problem, const idm_data *data,
                           idm_free_utility **ret_free_utility, idm_discounted_sum **ret_sum,
                           idm_error *error)
{
  check(idm_free_utility_create(problem, ret_free_utility, &support_error));
  return idm_discounted_sum_create(problem, data, *ret_free_utility, "test", ret_sum, error);
}

/* For observed and hidden states; all entries free, and some tied. */
static void test_sums(void **state)
{
  (void)state;
  static const struct {
    const char *text, *free;
    size_t numbers;
  } cases[] = {{walk_text, "utility", 6},
               {tiger_text, "utility", 6},
               {walk_text, "{utility: {entries: {win: [left.c, right.c]}}}", 1},
               {tiger_text, "{utility: {entries: {win: [openl.r, openr.l], go: [listen]}}}", 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    idm_problem *problem = make_problem(cases[i].text, cases[i].free);
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 20, .steps = 6, .seed = 3 + i});
    const double x[6] = {0.4, -2, 1.5, 0.25, 3, -1};
    double utility[6];
    idm_free_utility *free_utility;
    idm_discounted_sum *sum;
    check(open_sum(problem, data, &free_utility, &sum, &support_error));
    assert_int_equal(free_utility->count, cases[i].numbers);
    idm_free_utility_fill(free_utility, x, utility);
    for (size_t t = 0; t < data->trajectories; t++) {
      double row[6] = {0}, total = 0;
      check(idm_discounted_sum_add(sum, t, -2, "has a score", row, &total, &support_error));
      for (size_t k = 0; k < free_utility->count; k++) total += row[k] * x[k];
      assert_near(total, -2 * plain_sum(problem, utility, data, t), 1e-12);
    }
    idm_discounted_sum_destroy(sum);
    idm_free_utility_destroy(free_utility);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Refused are beliefs that depend on the estimated utility and planners without beliefs. */
static void test_refusals(void **state)
{
  (void)state;
  static const struct {
    const char *set, *words;
  } cases[] = {{"sensor_capacity=0.2", "finite sensor_capacity"},
               {"sensor_capacity=0", "finite sensor_capacity"},
               {"planner=controller", "does not decide by a belief"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    idm_problem *problem = make_problem(tiger_text, "utility");
    idm_free_utility *free_utility;
    idm_discounted_sum *sum;
    idm_error error = {0};
    check(idm_problem_set(problem, cases[i].set, &support_error));
    idm_data *data =
        support_data(problem, "trajectory,action,observation\n1,listen,hl\n1,listen,hr\n");
    assert_int_equal(open_sum(problem, data, &free_utility, &sum, &error), IDM_INPUT);
    assert_null(sum);
    if (!strstr(error.message, cases[i].words)) fail_msg("%s", error.message);
    idm_free_utility_destroy(free_utility);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Observed states do not depend on the sensor capacity. */
static void test_observed(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(walk_text, "utility");
  idm_free_utility *free_utility;
  idm_discounted_sum *sum;
  check(idm_problem_set(problem, "sensor_capacity=0.2", &support_error));
  idm_data *data = support_data(problem, "trajectory,state,action\n1,a,right\n1,b,right\n");
  check(open_sum(problem, data, &free_utility, &sum, &support_error));
  idm_discounted_sum_destroy(sum);
  idm_free_utility_destroy(free_utility);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_observed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
