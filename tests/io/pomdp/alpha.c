/* The .alpha format: what is written is the plan, and nothing is left of what fails. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static idm_workspace *plan(const char *planner, idm_problem **problem)
{
  check(idm_problem_read("example:tiger", problem, NULL, &support_error));
  check(idm_problem_set_planner(*problem, idm_planner_find(planner), &support_error));
  return support_plan(*problem, NULL);
}

/* Read as pomdp-solve's users do: action, vector, action, vector. The best at a belief gives value
 * and action. */
static void the_file_is_the_plan(void **state)
{
  (void)state;
  char path[SUPPORT_PATH];
  idm_problem *problem;
  idm_workspace *workspace = plan("point-based", &problem);
  support_path(path);
  check(idm_plan_write_alpha(workspace, 0, path, &support_error));
  char *text;
  size_t length;
  check(idm_file_read(path, 1 << 20, &text, &length, &support_error));
  /* The start, and what hearing the tiger twice on one side leads to. */
  const double sure = 0.85 * 0.85 / (0.85 * 0.85 + 0.15 * 0.15);
  const double beliefs[][2] = {{0.5, 0.5}, {sure, 1 - sure}, {1 - sure, sure}};
  static const long actions[] = {0, 2, 1}; /* listen; open the other door */
  for (size_t b = 0; b < 3; b++) {
    double best = -INFINITY;
    long action = -1;
    size_t count = 0;
    for (char *at = text; *at; count++) {
      char *end;
      const long begins = strtol(at, &end, 10);
      assert_true(end > at && *end == '\n');
      double value = 0;
      for (size_t s = 0; s < 2; s++) {
        at = end + 1;
        value += beliefs[b][s] * strtod(at, &end);
        assert_true(end > at && *end == (s ? '\n' : ' '));
      }
      assert_true(end[1] == '\n');
      at = end + 2;
      if (value > best) action = begins;
      best = fmax(best, value);
    }
    double vector[2];
    size_t begins;
    assert_false(idm_plan_vector(workspace, 0, count, vector, &begins));
    assert_true(idm_plan_vector(workspace, 0, count - 1, vector, &begins));
    assert_int_equal(action, actions[b]);
    double lower, upper;
    check(idm_plan_bounds(workspace, 0, beliefs[b], &lower, &upper, &support_error));
    assert_true(best <= lower + 1e-12 && best >= upper - 0.05);
    if (b == 0) assert_near(best, lower, 1e-9);
  }
  free(text);
  unlink(path);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void failures_leave_nothing(void **state)
{
  (void)state;
  idm_problem *problem;
  idm_workspace *workspace = plan("point-based", &problem);
  assert_int_equal(idm_plan_write_alpha(workspace, 0, "/no/such/folder/p.alpha", &support_error),
                   IDM_SYSTEM);
  assert_int_equal(idm_plan_write_alpha(workspace, 1, "unused.alpha", &support_error), IDM_USAGE);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  workspace = plan("rational", &problem);
  assert_int_equal(idm_plan_write_alpha(workspace, 0, "unused.alpha", &support_error), IDM_USAGE);
  assert_non_null(strstr(support_error.message, "rational"));
  assert_int_equal(access("unused.alpha", F_OK), -1);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_file_is_the_plan),
      cmocka_unit_test(failures_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
