/* The plot kind `running`: means of the draws up to each draw, one line per chain. */
#include <stdio.h>

#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_running; /* registered in plots.c */

static idm_status add_quantity(const idm_plot_subject *subject, const idm_plot_quantity *one,
                               size_t count, idm_figure *figure, idm_notes *notes,
                               idm_error *opt_error)
{
  (void)count;
  (void)notes;
  const idm_posterior *p = subject->posterior;
  idm_panel *panel;
  idm_status status = idm_figure_add(figure, "", "draw", one->name, &panel, opt_error);
  for (size_t c = 0; c < p->chains && status == IDM_OK; c++) {
    char name[40];
    double sum = 0;
    idm_mark *line;
    snprintf(name, sizeof name, "chain %zu", c + 1);
    status = idm_panel_add(panel, IDM_MARK_LINE, name, (int)(c % IDM_COLOURS), p->draws, &line,
                           opt_error);
    for (size_t i = 0; i < p->draws && status == IDM_OK; i++) {
      sum += one->draw[c * p->draws + i];
      line->column[IDM_FIGURE_X][i] = (double)i + 1;
      line->column[IDM_FIGURE_Y][i] = sum / (double)(i + 1);
    }
  }
  return status;
}

static idm_status make_running(const idm_plot_subject *subject, const idm_plot_settings *settings,
                               idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  static const idm_quantity_plot kind = {
      .description = "Means of the draws up to each draw, one line per chain.",
      .columns = 2,
      .most = 12,
      .draw = add_quantity,
  };
  return idm_quantity_plot_make(&kind, subject, settings, ret_figure, notes, opt_error);
}

const idm_plot idm_plot_running = {
    .name = "running",
    .summary = "means of the draws up to each draw, one line per chain",
    .needs = IDM_PLOT_POSTERIOR | IDM_PLOT_DRAWS,
    .make = make_running,
};
