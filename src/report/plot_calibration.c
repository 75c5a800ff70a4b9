/* Plot of predicted probabilities against observed frequencies. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_calibration; /* registered in plots.c */

enum { bins = 10 };

/* Decisions with similar predictions. */
typedef struct bin {
  size_t count;
  size_t taken;
  double sum; /* of the predictions */
} bin;

/* Wilson's (1927) interval of a frequency, 95 %: frequencies p with |k/n - p| <= c sqrt(p(1-p)/n).
 */
static void wilson(const bin *b, double *low, double *high)
{
  static const double c = 1.959963984540054;
  const double n = (double)b->count, p = (double)b->taken / n;
  const double middle = (p + c * c / (2 * n)) / (1 + c * c / n);
  const double half = c / (1 + c * c / n) * sqrt(p * (1 - p) / n + c * c / (4 * n * n));
  *low = b->taken ? fmax(middle - half, 0) : 0;
  *high = b->taken < b->count ? fmin(middle + half, 1) : 1;
}

/* Sort the predictions of an action, where it was available, into bins of width 0.1; returns the
 * number of bins in use. */
static size_t fill_bins(const idm_decisions *d, size_t action, bin *bin_list)
{
  size_t used = 0;
  for (size_t i = 0; i < d->count; i++) {
    const double p = d->probability[i * d->actions + action];
    if (!d->open[i * d->actions + action] || !(p >= 0)) continue;
    bin *b = &bin_list[p < 1 ? (size_t)(p * bins) : bins - 1];
    b->count++;
    b->taken += d->taken[i] == action;
    b->sum += p;
  }
  for (size_t k = 0; k < bins; k++) used += bin_list[k].count > 0;
  return used;
}

static idm_status add_bins(const bin *bin_list, size_t used, int colour, idm_panel *panel,
                           idm_error *opt_error)
{
  idm_mark *ranges;
  idm_status status = idm_panel_add(panel, IDM_MARK_RANGES, "frequency and 95 % interval", colour,
                                    used, &ranges, opt_error);
  if (status == IDM_OK) status = idm_labels_create(&ranges->label, used, opt_error);
  for (size_t k = 0, i = 0; k < bins && status == IDM_OK; k++) {
    const bin *b = &bin_list[k];
    char tooltip[80];
    if (!b->count) continue;
    const int length =
        snprintf(tooltip, sizeof tooltip, "%zu of %zu decisions", b->taken, b->count);
    ranges->column[IDM_FIGURE_X][i] = b->sum / (double)b->count;
    ranges->column[IDM_FIGURE_Y][i] = (double)b->taken / (double)b->count;
    wilson(b, &ranges->column[IDM_FIGURE_LOW][i], &ranges->column[IDM_FIGURE_HIGH][i]);
    status = idm_labels_set(&ranges->label, i++, tooltip, (size_t)length, opt_error);
  }
  return status;
}

static idm_status add_action(const idm_decisions *d, const idm_setting *setting, size_t action,
                             idm_figure *figure, idm_error *opt_error)
{
  static const double diagonal[] = {0, 1};
  bin bin_list[bins] = {{0}};
  idm_panel *panel;
  const size_t used = fill_bins(d, action, bin_list);
  if (!used) return IDM_OK;
  idm_status status = idm_figure_add(figure, setting->actions.name[action], "predicted probability",
                                     "frequency", &panel, opt_error);
  if (status == IDM_OK)
    status = idm_panel_plot(panel, IDM_MARK_LINE, "as predicted", IDM_COLOUR_NEUTRAL, 2, diagonal,
                            diagonal, opt_error);
  if (status != IDM_OK) return status;
  panel->mark[0]->dashed = true;
  panel->aspect = 1;
  panel->x.low = panel->y.low = -0.03; /* so that marks at the ends are not clipped */
  panel->x.high = panel->y.high = 1.03;
  return add_bins(bin_list, used, 0, panel, opt_error);
}

static idm_status make_calibration(const idm_plot_subject *subject,
                                   const idm_plot_settings *settings, idm_figure **ret_figure,
                                   idm_notes *notes, idm_error *opt_error)
{
  (void)settings;
  idm_decisions d;
  idm_status status = idm_decisions_open(subject, &d, notes, opt_error);
  if (status != IDM_OK) return status;
  status = idm_figure_create("",
                             "Observed frequency of each action against its predicted probability; "
                             "on the diagonal they are equal.",
                             d.actions < 3 ? d.actions : 3, ret_figure, opt_error);
  for (size_t u = 0; u < d.actions && status == IDM_OK; u++)
    status = add_action(&d, subject->problem->setting, u, *ret_figure, opt_error);
  idm_decisions_close(&d);
  return status;
}

const idm_plot idm_plot_calibration = {
    .name = "calibration",
    .summary = "observed frequency of each action against its predicted probability, over the "
               "decisions of a log",
    .needs = IDM_PLOT_PROBLEM | IDM_PLOT_DATA,
    .dynamics = IDM_DYNAMICS_PER_DRAW,
    .make = make_calibration,
};
