/* Numbers of an audit from its draws, and the verdict on each group. */
#ifndef IDM_INVERT_AUDIT_JUDGE_H
#define IDM_INVERT_AUDIT_JUDGE_H

#include "invert/audit/lines.h"

/* Means of a group's number at half and at double the prior's scale. */
typedef struct audit_scales {
  double mean[2];
} audit_scales;

/* Take in the draws of way `way` of an audit whose names and sizes are there, and what else hangs
 * on its dynamics: sensitivity to the prior's scale (by weights or, where they are too uneven, by
 * fits), and what a group's own decisions say. scales: [side][coordinate]. */
idm_status idm_audit_collect(const audit_plan *plan, const audit_draws *draws, size_t way,
                             uint64_t stream, const audit_watch *watch, idm_audit *audit,
                             audit_scales *scales, idm_error *opt_error);
/* How the model fits, in the dynamics at hand. */
idm_status idm_audit_look(const audit_plan *plan, const audit_draws *draws, idm_audit *audit,
                          idm_error *opt_error);
/* Once all are there: summaries, contraction, flags, verdicts. */
idm_status idm_audit_conclude(const audit_plan *plan, const audit_scales *scales, idm_audit *audit,
                              idm_error *opt_error);
/* Holm's (1979) adjustment of p[count], in place. */
idm_status idm_audit_holm(double *p, size_t count, idm_error *opt_error);

#endif
