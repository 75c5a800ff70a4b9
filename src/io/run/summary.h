/* Internal interface of summary.json: keys and objects.
 *
 * Contents: summary · checks · finding · joint · people */
#ifndef IDM_IO_RUN_SUMMARY_H
#define IDM_IO_RUN_SUMMARY_H

#include "idm/extension/optimality.h"
#include "idm/extension/posterior.h"
#include "invert/assess.h"
#include "invert/checks.h"
#include "io/file.h"
#include "io/json.h"
#include "io/run.h"

/* === summary ================================================================================ */

/* summary.json at locations; see io/run.h. */

idm_status idm_summary_write_at(const idm_posterior *posterior, const idm_assessment *assessment,
                                const idm_projection *opt_projection, const idm_location *location,
                                idm_error *opt_error);
idm_status idm_summary_read_at(const idm_location *location, const idm_posterior *posterior,
                               idm_assessment *assessment, idm_error *opt_error);

/* === checks ================================================================================= */

/* Results of checks in summary.json and in the output of `idm check --json`. */

/* Array of the checks that apply: name, outcome, value, threshold, and the reason why it was not
 * run. */
json_t *idm_checks_array(const idm_checks *checks);
/* Set depends_on_dynamics of a verdict, if it was measured; `also` is true if a part of the answer
 * depends on the dynamics by other measures. */
void idm_checks_put_depends(json_t **verdict, const idm_checks *checks, bool also);
/* Read such an array. A check that has been run since, and is not in the array or was not run then,
 * keeps its result; so does a check that fails. Without an array, every check that applies is "not
 * recorded". */
void idm_checks_read(const json_t *opt_results, idm_checks *checks);

/* Set `trusted` of a verdict, and `unchecked`, the names of checks that were left out. If nothing
 * fails and checks were left out, `trusted` is null. */
void idm_checks_put_trust(json_t **verdict, const idm_checks *checks, bool trusted);

/* === finding ================================================================================ */

/* Findings in summary.json. */

/* Write a finding into the object of a summary; `name` are the names of its free numbers. */
void idm_optimality_put(json_t **object, const idm_labels *name, const idm_optimality *finding);
/* Read a finding; NULL if the summary has none. Entries of an unexpected form are ignored. */
idm_status idm_optimality_read(const json_t *object, const idm_labels *name,
                               idm_optimality **ret_finding, idm_error *opt_error);
/* The same for the parts of a finding that an answer by the likelihood has: objective, certificate,
 * policy. */
void idm_likelihood_optimality_put(json_t **object, const idm_optimality *matched);
idm_status idm_likelihood_optimality_read(const json_t *object, idm_optimality **ret_matched,
                                          idm_error *opt_error);

/* === joint ================================================================================== */

/* Dynamics drawn jointly with the decisions, in summary.json. */

/* mean and sd by name, and the worst diagnostics. */
json_t *idm_json_joint(const idm_joint_dynamics *dynamics);
/* The learnt dynamics in which the policy of the answer is planned, as one list (see idm_dynamics),
 * and the index of their draw; without an index they are the mean. */
json_t *idm_json_central(const idm_dynamics_sets *drawn);

/* === people ================================================================================= */

/* People in summary.json: the population, and the parameters and verdict of every person. */

/* Mean, sd, errors, quantiles and diagnostics of one quantity. */
json_t *idm_json_diagnosis(const idm_diagnosis *diagnosis);
/* Write `population`, if there is one: by effect its coefficients, sd and R2, and the correlations.
 * Write `people`: by person the effects and further results. */
void idm_people_put(json_t **object, const idm_posterior *posterior,
                    const idm_assessment *assessment);
/* Read the results on people that the draws do not contain into an assessment; entries of an
 * unexpected form are ignored. */
idm_status idm_people_read(const json_t *object, const idm_posterior *posterior,
                           idm_assessment *assessment, idm_error *opt_error);

#endif
