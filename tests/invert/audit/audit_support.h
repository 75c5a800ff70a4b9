/* Logs with groups, and tabulated likelihoods, for tests of audits. */
#ifndef IDM_TESTS_AUDIT_SUPPORT_H
#define IDM_TESTS_AUDIT_SUPPORT_H

#include "support.h"

/* DIAG on a coarse lattice with log alpha free, normal(0, sd). */
idm_problem *audit_problem(double sd);
/* A log of groups "a", "b", ... of `cases` patients each, each patient an agent, by DIAG with
 * alpha[group]. The covariates are `site`, `sex` (f, m, and missing for every tenth), which varies
 * between patients, and `visit`, which counts the rows of a patient. */
idm_data *audit_data(const idm_problem *problem, const double *alpha, size_t groups, size_t cases);
/* Settings of a short fit. */
idm_audit_settings audit_settings(void);
/* Two groups with the given alphas, and their audit. */
typedef struct audit_case {
  idm_problem *problem;
  idm_data *data;
  idm_groups *groups; /* by a column */
  idm_audit *audit;   /* NULL until it is run */
  idm_audit_settings settings;
} audit_case;
audit_case audit_open(double sd, double first, double second, size_t cases, const char *column);
void audit_close(audit_case *c);

/* Log-likelihood of the members of a set on a grid of log alpha, minus its maximum. */
enum { AUDIT_GRID = 1200 };
typedef struct audit_table {
  double log_likelihood[AUDIT_GRID];
} audit_table;
void audit_tabulate(const idm_problem *problem, const idm_data *data, const bool *member,
                    audit_table *table);
/* Linear interpolation; -INFINITY outside the grid. */
double audit_look_up(const audit_table *table, double log_alpha);

#endif
