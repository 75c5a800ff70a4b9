/* People who are too far from the others for the population to be normal. */
#ifndef IDM_INVERT_PEOPLE_OUTLIER_H
#define IDM_INVERT_PEOPLE_OUTLIER_H

#include "idm/assess.h"
#include "idm/people.h"

/* Record the check outlier, with a misfit that names the person furthest from the others where it
 * fails: *ret_person, else past the last. Of an audit the misfit is in words of groups.
 *
 * At one draw of the posterior, log and effects of people have the joint distribution that log and
 * true effects have (Johnson 2007), so that the effects are a sample of the population: the
 * residual of a person from the regression through all others, studentised by them, is Student's
 * t. Unlike a distance in sds of the population it is not bounded where the outlier widens that sd.
 * p of a draw is Bonferroni's over people and effects, and that of all draws looked at their
 * median: where people's own decisions determine their effects, draws agree and it is exact; else
 * it is near 1/2 or above, since draws of the same person differ. */
idm_status idm_judge_outliers(const idm_design *design, const idm_people *people,
                              idm_assessment *assessment, size_t *ret_person, idm_error *opt_error);

#endif
