/* Dials: one a number that the planner heeds, with its value, escaped. */
#include "report/explorer/explorer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/drawing_support.h"
#include "support.h"

static char *dials_of(const idm_problem *problem)
{
  idm_markup m = {0};
  idm_sliders_add(&m, problem);
  assert_false(m.failed);
  assert_non_null(m.text);
  return m.text;
}

static void diag_has_its_numbers(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  char *text = dials_of(problem);
  static const char *const names[] = {"discount",
                                      "alpha",
                                      "beta",
                                      "eta",
                                      "perseverance",
                                      "lapse",
                                      "prior_weight",
                                      "evidence_weight",
                                      "sensor_capacity",
                                      "utility declare_healthy,healthy",
                                      "utility monitor",
                                      "utility declare_diseased,diseased"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char label[80] = ">";
    strcat(strcat(label, names[i]), "</label>");
    assert_int_equal(drawing_count(text, label), 1);
  }
  assert_int_equal(drawing_count(text, "type=\"range\""), 14);
  /* What is the same in all states is one number. */
  assert_non_null(strstr(text, "data-first=\"4\" data-count=\"2\""));
  assert_non_null(strstr(text, "data-law=\"inverse\""));
  assert_non_null(strstr(text, "data-law=\"power\" data-low=\"0.001\" data-high=\"10\" "
                               "data-infinite=\"1\" data-value=\"inf\""));
  assert_non_null(strstr(text, "data-value=\"inf\""));
  free(text);
  idm_problem_destroy(problem);
}

static void fields_have_dials_where_they_are_used(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  double *certainty = problem->theta->block[IDM_CERTAINTY].value;
  certainty[0] = 0.9;
  certainty[1] = 5;
  char *text = dials_of(problem);
  assert_int_equal(drawing_count(text, ">certainty above</label>"), 1);
  assert_int_equal(drawing_count(text, ">certainty award</label>"), 1);
  assert_int_equal(drawing_count(text, ">belief_utility"), 0);
  assert_non_null(strstr(text, "data-low=\"-41\" data-high=\"51\""));
  free(text);
  idm_problem_destroy(problem);
}

static void what_a_planner_holds_has_no_dial(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  support_assign(problem, "planner=rational");
  char *text = dials_of(problem);
  assert_int_equal(drawing_count(text, ">alpha</label>"), 0);
  assert_int_equal(drawing_count(text, ">discount</label>"), 1);
  free(text);
  idm_problem_destroy(problem);
}

static void labels_are_text_and_many_are_cut(void **state)
{
  (void)state;
  static const char bad[] = "\"><script>alert(1)</script>";
  idm_random random;
  idm_random_init(&random, 4, 1);
  const support_shape shape = {2, 60, 2, 1, 8};
  idm_problem *problem = support_problem(shape, &random);
  check(idm_labels_set(&problem->setting->actions, 0, bad, strlen(bad), &support_error));
  char *text = dials_of(problem);
  assert_null(strstr(text, "<script"));
  assert_non_null(strstr(text, "&lt;script&gt;"));
  assert_int_equal(drawing_count(text, "class=\"dial\""), 60);
  free(text);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(diag_has_its_numbers),
      cmocka_unit_test(fields_have_dials_where_they_are_used),
      cmocka_unit_test(what_a_planner_holds_has_no_dial),
      cmocka_unit_test(labels_are_text_and_many_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
