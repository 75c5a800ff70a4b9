/* Workspaces: the mutable state of a planner for one setting, on one thread (one chain). Setting
 * and data are shared and constant. All memory is allocated by idm_workspace_create; planning
 * allocates none unless tau or omega change, or the planner searches, whose bounds grow. */
#ifndef IDM_WORKSPACE_H
#define IDM_WORKSPACE_H

#include "idm/behavior.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_workspace idm_workspace;

/* Create a workspace for the agent's planner. The setting is borrowed. *ret_workspace is owned by
 * the caller. Fails if a lattice exceeds the memory of the machine; the message gives its size and
 * the largest feasible resolution. */
IDM_API idm_status idm_workspace_create(const idm_setting *setting, const idm_theta *theta,
                                        const idm_agent_options *agent,
                                        idm_workspace **ret_workspace, idm_error *opt_error);
/* Free a workspace. Accepts NULL. */
IDM_API void idm_workspace_destroy(idm_workspace *workspace);
/* F: plan for theta, starting from the last solution of the workspace unless opt_solver (NULL:
 * defaults) sets another start. opt_report receives the bound and the work. If planning fails, the
 * workspace holds no plan. */
IDM_API idm_status idm_plan(const idm_theta *theta, const idm_solver *opt_solver,
                            idm_workspace *workspace, idm_plan_report *opt_report,
                            idm_error *opt_error);
/* From the next plan on, learn from the transitions of a log, which are copied, instead of the
 * environment. IDM_INPUT if the planner does not learn by acting in states. */
IDM_API idm_status idm_workspace_set_batch(idm_workspace *workspace, const idm_batch *batch,
                                           idm_error *opt_error);
/* Store the current solution in a slot, for idm_solver.slots: a plan is then a function of theta
 * and the slots alone, bitwise, independent of earlier plans. The fixed point is smooth in theta,
 * so a combination of a few solutions is close to a solution nearby. No effect if the planner has
 * no slots. */
IDM_API idm_status idm_workspace_store(idm_workspace *workspace, size_t slot, idm_error *opt_error);
/* The functions below evaluate the last plan at a belief z [state]: non-negative numbers that sum
 * to 1, both within 1e-6. Before the first plan, after a failed plan, and for a z that is not a
 * distribution, numbers are NaN, and a function that returns a status returns IDM_USAGE. */
/* Value V(z) with the whole horizon left; NaN if the planner has no value function. */
IDM_API double idm_plan_value(idm_workspace *workspace, size_t variant, const double *z);
/* The same after `steps` steps of the horizon. */
IDM_API double idm_plan_value_after(idm_workspace *workspace, size_t variant, int steps,
                                    const double *z);
/* Bounds on the value of the optimal policy at z with the whole horizon left, under the agent's own
 * dynamics. Planners that search have bounds of their own. For a lattice solved for a rational
 * agent (alpha = 0, beta = inf, eta = 0, no award for certainty, Bayesian beliefs, no discounting
 * by delay), the value on the lattice is an upper bound, since interpolation of a convex function
 * does not underestimate it. The lower bound consists of vectors of plans that take the lattice's
 * actions at selected beliefs; it needs a few seconds at most and is deterministic. NaN for other
 * agents and for fully observed problems. See docs/method/control.md, 10. */
IDM_API idm_status idm_plan_bounds(idm_workspace *workspace, size_t variant, const double *z,
                                   double *lower, double *upper, idm_error *opt_error);
/* Vector number `index` of a lower bound on the value, into vector [state], and the first action of
 * its plan. Returns false past the last vector, or if the planner has none. */
IDM_API bool idm_plan_vector(const idm_workspace *workspace, size_t variant, size_t index,
                             double *vector, size_t *action);
/* Policy pi(u|z) into decision [action] and, if opt_specification is not NULL, sigma(m|z,u)
 * [action][model], at the first step. NaN if the policy is not a function of a belief. */
IDM_API void idm_plan_policy(idm_workspace *workspace, size_t variant, const double *z,
                             double *decision, double *opt_specification);
/* The same for pi(u|z) after `steps` steps of the horizon. */
IDM_API void idm_plan_policy_after(idm_workspace *workspace, size_t variant, int steps,
                                   const double *z, double *decision);
/* Choice probabilities after `steps` steps, into choice [action]: pi(u|z) with perseverance and
 * lapse applied, as used by simulations. `last` is the previous action of the trajectory;
 * IDM_MISSING at its first decision. NaN where idm_plan_policy is NaN, and if `last` is not an
 * action. */
IDM_API void idm_plan_choice(idm_workspace *workspace, size_t variant, int steps, const double *z,
                             int last, double *choice);
/* True if perseverance or lapse is in effect, so that choices differ from the planned policy. */
IDM_API bool idm_workspace_has_bias(const idm_workspace *workspace);
/* Q(z,u) after `steps` steps, into quality [action]; NaN if the planner has none. */
IDM_API void idm_plan_quality(idm_workspace *workspace, size_t variant, int steps, const double *z,
                              double *quality);
/* Predictive probability of observation x after action u, for the agent, after `steps` steps:
 * p(x|z,u) = sum_m sigma(m|z,u) p_m(x|z,u). NaN if the policy is not a function of a belief. */
IDM_API double idm_plan_predict(idm_workspace *workspace, size_t variant, int steps,
                                const double *z, size_t action, size_t observation);
/* The same, and into next [state] the mean of the recognised belief rho(z,u,x). 0, and zeros, if no
 * model of the agent allows x. */
IDM_API double idm_plan_recognise(idm_workspace *workspace, size_t variant, int steps,
                                  const double *z, size_t action, size_t observation, double *next);
/* Return and complexities of the plan (idm_forward). opt_occupancy [points] receives the occupancy
 * of the lattice points. See docs/method/control.md, 9. */
IDM_API idm_status idm_plan_forward(idm_workspace *workspace, size_t variant, idm_forward *forward,
                                    double *opt_occupancy, idm_error *opt_error);
/* Behaviour defined by the last plan. Borrowed: valid as long as the workspace. */
IDM_API idm_behavior idm_workspace_behavior(const idm_workspace *workspace);
/* Number of lattice points; 0 if the planner has no lattice. */
IDM_API size_t idm_workspace_points(const idm_workspace *workspace);
/* Approximate memory in bytes for a lattice of another resolution; 0 if there is no lattice. */
IDM_API double idm_workspace_bytes(const idm_workspace *workspace, int resolution);
/* Planner of the workspace. Borrowed. */
IDM_API const idm_planner *idm_workspace_planner(const idm_workspace *workspace);
/* Theta as planned, with the planner's clamps applied. Borrowed. */
IDM_API const idm_theta *idm_workspace_theta(const idm_workspace *workspace);

#ifdef __cplusplus
}
#endif
#endif
