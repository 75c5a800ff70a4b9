/* Tests joint plots of two quantities: the share of draws inside each contour by direct counts, the
 * mode against a kernel density summed over all draws. */
#include <math.h>
#include <string.h>

#include "report/report_support.h"

/* Returns true if a point is inside closed lines, by the parity of the crossings of a ray. */
static bool is_inside(const idm_mark *m, double x, double y)
{
  const double *a = m->column[IDM_FIGURE_X], *b = m->column[IDM_FIGURE_Y];
  bool inside = false;
  for (size_t i = 0; i + 1 < m->count; i++) {
    if (isnan(a[i]) || isnan(a[i + 1]) || (b[i] > y) == (b[i + 1] > y)) continue;
    if (x < a[i] + (y - b[i]) / (b[i + 1] - b[i]) * (a[i + 1] - a[i])) inside = !inside;
  }
  return inside;
}

static void test_contours(void **state)
{
  (void)state;
  static const char *const names[] = {REPORT_HOSTILE, "inverse_beta", "eta"};
  static const double shares[] = {0.9, 0.5};
  idm_posterior *p = report_posterior(4, 500, names, 3);
  for (size_t i = 0; i < 2000; i++)
    p->value[2000 + i] += 1.5 * p->value[i]; /* a correlated ridge */
  idm_figure *figure = report_make("joint", &(idm_plot_subject){.posterior = p}, NULL);
  assert_int_equal(figure->panels, 3);
  const idm_panel *panel = figure->panel[0];
  assert_string_equal(panel->y.title, "1/beta");
  for (size_t k = 0; k < 2; k++) {
    const idm_mark *line = report_mark(panel, IDM_MARK_LINE, k);
    size_t inside = 0;
    assert_int_equal(line->dashed, k == 0);
    for (size_t i = 0; i < 2000; i++) inside += is_inside(line, p->value[i], p->value[2000 + i]);
    assert_near((double)inside / 2000, shares[k], 0.01);
  }
  const idm_mark *dots = report_mark(panel, IDM_MARK_POINTS, 0);
  assert_int_equal(dots->count, 400);
  for (size_t i = 0; i < 400; i++)
    if (!isnan(dots->column[IDM_FIGURE_X][i])) {
      assert_true(dots->column[IDM_FIGURE_X][i] == p->value[5 * i]);
      assert_true(dots->column[IDM_FIGURE_Y][i] == p->value[2000 + 5 * i]);
    }
  for (size_t d = 1; d < 3; d++) { /* marginal densities; the second is rotated */
    const idm_mark *line = report_mark(figure->panel[d], IDM_MARK_LINE, 0);
    const double *along = line->column[d == 1 ? IDM_FIGURE_X : IDM_FIGURE_Y];
    const double *height = line->column[d == 1 ? IDM_FIGURE_Y : IDM_FIGURE_X];
    double sum = 0;
    for (size_t i = 0; i + 1 < line->count; i++)
      sum += (along[i + 1] - along[i]) * (height[i + 1] + height[i]) / 2;
    assert_near(sum, 1, 2e-3);
    assert_int_equal(figure->panel[d]->place, d == 1 ? IDM_PANEL_ABOVE : IDM_PANEL_RIGHT);
    /* The density is drawn along the axis of the panel that it belongs to. */
    double point[100][2];
    assert_int_equal(report_path(figure, d, "line", "", point, 100), line->count);
    for (size_t i = 0; i < line->count; i++) {
      assert_near(point[i][d - 1], along[i], 0.02);
      assert_near(point[i][2 - d], height[i], 0.02);
    }
  }
  figure->panel[1]->parent_panel = 2; /* a marginal of a marginal is refused */
  char *text;
  idm_error error = {0};
  const idm_figure_options options = {.width = IDM_FIGURE_WIDE};
  assert_int_equal(idm_figure_svg(figure, &options, &text, &error), IDM_USAGE);
  figure->panel[1]->parent_panel = 0;
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

/* Returns the kernel density of two columns at a point, up to a constant factor, by the sum over
 * all `count` draws. */
static double density_at(const double *a, const double *b, size_t count, double x, double y)
{
  const double *const column[2] = {a, b};
  const double at[2] = {x, y};
  double width[2], sum = 0;
  for (int d = 0; d < 2; d++) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < count; i++) mean += column[d][i] / (double)count;
    for (size_t i = 0; i < count; i++)
      square += (column[d][i] - mean) * (column[d][i] - mean) / (double)count;
    width[d] = sqrt(square) * pow((double)count, -1.0 / 6);
  }
  for (size_t i = 0; i < count; i++) {
    double exponent = 0;
    for (int d = 0; d < 2; d++) {
      const double u = (column[d][i] - at[d]) / width[d];
      exponent += u * u / 2;
    }
    sum += exp(-exponent);
  }
  return sum;
}

/* The mode has the highest density; true values are marked by lines, and the axes include them. */
static void test_mode_and_truth(void **state)
{
  (void)state;
  static const char *const names[] = {"alpha", "inverse_beta"};
  static const char *const truth[] = {"1/beta=25", "alpha=0.125"};
  idm_posterior *p = report_posterior(4, 500, names, 2);
  const double *a = p->value, *b = p->value + 2000;
  const idm_plot_subject subject = {.posterior = p};
  idm_figure *figure = report_make("joint", &subject, NULL);
  const idm_mark *mode = report_mark(figure->panel[0], IDM_MARK_POINTS, 1);
  assert_string_equal(mode->name, "mode");
  assert_int_equal(mode->count, 1);
  const double top =
      density_at(a, b, 2000, mode->column[IDM_FIGURE_X][0], mode->column[IDM_FIGURE_Y][0]);
  /* A draw may have a slightly higher density than the mode: the mode is on a grid, and the library
   * uses the bandwidth of the interquartile range if that is narrower. */
  for (size_t i = 0; i < 2000; i++) assert_true(density_at(a, b, 2000, a[i], b[i]) < 1.02 * top);
  idm_figure_destroy(figure);
  for (size_t truths = 1; truths <= 2; truths++) {
    figure = report_make("joint", &subject, &(idm_plot_settings){.truths = truths, .truth = truth});
    const idm_panel *panel = figure->panel[0];
    const idm_mark *level = report_mark(panel, IDM_MARK_LEVELS, 0);
    assert_true(level->column[IDM_FIGURE_Y][0] == 25);
    assert_string_equal(level->name, truths == 1 ? "truth" : "");
    assert_true(panel->y.high == 25 && figure->panel[2]->y.high == 25 && panel->x.high < 25);
    if (truths == 2) {
      const idm_mark *rule = report_mark(panel, IDM_MARK_RULES, 0);
      assert_string_equal(rule->name, "truth");
      assert_true(rule->column[IDM_FIGURE_X][0] == 0.125);
    }
    report_draw(figure);
    idm_figure_destroy(figure);
  }
  idm_posterior_destroy(p);
}

static void test_odd(void **state)
{
  (void)state;
  static const char *const names[] = {"a", "b", "c"};
  static const char *const three[] = {"a", "b", "c"};
  idm_posterior *p = report_posterior(1, 3, names, 3);
  const idm_plot_subject subject = {.posterior = p};
  const idm_plot_settings chosen = {.quantities = 3, .quantity = three};
  assert_non_null(strstr(report_refusal("joint", &subject, &chosen, IDM_USAGE), "two quantities"));
  const idm_plot_settings one = {.quantities = 1, .quantity = three};
  assert_non_null(strstr(report_refusal("joint", &subject, &one, IDM_USAGE), "1 is there"));
  /* One quantity is constant, the other partly not finite. */
  for (size_t i = 0; i < 3; i++) p->value[i] = 4;
  p->value[3] = NAN;
  p->value[4] = INFINITY;
  idm_figure *figure = report_make("joint", &subject, NULL);
  assert_null(report_mark(figure->panel[0], IDM_MARK_LINE, 0));
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
  p = report_posterior(1, 1, names, 2);
  figure = report_make("joint", &(idm_plot_subject){.posterior = p}, NULL);
  report_draw(figure);
  idm_figure_destroy(figure);
  idm_posterior_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_contours),
                                     cmocka_unit_test(test_mode_and_truth),
                                     cmocka_unit_test(test_odd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
