/* Tests SVG drawings: well-formed for all kinds of figures and hostile names; positions of marks,
 * frames and labels are read back from the drawing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"
#include "report/markup.h"

static idm_figure *new_figure(size_t columns)
{
  idm_figure *figure;
  check(idm_figure_create("", "what is seen", columns, &figure, &support_error));
  return figure;
}

static idm_panel *new_panel(idm_figure *figure, const char *title)
{
  idm_panel *panel;
  check(idm_figure_add(figure, title, "x", "y", &panel, &support_error));
  return panel;
}

/* Adds a mark of uniform random numbers. */
static idm_mark *new_mark(idm_panel *panel, idm_mark_kind kind, const char *name, size_t count,
                          idm_random *random)
{
  idm_mark *mark;
  check(idm_panel_add(panel, kind, name, (int)kind, count, &mark, &support_error));
  for (int c = 0; c < IDM_FIGURE_COLUMNS; c++)
    for (size_t i = 0; mark->column[c] && i < count; i++)
      mark->column[c][i] = idm_random_uniform(random);
  return mark;
}

/* --- reading back --------------------------------------------------------------------------- */

typedef struct axis {
  double low, high, from, to;
  bool logarithmic;
} axis;

static axis read_axis(const char *panel, const char *name)
{
  axis a;
  char kind[16], key[16];
  snprintf(key, sizeof key, "data-%s=\"", name);
  const char *at = strstr(panel, key);
  assert_non_null(at);
  assert_int_equal(
      sscanf(at + strlen(key), "%lf %lf %lf %lf %15[a-z]", &a.low, &a.high, &a.from, &a.to, kind),
      5);
  a.logarithmic = strcmp(kind, "log") == 0;
  return a;
}

static double number_at(axis a, double place)
{
  const double part = (place - a.from) / (a.to - a.from);
  return a.logarithmic ? a.low * pow(a.high / a.low, part) : a.low + part * (a.high - a.low);
}

/* Points on linear and logarithmic axes equal their numbers within the rounding of coordinates to
 * hundredths of a pixel. */
static void points_read_back(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 5, 0);
  for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
    idm_figure *figure = new_figure(1);
    idm_panel *panel = new_panel(figure, "");
    const idm_mark *mark = new_mark(panel, IDM_MARK_POINTS, "p", 20, &random);
    panel->x.logarithmic = panel->y.logarithmic = logarithmic;
    char *text = figure_draw(figure, IDM_FIGURE_WIDE);
    const axis x = read_axis(text, "x"), y = read_axis(text, "y");
    assert_true(x.logarithmic == logarithmic);
    const char *at = strstr(text, "data-kind=\"points\"");
    for (size_t i = 0; i < 20; i++) {
      double place[2];
      at = strstr(at + 1, "<circle");
      assert_int_equal(sscanf(at, "<circle cx=\"%lf\" cy=\"%lf\"", &place[0], &place[1]), 2);
      for (int k = 0; k < 2; k++) {
        const axis a = k ? y : x;
        const double number = mark->column[k ? IDM_FIGURE_Y : IDM_FIGURE_X][i];
        const double pixel = a.logarithmic ? number * log(a.high / a.low) : a.high - a.low;
        assert_near(number_at(a, place[k]), number, 0.0051 * pixel / fabs(a.to - a.from) * 1.01);
      }
    }
    free(text);
    idm_figure_destroy(figure);
  }
}

/* --- odd figures ---------------------------------------------------------------------------- */

static void all_kinds(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 6, 0);
  idm_figure *figure = new_figure(3);
  for (int simplex = 0; simplex < 2; simplex++)
    for (int kind = 0; kind < IDM_MARK_COUNT; kind++) {
      idm_panel *panel = new_panel(figure, figure_hostile);
      idm_mark *mark = new_mark(panel, (idm_mark_kind)kind, figure_hostile, 4, &random);
      if (simplex) SUPPORT_NAMES(&panel->corner, "a", figure_hostile, "c");
      SUPPORT_NAMES(&mark->label, "a", "b", figure_hostile, "d");
      /* Marks with a number that is not finite are omitted. */
      for (int c = 0; c < IDM_FIGURE_COLUMNS; c++)
        if (mark->column[c])
          mark->column[c][1] = NAN, mark->column[c][2] = c % 2 ? -INFINITY : INFINITY;
    }
  for (int narrow = 0; narrow < 2; narrow++) {
    char *text = figure_draw(figure, narrow ? IDM_FIGURE_NARROW : IDM_FIGURE_WIDE);
    assert_int_equal(figure_count(text, "class=\"panel\""), figure->panels);
    assert_true(figure_count(text, "&lt;script&gt;") >= figure->panels);
    free(text);
  }
  idm_figure_destroy(figure);
}

static void nothing_to_see(void **state)
{
  (void)state;
  idm_figure *figure = new_figure(3);
  char *text = figure_draw(figure, IDM_FIGURE_WIDE);
  assert_int_equal(figure_count(text, "class=\"panel\""), 0);
  free(text);
  idm_panel *panel = new_panel(figure, ""); /* without marks */
  idm_mark *mark;
  panel = new_panel(figure, "");
  check(idm_panel_add(panel, IDM_MARK_LINE, "none", 0, 0, &mark, &support_error));
  panel = new_panel(figure, ""); /* all numbers are equal */
  check(idm_panel_add(panel, IDM_MARK_LINE, "zero", 0, 5, &mark, &support_error));
  panel = new_panel(figure, ""); /* no number has a logarithm */
  check(idm_panel_add(panel, IDM_MARK_POINTS, "zero", 0, 5, &mark, &support_error));
  panel->x.logarithmic = panel->y.logarithmic = true;
  panel = new_panel(figure, ""); /* reversed ends */
  panel->x.low = 3;
  panel->x.high = 1;
  text = figure_draw(figure, IDM_FIGURE_WIDE);
  assert_int_equal(figure_count(text, "class=\"panel\""), 5);
  assert_int_equal(figure_count(text, "<circle"), 0);
  free(text);
  idm_figure_destroy(figure);
}

/* With 1000 rows or columns only some are labelled, so that labels do not overlap (checked by their
 * number). */
static void many_categories(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 7, 0);
  for (int along_x = 0; along_x < 2; along_x++) {
    idm_figure *figure = new_figure(1);
    idm_panel *panel = new_panel(figure, "");
    idm_labels *category = along_x ? &panel->x.category : &panel->y.category;
    check(idm_labels_create(category, 1000, &support_error));
    for (size_t i = 0; i < 1000; i++) {
      char name[24];
      const int length = snprintf(name, sizeof name, "category%zu", i);
      check(idm_labels_set(category, i, name, (size_t)length, &support_error));
    }
    idm_mark *mark = new_mark(panel, IDM_MARK_FOREST, "f", 1000, &random);
    for (size_t i = 0; i < 1000; i++)
      mark->column[along_x ? IDM_FIGURE_X : IDM_FIGURE_Y][i] = (double)i;
    char *text = figure_draw(figure, IDM_FIGURE_WIDE);
    const size_t named = figure_count(text, ">ca");
    assert_in_range(named, 2, along_x ? 20 : 200);
    free(text);
    idm_figure_destroy(figure);
  }
}

static void looks(void **state)
{
  (void)state;
  idm_figure *figure = new_figure(1);
  idm_figure_options options = {.width = 99};
  char *text;
  new_panel(figure, "");
  assert_int_equal(idm_figure_svg(figure, &options, &text, NULL), IDM_USAGE);
  assert_null(text);
  options.width = NAN;
  assert_int_equal(idm_figure_svg(figure, &options, &text, NULL), IDM_USAGE);
  options = (idm_figure_options){.width = 300, .id = figure_hostile, .without_style = true};
  check(idm_figure_svg(figure, &options, &text, &support_error));
  figure_well_formed(text);
  assert_null(strstr(text, "<style"));
  free(text);
  options = (idm_figure_options){.width = 300, .theme = IDM_THEME_DARK};
  check(idm_figure_svg(figure, &options, &text, &support_error));
  figure_well_formed(text);
  assert_int_equal(figure_count(text, "<style>"), 1);
  assert_null(strstr(text, "prefers-color-scheme"));
  free(text);
  idm_figure_destroy(figure);
}

/* Marks of the same name and colour have one entry in the legend; marks without a name have none.
 */
static void legends(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 8, 0);
  idm_figure *figure = new_figure(2);
  for (int i = 0; i < 2; i++) {
    idm_panel *panel = new_panel(figure, "");
    new_mark(panel, IDM_MARK_LINE, "seen twice", 3, &random);
    new_mark(panel, IDM_MARK_BAND, "", 3, &random);
  }
  char *text = figure_draw(figure, IDM_FIGURE_WIDE);
  assert_int_equal(figure_count(text, ">seen twice</text>"), 1);
  free(text);
  idm_figure_destroy(figure);
}

/* Frames are inside the page and do not overlap at any width. */
static void frames_apart(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 9, 0);
  for (double width = 100; width < 1000; width *= 1.3) {
    idm_figure *figure = new_figure(4);
    for (int i = 0; i < 7; i++) {
      idm_panel *panel = new_panel(figure, "panel");
      new_mark(panel, IDM_MARK_LINE, "l", 3, &random);
    }
    char *text = figure_draw(figure, width);
    double box[7][4];
    const char *at = text;
    for (int i = 0; i < 7; i++) {
      at = strstr(at + 1, "<rect class=\"frame\"");
      assert_non_null(at);
      double *b = box[i];
      assert_int_equal(sscanf(strstr(at, " x="),
                              " x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &b[0], &b[1],
                              &b[2], &b[3]),
                       4);
      assert_true(b[0] >= 0 && b[0] + b[2] <= width && b[2] > 20 && b[3] > 20);
      for (int k = 0; k < i; k++)
        assert_true(b[0] >= box[k][0] + box[k][2] || box[k][0] >= b[0] + b[2] ||
                    b[1] >= box[k][1] + box[k][3] || box[k][1] >= b[1] + b[3]);
    }
    free(text);
    idm_figure_destroy(figure);
  }
}

/* Labels do not overlap for any range of numbers and width: ticks of the vertical axis are to the
 * right of its title; those of the horizontal axis are side by side and inside the figure. */
static void words_apart(void **state)
{
  (void)state;
  static const double range[][2] = {{0, 1}, {-3e-9, 2e-9}, {9.7e8, 1.04e9}, {1e5, 1e5 + 3e-4}};
  for (size_t k = 0; k < 4; k++)
    for (double width = 200; width < 700; width += 37) {
      idm_figure *figure = new_figure(1);
      idm_panel *panel = new_panel(figure, "");
      panel->aspect = 0.25;
      check(idm_panel_plot(panel, IDM_MARK_POINTS, "", 0, 2, range[k], range[k], &support_error));
      char *text = figure_draw(figure, width), words[64];
      double title, last = 0, x, y;
      const char *at = strstr(text, "translate(");
      assert_non_null(at);
      assert_int_equal(sscanf(at, "translate(%lf", &title), 1);
      for (at = text; (at = strstr(at, "text-anchor=\"end\"")); at++) {
        assert_int_equal(
            sscanf(at, "text-anchor=\"end\" x=\"%lf\" y=\"%lf\">%63[^<]", &x, &y, words), 3);
        assert_true(x - 10 * idm_text_width(words) > title + 1);
      }
      for (at = text; (at = strstr(at, "text-anchor=\"middle\"")); at++) {
        if (sscanf(at, "text-anchor=\"middle\" x=\"%lf\" y=\"%lf\">%63[^<]", &x, &y, words) != 3 ||
            strcmp(words, "x") == 0 || strcmp(words, "y") == 0)
          continue;
        const double half = 5 * idm_text_width(words);
        assert_true(x - half > last && x + half < width + 0.01);
        last = x + half;
      }
      assert_true(last > 0);
      free(text);
      idm_figure_destroy(figure);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(points_read_back),
                                     cmocka_unit_test(all_kinds),
                                     cmocka_unit_test(nothing_to_see),
                                     cmocka_unit_test(many_categories),
                                     cmocka_unit_test(looks),
                                     cmocka_unit_test(legends),
                                     cmocka_unit_test(frames_apart),
                                     cmocka_unit_test(words_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
