/* Logs of DIAG with covariates. */
#ifndef IDM_TESTS_COVARIATES_SUPPORT_H
#define IDM_TESTS_COVARIATES_SUPPORT_H

#include "support.h"

/* Six people with two trajectories each; drug, group and age vary by person, dose by trajectory,
 * and site within a trajectory of p6. */
extern const char covariates_log[];
/* DIAG with alpha and beta free: log alpha ~ normal(0, 2), 1/beta ~ normal(0, 4). */
idm_problem *covariates_problem(void);
/* A log with the columns `keep`, which ends with NULL. */
idm_data *covariates_data(const idm_problem *problem, const char *csv, const char *const *keep);
/* The design of a log by `by` with up to two formulas. Returns NULL, with support_error set, if it
 * is rejected. */
idm_design *covariates_design(const idm_problem *problem, const char *csv, const char *by,
                              const char *opt_model, const char *opt_second, idm_notes *opt_notes);

#endif
