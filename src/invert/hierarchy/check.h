/* Whether a design can be sampled. */
#ifndef IDM_INVERT_HIERARCHY_CHECK_H
#define IDM_INVERT_HIERARCHY_CHECK_H

#include "idm/people.h"

/* Effects of a person: more cannot be told apart, and a covariance of them would not mix. Free
 * numbers are no more than effects. */
enum { IDM_MOST_EFFECTS = 32 };

/* Refuse a design with parts missing (IDM_USAGE), or one that is not of the problem's free numbers
 * and of this log (IDM_INPUT). */
idm_status idm_design_check(const idm_design *design, const idm_problem *problem,
                            const idm_data *data, size_t coordinates, idm_error *opt_error);

#endif
