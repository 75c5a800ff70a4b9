/* Plot of precision against recall of every action, over thresholds of its probability. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_prc; /* registered in plots.c */

/* Probabilities at beliefs that are equal by symmetry differ in their last bits, which depend on
 * the machine. */
static const double tie_tolerance = 1e-9;

typedef struct scored_action {
  double probability;
  bool taken;
} scored_action;

static int by_falling_probability(const void *a, const void *b)
{
  const double x = ((const scored_action *)a)->probability,
               y = ((const scored_action *)b)->probability;
  return (x < y) - (x > y);
}

/* Collect the predictions of an action where it was available, the largest first; returns their
 * number. */
static size_t collect(const idm_decisions *d, size_t action, scored_action *scored_actions,
                      size_t *ret_taken)
{
  size_t count = 0;
  *ret_taken = 0;
  for (size_t i = 0; i < d->count; i++) {
    const double p = d->probability[i * d->actions + action];
    if (!d->open[i * d->actions + action] || isnan(p)) continue;
    scored_actions[count++] = (scored_action){p, d->taken[i] == action};
    *ret_taken += d->taken[i] == action;
  }
  qsort(scored_actions, count, sizeof *scored_actions, by_falling_probability);
  return count;
}

/* Precision-recall curve in steps, and the area below it: average precision, the sum over
 * thresholds of precision times the gain in recall. Probabilities that differ by rounding alone are
 * one threshold. Returns the number of points. */
static size_t precision_recall(const scored_action *scored_actions, size_t count, size_t taken,
                               double *recall, double *precision, double *ret_area)
{
  size_t hits = 0, points = 0;
  double before = 0;
  *ret_area = 0;
  /* At a recall of 1, lower thresholds gain nothing. */
  for (size_t i = 0; i < count && before < 1; i++) {
    hits += scored_actions[i].taken;
    if (i + 1 < count &&
        scored_actions[i].probability - scored_actions[i + 1].probability <= tie_tolerance)
      continue;
    const double now = (double)hits / (double)taken, right = (double)hits / (double)(i + 1);
    recall[points] = before;
    precision[points++] = right;
    recall[points] = now;
    precision[points++] = right;
    *ret_area += (now - before) * right;
    before = now;
  }
  return points;
}

/* Add the curve of one action; its name has the area, and the precision of always predicting the
 * action. */
static idm_status add_curve(const idm_decisions *d, const idm_setting *setting, size_t action,
                            scored_action *scored_actions, double *room, idm_panel *panel,
                            idm_notes *notes, idm_error *opt_error)
{
  size_t taken;
  double area;
  char name[160];
  const size_t count = collect(d, action, scored_actions, &taken);
  if (!taken) {
    idm_notes_add(notes, "'%.80s' is never taken: it has no precision and recall",
                  setting->actions.name[action]);
    return IDM_OK;
  }
  double *precision = room + 2 * d->count;
  const size_t points = precision_recall(scored_actions, count, taken, room, precision, &area);
  snprintf(name, sizeof name, "%.80s (area %.3f, by chance %.3f)", setting->actions.name[action],
           area, (double)taken / (double)count);
  const idm_status status = idm_panel_plot(panel, IDM_MARK_LINE, name, (int)(action % IDM_COLOURS),
                                           points, room, precision, opt_error);
  if (status == IDM_OK) panel->mark[panel->marks - 1]->dashed = action >= IDM_COLOURS;
  return status;
}

static idm_status make_prc(const idm_plot_subject *subject, const idm_plot_settings *settings,
                           idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  (void)settings;
  idm_decisions d;
  idm_panel *panel;
  idm_status status = idm_decisions_open(subject, &d, notes, opt_error);
  if (status != IDM_OK) return status;
  scored_action *scored_actions = idm_new(d.count, sizeof *scored_actions);
  double *room = idm_new(idm_times(4, d.count), sizeof *room);
  if (!scored_actions || !room) status = idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_figure_create("", "Precision against recall of the predictions of every action.",
                               1, ret_figure, opt_error);
  if (status == IDM_OK)
    status = idm_figure_add(*ret_figure, "", "recall", "precision", &panel, opt_error);
  for (size_t u = 0; u < d.actions && status == IDM_OK; u++) {
    panel->x.low = panel->y.low = 0;
    panel->x.high = panel->y.high = 1;
    status =
        add_curve(&d, subject->problem->setting, u, scored_actions, room, panel, notes, opt_error);
  }
  free(scored_actions);
  free(room);
  idm_decisions_close(&d);
  return status;
}

const idm_plot idm_plot_prc = {
    .name = "prc",
    .summary = "precision against recall of every action, with the area below, over the decisions "
               "of a log",
    .needs = IDM_PLOT_PROBLEM | IDM_PLOT_DATA,
    .dynamics = IDM_DYNAMICS_PER_DRAW,
    .make = make_prc,
};
