/* Tests figures as data: columns of each kind of mark, refused calls, and the CSV output against
 * expected texts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"

static void kinds_and_columns(void **state)
{
  (void)state;
  for (int kind = 0; kind < IDM_MARK_COUNT; kind++) {
    bool any = false;
    assert_non_null(idm_mark_name((idm_mark_kind)kind));
    for (int other = 0; other < kind; other++)
      assert_string_not_equal(idm_mark_name((idm_mark_kind)kind),
                              idm_mark_name((idm_mark_kind)other));
    for (int c = 0; c < IDM_FIGURE_COLUMNS; c++)
      any = any || idm_mark_has((idm_mark_kind)kind, (idm_figure_column)c);
    assert_true(any);
  }
  assert_null(idm_mark_name(IDM_MARK_COUNT));
  assert_null(idm_figure_column_name(IDM_FIGURE_COLUMNS));
  assert_false(idm_mark_has(IDM_MARK_COUNT, IDM_FIGURE_X));
  assert_true(idm_mark_has(IDM_MARK_LINE, IDM_FIGURE_Y));
  assert_false(idm_mark_has(IDM_MARK_LINE, IDM_FIGURE_TOP));
  assert_false(idm_mark_has(IDM_MARK_CELLS, IDM_FIGURE_COLUMNS));
}

/* A mark has exactly the columns of its kind, all 0. The ends of an axis are NaN, which means that
 * they are computed from the marks. */
static void what_is_made(void **state)
{
  (void)state;
  idm_figure *figure;
  idm_panel *panel;
  check(idm_figure_create(NULL, NULL, 0, &figure, &support_error));
  assert_string_equal(figure->title, "");
  assert_int_equal(figure->columns, 1);
  check(idm_figure_add(figure, "t", "x", NULL, &panel, &support_error));
  assert_ptr_equal(figure->panel[0], panel);
  assert_true(isnan(panel->x.low) && isnan(panel->y.high));
  assert_string_equal(panel->x.title, "x");
  assert_string_equal(panel->y.title, "");
  for (int kind = 0; kind < IDM_MARK_COUNT; kind++) {
    idm_mark *mark;
    check(idm_panel_add(panel, (idm_mark_kind)kind, NULL, 3, 2, &mark, &support_error));
    assert_ptr_equal(panel->mark[kind], mark);
    for (int c = 0; c < IDM_FIGURE_COLUMNS; c++) {
      const bool has = idm_mark_has((idm_mark_kind)kind, (idm_figure_column)c);
      assert_true(has == (mark->column[c] != NULL));
      if (has) assert_true(mark->column[c][0] == 0 && mark->column[c][1] == 0);
    }
  }
  idm_figure_destroy(figure);
  idm_figure_destroy(NULL);
}

static void what_is_refused(void **state)
{
  (void)state;
  idm_figure *figure;
  idm_panel *panel;
  idm_mark *mark;
  const double numbers[] = {1, 2};
  check(idm_figure_create("", "", 1, &figure, &support_error));
  check(idm_figure_add(figure, "", "", "", &panel, &support_error));
  assert_int_equal(idm_panel_add(panel, IDM_MARK_COUNT, "", 0, 1, &mark, NULL), IDM_USAGE);
  assert_null(mark);
  assert_int_equal(idm_panel_add(panel, IDM_MARK_LINE, "", -1, 1, &mark, NULL), IDM_USAGE);
  assert_int_equal(idm_panel_plot(panel, IDM_MARK_RULES, "", 0, 2, numbers, numbers, NULL),
                   IDM_USAGE);
  assert_int_equal(panel->marks, 0);
  idm_figure_destroy(figure);
}

static void csv(void **state)
{
  (void)state;
  idm_figure *figure;
  idm_panel *panel;
  idm_mark *mark;
  char *text;
  const double x[] = {0.1, NAN}, y[] = {-INFINITY, 1e-300};
  check(idm_figure_create("", "", 1, &figure, &support_error));
  check(idm_figure_csv(figure, &text, &support_error));
  assert_string_equal(text, "panel,mark,kind,label\n");
  free(text);
  check(idm_figure_add(figure, "a, \"b\"", "", "", &panel, &support_error));
  check(idm_panel_plot(panel, IDM_MARK_LINE, "two\nlines", 0, 2, x, y, &support_error));
  check(idm_panel_add(panel, IDM_MARK_RULES, "", 0, 1, &mark, &support_error));
  check(idm_labels_create(&mark->label, 1, &support_error));
  check(idm_labels_set(&mark->label, 0, "=1+2", 4, &support_error));
  mark->column[IDM_FIGURE_X][0] = 1.0 / 3;
  check(idm_figure_csv(figure, &text, &support_error));
  assert_string_equal(text, "panel,mark,kind,label,x,y\n"
                            "\"a, \"\"b\"\"\",\"two\nlines\",line,,0.1,\n"
                            "\"a, \"\"b\"\"\",\"two\nlines\",line,,,1e-300\n"
                            "\"a, \"\"b\"\"\",,rules,=1+2,0.3333333333333333,\n");
  free(text);
  idm_figure_destroy(figure);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(kinds_and_columns),
                                     cmocka_unit_test(what_is_made),
                                     cmocka_unit_test(what_is_refused), cmocka_unit_test(csv)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
