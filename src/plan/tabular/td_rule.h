/* The rule that it learns by, and the numbers that this depends on. */
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

/* Numbers that values are differentiated by, beside those of the choice. */
enum { TD_BY_GAIN, TD_BY_LOSS, TD_BY_DECAY, TD_BY_INITIAL, TD_BY_DISCOUNT, TD_BY };

/* Those of them that are free in a theta. */
typedef struct td_numbers {
  size_t count;
  size_t number[TD_BY];
} td_numbers;
td_numbers idm_td_free_numbers(const idm_theta *theta);

/* Slopes into a theta: by the inverse temperature, by each number of values, and by habits. */
void idm_td_put_slope(idm_theta *slope, double temperature, const double *by, habit_slope both);

#endif
