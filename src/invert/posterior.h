/* Posteriors and labels.
 *
 * Contents: posterior · between · label */
#ifndef IDM_INVERT_POSTERIOR_H
#define IDM_INVERT_POSTERIOR_H

#include <stdbool.h>

#include "idm/diagnostics.h"
#include "idm/inverse.h"
#include "idm/parameters.h"
#include "idm/posterior.h"

/* === posterior ============================================================================== */

/* Posteriors, from within. */

/* The sampler of an answer that repeats the demonstrator's frequencies, whatever the environment.
 */
#define IDM_SAMPLER_FREQUENCIES "frequencies"

/* Whether the draws are of the numbers that these parameters free; IDM_INPUT where not. */
idm_status idm_posterior_check(const idm_posterior *posterior, const idm_parameters *parameters,
                               idm_error *opt_error);

/* A posterior of draws made elsewhere: who made them, its shape, and room for the values of its
 * quantities, which are still to be named, and for statistics, of which nothing is known. */
idm_status idm_posterior_allocate(const char *inverse, const char *sampler, size_t chains,
                                  size_t draws, size_t quantities, idm_posterior **ret_posterior,
                                  idm_error *opt_error);

/* Add an axis, whose labels are copied, and a series along it, whose quantities are named and
 * summarised; room for them is there. */
idm_status idm_posterior_add_axis(idm_posterior *posterior, const char *name,
                                  const idm_labels *label, idm_error *opt_error);
idm_status idm_posterior_add_series(idm_posterior *posterior, const char *name, size_t axis,
                                    size_t first, idm_error *opt_error);

/* === between ================================================================================ */

/* Draws given each of several draws of dynamics, as many each, one after another. */

/* The share of the variance of value[cut][count] that lies between cuts; NaN where there is one. */
double idm_between_share(const double *value, size_t cuts, size_t count);
/* Whether a number depends on dynamics: its share between draws of them is beyond the threshold of
 * the check between-dynamics. False for NaN. */
bool idm_depends_on_dynamics(double between);
/* Diagnose value[chain][draw], whose chains are of `cuts` cuts (0 or 1: of one): chains agree
 * within each, not between, so that R-hat is the largest within one and effective draws are summed;
 * the error of the mean takes in that cuts are as many draws of what the dynamics leave open.
 * A number that depends on dynamics has no interval: q05 and q95 are NaN. *opt_between as above, of
 * opt_coordinate[chain][draw] where that is given: the number on the scale of its prior, on which a
 * long tail of the number itself does not hide what lies between cuts. */
idm_status idm_diagnose_cuts(const double *value, const double *opt_coordinate, size_t chains,
                             size_t draws, size_t cuts, idm_diagnosis *diagnosis,
                             double *opt_between, idm_error *opt_error);

/* === label ================================================================================== */

/* Labels: 64 bits that tell one thing asked for from another, whatever its file looks like. */

/* The label so far, and numbers by their bits; NULL is told from none. */
uint64_t idm_fingerprint_numbers(uint64_t label, const double *opt_values, size_t count);
/* The label so far, and a problem as it was read. What a log gives it (utilities by column) is no
 * part: before and after idm_problem_bind it is the same. */
uint64_t idm_fingerprint_problem(uint64_t label, const idm_problem *problem);
/* The label so far, and a log: who decided what, in which situation. Lines of its file and
 * covariates are no part. */
uint64_t idm_fingerprint_data(uint64_t label, const idm_data *data);
/* The label so far, and every field that results depend on: all but the places. */
uint64_t idm_fingerprint_fields(uint64_t label, const idm_key *keys, const void *fields);
/* Label of a fit: a problem, a log, an inverse planner and the settings that it reads (all where
 * there is none), the seed among them. Random streams are keyed by it, so that two fits never share
 * numbers. */
uint64_t idm_fingerprint_request(const idm_inverse *opt_inverse, const idm_problem *problem,
                                 const idm_data *data, const idm_fit_settings *settings);
/* Label of simulated logs, in the same way. */
uint64_t idm_fingerprint_simulation(const idm_problem *problem, size_t trajectories, int steps,
                                    uint64_t seed);

#endif
