/* Plot of the ranks of the draws of each chain among those of all (Vehtari et al. 2021): chains
 * that sample the same distribution have level histograms of ranks. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "infer/chains.h"
#include "infer/distribution.h"
#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_rank; /* registered in plots.c */

enum { max_quantities = 6, max_bins = 20, max_columns = 4 };

/* Number of bins, with at least ten draws of a chain per bin if there are enough. */
static size_t bins_of(size_t draws)
{
  const size_t bins = draws / 10;
  return bins < 2 ? 2 : bins > max_bins ? max_bins : bins;
}

/* 95 % interval of the count of one bin. A bin has a part 1/B of all draws; the number of those of
 * one chain is hypergeometric, approximately normal, and its variance increases as fewer draws are
 * effective. */
static void find_band(const idm_posterior *p, const double *draw, size_t bins, double *low,
                      double *high)
{
  idm_diagnosis d;
  const double all = (double)(p->chains * p->draws), own = (double)p->draws;
  const double part = 1 / (double)bins;
  double effective = all;
  if (idm_diagnose(draw, p->chains, p->draws, p->draws, 1, &d, NULL) == IDM_OK && d.ess_bulk > 0)
    effective = fmin(all, d.ess_bulk);
  const double variance =
      all > 1 ? own * part * (1 - part) * (all - own) / (all - 1) * all / effective : 0;
  *low = fmax(0, own * part - 1.959963984540054 * sqrt(variance));
  *high = own * part + 1.959963984540054 * sqrt(variance);
}

static idm_status add_band(idm_panel *panel, size_t bins, double low, double high,
                           idm_error *opt_error)
{
  idm_mark *band;
  const idm_status status = idm_panel_add(panel, IDM_MARK_BAND, "95 % where chains agree",
                                          IDM_COLOUR_NEUTRAL, 2, &band, opt_error);
  for (size_t i = 0; i < 2 && status == IDM_OK; i++) {
    band->column[IDM_FIGURE_X][i] = i ? (double)bins : 0;
    band->column[IDM_FIGURE_LOW][i] = low;
    band->column[IDM_FIGURE_HIGH][i] = high;
  }
  return status;
}

static idm_status add_chain(idm_figure *figure, const char *title, size_t chain, size_t bins,
                            const size_t *count, const double band[3], idm_error *opt_error)
{
  idm_panel *panel;
  idm_mark *bars;
  idm_status status = idm_figure_add(figure, title, "rank, in bins", "draws", &panel, opt_error);
  if (status != IDM_OK) return status;
  panel->x.low = panel->y.low = 0;
  panel->x.high = (double)bins;
  panel->y.high = band[2];
  panel->x.whole = panel->y.whole = true;
  status = add_band(panel, bins, band[0], band[1], opt_error);
  if (status == IDM_OK)
    status =
        idm_panel_add(panel, IDM_MARK_BARS, "", (int)(chain % IDM_COLOURS), bins, &bars, opt_error);
  for (size_t b = 0; b < bins && status == IDM_OK; b++) {
    bars->column[IDM_FIGURE_X][b] = (double)b;
    bars->column[IDM_FIGURE_RIGHT][b] = (double)b + 1;
    bars->column[IDM_FIGURE_Y][b] = (double)count[b];
  }
  return status;
}

static idm_status add_quantity(const idm_plot_subject *subject, const idm_plot_quantity *one,
                               size_t number, idm_figure *figure, idm_notes *notes,
                               idm_error *opt_error)
{
  (void)number;
  (void)notes;
  const idm_posterior *p = subject->posterior;
  const size_t bins = bins_of(p->draws);
  size_t *count = idm_new(idm_times(p->chains, bins), sizeof *count);
  double band[3]; /* its ends, and the end of the axis of all chains */
  idm_status status = count ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_rank_counts(one->draw, p->chains, p->draws, bins, count, opt_error);
  find_band(p, one->draw, bins, &band[0], &band[1]);
  band[2] = band[1];
  for (size_t i = 0; status == IDM_OK && i < p->chains * bins; i++)
    band[2] = fmax(band[2], (double)count[i]);
  band[2] *= 1.08;
  for (size_t c = 0; c < p->chains && status == IDM_OK; c++) {
    char title[320];
    snprintf(title, sizeof title, "%s, chain %zu", one->name, c + 1);
    status = add_chain(figure, title, c, bins, count + c * bins, band, opt_error);
  }
  free(count);
  return status;
}

static idm_status make_rank(const idm_plot_subject *subject, const idm_plot_settings *settings,
                            idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  const size_t chains = subject->posterior->chains;
  const idm_quantity_plot kind = {
      .description = "Histograms of the ranks of each chain's draws among those of all chains: "
                     "level where the chains agree.",
      .columns = chains < max_columns ? chains : max_columns,
      .most = max_quantities,
      .draw = add_quantity,
  };
  if (chains < 2)
    idm_notes_add(
        notes,
        "the ranks of a single chain are level by construction: two or more chains are needed");
  return idm_quantity_plot_make(&kind, subject, settings, ret_figure, notes, opt_error);
}

const idm_plot idm_plot_rank = {
    .name = "rank",
    .summary = "ranks of each chain's draws among those of all, which are level where chains agree",
    .needs = IDM_PLOT_POSTERIOR | IDM_PLOT_DRAWS,
    .make = make_rank,
};
