/* Plans: workspaces, multipliers for given capacities, paths, the likelihood of a log, simulation;
 * and functions of planners.
 *
 * Contents: workspace · capacity · follow · score · simulate · behavior · planner */
#ifndef IDM_PLAN_PLAN_H
#define IDM_PLAN_PLAN_H

#include "base/arguments.h"
#include "idm/extension/behavior.h"
#include "idm/extension/planner.h"
#include "idm/extension/prefix.h"
#include "idm/plan.h"

/* === workspace ============================================================================== */

/* Workspaces: the mutable state of a planner for one setting, on one thread (one chain). Setting
 * and data are shared and constant. All memory is allocated by idm_workspace_create; planning
 * allocates none unless tau or omega change, or the planner searches, whose bounds grow. */

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

/* === capacity =============================================================================== */

/* The constrained form of bounded rational control: multipliers for given capacities. */

/* Find the multipliers alpha, beta, eta at which the decision, specification and recognition rates
 * equal the capacities of the agent (in nats), write them into theta, and plan for the result.
 * Where a capacity does not bind, its multiplier is the limit 0, with a note. Without capacities it
 * only plans. See docs/method/control.md, 9. IDM_USAGE for a family of several variants, or where
 * the planner does not read a multiplier; IDM_NUMERICAL where the search does not converge. */
IDM_CHECKED idm_status idm_plan_capacity(idm_theta *theta, const idm_agent_options *agent,
                                         const idm_solver *opt_solver, idm_workspace *workspace,
                                         idm_plan_report *opt_report, idm_notes *opt_notes,
                                         idm_error *opt_error);

/* === follow ================================================================================= */

/* Beliefs and policies of an agent along a given path of actions and observations. */

/* Nodes of a path; the first is the start. */
typedef struct idm_path_trace {
  size_t step_count;
  double *belief;    /* [node][state]; NaN if the agent has no belief */
  double *policy;    /* [node][action] */
  int32_t *action;   /* [node]: action taken there; IDM_MISSING at the last node */
  char **step_label; /* [node]: the step that leads there, as in "monitor:positive"; NULL at the
                        start */
} idm_path_trace;

/* Follow a path such as "monitor:positive,monitor:negative" from the start belief, with the last
 * plan of the workspace. Without a path, the start only. *ret_trace is owned by the caller.
 * IDM_USAGE if a label of the path does not belong to the problem, or if the path continues after
 * the end of an episode. */
IDM_CHECKED idm_status idm_path_trace_create(const idm_setting *setting,
                                             const idm_workspace *workspace, const char *opt_path,
                                             idm_path_trace **ret_trace, idm_error *opt_error);
/* Free a trace. Accepts NULL. */
IDM_CHECKED void idm_path_trace_destroy(idm_path_trace *trace);

/* === score ================================================================================== */

/* Likelihood of a log under a behaviour, and its derivative. See docs/method/likelihood.md. */

typedef struct idm_scorer idm_scorer;
/* Create a scorer with the scratch memory for one tree. Data and tree are borrowed. *ret_scorer is
 * owned by the caller. */
IDM_CHECKED idm_status idm_scorer_create(const idm_data *data, const idm_prefix_tree *tree,
                                         idm_scorer **ret_scorer, idm_error *opt_error);
/* Free a scorer. Accepts NULL. */
IDM_CHECKED void idm_scorer_destroy(idm_scorer *scorer);
/* Compute the log-likelihood of the data under a behaviour. Memories are reused between runs of the
 * same behaviour, so its workspace must outlive the scorer. IDM_INPUT with the line for an
 * observation that is impossible for the agent; IDM_UNTRUSTED if interrupted. */
IDM_CHECKED idm_status idm_scorer_run(idm_scorer *scorer, idm_behavior behavior, idm_score *score,
                                      idm_error *opt_error);
/* Callback for every row of the tree: its node, the memory before its action, and the probabilities
 * of all actions (valid during the call). */
typedef void (*idm_scorer_visitor)(void *context, size_t node, const void *memory,
                                   const double *probability);
/* Set the callback of later runs; `context` is its first argument. NULL: none. */
IDM_CHECKED void idm_scorer_set_visitor(idm_scorer *scorer, idm_scorer_visitor opt_visitor,
                                        void *context);
/* Set a callback that is called every few milliseconds in later runs; if it returns true, the run
 * ends with IDM_UNTRUSTED. NULL: none. */
IDM_CHECKED void idm_scorer_interrupt(idm_scorer *scorer, idm_interrupt opt_interrupt,
                                      void *context);
/* After a run: contribution of one row of the tree to the log-likelihood. NaN if out of range. */
IDM_CHECKED double idm_scorer_row(const idm_scorer *scorer, size_t node);
/* After a run: log-likelihood summed by agent, into log_likelihood [agents]. */
IDM_CHECKED void idm_scorer_agents(const idm_scorer *scorer, double *log_likelihood);
/* After a run: log-likelihood of one trajectory. */
IDM_CHECKED double idm_scorer_trajectory(const idm_scorer *scorer, size_t trajectory);
/* After a run: log-probability of the decision of each row of a trajectory, into log_probability
 * [rows of the trajectory]; 0 if the row has no decision. */
IDM_CHECKED void idm_scorer_decisions(const idm_scorer *scorer, size_t trajectory,
                                      double *log_probability);
/* After a run: contribution of each row of a trajectory apart from its decision, into log_evidence
 * [rows of the trajectory]. Both sums together are the log-likelihood of the trajectory. */
IDM_CHECKED void idm_scorer_evidence(const idm_scorer *scorer, size_t trajectory,
                                     double *log_evidence);

/* --- gradient ------------------------------------------------------------------------------- */

/* Log-likelihood with its derivative, from the derivative of the behaviour. See
 * docs/method/likelihood.md, 7. */
typedef struct idm_gradient idm_gradient;

/* True if the derivative is available: the behaviour has one, and it supports the data. */
IDM_CHECKED bool idm_gradient_possible(const idm_data *data, const idm_prefix_tree *tree,
                                       const idm_workspace *workspace);
/* Allocate scratch memory for one tree and one workspace; data, tree and workspace are borrowed.
 * *ret_gradient is owned by the caller. */
IDM_CHECKED idm_status idm_gradient_create(const idm_data *data, const idm_prefix_tree *tree,
                                           idm_workspace *workspace, idm_gradient **ret_gradient,
                                           idm_error *opt_error);
/* Free the scratch memory. Accepts NULL. */
IDM_CHECKED void idm_gradient_destroy(idm_gradient *gradient);
/* After idm_plan: the log-likelihood, and into `derivative` (a theta of the same form) its
 * derivative with respect to every number of the blocks that the planner uses. It is 0 for all
 * other numbers and for: belief_prior, if it was fixed when the workspace was created; certainty,
 * except a free award; the pieces of belief_utility; perseverance, if it is fixed at 0 and actions
 * are missing; numbers of a learner's values that are not free in `derivative`; and the parameters
 * of beliefs (the models' dynamics, prior_weight and evidence_weight), unless one of them was free
 * when the workspace was created. For `reciprocal` blocks it is the derivative with respect to the
 * INVERSE, which is smooth at infinity. For distributions it holds along the simplex: it is
 * determined up to a constant common to all entries. Allocates no memory if everything was
 * recorded, otherwise only for more hypotheses than in earlier calls. A decision with probability 0
 * gives -inf and derivatives of 0. IDM_INPUT as idm_scorer_run. */
IDM_CHECKED idm_status idm_gradient_run(idm_gradient *gradient, double *log_likelihood,
                                        idm_theta *derivative, idm_error *opt_error);
/* Set a callback as idm_scorer_interrupt; effective if the derivative of the behaviour can be
 * interrupted. */
IDM_CHECKED void idm_gradient_interrupt(idm_gradient *gradient, idm_interrupt opt_interrupt,
                                        void *context);

/* === simulate =============================================================================== */

/* Simulation of a behaviour in the environment. */

typedef struct idm_simulation {
  size_t trajectories;
  int steps;     /* maximum per trajectory; 0: the horizon, or 1000 */
  uint64_t seed; /* trajectory i uses random stream i */
  size_t agents; /* number of agents, who have equal numbers of consecutive trajectories; 0: one */
  /* Log whose design is reproduced (see idm_data_design); it replaces the numbers of trajectories
   * and agents. A trajectory that is not closed by an ending action is at most as long as in the
   * log; after its last row the available actions are those of that row. The first state is drawn
   * from the trajectory's start belief. The behaviour must be planned for the log's variants. */
  const idm_data *opt_design_log;
  const idm_theta *opt_reward_theta; /* utilities that the environment pays as rewards; NULL: no
                                        rewards in the log */
  bool states; /* store the hidden state before each action; observed states are always stored */
  /* Called before each trajectory with its agent; it may plan for another theta. NULL: one theta
   * for all. */
  idm_status (*opt_before)(void *context, size_t trajectory, size_t agent, idm_error *opt_error);
  void *context;
} idm_simulation;

/* Adapt a simulation to a problem: rewards are paid if its agent learns from rewards or its log has
 * a reward column; if agent and trajectory are read from the same columns, every trajectory gets
 * its own agent. The problem must outlive the simulation. */
IDM_CHECKED void idm_simulation_adapt(idm_simulation *simulation, const idm_problem *problem);
/* Simulate trajectories of a behaviour in the environment of the setting (not in the agent's
 * models). *ret_data is owned by the caller. IDM_INPUT if the environment's dynamics are missing.
 */
IDM_CHECKED idm_status idm_simulate(const idm_setting *setting, idm_behavior behavior,
                                    const idm_simulation *simulation, idm_data **ret_data,
                                    idm_error *opt_error);

/* === behavior =============================================================================== */

/* Build the tree of histories that the behaviour of a problem's agent distinguishes; see
 * docs/method/likelihood.md, 3. *ret_tree is the caller's. Errors: those of idm_data_validate;
 * IDM_INPUT where the log has several environments, or missed responses that the agent needs an
 * action for. */
IDM_CHECKED idm_status idm_evidence_tree(const idm_problem *problem, const idm_data *data,
                                         idm_prefix_tree **ret_tree, idm_error *opt_error);

/* === planner ================================================================================ */

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
