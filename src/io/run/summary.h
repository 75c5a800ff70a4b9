/* summary.json: keys and objects.
 *
 * Contents: summary · checks · finding · joint · people */
#ifndef IDM_IO_RUN_SUMMARY_H
#define IDM_IO_RUN_SUMMARY_H

#include "idm/assess.h"
#include "idm/check.h"
#include "idm/finding.h"
#include "idm/posterior.h"
#include "idm/request.h"
#include "idm/run.h"
#include "io/file.h"
#include "io/json.h"

/* === summary ================================================================================ */

/* summary.json at places: see idm/request.h. */

idm_status idm_summary_write_at(const idm_posterior *posterior, const idm_assessment *assessment,
                                const idm_projection *opt_projection, const idm_location *location,
                                idm_error *opt_error);
idm_status idm_summary_read_at(const idm_location *location, const idm_posterior *posterior,
                               idm_assessment *assessment, idm_error *opt_error);

/* === checks ================================================================================= */

/* Results of checks in summary.json, and as `idm check --json` prints them. */

/* An array of the rows that apply: name, outcome, value, threshold, and why it was not run. */
json_t *idm_checks_array(const idm_checks *checks);
/* Set depends_on_dynamics of a verdict, where it was measured: `also` where a part of the answer
 * does by other measures. */
void idm_checks_put_depends(json_t **verdict, const idm_checks *checks, bool also);
/* Read such an array. A row that ran since, and is not in it or was not run then, stays; so does
 * one that fails. Where there is no array, every row that applies is "not recorded". */
void idm_checks_read(const json_t *opt_results, idm_checks *checks);

/* Set `trusted` and `unchecked`, the names of checks that were left out, of a verdict. Where
 * nothing fails and checks were left out, `trusted` is null. */
void idm_checks_put_trust(json_t **verdict, const idm_checks *checks, bool trusted);

/* === finding ================================================================================ */

/* Findings in summary.json. */

/* Keys of a finding into the object of a summary; `name` are those of its free numbers. */
void idm_finding_put(json_t **object, const idm_labels *name, const idm_optimality *finding);
/* And back: NULL where the summary has none. What is not as it was written is passed over. */
idm_status idm_finding_read(const json_t *object, const idm_labels *name,
                            idm_optimality **ret_finding, idm_error *opt_error);
/* The same of what an answer by the likelihood has of these: objective, certificate, policy. */
void idm_likelihood_finding_put(json_t **object, const idm_optimality *matched);
idm_status idm_likelihood_finding_read(const json_t *object, idm_optimality **ret_matched,
                                       idm_error *opt_error);

/* === joint ================================================================================== */

/* Dynamics that were drawn with the decisions, in summary.json. */

/* mean and sd by name, and the worst diagnostics. */
json_t *idm_json_joint(const idm_joint_dynamics *dynamics);
/* The learnt dynamics that one policy of the answer is planned in, as one list (see idm_dynamics),
 * and which draw they are; without it they are the mean. */
json_t *idm_json_central(const idm_dynamics_sets *drawn);

/* === people ================================================================================= */

/* People in summary.json: the population, and everybody's own numbers and verdict. */

/* Mean, sd, errors, quantiles and diagnostics of one quantity. */
json_t *idm_json_diagnosis(const idm_diagnosis *diagnosis);
/* `population`, where there is one: by effect its coefficients, sd and R2, and the correlations;
 * `people`: by person the effects and what else is known. */
void idm_people_put(json_t **object, const idm_posterior *posterior,
                    const idm_assessment *assessment);
/* What the draws do not say of people back into an assessment; what is not as it was written is
 * passed over. */
idm_status idm_people_read(const json_t *object, const idm_posterior *posterior,
                           idm_assessment *assessment, idm_error *opt_error);

#endif
