/* What the prior says of a population, against what its people do. */
#ifndef IDM_INVERT_PEOPLE_PRIOR_H
#define IDM_INVERT_PEOPLE_PRIOR_H

#include "idm/assess.h"
#include "idm/people.h"

/* Record, and remark on, coefficients, sds and correlations of the population that are hardly
 * narrower than their priors (contraction), and those that lie where the prior did not expect them
 * (prior-distance). A prior that contradicts the people and holds a number off what they lead to is
 * a misfit (prior-pull). */
void idm_judge_population(const idm_design *design, const idm_people *people,
                          idm_assessment *assessment);

#endif
