/* Tests the trace of an agent along a path against the policies at beliefs filtered by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/workspace.h"
#include "support.h"

static void refuse(const idm_problem *problem, const idm_workspace *workspace, const char *path,
                   const char *words)
{
  idm_path_trace *f = (idm_path_trace *)&support_error;
  idm_error error = {0};
  assert_int_equal(idm_path_trace_create(problem->setting, workspace, path, &f, &error), IDM_USAGE);
  assert_null(f);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
}

/* The model that equals DIAG's environment alone: Bayes' rule with 0.7 and 0.3, and states that do
 * not change. */
static void beliefs_and_policies(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  for (size_t m = 0; m < problem->theta->models; m++)
    problem->theta->block[IDM_MODEL_PRIOR].value[m] = m == 1;
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_path_trace *f;
  check(idm_path_trace_create(problem->setting, workspace,
                              "monitor:positive,monitor:positive,monitor:negative", &f,
                              &support_error));
  static const double odds[] = {1, 7.0 / 3, 49.0 / 9, 7.0 / 3};
  assert_int_equal(f->step_count, 4);
  for (size_t i = 0; i < 4; i++) {
    const double z[2] = {1 / (1 + odds[i]), odds[i] / (1 + odds[i])};
    double policy[3];
    assert_near(f->belief[2 * i + 1], z[1], 1e-12);
    idm_plan_policy(workspace, 0, z, policy, NULL);
    for (size_t u = 0; u < 3; u++) assert_near(f->policy[3 * i + u], policy[u], 1e-9);
    assert_int_equal(f->action[i], i < 3 ? 2 : IDM_MISSING);
  }
  assert_null(f->step_label[0]);
  assert_string_equal(f->step_label[3], "monitor:negative");
  idm_path_trace_destroy(f);
  check(idm_path_trace_create(problem->setting, workspace, NULL, &f, &support_error));
  assert_int_equal(f->step_count, 1);
  assert_near(f->belief[1], 0.5, 0);
  assert_int_equal(f->action[0], IDM_MISSING);
  idm_path_trace_destroy(f);
  idm_path_trace_destroy(NULL);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void paths_that_are_none(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_workspace *workspace = support_plan(problem, NULL);
  refuse(problem, workspace, "", "expected ACTION:OBSERVATION");
  refuse(problem, workspace, "monitor", "the path has 'monitor'");
  refuse(problem, workspace, "monitor:positive,", "the path has ''");
  refuse(problem, workspace, "monitor:positive,wait:positive", "the path has 'wait:positive'");
  refuse(problem, workspace, "positive:monitor", "declare_healthy:negative");
  idm_workspace_destroy(workspace);
  problem->setting->terminal[0] = true;
  workspace = support_plan(problem, NULL);
  refuse(problem, workspace, "declare_healthy:positive", "the episode has ended");
  idm_workspace_destroy(workspace);
  problem->setting->horizon = 2;
  workspace = support_plan(problem, NULL);
  refuse(problem, workspace, "monitor:positive,monitor:positive", "the episode has ended");
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Names that contain colons, and planners without beliefs. */
static void odd_names_and_agents(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_path_trace *f;
  check(idm_labels_set(&problem->setting->actions, 2, "look:once", 9, &support_error));
  check(idm_labels_set(&problem->setting->observations, 1, "a:b", 3, &support_error));
  idm_workspace *workspace = support_plan(problem, NULL);
  check(idm_path_trace_create(problem->setting, workspace, "look:once:a:b", &f, &support_error));
  assert_int_equal(f->action[0], 2);
  assert_true(f->belief[3] > 0.5);
  idm_path_trace_destroy(f);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void events_equal_the_path_in_words(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_event events[] = {{.action = 2, .observation = 1}, {.action = 2, .observation = 0}};
  idm_path_trace *words, *steps;
  check(idm_path_trace_create(problem->setting, workspace, "monitor:positive,monitor:negative",
                              &words, &support_error));
  check(
      idm_path_trace_events(problem->setting, workspace, NULL, events, 2, &steps, &support_error));
  assert_int_equal(words->step_count, 3);
  assert_int_equal(steps->step_count, 3);
  assert_memory_equal(words->belief, steps->belief, 6 * sizeof(double));
  assert_memory_equal(words->policy, steps->policy, 9 * sizeof(double));
  assert_null(words->step_label[0]);
  assert_string_equal(words->step_label[2], "monitor:negative");
  assert_null(steps->step_label[2]);
  for (size_t i = 0; i < 3; i++) {
    double policy[3];
    idm_plan_policy(workspace, 0, words->belief + 2 * i, policy, NULL);
    for (size_t u = 0; u < 3; u++) assert_near(words->policy[3 * i + u], policy[u], 1e-12);
  }
  idm_path_trace_destroy(words);
  idm_path_trace_destroy(steps);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void a_start_of_ones_own_is_taken(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  const double start[2] = {0.2, 0.8};
  idm_path_trace *f;
  check(idm_path_trace_events(problem->setting, workspace, start, NULL, 0, &f, &support_error));
  assert_int_equal(f->step_count, 1);
  assert_memory_equal(f->belief, start, sizeof start);
  idm_path_trace_destroy(f);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(beliefs_and_policies), cmocka_unit_test(events_equal_the_path_in_words),
      cmocka_unit_test(a_start_of_ones_own_is_taken), cmocka_unit_test(paths_that_are_none),
      cmocka_unit_test(odd_names_and_agents)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
