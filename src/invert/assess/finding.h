/* The verdict on an answer that does not go by the likelihood: its certificate, and the behaviour
 * at it. */
#ifndef IDM_INVERT_ASSESS_FINDING_H
#define IDM_INVERT_ASSESS_FINDING_H

#include "idm/assess.h"

/* Whether the certificate is closed, and nothing else speaks against it; what is left open is a
 * remark. */
void idm_judge_finding(idm_assessment *assessment);
/* Whether the planner at the answer behaves as the log does, better than chance: of an answer that
 * imitates it. */
idm_status idm_judge_behavior(const idm_problem *problem, const idm_data *data,
                              const idm_posterior *posterior, idm_assessment *assessment,
                              idm_error *opt_error);

#endif
