/* Derivatives of the learner by temporal differences. */
#ifndef IDM_PLAN_TABULAR_TD_SLOPE_H
#define IDM_PLAN_TABULAR_TD_SLOPE_H

#include "plan/tabular/td_learner.h"

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

/* The content is a td_learner. */
extern const idm_slope_ops idm_td_slope;

#endif
