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

#endif
