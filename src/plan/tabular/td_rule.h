/* The rule that it learns by. */
#ifndef IDM_PLAN_TABULAR_TD_RULE_H
#define IDM_PLAN_TABULAR_TD_RULE_H

#include "plan/tabular/td_learner.h"

/* What is to be learnt from an event; IDM_INPUT where what it needs was not recorded. */
idm_status idm_td_look(const td_learner *l, const td_memory *m, const idm_event *event,
                       td_update *update, idm_error *opt_error);
/* The state that a trajectory starts in; IDM_INPUT where it is not known. */
idm_status idm_td_start(const td_learner *l, const double *opt_start, size_t *ret_state,
                        idm_error *opt_error);
/* Values after it, in place. */
void idm_td_learn(const td_learner *l, const td_update *update, double *value);

#endif
