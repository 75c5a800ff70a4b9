/* Plot of two quantities of a run jointly: the paper's figure "Inverse Bounded Rational Control".
 *
 * Contents: contour · plot joint */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/memory.h"
#include "report/markup.h"
#include "report/panels.h"
#include "report/report.h"

/* === contour ================================================================================== */

/* Contours by marching squares. A line crosses the segment between two adjacent grid points at most
 * once; such a segment is an edge, and has a number. In every cell, the edges that are crossed are
 * linked in pairs, and lines follow the links. */

enum { NONE = -1 };

typedef struct contour_tracer {
  const idm_heights *h;
  double level;
  size_t edges;
  int64_t (*link)[2]; /* [edge]: the edges that a line continues to */
  idm_contour *to;
} contour_tracer;

static double height_at(const contour_tracer *w, size_t x, size_t y)
{
  return w->h->z[y * w->h->across + x];
}

static bool is_above(const contour_tracer *w, size_t x, size_t y)
{
  return height_at(w, x, y) >= w->level;
}

/* Edges to the right of a grid point are numbered first, then those upwards. */
static size_t horizontal_edge(const contour_tracer *w, size_t x, size_t y)
{
  return y * w->h->across + x;
}

static size_t vertical_edge(const contour_tracer *w, size_t x, size_t y)
{
  return w->h->across * w->h->up + y * w->h->across + x;
}

static void link_edges(const contour_tracer *w, size_t a, size_t b)
{
  w->link[a][w->link[a][0] != NONE] = (int64_t)b;
  w->link[b][w->link[b][0] != NONE] = (int64_t)a;
}

/* Link the edges of a cell that are crossed: two, or all four. With four, the corners above the
 * level are connected if the centre is above it. */
static void link_cell(const contour_tracer *w, size_t x, size_t y)
{
  const bool above[] = {is_above(w, x, y), is_above(w, x + 1, y), is_above(w, x + 1, y + 1),
                        is_above(w, x, y + 1)};
  const size_t edge[] = {horizontal_edge(w, x, y), vertical_edge(w, x + 1, y),
                         horizontal_edge(w, x, y + 1), vertical_edge(w, x, y)};
  size_t crossed[4], count = 0;
  for (size_t k = 0; k < 4; k++)
    if (above[k] != above[(k + 1) % 4]) crossed[count++] = edge[k];
  if (count == 2) link_edges(w, crossed[0], crossed[1]);
  if (count != 4) return;
  const double middle = (height_at(w, x, y) + height_at(w, x + 1, y) + height_at(w, x + 1, y + 1) +
                         height_at(w, x, y + 1)) /
                        4;
  const bool is_joined = (middle >= w->level) == above[0];
  /* Corners 0 and 2 are connected: lines cut off corners 1 and 3. */
  link_edges(w, edge[0], edge[is_joined ? 1 : 3]);
  link_edges(w, edge[2], edge[is_joined ? 3 : 1]);
}

/* Add the point of an edge at which the function has the level. */
static void add_crossing(const contour_tracer *w, size_t edge)
{
  const size_t across = w->h->across, cells = across * w->h->up;
  const bool vertical = edge >= cells;
  const size_t x = edge % cells % across, y = edge % cells / across;
  const double a = height_at(w, x, y), b = height_at(w, x + !vertical, y + vertical);
  const double part = (w->level - a) / (b - a);
  w->to->x[w->to->count] =
      vertical ? w->h->x[x] : w->h->x[x] + part * (w->h->x[x + 1] - w->h->x[x]);
  w->to->y[w->to->count++] =
      vertical ? w->h->y[y] + part * (w->h->y[y + 1] - w->h->y[y]) : w->h->y[y];
}

/* Follow the links from an edge, and remove each. */
static void trace_line(const contour_tracer *w, size_t from)
{
  size_t at = from;
  add_crossing(w, at);
  for (;;) {
    const int side = w->link[at][0] == NONE;
    const int64_t next = w->link[at][side];
    if (next == NONE) break;
    w->link[at][side] = NONE;
    int64_t *back = w->link[next];
    back[back[0] != (int64_t)at] = NONE;
    at = (size_t)next;
    add_crossing(w, at);
  }
  w->to->x[w->to->count] = w->to->y[w->to->count] = NAN;
  w->to->count++;
}

static void trace_all(const contour_tracer *w)
{
  for (size_t y = 0; y + 1 < w->h->up; y++)
    for (size_t x = 0; x + 1 < w->h->across; x++) link_cell(w, x, y);
  /* First lines that end at the border of the grid, then closed lines. */
  for (size_t i = 0; i < w->edges; i++)
    if ((w->link[i][0] == NONE) != (w->link[i][1] == NONE)) trace_line(w, i);
  for (size_t i = 0; i < w->edges; i++)
    if (w->link[i][0] != NONE) trace_line(w, i);
}

idm_status idm_contour_find(const idm_heights *heights, double level, idm_contour *ret_contour,
                            idm_error *opt_error)
{
  contour_tracer w = {
      .h = heights, .level = level, .edges = 2 * heights->across * heights->up, .to = ret_contour};
  /* Every edge is added once, or twice if a line is closed, and a line has at least two. */
  *ret_contour = (idm_contour){.x = idm_new(2 * w.edges + 2, sizeof(double)),
                               .y = idm_new(2 * w.edges + 2, sizeof(double))};
  w.link = idm_new(w.edges, sizeof *w.link);
  if (!ret_contour->x || !ret_contour->y || !w.link) {
    free(w.link);
    idm_contour_clear(ret_contour);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < w.edges; i++) w.link[i][0] = w.link[i][1] = NONE;
  trace_all(&w);
  free(w.link);
  return IDM_OK;
}

void idm_contour_clear(idm_contour *contour)
{
  free(contour->x);
  free(contour->y);
  *contour = (idm_contour){0};
}

/* === plot joint =============================================================================== */

extern const idm_plot idm_plot_joint; /* registered in plots.c */

enum { grid = 96, max_dots = 400 };

/* Shares of the draws inside a contour. */
static const struct {
  double share;
  const char *name;
  bool dashed;
} levels[] = {{0.9, "90 % of the draws", true}, {0.5, "50 % of the draws", false}};

/* Add a subset of the draws, evenly spaced over all. */
static idm_status add_dots(idm_panel *panel, const idm_plot_quantities *shown,
                           const idm_curve *curve, idm_error *opt_error)
{
  const size_t all = shown->one[0].count, count = all < max_dots ? all : max_dots;
  idm_mark *dots;
  const idm_status status =
      idm_panel_add(panel, IDM_MARK_POINTS, "draws", IDM_COLOUR_NEUTRAL, count, &dots, opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    bool shows = true;
    for (int d = 0; d < 2; d++) {
      const double at = curve[d].draw[i * all / count];
      shows =
          shows && (!curve[d].varies || (at >= curve[d].range.low && at <= curve[d].range.high));
    }
    for (int d = 0; d < 2; d++)
      dots->column[d ? IDM_FIGURE_Y : IDM_FIGURE_X][i] =
          shows ? shown->one[d].draw[i * all / count] : NAN;
  }
  return status;
}

static idm_status add_contour(idm_panel *panel, const idm_joint_draws *joint,
                              const idm_curve *curve, const double *density, size_t level,
                              idm_error *opt_error)
{
  const idm_heights heights = {grid, grid, joint->at[0], joint->at[1], density};
  idm_contour contour;
  double height;
  idm_status status = idm_joint_level(joint, density, levels[level].share, &height, opt_error);
  if (status != IDM_OK || !(height > 0)) return status;
  status = idm_contour_find(&heights, height, &contour, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < contour.count; i++) {
    contour.x[i] = idm_curve_natural(&curve[0], contour.x[i]);
    contour.y[i] = idm_curve_natural(&curve[1], contour.y[i]);
  }
  status = idm_panel_plot(panel, IDM_MARK_LINE, levels[level].name, 0, contour.count, contour.x,
                          contour.y, opt_error);
  if (status == IDM_OK) panel->mark[panel->marks - 1]->dashed = levels[level].dashed;
  idm_contour_clear(&contour);
  return status;
}

/* Add the mode of the joint density. */
static idm_status add_mode(idm_panel *panel, const idm_curve *curve, const double *density,
                           idm_error *opt_error)
{
  size_t best = 0;
  for (size_t i = 1; i < (size_t)grid * grid; i++)
    if (density[i] > density[best]) best = i;
  const double x = curve[0].at[best % grid], y = curve[1].at[best / grid];
  return idm_panel_plot(panel, IDM_MARK_POINTS, "mode", 1, 1, &x, &y, opt_error);
}

static idm_status add_contours(idm_panel *panel, const idm_curve *curve, idm_error *opt_error)
{
  const idm_joint_draws joint = {.draw = {curve[0].draw, curve[1].draw},
                                 .count = curve[0].count,
                                 .bandwidth = {curve[0].bandwidth, curve[1].bandwidth},
                                 .support = {curve[0].support, curve[1].support},
                                 .points = {grid, grid},
                                 .at = {curve[0].along, curve[1].along}};
  double *density = idm_new((size_t)grid * grid, sizeof *density);
  idm_status status = density ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_joint_density(&joint, density, opt_error);
  for (size_t i = 0; i < sizeof levels / sizeof *levels && status == IDM_OK; i++)
    status = add_contour(panel, &joint, curve, density, i, opt_error);
  if (status == IDM_OK) status = add_mode(panel, curve, density, opt_error);
  free(density);
  return status;
}

/* Extend the axis to the truth, if it is given (fmin and fmax ignore NaN) and is valid on the axis.
 */
static void set_ends(idm_figure_axis *axis, const idm_curve *curve, double truth)
{
  if (!curve->varies) return;
  if (curve->logarithmic && !(truth > 0)) truth = NAN;
  axis->logarithmic = curve->logarithmic;
  axis->low = fmin(curve->at[0], truth);
  axis->high = fmax(curve->at[curve->points - 1], truth);
}

/* A line across the panel at the truth of each quantity for which it is given. */
static idm_status add_truth(idm_panel *panel, const idm_plot_quantities *shown,
                            idm_error *opt_error)
{
  idm_status status = IDM_OK;
  bool named = false;
  for (int d = 0; d < 2 && status == IDM_OK; d++) {
    idm_mark *line;
    if (!isfinite(shown->one[d].truth)) continue;
    status = idm_panel_add(panel, d ? IDM_MARK_LEVELS : IDM_MARK_RULES, named ? "" : "truth", 2, 1,
                           &line, opt_error);
    if (status == IDM_OK) line->column[d ? IDM_FIGURE_Y : IDM_FIGURE_X][0] = shown->one[d].truth;
    named = true;
  }
  return status;
}

static idm_status add_joint(idm_figure *figure, const idm_plot_quantities *shown,
                            const idm_curve *curve, idm_notes *notes, idm_error *opt_error)
{
  idm_panel *panel;
  idm_status status =
      idm_figure_add(figure, "", shown->one[0].name, shown->one[1].name, &panel, opt_error);
  if (status != IDM_OK) return status;
  panel->aspect = 0.6;
  set_ends(&panel->x, &curve[0], shown->one[0].truth);
  set_ends(&panel->y, &curve[1], shown->one[1].truth);
  status = add_dots(panel, shown, curve, opt_error);
  if (status == IDM_OK) status = add_truth(panel, shown, opt_error);
  if (status == IDM_OK && curve[0].varies && curve[1].varies)
    return add_contours(panel, curve, opt_error);
  if (status == IDM_OK)
    idm_notes_add(notes, "%s has one value alone: there is no density to draw",
                  shown->one[curve[0].varies].name);
  return status;
}

/* Add the density of one quantity along its axis; that of the second is rotated. */
static idm_status add_marginal(idm_figure *figure, const idm_plot_quantity *one, bool vertical,
                               idm_error *opt_error)
{
  idm_curve curve;
  idm_panel *panel;
  idm_status status = idm_curve_create(one, grid, 1, &curve, opt_error);
  if (status != IDM_OK) return status;
  status = idm_figure_add(figure, "", "", "", &panel, opt_error);
  if (status == IDM_OK) {
    panel->place = vertical ? IDM_PANEL_ABOVE : IDM_PANEL_RIGHT;
    set_ends(vertical ? &panel->x : &panel->y, &curve, one->truth);
    *(vertical ? &panel->y.low : &panel->x.low) = 0;
    status = idm_panel_plot(panel, IDM_MARK_LINE, "", 0, curve.points,
                            vertical ? curve.at : curve.height, vertical ? curve.height : curve.at,
                            opt_error);
  }
  idm_curve_clear(&curve);
  return status;
}

static idm_status make_figure(const idm_plot_quantities *shown, idm_figure **ret_figure,
                              idm_notes *notes, idm_error *opt_error)
{
  idm_curve curve[2] = {{0}, {0}};
  idm_status status =
      idm_figure_create("",
                        "The joint density of two quantities of a run, with contours that hold 50 "
                        "% and 90 % of the draws, its mode, and the density of each.",
                        1, ret_figure, opt_error);
  for (int d = 0; d < 2 && status == IDM_OK; d++)
    status = idm_curve_create(&shown->one[d], grid, 2, &curve[d], opt_error);
  if (status == IDM_OK) status = add_joint(*ret_figure, shown, curve, notes, opt_error);
  for (int d = 0; d < 2 && status == IDM_OK; d++)
    status = add_marginal(*ret_figure, &shown->one[d], d == 0, opt_error);
  for (int d = 0; d < 2; d++) idm_curve_clear(&curve[d]);
  return status;
}

static idm_status make_joint(const idm_plot_subject *subject, const idm_plot_settings *settings,
                             idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  idm_plot_quantities shown;
  idm_status status =
      idm_plot_quantities_select(subject, settings, 2, false, &shown, NULL, opt_error);
  if (status == IDM_OK && shown.count != 2)
    status =
        idm_fail(opt_error, IDM_USAGE,
                 "a plot of kind 'joint' is of two quantities, and %zu %s there; name two with "
                 "--quantity",
                 shown.count, shown.count == 1 ? "is" : "are");
  if (status == IDM_OK) status = make_figure(&shown, ret_figure, notes, opt_error);
  idm_plot_quantities_clear(&shown);
  return status;
}

const idm_plot idm_plot_joint = {
    .name = "joint",
    .summary = "two quantities of a run together, with contours that hold half and 90 % of the "
               "draws, and their mode",
    .needs = IDM_PLOT_POSTERIOR | IDM_PLOT_DRAWS,
    .truths = true,
    .make = make_joint,
};
