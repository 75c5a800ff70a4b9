/* Internal interface of plots: quantities, curves, the panels of a planned agent's policy,
 * sentences and titles.
 *
 * Contents: quantities · curve · replicated · decisions · agents · policy · cases · sentences ·
 * titles · methods */
#ifndef IDM_REPORT_PANELS_H
#define IDM_REPORT_PANELS_H

#include "idm/extension/data.h"
#include "idm/extension/posterior.h"
#include "idm/extension/problem.h"
#include "infer/distribution.h"
#include "plan/plan.h"
#include "report/figure.h"
#include "report/markup.h"
#include "report/report.h"

/* === quantities ============================================================================= */

/* Quantities of a run in a plot: selection, names and supports. */

/* One quantity. */
typedef struct idm_plot_quantity {
  size_t quantity; /* index in the posterior */
  char name[256];  /* displayed name */
  size_t count;
  const double *draw; /* [count]: of all chains, one after another */
  idm_density_support support;
  bool by_ratio; /* its scale is logarithmic */
  double truth;  /* NaN if it is not known */
  size_t priors;
  const double *prior; /* [priors]; NULL if there are none */
} idm_plot_quantity;

typedef struct idm_plot_quantities {
  size_t count;
  idm_plot_quantity *one;
  double *prior; /* drawn for the plot; NULL: those of the posterior, or none */
} idm_plot_quantities;

/* Select quantities of a plot, or series of them, by their names in files or their displayed names.
 * Without a selection: all that are summarised, at most `most`, without those of single people if
 * there are others, and a remark on what is omitted. IDM_USAGE for names that do not exist, and for
 * blocks of numbers without names. */
idm_status idm_plot_quantities_select(const idm_plot_subject *subject,
                                      const idm_plot_settings *settings, size_t most, bool people,
                                      idm_plot_quantities *ret_quantities, idm_notes *opt_notes,
                                      idm_error *opt_error);
/* Draw from their priors, if these are known and proper. Supports do not depend on these draws. */
idm_status idm_plot_quantities_priors(const idm_plot_subject *subject, idm_plot_quantities *shown,
                                      idm_error *opt_error);
void idm_plot_quantities_clear(idm_plot_quantities *shown);

/* A kind of plot that is drawn one quantity at a time. */
typedef struct idm_quantity_plot {
  const char *description;
  size_t columns; /* of panels */
  size_t most;    /* largest number of quantities without a selection */
  bool people;    /* include quantities of single people among them */
  bool priors;    /* draws of the priors are needed */
  bool series;    /* the quantities of a series are drawn together; otherwise each separately */
  /* Draw `count` quantities: one, or one series. */
  idm_status (*draw)(const idm_plot_subject *subject, const idm_plot_quantity *one, size_t count,
                     idm_figure *figure, idm_notes *notes, idm_error *opt_error);
} idm_quantity_plot;

/* Make the figure of such a kind. */
idm_status idm_quantity_plot_make(const idm_quantity_plot *kind, const idm_plot_subject *subject,
                                  const idm_plot_settings *settings, idm_figure **ret_figure,
                                  idm_notes *notes, idm_error *opt_error);

/* Range of a quantity to draw: its finite draws and a few bandwidths, with tails of at most three
 * times the width of the central 90 %. *ret_varies is false if all draws are equal, which are then
 * both ends, or if none is finite. */
idm_status idm_plot_range(const double *draw, size_t count, double bandwidth,
                          idm_density_support support, idm_density_support *ret_range,
                          bool *ret_varies, idm_error *opt_error);

/* === curve ================================================================================== */

/* Density of a quantity along its axis. The axis is logarithmic if the scale of the quantity is and
 * its draws span powers of ten; the density is then that of the logarithm. */

typedef struct idm_curve {
  bool logarithmic;
  bool varies;  /* false: all draws are equal, or none can be drawn; there are no points */
  size_t count; /* number of draws */
  double *draw; /* [count] along the axis: logarithms if the axis is logarithmic */
  idm_density_support support; /* along the axis */
  idm_density_support range;   /* along the axis: the part that is drawn */
  double bandwidth;
  size_t points;
  double *along;  /* [points]: along the axis, equidistant over the range */
  double *at;     /* [points]: in the unit of the quantity */
  double *height; /* [points] */
  double mean;    /* of the finite draws, in the unit of the quantity */
  double mode;    /* position of the largest density */
} idm_curve;

/* `dimension` selects the bandwidth: that for densities of so many quantities. */
idm_status idm_curve_create(const idm_plot_quantity *one, size_t points, int dimension,
                            idm_curve *ret_curve, idm_error *opt_error);
/* Density of other draws at the same points: height [points]; all 0 if the draws are all equal. */
idm_status idm_curve_compare(const idm_curve *curve, const double *draw, size_t count,
                             double *height, idm_error *opt_error);
void idm_curve_clear(idm_curve *curve);
/* Converts a number along the axis to the unit of the quantity. */
double idm_curve_natural(const idm_curve *curve, double along);

/* === replicated ============================================================================= */

/* Quantities of a study in a plot. */

typedef struct idm_study_quantities {
  size_t count;
  size_t *quantity; /* [count]: index in the study */
} idm_study_quantities;

/* Select quantities of a study by their names in files or their displayed names. Without a
 * selection: all, with the rank of the log-likelihood if `likelihood` is true, at most twelve.
 * IDM_USAGE for a name that does not exist, IDM_INPUT if no replication is done. */
idm_status idm_study_quantities_select(const idm_calibration *calibration,
                                       const idm_plot_settings *settings, bool likelihood,
                                       idm_study_quantities *ret_quantities, idm_notes *notes,
                                       idm_error *opt_error);
void idm_study_quantities_clear(idm_study_quantities *shown);
/* A figure with one panel per quantity, three side by side. */
typedef struct idm_study_plot {
  const char *description;
  bool likelihood; /* include the log-likelihood */
  /* Fill the panel of a quantity; `alone` is true if it is the only one. */
  idm_status (*draw)(const idm_calibration *calibration, size_t quantity, bool alone,
                     idm_panel *panel, idm_error *opt_error);
  const char *x; /* titles of the axes */
  const char *y;
} idm_study_plot;
idm_status idm_study_plot_make(const idm_study_plot *kind, const idm_plot_subject *subject,
                               const idm_plot_settings *settings, idm_figure **ret_figure,
                               idm_notes *notes, idm_error *opt_error);
/* Returns true if the interval of a replication contains the truth. */
bool idm_study_covers(const idm_calibration *calibration, size_t replication, size_t quantity);

/* === decisions ============================================================================== */

/* Decisions of a log and their predicted probabilities. */

/* Rows with a recorded action and more than one available action. */
typedef struct idm_decisions {
  size_t count;
  size_t actions;
  size_t *taken;       /* [count] */
  double *probability; /* [count][action]: with the problem's own parameters, or the mean over the
                          draws of a posterior */
  bool *open;          /* [count][action] */
} idm_decisions;

/* With an answer for several people, every person is predicted by their own draws. IDM_INPUT if
 * there is no decision. */
idm_status idm_decisions_open(const idm_plot_subject *subject, idm_decisions *decisions,
                              idm_notes *notes, idm_error *opt_error);
void idm_decisions_close(idm_decisions *decisions);
/* Column that identifies the people of a run, as in idm_explain_settings; NULL: none. */
const char *idm_decisions_people(const idm_plot_subject *subject);

/* === agents ================================================================================= */

/* Agents of a plot: one per panel, each the problem's own with some keys set. */

typedef struct idm_plot_agent {
  const idm_problem *problem;
  idm_workspace *workspace; /* planned */
  const char *title;        /* of its panel */
} idm_plot_agent;

/* Functions that draw an agent. */
typedef struct idm_plot_drawer {
  /* Fails if there is nothing to draw for such an agent; called before it is planned. */
  idm_status (*check)(const idm_problem *problem, idm_error *opt_error);
  idm_status (*draw)(const void *context, const idm_plot_agent *agent, idm_figure *figure,
                     idm_error *opt_error);
  const void *context;
} idm_plot_drawer;

/* Plan and draw every agent that the settings name, or the problem's own. IDM_USAGE if the subject
 * is an answer for several people, which has no single agent. */
idm_status idm_plot_agents(const idm_plot_subject *subject, const idm_plot_settings *settings,
                           const idm_plot_drawer *drawer, idm_figure *figure, idm_notes *notes,
                           idm_error *opt_error);
/* Columns of panels for these agents. */
size_t idm_plot_agents_columns(const idm_plot_settings *settings);
/* Fails if the agent does not decide by a belief, which this kind of plot requires. */
idm_status idm_plot_agent_has_beliefs(const idm_problem *problem, idm_error *opt_error);

/* === policy ================================================================================= */

/* Panels of a planned agent's policy. */

/* Probabilities in a panel: those at choice time, or the planned policy. */
typedef struct idm_policy_view {
  bool planned;
  int steps; /* steps before the decision, with a horizon */
  int last;  /* previous action, which perseverance refers to; IDM_MISSING: first decision */
} idm_policy_view;

/* Probabilities of a view at belief z: policy [actions]. */
void idm_policy_evaluate(idm_workspace *workspace, idm_policy_view view, const double *z,
                         double *policy);

/* Number of views of an agent: one without habits. With lapse the planned policy is added, with
 * perseverance one view per previous action. */
size_t idm_policy_views(const idm_setting *setting, const idm_workspace *workspace);
/* View `index` of an agent, and its title: the title of the agent and the particulars of the view.
 */
idm_policy_view idm_policy_view_at(const idm_setting *setting, const idm_workspace *workspace,
                                   size_t index, const char *agent, char *title, size_t size);
/* Columns for that number of panels. */
size_t idm_policy_columns(size_t panels);

/* Add one panel: probabilities over the beliefs between two states, with marks at the beliefs of a
 * path; or in each state, if states are observed. */
idm_status idm_policy_add(idm_figure *figure, const idm_setting *setting, idm_workspace *workspace,
                          idm_policy_view view, const char *title, const idm_path_trace *opt_path,
                          idm_error *opt_error);

/* === cases ================================================================================== */

/* Three cases of a log that differ in when an action was taken: the paper's figure "Decision
 * Trajectories" (Appendix D). */

typedef enum idm_case_kind {
  IDM_CASE_RATIONAL,     /* every action is one that the rational policy takes */
  IDM_CASE_NOT_RATIONAL, /* the action was never taken, although it was due within the log */
  IDM_CASE_BELATED,      /* the action was taken later than it was due */
  IDM_CASES
} idm_case_kind;

typedef struct idm_case {
  bool found;
  size_t trajectory;
  char title[160]; /* the kind of the case, and the name of its trajectory */
} idm_case;

/* Select one trajectory of each kind by idm_explain, with the problem's own parameters. Of several:
 * for the first kind the one with the largest number of distinct actions, then the longest; for the
 * others the one with the largest delay, then the largest regret; the first in the log if these are
 * equal. */
idm_status idm_cases_choose(const idm_problem *problem, const idm_data *data, int32_t due,
                            idm_case ret_case[IDM_CASES], idm_notes *opt_notes,
                            idm_error *opt_error);

/* === sentences ============================================================================== */

/* Sentences of a report. */

/* "Which alpha and 1/beta explain 5,000 decisions in 1,000 trajectories of diag?" */
void idm_text_question(const idm_plot_subject *subject, idm_markup *to);
/* "1/beta is 0.26, between 0.15 and 0.35 with a probability of 90 %; ..." */
void idm_text_result(const idm_plot_subject *subject, idm_markup *to);
/* Returns true if the answer is from preferences between trajectories: decisions are not evidence.
 */
bool idm_words_compared(const idm_posterior *posterior);

/* === titles ================================================================================= */

/* Displayed names of the quantities of a run. */

/* Name of a quantity: "log alpha", and of people and groups "sd of log alpha", "log alpha, site 2".
 * Written to buffer, which is returned. */
const char *idm_title_quantity(const idm_posterior *posterior, size_t quantity, char *buffer,
                               size_t size);
/* Name of a series: "log alpha", "differences in log alpha". */
const char *idm_title_series(const idm_posterior *posterior, size_t series, char *buffer,
                             size_t size);
/* Name of an item of a series: its label; both labels for a pair of numbers. */
const char *idm_title_item(const idm_posterior *posterior, size_t series, size_t item, char *buffer,
                           size_t size);
/* Returns true if a series is along the axis with this name. */
bool idm_series_is_along(const idm_posterior *posterior, size_t series, const char *axis);

/* === methods ================================================================================ */

/* A paragraph for the methods of a paper: data, model, priors, hierarchy and inference. */

void idm_methods_write(const idm_plot_subject *subject, idm_markup *to);
/* References of the paragraph; NULL at the end. */
extern const char *const idm_methods_references[];

#endif
