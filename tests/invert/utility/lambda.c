/* The penalty weight lambda by cross-validation: independent of calls and threads, with a held-out
 * log loss near the entropy of the log, and its keyword. */
#include "invert/utility/task.h"

#include <math.h>
#include <string.h>

#include "invert/utility/mdp_support.h"
#include "invert/utility/walk.h"
#include "io/run.h"

static idm_status choose(const idm_problem *problem, const idm_data *data, int threads,
                         uint64_t seed, idm_lambda *ret)
{
  idm_fit_settings settings;
  idm_task task;
  idm_soft_agent *agent = NULL;
  idm_fit_settings_default(&settings);
  settings.threads = threads;
  settings.seed = seed;
  check(idm_task_open(&task,
                      &(idm_fit_arguments){.inverse = idm_inverse_find("regularised-margin"),
                                           .problem = problem,
                                           .data = data,
                                           .settings = &settings},
                      0, &support_error));
  check(idm_task_demonstrator(&task, &support_error));
  check(idm_soft_agent_create(problem, "test", &agent, &support_error));
  const idm_status status = idm_lambda_choose(&task, agent, ret, &support_error);
  idm_soft_agent_destroy(agent);
  idm_task_close(&task);
  return status;
}

static idm_problem *walk(size_t trajectories, int steps, idm_data **ret_data)
{
  idm_problem *problem = support_yaml(WALK);
  *ret_data = support_simulate(
      problem, (idm_simulation){.trajectories = trajectories, .steps = steps, .seed = 2});
  check(idm_problem_set_free(problem, "utility", &support_error));
  return problem;
}

/* Mean negative log of choice frequencies by state, the minimum over policies by state on the log
 * itself. */
static double entropy_of(const idm_problem *problem, const idm_data *data)
{
  double count[3][2] = {{0}}, sum = 0;
  (void)problem;
  for (size_t t = 0; t < data->trajectories; t++) {
    size_t now = 0;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      count[now][data->action[r]]++;
      now = (size_t)data->observation[r];
    }
  }
  for (size_t s = 0; s < 3; s++)
    for (size_t u = 0; u < 2; u++)
      if (count[s][u] > 0) sum -= count[s][u] * log(count[s][u] / (count[s][0] + count[s][1]));
  return sum / (double)data->rows;
}

static void held_out_decisions_choose(void **state)
{
  (void)state;
  static const size_t trajectories[] = {60, 1};
  for (size_t i = 0; i < 2; i++) {
    idm_data *data;
    idm_problem *problem = walk(trajectories[i], i ? 1200 : 20, &data);
    idm_lambda one, two;
    check(choose(problem, data, 1, 1, &one));
    check(choose(problem, data, 3, 1, &two));
    assert_true(one.value == two.value && one.log_loss == two.log_loss);
    assert_int_equal(one.trajectories, i == 0);
    assert_near(one.min_value, 0.1, 1e-12);
    assert_true(one.value > one.min_value && one.value <= one.max_value);
    const double entropy = entropy_of(problem, data);
    assert_true(one.log_loss > entropy && one.log_loss < entropy + 0.02);
    check(choose(problem, data, 1, 2, &two)); /* other folds, nearly the same loss */
    assert_true(two.log_loss != one.log_loss);
    assert_near(two.log_loss, one.log_loss, 0.01);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

static void few_decisions_cannot_be_held_out(void **state)
{
  (void)state;
  idm_data *data;
  idm_problem *problem = walk(1, 9, &data);
  idm_lambda found;
  check(choose(problem, data, 1, 1, &found));
  assert_true(found.value == 100);
  assert_int_equal(found.folds, 0);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* The default is a keyword; 100 was the default before. Both have the same label. */
static void the_word_is_auto(void **state)
{
  (void)state;
  const idm_key *key = idm_key_find(idm_fit_keys(), "lambda");
  idm_fit_settings settings;
  char text[200];
  idm_fit_settings_default(&settings);
  assert_string_equal(idm_key_text(key, &settings, text, sizeof text), "auto");
  check(idm_key_set_text(key, &settings, "7", &support_error));
  assert_true(settings.lambda == 7);
  check(idm_key_set_text(key, &settings, "inf", &support_error));
  check(idm_key_set_text(key, &settings, "auto", &support_error));
  assert_true(settings.lambda == 0);
  check(idm_keys_check(idm_fit_keys(), &settings, &support_error));
  assert_int_equal(idm_key_set_text(key, &settings, "0", &support_error), IDM_USAGE);
  assert_non_null(strstr(support_error.message, "a number above 0, or inf, or auto"));
  idm_problem *problem = support_yaml(WALK);
  idm_request request;
  idm_request_default(&request);
  const uint64_t label = idm_request_label(problem, &request);
  request.settings.lambda = 100;
  assert_true(idm_request_label(problem, &request) == label);
  request.settings.lambda = 10;
  assert_true(idm_request_label(problem, &request) != label);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(held_out_decisions_choose),
                                     cmocka_unit_test(few_decisions_cannot_be_held_out),
                                     cmocka_unit_test(the_word_is_auto)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
