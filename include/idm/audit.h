/* Audits: the parameters of groups of people, and contrasts between groups. */
#ifndef IDM_AUDIT_H
#define IDM_AUDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result of an audit. */
typedef struct idm_audit idm_audit;

/* Infer the free parameters of every group and of all, and the contrasts between groups. The groups
 * are the levels of a covariate (setting "audit.by") or predicates (setting "audit.group"). Numbers
 * are in the coordinates of the scales, such as "log_alpha" and "inverse_beta". IDM_INPUT where a
 * prior is not normal or there is nothing to compare; IDM_UNTRUSTED where the watch of the settings
 * stops it. */
IDM_API idm_status idm_audit_create(const idm_problem *problem, const idm_data *data,
                                    const idm_settings *settings, idm_audit **ret_audit,
                                    idm_notes *opt_notes, idm_error *opt_error);
/* Free an audit; NULL is allowed. */
IDM_API void idm_audit_destroy(idm_audit *audit);

/* Number of groups, "all" being the last; of contrasts; and of numbers per group. */
IDM_API size_t idm_audit_groups(const idm_audit *audit);
IDM_API size_t idm_audit_contrasts(const idm_audit *audit);
IDM_API size_t idm_audit_numbers(const idm_audit *audit);
/* Names: of number `index`, of group `index`, and of the two sides of contrast `index` (`side` 0
 * and 1, the second is subtracted). NULL past the last. */
IDM_API const char *idm_audit_number_name(const idm_audit *audit, size_t index);
IDM_API const char *idm_audit_group_name(const idm_audit *audit, size_t index);
IDM_API const char *idm_audit_side_name(const idm_audit *audit, size_t index, int side);
/* Verdict on group or contrast `index`: "identified", "population-driven", "depends on dynamics",
 * "prior-driven", "groups differ", "unchecked" or "failed"; NULL past the last. */
IDM_API const char *idm_audit_group_verdict(const idm_audit *audit, size_t index);
IDM_API const char *idm_audit_contrast_verdict(const idm_audit *audit, size_t index);

/* A number of a group or of a contrast. */
typedef struct idm_audit_estimate {
  idm_diagnosis diagnosis; /* summary of the draws */
  double low;              /* 95 % interval; NaN where the answer depends on the dynamics */
  double high;             /* its upper end */
  double positive;         /* probability of being above 0 */
  double adjusted;         /* p of Holm's procedure; NaN without it */
} idm_audit_estimate;
/* Estimate of number `number` of group or contrast `index`. IDM_USAGE past the last. */
IDM_API idm_status idm_audit_group_estimate(const idm_audit *audit, size_t index, size_t number,
                                            idm_audit_estimate *estimate, idm_error *opt_error);
IDM_API idm_status idm_audit_contrast_estimate(const idm_audit *audit, size_t index, size_t number,
                                               idm_audit_estimate *estimate, idm_error *opt_error);
/* True if no group failed and no other check fails. */
IDM_API bool idm_audit_trusted(const idm_audit *audit);
/* The draws: "log_alpha" along groups, "log_alpha_contrast" along contrasts, ... */
IDM_API idm_status idm_audit_posterior(const idm_audit *audit, idm_posterior **ret_posterior,
                                       idm_error *opt_error);
/* Write summary.json of an audit; "-" is standard output. */
IDM_API idm_status idm_audit_write_summary(const idm_audit *audit, const char *path,
                                           idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
