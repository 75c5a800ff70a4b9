/* Log-likelihoods of leaves by polynomials: a stand-in for planning where a grid of the free
 * numbers would have too many points.
 *
 * A polynomial per leaf is fitted to the log-likelihood at points of a normal cloud by weighted
 * least squares, in products of Hermite polynomials, which are nearly orthogonal there. Points
 * where the log-likelihood is far below its maximum count less. Beyond the cloud the polynomial
 * keeps the value of its edge. It shapes proposals only: the exact likelihood decides. */
#ifndef IDM_INVERT_HIERARCHY_POLYNOMIAL_H
#define IDM_INVERT_HIERARCHY_POLYNOMIAL_H

#include "idm/status.h"

/* Free numbers beyond which there would be too many terms. */
enum { IDM_POLYNOMIAL_DIMENSIONS = 8 };

typedef struct idm_polynomials idm_polynomials;

/* What polynomials are fitted to. */
typedef struct polynomial_source {
  size_t dimension;
  const double *low;  /* [dimension]: nearly all of the cloud lies in this box */
  const double *high; /* [dimension] */
  size_t leaves;
  /* column[leaf] at x; called on any thread. */
  idm_status (*value)(void *context, const double *x, double *column, idm_error *opt_error);
  bool (*opt_stopped)(void *context); /* called between points on the calling thread */
  void *context;
} polynomial_source;

/* NULL, and no error, where the dimension is too large, a leaf is finite at too few points, or it
 * was stopped. A function of the source, whatever the threads. */
idm_status idm_polynomials_create(const polynomial_source *source, int threads,
                                  idm_polynomials **ret_polynomials, idm_error *opt_error);
void idm_polynomials_destroy(idm_polynomials *polynomials);
double idm_polynomials_at(const idm_polynomials *polynomials, size_t leaf, const double *x);

#endif
