/* Tests which plug-ins are loaded and which are refused; the policy of the loaded planner is
 * compared with a softmax computed here. */
#include "idm/extension/plugin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

/* Returns the path of a plug-in built with the tests, in a static buffer. */
static const char *path_of(const char *name)
{
  static char path[500];
  snprintf(path, sizeof path, "%s/plugin_%s.so", IDM_PLUGINS, name);
  return path;
}

static void refuses(const char *name, const char *words)
{
  idm_error error = {0};
  size_t count = 0;
  while (idm_planner_at(count)) count++;
  assert_int_equal(idm_plugin_load(path_of(name), &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  assert_null(idm_planner_at(count));
}

static void test_refused(void **state)
{
  (void)state;
  refuses("that_is_not_there", "cannot load a plug-in");
  refuses("none", "is no plug-in");
  refuses("abi", "built against another library (interface 4, this is 3)");
  refuses("layout", "this is 3 with other tables");
  refuses("empty", "neither a planner nor an inverse planner");
  refuses("bare", "the planner 'bare' lacks what idm_planner requires");
}

/* The planner of a loaded plug-in is found by name; its policy equals the softmax of its formula,
 * and data simulated with it have a finite score. */
static void test_loaded(void **state)
{
  (void)state;
  assert_null(idm_planner_find("myopic"));
  check(idm_plugin_load(path_of("myopic"), &support_error));
  const idm_planner *planner = idm_planner_find("myopic");
  assert_non_null(planner);
  assert_int_equal(idm_plugin_load(path_of("myopic"), &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "a planner 'myopic' is already registered"));

  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  check(idm_problem_set_planner(problem, planner, &support_error));
  support_assign(problem, "sharpness=0.2");
  idm_workspace *workspace = support_plan(problem, NULL);
  const double z[] = {0.3, 0.7};
  double decision[3], expected[3], sum = 0;
  idm_plan_policy(workspace, 0, z, decision, NULL);
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  for (size_t u = 0; u < 3; u++)
    sum += expected[u] = exp(0.2 * (z[0] * utility[2 * u] + z[1] * utility[2 * u + 1]));
  for (size_t u = 0; u < 3; u++) assert_near(decision[u], expected[u] / sum, 1e-14);
  const idm_simulation simulation = {.trajectories = 20, .steps = 5, .seed = 3};
  idm_data *data = support_simulate(problem, simulation);
  assert_true(isfinite(support_score(workspace, data)));
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void test_register(void **state)
{
  (void)state;
  idm_inverse inverse = *idm_inverse_at(0);
  assert_int_equal(idm_inverse_register(&inverse, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "idm_inverse.size is 0"));
  inverse.size = sizeof inverse;
  assert_int_equal(idm_inverse_register(&inverse, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "already"));
  inverse.name = "";
  assert_int_equal(idm_inverse_register(&inverse, &support_error), IDM_INPUT);
  idm_planner planner = *idm_planner_find("rational");
  for (size_t size = 0; size <= 2 * sizeof planner; size += 2 * sizeof planner) {
    planner.size = size;
    assert_int_equal(idm_planner_register(&planner, &support_error), IDM_INPUT);
    assert_non_null(strstr(support_error.message, "idm_planner.size is "));
  }
  planner.size = sizeof planner;
  assert_int_equal(idm_planner_register(&planner, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "a planner 'rational' is already registered"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused), cmocka_unit_test(test_loaded),
                                     cmocka_unit_test(test_register)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
