/* Quantities of a run that a plot shows: which, what they are called, and where they can lie. */
#ifndef IDM_REPORT_SHOWN_H
#define IDM_REPORT_SHOWN_H

#include "idm/plot.h"
#include "infer/density.h"

/* One of them. */
typedef struct idm_shown_one {
  size_t quantity; /* of the posterior */
  char name[256];  /* as people say it */
  size_t count;
  const double *draw; /* [count]: all chains', one after another */
  idm_span support;
  bool by_ratio; /* its scale is logarithmic */
  double truth;  /* NaN where it is not known */
  size_t priors;
  const double *prior; /* [priors]; NULL where there is none */
} idm_shown_one;

typedef struct idm_shown {
  size_t count;
  idm_shown_one *one;
  double *prior; /* drawn for it; NULL: the posterior's own, or there is none */
} idm_shown;

/* What a plot asks for: by the names of quantities, as files or people say them, or of series of
 * them. Where nothing is asked for: all that are summarised, without those of single people where
 * there are others, `most` of them at the most, and a note that says so. IDM_USAGE for names that
 * are not there, and for blocks of numbers without names. */
idm_status idm_shown_choose(const idm_plot_subject *subject, const idm_plot_settings *settings,
                            size_t most, bool everybody, idm_shown *ret_shown, idm_notes *opt_notes,
                            idm_error *opt_error);
/* Draws of their priors, where these are known and proper; where they can lie is known before. */
idm_status idm_shown_draw_priors(const idm_plot_subject *subject, idm_shown *shown,
                                 idm_error *opt_error);
void idm_shown_clear(idm_shown *shown);

/* A kind of plot that goes from quantity to quantity. */
typedef struct idm_shown_kind {
  const char *description;
  size_t columns; /* of panels */
  size_t most;    /* quantities that nobody asked for */
  bool everybody; /* of these single people too */
  bool priors;    /* draws of them are needed */
  bool series;    /* those of a series are drawn together, else each by itself */
  /* Draw `count` quantities, which are one, or one series. */
  idm_status (*draw)(const idm_plot_subject *subject, const idm_shown_one *one, size_t count,
                     idm_figure *figure, idm_notes *notes, idm_error *opt_error);
} idm_shown_kind;

/* The figure of such a kind. */
idm_status idm_shown_make(const idm_shown_kind *kind, const idm_plot_subject *subject,
                          const idm_plot_settings *settings, idm_figure **ret_figure,
                          idm_notes *notes, idm_error *opt_error);

/* The ends of what is worth drawing of a quantity: its finite draws and a few bandwidths, but of
 * tails no more than three times what 90 % of them take up. False where all are alike: both ends
 * are there; or where none is finite. */
idm_status idm_shown_range(const double *draw, size_t count, double bandwidth, idm_span support,
                           idm_span *ret_range, bool *ret_varies, idm_error *opt_error);

#endif
