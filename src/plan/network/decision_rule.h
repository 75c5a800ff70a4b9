/* The planner `decision-rule`: a softmax of linear scores of the belief; nothing is planned. */
#ifndef IDM_PLAN_RULE_H
#define IDM_PLAN_RULE_H

#include "idm/planner.h"

idm_status idm_rule_create(const idm_setting *setting, const idm_theta *theta,
                           const idm_agent *agent, void **ret_content, idm_error *opt_error);
idm_status idm_rule_plan(void *content, const idm_theta *theta, const idm_solver *solver,
                         idm_plan_report *report, idm_error *opt_error);
void idm_rule_policy(const void *content, size_t variant, int steps, const double *z,
                     double *decision, double *opt_specification, double *scratch);
void idm_rule_log_policy(const void *content, size_t variant, int steps, const double *z,
                         double *log_decision, double *scratch);
size_t idm_rule_scratch(const void *content);
void idm_rule_destroy(void *content);
idm_status idm_rule_adjoint_create(void *content, void **ret_adjoint, idm_error *opt_error);
void idm_rule_adjoint_destroy(void *content);
void idm_rule_adjoint_begin(void *content);
void idm_rule_adjoint_point(void *content, const idm_policy_slope *point);
idm_status idm_rule_adjoint_finish(void *content, idm_theta *slope, idm_error *opt_error);

#endif
