/* Effects with a common spread, which is integrated out: e_k ~ normal(0, tau), k < K, with
 * tau ~ halfnormal(scale). */
#ifndef IDM_INVERT_AUDIT_SPREAD_H
#define IDM_INVERT_AUDIT_SPREAD_H

#include <stddef.h>

#include "idm/random.h"

/* Log of the integral over tau of halfnormal(tau) prod_k normal(e_k; 0, tau), up to a constant that
 * depends on `count` alone; `squares` is sum_k e_k^2. -inf where it is not finite. */
double idm_spread_log_prior(double squares, size_t count, double scale);
/* A draw of tau given the effects. */
double idm_spread_draw(double squares, size_t count, double scale, idm_random *random);

/* Levels that effects are added to a common mean to give: level_k = mu + e_k with
 * mu ~ normal(mean, sd). */
typedef struct idm_spread_levels {
  size_t count;   /* K, at least 2 */
  double average; /* of the levels */
  double squares; /* sum over levels of squared distances from the average */
  double mean;
  double sd;
  double scale; /* of tau */
} idm_spread_levels;

/* A draw of mu and tau given the levels alone; NaN where these are all the same. */
void idm_spread_draw_population(const idm_spread_levels *levels, idm_random *random,
                                double *ret_mean, double *ret_spread);

#endif
