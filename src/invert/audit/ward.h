/* Agents nested in the cells of an audit, as samples of normal populations. */
#ifndef IDM_INVERT_AUDIT_WARD_H
#define IDM_INVERT_AUDIT_WARD_H

#include "invert/audit/lines.h"

/* Record the checks outlier and form of the agents of each ward, with a misfit of the groups that
 * the agent or the product belongs to where they fail. Nothing is recorded without wards. */
idm_status idm_audit_ward_judge(const audit_plan *plan, const audit_draws *draws, idm_audit *audit,
                                idm_error *opt_error);

#endif
