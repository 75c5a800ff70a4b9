/* Whether the coefficients of a design can be told apart. */
#ifndef IDM_INVERT_PEOPLE_RANK_H
#define IDM_INVERT_PEOPLE_RANK_H

#include "idm/people.h"

/* IDM_INPUT where, over all cells, a regressor of a coordinate is a combination of others, or is 0
 * everywhere; `formula` is quoted. */
idm_status idm_design_check_rank(const idm_design *design, size_t coordinate, const char *formula,
                                 idm_error *opt_error);

#endif
