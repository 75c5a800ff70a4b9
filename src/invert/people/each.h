/* Fits of people one by one, that know nothing of each other. */
#ifndef IDM_INVERT_PEOPLE_EACH_H
#define IDM_INVERT_PEOPLE_EACH_H

#include "idm/assess.h"
#include "idm/inverse.h"
#include "idm/project.h"

/* One fit a person by `by` (agent, trajectory, or a covariate that the data keep), several at a
 * time, each with random streams of its own; the same at any thread count. The answer's quantities
 * are the free numbers in the coordinate of their scale, along the axis `person`; those who could
 * not be fitted are not on it, and `person` of the assessment says why. IDM_INPUT where nobody
 * could be. Stopped by its watch, it gives those who were done. */
idm_status idm_each_fit(const idm_problem *problem, const idm_data *data, const char *by,
                        const idm_inverse *inverse, const idm_fit_settings *settings,
                        const idm_fit_watch *opt_watch, idm_posterior **ret_posterior,
                        idm_assessment **ret_assessment, idm_projection *projection,
                        idm_error *opt_error);

#endif
