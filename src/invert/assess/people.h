/* People's own numbers: judged together, since there may be thousands. */
#ifndef IDM_INVERT_ASSESS_PEOPLE_H
#define IDM_INVERT_ASSESS_PEOPLE_H

#include "idm/assess.h"

/* Whether a quantity is one person's. */
bool idm_is_of_person(const idm_posterior *posterior, size_t quantity);
/* Whether the draws of one person's number are enough to read it: R-hat at most 1.05 and an
 * effective sample of 100. Thousands of numbers are looked at, each read to a tenth of its sd. */
bool idm_person_is_drawn(const idm_diagnosis *diagnosis, size_t chains);
/* Add to failures how many people's draws are not enough, and who is worst. */
void idm_judge_people(const idm_posterior *posterior, idm_assessment *assessment);

#endif
