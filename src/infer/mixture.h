/* Proposals that reach all of a target: multivariate t components around what is known of it, and a
 * broad component (a prior) for what is not. */
#ifndef IDM_INFER_MIXTURE_H
#define IDM_INFER_MIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/sampler.h"

/* A distribution that can be drawn from, with its log density, normalised. */
typedef struct idm_broad {
  const void *context;
  void (*draw)(const void *context, idm_random *random, double *x);
  double (*log_density)(const void *context, const double *x);
} idm_broad;

/* A mixture of `weight` times the broad component and at most `most` others, none so far: weights
 * are relative, and normalised when used. */
idm_status idm_mixture_create(size_t dimension, size_t most, idm_broad broad, double weight,
                              idm_mixture **ret_mixture, idm_error *opt_error);
void idm_mixture_destroy(idm_mixture *mixture);
/* Add a t of five degrees with a centre and a spread[dimension][dimension]. False, and nothing is
 * added, where the spread is not positive definite or there is no room. */
bool idm_mixture_add(idm_mixture *mixture, double weight, const double *centre,
                     const double *spread);
/* A draw, and the log density; work[dimension]. */
void idm_mixture_draw(const idm_mixture *mixture, idm_random *random, double *x);
double idm_mixture_log_density(const idm_mixture *mixture, const double *x, double *work);

#endif
