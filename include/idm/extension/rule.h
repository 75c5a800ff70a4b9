/* Rules: planners that choose by a score of each action at the belief, and plan nothing.
 *
 * A rule needs one function. Planners that plan fill the whole table (idm/extension/planner.h). */
#ifndef IDM_EXTENSION_RULE_H
#define IDM_EXTENSION_RULE_H

#include "idm/extension/theta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A rule: the policy is the softmax of the scores. */
typedef struct idm_rule_planner {
  size_t size; /* sizeof(idm_rule_planner) in the program that fills the table */
  const char *name;
  const char *summary;
  const idm_block_info *own; /* parameters of its own, which follow the shared ones; NULL: none */
  size_t own_count;
  /* Write the score of each action, [action], at belief z, [state], after `steps` steps. */
  void (*score)(const idm_theta *theta, size_t variant, int steps, const double *z, double *score);
} idm_rule_planner;

/* Register a copy of a rule as a planner until the process ends. Errors as idm_planner_register. */
IDM_API idm_status idm_rule_register(const idm_rule_planner *rule, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
