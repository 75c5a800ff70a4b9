/* Marks on a panel: a function a kind.
 *
 * Contents: places · lines and areas · points and intervals · cells · rules · arrows · words · all
 */
#include "report/canvas.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "report/letters.h"

static const double word = 10; /* size of words, in pixels */

/* --- places --------------------------------------------------------------------------------- */

bool idm_canvas_is_simplex(const idm_canvas *canvas)
{
  return canvas->panel->corner.count == 3;
}

bool idm_canvas_place(const idm_canvas *canvas, double x, double y, double *ret_x, double *ret_y)
{
  if (idm_canvas_is_simplex(canvas)) {
    /* The first corner is on the left, the second on the right, the third on top. */
    const double up = 1 - x - y;
    *ret_x = canvas->left + canvas->width * (y + 0.5 * up);
    *ret_y = canvas->top + canvas->height * (1 - up);
  } else {
    *ret_x = idm_scale_place(&canvas->x, x);
    *ret_y = idm_scale_place(&canvas->y, y);
  }
  return isfinite(*ret_x) && isfinite(*ret_y);
}

static double column(const idm_mark *mark, idm_figure_column of, size_t i)
{
  return mark->column[of][i];
}

/* "x y" behind a letter of a path. */
static void go(idm_markup *m, char letter, double x, double y)
{
  idm_markup_raw(m, &letter, 1);
  idm_markup_place(m, x);
  idm_markup_raw(m, " ", 1);
  idm_markup_place(m, y);
}

/* What a mark is called where the reader points at it: its name or label, and numbers. */
static void add_hint(idm_markup *m, const idm_mark *mark, size_t i)
{
  const char *said = mark->label.count ? mark->label.name[i] : mark->name;
  idm_markup_add(m, "<title>");
  idm_markup_text(m, said);
  for (size_t c = 0; c < IDM_FIGURE_COLUMNS; c++) {
    if (!mark->column[c] || !isfinite(mark->column[c][i])) continue;
    idm_markup_add(m, "%s%s %.4g", *said || c ? ", " : "",
                   idm_figure_column_name((idm_figure_column)c), mark->column[c][i]);
  }
  idm_markup_add(m, "</title>");
}

/* --- lines and areas ------------------------------------------------------------------------ */

/* Whether a line turns back more often than it goes on, and that often. */
static bool is_restless(const idm_mark *mark)
{
  const double *y = mark->column[IDM_FIGURE_Y];
  size_t turns = 0;
  for (size_t i = 2; i < mark->count; i++) turns += (y[i] - y[i - 1]) * (y[i - 1] - y[i - 2]) < 0;
  return turns > 60 && turns > mark->count / 4;
}

/* A line that goes up and down as often as the panel has pixels is thin. */
static void draw_line(const idm_canvas *c, const idm_mark *mark)
{
  bool down = false;
  idm_markup_add(c->to,
                 "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"%s\" "
                 "stroke-linejoin=\"round\"%s d=\"",
                 is_restless(mark) ? "0.6" : "1.6",
                 mark->dashed ? " stroke-dasharray=\"4 3\"" : "");
  for (size_t i = 0; i < mark->count; i++) {
    double x, y;
    const bool there =
        idm_canvas_place(c, column(mark, IDM_FIGURE_X, i), column(mark, IDM_FIGURE_Y, i), &x, &y);
    if (there) go(c->to, down ? 'L' : 'M', x, y);
    down = there;
  }
  idm_markup_add(c->to, "\"/>");
}

/* Along the lower ends and back along the upper ones. */
static void draw_band(const idm_canvas *c, const idm_mark *mark)
{
  bool down = false;
  idm_markup_add(c->to, "<path fill=\"currentColor\" fill-opacity=\"0.22\" d=\"");
  for (size_t k = 0; k < 2 * mark->count; k++) {
    const bool back = k >= mark->count;
    const size_t i = back ? 2 * mark->count - 1 - k : k;
    double x, y;
    if (!idm_canvas_place(c, column(mark, IDM_FIGURE_X, i),
                          column(mark, back ? IDM_FIGURE_HIGH : IDM_FIGURE_LOW, i), &x, &y))
      continue;
    go(c->to, down ? 'L' : 'M', x, y);
    down = true;
  }
  idm_markup_add(c->to, "%s\"/>", down ? "Z" : "");
}

static void add_box(const idm_canvas *c, double x0, double y0, double x1, double y1)
{
  idm_markup_add(c->to, "<rect");
  idm_markup_at(c->to, "x", fmin(x0, x1));
  idm_markup_at(c->to, "y", fmin(y0, y1));
  idm_markup_at(c->to, "width", fabs(x1 - x0));
  idm_markup_at(c->to, "height", fabs(y1 - y0));
}

static void draw_bars(const idm_canvas *c, const idm_mark *mark)
{
  for (size_t i = 0; i < mark->count; i++) {
    double x0, y0, x1, y1;
    if (!idm_canvas_place(c, column(mark, IDM_FIGURE_X, i), fmax(c->y.low, 0), &x0, &y0) ||
        !idm_canvas_place(c, column(mark, IDM_FIGURE_RIGHT, i), column(mark, IDM_FIGURE_Y, i), &x1,
                          &y1))
      continue;
    add_box(c, x0, y0, x1, y1);
    idm_markup_add(c->to, " class=\"ring\" fill=\"currentColor\" fill-opacity=\"0.55\" "
                          "stroke-width=\"0.5\">");
    add_hint(c->to, mark, i);
    idm_markup_add(c->to, "</rect>");
  }
}

/* --- points and intervals ------------------------------------------------------------------- */

/* A stroke that is left open, for what is said of it. */
static void begin_stroke(const idm_canvas *c, double x0, double y0, double x1, double y1,
                         double thick)
{
  idm_markup_add(c->to, "<path stroke=\"currentColor\" stroke-linecap=\"round\"");
  idm_markup_at(c->to, "stroke-width", thick);
  idm_markup_add(c->to, " d=\"");
  go(c->to, 'M', x0, y0);
  go(c->to, 'L', x1, y1);
  idm_markup_add(c->to, "\"");
}

static void add_stroke(const idm_canvas *c, double x0, double y0, double x1, double y1,
                       double thick)
{
  begin_stroke(c, x0, y0, x1, y1, thick);
  idm_markup_add(c->to, "/>");
}

/* A small one has no ring, which would hide it. */
static void add_dot(const idm_canvas *c, const idm_mark *mark, size_t i, double radius, double dark,
                    bool said)
{
  double x, y;
  if (!idm_canvas_place(c, column(mark, IDM_FIGURE_X, i), column(mark, IDM_FIGURE_Y, i), &x, &y))
    return;
  idm_markup_add(c->to, "<circle");
  idm_markup_at(c->to, "cx", x);
  idm_markup_at(c->to, "cy", y);
  idm_markup_at(c->to, "r", radius);
  if (radius >= 1.4) idm_markup_add(c->to, " class=\"ring\" stroke-width=\"0.6\"");
  idm_markup_add(c->to, " fill=\"currentColor\"");
  if (dark < 1) idm_markup_at(c->to, "fill-opacity", dark);
  idm_markup_add(c->to, said ? ">" : "/>");
  if (!said) return;
  add_hint(c->to, mark, i);
  idm_markup_add(c->to, "</circle>");
}

/* Many points are small and let others shine through. */
static void draw_points(const idm_canvas *c, const idm_mark *mark)
{
  const double radius = mark->count > 400 ? 1.4 : mark->count > 60 ? 2 : 2.8;
  for (size_t i = 0; i < mark->count; i++)
    add_dot(c, mark, i, radius, mark->count > 60 ? 0.6 : 1, true);
}

/* An interval along x or y through item i, where it has one; with what is said of the item. */
static void add_interval(const idm_canvas *c, const idm_mark *mark, size_t i, bool along_x,
                         idm_figure_column low, idm_figure_column high, double thick, bool said)
{
  const double at = column(mark, along_x ? IDM_FIGURE_Y : IDM_FIGURE_X, i);
  const idm_scale_of_axis *scale = along_x ? &c->x : &c->y;
  double end[2] = {column(mark, low, i), column(mark, high, i)};
  double place[2][2];
  if (isnan(end[0]) || isnan(end[1])) return;
  /* What goes on beyond the panel is cut there. */
  for (int k = 0; k < 2; k++) end[k] = fmin(fmax(end[k], scale->low), scale->high);
  for (int k = 0; k < 2; k++)
    if (!idm_canvas_place(c, along_x ? end[k] : at, along_x ? at : end[k], &place[k][0],
                          &place[k][1]))
      return;
  begin_stroke(c, place[0][0], place[0][1], place[1][0], place[1][1], thick);
  idm_markup_add(c->to, said ? ">" : "/>");
  if (!said) return;
  add_hint(c->to, mark, i);
  idm_markup_add(c->to, "</path>");
}

static void draw_ranges(const idm_canvas *c, const idm_mark *mark)
{
  for (size_t i = 0; i < mark->count; i++) {
    add_interval(c, mark, i, false, IDM_FIGURE_LOW, IDM_FIGURE_HIGH, 1, false);
    add_dot(c, mark, i, mark->count > 60 ? 1.8 : 2.4, 1, true);
  }
}

/* Rows as thick as the panel has room for. Where they lie close, what lies below shines through,
 * the narrower interval is left out, and lines, which are easier to point at than points, say whose
 * they are. */
static void draw_forest(const idm_canvas *c, const idm_mark *mark)
{
  const double room = c->height / fmax(c->y.high - c->y.low, 1);
  const double outer = fmin(1.3, fmax(0.5, 0.2 * room)), inner = fmin(3.4, 0.5 * room);
  const bool close = room < 2;
  if (close) idm_markup_add(c->to, "<g stroke-opacity=\"0.35\">");
  for (size_t i = 0; i < mark->count; i++)
    add_interval(c, mark, i, true, IDM_FIGURE_LOW, IDM_FIGURE_HIGH, outer, close);
  idm_markup_add(c->to, close ? "</g><g pointer-events=\"none\">" : "<g>");
  for (size_t i = 0; i < mark->count; i++) {
    if (room >= 4)
      add_interval(c, mark, i, true, IDM_FIGURE_INNER_LOW, IDM_FIGURE_INNER_HIGH, inner, false);
    add_dot(c, mark, i, fmin(3, fmax(1, 0.3 * room)), 1, !close);
  }
  idm_markup_add(c->to, "</g>");
}

/* --- cells ---------------------------------------------------------------------------------- */

static void add_triangle(const idm_canvas *c, const idm_mark *mark, size_t i)
{
  const double x = column(mark, IDM_FIGURE_X, i), y = column(mark, IDM_FIGURE_Y, i);
  const double side = column(mark, IDM_FIGURE_RIGHT, i) - x;
  /* From the first corner's side: one step towards the second corner, one towards the third. */
  const double at[3][2] = {{x, y}, {x - side, y + side}, {x - side, y}};
  double place[3][2];
  for (int k = 0; k < 3; k++)
    if (!idm_canvas_place(c, at[k][0], at[k][1], &place[k][0], &place[k][1])) return;
  for (int k = 0; k < 3; k++) go(c->to, k ? 'L' : 'M', place[k][0], place[k][1]);
  idm_markup_raw(c->to, "Z", 1);
}

/* In hundredths, since that is what is written. */
static int darkness(const idm_mark *mark, size_t i)
{
  const double value = column(mark, IDM_FIGURE_VALUE, i);
  return value > 0 ? (int)lround(100 * fmin(value, 1)) : 0;
}

/* Of a simplex: those that are as dark as each other are one path, so that nothing shines through
 * between them, and all are lighter, since other marks lie upon them. */
static void draw_triangles(const idm_canvas *c, const idm_mark *mark)
{
  bool has[101] = {false};
  for (size_t i = 0; i < mark->count; i++) has[darkness(mark, i)] = true;
  idm_markup_add(c->to, "<g fill=\"currentColor\" opacity=\"0.6\" "
                        "shape-rendering=\"crispEdges\">");
  for (int level = 1; level <= 100; level++) {
    if (!has[level]) continue;
    idm_markup_add(c->to, "<path");
    idm_markup_at(c->to, "fill-opacity", level / 100.0);
    idm_markup_add(c->to, " d=\"");
    for (size_t i = 0; i < mark->count; i++)
      if (darkness(mark, i) == level) add_triangle(c, mark, i);
    idm_markup_add(c->to, "\"/>");
  }
  idm_markup_add(c->to, "</g>");
}

/* Cells without edges between them; how dark one is says its value. */
static void draw_cells(const idm_canvas *c, const idm_mark *mark)
{
  if (idm_canvas_is_simplex(c)) {
    draw_triangles(c, mark);
    return;
  }
  idm_markup_add(c->to, "<g fill=\"currentColor\" shape-rendering=\"crispEdges\">");
  for (size_t i = 0; i < mark->count; i++) {
    double x0, y0, x1, y1;
    if (!(column(mark, IDM_FIGURE_VALUE, i) > 0) ||
        !idm_canvas_place(c, column(mark, IDM_FIGURE_X, i), column(mark, IDM_FIGURE_Y, i), &x0,
                          &y0) ||
        !idm_canvas_place(c, column(mark, IDM_FIGURE_RIGHT, i), column(mark, IDM_FIGURE_TOP, i),
                          &x1, &y1))
      continue;
    add_box(c, x0, y0, x1, y1);
    idm_markup_at(c->to, "fill-opacity", fmin(column(mark, IDM_FIGURE_VALUE, i), 1));
    idm_markup_add(c->to, "/>");
  }
  idm_markup_add(c->to, "</g>");
}

/* --- rules ---------------------------------------------------------------------------------- */

static void add_rule(const idm_canvas *c, double x0, double y0, double x1, double y1)
{
  idm_markup_add(c->to, "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.1\" "
                        "stroke-dasharray=\"4 3\" d=\"");
  go(c->to, 'M', x0, y0);
  go(c->to, 'L', x1, y1);
  idm_markup_add(c->to, "\"/>");
}

static void draw_rules(const idm_canvas *c, const idm_mark *mark)
{
  for (size_t i = 0; i < mark->count; i++) {
    const double x = idm_scale_place(&c->x, column(mark, IDM_FIGURE_X, i));
    if (isfinite(x)) add_rule(c, x, c->top, x, c->top + c->height);
  }
}

static void draw_levels(const idm_canvas *c, const idm_mark *mark)
{
  for (size_t i = 0; i < mark->count; i++) {
    const double y = idm_scale_place(&c->y, column(mark, IDM_FIGURE_Y, i));
    if (isfinite(y)) add_rule(c, c->left, y, c->left + c->width, y);
  }
}

/* --- arrows --------------------------------------------------------------------------------- */

static void draw_arrows(const idm_canvas *c, const idm_mark *mark)
{
  for (size_t i = 0; i < mark->count; i++) {
    double x0, y0, x1, y1;
    if (!idm_canvas_place(c, column(mark, IDM_FIGURE_X, i), column(mark, IDM_FIGURE_Y, i), &x0,
                          &y0) ||
        !idm_canvas_place(c, column(mark, IDM_FIGURE_RIGHT, i), column(mark, IDM_FIGURE_TOP, i),
                          &x1, &y1))
      continue;
    const double length = hypot(x1 - x0, y1 - y0);
    if (!(length > 0.5)) continue;
    const double size = fmin(5, 0.5 * length);
    const double a = (x1 - x0) / length * size, b = (y1 - y0) / length * size;
    /* A little short of the end, where a point may stand. */
    const double rest = fmin(3.2, 0.3 * length) / size;
    x1 -= rest * a;
    y1 -= rest * b;
    add_stroke(c, x0, y0, x1 - 0.6 * a, y1 - 0.6 * b, 1.2);
    idm_markup_add(c->to, "<path fill=\"currentColor\" d=\"");
    go(c->to, 'M', x1, y1);
    go(c->to, 'L', x1 - a - 0.45 * b, y1 - b + 0.45 * a);
    go(c->to, 'L', x1 - a + 0.45 * b, y1 - b - 0.45 * a);
    idm_markup_add(c->to, "Z\"/>");
  }
}

/* --- words ---------------------------------------------------------------------------------- */

static void add_word(const idm_canvas *c, const char *text, double x, double y)
{
  idm_markup_add(c->to, "<text text-anchor=\"middle\"");
  idm_markup_at(c->to, "x", x);
  idm_markup_at(c->to, "y", y);
  idm_markup_add(c->to, ">");
  idm_markup_text(c->to, text);
  idm_markup_add(c->to, "</text>");
}

/* How far up the label of item i stands: above those before that it would lie upon, as far as the
 * panel goes. `up` holds theirs. */
static int level_of(const idm_canvas *c, const idm_mark *mark, size_t i, const int *up)
{
  const double x = idm_scale_place(&c->x, column(mark, IDM_FIGURE_X, i));
  const double width = idm_letters_width(mark->label.name[i]);
  const int most = (int)fmin(8, (c->height - 24) / word);
  int level = 0;
  for (size_t k = 0; k < i; k++) {
    const double other = idm_scale_place(&c->x, column(mark, IDM_FIGURE_X, k));
    const double both = 0.5 * word * (width + idm_letters_width(mark->label.name[k]));
    if (up[k] != level || !(fabs(x - other) < both + 2) || level >= most) continue;
    level++;
    k = (size_t)-1; /* from the first again */
  }
  return level;
}

/* Small triangles that stand on the panel's foot, with their labels on top. */
static void draw_steps(const idm_canvas *c, const idm_mark *mark)
{
  enum { labelled = 64 };
  const double foot = c->top + c->height;
  int up[labelled];
  for (size_t i = 0; i < mark->count; i++) {
    const double x = idm_scale_place(&c->x, column(mark, IDM_FIGURE_X, i));
    if (i < labelled) up[i] = -1;
    if (!isfinite(x)) continue;
    idm_markup_add(c->to, "<path fill=\"currentColor\" d=\"");
    go(c->to, 'M', x, foot);
    go(c->to, 'L', x - 4, foot - 8);
    go(c->to, 'L', x + 4, foot - 8);
    idm_markup_add(c->to, "Z\">");
    add_hint(c->to, mark, i);
    idm_markup_add(c->to, "</path>");
    if (!mark->label.count || i >= labelled) continue;
    up[i] = level_of(c, mark, i, up);
    add_word(c, mark->label.name[i], x, foot - 11 - word * up[i]);
  }
}

static void draw_notes(const idm_canvas *c, const idm_mark *mark)
{
  for (size_t i = 0; i < mark->count && mark->label.count; i++) {
    double x, y;
    if (idm_canvas_place(c, column(mark, IDM_FIGURE_X, i), column(mark, IDM_FIGURE_Y, i), &x, &y))
      add_word(c, mark->label.name[i], x, y + 3.5);
  }
}

/* --- all ------------------------------------------------------------------------------------ */

static const struct {
  void (*draw)(const idm_canvas *canvas, const idm_mark *mark);
  bool simplex; /* drawn there too */
} drawers[IDM_MARK_COUNT] = {
    [IDM_MARK_LINE] = {draw_line, true},      [IDM_MARK_BAND] = {draw_band, false},
    [IDM_MARK_BARS] = {draw_bars, false},     [IDM_MARK_POINTS] = {draw_points, true},
    [IDM_MARK_RANGES] = {draw_ranges, false}, [IDM_MARK_FOREST] = {draw_forest, false},
    [IDM_MARK_CELLS] = {draw_cells, true},    [IDM_MARK_RULES] = {draw_rules, false},
    [IDM_MARK_LEVELS] = {draw_levels, false}, [IDM_MARK_ARROWS] = {draw_arrows, true},
    [IDM_MARK_STEPS] = {draw_steps, false},   [IDM_MARK_NOTES] = {draw_notes, true},
};

static int colour_of(const idm_mark *mark)
{
  return mark->colour == IDM_COLOUR_QUIET ? mark->colour : mark->colour % IDM_COLOURS;
}

void idm_canvas_draw_marks(const idm_canvas *canvas)
{
  for (size_t i = 0; i < canvas->panel->marks; i++) {
    const idm_mark *mark = canvas->panel->mark[i];
    if (idm_canvas_is_simplex(canvas) && !drawers[mark->kind].simplex) continue;
    idm_markup_add(canvas->to, "<g class=\"mark c%d\" data-kind=\"%s\" data-name=\"",
                   colour_of(mark), idm_mark_name(mark->kind));
    idm_markup_text(canvas->to, mark->name);
    idm_markup_add(canvas->to, "\">");
    drawers[mark->kind].draw(canvas, mark);
    idm_markup_add(canvas->to, "</g>");
  }
}

void idm_canvas_draw_sample(idm_markup *to, const idm_mark *mark, double x, double y, double width)
{
  const bool area =
      mark->kind == IDM_MARK_BAND || mark->kind == IDM_MARK_BARS || mark->kind == IDM_MARK_CELLS;
  const bool dot = mark->kind == IDM_MARK_POINTS || mark->kind == IDM_MARK_STEPS;
  idm_markup_add(to, "<path class=\"c%d\" stroke=\"currentColor\" d=\"", colour_of(mark));
  go(to, 'M', dot ? x + width / 2 : x, y);
  go(to, 'L', dot ? x + width / 2 : x + width, y);
  idm_markup_add(to, "\" stroke-width=\"%s\"%s%s/>",
                 area  ? "8"
                 : dot ? "6"
                       : "2",
                 area  ? " stroke-opacity=\"0.4\""
                 : dot ? " stroke-linecap=\"round\""
                       : "",
                 mark->dashed || mark->kind == IDM_MARK_RULES || mark->kind == IDM_MARK_LEVELS
                     ? " stroke-dasharray=\"4 3\""
                     : "");
  if (mark->kind != IDM_MARK_ARROWS) return;
  idm_markup_add(to, "<path class=\"c%d\" fill=\"currentColor\" d=\"", colour_of(mark));
  go(to, 'M', x + width + 1, y);
  go(to, 'L', x + width - 6, y - 3.2);
  go(to, 'L', x + width - 6, y + 3.2);
  idm_markup_add(to, "Z\"/>");
}
