/* Two quantities of a run together: the paper's figure "Inverse Bounded Rational Control". */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "idm/plot.h"
#include "report/contour.h"
#include "report/curve.h"

extern const idm_plot idm_plot_joint; /* registered in plots.c */

enum { grid = 96, most_dots = 400 };

/* Shares of the draws within a contour. */
static const struct {
  double share;
  const char *name;
  bool dashed;
} levels[] = {{0.9, "90 % of the draws", true}, {0.5, "50 % of the draws", false}};

/* Some of the draws, spread evenly over all. */
static idm_status add_dots(idm_panel *panel, const idm_shown *shown, const idm_curve *curve,
                           idm_error *opt_error)
{
  const size_t all = shown->one[0].count, count = all < most_dots ? all : most_dots;
  idm_mark *dots;
  const idm_status status =
      idm_panel_add(panel, IDM_MARK_POINTS, "draws", IDM_COLOUR_QUIET, count, &dots, opt_error);
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

static idm_status add_contour(idm_panel *panel, const idm_joint *joint, const idm_curve *curve,
                              const double *density, size_t level, idm_error *opt_error)
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

/* Where the joint density is highest. */
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
  const idm_joint joint = {.draw = {curve[0].draw, curve[1].draw},
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

/* The axis reaches as far as the truth, if that is given (fmin and fmax ignore NaN) and has a place
 * on it. */
static void set_ends(idm_figure_axis *axis, const idm_curve *curve, double truth)
{
  if (!curve->varies) return;
  if (curve->logarithmic && !(truth > 0)) truth = NAN;
  axis->logarithmic = curve->logarithmic;
  axis->low = fmin(curve->at[0], truth);
  axis->high = fmax(curve->at[curve->points - 1], truth);
}

/* A line across the panel at the truth of each quantity for which it is given. */
static idm_status add_truth(idm_panel *panel, const idm_shown *shown, idm_error *opt_error)
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

static idm_status add_joint(idm_figure *figure, const idm_shown *shown, const idm_curve *curve,
                            idm_notes *notes, idm_error *opt_error)
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

/* The density of each alone, along its axis: that of the second lies on its side. */
static idm_status add_marginal(idm_figure *figure, const idm_shown_one *one, bool upright,
                               idm_error *opt_error)
{
  idm_curve curve;
  idm_panel *panel;
  idm_status status = idm_curve_create(one, grid, 1, &curve, opt_error);
  if (status != IDM_OK) return status;
  status = idm_figure_add(figure, "", "", "", &panel, opt_error);
  if (status == IDM_OK) {
    panel->place = upright ? IDM_PANEL_ABOVE : IDM_PANEL_RIGHT;
    set_ends(upright ? &panel->x : &panel->y, &curve, one->truth);
    *(upright ? &panel->y.low : &panel->x.low) = 0;
    status =
        idm_panel_plot(panel, IDM_MARK_LINE, "", 0, curve.points, upright ? curve.at : curve.height,
                       upright ? curve.height : curve.at, opt_error);
  }
  idm_curve_clear(&curve);
  return status;
}

static idm_status make_figure(const idm_shown *shown, idm_figure **ret_figure, idm_notes *notes,
                              idm_error *opt_error)
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
  idm_shown shown;
  idm_status status = idm_shown_choose(subject, settings, 2, false, &shown, NULL, opt_error);
  if (status == IDM_OK && shown.count != 2)
    status =
        idm_fail(opt_error, IDM_USAGE,
                 "a plot of kind 'joint' is of two quantities, and %zu %s there; name two with "
                 "--quantity",
                 shown.count, shown.count == 1 ? "is" : "are");
  if (status == IDM_OK) status = make_figure(&shown, ret_figure, notes, opt_error);
  idm_shown_clear(&shown);
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
