/* Whether the groups of an audit differ, so that one vector of numbers for all is an average. */
#ifndef IDM_INVERT_AUDIT_DIFFER_H
#define IDM_INVERT_AUDIT_DIFFER_H

#include "invert/audit/lines.h"

/* The contrast that is furthest from 0 in its posterior sds. */
typedef struct audit_difference {
  size_t contrast;
  size_t coordinate;
  double mean;
  double sds; /* |mean| over the sd */
  double p;   /* of a normal posterior, times the number of contrasts and coordinates */
} audit_difference;

idm_status idm_audit_differ(const audit_plan *plan, const audit_draws *draws,
                            audit_difference *difference, idm_error *opt_error);

/* Whether a misfit of everybody by one vector of numbers is what groups that differ lead to: no
 * free number is without effect, and the observations do not contradict the environment. */
bool idm_audit_is_mixture(const idm_checks *everybody);
/* Whether the one misfit is that agents or trajectories are not alike: a group of few decisions may
 * differ from the others though no contrast is known well enough. */
bool idm_audit_is_unlike(const idm_checks *everybody);

#endif
