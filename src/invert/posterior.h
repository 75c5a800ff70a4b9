/* Inverse planners and their answers: posteriors, certificates, and fingerprints of requests.
 *
 * Contents: posterior · between · label · registry · optimality · inverse · parameters · settings
 */
#ifndef IDM_INVERT_POSTERIOR_H
#define IDM_INVERT_POSTERIOR_H

#include <stdbool.h>

#include "base/arguments.h"
#include "base/key.h"
#include "idm/extension/fit_settings.h"
#include "idm/extension/inverse.h"
#include "idm/extension/optimality.h"
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
/* Allocate a summary for probabilities with these names, which are copied. */
IDM_CHECKED idm_status idm_joint_dynamics_create(const idm_labels *name,
                                                 idm_joint_dynamics **ret_dynamics,
                                                 idm_error *opt_error);
/* Free the summary. Accepts NULL. */
IDM_CHECKED void idm_joint_dynamics_destroy(idm_joint_dynamics *dynamics);
/* Allocate sets of learnt dynamics, all zero. */
IDM_CHECKED idm_status idm_dynamics_sets_create(size_t sets, size_t numbers,
                                                idm_dynamics_sets **ret_drawn,
                                                idm_error *opt_error);
/* Free the sets. Accepts NULL. */
IDM_CHECKED void idm_dynamics_sets_destroy(idm_dynamics_sets *drawn);
/* Put the learnt dynamics of a draw, indexed over all chains, into a problem. No effect without
 * learnt dynamics. IDM_USAGE if the draw is out of range; IDM_INPUT if the dynamics belong to
 * another problem. */
IDM_CHECKED idm_status idm_dynamics_sets_apply(const idm_posterior *posterior, size_t draw,
                                               idm_problem *problem, idm_error *opt_error);
/* The same for the central dynamics (idm_dynamics_sets.central). */
IDM_CHECKED idm_status idm_dynamics_apply_central(const idm_posterior *posterior,
                                                  idm_problem *problem, idm_error *opt_error);
/* Put one draw, indexed over all chains, into a problem: its theta and its learnt dynamics. Errors
 * as above. */
IDM_CHECKED idm_status idm_posterior_agent(const idm_posterior *posterior,
                                           const idm_parameters *parameters, size_t draw,
                                           idm_problem *problem, idm_error *opt_error);
/* Index over all chains of the draw with the highest density. */
IDM_CHECKED size_t idm_posterior_highest(const idm_posterior *posterior);
/* Sentence that names the learnt dynamics used for planning; empty if they are the problem's own.
 * Returns buffer. */
IDM_CHECKED const char *idm_dynamics_sets_describe(const idm_posterior *opt_posterior,
                                                   idm_dynamics_use use, char *buffer, size_t size);

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

/* === optimality ============================================================================= */

/* Deep copy of a report. *ret_optimality is owned by the caller. */
IDM_CHECKED idm_status idm_optimality_copy(const idm_optimality *optimality,
                                           idm_optimality **ret_optimality, idm_error *opt_error);
/* True if the certificate holds: attained <= closed. */
IDM_CHECKED bool idm_optimality_certified(const idm_optimality *optimality);

/* === inverse ================================================================================ */

/* True if the inverse planner infers all free blocks by the likelihood of the decisions. */
IDM_CHECKED bool idm_inverse_by_likelihood(const idm_inverse *inverse);
/* True if the inverse planner uses a setting, given by its name in idm_fit_keys. */
IDM_CHECKED bool idm_inverse_reads(const idm_inverse *inverse, const char *setting);
/* Check that an inverse planner can be applied to a problem and its data. IDM_INPUT names the
 * cause: a missing column, preferences that are missing or not used, a planner of another family,
 * or a block that it cannot infer or does not infer. */
IDM_CHECKED idm_status idm_inverse_check(const idm_inverse *inverse, const idm_problem *problem,
                                         const idm_data *data, idm_error *opt_error);

/* === parameters ============================================================================= */

/* Display name of a quantity: "1/beta" for inverse_beta, "log alpha" for log_alpha, "signed-log
 * eta" for signed_log_eta. Returns buffer. */
IDM_CHECKED const char *idm_quantity_label(const char *quantity, char *buffer, size_t size);

/* === settings =============================================================================== */

/* Time limit of these checks, as in idm_fit_monitor.check_seconds, for a fit that took `seconds`
 * seconds: for IDM_CHECKS_FAST the same time, but at least 10; 0 for IDM_CHECKS_FULL, -1 for
 * IDM_CHECKS_NONE. */
IDM_CHECKED double idm_check_effort_seconds(idm_check_effort check_effort, double seconds);
/* Keys of its fields, except `threads`, which does not affect draws, and `again`, which follows
 * from the others. Ends with a NULL name. */
IDM_CHECKED const idm_key *idm_fit_keys(void);
/* Sampling scheme of the paper, for a sampler that is `plain`: one chain, every tenth of 10,000
 * steps after 1,000 warm-up steps. */
IDM_CHECKED void idm_fit_settings_plain(idm_fit_settings *settings);
/* Priors of the paper: flat priors on all free blocks, on the logarithm for alpha, beta and eta. */
IDM_CHECKED void idm_problem_set_flat_priors(idm_problem *problem);

#endif
