/* Ranks and counts, and what they are like where everything is equally probable. */
#ifndef IDM_INFER_UNIFORM_H
#define IDM_INFER_UNIFORM_H

#include <stddef.h>

#include "idm/status.h"

/* Ranks of x[chain][draw] among all of them, counted by chain in equal bins: count[chain][bin]
 * (Vehtari et al. 2021). Numbers that are alike have their mean rank; NaN has none. */
idm_status idm_rank_counts(const double *x, size_t chains, size_t draws, size_t bins, size_t *count,
                           idm_error *opt_error);
/* The least interval of whole numbers beyond either end of which a binomial count of n trials lies
 * with probability (1 - share) / 2 at most. */
void idm_binomial_interval(size_t n, double p, double share, size_t *ret_low, size_t *ret_high);

#endif
