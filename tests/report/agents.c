/* Tests the panels of a plot over agents: the titles and parameter values that each panel passes to
 * the drawing callback, refused panels, and that the problem itself is not changed. */
#include "report/panels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"

/* What the callback received, in the order of the panels. */
typedef struct seen {
  size_t count;
  double alpha[8];
  char title[8][80];
} seen;

static seen drawn;

static idm_status look(const void *context, const idm_plot_agent *agent, idm_figure *figure,
                       idm_error *opt_error)
{
  (void)opt_error;
  assert_ptr_equal(context, &drawn);
  assert_non_null(figure);
  assert_non_null(agent->workspace);
  drawn.alpha[drawn.count] = idm_theta_scalar(agent->problem->theta, IDM_ALPHA);
  strncpy(drawn.title[drawn.count++], agent->title, 79);
  return IDM_OK;
}

static idm_status draw_all(const idm_plot_subject *subject, size_t panels, const char *const *panel,
                           idm_error *error)
{
  const idm_plot_settings settings = {.panels = panels, .panel = panel};
  const idm_plot_drawer drawer = {idm_plot_agent_has_beliefs, look, &drawn};
  idm_figure *figure;
  idm_notes notes = {0};
  drawn = (seen){0};
  check(idm_figure_create("", "", 1, &figure, &support_error));
  const idm_status status = idm_plot_agents(subject, &settings, &drawer, figure, &notes, error);
  idm_notes_clear(&notes);
  idm_figure_destroy(figure);
  return status;
}

static void panels(void **state)
{
  (void)state;
  static const char *const panel[] = {"a: b: alpha=2 ,eta=0.5", "alpha=3", ": alpha=4",
                                      "title:", "alone"};
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  const idm_plot_subject subject = {.problem = problem};
  idm_error error = {0};
  check(draw_all(&subject, 0, NULL, &error));
  assert_int_equal(drawn.count, 1);
  assert_string_equal(drawn.title[0], "");
  assert_near(drawn.alpha[0], 0.5, 0);
  check(draw_all(&subject, 4, panel, &error));
  assert_int_equal(drawn.count, 4);
  assert_string_equal(drawn.title[0], "a: b");
  assert_near(drawn.alpha[0], 2, 0);
  assert_string_equal(drawn.title[1], "alpha=3");
  assert_near(drawn.alpha[1], 3, 0);
  assert_near(drawn.alpha[2], 4, 0);
  assert_string_equal(drawn.title[3], "title");
  assert_near(drawn.alpha[3], 0.5, 0);
  /* The problem itself is not changed. */
  assert_near(idm_theta_scalar(problem->theta, IDM_ALPHA), 0.5, 0);
  assert_int_equal(draw_all(&subject, 1, &panel[4], &error), IDM_USAGE);
  assert_int_equal(drawn.count, 0);
  idm_problem_destroy(problem);
}

static void what_is_refused(void **state)
{
  (void)state;
  static const char *const panel[] = {"a: no_such_key=1", "a: eta=inf", "a: planner=no_such"};
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  const idm_plot_subject subject = {.problem = problem};
  for (size_t i = 0; i < sizeof panel / sizeof panel[0]; i++) {
    idm_error error = {0};
    assert_int_equal(draw_all(&subject, 1, &panel[i], &error), IDM_USAGE);
    assert_true(error.message[0] != '\0');
  }
  /* A fit of several people has no single agent to draw. */
  idm_series_axis axis = {.name = (char[]){"person"}};
  const idm_posterior people = {.axes = 1, .axis = &axis};
  const idm_plot_subject of_people = {.problem = problem, .posterior = &people};
  idm_error error = {0};
  assert_int_equal(draw_all(&of_people, 0, NULL, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "several people"));
  idm_problem_destroy(problem);
}

/* Utilities given by columns of the log that a panel replaces are freed once, and those of the
 * problem are kept. */
static void utilities_of_columns(void **state)
{
  (void)state;
  static const char *const panel[] = {"a: utility.draw=-1", "b: utility.draw=-2"};
  idm_problem *problem;
  idm_error error = {0};
  check(idm_problem_read("example:beads", &problem, NULL, &support_error));
  const size_t sources = problem->utility_sources;
  const idm_plot_subject subject = {.problem = problem};
  assert_true(sources > 0);
  check(draw_all(&subject, 2, panel, &error));
  assert_int_equal(drawn.count, 2);
  assert_int_equal(problem->utility_sources, sources);
  idm_problem_destroy(problem);
}

static void columns(void **state)
{
  (void)state;
  for (size_t i = 0; i < 9; i++) {
    const idm_plot_settings settings = {.panels = i};
    assert_int_equal(idm_plot_agents_columns(&settings), i < 1 ? 1 : i < 3 ? i : 3);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(panels), cmocka_unit_test(what_is_refused),
                                     cmocka_unit_test(utilities_of_columns),
                                     cmocka_unit_test(columns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
