/* Ranks of the truth among the draws, of a study whose truth is known: level where prior,
 * simulation and posterior agree (Talts et al. 2018). */
#include "infer/uniform.h"

#include <math.h>

#include "idm/plot.h"
#include "report/replicated.h"

extern const idm_plot idm_plot_sbc; /* registered in plots.c */

enum { most_bins = 20 };

/* A divisor of the number of ranks, with five replications in a bin at least where it can be. */
static size_t bins_of(size_t done)
{
  return done >= 5 * most_bins ? most_bins : done >= 50 ? 10 : 5;
}

static idm_status add_band(idm_panel *panel, size_t done, size_t bins, idm_error *opt_error)
{
  size_t low, high;
  idm_mark *band;
  idm_binomial_interval(done, 1 / (double)bins, 0.95, &low, &high);
  const idm_status status = idm_panel_add(panel, IDM_MARK_BAND, "95 % where ranks are uniform",
                                          IDM_COLOUR_QUIET, 2, &band, opt_error);
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
  size_t count[most_bins];
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

static idm_status add_quantity(idm_figure *figure, const idm_calibration *c, size_t quantity,
                               idm_error *opt_error)
{
  const size_t done = idm_calibration_done(c), bins = bins_of(done);
  char name[256];
  idm_panel *panel;
  idm_status status =
      idm_figure_add(figure, idm_quantity_spoken(c->quantity.name[quantity], name, sizeof name),
                     "rank of the truth", "replications", &panel, opt_error);
  if (status != IDM_OK) return status;
  panel->x.low = -0.5;
  panel->x.high = IDM_RANKS + 0.5;
  panel->y.low = 0;
  panel->y.whole = true;
  status = add_band(panel, done, bins, opt_error);
  return status == IDM_OK ? add_bars(panel, c, quantity, bins, opt_error) : status;
}

static idm_status make_sbc(const idm_plot_subject *subject, const idm_plot_settings *settings,
                           idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  const idm_calibration *c = subject->study;
  idm_replicated shown;
  idm_status status = idm_replicated_choose(c, settings, true, &shown, notes, opt_error);
  if (status != IDM_OK) return status;
  status = idm_figure_create("",
                             "Histograms of the ranks of the truth among the draws, over the "
                             "replications of a study: a panel a quantity.",
                             shown.count < 3 ? shown.count : 3, ret_figure, opt_error);
  for (size_t i = 0; i < shown.count && status == IDM_OK; i++)
    status = add_quantity(*ret_figure, c, shown.quantity[i], opt_error);
  idm_replicated_clear(&shown);
  return status;
}

const idm_plot idm_plot_sbc = {
    .name = "sbc",
    .summary = "ranks of the truth over the replications of `idm sbc`, which are level where "
               "posterior and simulation agree",
    .needs = IDM_PLOT_STUDY,
    .make = make_sbc,
};
