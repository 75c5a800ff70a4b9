/* What an explorer shows: marks and numbers equal the plan's, labels are text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/drawing_support.h"
#include "report/explorer/explorer.h"
#include "support.h"

static idm_explorer *open_explorer(const idm_problem *problem)
{
  char *bytes;
  size_t length;
  check(idm_problem_serialise(problem, &bytes, &length, &support_error));
  idm_explorer *explorer = idm_explorer_open(bytes, length);
  free(bytes);
  assert_non_null(explorer);
  if (idm_explorer_message(explorer)) fail_msg("%s", idm_explorer_message(explorer));
  return explorer;
}

/* Number `index` of those that the text keeps whole. */
static double number_at(const char *text, size_t index)
{
  static const char before[] = "data-number=\"";
  const char *at = strstr(text, before);
  for (; at && index; index--) at = strstr(at + 1, before);
  assert_non_null(at);
  return strtod(at + strlen(before), NULL);
}

static void numbers_are_those_of_the_plan(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(5, INFINITY, 0);
  idm_explorer *explorer = open_explorer(problem);
  idm_workspace *workspace = support_plan(problem, NULL);
  const char *text = idm_explorer_tell(explorer);
  double policy[3], quality[3];
  idm_plan_policy(workspace, 0, problem->setting->start, policy, NULL);
  idm_plan_quality(workspace, 0, 0, problem->setting->start, quality);
  for (size_t u = 0; u < 3; u++) {
    assert_near(number_at(text, 2 * u), policy[u], 1e-15);
    assert_near(number_at(text, 2 * u + 1), quality[u], 1e-12);
  }
  assert_true(number_at(text, 6) == 0.5);
  assert_near(number_at(text, 8), idm_plan_value(workspace, 0, problem->setting->start), 1e-12);
  idm_workspace_destroy(workspace);
  idm_explorer_close(explorer);
  idm_problem_destroy(problem);
}

static void every_form_of_problem_is_drawn(void **state)
{
  (void)state;
  static const struct {
    support_shape shape;
    const char *planner;
    size_t panels;
  } forms[] = {
      {{2, 3, 2, 1, 20}, NULL, 3},                     /* policy, value, beliefs */
      {{3, 3, 2, 1, 8}, NULL, 2},                      /* a simplex, beliefs */
      {{4, 2, 3, 1, 4}, NULL, 2},                      /* what it does now, beliefs */
      {{2, 2, 2, 1, 8}, "planner=td-learner", 1},      /* what it does now */
      {{2, 9, 2, 1, 8}, "planner=decision-network", 2} /* more actions than colours; no value */
  };
  idm_random random;
  idm_random_init(&random, 3, 1);
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    idm_problem *problem = support_problem(forms[i].shape, &random);
    if (forms[i].planner) support_assign(problem, forms[i].planner);
    idm_explorer *explorer = open_explorer(problem);
    for (int step = 0; step < 4; step++) {
      const char *svg = idm_explorer_draw(explorer, step % 2 ? 340 : 900);
      assert_non_null(svg);
      assert_int_equal(drawing_count(svg, "class=\"panel\""), forms[i].panels);
      assert_non_null(idm_explorer_tell(explorer));
      assert_int_equal(idm_explorer_step(explorer), IDM_OK);
    }
    idm_explorer_close(explorer);
    idm_problem_destroy(problem);
  }
}

/* Cell `index` of the first panel that has cells, as opaque as it is probable. */
static double opacity_at(const char *svg, size_t index)
{
  static const char before[] = "fill-opacity=\"";
  const char *at = strstr(strstr(svg, "data-kind=\"cells\""), before);
  for (; at && index; index--) at = strstr(at + 1, before);
  assert_non_null(at);
  return strtod(at + strlen(before), NULL);
}

/* With habits the picture shows the row of the table, after the action taken last, and the plan. */
static void picture_and_table_show_one_policy(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  support_assign(problem, "alpha=20");
  support_assign(problem, "lapse=0.3");
  support_assign(problem, "perseverance=1.5");
  idm_explorer *explorer = open_explorer(problem);
  for (int step = 0; step < 4; step++) {
    double policy[3];
    const char *text = idm_explorer_tell(explorer);
    for (size_t u = 0; u < 3; u++) policy[u] = number_at(text, 2 * u);
    const char *svg = idm_explorer_draw(explorer, 900);
    assert_int_equal(drawing_count(svg, "class=\"panel\""), 4);
    for (size_t u = 0; u < 3; u++)
      assert_near(opacity_at(svg, 3 * explorer->state + u), policy[u], 0.0051);
    assert_int_equal(idm_explorer_step(explorer), IDM_OK);
  }
  idm_explorer_close(explorer);
  idm_problem_destroy(problem);
}

static void labels_are_text(void **state)
{
  (void)state;
  static const char bad[] = "<script>alert(1)</script>";
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  check(idm_labels_set(&problem->setting->actions, 2, bad, strlen(bad), &support_error));
  check(idm_labels_set(&problem->setting->states, 1, bad, strlen(bad), &support_error));
  check(idm_labels_set(&problem->setting->observations, 1, bad, strlen(bad) - 1, &support_error));
  check(idm_labels_set(&problem->setting->observations, 0, "\"&'", 3, &support_error));
  idm_explorer *explorer = open_explorer(problem);
  idm_explorer_step(explorer);
  assert_null(strstr(idm_explorer_draw(explorer, 700), "<script"));
  const char *text = idm_explorer_tell(explorer);
  assert_null(strstr(text, "<script"));
  assert_non_null(strstr(text, "&lt;script&gt;alert(1)"));
  idm_explorer_close(explorer);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_those_of_the_plan),
      cmocka_unit_test(every_form_of_problem_is_drawn),
      cmocka_unit_test(picture_and_table_show_one_policy),
      cmocka_unit_test(labels_are_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
