/* Demonstrators that act on beliefs: POMDPs, policy graphs, belief MDPs and margins.
 *
 * Contents: pomdp · pomdp kernel · policy graph · belief nodes · belief mdp · leaving · rival ·
 * belief margin */
#ifndef IDM_INVERT_UTILITY_BELIEF_MDP_H
#define IDM_INVERT_UTILITY_BELIEF_MDP_H

#include "belief/belief.h"
#include "idm/extension/data.h"
#include "idm/extension/fit_settings.h"
#include "idm/extension/optimality.h"
#include "invert/cancel.h"
#include "invert/utility/bellman.h"
#include "invert/utility/mdp.h"
#include "plan/point/bounds.h"

/* === pomdp ================================================================================== */

/* POMDP of an agent that acts on beliefs: one model, as sparse rows p(s', x | s, u). */

typedef struct idm_pomdp {
  const idm_setting *setting; /* borrowed; start and terminal are borrowed from it */
  idm_theta *theta;           /* the problem's, with the clamps of its planner applied; owned */
  idm_sizes n;
  double discount;
  const double *start;  /* [state] */
  const bool *terminal; /* [action] */
  const double *prior;  /* [action]: an action of prior 0 cannot be taken */
  /* p(s', x | s, u), row action * states + state; empty for terminal actions. */
  size_t *first;         /* [row + 1] */
  uint32_t *observation; /* [entry]: x */
  uint32_t *next;        /* [entry]: s' */
  double *p;             /* [entry] */
} idm_pomdp;

/* IDM_INPUT, with `caller` in the message, if the agent has several models, does not decide by
 * beliefs or does not update them by Bayes' rule, or if the log gives start beliefs, restricts the
 * available actions, or covers several environments. */
idm_status idm_pomdp_create_any(const idm_problem *problem, const idm_data *data,
                                const char *caller, idm_pomdp **ret_pomdp, idm_error *opt_error);
/* The same for a utility by state and action: IDM_INPUT also if beliefs have a utility of their
 * own. */
idm_status idm_pomdp_create(const idm_problem *problem, const idm_data *data, const char *caller,
                            idm_pomdp **ret_pomdp, idm_error *opt_error);
/* Accepts NULL. */
void idm_pomdp_destroy(idm_pomdp *pomdp);

/* joint[state] = p(s', x | z, u); returns their sum p(x | z, u). */
double idm_pomdp_joint(const idm_pomdp *pomdp, const double *z, size_t action, size_t observation,
                       double *joint);
/* next[state] = the belief after x; returns p(x | z, u). Returns 0, without a valid belief, if x is
 * impossible. z and next must not overlap. */
double idm_pomdp_update(const idm_pomdp *pomdp, const double *z, size_t action, size_t observation,
                        double *next);

/* Bayes filter along a log: `visit` receives each row with an action of the agent's, and the belief
 * acted on, up to the first unrecorded action or observation of a trajectory. */
typedef idm_status (*idm_pomdp_visit)(void *context, size_t row, const double *z,
                                      idm_error *opt_error);
/* A note counts the trajectories that are used in part. IDM_INPUT, with the row, if an observation
 * is impossible under the model. */
idm_status idm_pomdp_filter(const idm_pomdp *pomdp, const idm_data *data, idm_pomdp_visit visit,
                            void *context, idm_notes *opt_notes, idm_error *opt_error);

/* === pomdp kernel =========================================================================== */

/* Rows of a POMDP as the kernel of a search planner. */

/* The caller destroys the kernel. */
idm_status idm_pomdp_kernel(const idm_pomdp *pomdp, kernel **ret_kernel, idm_error *opt_error);

/* === policy graph =========================================================================== */

/* Policies as graphs over beliefs (finite-state controllers, Hansen 1998): a node is a belief with
 * its action, and each observation leads to another node. Values are linear in the utility, one
 * vector over states per node. */

typedef struct idm_policy_graph {
  idm_sizes n;
  size_t count; /* nodes; the first is the initial node */
  size_t capacity;
  double *belief; /* [node][state] */
  size_t *low;    /* [node]: states below `low` and from `high` on have probability 0 */
  size_t *high;
  int32_t *action;   /* [node] */
  uint32_t *next;    /* [node][observation] */
  bool *approximate; /* [node][observation]: the successor belief is no node's, and the nearest node
                        is used instead */
} idm_policy_graph;

#define IDM_NO_NODE SIZE_MAX

/* Initialises an empty graph. */
void idm_policy_graph_begin(const idm_pomdp *pomdp, idm_policy_graph *graph);
void idm_policy_graph_free(idm_policy_graph *graph);
/* Returns the node whose belief equals z in every entry to 1e-9, or IDM_NO_NODE. */
size_t idm_policy_graph_find(const idm_policy_graph *graph, const double *z);
/* Adds a node for a belief with its action. */
idm_status idm_policy_graph_add(idm_policy_graph *graph, const double *z, size_t action,
                                idm_error *opt_error);
/* Returns the node nearest to a belief in the L1 distance; of several the first. */
size_t idm_policy_graph_nearest(const idm_policy_graph *graph, const double *z);
/* Sets the successors of every node, after all nodes were added. For an observation of probability
 * 0 at a node's belief, the successor follows from the uniform belief. */
idm_status idm_policy_graph_link(const idm_pomdp *pomdp, idm_policy_graph *graph,
                                 idm_error *opt_error);

/* Builds the graph of a policy from the start belief, of at most `most` nodes; choose_action gives
 * the action at a belief. Observations of probability 0 lead back to the start. */
typedef size_t (*idm_policy_function)(void *context, const double *z);
idm_status idm_policy_graph_expand(const idm_pomdp *pomdp, idm_policy_function choose_action,
                                   void *context, size_t most, idm_policy_graph *graph,
                                   idm_error *opt_error);

/* count[action][state] = E sum_t discount^t 1{s,u} from the first node and its belief: the policy's
 * value there is the inner product with the utility. Any graph is a valid policy, also with
 * approximate links. */
idm_status idm_policy_graph_counts(const idm_pomdp *pomdp, const idm_policy_graph *graph,
                                   double *count, idm_cancel *cancel, idm_error *opt_error);
/* Share of discounted steps that come after an approximate link. */
idm_status idm_policy_graph_approximated(const idm_pomdp *pomdp, const idm_policy_graph *graph,
                                         double *share, idm_cancel *cancel, idm_error *opt_error);
/* value[node][state][number + 1]: value of the policy that begins at a node in a state, as
 * coefficients of the free numbers of the utility, then the contribution of fixed entries. */
idm_status idm_policy_graph_values(const idm_pomdp *pomdp, const idm_policy_graph *graph,
                                   const idm_free_utility *free_utility, double *value,
                                   idm_cancel *cancel, idm_error *opt_error);

/* === belief nodes =========================================================================== */

/* Demonstrator of a log with hidden states, as a policy graph: its action at each belief. */

/* The agent's filter runs along every trajectory up to its first unrecorded action or observation
 * (a note counts such trajectories); beliefs with an action are the nodes, and the start belief is
 * the first. IDM_INPUT, with the beliefs, if a belief has two actions; with the row, if an
 * observation or an action is impossible. */
idm_status idm_belief_nodes_read(const idm_pomdp *pomdp, const idm_data *data, const char *caller,
                                 idm_policy_graph *graph, idm_notes *opt_notes,
                                 idm_error *opt_error);

/* === belief mdp ============================================================================= */

/* Belief MDP on a lattice: states are the lattice points, and a belief is distributed over the
 * vertices of its cell by interpolation weights. Policies over beliefs then have occupancies like
 * those over observed states. */

typedef struct idm_belief_mdp {
  idm_lattice *lattice;
  idm_mdp *mdp;  /* states are lattice points; transitions are the agent's predictions */
  double *start; /* [point] */
} idm_belief_mdp;

/* Resolution for a log: the agent's or that of planners by default, limited so that there are ten
 * decisions per action and point; at least IDM_BELIEF_COARSEST. */
enum { IDM_BELIEF_COARSEST = 5 };
int idm_belief_mdp_resolution(const idm_problem *problem, const idm_data *data);

/* The POMDP is borrowed. IDM_INPUT, with `caller` in the message, if the lattice has too many
 * points. */
idm_status idm_belief_mdp_create(const idm_pomdp *pomdp, int resolution, const char *caller,
                                 idm_belief_mdp **ret_mdp, idm_error *opt_error);
/* Accepts NULL. */
void idm_belief_mdp_destroy(idm_belief_mdp *mdp);

/* Lattice points of the beliefs at which the rows of a log act, by the agent's filter; see
 * idm_pomdp_filter. */
idm_status idm_belief_mdp_row_states(const idm_belief_mdp *mdp, const idm_pomdp *pomdp,
                                     const idm_data *data, idm_row_states **ret_row_states,
                                     idm_notes *opt_notes, idm_error *opt_error);

/* Adds to the optimality record the lattice on which the answer was found, and the share of
 * decisions in which the answer on a coarser lattice differs: a fault above 2 %. */
void idm_belief_mdp_note(const idm_belief_mdp *mdp, int coarse_resolution, double share,
                         idm_optimality *optimality);

/* === leaving ================================================================================ */

/* POMDP whose state records whether a policy has deviated from a demonstrator's plan: one copy of
 * the states after a deviation, and one copy per node of the plan. A bonus for deviating at a node
 * can then be part of the reward. */

typedef struct idm_deviation_pomdp {
  idm_pomdp pomdp; /* state s after a deviation; then (node + 1) * states + s. An approximate link
                      of the plan leads to the first copy, without a bonus. Rows are owned, the rest
                      is borrowed */
  size_t nodes;
  size_t states; /* number of states of the original POMDP */
  double *start; /* at the first node */
} idm_deviation_pomdp;

idm_status idm_deviation_create(const idm_pomdp *pomdp, const idm_policy_graph *plan,
                                idm_deviation_pomdp **ret_deviation, idm_error *opt_error);
/* Accepts NULL. */
void idm_deviation_destroy(idm_deviation_pomdp *deviation);

/* reward[action][state] = the utility of (action, original state) plus bonus[node] for an action
 * other than the plan's at a node. */
void idm_deviation_reward(const idm_deviation_pomdp *deviation, const idm_policy_graph *plan,
                          const double *utility, const double *bonus, double *reward);
/* From count[action][state], as of idm_policy_graph_counts: counts by original state, [action][s],
 * and discounted number of deviations at each node, left[node]. */
void idm_deviation_counts(const idm_deviation_pomdp *deviation, const idm_policy_graph *plan,
                          const double *count, double *counts, double *left);

/* === rival ================================================================================== */

/* Best response to a utility: a near-optimal policy, and an upper bound on the value of any policy.
 */

typedef struct idm_best_response {
  double value;  /* value of the policy at the start */
  double upper;  /* upper bound on the optimal value there */
  double *count; /* [action][state]: discounted counts of the policy, as of idm_policy_graph_counts;
                    owned by the caller */
} idm_best_response;

/* Closes the bounds on the value to `gap` if the search converges that far; the policy graph has at
 * most `most` nodes. */
idm_status idm_best_response_find(const idm_pomdp *pomdp, const double *utility, double gap,
                                  size_t most, idm_best_response *best_response, idm_cancel *cancel,
                                  idm_error *opt_error);

/* === belief margin ========================================================================== */

/* Maximum margin over beliefs: utilities under which the demonstrator's actions at the beliefs of a
 * log have the largest margin over other actions (`docs/method/inverse.md, 8`). */

/* Arguments of idm_belief_margin_find. */
typedef struct idm_belief_margin {
  const idm_pomdp *pomdp;
  const idm_data *data;
  const idm_free_utility *free_utility;
  const idm_fit_settings
      *settings; /* with margins: margin, penalty, epsilon, bound; with a target: norm, epsilon */
  const double *opt_target; /* [number]: target of a projection, instead of maximising margins */
  const char *caller;
  idm_cancel *cancel;
  idm_notes *opt_notes;
} idm_belief_margin;

/* By state: max sum over visited beliefs z of min_{u != u_z} (V(z) - Q(z,u)) - penalty |utility|_1,
 * each difference at least epsilon. V is the value of the demonstrator's policy graph. Q is an
 * action followed by the best of the demonstrator's own continuations (Choi and Kim 2011) and, if
 * its graph reaches z without approximate links, by any policy at all, so that the demonstrator is
 * optimal at the start. Of the return: min over utilities in the box of the best policy's value at
 * the start minus the demonstrator's.
 *
 * With a target: among the utilities under which each difference is at least epsilon, the nearest
 * to the target by the norm, without a box. The objective is the distance.
 *
 * Constraints of other policies are generated while one is violated. The answer is stored in
 * face->x, [columns], which the caller frees; objective, certificate and words in the optimality
 * record. IDM_INPUT if infeasible. */
idm_status idm_belief_margin_find(const idm_belief_margin *task, idm_face *face,
                                  idm_optimality *optimality, idm_error *opt_error);

#endif
