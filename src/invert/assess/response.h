/* Response of posterior means to a change of the log-likelihood: to first order a mean moves by
 * Cov(quantity, change) over the draws.
 *
 * In a plain fit the change is computed at a sample of the draws; that of a small one is smoothed.
 * In a population it is a sum over strata, each a function of numbers of its own. People plan
 * alike, so that it is computed for all strata at common points, which are draws of one stratum
 * each: one plan per point. A quadratic function through the changes of a stratum, weighted towards
 * points near its own draws, gives the change at every draw. */
#ifndef IDM_INVERT_ASSESS_RESPONSE_H
#define IDM_INVERT_ASSESS_RESPONSE_H

#include "invert/assess/inquiry.h"

typedef struct response {
  const inquiry *q;
  size_t points;
  size_t strata; /* 1 in a plain fit */
  size_t count;  /* changes */
  double *table; /* [change][stratum][point]: the change of the log-likelihood, or its derivative;
                    NaN where a point cannot be planned for */
  /* Of a population: */
  size_t draws;  /* spread evenly over all */
  double *place; /* [point][dimension] */
  double *mean;  /* [stratum][dimension]: of its draws */
  double *sd;    /* [stratum][dimension] */
} response;

/* Room for so many changes at so many points, or as many as there are draws. idm_response_close
 * accepts a response that was set to 0. */
idm_status idm_response_open(response *r, const inquiry *q, size_t points, size_t count,
                             idm_error *opt_error);
void idm_response_close(response *r);
/* The numbers of point k: y[dimension]. */
void idm_response_point(const response *r, size_t k, double *y);
/* Changes of stratum c: [point]. */
double *idm_response_row(const response *r, size_t change, size_t c);

/* Add `weight` times the log-likelihood of a problem like the inquiry's own. Calls for different
 * changes may run at the same time. */
idm_status idm_response_add(const response *r, size_t change, const idm_problem *problem,
                            double weight, idm_error *opt_error);
/* Shifts of all posterior means, [quantity], of a unit of the change; NaN where the points are too
 * few. opt_uncertain, of a population: [quantity], a bound of the standard error that the quadratic
 * functions leave, in the quantity's posterior sd. */
idm_status idm_response_find(const response *r, size_t change, double *shift, double *opt_uncertain,
                             idm_error *opt_error);

/* Changes at `count` draws of a plain fit, spread evenly over all, from change[size] at fewer: a
 * quadratic function through them, so that it hardly matters which draws the few are. *ret_error is
 * the standard error of a shift, in posterior sds, that the function leaves; NaN, and nothing is
 * written, where so few draws do not determine one. */
idm_status idm_response_smooth(const inquiry *q, const double *change, size_t size, size_t count,
                               double *to, double *ret_error, idm_error *opt_error);

#endif
