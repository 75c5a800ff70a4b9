/* Functions of inverse planners and of their answers. */
#ifndef IDM_INVERT_ANSWER_H
#define IDM_INVERT_ANSWER_H

#include "base/arguments.h"
#include "base/key.h"
#include "idm/extension/inverse.h"
#include "idm/extension/optimality.h"
#include "idm/extension/parameters.h"
#include "idm/extension/posterior.h"
#include "idm/extension/settings.h"

/* --- optimality ---------------------------------------------------------------------------- */

/* Deep copy of a report. *ret_finding is owned by the caller. */
IDM_CHECKED idm_status idm_optimality_copy(const idm_optimality *finding,
                                           idm_optimality **ret_finding, idm_error *opt_error);
/* True if the certificate holds: attained <= closed. */
IDM_CHECKED bool idm_optimality_certified(const idm_optimality *finding);

/* --- inverse ------------------------------------------------------------------------------- */

/* True if the inverse planner infers all free blocks by the likelihood of the decisions. */
IDM_CHECKED bool idm_inverse_by_likelihood(const idm_inverse *inverse);
/* True if the inverse planner uses a setting, given by its name in idm_fit_keys. */
IDM_CHECKED bool idm_inverse_reads(const idm_inverse *inverse, const char *setting);
/* Check that an inverse planner can be applied to a problem and its data. IDM_INPUT names the
 * cause: a missing column, preferences that are missing or not used, a planner of another family,
 * or a block that it cannot infer or does not infer. */
IDM_CHECKED idm_status idm_inverse_check(const idm_inverse *inverse, const idm_problem *problem,
                                         const idm_data *data, idm_error *opt_error);

/* --- parameters ---------------------------------------------------------------------------- */

/* Display name of a quantity: "1/beta" for inverse_beta, "log alpha" for log_alpha, "signed-log
 * eta" for signed_log_eta. Returns buffer. */
IDM_CHECKED const char *idm_quantity_label(const char *quantity, char *buffer, size_t size);

/* --- settings ------------------------------------------------------------------------------ */

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

/* --- posterior ----------------------------------------------------------------------------- */

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

#endif
