/* Following a path: the text and the events say the same, and the filter agrees. */
#include <string.h>

#include "plan/follow.h"
#include "support.h"

static void events_equal_the_path_in_words(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_event events[] = {{.action = 2, .observation = 1}, {.action = 2, .observation = 0}};
  idm_followed *words, *steps;
  check(idm_follow(problem->setting, workspace, "monitor:positive,monitor:negative", &words,
                   &support_error));
  check(idm_follow_events(problem->setting, workspace, NULL, events, 2, &steps, &support_error));
  assert_int_equal(words->places, 3);
  assert_int_equal(steps->places, 3);
  assert_memory_equal(words->belief, steps->belief, 6 * sizeof(double));
  assert_memory_equal(words->policy, steps->policy, 9 * sizeof(double));
  assert_null(words->reached[0]);
  assert_string_equal(words->reached[2], "monitor:negative");
  assert_null(steps->reached[2]);
  for (size_t i = 0; i < 3; i++) {
    double policy[3];
    idm_plan_policy(workspace, 0, words->belief + 2 * i, policy, NULL);
    for (size_t u = 0; u < 3; u++) assert_near(words->policy[3 * i + u], policy[u], 1e-12);
  }
  idm_followed_destroy(words);
  idm_followed_destroy(steps);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void a_start_of_ones_own_is_taken(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  const double start[2] = {0.2, 0.8};
  idm_followed *f;
  check(idm_follow_events(problem->setting, workspace, start, NULL, 0, &f, &support_error));
  assert_int_equal(f->places, 1);
  assert_memory_equal(f->belief, start, sizeof start);
  idm_followed_destroy(f);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void expect_refusal(const idm_problem *problem, const char *path, const char *words)
{
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_followed *f;
  idm_error error = {0};
  assert_int_equal(idm_follow(problem->setting, workspace, path, &f, &error), IDM_USAGE);
  assert_null(f);
  assert_non_null(strstr(error.message, words));
  idm_workspace_destroy(workspace);
}

static void what_is_no_path_is_refused(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  expect_refusal(problem, "monitor:purple", "the path has 'monitor:purple'");
  expect_refusal(problem, "monitor:positive,", "the path has ''");
  support_assign(problem, "horizon=2");
  expect_refusal(problem, "monitor:positive,monitor:positive", "where the episode has ended");
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_equal_the_path_in_words),
      cmocka_unit_test(a_start_of_ones_own_is_taken),
      cmocka_unit_test(what_is_no_path_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
