/* Plots: figures of what the library knows, by kind. */
#ifndef IDM_PLOT_H
#define IDM_PLOT_H

#include "idm/assess.h"
#include "idm/calibrate.h"
#include "idm/data.h"
#include "idm/explain.h"
#include "idm/figure.h"
#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct idm_request; /* idm/request.h */

/* What a plot is made of. A kind says which of these it needs; it heeds others that are given. */
typedef struct idm_plot_subject {
  const idm_problem *problem;         /* of a run: with the parameter at its centre */
  const char *folder;                 /* of a run, a study or an audit */
  const idm_posterior *posterior;     /* of a run */
  const idm_assessment *assessment;   /* and its verdict */
  const idm_data *data;               /* the problem is bound to it */
  bool fitted;                        /* the run was fitted to it */
  const idm_explanation *explained;   /* it by the posterior, where that is at hand */
  const idm_calibration *calibration; /* of `idm recover` or `idm sbc` */
  const struct idm_request *request;  /* of a run: who its people are, and their formulas */
} idm_plot_subject;

enum {
  IDM_PLOT_PROBLEM = 1u << 0,
  IDM_PLOT_FOLDER = 1u << 1,
  IDM_PLOT_POSTERIOR = 1u << 2,
  IDM_PLOT_ASSESSMENT = 1u << 3,
  IDM_PLOT_DATA = 1u << 4,
  IDM_PLOT_CALIBRATION = 1u << 5,
  IDM_PLOT_DRAWS = 1u << 6 /* an answer that is draws of a posterior, neither a point nor a set */
};

/* How it is to be made. Zero-initialise: as is usual. */
typedef struct idm_plot_settings {
  size_t panels;            /* agents to draw side by side, each */
  const char *const *panel; /* "TITLE: KEY=VALUE, KEY=VALUE"; 0: the problem's own */
  const char *path;         /* "ACTION:OBSERVATION,...": how beliefs go on from the start */
  const char *trajectory;   /* of the log, by its name */
  const char *due;          /* an action: draw trajectories by when they took it */
  size_t quantities;        /* of a posterior, by their names; 0: all that are summarised */
  const char *const *quantity;
  size_t truths;            /* of quantities, where it is known, each */
  const char *const *truth; /* "QUANTITY=VALUE" */
} idm_plot_settings;

typedef struct idm_plot {
  const char *name;
  const char *summary;
  unsigned needs;            /* IDM_PLOT_PROBLEM, ... */
  bool truths;               /* has a place for the truth; others refuse one */
  bool due;                  /* chooses trajectories by an action; others refuse one */
  idm_dynamics_use dynamics; /* of a run over learnt ones: those that it shows policies of */
  idm_status (*make)(const idm_plot_subject *subject, const idm_plot_settings *settings,
                     idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error);
} idm_plot;

/* Kind i, or NULL past the last; by name, or NULL. */
IDM_API const idm_plot *idm_plot_at(size_t index);
IDM_API const idm_plot *idm_plot_find(const char *name);
/* The sentence that names the learnt dynamics of such a plot; empty elsewhere. */
IDM_API const char *idm_plot_dynamics(const idm_plot *plot, const idm_plot_subject *subject,
                                      char *buffer, size_t size);
/* The figure; IDM_USAGE in the words of the kind where something is missing that it needs. */
IDM_API idm_status idm_plot_make(const idm_plot *plot, const idm_plot_subject *subject,
                                 const idm_plot_settings *opt_settings, idm_figure **ret_figure,
                                 idm_notes *opt_notes, idm_error *opt_error);

/* IDM_USAGE where a path has an ending that is none of .svg, .png and .pdf. */
IDM_API idm_status idm_figure_check_path(const char *path, idm_error *opt_error);
/* Write a figure: SVG, or by the ending of the name PNG (at twice its size) and PDF. "-" is
 * standard output, as SVG. */
IDM_API idm_status idm_figure_write(const idm_figure *figure, const idm_figure_options *options,
                                    const char *path, idm_error *opt_error);
/* Its data as CSV. */
IDM_API idm_status idm_figure_write_csv(const idm_figure *figure, const char *path,
                                        idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
