/* Quantities that a plot shows.
 *
 * Contents: shown · curve · replicated · decisions */
#ifndef IDM_REPORT_SHOWN_H
#define IDM_REPORT_SHOWN_H

#include "idm/plot.h"
#include "infer/distribution.h"

/* === shown ================================================================================== */

/* Quantities of a run that a plot shows: which, what they are called, and where they can lie. */

/* One of them. */
typedef struct idm_plot_quantity {
  size_t quantity; /* of the posterior */
  char name[256];  /* as people say it */
  size_t count;
  const double *draw; /* [count]: all chains', one after another */
  idm_density_support support;
  bool by_ratio; /* its scale is logarithmic */
  double truth;  /* NaN where it is not known */
  size_t priors;
  const double *prior; /* [priors]; NULL where there is none */
} idm_plot_quantity;

typedef struct idm_plot_quantities {
  size_t count;
  idm_plot_quantity *one;
  double *prior; /* drawn for it; NULL: the posterior's own, or there is none */
} idm_plot_quantities;

/* What a plot asks for: by the names of quantities, as files or people say them, or of series of
 * them. Where nothing is asked for: all that are summarised, without those of single people where
 * there are others, `most` of them at the most, and a note that says so. IDM_USAGE for names that
 * are not there, and for blocks of numbers without names. */
idm_status idm_plot_quantities_select(const idm_plot_subject *subject,
                                      const idm_plot_settings *settings, size_t most, bool people,
                                      idm_plot_quantities *ret_quantities, idm_notes *opt_notes,
                                      idm_error *opt_error);
/* Draws of their priors, where these are known and proper; where they can lie is known before. */
idm_status idm_plot_quantities_priors(const idm_plot_subject *subject, idm_plot_quantities *shown,
                                      idm_error *opt_error);
void idm_plot_quantities_clear(idm_plot_quantities *shown);

/* A kind of plot that goes from quantity to quantity. */
typedef struct idm_quantity_plot {
  const char *description;
  size_t columns; /* of panels */
  size_t most;    /* quantities that nobody asked for */
  bool people;    /* of these single people too */
  bool priors;    /* draws of them are needed */
  bool series;    /* those of a series are drawn together, else each by itself */
  /* Draw `count` quantities, which are one, or one series. */
  idm_status (*draw)(const idm_plot_subject *subject, const idm_plot_quantity *one, size_t count,
                     idm_figure *figure, idm_notes *notes, idm_error *opt_error);
} idm_quantity_plot;

/* The figure of such a kind. */
idm_status idm_quantity_plot_make(const idm_quantity_plot *kind, const idm_plot_subject *subject,
                                  const idm_plot_settings *settings, idm_figure **ret_figure,
                                  idm_notes *notes, idm_error *opt_error);

/* The ends of what is worth drawing of a quantity: its finite draws and a few bandwidths, but of
 * tails no more than three times what 90 % of them take up. False where all are alike: both ends
 * are there; or where none is finite. */
idm_status idm_plot_range(const double *draw, size_t count, double bandwidth,
                          idm_density_support support, idm_density_support *ret_range,
                          bool *ret_varies, idm_error *opt_error);

/* === curve ================================================================================== */

/* The density of a quantity along its axis, which is logarithmic where its scale is and its draws
 * span powers of ten: then it is the density of the logarithm. */

typedef struct idm_curve {
  bool logarithmic;
  bool varies;  /* false: all draws are alike, or none can be drawn; there are no points */
  size_t count; /* of draws */
  double *draw; /* [count] along the axis: logarithms where it is logarithmic */
  idm_density_support support; /* the same */
  idm_density_support range;   /* the same: what is drawn */
  double bandwidth;
  size_t points;
  double *along;  /* [points]: the same, evenly over the range */
  double *at;     /* [points]: in the unit of the quantity */
  double *height; /* [points] */
  double mean;    /* in the unit of the quantity, of what is finite */
  double mode;    /* where the density is highest */
} idm_curve;

/* With the bandwidth for densities of so many numbers. */
idm_status idm_curve_create(const idm_plot_quantity *one, size_t points, int dimension,
                            idm_curve *ret_curve, idm_error *opt_error);
/* The density of other draws at the same points: height[points]. All 0 where they are all alike. */
idm_status idm_curve_compare(const idm_curve *curve, const double *draw, size_t count,
                             double *height, idm_error *opt_error);
void idm_curve_clear(idm_curve *curve);
/* A number along the axis back in the unit of the quantity. */
double idm_curve_natural(const idm_curve *curve, double along);

/* === replicated ============================================================================= */

/* Quantities of a study that a plot shows. */

typedef struct idm_study_quantities {
  size_t count;
  size_t *quantity; /* [count]: of the study */
} idm_study_quantities;

/* Those that are asked for, by name as files or people say it; else all, the log-likelihood with
 * its draws among them where asked for, twelve at the most. IDM_USAGE for a name that is not there,
 * IDM_INPUT where nothing is done yet. */
idm_status idm_study_quantities_select(const idm_calibration *calibration,
                                       const idm_plot_settings *settings, bool likelihood,
                                       idm_study_quantities *ret_quantities, idm_notes *notes,
                                       idm_error *opt_error);
void idm_study_quantities_clear(idm_study_quantities *shown);
/* A figure that goes from quantity to quantity, three side by side. */
typedef struct idm_study_plot {
  const char *description;
  bool likelihood; /* as above */
  /* Fill the panel of a quantity; it is the only one, or not. */
  idm_status (*draw)(const idm_calibration *calibration, size_t quantity, bool alone,
                     idm_panel *panel, idm_error *opt_error);
  const char *x; /* titles of its axes */
  const char *y;
} idm_study_plot;
idm_status idm_study_plot_make(const idm_study_plot *kind, const idm_plot_subject *subject,
                               const idm_plot_settings *settings, idm_figure **ret_figure,
                               idm_notes *notes, idm_error *opt_error);
/* Whether the interval of a replication holds the truth. */
bool idm_study_covers(const idm_calibration *calibration, size_t replication, size_t quantity);

/* === decisions ============================================================================== */

/* Decisions of a log beside what was predicted of them. */

/* Rows with a recorded action of which more than one was open. */
typedef struct idm_decisions {
  size_t count;
  size_t actions;
  size_t *taken;       /* [count] */
  double *probability; /* [count][action]: by the problem's own parameter, or the mean over the
                          draws of a posterior */
  bool *open;          /* [count][action] */
} idm_decisions;

/* Of people everybody is predicted by their own draws. IDM_INPUT where there is no decision. */
idm_status idm_decisions_open(const idm_plot_subject *subject, idm_decisions *decisions,
                              idm_notes *notes, idm_error *opt_error);
void idm_decisions_close(idm_decisions *decisions);
/* The column that the people of a run go by, as idm_explain_settings takes it; NULL: none. */
const char *idm_decisions_people(const idm_plot_subject *subject);

#endif
