/* Plots of problems, logs and results; reports; and the interactive page of an agent.
 *
 * Contents: plot · report · explorer */
#ifndef IDM_REPORT_REPORT_H
#define IDM_REPORT_REPORT_H

#include "base/arguments.h"
#include "idm/extension/data.h"
#include "idm/extension/problem.h"
#include "idm/figure.h"
#include "invert/assess.h"
#include "invert/calibrate.h"
#include "invert/explain.h"
#include "report/figure.h"

/* === plot =================================================================================== */

/* Plots: figures of problems, logs and results, by kind. */

struct idm_request; /* io/run.h */

/* Data of a plot. Every kind requires some of these (idm_plot.needs) and uses others if given. */
typedef struct idm_plot_subject {
  const idm_problem *problem;         /* of a run: with its central parameter */
  const char *folder;                 /* of a run, a study or an audit */
  const idm_posterior *posterior;     /* of a run */
  const idm_assessment *assessment;   /* verdict of the run */
  const idm_data *data;               /* log; the problem is bound to it */
  bool fitted;                        /* true if the run was fitted to `data` */
  const idm_explanation *explained;   /* explanation of `data` by the posterior; optional */
  const idm_calibration *calibration; /* of `idm recover` or `idm sbc` */
  const struct idm_request *request;  /* of a run: its column of people and their formulas */
} idm_plot_subject;

enum {
  IDM_PLOT_PROBLEM = 1u << 0,
  IDM_PLOT_FOLDER = 1u << 1,
  IDM_PLOT_POSTERIOR = 1u << 2,
  IDM_PLOT_ASSESSMENT = 1u << 3,
  IDM_PLOT_DATA = 1u << 4,
  IDM_PLOT_CALIBRATION = 1u << 5,
  IDM_PLOT_DRAWS = 1u << 6 /* an answer that consists of posterior draws, not a point or a set */
};

/* Options of a plot. Zero-initialise for the defaults. */
typedef struct idm_plot_settings {
  size_t panels; /* number of agents to compare, one panel each */
  const char *const *
      panel; /* "TITLE: KEY=VALUE, KEY=VALUE" [panels]; with `panels` 0, the agent of the problem */
  const char *path;       /* "ACTION:OBSERVATION,...": belief path from the start */
  const char *trajectory; /* name of a trajectory of the log */
  const char *due;        /* name of an action: select trajectories by when it was taken */
  size_t quantities;      /* number of quantities of the posterior to draw, by name; 0: all that are
                             summarised */
  const char *const *quantity;
  size_t truths;            /* number of known true values */
  const char *const *truth; /* "QUANTITY=VALUE" [truths] */
} idm_plot_settings;

typedef struct idm_plot {
  const char *name;
  const char *summary;
  unsigned needs;            /* bits IDM_PLOT_PROBLEM, ... */
  bool truths;               /* shows true values; other kinds refuse them */
  bool due;                  /* selects trajectories by an action; other kinds refuse one */
  idm_dynamics_use dynamics; /* learnt dynamics that its policies are planned in */
  idm_status (*make)(const idm_plot_subject *subject, const idm_plot_settings *settings,
                     idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error);
} idm_plot;

/* Registry: kind number `index`, or NULL past the last. */
IDM_CHECKED const idm_plot *idm_plot_at(size_t index);
/* Registry: the kind of that name, or NULL. */
IDM_CHECKED const idm_plot *idm_plot_find(const char *name);
/* Sentence that names the learnt dynamics of a plot; empty if there are none. Returns buffer. */
IDM_CHECKED const char *idm_plot_dynamics(const idm_plot *plot, const idm_plot_subject *subject,
                                          char *buffer, size_t size);
/* Make a figure; *ret_figure is owned by the caller. IDM_USAGE names what the kind requires and the
 * subject lacks, or an option that it does not support. Remarks are appended to opt_notes. */
IDM_CHECKED idm_status idm_plot_make(const idm_plot *plot, const idm_plot_subject *subject,
                                     const idm_plot_settings *opt_settings, idm_figure **ret_figure,
                                     idm_notes *opt_notes, idm_error *opt_error);

/* idm_figure_write with PNG and PDF drawn in a child process, so that exhausted memory is an error
 * (librsvg ends the process then). For a process without other threads. */
IDM_CHECKED idm_status idm_figure_write_isolated(const idm_figure *figure,
                                                 const idm_figure_options *options,
                                                 const char *path, idm_error *opt_error);
/* IDM_USAGE if a path has an extension other than .svg, .png and .pdf. */
IDM_CHECKED idm_status idm_figure_check_path(const char *path, idm_error *opt_error);

/* === report ================================================================================= */

/* Reports: the results of a run, an audit or a study as one HTML page. */

/* Write a report as HTML text. For a study, the subject holds its folder and its calibration. For a
 * run or an audit, it holds the folder, the problem as fitted, the posterior, the assessment and,
 * if available, the log; without a log, the sections that need it are replaced by a remark.
 * *ret_text is freed by the caller with free(). */
IDM_CHECKED idm_status idm_report_make(const idm_plot_subject *subject, char **ret_text,
                                       idm_notes *opt_notes, idm_error *opt_error);
/* The same into a file; "-" is standard output. */
IDM_CHECKED idm_status idm_report_write(const idm_plot_subject *subject, const char *path,
                                        idm_notes *opt_notes, idm_error *opt_error);

/* === explorer =============================================================================== */

/* Interactive page of an agent: parameters, policy, an episode and a log in one HTML file that
 * needs neither a network connection nor this library. */

/* True if this build can write such pages. The page contains the library compiled to WebAssembly,
 * which needs a suitable compiler at build time. */
IDM_CHECKED bool idm_explorer_available(void);
/* Write the page of a problem to a file; path "-" is standard output. IDM_SYSTEM if this build has
 * no WebAssembly support; the message names the packages to install. */
IDM_CHECKED idm_status idm_explorer_write(const idm_problem *problem, const char *path,
                                          idm_error *opt_error);

#endif
