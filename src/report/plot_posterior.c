/* Plot of the posterior density of each quantity of a run, with its prior density. */
#include <math.h>

#include "base/memory.h"
#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_posterior; /* registered in plots.c */

enum { points = 256, max_panels = 12 };

static idm_status add_rule(idm_panel *panel, const char *name, int colour, double x,
                           idm_error *opt_error)
{
  idm_mark *rule;
  if (!isfinite(x)) return IDM_OK;
  const idm_status status = idm_panel_add(panel, IDM_MARK_RULES, name, colour, 1, &rule, opt_error);
  if (status == IDM_OK) rule->column[IDM_FIGURE_X][0] = x;
  return status;
}

static idm_status add_prior(idm_panel *panel, const idm_plot_quantity *one, const idm_curve *curve,
                            idm_error *opt_error)
{
  if (!one->prior) return IDM_OK;
  double *height = idm_new(curve->points, sizeof *height);
  idm_status status = height ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_curve_compare(curve, one->prior, one->priors, height, opt_error);
  if (status == IDM_OK)
    status = idm_panel_plot(panel, IDM_MARK_LINE, "prior", IDM_COLOUR_NEUTRAL, curve->points,
                            curve->at, height, opt_error);
  free(height);
  return status;
}

static idm_status add_density(idm_panel *panel, const idm_curve *curve, idm_error *opt_error)
{
  idm_mark *band;
  idm_status status = idm_panel_add(panel, IDM_MARK_BAND, "", 0, curve->points, &band, opt_error);
  if (status != IDM_OK) return status;
  memcpy(band->column[IDM_FIGURE_X], curve->at, curve->points * sizeof *curve->at);
  memcpy(band->column[IDM_FIGURE_HIGH], curve->height, curve->points * sizeof *curve->height);
  status = idm_panel_plot(panel, IDM_MARK_LINE, "posterior", 0, curve->points, curve->at,
                          curve->height, opt_error);
  if (status != IDM_OK) return status;
  double top = 0;
  for (size_t i = 0; i < curve->points; i++) top = fmax(top, curve->height[i]);
  return idm_panel_plot(panel, IDM_MARK_POINTS, "mode", 0, 1, &curve->mode, &top, opt_error);
}

static idm_status add_quantity(const idm_plot_subject *subject, const idm_plot_quantity *one,
                               size_t count, idm_figure *figure, idm_notes *notes,
                               idm_error *opt_error)
{
  (void)subject;
  (void)count;
  idm_curve curve;
  idm_panel *panel = NULL;
  idm_status status = idm_curve_create(one, points, 1, &curve, opt_error);
  if (status != IDM_OK) return status;
  status = idm_figure_add(figure, "", one->name, curve.logarithmic ? "density of log" : "density",
                          &panel, opt_error);
  if (status == IDM_OK) panel->y.low = 0;
  if (status == IDM_OK && curve.varies) {
    panel->x.logarithmic = curve.logarithmic;
    panel->x.low = fmin(curve.at[0], one->truth); /* NaN is ignored */
    panel->x.high = fmax(curve.at[curve.points - 1], one->truth);
    status = add_prior(panel, one, &curve, opt_error);
    if (status == IDM_OK) status = add_density(panel, &curve, opt_error);
  } else if (status == IDM_OK) {
    idm_notes_add(notes, "%s has one value alone: there is no density to draw", one->name);
  }
  if (status == IDM_OK) status = add_rule(panel, "mean", 1, curve.mean, opt_error);
  if (status == IDM_OK) status = add_rule(panel, "truth", 2, one->truth, opt_error);
  idm_curve_clear(&curve);
  return status;
}

static idm_status make_posterior(const idm_plot_subject *subject, const idm_plot_settings *settings,
                                 idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  static const idm_quantity_plot kind = {
      .description = "Densities of the draws of a run, one panel per quantity, with those of the "
                     "prior if it is proper.",
      .columns = 3,
      .most = max_panels,
      .priors = true,
      .draw = add_quantity,
  };
  return idm_quantity_plot_make(&kind, subject, settings, ret_figure, notes, opt_error);
}

const idm_plot idm_plot_posterior = {
    .name = "posterior",
    .summary = "posterior densities of a run, one panel per quantity, with the prior densities",
    .needs = IDM_PLOT_POSTERIOR | IDM_PLOT_DRAWS,
    .truths = true,
    .make = make_posterior,
};
