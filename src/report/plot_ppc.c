/* Plot of summaries of the log with their predictions by the answer: those that `idm check`
 * compares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "invert/assess/residual.h"
#include "report/report.h"

extern const idm_plot idm_plot_ppc; /* registered in plots.c */

/* Largest number of rows in a panel. */
enum { max_rows = 36 };

static const struct {
  idm_model_test test;
  const char *title;
} parts[] = {{IDM_TEST_STEPS, "actions taken"},
             {IDM_TEST_LENGTHS, "trajectories that end"},
             {IDM_TEST_REPETITION, "the same action again"},
             {IDM_TEST_ALTERNATION, "return to an earlier action, by what it had shown"},
             {IDM_TEST_RESPONSES, "actions after an observation"},
             {IDM_TEST_BELIEFS, "actions by belief"},
             {IDM_TEST_CONDITIONS, "actions by condition"}};

/* --- rows ----------------------------------------------------------------------------------- */

/* Predictions of one test, which are adjacent, as are those of a group. */
typedef struct rows {
  const idm_prediction *one;
  size_t count;
  double *deviation;    /* [count]: deviation of the cell of the group that deviates most */
  double min_deviation; /* groups that deviate less are omitted */
  size_t shown;
} rows;

/* Deviation of a cell, in widths of its interval increased by half a decision. */
static double cell_deviation(const idm_prediction *one)
{
  return fabs(one->observed - one->expected) / (one->high - one->low + 0.5 / one->trials);
}

static void measure_groups(rows *r)
{
  for (size_t i = 0, end; i < r->count; i = end) {
    double largest = 0;
    for (end = i; end < r->count && r->one[end].group == r->one[i].group; end++)
      largest = fmax(largest, cell_deviation(&r->one[end]));
    for (size_t k = i; k < end; k++) r->deviation[k] = largest;
  }
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* Select the groups that fit a panel: those that deviate most, at least one. `sorted` is scratch
 * [count]. */
static void choose_rows(rows *r, double *sorted)
{
  size_t shown = max_rows;
  memcpy(sorted, r->deviation, r->count * sizeof *sorted);
  qsort(sorted, r->count, sizeof *sorted, compare);
  while (shown && sorted[shown - 1] == sorted[max_rows]) shown--;
  r->min_deviation = sorted[shown ? shown - 1 : 0];
  for (r->shown = 0; r->shown < r->count && sorted[r->shown] >= r->min_deviation;) r->shown++;
}

static idm_status find_rows(const idm_predictions *p, idm_model_test test, rows *r,
                            idm_error *opt_error)
{
  *r = (rows){0};
  for (size_t i = 0; i < p->count; i++)
    if (p->one[i].test == test && !r->count++) r->one = &p->one[i];
  r->shown = r->count;
  r->deviation = idm_new(2 * r->count, sizeof *r->deviation);
  if (!r->deviation) return idm_fail_memory(opt_error);
  measure_groups(r);
  if (r->count > max_rows) choose_rows(r, r->deviation + r->count);
  return IDM_OK;
}

/* --- figure --------------------------------------------------------------------------------- */

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

static idm_status add_rows(idm_figure *figure, const rows *r, const char *name,
                           idm_error *opt_error)
{
  idm_panel *panel;
  idm_mark *predicted, *observed;
  char title[160];
  idm_print(title, sizeof title, r->shown < r->count ? "%s: the %zu of %zu farthest off" : "%s",
            name, r->shown, r->count);
  idm_status status = idm_figure_add(figure, title, "share of decisions", "", &panel, opt_error);
  if (status == IDM_OK) status = idm_labels_create(&panel->y.category, r->shown, opt_error);
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_FOREST, "predicted: 50 % and 95 %", IDM_COLOUR_NEUTRAL,
                           r->shown, &predicted, opt_error);
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_POINTS, "observed", 1, r->shown, &observed, opt_error);
  for (size_t i = 0, row = 0; i < r->count && status == IDM_OK; i++) {
    const idm_prediction *one = &r->one[i];
    if (r->deviation[i] < r->min_deviation) continue;
    put(one, row, predicted, observed);
    status = idm_labels_set(&panel->y.category, row++, one->label, strlen(one->label), opt_error);
  }
  return status;
}

static idm_status add_part(idm_figure *figure, const idm_predictions *p, size_t part,
                           idm_error *opt_error)
{
  rows r;
  idm_status status = find_rows(p, parts[part].test, &r, opt_error);
  if (status == IDM_OK && r.count) status = add_rows(figure, &r, parts[part].title, opt_error);
  free(r.deviation);
  return status;
}

static idm_status make_ppc(const idm_plot_subject *subject, const idm_plot_settings *settings,
                           idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  (void)settings;
  (void)notes;
  idm_predictions p;
  if (subject->posterior->series_count)
    return idm_fail(
        opt_error, IDM_USAGE,
        "a plot of kind 'ppc' is of one answer for the whole log, and this run has one per person");
  idm_status status =
      idm_predictions_find(subject->problem, subject->data, subject->posterior, &p, opt_error);
  if (status != IDM_OK) return status;
  if (!p.count)
    status = idm_fail(opt_error, IDM_INPUT,
                      "the log has no decisions to predict, or the answer "
                      "cannot be planned for");
  if (status == IDM_OK)
    status = idm_figure_create(
        "",
        "Summaries of the log with their predictions by the answer: actions by step, trajectories "
        "that end by step, the same action again by what was seen, return to an earlier action by "
        "what it had shown, actions by what was seen last, and by condition.",
        1, ret_figure, opt_error);
  for (size_t i = 0; i < sizeof parts / sizeof *parts && status == IDM_OK; i++)
    status = add_part(*ret_figure, &p, i, opt_error);
  idm_predictions_clear(&p);
  return status;
}

const idm_plot idm_plot_ppc = {
    .name = "ppc",
    .summary = "summaries of the log with their predictions by a run's answer",
    .needs = IDM_PLOT_PROBLEM | IDM_PLOT_POSTERIOR | IDM_PLOT_DATA,
    .dynamics = IDM_DYNAMICS_HIGHEST,
    .make = make_ppc,
};
