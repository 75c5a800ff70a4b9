/* Logs with groups, and tabulated likelihoods, for tests of audits. */
#ifndef IDM_TESTS_AUDIT_SUPPORT_H
#define IDM_TESTS_AUDIT_SUPPORT_H

#include "support.h"

/* DIAG on a coarse lattice with log alpha free, normal(0, sd). */
idm_problem *audit_problem(double sd);
/* A log of groups "a", "b", ... of `cases` patients each, every patient an agent, by DIAG with the
 * alpha given; the covariates are `site`, `sex` (f, m, and none for every tenth), which goes from
 * patient to patient, and `visit`, which counts the rows of a patient. */
idm_data *audit_data(const idm_problem *problem, const double *alpha, size_t groups, size_t cases);
/* Settings of a short fit. */
idm_audit_settings audit_settings(void);
/* Two groups with the alphas given, and what is made of them. */
typedef struct audit_case {
  idm_problem *problem;
  idm_data *data;
  idm_groups *groups; /* by a column */
  idm_audit *audit;   /* NULL until it is run */
  idm_audit_settings settings;
} audit_case;
audit_case audit_open(double sd, double first, double second, size_t cases, const char *column);
void audit_close(audit_case *c);

/* log L of the members of a set on a grid of log alpha, less its largest. */
enum { AUDIT_GRID = 1200 };
typedef struct audit_table {
  double log_likelihood[AUDIT_GRID];
} audit_table;
void audit_tabulate(const idm_problem *problem, const idm_data *data, const bool *member,
                    audit_table *table);
/* Interpolated. */
double audit_look_up(const audit_table *table, double log_alpha);

#endif
