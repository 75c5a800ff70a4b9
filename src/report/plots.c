/* Registry of the kinds of plots. */
#include "report/report.h"

#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "invert/posterior.h"

#define PLOTS(X)                                                                                   \
  X(idm_plot_policy)                                                                               \
  X(idm_plot_posterior)                                                                            \
  X(idm_plot_joint)                                                                                \
  X(idm_plot_trace)                                                                                \
  X(idm_plot_rank)                                                                                 \
  X(idm_plot_forest)                                                                               \
  X(idm_plot_recovery)                                                                             \
  X(idm_plot_sbc)                                                                                  \
  X(idm_plot_ppc)                                                                                  \
  X(idm_plot_profile)                                                                              \
  X(idm_plot_simplex)                                                                              \
  X(idm_plot_occupancy)                                                                            \
  X(idm_plot_calibration)                                                                          \
  X(idm_plot_prc)                                                                                  \
  X(idm_plot_surprise)

#define DECLARE(plot) extern const idm_plot plot;
PLOTS(DECLARE)

#define ENTRY(plot) &(plot),
static const idm_plot *const plots[] = {PLOTS(ENTRY) NULL};

const idm_plot *idm_plot_at(size_t index)
{
  return index < sizeof plots / sizeof plots[0] ? plots[index] : NULL;
}

const idm_plot *idm_plot_find(const char *name)
{
  for (size_t i = 0; name && plots[i]; i++)
    if (strcmp(plots[i]->name, name) == 0) return plots[i];
  return NULL;
}

/* Requirements of plots, as named in messages. */
static const struct {
  unsigned need;
  const char *words;
} needs[] = {
    {IDM_PLOT_PROBLEM, "a problem"},
    {IDM_PLOT_FOLDER, "the folder of a run"},
    {IDM_PLOT_POSTERIOR, "a run of `idm fit`"},
    {IDM_PLOT_ASSESSMENT, "a run with its verdict"},
    {IDM_PLOT_DATA, "a log"},
    {IDM_PLOT_DRAWS, "draws of a posterior, and the answer of this run is a point or a set"},
    {IDM_PLOT_CALIBRATION, "a folder of `idm recover -o` or `idm sbc -o`"},
};

const char *idm_plot_dynamics(const idm_plot *plot, const idm_plot_subject *subject, char *buffer,
                              size_t size)
{
  return plot && subject
             ? idm_dynamics_sets_describe(subject->posterior, plot->dynamics, buffer, size)
             : idm_dynamics_sets_describe(NULL, IDM_DYNAMICS_UNUSED, buffer, size);
}

/* Append to the description which learnt dynamics the figure is made with. */
static idm_status name_dynamics(const idm_plot *plot, const idm_plot_subject *subject,
                                idm_figure *figure, idm_error *opt_error)
{
  char words[160];
  idm_plot_dynamics(plot, subject, words, sizeof words);
  if (!words[0]) return IDM_OK;
  const size_t size = strlen(figure->description) + strlen(words) + 2;
  char *both = idm_new(size, 1);
  if (!both) return idm_fail_memory(opt_error);
  snprintf(both, size, "%s %s", figure->description, words);
  free(figure->description);
  figure->description = both;
  return IDM_OK;
}

idm_status idm_plot_make(const idm_plot *plot, const idm_plot_subject *subject,
                         const idm_plot_settings *opt_settings, idm_figure **ret_figure,
                         idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(plot, subject, ret_figure);
  const idm_plot_settings default_settings = {0};
  idm_notes ignored = {0};
  const unsigned given =
      (subject->problem ? IDM_PLOT_PROBLEM : 0u) | (subject->folder ? IDM_PLOT_FOLDER : 0u) |
      (subject->posterior ? IDM_PLOT_POSTERIOR : 0u) |
      (subject->assessment ? IDM_PLOT_ASSESSMENT : 0u) | (subject->data ? IDM_PLOT_DATA : 0u) |
      (subject->calibration ? IDM_PLOT_CALIBRATION : 0u) |
      (subject->posterior && subject->posterior->answer == IDM_POSTERIOR ? IDM_PLOT_DRAWS : 0u);
  *ret_figure = NULL;
  for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
    if (plot->needs & ~given & needs[i].need)
      return idm_fail(opt_error, IDM_USAGE, "a plot of kind '%s' needs %s", plot->name,
                      needs[i].words);
  if (opt_settings && opt_settings->truths && !plot->truths)
    return idm_fail(opt_error, IDM_USAGE, "a plot of kind '%s' has no place for a truth",
                    plot->name);
  if (opt_settings && opt_settings->due && !plot->due)
    return idm_fail(opt_error, IDM_USAGE,
                    "a plot of kind '%s' chooses no trajectories by an action that is due",
                    plot->name);
  idm_status status = plot->make(subject, opt_settings ? opt_settings : &default_settings,
                                 ret_figure, opt_notes ? opt_notes : &ignored, opt_error);
  if (status == IDM_OK) status = name_dynamics(plot, subject, *ret_figure, opt_error);
  idm_notes_clear(&ignored);
  if (status == IDM_OK) return IDM_OK;
  idm_figure_destroy(*ret_figure);
  *ret_figure = NULL;
  return status;
}
