/* Tests precision-recall curves against counts at every threshold, and areas known exactly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"
#include "report/panels.h"

/* Returns the curve of an action; its name is the action followed by its area. */
static const idm_mark *curve_of(const idm_figure *figure, const char *action)
{
  const idm_panel *panel = figure->panel[0];
  for (size_t i = 0; i < panel->marks; i++)
    if (strncmp(panel->mark[i]->name, action, strlen(action)) == 0) return panel->mark[i];
  fail_msg("there is no curve of %s", action);
  return NULL;
}

static double area_said(const idm_mark *curve)
{
  double area = NAN;
  sscanf(strstr(curve->name, "(area "), "(area %lf", &area);
  return area;
}

/* Computes precision and recall of the rule that predicts the action if its probability is at least
 * `least`, up to rounding. */
static void count_at(const idm_decisions *d, size_t action, double least, double *precision,
                     double *recall)
{
  double hits = 0, said = 0, taken = 0;
  for (size_t i = 0; i < d->count; i++) {
    if (!d->open[i * d->actions + action]) continue;
    const bool yes = d->probability[i * d->actions + action] >= least - 1e-9;
    taken += d->taken[i] == action;
    said += yes;
    hits += yes && d->taken[i] == action;
  }
  *precision = hits / said;
  *recall = hits / taken;
}

/* Every threshold is a point of the curve, and the area equals the trapezoidal sum. */
static void curves_are_counts(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(4, INFINITY, 0);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 100, .steps = 6, .seed = 5});
  const idm_plot_subject subject = {.problem = problem, .data = data};
  idm_decisions d;
  idm_notes notes = {0};
  check(idm_decisions_open(&subject, &d, &notes, &support_error));
  idm_figure *figure = figure_make("prc", &subject, NULL);
  for (size_t u = 0; u < 3; u++) {
    const idm_mark *curve = curve_of(figure, problem->setting->actions.name[u]);
    const double *x = curve->column[IDM_FIGURE_X], *y = curve->column[IDM_FIGURE_Y];
    double area = 0;
    for (size_t i = 1; i < curve->count; i++) {
      assert_true(x[i] >= x[i - 1]);
      area += (x[i] - x[i - 1]) * (y[i] + y[i - 1]) / 2;
    }
    assert_near(x[0], 0, 0);
    assert_near(x[curve->count - 1], 1, 1e-12);
    assert_near(area_said(curve), area, 0.00051);
    for (size_t i = 0; i < d.count; i++) {
      double precision, recall;
      bool there = false;
      count_at(&d, u, d.probability[3 * i + u], &precision, &recall);
      for (size_t k = 0; k < curve->count; k++)
        there = there || (fabs(x[k] - recall) < 1e-9 && fabs(y[k] - precision) < 1e-9);
      assert_true(there || recall > 1 - 1e-9);
    }
  }
  free(figure_draw(figure, IDM_FIGURE_NARROW));
  idm_figure_destroy(figure);
  idm_decisions_close(&d);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* The belief after one positive and one negative result does not depend on their order, except for
 * rounding: it is one threshold, whichever trajectory contains the action. */
static void ties(void **state)
{
  (void)state;
  static const char *const logs[] = {
      "trajectory,action,observation\n1,monitor,positive\n1,monitor,negative\n1,monitor,\n"
      "2,monitor,negative\n2,monitor,positive\n2,declare_healthy,\n",
      "trajectory,action,observation\n1,monitor,positive\n1,monitor,negative\n1,declare_healthy,\n"
      "2,monitor,negative\n2,monitor,positive\n2,monitor,\n"};
  double area[2];
  for (size_t i = 0; i < 2; i++) {
    idm_problem *problem = support_diag(3, 2, 0.1);
    idm_data *data = support_data(problem, logs[i]);
    const idm_plot_subject subject = {.problem = problem, .data = data};
    idm_figure *figure = figure_make("prc", &subject, NULL);
    area[i] = area_said(curve_of(figure, "monitor"));
    idm_figure_destroy(figure);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
  assert_near(area[0], area[1], 1e-12);
}

/* Equal predictions: the precision of chance. An action that is never taken has no curve. */
static void exact_areas(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(INFINITY, INFINITY, 0);
  idm_data *data = support_data(problem, "trajectory,action,observation\n"
                                         "1,monitor,positive\n1,monitor,positive\n"
                                         "1,monitor,negative\n1,declare_healthy,\n");
  const idm_plot_subject subject = {.problem = problem, .data = data};
  idm_notes notes = {0};
  idm_figure *figure;
  check(idm_labels_set(&problem->setting->actions, 0, figure_hostile, strlen(figure_hostile),
                       &support_error));
  check(idm_plot_make(idm_plot_find("prc"), &subject, NULL, &figure, &notes, &support_error));
  assert_int_equal(figure->panel[0]->marks, 2);
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "'declare_diseased' is never taken"));
  assert_near(area_said(curve_of(figure, "monitor")), 0.75, 1e-12);
  assert_near(area_said(curve_of(figure, figure_hostile)), 0.25, 1e-12);
  free(figure_draw(figure, IDM_FIGURE_WIDE));
  idm_notes_clear(&notes);
  idm_figure_destroy(figure);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(curves_are_counts),
                                     cmocka_unit_test(exact_areas), cmocka_unit_test(ties)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
