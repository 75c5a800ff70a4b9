/* Plot of the profile log-likelihood of each free number, and of the interval that it bounds. */
#include <math.h>

#include "base/memory.h"
#include "invert/assess/context.h"
#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_profile; /* registered in plots.c */

enum { max_panels = 12 };

/* Ends that the data determine, of all regions; those of the scale are omitted. */
static idm_status add_ends(idm_panel *panel, const idm_identification *id,
                           idm_density_support support, idm_error *opt_error)
{
  double end[2 * IDM_MAX_REGIONS];
  size_t count = 0;
  idm_mark *rules;
  for (size_t i = 0; i < 2 * id->regions; i++) {
    const double at = id->region[i / 2][i % 2];
    if (isfinite(at) && at != support.low && at != support.high) end[count++] = at;
  }
  const idm_status status = idm_panel_add(panel, IDM_MARK_RULES, "95 % interval",
                                          IDM_COLOUR_NEUTRAL, count, &rules, opt_error);
  if (status == IDM_OK) memcpy(rules->column[IDM_FIGURE_X], end, count * sizeof *end);
  return status;
}

static idm_status add_profile(idm_panel *panel, const idm_identification *id, idm_error *opt_error)
{
  const double top = 0;
  idm_mark *level;
  idm_status status =
      idm_panel_add(panel, IDM_MARK_LEVELS, "", IDM_COLOUR_NEUTRAL, 1, &level, opt_error);
  if (status != IDM_OK) return status;
  level->column[IDM_FIGURE_Y][0] = -idm_profile_drop;
  if (id->points)
    status = idm_panel_plot(panel, IDM_MARK_LINE, "profile", 0, id->points, id->value, id->drop,
                            opt_error);
  return status == IDM_OK ? idm_panel_plot(panel, IDM_MARK_POINTS, "maximum", 1, 1, &id->maximum,
                                           &top, opt_error)
                          : status;
}

static idm_status add_quantity(idm_figure *figure, const idm_assessment *a,
                               const idm_plot_quantity *one, idm_notes *notes, idm_error *opt_error)
{
  size_t i = 0;
  idm_panel *panel;
  while (i < a->parameters && a->parameter[i].quantity != one->quantity) i++;
  if (i == a->parameters) {
    idm_notes_add(notes, "%s has no profile: it is not one free number by itself", one->name);
    return IDM_OK;
  }
  const idm_identification *id = &a->parameter[i];
  idm_status status = idm_figure_add(figure, "", one->name, "log-likelihood", &panel, opt_error);
  if (status != IDM_OK) return status;
  if (!id->points)
    idm_notes_add(notes, "the profile of %s would have taken too long: only its ends are drawn",
                  one->name);
  if (id->points) {
    const double low = id->value[0], high = id->value[id->points - 1];
    panel->x.logarithmic = one->by_ratio && low > 0 && high > 30 * low;
    panel->x.low = low;
    panel->x.high = high;
  }
  panel->y.low = -3 * idm_profile_drop;
  panel->y.high = 0.25;
  status = add_ends(panel, id, one->support, opt_error);
  return status == IDM_OK ? add_profile(panel, id, opt_error) : status;
}

static idm_status draw(const idm_plot_subject *subject, const idm_plot_quantities *shown,
                       idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  if (!subject->assessment->parameters)
    return idm_fail(opt_error, IDM_INPUT,
                    "the run's verdict has no profiles of free numbers: there is none to draw");
  idm_status status =
      idm_figure_create("",
                        "Profile log-likelihoods of the free numbers below their maximum, with the "
                        "drop of 1.92 where the 95 % interval ends.",
                        shown->count < 3 ? shown->count : 3, ret_figure, opt_error);
  for (size_t i = 0; i < shown->count && status == IDM_OK; i++)
    status = add_quantity(*ret_figure, subject->assessment, &shown->one[i], notes, opt_error);
  return status;
}

static idm_status make_profile(const idm_plot_subject *subject, const idm_plot_settings *settings,
                               idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  idm_plot_quantities shown;
  if (subject->posterior->series_count)
    return idm_fail(opt_error, IDM_USAGE,
                    "a plot of kind 'profile' is of one answer for the whole log, and this run has "
                    "one per person");
  idm_status status =
      idm_plot_quantities_select(subject, settings, max_panels, false, &shown, notes, opt_error);
  if (status == IDM_OK) status = draw(subject, &shown, ret_figure, notes, opt_error);
  idm_plot_quantities_clear(&shown);
  return status;
}

const idm_plot idm_plot_profile = {
    .name = "profile",
    .summary = "profile log-likelihoods of a run's free numbers, and the intervals they bound",
    .needs = IDM_PLOT_POSTERIOR | IDM_PLOT_ASSESSMENT,
    .make = make_profile,
};
