/* Draws a figure as SVG: the layout, then panel by panel.
 *
 * Contents: ends of axes · layout · legend · axes · panels · whole figure */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "report/figure.h"
#include "report/markup.h"

/* Sizes of texts and of the spaces between them, in pixels. */
static const double small = 10;   /* ticks, titles of axes, legend */
static const double large = 12;   /* the figure's title */
static const double edge = 6;     /* around the figure */
static const double between = 14; /* between panels */
static const double line = 14;    /* height of a line of text */
static const double row = 17;     /* height of a category */
static const double min_panel = 150;
static const double min_name = 48; /* smallest width of the name of a category below a panel */
static const double max_simplex = 380;

/* --- ends of axes --------------------------------------------------------------------------- */

static void include_number(double number, bool logarithmic, double *low, double *high)
{
  if (!isfinite(number) || (logarithmic && !(number > 0))) return;
  *low = fmin(*low, number);
  *high = fmax(*high, number);
}

/* Returns true if the numbers of a column are along an axis. */
static bool is_along(const idm_mark *mark, size_t column, bool x)
{
  const bool interval = column >= IDM_FIGURE_LOW && column <= IDM_FIGURE_INNER_HIGH;
  if (interval) return x == (mark->kind == IDM_MARK_FOREST);
  if (column == IDM_FIGURE_VALUE) return false;
  return x == (column == IDM_FIGURE_X || column == IDM_FIGURE_RIGHT);
}

static idm_scale_of_axis ends_of(const idm_panel *panel, const idm_figure_axis *axis, bool x)
{
  idm_scale_of_axis scale = {.logarithmic = axis->logarithmic, .low = INFINITY, .high = -INFINITY};
  bool bars = false;
  for (size_t k = 0; k < panel->marks; k++) {
    const idm_mark *mark = panel->mark[k];
    bars = bars || mark->kind == IDM_MARK_BARS || mark->kind == IDM_MARK_CELLS;
    for (size_t c = 0; c < IDM_FIGURE_COLUMNS; c++)
      for (size_t i = 0; mark->column[c] && is_along(mark, c, x) && i < mark->count; i++)
        include_number(mark->column[c][i], axis->logarithmic, &scale.low, &scale.high);
    if (mark->kind == IDM_MARK_BARS && !x) scale.low = fmin(scale.low, 0);
  }
  if (axis->category.count) {
    scale.low = -0.5;
    scale.high = (double)axis->category.count - 0.5;
    return scale;
  }
  const bool given[] = {isfinite(axis->low), isfinite(axis->high)};
  double low = given[0] ? axis->low : scale.low, high = given[1] ? axis->high : scale.high;
  if (!(low < high) || !(given[0] && given[1]))
    idm_scale_ends(axis->logarithmic, bars ? 0 : 0.04, &low, &high);
  /* Bars begin at one end of their axis and do not reach the other. */
  if (bars && !x && !given[1] && !axis->logarithmic) high += 0.04 * (high - low);
  scale.low = given[0] && axis->low < high ? axis->low : low;
  scale.high = given[1] && axis->high > scale.low ? axis->high : high;
  return scale;
}

/* --- layout ---------------------------------------------------------------------------------- */

typedef struct layout {
  const idm_figure *figure;
  const idm_figure_options *options;
  size_t grid; /* panels in the grid; strips come after them */
  size_t columns;
  size_t rows;
  double side;          /* margin at the left: titles of y axes, if a row has a common one */
  double own;           /* room for titles of y axes, if each panel has its own */
  double left;          /* of a frame within its cell: room for ticks and for its own title */
  double cell;          /* width of a cell */
  double head;          /* height above the first row of panels */
  double *top;          /* [row] */
  double *frame_height; /* [row]: height of its frames */
  double height;
  idm_canvas *canvas; /* [panel] */
} layout;

static double panel_height(const idm_panel *panel, double width)
{
  if (panel->corner.count == 3) return 0.8660254037844386 * fmin(width, max_simplex);
  if (panel->y.category.count) {
    const double rows = (double)panel->y.category.count;
    return rows <= 60 ? row * rows + 6 : fmin(row * 60 + 2 * (rows - 60), 1600);
  }
  if (panel->aspect > 0) return panel->aspect * width;
  return fmin(fmax(0.62 * width, 90), 290);
}

/* Returns true if the panel below (x) or to the left (y) has the same title of its axis, which is
 * then drawn once. */
static bool is_shared(const layout *l, size_t p, bool x)
{
  const idm_figure *figure = l->figure;
  const size_t other = x ? p + l->columns : p - 1;
  if (x ? other >= l->grid : p % l->columns == 0) return false;
  const idm_panel *a = figure->panel[p], *b = figure->panel[other];
  return !strcmp(x ? a->x.title : a->y.title, x ? b->x.title : b->y.title) &&
         a->corner.count == b->corner.count;
}

/* Returns true if every row has a common title of its y axes, at its left. */
static bool has_common_title(const layout *l)
{
  for (size_t p = 0; p < l->grid; p++)
    if (p % l->columns && !is_shared(l, p, false)) return false;
  return true;
}

/* Room to the left of a frame: the width of its widest tick. */
static double tick_width(const idm_canvas *c, double cell)
{
  const idm_figure_axis *axis = &c->panel->y;
  double widest = 0;
  if (c->panel->corner.count == 3) return small;
  for (size_t i = 0; i < axis->category.count; i++)
    widest = fmax(widest, idm_text_width(axis->category.name[i]));
  for (size_t i = 0; i < c->y.ticks && !axis->category.count; i++)
    widest = fmax(widest, idm_text_width(c->y.text[i]));
  return fmin(small * widest, 0.42 * cell) + 7;
}

static bool has_titles(const layout *l, size_t of_row, bool of_axis)
{
  for (size_t p = of_row * l->columns; p < (of_row + 1) * l->columns && p < l->grid; p++) {
    const idm_panel *panel = l->figure->panel[p];
    const bool named = *panel->x.title && panel->corner.count != 3 && !is_shared(l, p, true);
    if (of_axis ? named : *panel->title) return true;
  }
  return false;
}

static void place_rows(layout *l)
{
  double at = l->head;
  for (size_t r = 0; r < l->rows; r++) {
    const bool simplex = l->figure->panel[r * l->columns]->corner.count == 3;
    l->top[r] = at + (has_titles(l, r, false) ? line + 3 : 4) + (simplex ? line : 0);
    at = l->top[r] + l->frame_height[r] + line + 4 + (has_titles(l, r, true) ? line : 0) +
         between / 2;
  }
  l->height = at;
}

static void place_panels(layout *l)
{
  const double width = l->cell - l->left - 8;
  for (size_t p = 0; p < l->grid; p++) {
    const double frame_height = panel_height(l->figure->panel[p], width);
    l->frame_height[p / l->columns] = fmax(l->frame_height[p / l->columns], frame_height);
  }
  place_rows(l);
  for (size_t p = 0; p < l->grid; p++) {
    idm_canvas *c = &l->canvas[p];
    const size_t at = p % l->columns;
    c->left = edge + l->side + (double)at * (l->cell + between) + l->left;
    c->top = l->top[p / l->columns];
    c->width = width;
    c->height = panel_height(c->panel, width);
    if (c->panel->corner.count == 3) {
      c->width = fmin(width, max_simplex);
      c->left += (width - c->width) / 2;
    }
    c->x.from = c->left;
    c->x.to = c->left + c->width;
    c->y.from = c->top + c->height;
    c->y.to = c->top;
    /* Categories are listed from the top. */
    if (c->panel->y.category.count) c->y.from = c->top, c->y.to = c->top + c->height;
  }
}

/* A strip takes a part of its parent panel, and shares an axis with it. */
static void place_strip(idm_canvas *parent_panel, idm_canvas *strip)
{
  static const double part = 0.2, gap = 5;
  const bool above = strip->panel->place == IDM_PANEL_ABOVE;
  strip->left = parent_panel->left;
  strip->top = parent_panel->top;
  strip->width = parent_panel->width;
  strip->height = parent_panel->height;
  if (above) {
    strip->height = part * parent_panel->height - gap;
    parent_panel->top += part * parent_panel->height;
    parent_panel->height *= 1 - part;
  } else {
    strip->width = part * parent_panel->width - gap;
    parent_panel->width *= 1 - part;
    strip->left += parent_panel->width + gap;
  }
  parent_panel->x.to = parent_panel->left + parent_panel->width;
  parent_panel->y.to = parent_panel->top;
}

/* Strips above panels are placed first, so that those at the right have the remaining height. */
static void place_strips(layout *l)
{
  for (int place = IDM_PANEL_ABOVE; place <= IDM_PANEL_RIGHT; place++)
    for (size_t p = l->grid; p < l->figure->panels; p++) {
      idm_canvas *c = &l->canvas[p];
      if ((int)c->panel->place == place) place_strip(&l->canvas[c->panel->parent_panel], c);
    }
  for (size_t p = l->grid; p < l->figure->panels; p++) {
    idm_canvas *c = &l->canvas[p];
    const idm_canvas *parent_panel = &l->canvas[c->panel->parent_panel];
    const bool above = c->panel->place == IDM_PANEL_ABOVE;
    if (above) c->width = parent_panel->width;
    c->x.from = c->left;
    c->x.to = c->left + c->width;
    c->y.from = c->top + c->height;
    c->y.to = c->top;
    if (above)
      c->x = parent_panel->x;
    else
      c->y = parent_panel->y;
    c->x.ticks = c->y.ticks = 0;
  }
}

/* Place ticks as densely as their texts allow. */
static void tick(idm_canvas *c, double width)
{
  double widest = 0;
  idm_scale_tick(&c->x, width / 45, c->panel->x.whole);
  for (size_t i = 0; i < c->x.ticks; i++)
    widest = fmax(widest, small * idm_text_width(c->x.text[i]));
  if ((widest + 8) * (double)c->x.ticks > width)
    idm_scale_tick(&c->x, fmax(1, width / (widest + 16)), c->panel->x.whole);
  widest = 0;
  for (size_t i = 0; i < c->x.ticks; i++)
    widest = fmax(widest, small * idm_text_width(c->x.text[i]));
  idm_scale_thin_ticks(&c->x, width, widest + 4);
  idm_scale_tick(&c->y, fmax(2, panel_height(c->panel, width) / 28), c->panel->y.whole);
}

/* --- legend --------------------------------------------------------------------------------- */

/* Returns true if an earlier mark has the same name and colour. */
static bool is_repeated_mark(const idm_figure *figure, size_t panel, size_t mark)
{
  const idm_mark *of = figure->panel[panel]->mark[mark];
  for (size_t p = 0; p <= panel; p++)
    for (size_t i = 0; i < (p < panel ? figure->panel[p]->marks : mark); i++) {
      const idm_mark *other = figure->panel[p]->mark[i];
      if (other->colour == of->colour && !strcmp(other->name, of->name)) return true;
    }
  return false;
}

/* Lower end of the legend; the legend is drawn if `opt_to` is given. */
static double legend(const idm_figure *figure, double width, double top, idm_markup *opt_to)
{
  double x = edge, y = top;
  bool any = false;
  char buffer[64];
  for (size_t p = 0; p < figure->panels; p++)
    for (size_t i = 0; i < figure->panel[p]->marks; i++) {
      const idm_mark *mark = figure->panel[p]->mark[i];
      if (!*mark->name || is_repeated_mark(figure, p, i)) continue;
      const char *name = idm_text_fit(mark->name, (width - 40) / small, buffer, sizeof buffer);
      const double wide = 24 + small * idm_text_width(name) + 12;
      if (x > edge && x + wide > width - edge + 12) x = edge, y += line;
      if (opt_to) {
        idm_canvas_draw_sample(opt_to, mark, x, y + 7, 18);
        idm_markup_add(opt_to, "<text");
        idm_markup_at(opt_to, "x", x + 23);
        idm_markup_at(opt_to, "y", y + 10.5);
        idm_markup_add(opt_to, ">");
        idm_markup_text(opt_to, name);
        idm_markup_add(opt_to, "</text>");
      }
      x += wide;
      any = true;
    }
  return any ? y + line + 2 : top;
}

/* --- axes ----------------------------------------------------------------------------------- */

static void add_text(idm_markup *m, const char *class, const char *anchor, double x, double y,
                     const char *text)
{
  idm_markup_add(m, "<text class=\"%s\" text-anchor=\"%s\"", class, anchor);
  idm_markup_at(m, "x", x);
  idm_markup_at(m, "y", y);
  idm_markup_add(m, ">");
  idm_markup_text(m, text);
  idm_markup_add(m, "</text>");
}

static void add_grid(idm_markup *m, double x0, double y0, double x1, double y1)
{
  idm_markup_add(m, "<line class=\"grid\"");
  idm_markup_at(m, "x1", x0);
  idm_markup_at(m, "y1", y0);
  idm_markup_at(m, "x2", x1);
  idm_markup_at(m, "y2", y1);
  idm_markup_add(m, "/>");
}

/* Centre of a text near x such that the text stays within the figure. */
static double clamp_text(double x, const char *words, double width)
{
  const double half = 0.5 * small * idm_text_width(words);
  return fmax(fmin(x, width - half), half);
}

static void draw_x_axis(const idm_canvas *c, double width, bool titled)
{
  const double foot = c->top + c->height;
  for (size_t i = 0; i < c->x.ticks && !c->panel->x.category.count; i++) {
    const double x = idm_scale_position(&c->x, c->x.tick[i]);
    add_grid(c->to, x, c->top, x, foot);
    add_text(c->to, "soft", "middle", clamp_text(x, c->x.text[i], width), foot + 12, c->x.text[i]);
  }
  /* If there are very many categories, only every n-th has a name. */
  const size_t count = c->panel->x.category.count;
  const size_t every = count <= 12 ? 1 : 1 + (size_t)(min_name * (double)count / c->width);
  for (size_t i = 0; i < count; i += every) {
    char buffer[64];
    add_text(c->to, "soft", "middle", idm_scale_position(&c->x, (double)i), foot + 12,
             idm_text_elide(c->panel->x.category.name[i],
                            ((double)every * c->width / (double)count - 6) / small, buffer,
                            sizeof buffer));
  }
  if (titled && *c->panel->x.title) {
    char buffer[160];
    add_text(c->to, "soft", "middle", c->left + c->width / 2, foot + 12 + line,
             idm_text_fit(c->panel->x.title, (c->width + 30) / small, buffer, sizeof buffer));
  }
}

/* `title` is the distance of the title to the left of the frame; 0: no title. */
static void draw_y_axis(const idm_canvas *c, double room, double title)
{
  const size_t count = c->panel->y.category.count;
  for (size_t i = 0; i < c->y.ticks && !count; i++) {
    const double y = idm_scale_position(&c->y, c->y.tick[i]);
    add_grid(c->to, c->left, y, c->left + c->width, y);
    add_text(c->to, "soft", "end", c->left - 5, y + 3.5, c->y.text[i]);
  }
  /* If there are very many categories, only every n-th has a name. */
  const size_t every = count <= 60 ? 1 : 1 + count * 11 / (size_t)fmax(c->height, 1);
  for (size_t i = 0; i < count; i += every) {
    char buffer[64];
    const double y = idm_scale_position(&c->y, (double)i);
    if (every == 1) add_grid(c->to, c->left, y, c->left + c->width, y);
    add_text(
        c->to, "soft", "end", c->left - 5, y + 3.5,
        idm_text_elide(c->panel->y.category.name[i], (room - 7) / small, buffer, sizeof buffer));
  }
  if (title == 0 || !*c->panel->y.title) return;
  char buffer[160];
  idm_markup_add(c->to, "<g transform=\"translate(");
  idm_markup_coordinate(c->to, c->left - title + 8);
  idm_markup_raw(c->to, " ", 1);
  idm_markup_coordinate(c->to, c->top + c->height / 2);
  idm_markup_add(c->to, ") rotate(-90)\">");
  add_text(c->to, "soft", "middle", 0, 0,
           idm_text_fit(c->panel->y.title, (c->height + 20) / small, buffer, sizeof buffer));
  idm_markup_add(c->to, "</g>");
}

/* --- panels --------------------------------------------------------------------------------- */

static void draw_simplex(const idm_canvas *c)
{
  const double right = c->left + c->width, foot = c->top + c->height;
  char buffer[64];
  idm_markup_add(c->to,
                 "<path class=\"frame\" fill=\"none\" d=\"M%.2f %.2fL%.2f %.2fL%.2f %.2fZ\"/>",
                 c->left, foot, right, foot, c->left + c->width / 2, c->top);
  for (int i = 0; i < 3; i++)
    add_text(c->to, "soft",
             i == 0   ? "start"
             : i == 1 ? "end"
                      : "middle",
             i == 0   ? c->left
             : i == 1 ? right
                      : c->left + c->width / 2,
             i == 2 ? c->top - 5 : foot + 12,
             idm_text_fit(c->panel->corner.name[i], c->width / 2.2 / small, buffer, sizeof buffer));
}

/* Append the scale as an attribute, from which scripts compute numbers from positions. */
static void add_scale(idm_markup *m, const char *name, const idm_scale_of_axis *scale)
{
  idm_markup_add(m, " data-%s=\"%.17g %.17g %.17g %.17g %s\"", name, scale->low, scale->high,
                 scale->from, scale->to, scale->logarithmic ? "log" : "linear");
}

static void draw_panel(const layout *l, size_t p)
{
  const idm_canvas *c = &l->canvas[p];
  const bool simplex = idm_canvas_is_simplex(c);
  char buffer[160];
  idm_markup_add(c->to, "<g class=\"panel\"");
  if (!simplex) {
    add_scale(c->to, "x", &c->x);
    add_scale(c->to, "y", &c->y);
  }
  idm_markup_add(c->to, ">");
  if (*c->panel->title)
    add_text(c->to, "head", "start", c->left, c->top - (simplex ? line + 6 : 6),
             idm_text_fit(c->panel->title, (c->width + 6) / small / 1.1, buffer, sizeof buffer));
  if (simplex) {
    draw_simplex(c);
  } else if (p < l->grid) {
    draw_x_axis(c, l->options->width, !is_shared(l, p, true));
    draw_y_axis(c, l->left - l->own, is_shared(l, p, false) ? 0 : l->side + l->left);
  }
  idm_markup_add(c->to, "<clipPath id=\"");
  idm_markup_text(c->to, l->options->id ? l->options->id : "figure");
  idm_markup_add(c->to, "-%zu\"><rect", p);
  idm_markup_at(c->to, "x", c->left - (simplex ? 4 : 0.5));
  idm_markup_at(c->to, "y", c->top - (simplex ? 4 : 0.5));
  idm_markup_at(c->to, "width", c->width + (simplex ? 8 : 1));
  idm_markup_at(c->to, "height", c->height + (simplex ? 8 : 1));
  idm_markup_add(c->to, "/></clipPath><g clip-path=\"url(#");
  idm_markup_text(c->to, l->options->id ? l->options->id : "figure");
  idm_markup_add(c->to, "-%zu)\">", p);
  idm_canvas_draw_marks(c);
  idm_markup_add(c->to, "</g>");
  if (!simplex && p < l->grid) {
    idm_markup_add(c->to, "<rect class=\"frame\" fill=\"none\" stroke-width=\"0.8\"");
    idm_markup_at(c->to, "x", c->left);
    idm_markup_at(c->to, "y", c->top);
    idm_markup_at(c->to, "width", c->width);
    idm_markup_at(c->to, "height", c->height);
    idm_markup_add(c->to, "/>");
  }
  idm_markup_add(c->to, "</g>\n");
}

/* --- whole figure ---------------------------------------------------------------------------- */

/* Room to the left of the frames, for frames of that width. */
static double margin_at_width(const layout *l, double width)
{
  double room = 0;
  for (size_t p = 0; p < l->grid; p++) {
    tick(&l->canvas[p], width);
    room = fmax(room, tick_width(&l->canvas[p], l->cell) + l->own);
  }
  return room;
}

static void compute_layout(layout *l, idm_markup *to)
{
  const idm_figure *figure = l->figure;
  const double width = l->options->width;
  bool titled = false;
  for (size_t p = 0; p < l->grid; p++) titled = titled || *figure->panel[p]->y.title;
  l->side = titled && has_common_title(l) ? line : 0;
  l->own = titled && !(l->side > 0) ? line : 0;
  l->cell = (width - 2 * edge - l->side - (double)(l->columns - 1) * between) / (double)l->columns;
  for (size_t p = 0; p < figure->panels; p++) {
    idm_canvas *c = &l->canvas[p];
    *c = (idm_canvas){.to = to, .panel = figure->panel[p]};
    c->x = ends_of(c->panel, &c->panel->x, true);
    c->y = ends_of(c->panel, &c->panel->y, false);
  }
  /* The width of frames depends on the texts of their ticks, which depend on the width: iterate. */
  l->left = margin_at_width(l, 0.8 * l->cell);
  l->left = margin_at_width(l, l->cell - l->left - 8);
  l->left = fmax(l->left, margin_at_width(l, l->cell - l->left - 8));
  l->head = edge + (*figure->title ? line + 6 : 0);
  l->head = legend(figure, width, l->head, NULL);
  place_panels(l);
  place_strips(l);
  for (size_t p = 0; p < l->grid; p++) tick(&l->canvas[p], l->canvas[p].width);
}

static idm_status begin(const layout *l, idm_markup *m, idm_error *opt_error)
{
  const idm_figure *figure = l->figure;
  const char *id = l->options->id ? l->options->id : "figure";
  char *style = NULL;
  const double width = l->options->width;
  const char *class = l->options->opt_class;
  idm_markup_add(m, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"idm%s%s\" role=\"img\"",
                 class ? " " : "", class ? class : "");
  idm_markup_at(m, "width", width);
  idm_markup_at(m, "height", ceil(l->height));
  idm_markup_add(m, " viewBox=\"0 0 %.6g %.6g\" aria-labelledby=\"", width, ceil(l->height));
  idm_markup_text(m, id);
  idm_markup_add(m, "-title ");
  idm_markup_text(m, id);
  idm_markup_add(m, "-desc\">\n<title id=\"");
  idm_markup_text(m, id);
  idm_markup_add(m, "-title\">");
  idm_markup_text(m, figure->title);
  idm_markup_add(m, "</title><desc id=\"");
  idm_markup_text(m, id);
  idm_markup_add(m, "-desc\">");
  idm_markup_text(m, figure->description);
  idm_markup_add(m, "</desc>\n");
  if (!l->options->without_style) {
    const idm_status status = idm_figure_style(l->options->theme, &style, opt_error);
    if (status != IDM_OK) return status;
    idm_markup_add(m, "<style>%s</style>\n", style);
    free(style);
  }
  idm_markup_add(m, "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n");
  if (*figure->title) {
    char buffer[200];
    add_text(m, "title", "start", edge, edge + large - 1,
             idm_text_fit(figure->title, (width - 2 * edge) / large / 1.1, buffer, sizeof buffer));
  }
  legend(figure, width, edge + (*figure->title ? line + 6 : 0), m);
  return IDM_OK;
}

/* IDM_USAGE unless strips come after the panels of the grid, and each belongs to one of these. */
static idm_status check_strips(const idm_figure *figure, idm_error *opt_error)
{
  bool begun = false;
  for (size_t p = 0; p < figure->panels; p++) {
    const idm_panel *panel = figure->panel[p];
    const bool strip = panel->place != IDM_PANEL_GRID;
    if ((begun && !strip) ||
        (strip &&
         (panel->parent_panel >= p || figure->panel[panel->parent_panel]->place != IDM_PANEL_GRID)))
      return idm_fail(opt_error, IDM_USAGE,
                      "a strip comes after all panels of the grid, and belongs to one of them");
    begun = strip;
  }
  return IDM_OK;
}

idm_status idm_figure_svg(const idm_figure *figure, const idm_figure_options *options,
                          char **ret_text, idm_error *opt_error)
{
  idm_require(figure, options, ret_text);
  *ret_text = NULL;
  if (!(options->width >= 100 && options->width <= 10000))
    return idm_fail(opt_error, IDM_USAGE, "a figure is 100 to 10000 pixels wide, not %g",
                    options->width);
  const idm_status sound = check_strips(figure, opt_error);
  if (sound != IDM_OK) return sound;
  idm_markup m = {0};
  layout l = {.figure = figure, .options = options};
  const size_t fitting = (size_t)fmax(1, floor(options->width / min_panel));
  l.columns = figure->columns < fitting ? figure->columns : fitting;
  while (l.grid < figure->panels && figure->panel[l.grid]->place == IDM_PANEL_GRID) l.grid++;
  l.rows = (l.grid + l.columns - 1) / l.columns;
  /* Rows of equal length, as far as possible. */
  l.columns = l.rows ? (l.grid + l.rows - 1) / l.rows : 1;
  l.top = idm_new(2 * l.rows, sizeof *l.top);
  l.canvas = idm_new(figure->panels, sizeof *l.canvas);
  idm_status status = l.top && l.canvas ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    l.frame_height = l.top + l.rows;
    compute_layout(&l, &m);
    status = begin(&l, &m, opt_error);
  }
  for (size_t p = 0; p < figure->panels && status == IDM_OK; p++) draw_panel(&l, p);
  idm_markup_add(&m, "</svg>\n");
  free(l.top);
  free(l.canvas);
  if (status == IDM_OK) return idm_markup_take(&m, ret_text, opt_error);
  free(m.text);
  return status;
}
