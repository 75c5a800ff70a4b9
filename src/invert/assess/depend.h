/* Sensitivity of the answer to the dynamics that were held.
 *
 * Every direction of the dynamics that the log informs (environment.h) has a step: the standard
 * error that the log's own observations leave of it. The environment moves along it, and with it
 * the agent's models: by their rule or, where they are a list, each by the same shift. The slope of
 * the log-likelihood is a central difference, and d posterior mean / d number its covariance with
 * the quantity (response.h). */
#ifndef IDM_INVERT_ASSESS_DEPEND_H
#define IDM_INVERT_ASSESS_DEPEND_H

#include "invert/assess/inquiry.h"

/* Append the sensitivities to dynamics to those of the assessment. What is left out is noted. */
idm_status idm_depend_measure(const inquiry *q, idm_error *opt_error);
/* Record the row of the table of checks: a mean that moves by more than its threshold depends on
 * dynamics, which the remark on what the data bound of it then includes. */
void idm_depend_judge(const inquiry *q);
/* Shift of a quantity, in posterior sds, when number k of the sensitivities is raised by its step.
 */
double idm_sensitivity_shift(const idm_assessment *a, size_t k, size_t quantity);

#endif
