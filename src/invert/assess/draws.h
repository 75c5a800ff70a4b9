/* Checks of draws alone. */
#ifndef IDM_INVERT_ASSESS_DRAWS_H
#define IDM_INVERT_ASSESS_DRAWS_H

#include "idm/assess.h"

/* The larger Pareto k of both tails of draws; NaN where they are too alike. */
idm_status idm_draws_shape(const double *x, size_t count, double *ret_shape, idm_error *opt_error);
/* Whether a quantity is one person's. */
bool idm_is_of_person(const idm_posterior *posterior, size_t quantity);
/* Whether the draws of one person's number are enough to read it (person-draws, person-r-hat).
 * Thousands of numbers are looked at, each read to a tenth of its sd. */
bool idm_person_is_drawn(const idm_diagnosis *diagnosis, size_t chains);
/* Where chains of a quantity are at separate places: "1.2, 1.3 and 57", into buffer; false where
 * they are not. */
bool idm_chains_apart(const idm_posterior *posterior, size_t quantity, char *buffer, size_t size);

#endif
