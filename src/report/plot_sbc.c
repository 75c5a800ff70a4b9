/* Plot of the ranks of the truth among the draws, of a study with known truth: level if prior,
 * simulation and posterior agree (Talts et al. 2018). */
#include "infer/distribution.h"

#include <math.h>

#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_sbc; /* registered in plots.c */

enum { max_bins = 20 };

/* A divisor of the number of ranks, with at least five replications per bin if possible. */
static size_t bins_of(size_t done)
{
  return done >= 5 * max_bins ? max_bins : done >= 50 ? 10 : 5;
}

static idm_status add_band(idm_panel *panel, size_t done, size_t bins, idm_error *opt_error)
{
  size_t low, high;
  idm_mark *band;
  idm_binomial_interval(done, 1 / (double)bins, 0.95, &low, &high);
  const idm_status status = idm_panel_add(panel, IDM_MARK_BAND, "95 % where ranks are uniform",
                                          IDM_COLOUR_NEUTRAL, 2, &band, opt_error);
  for (size_t i = 0; i < 2 && status == IDM_OK; i++) {
    band->column[IDM_FIGURE_X][i] = i ? IDM_RANKS + 0.5 : -0.5;
    band->column[IDM_FIGURE_LOW][i] = (double)low;
    band->column[IDM_FIGURE_HIGH][i] = (double)high;
  }
  if (status == IDM_OK) panel->y.high = (double)high;
  return status;
}

static idm_status add_bars(idm_panel *panel, const idm_calibration *c, size_t quantity, size_t bins,
                           idm_error *opt_error)
{
  size_t count[max_bins];
  idm_mark *bars;
  const double width = (IDM_RANKS + 1) / (double)bins;
  idm_calibration_uniformity(c, quantity, bins, count);
  const idm_status status = idm_panel_add(panel, IDM_MARK_BARS, "", 0, bins, &bars, opt_error);
  for (size_t b = 0; b < bins && status == IDM_OK; b++) {
    bars->column[IDM_FIGURE_X][b] = (double)b * width - 0.5;
    bars->column[IDM_FIGURE_RIGHT][b] = (double)(b + 1) * width - 0.5;
    bars->column[IDM_FIGURE_Y][b] = (double)count[b];
    panel->y.high = fmax(panel->y.high, (double)count[b]);
  }
  panel->y.high *= 1.08;
  return status;
}

static idm_status draw(const idm_calibration *calibration, size_t quantity, bool alone,
                       idm_panel *panel, idm_error *opt_error)
{
  (void)alone;
  const size_t done = idm_calibration_done(calibration), bins = bins_of(done);
  panel->x.low = -0.5;
  panel->x.high = IDM_RANKS + 0.5;
  panel->y.low = 0;
  panel->y.whole = true;
  const idm_status status = add_band(panel, done, bins, opt_error);
  return status == IDM_OK ? add_bars(panel, calibration, quantity, bins, opt_error) : status;
}

static idm_status make_sbc(const idm_plot_subject *subject, const idm_plot_settings *settings,
                           idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  static const idm_study_plot kind = {
      .description = "Histograms of the ranks of the truth among the draws, over the replications "
                     "of a study: one panel per quantity.",
      .likelihood = true,
      .draw = draw,
      .x = "rank of the truth",
      .y = "replications",
  };
  return idm_study_plot_make(&kind, subject, settings, ret_figure, notes, opt_error);
}

const idm_plot idm_plot_sbc = {
    .name = "sbc",
    .summary = "ranks of the truth over the replications of `idm sbc`, which are level where "
               "posterior and simulation agree",
    .needs = IDM_PLOT_CALIBRATION,
    .make = make_sbc,
};
