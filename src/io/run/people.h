/* People in summary.json: the population, and everybody's own numbers and verdict. */
#ifndef IDM_IO_RUN_PEOPLE_H
#define IDM_IO_RUN_PEOPLE_H

#include "idm/assess.h"
#include "io/json.h"

/* Mean, sd, errors, quantiles and diagnostics of one quantity. */
json_t *idm_json_diagnosis(const idm_diagnosis *diagnosis);
/* `population`, where there is one: by effect its coefficients, sd and R2, and the correlations;
 * `people`: by person the effects and what else is known. */
void idm_people_put(json_t **object, const idm_posterior *posterior,
                    const idm_assessment *assessment);
/* What the draws do not say of people back into an assessment; what is not as it was written is
 * passed over. */
idm_status idm_people_take(const json_t *object, const idm_posterior *posterior,
                           idm_assessment *assessment, idm_error *opt_error);

#endif
