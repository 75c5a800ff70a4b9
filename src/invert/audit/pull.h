/* Priors that hold the numbers of an audit off what the decisions lead to. */
#ifndef IDM_INVERT_AUDIT_PULL_H
#define IDM_INVERT_AUDIT_PULL_H

#include "invert/audit/lines.h"

/* Record the check prior-pull (assess/pull.h) of the numbers that have a fixed prior: of groups
 * that are not pooled, each by itself; such a group has its misfit, and is `elsewhere`. */
void idm_audit_pull_groups(const audit_plan *plan, idm_audit *audit);
/* The same of pooled groups: mean and sd of their distribution, and sds of agents within groups.
 * Then all groups and contrasts fail, since every group is drawn to that distribution. */
void idm_audit_pull_population(const audit_plan *plan, idm_audit *audit);

#endif
