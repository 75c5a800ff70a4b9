/* The margin side of the paper's proposition, for any regulariser: min over all entries v of a
 * utility of share E V_soft(v) - <p, v> + zeta(v), by Newton's method in the utilities. */
#ifndef IDM_INVERT_UTILITY_CONVEX_MARGIN_H
#define IDM_INVERT_UTILITY_CONVEX_MARGIN_H

#include "invert/utility/regulariser.h"
#include "invert/utility/soft_plan.h"

/* p and utility are by [action][state]; entries of states that p does not come to are left alone.
 * *slope is the largest derivative that is left, of zeta with its last barrier. The plan is then
 * that of the utility. IDM_NUMERICAL where it does not end. */
idm_status idm_convex_margin(idm_soft_plan *plan, const idm_regulariser *regulariser,
                             const double *p, double *utility, double *objective, double *slope,
                             idm_error *opt_error);

#endif
