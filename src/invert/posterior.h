/* Posteriors and fingerprints of requests.
 *
 * Contents: posterior · between · label */
#ifndef IDM_INVERT_POSTERIOR_H
#define IDM_INVERT_POSTERIOR_H

#include <stdbool.h>

#include "base/key.h"
#include "idm/extension/inverse.h"
#include "idm/extension/parameters.h"
#include "idm/extension/posterior.h"
#include "infer/chains.h"

/* === posterior ============================================================================== */

/* Internal interface of posteriors. */

/* Name of the sampler of an answer that repeats the demonstrator's action frequencies in any
 * environment. */
#define IDM_SAMPLER_FREQUENCIES "frequencies"

/* Checks that the draws are of the numbers that these parameters free; IDM_INPUT if not. */
idm_status idm_posterior_check(const idm_posterior *posterior, const idm_parameters *parameters,
                               idm_error *opt_error);

/* Creates a posterior for draws made elsewhere: names of the inverse planner and sampler, the
 * shape, and arrays for the quantities' values. The caller names the quantities; statistics are
 * NaN. */
idm_status idm_posterior_allocate(const char *inverse, const char *sampler, size_t chains,
                                  size_t draws, size_t quantities, idm_posterior **ret_posterior,
                                  idm_error *opt_error);

/* Add an axis, whose labels are copied, and a series along it, whose quantities are named and
 * marked as summarised. The quantities must be allocated already. */
idm_status idm_posterior_add_axis(idm_posterior *posterior, const char *name,
                                  const idm_labels *label, idm_error *opt_error);
idm_status idm_posterior_add_series(idm_posterior *posterior, const char *name, size_t axis,
                                    size_t first, idm_error *opt_error);

/* === between ================================================================================ */

/* Draws conditional on each of several draws of the dynamics (cuts): equally many per cut, stored
 * one cut after another. */

/* Share of the variance of value[cut][count] that lies between cuts; NaN if there are fewer than
 * two. */
double idm_between_share(const double *value, size_t cuts, size_t count);
/* true if a number depends on the dynamics: its variance share between draws of the dynamics
 * exceeds the threshold of the check between-dynamics. False for NaN. */
bool idm_depends_on_dynamics(double between);
/* Diagnoses value[chain][draw], whose chains belong to `cuts` cuts (0 or 1: one cut). Chains are
 * compared within each cut, not between cuts: R-hat is the largest within one cut, and effective
 * sample sizes are summed. The standard error of the mean treats the cuts as independent draws of
 * the between-cut variance. A number that depends on the dynamics has no interval: q05 and q95 are
 * NaN. *opt_between is the share above, of opt_coordinate[chain][draw] if given: the number on the
 * scale of its prior, where a long tail of the number itself does not hide the variance between
 * cuts. */
idm_status idm_diagnose_cuts(const double *value, const double *opt_coordinate, size_t chains,
                             size_t draws, size_t cuts, idm_diagnosis *diagnosis,
                             double *opt_between, idm_error *opt_error);

/* === label ================================================================================== */

/* Fingerprints: 64-bit checksums over the meaning of a request, independent of the text of its
 * files. */

/* Extends a fingerprint by numbers, by their bits; NULL differs from an empty array. */
uint64_t idm_fingerprint_numbers(uint64_t label, const double *opt_values, size_t count);
/* Extends a fingerprint by a problem as it was read. Values from a log (utilities by column) are
 * excluded: the result is the same before and after idm_problem_bind. */
uint64_t idm_fingerprint_problem(uint64_t label, const idm_problem *problem);
/* Extends a fingerprint by a log: agents, decisions and situations. Line numbers of its file and
 * covariates are excluded. */
uint64_t idm_fingerprint_data(uint64_t label, const idm_data *data);
/* Extends a fingerprint by every field that results depend on: all but those marked `place`. */
uint64_t idm_fingerprint_fields(uint64_t label, const idm_key *keys, const void *fields);
/* Fingerprint of a fit: a problem, a log, an inverse planner and the settings that it reads
 * (without an inverse planner: those of all planners by the likelihood), including the seed. Random
 * streams are keyed by it, so two different fits never share random numbers. */
uint64_t idm_fingerprint_request(const idm_inverse *opt_inverse, const idm_problem *problem,
                                 const idm_data *data, const idm_fit_settings *settings);
/* Fingerprint of a simulation. */
uint64_t idm_fingerprint_simulation(const idm_problem *problem, size_t trajectories, int steps,
                                    uint64_t seed);

/* === registry =============================================================================== */

/* Check a table for idm_inverse_register. */
idm_status idm_inverse_check_table(const idm_inverse *inverse, idm_error *opt_error);

#endif
