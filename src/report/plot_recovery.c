/* Plot of truth against estimate of a study with known truth. */
#include <math.h>

#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_recovery; /* registered in plots.c */

/* Add estimates with their 90 % intervals: those that contain the truth, or those that do not. */
static idm_status add_estimates(idm_panel *panel, const idm_calibration *c, size_t quantity,
                                bool covered, idm_error *opt_error)
{
  size_t count = 0, at = 0;
  idm_mark *mark;
  for (size_t i = 0; i < c->settings.replications; i++)
    count += c->done[i] && idm_study_covers(c, i, quantity) == covered;
  if (!count) return IDM_OK;
  const idm_status status = idm_panel_add(
      panel, IDM_MARK_RANGES, covered ? "90 % interval covers the truth" : "it does not",
      covered ? 0 : 1, count, &mark, opt_error);
  for (size_t i = 0; i < c->settings.replications && status == IDM_OK; i++) {
    const idm_recovery *r = &c->recovery[i * c->quantity.count + quantity];
    if (!c->done[i] || idm_study_covers(c, i, quantity) != covered) continue;
    mark->column[IDM_FIGURE_X][at] = r->truth;
    mark->column[IDM_FIGURE_Y][at] = r->mean;
    mark->column[IDM_FIGURE_LOW][at] = r->low;
    mark->column[IDM_FIGURE_HIGH][at++] = r->high;
  }
  return status;
}

/* Add the diagonal, on which truth and estimate are equal. */
static idm_status add_diagonal(idm_panel *panel, const idm_calibration *c, size_t quantity,
                               idm_error *opt_error)
{
  double end[2] = {INFINITY, -INFINITY};
  for (size_t i = 0; i < c->settings.replications; i++) {
    const idm_recovery *r = &c->recovery[i * c->quantity.count + quantity];
    if (!c->done[i] || !isfinite(r->truth)) continue;
    end[0] = fmin(end[0], r->truth);
    end[1] = fmax(end[1], r->truth);
  }
  if (!(end[0] <= end[1])) return IDM_OK;
  const idm_status status =
      idm_panel_plot(panel, IDM_MARK_LINE, "truth", IDM_COLOUR_NEUTRAL, 2, end, end, opt_error);
  if (status == IDM_OK) panel->mark[panel->marks - 1]->dashed = true;
  return status;
}

static idm_status draw(const idm_calibration *calibration, size_t quantity, bool alone,
                       idm_panel *panel, idm_error *opt_error)
{
  panel->aspect = alone ? 0 : 1; /* one alone would fill the page */
  idm_status status = add_diagonal(panel, calibration, quantity, opt_error);
  if (status == IDM_OK) status = add_estimates(panel, calibration, quantity, true, opt_error);
  return status == IDM_OK ? add_estimates(panel, calibration, quantity, false, opt_error) : status;
}

static idm_status make_recovery(const idm_plot_subject *subject, const idm_plot_settings *settings,
                                idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  static const idm_study_plot kind = {
      .description = "Truth against estimate, with 90 % intervals, over the replications of a "
                     "study: one panel per quantity.",
      .draw = draw,
      .x = "truth",
      .y = "estimate",
  };
  return idm_study_plot_make(&kind, subject, settings, ret_figure, notes, opt_error);
}

const idm_plot idm_plot_recovery = {
    .name = "recovery",
    .summary = "truth against estimate over the replications of `idm recover`",
    .needs = IDM_PLOT_CALIBRATION,
    .make = make_recovery,
};
