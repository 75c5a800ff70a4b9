/* Tests printed tables of values and policies by state against closed forms, and the limit of the
 * number of lines. */
#include "cli/cli_support.h"
#include "cli/common.h"

#include <stdlib.h>
#include <string.h>

/* In `a`, `stay` pays 1 for ever: 1 / (1 - 1/2) = 2. In `b`, that is one step away: 2 / 2 = 1. */
static const char pair[] =
    "states: [a, b]\nactions: [stay, swap]\nobservations: states\nstart: [1, 0]\ndiscount: 0.5\n"
    "transition: {stay: identity, swap: [[0, 1], [1, 0]]}\n"
    "utility: {stay: [1, 0], swap: 0}\nagent: {planner: rational}\n";

static void a_line_a_state(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(pair);
  idm_workspace *workspace = support_plan(problem, NULL);
  cli_call call = {0};
  captured out;
  captured_open(&out, stdout);
  const idm_status status = cli_print_states(&call, problem->setting, workspace, false);
  captured_expect(&out, "state           value         stay         swap\n"
                        "a            2.000000     1.000000     0.000000\n"
                        "b            1.000000     0.000000     1.000000\n");
  check(status);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* With lapse, the policy at choice time and the planned policy are two tables. */
static void choices_and_plan(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(pair);
  support_assign(problem, "planner=bounded-rational");
  support_assign(problem, "lapse=0.4");
  idm_workspace *workspace = support_plan(problem, NULL);
  cli_call call = {0};
  for (int planned = 0; planned < 2; planned++) {
    captured out;
    captured_open(&out, stdout);
    const idm_status status = cli_print_states(&call, problem->setting, workspace, planned);
    captured_expect(&out, planned ? "state           value         stay         swap\n"
                                    "a            2.000000     1.000000     0.000000\n"
                                    "b            1.000000     0.000000     1.000000\n"
                                  : "state           value         stay         swap\n"
                                    "a            2.000000     0.800000     0.200000\n"
                                    "b            1.000000     0.200000     0.800000\n");
    check(status);
  }
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static double number(const json_t *object, const char *state, const char *opt_action)
{
  const json_t *one = json_object_get(object, state);
  const json_t *found = opt_action ? json_object_get(json_object_get(one, "policy"), opt_action)
                                   : json_object_get(one, "value");
  assert_true(json_is_number(found));
  return json_number_value(found);
}

static void the_same_as_json(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(pair);
  idm_workspace *workspace = support_plan(problem, NULL);
  cli_call call = {0};
  json_t *object;
  check(cli_states_json(&call, problem->setting, workspace, &object));
  assert_int_equal(json_object_size(object), 2);
  assert_near(number(object, "a", NULL), 2, 1e-6);
  assert_near(number(object, "b", NULL), 1, 1e-6);
  assert_near(number(object, "a", "stay"), 1, 1e-12);
  assert_near(number(object, "b", "swap"), 1, 1e-12);
  json_decref(object);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* 43 states: 40 lines under the heading, and one with the number of the remaining states. */
static void a_screenful(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: 43\nactions: [stay]\nobservations: states\n"
                   "transition: {stay: identity}\nutility: {stay: 1}\ndiscount: 0.5\n"
                   "agent: {planner: rational}\n");
  idm_workspace *workspace = support_plan(problem, NULL);
  cli_call call = {0};
  captured out;
  json_t *object;
  captured_open(&out, stdout);
  const idm_status status = cli_print_states(&call, problem->setting, workspace, false);
  char *text = captured_close(&out);
  size_t lines = 0;
  for (const char *at = text; (at = strchr(at, '\n')); at++) lines++;
  check(status);
  assert_int_equal(lines, 1 + 40 + 1);
  assert_non_null(strstr(text, "... and 3 more states (--json lists all)\n"));
  free(text);
  check(cli_states_json(&call, problem->setting, workspace, &object));
  assert_int_equal(json_object_size(object), 43);
  json_decref(object);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_a_state),
      cmocka_unit_test(choices_and_plan),
      cmocka_unit_test(the_same_as_json),
      cmocka_unit_test(a_screenful),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
