/* Fixture: agents nested in three groups. */
#ifndef IDM_TESTS_AUDIT_NEST_SUPPORT_H
#define IDM_TESTS_AUDIT_NEST_SUPPORT_H

#include "invert/audit/audit_support.h"
#include "invert/people/reference_support.h"

enum { NEST_GROUPS = REFERENCE_GROUPS };
/* sd of the prior of log alpha, normal(0, NEST_PRIOR_SD) */
#define NEST_PRIOR_SD 1.2

typedef struct nest_case {
  idm_problem *problem;
  idm_data *data;
  idm_groups *groups;
  idm_audit_settings settings;
  idm_audit *audit; /* NULL until it is run */
} nest_case;

/* Agent i is in group i mod `groups`. */
idm_groups *nest_divide(const idm_data *data, size_t groups);
/* Agents with log alpha x[person]. */
nest_case nest_make_at(size_t people, const double *x, size_t decisions, uint64_t seed);
/* Agents of three groups: the groups' means of log alpha differ by the second argument, and agents
 * have the sd `sd` within groups. */
nest_case nest_make(size_t people, double agent_information, double sd, size_t decisions,
                    uint64_t seed);
void nest_run(nest_case *f);
void nest_unmake(nest_case *f);

#endif
