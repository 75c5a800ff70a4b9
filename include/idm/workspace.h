/* Workspaces: a planner at work for one setting, on one thread (one chain); setting and data are
 * shared and constant. Everything is allocated when the workspace is made; planning allocates
 * nothing unless tau or omega change, or the planner searches: its bounds grow as they close. */
#ifndef IDM_WORKSPACE_H
#define IDM_WORKSPACE_H

#include "idm/behavior.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_workspace idm_workspace;

/* Make a workspace for the agent's planner. The setting is borrowed. Refuses,
 * with the size and the resolution that would fit, a lattice too large for the machine's memory. */
IDM_API idm_status idm_workspace_create(const idm_setting *setting, const idm_theta *theta,
                                        const idm_agent_options *agent,
                                        idm_workspace **ret_workspace, idm_error *opt_error);
IDM_API void idm_workspace_destroy(idm_workspace *workspace);
/* F: plan for theta. Warm-starts from the workspace's last solution. opt_solver NULL: the defaults.
 */
IDM_API idm_status idm_plan(const idm_theta *theta, const idm_solver *opt_solver,
                            idm_workspace *workspace, idm_plan_report *opt_report,
                            idm_error *opt_error);
/* Have the planner learn from the transitions of a log, which are copied, in place of the
 * environment, from the next plan on. IDM_INPUT where it does not learn by acting in states. */
IDM_API idm_status idm_workspace_set_batch(idm_workspace *workspace, const idm_batch *batch,
                                           idm_error *opt_error);
/* Keep the solution now held in a slot, for idm_solver.slots: what a plan gives is then a function
 * of theta and the slots alone, bit for bit, whatever was planned before. The fixed point is smooth
 * in theta, so that a combination of a few solutions is close to one nearby. Nothing where a
 * planner keeps none. */
IDM_API idm_status idm_workspace_store(idm_workspace *workspace, size_t slot, idm_error *opt_error);
/* The functions below evaluate the last plan at a belief z, [state]: non-negative numbers that sum
 * to 1, both to 1e-6. Before the first plan, after a plan that failed, and at a z that is no
 * distribution, numbers are NaN, and a function that returns a status returns IDM_USAGE. */
/* After planning: V(z) with the whole horizon left (NaN where the planner has no value). */
IDM_API double idm_plan_value(idm_workspace *workspace, size_t variant, const double *z);
/* The same after `steps` steps of a horizon. */
IDM_API double idm_plan_value_after(idm_workspace *workspace, size_t variant, int steps,
                                    const double *z);
/* After planning: bounds on what the best policy is worth at z with the whole horizon left, under
 * the agent's own dynamics. Of a search they are its own. Of a lattice solved for a rational agent
 * (alpha = 0, beta = inf, eta = 0, no award for certainty,
 * beliefs by Bayes, no discounting by delay) the lattice's value bounds it from
 * above, since between its points it is never below; from below stand vectors of plans that take,
 * at the beliefs they were made for, the lattice's own actions: some seconds at most, and the same
 * ones each time. NaN where there are none: other agents, and problems that are fully observed. */
IDM_API idm_status idm_plan_bounds(idm_workspace *workspace, size_t variant, const double *z,
                                   double *lower, double *upper, idm_error *opt_error);
/* After planning: vector `index` of a lower bound on the value, [state], and the action that its
 * plan begins with. False past the last, and where the planner has none. */
IDM_API bool idm_plan_vector(const idm_workspace *workspace, size_t variant, size_t index,
                             double *vector, size_t *action);
/* After planning: pi(u|z) and, where wanted, sigma(m|z,u) at the first step (NaN where the planner
 * does not decide by a belief). */
IDM_API void idm_plan_policy(idm_workspace *workspace, size_t variant, const double *z,
                             double *decision, double *opt_specification);
/* pi(u|z) after `steps` steps of a horizon. */
IDM_API void idm_plan_policy_after(idm_workspace *workspace, size_t variant, int steps,
                                   const double *z, double *decision);
/* After planning and `steps` steps: the probability of each action at choice time, that is pi(u|z)
 * with perseverance and lapse applied, as a simulation draws from it. `last` is the previous action
 * of the trajectory; IDM_MISSING at its first decision. NaN where idm_plan_policy is, and where
 * there is no action `last`. */
IDM_API void idm_plan_choice(idm_workspace *workspace, size_t variant, int steps, const double *z,
                             int last, double *choice);
/* True if perseverance or lapse is in effect, so that choices differ from the planned policy. */
IDM_API bool idm_workspace_has_bias(const idm_workspace *workspace);
/* After planning and `steps` steps: Q(z,u) of each action (NaN where the planner has none). */
IDM_API void idm_plan_quality(idm_workspace *workspace, size_t variant, int steps, const double *z,
                              double *quality);
/* After planning and `steps` steps: how probable the agent itself holds observation x after action
 * u, p(x|z,u) = sum_m sigma(m|z,u) p_m(x|z,u) (NaN where it does not decide by a belief). */
IDM_API double idm_plan_predict(idm_workspace *workspace, size_t variant, int steps,
                                const double *z, size_t action, size_t observation);
/* The same, and into `next` the belief that it recognises: the mean of rho(z,u,x). 0, and zeros,
 * where none of its models allows x. */
IDM_API double idm_plan_recognise(idm_workspace *workspace, size_t variant, int steps,
                                  const double *z, size_t action, size_t observation, double *next);
/* After planning: return and complexities. opt_occupancy: [points] of the lattice. */
IDM_API idm_status idm_plan_forward(idm_workspace *workspace, size_t variant, idm_forward *forward,
                                    double *opt_occupancy, idm_error *opt_error);
/* The behaviour that a planned workspace makes. Borrowed: valid while the workspace is. */
IDM_API idm_behavior idm_workspace_behavior(const idm_workspace *workspace);
/* Lattice points; 0 where the planner has none. */
IDM_API size_t idm_workspace_points(const idm_workspace *workspace);
/* Bytes, about, that the same problem would take on a lattice of another resolution; 0 where the
 * planner has none. */
IDM_API double idm_workspace_bytes(const idm_workspace *workspace, int resolution);
IDM_API const idm_planner *idm_workspace_planner(const idm_workspace *workspace);
/* The parameter as planned: what the agent's clamps made of it. */
IDM_API const idm_theta *idm_workspace_theta(const idm_workspace *workspace);

#ifdef __cplusplus
}
#endif
#endif
