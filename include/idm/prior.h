/* Priors of one number, and the Dirichlet. */
#ifndef IDM_PRIOR_H
#define IDM_PRIOR_H

#include <stddef.h>

#include "idm/random.h"
#include "idm/status.h"
#include "idm/theta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* log density of a prior of one number at c (up to no constant: normalised; 0 for flat), and its
 * derivative. -inf outside the support. Dirichlet: see idm_dirichlet_log_density. */
IDM_API double idm_prior_log_density(const idm_prior *prior, double c, double *opt_derivative);
/* A draw; flat priors have none (NaN). */
IDM_API double idm_prior_draw(const idm_prior *prior, idm_random *random);
/* Support of the prior: its ends, infinite where open. */
IDM_API void idm_prior_support(const idm_prior *prior, double *lower, double *upper);
/* Standard deviation of the prior; infinite for flat. */
IDM_API double idm_prior_sd(const idm_prior *prior);
/* Mean of the prior; NaN for flat. */
IDM_API double idm_prior_mean(const idm_prior *prior);
/* log density of a Dirichlet at p [count], and its slopes. */
IDM_API double idm_dirichlet_log_density(size_t count, const double *concentration, const double *p,
                                         double *opt_derivative);
IDM_API void idm_dirichlet_draw(size_t count, const double *concentration, idm_random *random,
                                double *p);

#ifdef __cplusplus
}
#endif
#endif
