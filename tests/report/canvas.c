/* Tests the drawing of each kind of mark on a panel against page coordinates computed by hand. */
#include "report/markup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_support.h"

typedef struct sheet {
  idm_figure *figure;
  idm_panel *panel;
  idm_markup markup;
  idm_canvas canvas;
} sheet;

/* Opens a panel with x from 0 to 10 over 100 pixels and y from 0 to 1 over 50 pixels, upwards; if
 * `simplex`, a panel whose axes are a simplex. */
static void open_sheet(sheet *s, bool simplex)
{
  *s = (sheet){0};
  check(idm_figure_create("", "", 1, &s->figure, &support_error));
  check(idm_figure_add(s->figure, "", "", "", &s->panel, &support_error));
  if (simplex) SUPPORT_NAMES(&s->panel->corner, "a", "b", "c");
  s->canvas = (idm_canvas){.to = &s->markup,
                           .panel = s->panel,
                           .left = 20,
                           .top = 10,
                           .width = 100,
                           .height = 50,
                           .x = {.low = 0, .high = 10, .from = 20, .to = 120},
                           .y = {.low = 0, .high = 1, .from = 60, .to = 10}};
}

static idm_mark *put(sheet *s, idm_mark_kind kind, size_t count)
{
  idm_mark *mark;
  check(idm_panel_add(s->panel, kind, "m", 0, count, &mark, &support_error));
  return mark;
}

static void expect(sheet *s, const char *part)
{
  char *text;
  idm_canvas_draw_marks(&s->canvas);
  check(idm_markup_take(&s->markup, &text, &support_error));
  figure_well_formed(text);
  if (!strstr(text, part)) fail_msg("'%s' is not in %s", part, text);
  free(text);
  idm_figure_destroy(s->figure);
}

static void places(void **state)
{
  (void)state;
  sheet s;
  double x, y;
  open_sheet(&s, false);
  assert_true(idm_canvas_position(&s.canvas, 5, 0.5, &x, &y));
  assert_near(x, 70, 1e-12);
  assert_near(y, 35, 1e-12);
  assert_true(!idm_canvas_position(&s.canvas, NAN, 0.5, &x, &y));
  assert_true(!idm_canvas_position(&s.canvas, 1, INFINITY, &x, &y));
  s.canvas.x.logarithmic = true;
  s.canvas.x.low = 0.1;
  assert_true(idm_canvas_position(&s.canvas, 1, 0.5, &x, &y));
  assert_near(x, 70, 1e-9);
  assert_true(!idm_canvas_position(&s.canvas, 0, 0.5, &x, &y));
  idm_figure_destroy(s.figure);
}

/* The first corner is on the left, the second on the right, the third on top. */
static void corners(void **state)
{
  (void)state;
  static const double at[][4] = {
      {1, 0, 20, 60}, {0, 1, 120, 60}, {0, 0, 70, 10}, {1.0 / 3, 1.0 / 3, 70, 60 - 50.0 / 3}};
  sheet s;
  open_sheet(&s, true);
  assert_true(idm_canvas_is_simplex(&s.canvas));
  for (size_t i = 0; i < 4; i++) {
    double x, y;
    assert_true(idm_canvas_position(&s.canvas, at[i][0], at[i][1], &x, &y));
    assert_near(x, at[i][2], 1e-12);
    assert_near(y, at[i][3], 1e-12);
  }
  idm_figure_destroy(s.figure);
}

static void lines(void **state)
{
  (void)state;
  sheet s;
  open_sheet(&s, false);
  idm_mark *mark = put(&s, IDM_MARK_LINE, 4);
  const double x[] = {0, 5, NAN, 10}, y[] = {0, 1, 1, 0.5};
  memcpy(mark->column[IDM_FIGURE_X], x, sizeof x);
  memcpy(mark->column[IDM_FIGURE_Y], y, sizeof y);
  expect(&s, "d=\"M20 60L70 10M120 35\""); /* the line is interrupted at a missing number */
}

static void bands(void **state)
{
  (void)state;
  sheet s;
  open_sheet(&s, false);
  idm_mark *mark = put(&s, IDM_MARK_BAND, 2);
  mark->column[IDM_FIGURE_X][1] = 10;
  mark->column[IDM_FIGURE_HIGH][0] = 1;
  mark->column[IDM_FIGURE_HIGH][1] = 0.5;
  expect(&s, "d=\"M20 60L120 60L120 35L20 10Z\"");
}

static void bars(void **state)
{
  (void)state;
  sheet s;
  open_sheet(&s, false);
  idm_mark *mark = put(&s, IDM_MARK_BARS, 1);
  mark->column[IDM_FIGURE_X][0] = 2;
  mark->column[IDM_FIGURE_RIGHT][0] = 4;
  mark->column[IDM_FIGURE_Y][0] = 0.8;
  expect(&s, "<rect x=\"40\" y=\"20\" width=\"20\" height=\"40\"");
}

/* Intervals that extend beyond the panel are clipped at its edge. */
static void intervals(void **state)
{
  (void)state;
  sheet s;
  open_sheet(&s, false);
  idm_mark *mark = put(&s, IDM_MARK_RANGES, 1);
  mark->column[IDM_FIGURE_X][0] = 5;
  mark->column[IDM_FIGURE_Y][0] = 0.5;
  mark->column[IDM_FIGURE_LOW][0] = 0.2;
  mark->column[IDM_FIGURE_HIGH][0] = INFINITY;
  expect(&s, "d=\"M70 50L70 10\"");
  open_sheet(&s, false);
  mark = put(&s, IDM_MARK_FOREST, 1);
  mark->column[IDM_FIGURE_X][0] = mark->column[IDM_FIGURE_INNER_LOW][0] = 5;
  mark->column[IDM_FIGURE_Y][0] = 0.5;
  mark->column[IDM_FIGURE_LOW][0] = 4;
  mark->column[IDM_FIGURE_INNER_HIGH][0] = mark->column[IDM_FIGURE_HIGH][0] = 6;
  expect(&s, "d=\"M60 35L80 35\"");
}

/* Line width and opacity depend on the number of rows of the panel, not on that of one mark: many
 * rows are thin and translucent. */
static void many_rows(void **state)
{
  (void)state;
  static const struct {
    double rows;
    const char *part;
  } rooms[] = {{3, "stroke-width=\"1.3\" d=\"M60 10L80 10\"/>"},
               {10, "stroke-width=\"2.5\" d=\"M65 10L75 10\"/><circle"},
               {20, "d=\"M60 10L80 10\"/><g><circle"},
               {500, "<g stroke-opacity=\"0.35\"><path stroke=\"currentColor\" "
                     "stroke-linecap=\"round\" stroke-width=\"0.5\" d=\"M60 10L80 10\"><title>m, "
                     "x 5, y 500, low 4, high 6, inner_low 4.5, inner_high 5.5</title></path></g>"
                     "<g pointer-events=\"none\"><circle cx=\"70\" cy=\"10\" r=\"1\" "
                     "fill=\"currentColor\"/></g>"}};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    sheet s;
    open_sheet(&s, false);
    s.canvas.y.high = rooms[i].rows;
    idm_mark *mark = put(&s, IDM_MARK_FOREST, 1);
    const double row[] = {[IDM_FIGURE_X] = 5,    [IDM_FIGURE_Y] = rooms[i].rows,
                          [IDM_FIGURE_LOW] = 4,  [IDM_FIGURE_INNER_LOW] = 4.5,
                          [IDM_FIGURE_HIGH] = 6, [IDM_FIGURE_INNER_HIGH] = 5.5};
    for (size_t c = 0; c < sizeof row / sizeof *row; c++)
      if (mark->column[c]) mark->column[c][0] = row[c];
    expect(&s, rooms[i].part);
  }
}

static void cells(void **state)
{
  (void)state;
  sheet s;
  open_sheet(&s, false);
  idm_mark *mark = put(&s, IDM_MARK_CELLS, 3);
  for (size_t i = 0; i < 3; i++) {
    mark->column[IDM_FIGURE_X][i] = (double)i;
    mark->column[IDM_FIGURE_RIGHT][i] = (double)i + 1;
    mark->column[IDM_FIGURE_TOP][i] = 1;
    mark->column[IDM_FIGURE_VALUE][i] = i == 0 ? 0 : i == 1 ? 0.25 : 3;
  }
  expect(&s, "crispEdges\"><rect x=\"30\" y=\"10\" width=\"10\" height=\"50\" "
             "fill-opacity=\"0.25\"/><rect x=\"40\" y=\"10\" width=\"10\" height=\"50\" "
             "fill-opacity=\"1\"/></g>");
}

/* Triangles of equal opacity are drawn as one path; a triangle that points down has a negative
 * side. */
static void triangles(void **state)
{
  (void)state;
  sheet s;
  open_sheet(&s, true);
  idm_mark *mark = put(&s, IDM_MARK_CELLS, 4);
  const double x[] = {1, 0, 0, NAN}, y[] = {0, 0.5, 0, 0}, right[] = {1.5, -0.5, 0.5, 1};
  const double value[] = {0.5, 0.5, 0, 0.7};
  memcpy(mark->column[IDM_FIGURE_X], x, sizeof x);
  memcpy(mark->column[IDM_FIGURE_Y], y, sizeof y);
  memcpy(mark->column[IDM_FIGURE_RIGHT], right, sizeof right);
  memcpy(mark->column[IDM_FIGURE_VALUE], value, sizeof value);
  expect(&s, "<path fill-opacity=\"0.5\" d=\"M20 60L70 60L45 35ZM95 35L45 35L70 60Z\"/>");
}

static void rules(void **state)
{
  (void)state;
  sheet s;
  open_sheet(&s, false);
  put(&s, IDM_MARK_RULES, 1)->column[IDM_FIGURE_X][0] = 2;
  expect(&s, "d=\"M40 10L40 60\"");
  open_sheet(&s, false);
  put(&s, IDM_MARK_LEVELS, 1)->column[IDM_FIGURE_Y][0] = 0.4;
  expect(&s, "d=\"M20 40L120 40\"");
}

/* An arrow ends slightly before its target; an arrow of length 0 is not drawn. */
static void arrows(void **state)
{
  (void)state;
  sheet s;
  open_sheet(&s, false);
  idm_mark *mark = put(&s, IDM_MARK_ARROWS, 2);
  mark->column[IDM_FIGURE_RIGHT][0] = 10;
  expect(&s, "M116.8 60L111.8 62.25L111.8 57.75Z\"/></g>");
}

static void words(void **state)
{
  (void)state;
  sheet s;
  open_sheet(&s, false);
  idm_mark *mark = put(&s, IDM_MARK_NOTES, 1);
  SUPPORT_NAMES(&mark->label, "a < b");
  mark->column[IDM_FIGURE_X][0] = 5;
  mark->column[IDM_FIGURE_Y][0] = 0.5;
  expect(&s, "x=\"70\" y=\"38.5\">a &lt; b</text>");
  open_sheet(&s, false);
  mark = put(&s, IDM_MARK_STEPS, 1);
  SUPPORT_NAMES(&mark->label, "7");
  mark->column[IDM_FIGURE_X][0] = 5;
  expect(&s, "d=\"M70 60L66 52L74 52Z\"");
}

/* Bars, bands, rules and levels are not drawn in a simplex. Colour numbers beyond the palette are
 * taken modulo its size. */
static void what_is_not_drawn(void **state)
{
  (void)state;
  static const bool there[IDM_MARK_COUNT] = {[IDM_MARK_LINE] = true,
                                             [IDM_MARK_POINTS] = true,
                                             [IDM_MARK_CELLS] = true,
                                             [IDM_MARK_ARROWS] = true,
                                             [IDM_MARK_NOTES] = true};
  for (int kind = 0; kind < IDM_MARK_COUNT; kind++) {
    sheet s;
    open_sheet(&s, true);
    put(&s, (idm_mark_kind)kind, 1)->colour = IDM_COLOURS + 3;
    idm_canvas_draw_marks(&s.canvas);
    assert_true((s.markup.length > 0) == there[kind]);
    if (s.markup.length) assert_non_null(strstr(s.markup.text, "class=\"mark c3\""));
    free(s.markup.text);
    idm_figure_destroy(s.figure);
  }
}

static void samples(void **state)
{
  (void)state;
  for (int kind = 0; kind < IDM_MARK_COUNT; kind++) {
    idm_markup m = {0};
    char *text;
    const idm_mark mark = {.kind = (idm_mark_kind)kind, .colour = IDM_COLOUR_NEUTRAL};
    idm_markup_add(&m, "<g>");
    idm_canvas_draw_sample(&m, &mark, 10, 20, 15);
    idm_markup_add(&m, "</g>");
    check(idm_markup_take(&m, &text, &support_error));
    figure_well_formed(text);
    assert_non_null(strstr(text, "class=\"c7\""));
    free(text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(places),
                                     cmocka_unit_test(corners),
                                     cmocka_unit_test(lines),
                                     cmocka_unit_test(bands),
                                     cmocka_unit_test(bars),
                                     cmocka_unit_test(intervals),
                                     cmocka_unit_test(many_rows),
                                     cmocka_unit_test(cells),
                                     cmocka_unit_test(triangles),
                                     cmocka_unit_test(rules),
                                     cmocka_unit_test(arrows),
                                     cmocka_unit_test(words),
                                     cmocka_unit_test(what_is_not_drawn),
                                     cmocka_unit_test(samples)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
