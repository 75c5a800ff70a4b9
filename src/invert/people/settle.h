/* Populations: which priors of free blocks let people vary. */
#ifndef IDM_INVERT_PEOPLE_SETTLE_H
#define IDM_INVERT_PEOPLE_SETTLE_H

#include "invert/parameters.h"

/* Whether people can vary normally in an item, by the support of its block and of its prior. */
bool idm_population_is_normal(const idm_parameters *parameters, const parameter *item);
/* IDM_INPUT: "people vary normally, and BLOCK WHY; expected ...". */
idm_status idm_population_refuse(const idm_block *block, const char *why, idm_error *opt_error);

#endif
