/* Tail probabilities of distributions. */
#ifndef IDM_DISTRIBUTION_H
#define IDM_DISTRIBUTION_H

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Upper tail probability of a chi-square distribution with `degrees` degrees of freedom (may be
 * fractional): 1 for x <= 0; NaN where an argument is NaN, or the degrees are negative or infinite.
 */
IDM_API double idm_chi_square_tail(double x, double degrees);

#ifdef __cplusplus
}
#endif
#endif
