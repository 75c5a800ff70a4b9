/* Tests posterior densities: marks against the mean of the draws, the normal density that generated
 * them, and the path read back from the drawing. */
#include <math.h>
#include <string.h>

#include "report/report_support.h"

static double integral(const idm_mark *m)
{
  const double *x = m->column[IDM_FIGURE_X], *y = m->column[IDM_FIGURE_Y];
  double sum = 0;
  for (size_t i = 0; i + 1 < m->count; i++) sum += (x[i + 1] - x[i]) * (y[i] + y[i + 1]) / 2;
  return sum;
}

static void test_densities(void **state)
{
  (void)state;
  static const char *const names[] = {"alpha", "inverse_beta", REPORT_HOSTILE, "beta"};
  idm_posterior *p = report_posterior(4, 500, names, 4);
  p->summarised[3] = false;
  idm_figure *figure = report_make("posterior", &(idm_plot_subject){.posterior = p}, NULL);
  assert_int_equal(figure->panels, 3);
  assert_string_equal(figure->panel[1]->x.title, "1/beta");
  for (size_t i = 0; i < 3; i++) {
    const idm_panel *panel = figure->panel[i];
    const idm_mark *line = report_mark(panel, IDM_MARK_LINE, 0);
    const idm_mark *band = report_mark(panel, IDM_MARK_BAND, 0);
    const idm_mark *rule = report_mark(panel, IDM_MARK_RULES, 0);
    assert_string_equal(line->name, "posterior");
    assert_near(integral(line), 1, 1e-3);
    double mean = 0;
    for (size_t k = 0; k < 2000; k++) mean += p->value[i * 2000 + k] / 2000;
    assert_near(rule->column[IDM_FIGURE_X][0], mean, 1e-12);
    /* The mode is at the maximum of the line. */
    const idm_mark *mode = report_mark(panel, IDM_MARK_POINTS, 0);
    assert_string_equal(mode->name, "mode");
    bool on_line = false;
    for (size_t k = 0; k < line->count; k++) {
      const double height = line->column[IDM_FIGURE_Y][k], top = mode->column[IDM_FIGURE_Y][0];
      assert_true(height <= top);
      on_line = on_line ||
                (height >= top && line->column[IDM_FIGURE_X][k] == mode->column[IDM_FIGURE_X][0]);
    }
    assert_true(on_line);
    for (size_t k = 0; k < line->count; k++) {
      const double z = (line->column[IDM_FIGURE_X][k] - (double)i) / (1 + (double)i);
      assert_near(line->column[IDM_FIGURE_Y][k],
                  exp(-z * z / 2) / ((1 + (double)i) * sqrt(2 * acos(-1))), 0.05);
      assert_true(band->column[IDM_FIGURE_LOW][k] == 0);
      assert_true(band->column[IDM_FIGURE_HIGH][k] == line->column[IDM_FIGURE_Y][k]);
    }
  }
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

/* Known true values are marked, and the axes include them. */
static void test_truth(void **state)
{
  (void)state;
  static const char *const names[] = {"alpha", "inverse_beta"};
  static const char *const truth[] = {"1/beta=25", "alpha=-0.125"};
  idm_posterior *p = report_posterior(4, 500, names, 2);
  const idm_plot_subject subject = {.posterior = p};
  idm_figure *figure =
      report_make("posterior", &subject, &(idm_plot_settings){.truths = 2, .truth = truth});
  for (size_t i = 0; i < 2; i++) {
    const idm_panel *panel = figure->panel[i];
    const idm_mark *rule = report_mark(panel, IDM_MARK_RULES, 1);
    const double x = rule->column[IDM_FIGURE_X][0];
    assert_string_equal(rule->name, "truth");
    assert_true(x == (i ? 25 : -0.125) && panel->x.low <= x && x <= panel->x.high);
  }
  report_draw(figure);
  idm_figure_destroy(figure);
  static const struct {
    const char *truth, *words;
  } odd[] = {{"alpha", "NUMBER"}, {"alpha=", "NUMBER"},    {"alpha=1x", "NUMBER"},
             {"=2", "quantity"},  {"alpha=inf", "NUMBER"}, {"eta=1", "no quantity 'eta'"}};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    const idm_plot_settings settings = {.truths = 1, .truth = &odd[i].truth};
    assert_non_null(
        strstr(report_refusal("posterior", &subject, &settings, IDM_USAGE), odd[i].words));
  }
  const idm_plot_settings settings = {.truths = 1, .truth = truth};
  assert_non_null(strstr(report_refusal("trace", &subject, &settings, IDM_USAGE), "no place"));
  idm_posterior_destroy(p);
}

/* The path read back from the drawing equals the marks; the prior is drawn as well. */
static void test_drawing(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  check(idm_problem_set_free(problem, "{alpha: {scale: log, prior: {normal: [0, 1]}}}",
                             &support_error));
  static const char *const names[] = {"alpha"};
  idm_posterior *p = report_posterior(2, 200, names, 1);
  for (size_t i = 0; i < 400; i++) p->value[i] = exp(2 * p->value[i]); /* several powers of ten */
  idm_figure *figure =
      report_make("posterior", &(idm_plot_subject){.posterior = p, .problem = problem}, NULL);
  const idm_panel *panel = figure->panel[0];
  assert_true(panel->x.logarithmic);
  const idm_mark *prior = report_mark(panel, IDM_MARK_LINE, 0);
  const idm_mark *line = report_mark(panel, IDM_MARK_LINE, 1);
  assert_string_equal(prior->name, "prior");
  double point[300][2];
  for (int k = 0; k < 2; k++) {
    const idm_mark *mark = k ? line : prior;
    assert_int_equal(report_path(figure, 0, "line", mark->name, point, 300), mark->count);
    for (size_t i = 0; i < mark->count; i++) {
      assert_near(point[i][0] / mark->column[IDM_FIGURE_X][i], 1, 2e-3);
      assert_near(point[i][1], mark->column[IDM_FIGURE_Y][i], 2e-3);
    }
  }
  /* The prior of log alpha is a standard normal density over the logarithmic axis. The tolerance is
   * four standard deviations: with 20,000 draws and a bandwidth of .12 the maximum has a bias of
   * .003 and a standard deviation of .007. */
  for (size_t i = 0; i < prior->count; i++) {
    const double z = log(prior->column[IDM_FIGURE_X][i]);
    assert_near(prior->column[IDM_FIGURE_Y][i], exp(-z * z / 2) / sqrt(2 * acos(-1)), 0.03);
  }
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
  idm_problem_destroy(problem);
}

static void test_odd(void **state)
{
  (void)state;
  static const char *const names[] = {"one", "all alike", "nothing", "some"};
  idm_posterior *p = report_posterior(1, 4, names, 4);
  const double values[] = {1, 1, 1, 1, 2, 2, 2, 2, NAN, NAN, INFINITY, -INFINITY, 1, 2, NAN, 3};
  for (size_t i = 0; i < 16; i++) p->value[i] = values[i];
  idm_figure *figure = report_make("posterior", &(idm_plot_subject){.posterior = p}, NULL);
  assert_int_equal(figure->panels, 4);
  assert_null(report_mark(figure->panel[1], IDM_MARK_LINE, 0));
  assert_null(report_mark(figure->panel[1], IDM_MARK_POINTS, 0));
  assert_near(report_mark(figure->panel[1], IDM_MARK_RULES, 0)->column[IDM_FIGURE_X][0], 2, 0);
  assert_null(report_mark(figure->panel[2], IDM_MARK_RULES, 0));
  assert_near(integral(report_mark(figure->panel[3], IDM_MARK_LINE, 0)), 1, 1e-2);
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
  p = report_posterior(1, 1, names, 1);
  figure = report_make("posterior", &(idm_plot_subject){.posterior = p}, NULL);
  report_draw(figure);
  idm_figure_destroy(figure);
  p->summarised[0] = false;
  report_refusal("posterior", &(idm_plot_subject){.posterior = p}, NULL, IDM_USAGE);
  idm_posterior_destroy(p);
  report_refusal("posterior", &(idm_plot_subject){0}, NULL, IDM_USAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_densities), cmocka_unit_test(test_truth),
                                     cmocka_unit_test(test_drawing), cmocka_unit_test(test_odd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
