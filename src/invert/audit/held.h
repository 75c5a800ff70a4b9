/* Dynamics that an audit holds: the test of the environment by all groups together, and how far a
 * plausible error of the dynamics moves groups and contrasts. */
#ifndef IDM_INVERT_AUDIT_HELD_H
#define IDM_INVERT_AUDIT_HELD_H

#include "invert/audit/lines.h"

/* Test the environment of the problem with the observations of all groups; `fitted`: its dynamics
 * are fitted to them. A misfit is one of the last group, all. */
idm_status idm_audit_held_test(const idm_problem *problem, const idm_data *data, bool fitted,
                               idm_audit *audit, idm_error *opt_error);
/* Shifts of groups and contrasts, in units of their coordinates, from those of the cells (cell:
 * [cell], as idm_audit_inspect leaves them). Each cell has an environment of its own, whose errors
 * are independent of the others'. */
void idm_audit_held_spread(const audit_plan *plan, const idm_assessment *cell, idm_audit *audit);
/* In posterior sds, once these are there: beyond the threshold of depends-on-dynamics a group gets
 * a remark, and a contrast depends on dynamics. */
void idm_audit_held_judge(idm_audit *audit);

#endif
