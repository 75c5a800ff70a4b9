/* A prior of correlations that contradicts the people. */
#ifndef IDM_INVERT_PEOPLE_CORRELATION_H
#define IDM_INVERT_PEOPLE_CORRELATION_H

#include "idm/assess.h"
#include "idm/people.h"

/* Record the check prior-pull of every correlation, with a misfit of each that fails; nothing is
 * recorded of effects that are not correlated, of fewer than six people, and of people whose
 * decisions hardly determine their effects.
 *
 * Of two effects with standardised residuals u and v and correlation rho, u and
 * w = (v - rho u) / sqrt(1 - rho^2) are independent. The sum over people of the posterior mean of
 * u w is about the score of rho in the marginal likelihood (Fisher's identity): it is near 0 where
 * the prior lets rho follow the people, and is not where the prior fixes it. Divided by what it
 * varies by, it is a correlation, of which Fisher's z over its standard error 1 / sqrt(n - 2) is
 * the value. The distance of a mean from the prior's centre, by which other numbers are judged,
 * would not do: a narrow prior does not let the posterior leave that centre. */
void idm_judge_correlations(const idm_design *design, const idm_people *people,
                            idm_assessment *assessment);

#endif
