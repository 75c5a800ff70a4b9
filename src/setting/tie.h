/* Ties: entries of distributions by row that share one free number.
 *
 * In every row that holds entries of a coordinate each of them is that number x, and what n of them
 * leave, 1 - n x, goes to the others by their shares: rows stay distributions, and what is 0 stays
 * 0. */
#ifndef IDM_SETTING_TIE_H
#define IDM_SETTING_TIE_H

#include "idm/theta.h"

/* What a tied number stays below: 1 over the most entries of it that a row holds. */
double idm_tie_most(const idm_theta *theta, size_t id, int32_t coordinate);
/* Give it a value. */
void idm_tie_write(idm_theta *theta, size_t id, int32_t coordinate, double value);
/* The derivative by it, from those by the block's numbers. */
double idm_tie_slope(const idm_theta *slope, size_t id, int32_t coordinate);
/* Let coordinates that were filled in (-1: none) move: shares from the values as they are. The
 * block owns both from here on, also where memory is short. */
idm_status idm_tie_share(idm_theta *theta, size_t id, int32_t *coordinate, idm_error *opt_error);

#endif
