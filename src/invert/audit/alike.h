/* Whether the agents of a cell are alike enough to share one number. */
#ifndef IDM_INVERT_AUDIT_ALIKE_H
#define IDM_INVERT_AUDIT_ALIKE_H

#include "invert/audit/model.h"

/* Replicates of the decisions that the test is compared with. */
enum { AUDIT_REPLICATES = 499 };

/* The score test of agents (see invert/assess/agents.h) at the cell's best draw: statistic [0] of
 * the log, the others of its replicates; all 0 where there is one agent, or nothing to see. */
idm_status idm_audit_alike(const audit_model *model, const audit_draws *draws, size_t cell,
                           double statistic[AUDIT_REPLICATES + 1], idm_error *opt_error);

#endif
