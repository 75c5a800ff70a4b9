/* Numbers of an audit from its draws, and the verdict on each group. */
#ifndef IDM_INVERT_AUDIT_JUDGE_H
#define IDM_INVERT_AUDIT_JUDGE_H

#include "invert/audit/lines.h"

/* Fill groups, contrasts and population of an audit whose names and sizes are there: summaries,
 * contraction, sensitivity to the prior's scale (by weights or, where they are too uneven, by
 * fits), heterogeneity of agents, verdicts. */
idm_status idm_audit_judge(const audit_plan *plan, const audit_draws *draws,
                           const audit_watch *watch, idm_audit *audit, idm_error *opt_error);
/* Holm's (1979) adjustment of p[count], in place. */
idm_status idm_audit_holm(double *p, size_t count, idm_error *opt_error);

#endif
