/* Log-likelihoods of several td-learners and their derivatives at once, in vector lanes.
 *
 * The log of each is one path: rows of one agent after another, in one state, with few actions. A
 * step of eight of them is one pass over arrays of eight numbers, which compilers turn into vector
 * instructions (vector.h). */
#ifndef IDM_PLAN_TABULAR_TD_LANES_H
#define IDM_PLAN_TABULAR_TD_LANES_H

#include "idm/behavior.h"

/* The content is a td_learner. */
extern const idm_lane_ops idm_td_lanes;

#endif
