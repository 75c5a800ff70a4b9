/* Transitions of a log, for planners that keep them: see idm/planner.h. */
#ifndef IDM_PLAN_TABULAR_BATCH_H
#define IDM_PLAN_TABULAR_BATCH_H

#include "idm/planner.h"

/* A copy; NULL where memory is short. */
idm_batch *idm_batch_copy(const idm_batch *batch);

#endif
