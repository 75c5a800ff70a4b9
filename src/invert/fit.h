/* What the inverse planners share: starting points, and putting an answer together. */
#ifndef IDM_INVERT_FIT_H
#define IDM_INVERT_FIT_H

#include "invert/parameters.h"

/* Everything a fit works with. */
typedef struct fit {
  const idm_problem *problem;
  const idm_data *data;
  const idm_fit_settings *settings;
  idm_parameters *parameters;
  idm_prefix_tree *tree;
  size_t matchings;
  idm_matching **matching; /* [chain] */
} fit;

/* Check the request, build parameters, tree and `matchings` matchings. The fit is zeroed first;
 * idm_fit_close frees what is there. */
idm_status idm_fit_open(fit *f, const idm_problem *problem, const idm_data *data,
                        const idm_fit_settings *settings, size_t matchings, idm_error *opt_error);
void idm_fit_close(fit *f);

/* --- matching.c */
/* Hold one free number at a natural value, whatever y says (a limit has no y); NULL lets go. */
void idm_matching_hold(idm_matching *matching, const parameter *opt_item, double value);
/* Refuse, with its line, an observation that no model of the agent allows: no free number mends
 * that. */
idm_status idm_matching_check(idm_matching *matching, idm_error *opt_error);
/* Line of a decision that had probability 0 at the last evaluation; 0 where there was none. */
long idm_matching_impossible_line(const idm_matching *matching);
/* Let each plan start from the last one, until the next anchor: quicker for a search, but then the
 * log-likelihood depends in its last digits on what was asked before. */
void idm_matching_wander(idm_matching *matching);
/* Plan around a mode, by its normal approximation, and let later plans start from the quadratic
 * surface through those solutions: two Newton steps fewer. Still a function of y alone. */
idm_status idm_matching_survey(idm_matching *matching, const double *mode, const double *covariance,
                               idm_error *opt_error);

/* --- surface.c: quadratic interpolation of anything smooth, from points around a mode */
typedef struct idm_surface idm_surface;
/* NULL, and no error, where the dimension is too large for it to pay or the covariance is not
 * positive definite. */
idm_status idm_surface_create(size_t dimension, const double *mode, const double *covariance,
                              idm_surface **ret_surface, idm_error *opt_error);
void idm_surface_destroy(idm_surface *surface);
size_t idm_surface_points(const idm_surface *surface);
/* Point k of the design; the first is the mode. */
const double *idm_surface_point(const idm_surface *surface, size_t k);
/* Weights of the points' values that give the value at y; the nearest part of the design's region
 * where y lies outside. Kept until the next call. */
const double *idm_surface_weights(idm_surface *surface, const double *y);

/* --- inverse.c */
/* Whether the draws are of the numbers that these parameters free; IDM_INPUT where not. */
idm_status idm_posterior_check(const idm_posterior *posterior, const idm_parameters *parameters,
                               idm_error *opt_error);

/* --- start.c */
/* A mode climbed to from this chain's own starting points, its normal approximation, and an
 * overdispersed point to start from. The matching is anchored at the mode. */
typedef struct start {
  double *x;          /* [dimension] */
  double *mode;       /* [dimension] */
  double *covariance; /* [dimension][dimension] */
  double log_density; /* at the mode */
  bool definite;      /* the covariance is that of the mode; else a guess by the prior */
} start;
idm_status idm_start_create(size_t dimension, start **ret_start, idm_error *opt_error);
void idm_start_destroy(start *s);
/* Find it for chain `chain`. */
idm_status idm_start_find(const fit *f, size_t chain, start *s, idm_error *opt_error);
/* Give up a mode for another chain's, where it is so much lower that no posterior is left in it. */
idm_status idm_start_adopt(const fit *f, size_t chain, const start *better, start *s,
                           idm_error *opt_error);

/* The highest mode of as many starts as there are chains, climbed to the end, all by the first
 * matching, which is left anchored there. Covariance and x are left alone. */
idm_status idm_start_best(const fit *f, start *best, idm_error *opt_error);

/* --- assemble.c */
/* Refuse up front draws, or log-likelihoods by decision, of an absurd size. */
idm_status idm_fit_check_size(const idm_data *data, const idm_fit_settings *settings,
                              idm_error *opt_error);
idm_status idm_posterior_create(const fit *f, const idm_inverse *inverse, const char *sampler,
                                size_t chains, size_t draws, idm_posterior **ret_posterior,
                                idm_error *opt_error);
/* Store a draw. */
void idm_posterior_put(const fit *f, idm_posterior *posterior, size_t chain, size_t draw,
                       const double *y, const idm_statistics *statistics);
/* Fill in the log-likelihoods that the settings ask for, and draws from the prior. */
idm_status idm_posterior_complete(const fit *f, idm_posterior *posterior, idm_notes *opt_notes,
                                  idm_error *opt_error);

/* Inverse planners, one file each. */
extern const idm_inverse idm_inverse_bayes;
extern const idm_inverse idm_inverse_map;
extern const idm_inverse idm_inverse_laplace;

#endif
