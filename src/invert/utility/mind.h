/* Demonstrators that act on beliefs: worlds of beliefs, policy graphs and margins.
 *
 * Contents: mind · mind kernel · policy graph · belief nodes · belief world · leaving · rival ·
 * belief margin */
#ifndef IDM_INVERT_UTILITY_MIND_H
#define IDM_INVERT_UTILITY_MIND_H

#include "belief/lattice.h"
#include "idm/data.h"
#include "idm/finding.h"
#include "idm/settings.h"
#include "invert/matching/halt.h"
#include "invert/utility/bellman.h"
#include "invert/utility/mdp.h"
#include "invert/utility/sought.h"
#include "plan/point/kernel.h"

/* === mind =================================================================================== */

/* What an agent that acts on beliefs takes the world to be: one model, and what may follow each
 * action row by row. */

typedef struct idm_pomdp {
  const idm_setting *setting; /* borrowed, as what follows is from it and theta */
  idm_theta *theta;           /* the problem's, as the clamps of its planner leave it */
  idm_sizes n;
  double discount;
  const double *start;  /* [state] */
  const bool *terminal; /* [action] */
  const double *prior;  /* [action]: one of 0 cannot be taken */
  /* p(s', x | s, u), row action * states + state; empty where nothing follows the action. */
  size_t *first;         /* [row + 1] */
  uint32_t *observation; /* [entry]: x */
  uint32_t *next;        /* [entry]: s' */
  double *p;             /* [entry] */
} idm_pomdp;

/* IDM_INPUT, as what `who` cannot do without, where the agent has several models or none, where
 * beliefs are not made by Bayes' rule, and where the log gives start beliefs, actions that are not
 * open, or several environments. */
idm_status idm_pomdp_create_any(const idm_problem *problem, const idm_data *data,
                                const char *caller, idm_pomdp **ret_pomdp, idm_error *opt_error);
/* The same of one that has a utility by state and action: IDM_INPUT too where beliefs have
 * a utility themselves. */
idm_status idm_pomdp_create(const idm_problem *problem, const idm_data *data, const char *caller,
                            idm_pomdp **ret_pomdp, idm_error *opt_error);
/* Takes NULL. */
void idm_pomdp_destroy(idm_pomdp *pomdp);

/* joint[state] = p(s', x | z, u); returns their sum p(x | z, u). */
double idm_pomdp_joint(const idm_pomdp *pomdp, const double *z, size_t action, size_t observation,
                       double *joint);
/* next[state] = the belief after x, and returns p(x | z, u); 0, and no belief, where x cannot be
 * seen. z and next are two. */
double idm_pomdp_update(const idm_pomdp *pomdp, const double *z, size_t action, size_t observation,
                        double *next);

/* The beliefs along a log: `visit` receives each row that has an action of the agent's, and the
 * belief acted on, until the first action or observation of the trajectory that is not recorded. */
typedef idm_status (*idm_pomdp_visit)(void *context, size_t row, const double *z,
                                      idm_error *opt_error);
/* A note counts the trajectories that are used in part. IDM_INPUT, with the row, where what was
 * seen cannot be seen. */
idm_status idm_pomdp_filter(const idm_pomdp *pomdp, const idm_data *data, idm_pomdp_visit visit,
                            void *context, idm_notes *opt_notes, idm_error *opt_error);

/* === mind kernel ============================================================================ */

/* The rows of a mind as the kernel that a search plans by. */

/* For the caller to destroy. */
idm_status idm_pomdp_kernel(const idm_pomdp *pomdp, kernel **ret_kernel, idm_error *opt_error);

/* === policy graph =========================================================================== */

/* Policies as graphs over beliefs: a node is a belief with the action taken there, and what is seen
 * then leads to another node. Values are linear in the utility, one vector over states a node
 * (Hansen 1998's controllers). */

typedef struct idm_policy_graph {
  idm_sizes n;
  size_t count; /* nodes; the first is where it begins */
  size_t capacity;
  double *belief; /* [node][state] */
  size_t *low;    /* [node]: states before this one, and from `high` on, are impossible there */
  size_t *high;
  int32_t *action;   /* [node] */
  uint32_t *next;    /* [node][observation] */
  bool *approximate; /* [node][observation]: the belief that follows is no node's, and the nearest
                    one stands in for it */
} idm_policy_graph;

#define IDM_NO_NODE SIZE_MAX

/* No nodes yet. */
void idm_policy_graph_begin(const idm_pomdp *pomdp, idm_policy_graph *graph);
void idm_policy_graph_free(idm_policy_graph *graph);
/* The node of a belief: one that agrees with it in every entry, to 1e-9; or IDM_NO_NODE. */
size_t idm_policy_graph_find(const idm_policy_graph *graph, const double *z);
/* A node of its own for a belief, and the action taken there. */
idm_status idm_policy_graph_add(idm_policy_graph *graph, const double *z, size_t action,
                                idm_error *opt_error);
/* The node nearest to a belief in the sum of absolute differences; of equals the first. */
size_t idm_policy_graph_nearest(const idm_policy_graph *graph, const double *z);
/* Lead every node to those that follow it, once all are there. Where an observation is one that a
 * belief does not expect, the even belief says what follows. */
idm_status idm_policy_graph_link(const idm_pomdp *pomdp, idm_policy_graph *graph,
                                 idm_error *opt_error);

/* The graph of a policy from the start belief on, of at most so many nodes; the action comes from
 * whoever is asked. What a belief does not expect leads back to the start. */
typedef size_t (*idm_policy_function)(void *context, const double *z);
idm_status idm_policy_graph_expand(const idm_pomdp *pomdp, idm_policy_function choose_action,
                                   void *context, size_t most, idm_policy_graph *graph,
                                   idm_error *opt_error);

/* count[action][state] = E sum_t discount^t 1{s,u} from the first node and its belief on: what the
 * policy is worth there is their product with the utility. Any graph is a policy, guessed or not.
 */
idm_status idm_policy_graph_counts(const idm_pomdp *pomdp, const idm_policy_graph *graph,
                                   double *count, idm_cancel *cancel, idm_error *opt_error);
/* The share of discounted steps that come after a guess. */
idm_status idm_policy_graph_approximated(const idm_pomdp *pomdp, const idm_policy_graph *graph,
                                         double *share, idm_cancel *cancel, idm_error *opt_error);
/* value[node][state][number + 1]: what the policy that begins at a node is worth in a state, as
 * weights of the free numbers of the utility, and last what held entries add. */
idm_status idm_policy_graph_values(const idm_pomdp *pomdp, const idm_policy_graph *graph,
                                   const idm_free_utility *free_utility, double *value,
                                   idm_cancel *cancel, idm_error *opt_error);

/* === belief nodes =========================================================================== */

/* The demonstrator of a log whose states are hidden: what it did at which belief, as a policy
 * graph. */

/* The agent's filter runs along every trajectory until its first action or observation that is not
 * recorded (a note counts those); beliefs that have an action are the nodes, the first of them the
 * start. IDM_INPUT, with the beliefs, where some has two actions; with the row, where what was seen
 * cannot be seen, or done. */
idm_status idm_belief_nodes_read(const idm_pomdp *pomdp, const idm_data *data, const char *caller,
                                 idm_policy_graph *graph, idm_notes *opt_notes,
                                 idm_error *opt_error);

/* === belief world =========================================================================== */

/* Beliefs as the states of a world: the points of a lattice, between which a belief counts by its
 * weights in its cell. A policy of beliefs then has occupancies as one of observed states has. */

typedef struct idm_belief_mdp {
  idm_lattice *lattice;
  idm_mdp *mdp;  /* its states are points; what follows an action is what the agent expects */
  double *start; /* [point] */
} idm_belief_mdp;

/* The resolution for a log: the agent's or that of a planner by default, and no more than leaves
 * ten decisions for each action at each point; at least IDM_BELIEF_COARSEST. */
enum { IDM_BELIEF_COARSEST = 5 };
int idm_belief_mdp_resolution(const idm_problem *problem, const idm_data *data);

/* The mind is borrowed. IDM_INPUT, as what `who` cannot do, where the lattice has too many points.
 */
idm_status idm_belief_mdp_create(const idm_pomdp *pomdp, int resolution, const char *caller,
                                 idm_belief_mdp **ret_world, idm_error *opt_error);
/* Takes NULL. */
void idm_belief_mdp_destroy(idm_belief_mdp *mdp);

/* Where the rows of a log act, as the agent's filter follows them; see idm_pomdp_filter. */
idm_status idm_belief_mdp_row_states(const idm_belief_mdp *mdp, const idm_pomdp *pomdp,
                                     const idm_data *data, idm_row_states **ret_row_states,
                                     idm_notes *opt_notes, idm_error *opt_error);

/* State on which lattice an answer was found, and the share of its decisions that the answer of a
 * coarser one makes otherwise: a fault above 2 %. */
void idm_belief_mdp_note(const idm_belief_mdp *mdp, int coarse_resolution, double share,
                         idm_optimality *finding);

/* === leaving ================================================================================ */

/* A world in which it shows whether somebody has left a demonstrator's plan yet: its states are
 * those of the world, once for whoever has left and once for every node of the plan. What is paid
 * for leaving at a node can then be part of a utility. */

typedef struct idm_deviation_pomdp {
  idm_pomdp
      pomdp; /* state s of whoever has left, then node * states + s from `states` on. A guess of
              the plan lets its follower go, unpaid. Rows are its own, the rest is borrowed */
  size_t nodes;
  size_t states; /* of the world */
  double *start; /* at the first node */
} idm_deviation_pomdp;

idm_status idm_deviation_create(const idm_pomdp *pomdp, const idm_policy_graph *plan,
                                idm_deviation_pomdp **ret_deviation, idm_error *opt_error);
/* Takes NULL. */
void idm_deviation_destroy(idm_deviation_pomdp *deviation);

/* paid[action][state] = the utility of (action, state of the world), and what is paid for taking
 * another action than the plan's at a node, [node]. */
void idm_deviation_reward(const idm_deviation_pomdp *deviation, const idm_policy_graph *plan,
                          const double *utility, const double *bonus, double *reward);
/* From count[action][state], as idm_policy_graph_counts has it: by state of the world, [action][s],
 * and how often the plan was left at each node, [node]. */
void idm_deviation_counts(const idm_deviation_pomdp *deviation, const idm_policy_graph *plan,
                          const double *count, double *counts, double *left);

/* === rival ================================================================================== */

/* Who could do better than a demonstrator: a policy that is as good as can be under a utility, and
 * how good any policy can be. */

typedef struct idm_best_response {
  double value;  /* what the policy found is worth at the start */
  double upper;  /* and what no policy's worth exceeds there */
  double *count; /* [action][state]: of the policy, as idm_policy_graph_counts has it; of the
                    caller's */
} idm_best_response;

/* Bounds on the value are brought as close as `gap` where the search gets so far; the policy is
 * kept on at most so many beliefs. */
idm_status idm_best_response_find(const idm_pomdp *pomdp, const double *utility, double gap,
                                  size_t most, idm_best_response *best_response, idm_cancel *cancel,
                                  idm_error *opt_error);

/* === belief margin ========================================================================== */

/* Maximum margin on beliefs: utilities under which what was done at the beliefs of a log is better
 * than anything else by as much as can be. */

/* What is asked. */
typedef struct idm_belief_margin {
  const idm_pomdp *pomdp;
  const idm_data *data;
  const idm_free_utility *free_utility;
  const idm_fit_settings *settings; /* margin, penalty, epsilon, bound; or norm, epsilon */
  const double
      *opt_target; /* [number]: numbers to stay near to, in place of margins to make large */
  const char *caller;
  idm_cancel *cancel;
  idm_notes *opt_notes;
} idm_belief_margin;

/* By state: max sum over visited beliefs z of min_{u != u_z} (V(z) - Q(z,u)) - penalty |utility|_1,
 * each difference at least epsilon. V is that of the demonstrator's policy graph. Q is an action
 * followed by whichever plan is best: of the demonstrator's own (Choi and Kim 2011), and where its
 * graph gets to z without a guess of any policy at all, so that the demonstrator is the best there
 * is at the start. Of the return: min over utilities of the box of the best policy's value at the
 * start less the demonstrator's.
 *
 * With an aim: of the utilities under which each difference is at least epsilon the nearest to the
 * aim, by the norm; numbers have no box. The objective is the distance.
 *
 * Policies are brought in one by one, as long as one is better than is allowed. The answer goes
 * into face->x, [columns], for the caller to free; objective, certificate and words into the
 * finding. IDM_INPUT where there is no such utility. */
idm_status idm_belief_margin_find(const idm_belief_margin *task, idm_face *face,
                                  idm_optimality *finding, idm_error *opt_error);

#endif
