/* Functions of planners: what they read, their blocks, batches of transitions. */
#ifndef IDM_PLAN_PLANNER_H
#define IDM_PLAN_PLANNER_H

#include "base/arguments.h"
#include "idm/extension/behavior.h"
#include "idm/extension/planner.h"

/* --- behavior ------------------------------------------------------------------------------ */

/* Build the tree of histories that the behaviour of a problem's agent distinguishes; see
 * docs/method/likelihood.md, 3. *ret_tree is the caller's. Errors: those of idm_data_validate;
 * IDM_INPUT where the log has several environments, or missed responses that the agent needs an
 * action for. */
IDM_CHECKED idm_status idm_evidence_tree(const idm_problem *problem, const idm_data *data,
                                         idm_prefix_tree **ret_tree, idm_error *opt_error);

/* --- planner ------------------------------------------------------------------------------- */

/* Name of a reason, as in IDM_STOP_LIST; NULL if out of range. */
IDM_CHECKED const char *idm_stop_name(idm_stop stop);
/* Fill the default stopping rule. */
IDM_CHECKED void idm_solver_default(idm_solver *solver);
/* Collect the transitions of a log of a fully observed problem; with `rewards`, its reward column
 * replaces the utility. *ret_batch is owned by the caller. IDM_INPUT if states are hidden, a reward
 * is missing (with its place), or no row gives a transition. */
IDM_CHECKED idm_status idm_batch_create(const idm_setting *setting, const idm_data *data,
                                        bool rewards, idm_batch **ret_batch, idm_error *opt_error);
/* Free the transitions. Accepts NULL. */
IDM_CHECKED void idm_batch_destroy(idm_batch *batch);
/* True if the behaviour depends on block `id` of theta: the planner uses it and no clamp fixes it,
 * or it is a choice bias or a belief-update block of a planner without a behaviour of its own. */
IDM_CHECKED bool idm_planner_reads(const idm_planner *planner, size_t id);
/* True if the behaviour depends on dynamics (`id` is IDM_TRANSITION or IDM_EMISSION): the planner
 * uses models, or plans in the environment's dynamics. A rule uses dynamics for beliefs only, which
 * are certain if states are observed. */
IDM_CHECKED bool idm_planner_uses_dynamics(const idm_planner *planner, const idm_setting *setting,
                                           size_t id);
/* As idm_planner_reads, given which blocks of theta are free: free dynamics are the agent's own,
 * even for a planner that otherwise uses the environment's. */
IDM_CHECKED bool idm_planner_reads_free(const idm_planner *planner, const idm_theta *theta,
                                        size_t id);
/* As idm_planner_reads, for an agent, whose discounting determines which of discount and delay_rate
 * is used. */
IDM_CHECKED bool idm_agent_reads(const idm_agent_options *agent, size_t id);
/* True if a key of a problem's agent affects its planner: the name of a block or of an option that
 * it uses. */
IDM_CHECKED bool idm_agent_uses_key(const idm_problem *problem, const char *key);
/* Add a note that lists the agent's keys that differ from their defaults but have no effect. */
IDM_CHECKED void idm_agent_note_unused(const idm_problem *problem, idm_notes *notes);
/* Operations of the behaviour defined by its plans; those of the belief agent if it has none of its
 * own. */
IDM_CHECKED const struct idm_behavior_ops *idm_planner_behavior(const idm_planner *planner);
/* Resize and initialise blocks whose size depends on the agent's keys. To be called after a change
 * of these keys. */
IDM_CHECKED idm_status idm_planner_shape(const idm_planner *planner, const idm_agent_options *agent,
                                         idm_theta *theta, idm_error *opt_error);
/* Check the sizes of these blocks. IDM_USAGE if one differs from the agent's keys. */
IDM_CHECKED idm_status idm_planner_check_shape(const idm_planner *planner,
                                               const idm_agent_options *agent,
                                               const idm_theta *theta, idm_error *opt_error);
/* Set the planner of a problem's agent, and create that planner's own blocks in theta. */
IDM_CHECKED idm_status idm_problem_set_planner(idm_problem *problem, const idm_planner *planner,
                                               idm_error *opt_error);

#endif
