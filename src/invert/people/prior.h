/* What the prior says of a population, against what its people do. */
#ifndef IDM_INVERT_PEOPLE_PRIOR_H
#define IDM_INVERT_PEOPLE_PRIOR_H

#include "idm/assess.h"
#include "idm/people.h"

/* Add to remarks which coefficients and sds of the population are hardly narrower than their
 * priors (contraction below .5), and which lie where the prior did not expect them. */
void idm_judge_population(const idm_design *design, const idm_people *people, idm_notes *remarks);

#endif
