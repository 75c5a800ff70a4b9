/* The log's own summaries beside what the answer predicts of them: those that `idm check` compares.
 */
#include <string.h>

#include "idm/plot.h"
#include "invert/assess/predictions.h"

extern const idm_plot idm_plot_ppc; /* registered in plots.c */

static const struct {
  idm_model_test test;
  const char *title;
} parts[] = {{IDM_TEST_STEPS, "actions taken"},
             {IDM_TEST_ENDS, "trajectories that end"},
             {IDM_TEST_STAYS, "the same action again"}};

static size_t count_of(const idm_predictions *p, idm_model_test test)
{
  size_t count = 0;
  for (size_t i = 0; i < p->count; i++) count += p->one[i].test == test;
  return count;
}

static void put(const idm_prediction *one, size_t row, idm_mark *predicted, idm_mark *observed)
{
  predicted->column[IDM_FIGURE_X][row] = one->expected;
  predicted->column[IDM_FIGURE_Y][row] = (double)row;
  predicted->column[IDM_FIGURE_LOW][row] = one->low;
  predicted->column[IDM_FIGURE_HIGH][row] = one->high;
  predicted->column[IDM_FIGURE_INNER_LOW][row] = one->inner_low;
  predicted->column[IDM_FIGURE_INNER_HIGH][row] = one->inner_high;
  observed->column[IDM_FIGURE_X][row] = one->observed;
  observed->column[IDM_FIGURE_Y][row] = (double)row;
}

static idm_status add_part(idm_figure *figure, const idm_predictions *p, size_t part,
                           idm_error *opt_error)
{
  const size_t count = count_of(p, parts[part].test);
  idm_panel *panel;
  idm_mark *predicted, *observed;
  if (!count) return IDM_OK;
  idm_status status =
      idm_figure_add(figure, parts[part].title, "share of decisions", "", &panel, opt_error);
  if (status == IDM_OK) status = idm_labels_create(&panel->y.category, count, opt_error);
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_FOREST, "predicted: 50 % and 95 %", IDM_COLOUR_QUIET,
                           count, &predicted, opt_error);
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_POINTS, "observed", 1, count, &observed, opt_error);
  for (size_t i = 0, row = 0; i < p->count && status == IDM_OK; i++) {
    const idm_prediction *one = &p->one[i];
    if (one->test != parts[part].test) continue;
    put(one, row, predicted, observed);
    status = idm_labels_set(&panel->y.category, row++, one->label, strlen(one->label), opt_error);
  }
  return status;
}

static idm_status make_ppc(const idm_plot_subject *subject, const idm_plot_settings *settings,
                           idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  (void)settings;
  (void)notes;
  idm_predictions p;
  if (subject->posterior->series_count)
    return idm_fail(opt_error, IDM_USAGE,
                    "a plot of kind 'ppc' is of one answer for the whole log, and this run has one "
                    "for everybody");
  idm_status status =
      idm_predictions_find(subject->problem, subject->data, subject->posterior, &p, opt_error);
  if (status != IDM_OK) return status;
  if (!p.count)
    status = idm_fail(opt_error, IDM_INPUT,
                      "the log has no decisions to predict, or the answer "
                      "cannot be planned for");
  if (status == IDM_OK)
    status = idm_figure_create("",
                               "Summaries of the log beside what the answer predicts of them: "
                               "actions by step, trajectories that end by step, and the same "
                               "action again by what was seen.",
                               1, ret_figure, opt_error);
  for (size_t i = 0; i < sizeof parts / sizeof *parts && status == IDM_OK; i++)
    status = add_part(*ret_figure, &p, i, opt_error);
  idm_predictions_clear(&p);
  return status;
}

const idm_plot idm_plot_ppc = {
    .name = "ppc",
    .summary = "summaries of the log beside what a run's answer predicts of them",
    .needs = IDM_PLOT_PROBLEM | IDM_PLOT_POSTERIOR | IDM_PLOT_DATA,
    .dynamics = IDM_DRAWN_HIGHEST,
    .make = make_ppc,
};
