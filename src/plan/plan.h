/* Workspaces: the mutable state of a planner for one setting, on one thread (one chain). Setting
 * and data are shared and constant. All memory is allocated by idm_workspace_create; planning
 * allocates none unless tau or omega change, or the planner searches, whose bounds grow. */
#ifndef IDM_PLAN_PLAN_H
#define IDM_PLAN_PLAN_H

#include "base/door.h"
#include "idm/extension/behavior.h"
#include "idm/plan.h"

/* Create a workspace for the agent's planner. The setting is borrowed. *ret_workspace is owned by
 * the caller. Fails if a lattice exceeds the memory of the machine; the message gives its size and
 * the largest feasible resolution. */
IDM_CHECKED idm_status idm_workspace_create(const idm_setting *setting, const idm_theta *theta,
                                            const idm_agent_options *agent,
                                            idm_workspace **ret_workspace, idm_error *opt_error);
/* F: plan for theta, starting from the last solution of the workspace unless opt_solver (NULL:
 * defaults) sets another start. opt_report receives the bound and the work. If planning fails, the
 * workspace holds no plan. */
IDM_CHECKED idm_status idm_plan(const idm_theta *theta, const idm_solver *opt_solver,
                                idm_workspace *workspace, idm_plan_report *opt_report,
                                idm_error *opt_error);
/* From the next plan on, learn from the transitions of a log, which are copied, instead of the
 * environment. IDM_INPUT if the planner does not learn by acting in states. */
IDM_CHECKED idm_status idm_workspace_set_batch(idm_workspace *workspace, const idm_batch *batch,
                                               idm_error *opt_error);
/* Store the current solution in a slot, for idm_solver.slots: a plan is then a function of theta
 * and the slots alone, bitwise, independent of earlier plans. The fixed point is smooth in theta,
 * so a combination of a few solutions is close to a solution nearby. No effect if the planner has
 * no slots. */
IDM_CHECKED idm_status idm_workspace_store(idm_workspace *workspace, size_t slot,
                                           idm_error *opt_error);
/* The functions below evaluate the last plan at a belief z [state]: non-negative numbers that sum
 * to 1, both within 1e-6. Before the first plan, after a failed plan, and for a z that is not a
 * distribution, numbers are NaN, and a function that returns a status returns IDM_USAGE. */
/* The same after `steps` steps of the horizon. */
IDM_CHECKED double idm_plan_value_after(idm_workspace *workspace, size_t variant, int steps,
                                        const double *z);
/* Vector number `index` of a lower bound on the value, into vector [state], and the first action of
 * its plan. Returns false past the last vector, or if the planner has none. */
IDM_CHECKED bool idm_plan_vector(const idm_workspace *workspace, size_t variant, size_t index,
                                 double *vector, size_t *action);
/* The same for pi(u|z) after `steps` steps of the horizon. */
IDM_CHECKED void idm_plan_policy_after(idm_workspace *workspace, size_t variant, int steps,
                                       const double *z, double *decision);
/* True if perseverance or lapse is in effect, so that choices differ from the planned policy. */
IDM_CHECKED bool idm_workspace_has_bias(const idm_workspace *workspace);
/* Behaviour defined by the last plan. Borrowed: valid as long as the workspace. */
IDM_CHECKED idm_behavior idm_workspace_behavior(const idm_workspace *workspace);
/* Approximate memory in bytes for a lattice of another resolution; 0 if there is no lattice. */
IDM_CHECKED double idm_workspace_bytes(const idm_workspace *workspace, int resolution);
/* Planner of the workspace. Borrowed. */
IDM_CHECKED const idm_planner *idm_workspace_planner(const idm_workspace *workspace);
/* Theta as planned, with the planner's clamps applied. Borrowed. */
IDM_CHECKED const idm_theta *idm_workspace_theta(const idm_workspace *workspace);

#endif
