/* Draws the panels of a figure: scales, marks, and triangles of a simplex.
 *
 * Contents: scale · canvas · triangles */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/markup.h"

/* === scale ================================================================================== */

/* Scales of axes. */

void idm_scale_ends(bool logarithmic, double pad, double *low, double *high)
{
  if (!(*low <= *high)) *low = logarithmic ? 1 : 0, *high = 1;
  if (logarithmic) {
    if (!(*high > 0)) *high = 1;
    if (!(*low > 0)) *low = 1e-3 * *high;
    *low = fmax(*low, DBL_MIN);
    *high = fmax(*high, *low);
    const double wider = *low < *high ? exp(pad * (log(*high) - log(*low))) : 2;
    *low = fmax(*low / wider, DBL_MIN);
    *high = fmin(*high * wider, DBL_MAX);
    return;
  }
  /* At most half of the range of doubles, so that the width is finite. */
  *low = fmax(fmin(*low, DBL_MAX / 4), -DBL_MAX / 4);
  *high = fmax(fmin(*high, DBL_MAX / 4), -DBL_MAX / 4);
  const double size = fmax(fabs(*low), fabs(*high));
  double wider = pad * (*high - *low);
  if (!(*high - *low > 1e-12 * size)) wider = size > 0 ? 0.1 * size : 1;
  *low -= wider;
  *high += wider;
}

/* Exponent of the largest power of ten that is at most the number. */
static int power_of(double number)
{
  return (int)floor(log10(number) + 1e-9);
}

/* Write 2e+09 as 2e9, since ticks have little room. */
static void shorten_power(char *text)
{
  char *power = strchr(text, 'e');
  if (!power) return;
  char *to = power + 1, *from = to;
  if (*from == '-') to++;
  from += *from == '-' || *from == '+';
  while (*from == '0') from++;
  memmove(to, from, strlen(from) + 1);
}

/* Text of a tick: with a typographic minus sign, powers of ten for very large and very small
 * numbers, and enough digits to distinguish numbers that are one step apart. 0 has no decimals if
 * there would be many. */
static void set_text(double number, double step, char *text)
{
  static const char minus[] = "\xE2\x88\x92";
  char plain[IDM_TICK_TEXT - sizeof minus];
  const double size = fabs(number);
  const int decimals = -power_of(step);
  if (size != 0 && (size >= 1e6 || size < 1e-4)) {
    const int digits = power_of(size) + 1 + decimals;
    idm_print(plain, sizeof plain, "%.*g", digits < 1 ? 1 : digits > 17 ? 17 : digits, size);
    shorten_power(plain);
  } else {
    const int precision = decimals < 0 || (size == 0 && decimals > 5) ? 0 : decimals;
    idm_print(plain, sizeof plain, "%.*f", precision > 17 ? 17 : precision, size);
  }
  idm_print(text, IDM_TICK_TEXT, "%s%s", number < 0 ? minus : "", plain);
}

static void add_tick(idm_scale_of_axis *scale, double number, double step)
{
  if (scale->ticks == IDM_TICKS) return;
  scale->tick[scale->ticks] = number;
  set_text(number, step, scale->text[scale->ticks++]);
}

static void tick_evenly(idm_scale_of_axis *scale, double about, bool whole)
{
  static const double steps[] = {1, 2, 5, 10};
  const double width = scale->high - scale->low;
  const double step_estimate = width / fmax(about, 1);
  const double power = pow(10, floor(log10(step_estimate)));
  double step = 10 * power;
  for (int i = 3; i >= 0; i--)
    if (steps[i] * power >= step_estimate * (1 - 1e-9)) step = steps[i] * power;
  if (whole && step < 1) step = 1;
  const double first = ceil(scale->low / step - 1e-9);
  const double last = floor(scale->high / step + 1e-9);
  /* If adjacent doubles are further apart than the step, there is only one tick. */
  for (double k = first; k <= last && k + 1 > k && scale->ticks < IDM_TICKS; k++)
    add_tick(scale, k == 0 ? 0 : k * step, step);
}

/* Ticks at powers of ten, or at every n-th of them; if there are few, also at 2 and 5 times each.
 */
static void tick_powers(idm_scale_of_axis *scale, double about)
{
  static const double within[] = {1, 2, 5};
  const double low = log10(scale->low), high = log10(scale->high);
  const double every = fmax(1, ceil((high - low) / fmax(about, 1) - 1e-9));
  const int parts = high - low < 2.2 && 3 * (high - low) <= fmax(about, 3) ? 3 : 1;
  const int first = (int)floor(low / every), last = (int)floor((high + 1e-9) / every);
  for (int k = first; k <= last; k++)
    for (int i = 0; i < parts; i++) {
      const double power = pow(10, every * k), number = within[i] * power;
      if (number >= scale->low * (1 - 1e-9) && number <= scale->high * (1 + 1e-9))
        add_tick(scale, number, power);
    }
}

void idm_scale_tick(idm_scale_of_axis *scale, double about, bool whole)
{
  scale->ticks = 0;
  if (scale->logarithmic) tick_powers(scale, about);
  /* Over a few powers, even ticks are better than a single one. */
  const bool precision = scale->logarithmic && log10(scale->high) - log10(scale->low) < 3;
  if (scale->logarithmic && (!precision || scale->ticks >= 2)) return;
  /* At least two ticks: a single one does not show a distance. */
  for (int k = 0; k < 3; k++) {
    scale->ticks = 0;
    tick_evenly(scale, about, whole);
    if (scale->ticks > 1) return;
    about = 2 * fmax(about, 1);
  }
}

/* Position of a number along the axis, from 0 to 1. */
static double scale_fraction(const idm_scale_of_axis *scale, double number)
{
  return scale->logarithmic ? (log(number) - log(scale->low)) / (log(scale->high) - log(scale->low))
                            : (number - scale->low) / (scale->high - scale->low);
}

void idm_scale_thin_ticks(idm_scale_of_axis *scale, double length, double room)
{
  double distance = INFINITY;
  for (size_t i = 1; i < scale->ticks; i++)
    distance = fmin(distance, length * (scale_fraction(scale, scale->tick[i]) -
                                        scale_fraction(scale, scale->tick[i - 1])));
  if (distance >= room) return;
  const size_t every = distance > room / IDM_TICKS ? (size_t)ceil(room / distance) : IDM_TICKS;
  size_t kept = 0;
  for (size_t i = 0; i < scale->ticks; i += every, kept++) {
    scale->tick[kept] = scale->tick[i];
    memmove(scale->text[kept], scale->text[i], sizeof scale->text[i]);
  }
  scale->ticks = kept;
}

double idm_scale_position(const idm_scale_of_axis *scale, double number)
{
  return scale->from + scale_fraction(scale, number) * (scale->to - scale->from);
}

/* === canvas ================================================================================= */

/* Marks on a panel: one function per kind.
 *
 * Contents: positions · lines and areas · points and intervals · cells · rules · arrows · words ·
 * all */

static const double word = 10; /* font size, in pixels */

/* --- positions ------------------------------------------------------------------------------- */

bool idm_canvas_is_simplex(const idm_canvas *canvas)
{
  return canvas->panel->corner.count == 3;
}

bool idm_canvas_position(const idm_canvas *canvas, double x, double y, double *ret_x, double *ret_y)
{
  if (idm_canvas_is_simplex(canvas)) {
    /* The first corner is left, the second is right, the third is on top. */
    const double up = 1 - x - y;
    *ret_x = canvas->left + canvas->width * (y + 0.5 * up);
    *ret_y = canvas->top + canvas->height * (1 - up);
  } else {
    *ret_x = idm_scale_position(&canvas->x, x);
    *ret_y = idm_scale_position(&canvas->y, y);
  }
  return isfinite(*ret_x) && isfinite(*ret_y);
}

static double column(const idm_mark *mark, idm_figure_column of, size_t i)
{
  return mark->column[of][i];
}

/* Append a command of a path: a letter, then "x y". */
static void path_command(idm_markup *m, char letter, double x, double y)
{
  idm_markup_raw(m, &letter, 1);
  idm_markup_coordinate(m, x);
  idm_markup_raw(m, " ", 1);
  idm_markup_coordinate(m, y);
}

/* Append the tooltip of an item: its label or the mark's name, and its numbers. */
static void add_tooltip(idm_markup *m, const idm_mark *mark, size_t i)
{
  const char *tooltip = mark->label.count ? mark->label.name[i] : mark->name;
  idm_markup_add(m, "<title>");
  idm_markup_text(m, tooltip);
  for (size_t c = 0; c < IDM_FIGURE_COLUMNS; c++) {
    if (!mark->column[c] || !isfinite(mark->column[c][i])) continue;
    idm_markup_add(m, "%s%s %.4g", *tooltip || c ? ", " : "",
                   idm_figure_column_name((idm_figure_column)c), mark->column[c][i]);
  }
  idm_markup_add(m, "</title>");
}

/* --- lines and areas ------------------------------------------------------------------------ */

/* Returns true if a line reverses its direction more than 60 times, and at more than a quarter of
 * its points. */
static bool is_oscillating(const idm_mark *mark)
{
  const double *y = mark->column[IDM_FIGURE_Y];
  size_t turns = 0;
  for (size_t i = 2; i < mark->count; i++) turns += (y[i] - y[i - 1]) * (y[i - 1] - y[i - 2]) < 0;
  return turns > 60 && turns > mark->count / 4;
}

/* A line that oscillates at almost every pixel is drawn thin. */
static void draw_line(const idm_canvas *c, const idm_mark *mark)
{
  bool down = false;
  idm_markup_add(c->to,
                 "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"%s\" "
                 "stroke-linejoin=\"round\"%s d=\"",
                 is_oscillating(mark) ? "0.6" : "1.6",
                 mark->dashed ? " stroke-dasharray=\"4 3\"" : "");
  for (size_t i = 0; i < mark->count; i++) {
    double x, y;
    const bool there = idm_canvas_position(c, column(mark, IDM_FIGURE_X, i),
                                           column(mark, IDM_FIGURE_Y, i), &x, &y);
    if (there) path_command(c->to, down ? 'L' : 'M', x, y);
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
    if (!idm_canvas_position(c, column(mark, IDM_FIGURE_X, i),
                             column(mark, back ? IDM_FIGURE_HIGH : IDM_FIGURE_LOW, i), &x, &y))
      continue;
    path_command(c->to, down ? 'L' : 'M', x, y);
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
    if (!idm_canvas_position(c, column(mark, IDM_FIGURE_X, i), fmax(c->y.low, 0), &x0, &y0) ||
        !idm_canvas_position(c, column(mark, IDM_FIGURE_RIGHT, i), column(mark, IDM_FIGURE_Y, i),
                             &x1, &y1))
      continue;
    add_box(c, x0, y0, x1, y1);
    idm_markup_add(c->to, " class=\"ring\" fill=\"currentColor\" fill-opacity=\"0.55\" "
                          "stroke-width=\"0.5\">");
    add_tooltip(c->to, mark, i);
    idm_markup_add(c->to, "</rect>");
  }
}

/* --- points and intervals ------------------------------------------------------------------- */

/* Begin a stroke; its element is left open for a tooltip. */
static void begin_stroke(const idm_canvas *c, double x0, double y0, double x1, double y1,
                         double thick)
{
  idm_markup_add(c->to, "<path stroke=\"currentColor\" stroke-linecap=\"round\"");
  idm_markup_at(c->to, "stroke-width", thick);
  idm_markup_add(c->to, " d=\"");
  path_command(c->to, 'M', x0, y0);
  path_command(c->to, 'L', x1, y1);
  idm_markup_add(c->to, "\"");
}

static void add_stroke(const idm_canvas *c, double x0, double y0, double x1, double y1,
                       double thick)
{
  begin_stroke(c, x0, y0, x1, y1, thick);
  idm_markup_add(c->to, "/>");
}

/* Draw a dot. A small dot has no ring, which would hide it. */
static void add_dot(const idm_canvas *c, const idm_mark *mark, size_t i, double radius, double dark,
                    bool tooltip)
{
  double x, y;
  if (!idm_canvas_position(c, column(mark, IDM_FIGURE_X, i), column(mark, IDM_FIGURE_Y, i), &x, &y))
    return;
  idm_markup_add(c->to, "<circle");
  idm_markup_at(c->to, "cx", x);
  idm_markup_at(c->to, "cy", y);
  idm_markup_at(c->to, "r", radius);
  if (radius >= 1.4) idm_markup_add(c->to, " class=\"ring\" stroke-width=\"0.6\"");
  idm_markup_add(c->to, " fill=\"currentColor\"");
  if (dark < 1) idm_markup_at(c->to, "fill-opacity", dark);
  idm_markup_add(c->to, tooltip ? ">" : "/>");
  if (!tooltip) return;
  add_tooltip(c->to, mark, i);
  idm_markup_add(c->to, "</circle>");
}

/* Large numbers of points are drawn small and translucent. */
static void draw_points(const idm_canvas *c, const idm_mark *mark)
{
  const double radius = mark->count > 400 ? 1.4 : mark->count > 60 ? 2 : 2.8;
  for (size_t i = 0; i < mark->count; i++)
    add_dot(c, mark, i, radius, mark->count > 60 ? 0.6 : 1, true);
}

/* Draw an interval along x or y through item i, if it has one, with a tooltip if `tooltip`. */
static void add_interval(const idm_canvas *c, const idm_mark *mark, size_t i, bool along_x,
                         idm_figure_column low, idm_figure_column high, double thick, bool tooltip)
{
  const double at = column(mark, along_x ? IDM_FIGURE_Y : IDM_FIGURE_X, i);
  const idm_scale_of_axis *scale = along_x ? &c->x : &c->y;
  double end[2] = {column(mark, low, i), column(mark, high, i)};
  double place[2][2];
  if (isnan(end[0]) || isnan(end[1])) return;
  /* Clip the interval to the panel. */
  for (int k = 0; k < 2; k++) end[k] = fmin(fmax(end[k], scale->low), scale->high);
  for (int k = 0; k < 2; k++)
    if (!idm_canvas_position(c, along_x ? end[k] : at, along_x ? at : end[k], &place[k][0],
                             &place[k][1]))
      return;
  begin_stroke(c, place[0][0], place[0][1], place[1][0], place[1][1], thick);
  idm_markup_add(c->to, tooltip ? ">" : "/>");
  if (!tooltip) return;
  add_tooltip(c->to, mark, i);
  idm_markup_add(c->to, "</path>");
}

static void draw_ranges(const idm_canvas *c, const idm_mark *mark)
{
  for (size_t i = 0; i < mark->count; i++) {
    add_interval(c, mark, i, false, IDM_FIGURE_LOW, IDM_FIGURE_HIGH, 1, false);
    add_dot(c, mark, i, mark->count > 60 ? 1.8 : 2.4, 1, true);
  }
}

/* Rows are as thick as the panel allows. If they are close to each other, they are translucent, the
 * inner interval is omitted, and the lines have the tooltips, since they are easier to point at
 * than dots. */
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
  /* From the first corner: one step towards the second corner, and one towards the third. */
  const double at[3][2] = {{x, y}, {x - side, y + side}, {x - side, y}};
  double place[3][2];
  for (int k = 0; k < 3; k++)
    if (!idm_canvas_position(c, at[k][0], at[k][1], &place[k][0], &place[k][1])) return;
  for (int k = 0; k < 3; k++) path_command(c->to, k ? 'L' : 'M', place[k][0], place[k][1]);
  idm_markup_raw(c->to, "Z", 1);
}

/* Shade in hundredths, the precision that is written. */
static int shade_of(const idm_mark *mark, size_t i)
{
  const double value = column(mark, IDM_FIGURE_VALUE, i);
  return value > 0 ? (int)lround(100 * fmin(value, 1)) : 0;
}

/* Cells of a simplex. Cells with the same shade are one path, so that there are no gaps between
 * them; all are lighter, since other marks are drawn over them. */
static void draw_triangles(const idm_canvas *c, const idm_mark *mark)
{
  bool has[101] = {false};
  for (size_t i = 0; i < mark->count; i++) has[shade_of(mark, i)] = true;
  idm_markup_add(c->to, "<g fill=\"currentColor\" opacity=\"0.6\" "
                        "shape-rendering=\"crispEdges\">");
  for (int level = 1; level <= 100; level++) {
    if (!has[level]) continue;
    idm_markup_add(c->to, "<path");
    idm_markup_at(c->to, "fill-opacity", level / 100.0);
    idm_markup_add(c->to, " d=\"");
    for (size_t i = 0; i < mark->count; i++)
      if (shade_of(mark, i) == level) add_triangle(c, mark, i);
    idm_markup_add(c->to, "\"/>");
  }
  idm_markup_add(c->to, "</g>");
}

/* Cells without edges between them; the opacity is the value. */
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
        !idm_canvas_position(c, column(mark, IDM_FIGURE_X, i), column(mark, IDM_FIGURE_Y, i), &x0,
                             &y0) ||
        !idm_canvas_position(c, column(mark, IDM_FIGURE_RIGHT, i), column(mark, IDM_FIGURE_TOP, i),
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
  path_command(c->to, 'M', x0, y0);
  path_command(c->to, 'L', x1, y1);
  idm_markup_add(c->to, "\"/>");
}

static void draw_rules(const idm_canvas *c, const idm_mark *mark)
{
  for (size_t i = 0; i < mark->count; i++) {
    const double x = idm_scale_position(&c->x, column(mark, IDM_FIGURE_X, i));
    if (isfinite(x)) add_rule(c, x, c->top, x, c->top + c->height);
  }
}

static void draw_levels(const idm_canvas *c, const idm_mark *mark)
{
  for (size_t i = 0; i < mark->count; i++) {
    const double y = idm_scale_position(&c->y, column(mark, IDM_FIGURE_Y, i));
    if (isfinite(y)) add_rule(c, c->left, y, c->left + c->width, y);
  }
}

/* --- arrows --------------------------------------------------------------------------------- */

static void draw_arrows(const idm_canvas *c, const idm_mark *mark)
{
  for (size_t i = 0; i < mark->count; i++) {
    double x0, y0, x1, y1;
    if (!idm_canvas_position(c, column(mark, IDM_FIGURE_X, i), column(mark, IDM_FIGURE_Y, i), &x0,
                             &y0) ||
        !idm_canvas_position(c, column(mark, IDM_FIGURE_RIGHT, i), column(mark, IDM_FIGURE_TOP, i),
                             &x1, &y1))
      continue;
    const double length = hypot(x1 - x0, y1 - y0);
    if (!(length > 0.5)) continue;
    const double size = fmin(5, 0.5 * length);
    const double a = (x1 - x0) / length * size, b = (y1 - y0) / length * size;
    /* End before the target, where there may be a point. */
    const double rest = fmin(3.2, 0.3 * length) / size;
    x1 -= rest * a;
    y1 -= rest * b;
    add_stroke(c, x0, y0, x1 - 0.6 * a, y1 - 0.6 * b, 1.2);
    idm_markup_add(c->to, "<path fill=\"currentColor\" d=\"");
    path_command(c->to, 'M', x1, y1);
    path_command(c->to, 'L', x1 - a - 0.45 * b, y1 - b + 0.45 * a);
    path_command(c->to, 'L', x1 - a + 0.45 * b, y1 - b - 0.45 * a);
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

/* Level of the label of item i above the foot of the panel: the lowest at which it does not overlap
 * earlier labels, whose levels are in `up`, limited by the height of the panel. */
static int label_row(const idm_canvas *c, const idm_mark *mark, size_t i, const int *up)
{
  const double x = idm_scale_position(&c->x, column(mark, IDM_FIGURE_X, i));
  const double width = idm_text_width(mark->label.name[i]);
  const int most = (int)fmin(8, (c->height - 24) / word);
  int level = 0;
  for (size_t k = 0; k < i; k++) {
    const double other = idm_scale_position(&c->x, column(mark, IDM_FIGURE_X, k));
    const double both = 0.5 * word * (width + idm_text_width(mark->label.name[k]));
    if (up[k] != level || !(fabs(x - other) < both + 2) || level >= most) continue;
    level++;
    k = (size_t)-1; /* restart at the first */
  }
  return level;
}

/* Small triangles at the foot of the panel, with their labels on top. */
static void draw_steps(const idm_canvas *c, const idm_mark *mark)
{
  enum { labelled = 64 };
  const double baseline = c->top + c->height;
  int up[labelled];
  for (size_t i = 0; i < mark->count; i++) {
    const double x = idm_scale_position(&c->x, column(mark, IDM_FIGURE_X, i));
    if (i < labelled) up[i] = -1;
    if (!isfinite(x)) continue;
    idm_markup_add(c->to, "<path fill=\"currentColor\" d=\"");
    path_command(c->to, 'M', x, baseline);
    path_command(c->to, 'L', x - 4, baseline - 8);
    path_command(c->to, 'L', x + 4, baseline - 8);
    idm_markup_add(c->to, "Z\">");
    add_tooltip(c->to, mark, i);
    idm_markup_add(c->to, "</path>");
    if (!mark->label.count || i >= labelled) continue;
    up[i] = label_row(c, mark, i, up);
    add_word(c, mark->label.name[i], x, baseline - 11 - word * up[i]);
  }
}

static void draw_notes(const idm_canvas *c, const idm_mark *mark)
{
  for (size_t i = 0; i < mark->count && mark->label.count; i++) {
    double x, y;
    if (idm_canvas_position(c, column(mark, IDM_FIGURE_X, i), column(mark, IDM_FIGURE_Y, i), &x,
                            &y))
      add_word(c, mark->label.name[i], x, y + 3.5);
  }
}

/* --- all ------------------------------------------------------------------------------------ */

static const struct {
  void (*draw)(const idm_canvas *canvas, const idm_mark *mark);
  bool simplex; /* also drawn in a simplex */
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
  return mark->colour == IDM_COLOUR_NEUTRAL ? mark->colour : mark->colour % IDM_COLOURS;
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
  path_command(to, 'M', dot ? x + width / 2 : x, y);
  path_command(to, 'L', dot ? x + width / 2 : x + width, y);
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
  path_command(to, 'M', x + width + 1, y);
  path_command(to, 'L', x + width - 6, y - 3.2);
  path_command(to, 'L', x + width - 6, y + 3.2);
  idm_markup_add(to, "Z\"/>");
}

/* === triangles ============================================================================== */

/* Partition of a simplex into triangles. */

size_t idm_triangles_count(size_t side)
{
  return side * side;
}

/* Triangle with its first corner at (side - b - c, b, c) / side, which points up or down. */
static idm_triangle triangle_at(size_t side, size_t b, size_t c, bool up)
{
  const double n = (double)side;
  const double first[3] = {(double)(side - b - c) / n, (double)b / n, (double)c / n};
  const double step = (up ? 1 : -1) / n;
  return (idm_triangle){{{first[0], first[1], first[2]},
                         {first[0] - step, first[1] + step, first[2]},
                         {first[0] - step, first[1], first[2] + step}}};
}

/* Index of a triangle. Row c, counted from the side opposite the third state, has 2 (side - c) - 1
 * triangles: those that point up at even positions, and those that point down between them. */
static size_t place_of(size_t side, size_t c, size_t b, bool up)
{
  return c * (2 * side - c) + 2 * b - (up ? 0 : 1);
}

void idm_triangles_make(size_t side, idm_triangle *ret_triangles)
{
  for (size_t c = 0; c < side; c++)
    for (size_t b = 0; b + c < side; b++) {
      ret_triangles[place_of(side, c, b, true)] = triangle_at(side, b, c, true);
      if (b) ret_triangles[place_of(side, c, b, false)] = triangle_at(side, b, c + 1, false);
    }
}

void idm_triangle_set(const idm_triangle *triangle, idm_mark *cells, size_t i, double value)
{
  const double *first = triangle->corner[0], *second = triangle->corner[1];
  cells->column[IDM_FIGURE_X][i] = first[0];
  cells->column[IDM_FIGURE_Y][i] = first[1];
  cells->column[IDM_FIGURE_RIGHT][i] = 2 * first[0] - second[0];
  cells->column[IDM_FIGURE_TOP][i] = second[1];
  cells->column[IDM_FIGURE_VALUE][i] = value;
}

/* Index of the triangle that contains z; the number of triangles if there is none. */
static size_t find(size_t side, const double *z)
{
  double whole[3], parts = 0;
  for (int s = 0; s < 3; s++) {
    if (!(z[s] >= 0)) return idm_triangles_count(side);
    whole[s] = floor((double)side * z[s]);
    parts += (double)side * z[s] - whole[s];
  }
  /* The fractions of three numbers whose sum is an integer add up to 1 in a triangle that points
   * up, and to 2 in one that points down. */
  const bool up = parts < 1.5;
  const size_t b = (size_t)whole[1] + (up ? 0 : 1), c = (size_t)whole[2];
  if (b + c >= side + (up ? 0 : 1)) return idm_triangles_count(side);
  return place_of(side, c, b, up);
}

void idm_triangles_add_mass(size_t side, const double *z, double mass, double *sum)
{
  /* Shift z slightly towards and away from each of the states, into each of the six triangles that
   * may meet there. */
  size_t found[6] = {0}, count = 0;
  for (int k = 0; k < 6; k++) {
    const double step = (k % 2 ? 1e-6 : -1e-6) / (double)side;
    double near[3];
    for (int s = 0; s < 3; s++) near[s] = z[s] + (s == k / 2 ? 2 * step : -step);
    const size_t triangle = find(side, near);
    if (triangle < idm_triangles_count(side)) found[count++] = triangle;
  }
  for (size_t i = 0; i < count; i++) sum[found[i]] += mass / (double)count;
}
