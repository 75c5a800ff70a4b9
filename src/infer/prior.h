/* Univariate priors and the Dirichlet distribution. See docs/method/inference.md, 2. */
#ifndef IDM_INFER_PRIOR_H
#define IDM_INFER_PRIOR_H

#include <stddef.h>

#include "base/door.h"
#include "idm/extension/random.h"
#include "idm/extension/theta.h"
#include "idm/status.h"

/* Normalised log density of a univariate prior at c (0 for flat), and its derivative. -inf outside
 * the support. For Dirichlet see idm_dirichlet_log_density. */
IDM_CHECKED double idm_prior_log_density(const idm_prior *prior, double c, double *opt_derivative);
/* A random draw; NaN for a flat prior. */
IDM_CHECKED double idm_prior_draw(const idm_prior *prior, idm_random *random);
/* Ends of the support; infinite if unbounded. */
IDM_CHECKED void idm_prior_support(const idm_prior *prior, double *lower, double *upper);
/* Standard deviation of the prior; infinite for flat. */
IDM_CHECKED double idm_prior_sd(const idm_prior *prior);
/* Mean of the prior; NaN for flat. */
IDM_CHECKED double idm_prior_mean(const idm_prior *prior);
/* Log density of a Dirichlet distribution at p [count], and its derivative with respect to p, into
 * opt_derivative [count]. */
IDM_CHECKED double idm_dirichlet_log_density(size_t count, const double *concentration,
                                             const double *p, double *opt_derivative);
/* Draw p [count] from a Dirichlet distribution. */
IDM_CHECKED void idm_dirichlet_draw(size_t count, const double *concentration, idm_random *random,
                                    double *p);

#endif
