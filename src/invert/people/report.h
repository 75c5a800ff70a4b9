/* What was found of people: their draws as a posterior, and the verdict on it. */
#ifndef IDM_INVERT_PEOPLE_REPORT_H
#define IDM_INVERT_PEOPLE_REPORT_H

#include "idm/assess.h"
#include "idm/people.h"
#include "idm/project.h"

/* Effects along `person`, coefficients along `coefficient` (or, where formulas differ,
 * `coefficient_BLOCK`), sds, R2 where there is a regression, correlations along `pair`. */
idm_status idm_people_posterior(const idm_problem *problem, const idm_design *design,
                                const idm_people *people, const idm_fit_settings *settings,
                                idm_posterior **ret_posterior, idm_error *opt_error);
/* Diagnostics, the checks of the log on so many threads and within so many seconds (as in
 * idm_fit_watch), what is each person's own and a verdict
 * per person; and how far people are from their log. */
idm_status idm_people_assess(const idm_problem *problem, const idm_data *data,
                             const idm_design *design, const idm_people *people,
                             const idm_posterior *posterior, int threads, double check_seconds,
                             idm_assessment **ret_assessment, idm_projection *projection,
                             idm_error *opt_error);

#endif
