/* Policies by state: what a planner does in every state that may be observed. */
#ifndef IDM_INVERT_POLICY_H
#define IDM_INVERT_POLICY_H

#include "idm/data.h"
#include "idm/finding.h"
#include "idm/problem.h"

/* Whether a problem has such a policy: states are observed, the planner decides by what it believes
 * of them, and utilities are one, not the log's. */
bool idm_policy_by_state(const idm_problem *problem);
/* The same whether states are observed or not: choices depend on the belief alone. */
bool idm_policy_by_belief(const idm_problem *problem);
/* Whether choices move by leaps from one best action to another: what the planner takes is drawn by
 * no temperature that is above 0, or may become so. */
bool idm_policy_leaps(const idm_problem *problem);
/* Whether the log names environments of a family and is not in the one that is chosen: no plan can
 * be compared with its decisions. */
bool idm_policy_is_unchosen(const idm_problem *problem, const idm_data *data);
/* policy[state][action] of the problem's planner at theta, at the first step. */
idm_status idm_policy_plan(const idm_problem *problem, const idm_theta *theta, double *policy,
                           idm_error *opt_error);
/* The same into a finding, with the names of states and actions. */
idm_status idm_policy_put(const idm_problem *problem, const idm_theta *theta, idm_finding *finding,
                          idm_error *opt_error);

#endif
