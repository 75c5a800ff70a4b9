/* Tasks of the inverse planners of utilities: the structures that are opened, and refusals that
 * free everything. */
#include "invert/utility/task.h"

#include <math.h>
#include <string.h>

#include "invert/utility/walk.h"
#include "support.h"

static const char log_text[] = "trajectory,state,action\n1,a,right\n1,b,right\n1,c,left\n1,b,\n";

/* Opens the task of an inverse planner with a bound of the utilities. */
static idm_status ask(const char *inverse, const idm_problem *problem, const idm_data *data,
                      double bound, idm_task *task, idm_error *error)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.bound = bound;
  const idm_fit_arguments call = {.inverse = idm_inverse_find(inverse),
                                  .problem = problem,
                                  .data = data,
                                  .settings = &settings};
  return idm_task_open(task, &call, 0, error);
}

static void test_open(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  idm_data *data = support_data(problem, log_text);
  idm_task task;
  check(idm_problem_set_free(problem, "utility", &support_error));
  check(ask("maximum-margin", problem, data, 1, &task, &support_error));
  assert_int_equal(task.mdp->n.states, 3);
  assert_int_equal(task.free_utility->count, 6);
  assert_null(task.demonstrator);
  check(idm_task_demonstrator(&task, &support_error));
  assert_int_equal(task.demonstrator->decisions, 3);
  idm_task_close(&task);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Methods on beliefs have a POMDP for hidden states, and none for observed states. */
static void test_believing(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  idm_data *data = support_data(problem, log_text);
  idm_task task;
  check(idm_problem_set_free(problem, "utility", &support_error));
  check(ask("maximum-margin", problem, data, 1, &task, &support_error));
  assert_true(task.mdp && task.free_utility && !task.pomdp);
  idm_task_close(&task);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  problem = support_diag(0, INFINITY, 0);
  problem->agent.planner = idm_planner_find("deterministic-optimal");
  data = support_simulate(problem, (idm_simulation){.trajectories = 2, .steps = 3, .seed = 1});
  check(idm_problem_set_free(problem, "utility", &support_error));
  check(ask("maximum-margin", problem, data, 1, &task, &support_error));
  assert_true(task.mdp && task.free_utility && task.pomdp);
  idm_task_close(&task);
  problem->theta->block[IDM_PRIOR_WEIGHT].value[0] = 0.5;
  assert_int_equal(ask("maximum-margin", problem, data, 1, &task, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "'maximum-margin' needs beliefs by Bayes' rule"));
  idm_task_close(&task);
  problem->theta->block[IDM_PRIOR_WEIGHT].value[0] = 1;
  problem->theta->block[IDM_SENSOR_CAPACITY].value[0] = 0.5;
  assert_int_equal(ask("maximum-margin", problem, data, 1, &task, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "expected sensor_capacity: inf"));
  idm_task_close(&task);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static idm_status count_states(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error)
{
  (void)ret_posterior;
  check(idm_task_demonstrator(task, opt_error));
  assert_int_equal(task->mdp->n.states, 8);
  assert_int_equal(idm_task_utility(task)->entries, 8 * task->pomdp->n.actions);
  assert_int_equal(task->free_utility->entries, 2 * task->pomdp->n.actions);
  return idm_fail(opt_error, IDM_UNTRUSTED, "seen");
}

static int seven(const idm_problem *problem, const idm_data *data)
{
  (void)problem;
  (void)data;
  return 7;
}

/* On a lattice the states of the MDP are beliefs; a fit returns the status of the method's answer
 * function. */
static void test_lattice(void **state)
{
  (void)state;
  const idm_task_method method = {
      .by = IDM_BY_LATTICE, .activity = "counting", .resolution = seven, .answer = count_states};
  idm_inverse inverse = *idm_inverse_find("regularised-margin");
  idm_fit_settings settings;
  idm_posterior *posterior;
  idm_task coarse;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  problem->agent.planner = idm_planner_find("maximum-entropy");
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 2, .steps = 3, .seed = 1});
  check(idm_problem_set_free(problem, "utility", &support_error));
  idm_fit_settings_default(&settings);
  inverse.method = &method;
  assert_int_equal(
      idm_inverse_fit(&inverse, problem, data, &settings, NULL, &posterior, NULL, &support_error),
      IDM_UNTRUSTED);
  assert_string_equal(support_error.message, "seen");
  assert_null(posterior);
  const idm_fit_arguments call = {
      .inverse = &inverse, .problem = problem, .data = data, .settings = &settings};
  check(idm_task_open(&coarse, &call, 4, &support_error));
  assert_int_equal(coarse.mdp->n.states, 5);
  assert_ptr_equal(idm_task_call(&coarse).inverse, &inverse);
  idm_task_close(&coarse);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* With free weights there is no utility to estimate. */
static void test_weights(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  idm_data *data = support_data(problem, log_text);
  idm_task task;
  check(idm_problem_set_planner(problem, idm_planner_find("decision-rule"), &support_error));
  check(idm_theta_resize(problem->theta, IDM_WEIGHTS, 8, 1, &support_error));
  check(idm_problem_set_free(problem, "weights", &support_error));
  check(ask("distribution-matching", problem, data, 1, &task, &support_error));
  assert_non_null(task.mdp);
  assert_null(task.free_utility);
  idm_task_close(&task);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void refuse(const idm_problem *problem, const idm_data *data, double bound,
                   idm_status status, const char *words)
{
  idm_task task;
  idm_error error = {0};
  assert_int_equal(ask("maximum-margin", problem, data, bound, &task, &error), status);
  if (!strstr(error.message, words)) fail_msg("%s", error.message);
  idm_task_close(&task);
}

static void test_refusals(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  idm_data *data = support_data(problem, log_text);
  refuse(problem, data, 1, IDM_INPUT, "none is free");
  check(idm_problem_set_free(problem, "utility, alpha", &support_error));
  refuse(problem, data, 1, IDM_INPUT, "alpha is free");
  check(idm_problem_set_free(problem, "utility", &support_error));
  refuse(problem, data, -1, IDM_USAGE, "bound is '-1'");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  problem = support_diag(1, INFINITY, 0);
  data = support_simulate(problem, (idm_simulation){.trajectories = 2, .steps = 3, .seed = 1});
  check(idm_problem_set_free(problem, "utility", &support_error));
  refuse(problem, data, 1, IDM_INPUT, "needs an agent with one model of the environment");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_open), cmocka_unit_test(test_weights), cmocka_unit_test(test_believing),
      cmocka_unit_test(test_lattice), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
