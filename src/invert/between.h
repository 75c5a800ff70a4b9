/* Draws given each of several draws of dynamics, as many each, one after another. */
#ifndef IDM_INVERT_BETWEEN_H
#define IDM_INVERT_BETWEEN_H

#include <stdbool.h>

#include "idm/diagnostics.h"

/* The share of the variance of value[cut][count] that lies between cuts; NaN where there is one. */
double idm_between(const double *value, size_t cuts, size_t count);
/* Whether a number depends on dynamics: its share between draws of them is beyond the threshold of
 * the check between-dynamics. False for NaN. */
bool idm_depends_on_dynamics(double between);
/* Diagnose value[chain][draw], whose chains are of `cuts` cuts (0 or 1: of one): chains agree
 * within each, not between, so that R-hat is the largest within one and effective draws are summed;
 * the error of the mean takes in that cuts are as many draws of what the dynamics leave open.
 * A number that depends on dynamics has no interval: q05 and q95 are NaN. *opt_between as above, of
 * opt_coordinate[chain][draw] where that is given: the number on the scale of its prior, on which a
 * long tail of the number itself does not hide what lies between cuts. */
idm_status idm_diagnose_cuts(const double *value, const double *opt_coordinate, size_t chains,
                             size_t draws, size_t cuts, idm_diagnosis *diagnosis,
                             double *opt_between, idm_error *opt_error);

#endif
