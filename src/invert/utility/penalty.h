/* A price on the size of numbers, as rows of a linear program. */
#ifndef IDM_INVERT_UTILITY_PENALTY_H
#define IDM_INVERT_UTILITY_PENALTY_H

#include "infer/program.h"

/* Columns 0 .. count - 1 cost price * weight[k] * |x_k - aim_k| (NULL: 0): x - aim = above - below,
 * which are the 2 * count columns from `above` on. */
idm_status idm_penalty_add(idm_program *program, size_t count, size_t above, double price,
                           const double *weight, const double *opt_aim, idm_error *opt_error);

#endif
