/* Plot of the draws of a run in their order, with one line per chain. */
#include <stdio.h>

#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_trace; /* registered in plots.c */

enum { max_panels = 12, max_points = 1000 };

/* Add the line of a chain; of long chains only every n-th draw. */
static idm_status add_chain(idm_panel *panel, const idm_plot_quantity *one, const idm_posterior *p,
                            size_t chain, idm_error *opt_error)
{
  const size_t count = p->draws < max_points ? p->draws : max_points;
  char name[40];
  idm_mark *line;
  snprintf(name, sizeof name, "chain %zu", chain + 1);
  const idm_status status = idm_panel_add(panel, count > 1 ? IDM_MARK_LINE : IDM_MARK_POINTS, name,
                                          (int)(chain % IDM_COLOURS), count, &line, opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    const size_t at = i * p->draws / count;
    line->column[IDM_FIGURE_X][i] = (double)at + 1;
    line->column[IDM_FIGURE_Y][i] = one->draw[chain * p->draws + at];
  }
  return status;
}

static idm_status add_quantity(const idm_plot_subject *subject, const idm_plot_quantity *one,
                               size_t count, idm_figure *figure, idm_notes *notes,
                               idm_error *opt_error)
{
  (void)count;
  (void)notes;
  const idm_posterior *p = subject->posterior;
  idm_panel *panel;
  idm_status status = idm_figure_add(figure, "", "draw", one->name, &panel, opt_error);
  if (status != IDM_OK) return status;
  panel->x.whole = true;
  panel->x.low = 1;
  panel->x.high = (double)(p->draws > 1 ? p->draws : 2);
  for (size_t c = 0; c < p->chains && status == IDM_OK; c++)
    status = add_chain(panel, one, p, c, opt_error);
  return status;
}

static idm_status make_trace(const idm_plot_subject *subject, const idm_plot_settings *settings,
                             idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  static const idm_quantity_plot kind = {
      .description = "Draws of a run in their order, one line per chain.",
      .columns = 2,
      .most = max_panels,
      .draw = add_quantity,
  };
  return idm_quantity_plot_make(&kind, subject, settings, ret_figure, notes, opt_error);
}

const idm_plot idm_plot_trace = {
    .name = "trace",
    .summary = "draws of a run in their order, one line per chain",
    .needs = IDM_PLOT_POSTERIOR | IDM_PLOT_DRAWS,
    .make = make_trace,
};
