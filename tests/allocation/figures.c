/* Tests failing allocations while figures are filled, drawn and written. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "allocation/heap_support.h"
#include "allocation/setup_support.h"

/* The plot of a path, with its subject and settings. */
typedef struct wanted {
  const char *kind;
  idm_plot_subject subject;
  idm_plot_settings settings;
} wanted;

static idm_status draw(const idm_figure *figure, idm_error *error)
{
  const idm_figure_options options = {.width = IDM_FIGURE_WIDE, .id = "f"};
  char *text = GARBAGE;
  idm_status status = idm_figure_svg(figure, &options, &text, error);
  assert_result(status, text);
  free(text);
  text = GARBAGE;
  if (status == IDM_OK) {
    status = idm_figure_csv(figure, &text, error);
    assert_result(status, text);
    free(text);
  }
  return status;
}

static idm_status make_by_hand(const void *argument, idm_error *error)
{
  (void)argument;
  idm_figure *figure = GARBAGE;
  idm_panel *panel = GARBAGE;
  const double x[] = {0, 1}, y[] = {1, NAN};
  idm_status status = idm_figure_create("title", NULL, 2, &figure, error);
  assert_result(status, figure);
  for (int p = 0; p < 3 && status == IDM_OK; p++) {
    status = idm_figure_add(figure, "panel", "x", "y", &panel, error);
    assert_result(status, panel);
    for (int k = 0; k < IDM_MARK_COUNT && status == IDM_OK; k++) {
      idm_mark *mark = GARBAGE;
      status = idm_panel_add(panel, (idm_mark_kind)k, "mark", k, 3, &mark, error);
      assert_result(status, mark);
    }
    if (status == IDM_OK) status = idm_panel_plot(panel, IDM_MARK_LINE, "line", 0, 2, x, y, error);
  }
  if (status == IDM_OK) status = draw(figure, error);
  idm_figure_destroy(figure);
  return status;
}

static void test_by_hand(void **state)
{
  (void)state;
  every_failure("a figure by hand", make_by_hand, NULL, succeeds);
}

static idm_status make_plot(const void *argument, idm_error *error)
{
  const wanted *w = argument;
  idm_figure *figure = GARBAGE;
  idm_status status =
      idm_plot_make(idm_plot_find(w->kind), &w->subject, &w->settings, &figure, NULL, error);
  assert_result(status, figure);
  if (status == IDM_OK) status = draw(figure, error);
  idm_figure_destroy(figure);
  return status;
}

static void test_problems(void **state)
{
  (void)state;
  static const char *const panel[] = {"one: alpha=2", "two: eta=0.1"};
  static const char *const priced[] = {"one: utility.draw=-1"};
  idm_problem *diag, *clinic, *beads;
  check(idm_problem_read("example:diag", &diag, NULL, &support_error));
  check(idm_problem_read("example:clinic", &clinic, NULL, &support_error));
  check(idm_problem_read("example:beads", &beads, NULL, &support_error));
  support_assign(clinic, "resolution=5");
  const wanted plots[] = {
      {"policy", {.problem = diag}, {.panels = 2, .panel = panel, .path = "monitor:positive"}},
      {"policy", {.problem = beads}, {.panels = 1, .panel = priced}},
      {"simplex", {.problem = clinic}, {.path = "visit:mild/none"}},
      {"occupancy", {.problem = diag}, {0}},
      {"occupancy", {.problem = clinic}, {0}}};
  /* A note may be lost without an error. */
  for (size_t i = 0; i < sizeof plots / sizeof plots[0]; i++)
    for (int forever = 0; forever < 2; forever++)
      fail_one_by_one(plots[i].kind, make_plot, &plots[i], forever, recovers, 3);
  idm_problem_destroy(diag);
  idm_problem_destroy(clinic);
  idm_problem_destroy(beads);
}

static void test_logs(void **state)
{
  (void)state;
  fitted f = open_fit();
  char first[24];
  const char *name = idm_data_trajectory_name(f.data, 0, first, sizeof first);
  const idm_plot_subject subject = {.problem = f.problem, .data = f.data};
  const wanted plots[] = {{"calibration", subject, {0}},
                          {"prc", subject, {0}},
                          {"surprise", subject, {.trajectory = name}}};
  for (size_t i = 0; i < sizeof plots / sizeof plots[0]; i++)
    for (int forever = 0; forever < 2; forever++)
      fail_one_by_one(plots[i].kind, make_plot, &plots[i], forever, recovers, 3);
  close_fit(&f);
}

static idm_status write_csv(const void *argument, idm_error *error)
{
  return idm_figure_write_csv(argument, in_folder("out"), error);
}

static idm_status write_svg(const void *argument, idm_error *error)
{
  const idm_figure_options options = {.width = IDM_FIGURE_NARROW};
  return idm_figure_write(argument, &options, in_folder("out"), error);
}

static void test_files(void **state)
{
  (void)state;
  idm_figure *figure;
  idm_panel *panel;
  const double x[] = {0, 1};
  check(idm_figure_create("", "", 1, &figure, &support_error));
  check(idm_figure_add(figure, "", "", "", &panel, &support_error));
  check(idm_panel_plot(panel, IDM_MARK_LINE, "l", 0, 2, x, x, &support_error));
  every_failure("write CSV", write_csv, figure, succeeds);
  every_failure("write SVG", write_svg, figure, succeeds);
  idm_figure_destroy(figure);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrappers_are_linked), cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_problems), cmocka_unit_test(test_logs), cmocka_unit_test(test_files)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
