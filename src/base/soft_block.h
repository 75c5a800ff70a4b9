/* Soft extrema of problems side by side. */
#ifndef IDM_BASE_SOFT_BLOCK_H
#define IDM_BASE_SOFT_BLOCK_H

#include "base/soft.h"

/* Lanes handled side by side by the vectorised form. */
enum { IDM_LANES = 32 };

/* The same for IDM_LANES problems side by side: x[j*IDM_LANES + i] is alternative j of lane i; p
 * has the layout of x (NULL: not wanted) and must not overlap it. */
void idm_soft_block(double temperature, size_t count, const double *weight, const double *x,
                    double *value, double *opt_p);

#endif
