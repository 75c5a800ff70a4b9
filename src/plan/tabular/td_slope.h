/* Derivatives of the learner by temporal differences. */
#ifndef IDM_PLAN_TABULAR_TD_SLOPE_H
#define IDM_PLAN_TABULAR_TD_SLOPE_H

#include "plan/tabular/td_learner.h"

/* The content is a td_learner. */
extern const idm_slope_ops idm_td_slope;

#endif
