/* Functions of distributions. */
#ifndef IDM_DISTRIBUTION_H
#define IDM_DISTRIBUTION_H

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Upper tail of a chi-square distribution. */
IDM_API double idm_chi_square_tail(double x, double degrees);

#ifdef __cplusplus
}
#endif
#endif
