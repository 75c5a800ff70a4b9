/* Heuristic search from the start belief, guided by bounds.
 *
 * Contents: plans · graph · action choice · Newton · search · point based */
#ifndef IDM_PLAN_POINT_SEARCH_H
#define IDM_PLAN_POINT_SEARCH_H

#include <stdint.h>

#include "idm/extension/planner.h"
#include "idm/status.h"
#include "plan/point/bounds.h"

/* === plans ================================================================================== */

/* Plans (policy trees) of a lower bound's vectors. Each begins with its vector's action, at the
 * belief that the vector was computed for, and continues after each outcome with the plan of
 * another vector. */

typedef struct plans {
  size_t width; /* maximum outcomes of an action; 0: no plans are stored */
  size_t count;
  size_t capacity;
  uint32_t *owner; /* [count]: node of the belief */
  uint32_t *after; /* [count][width]: vector that follows each outcome */
} plans;

void idm_plans_free(plans *p);
/* Adds the plan of the next vector. */
idm_status idm_plans_add(plans *p, uint32_t owner, const uint32_t *after, idm_error *opt_error);
/* Removes the plans of dominated vectors: see idm_alphas_compact. */
void idm_plans_compact(plans *p, const uint32_t *map, const uint32_t *before);

/* === graph ================================================================================== */

/* Beliefs that a search has reached, each once per stage, with the successors of each action, and
 * bounds that are updated when they are read. In a large graph, beliefs without successors that are
 * not used for long are dropped, and recomputed from their parents on demand. A dropped belief that
 * is reached by another path gets a second node. */

#define GRAPH_NONE    UINT32_MAX
#define GRAPH_DROPPED SIZE_MAX

typedef struct search_node {
  size_t at; /* index of its belief, or GRAPH_DROPPED */
  uint64_t support_mask;
  double upper;
  double lower;
  size_t seen_upper;
  uint32_t seen_lower;
  uint32_t count;
  uint32_t best;    /* vector that gives `lower` */
  uint32_t point;   /* its point in the upper bound, or SAWTOOTH_NONE */
  uint32_t branch;  /* block of its actions, or GRAPH_NONE */
  uint32_t parent;  /* node that it was first reached from, or GRAPH_NONE */
  uint32_t outcome; /* outcome of the kernel by which it was reached */
  uint32_t stage : 30;
  uint32_t actions_initialised : 1; /* its actions have bounds */
  uint32_t used : 1;                /* its bounds were read since beliefs were last dropped */
} search_node;

/* A successor of an action at a node. */
typedef struct edge {
  double p;
  uint32_t node;
  uint32_t outcome; /* relative to the action's first */
} edge;

/* An action at a node. */
typedef struct branch {
  double upper;  /* bound on its value, as last computed */
  uint32_t edge; /* index of the first */
  uint32_t edges : 31;
  uint32_t expanded : 1;
} branch;

typedef struct search_graph {
  const point_problem *problem; /* borrowed */
  bounds *bounds;               /* borrowed */
  size_t count;
  size_t capacity;
  search_node *node;
  size_t blocks; /* nodes with actions; most nodes, the last successors of a search, have none */
  size_t block_capacity;
  branch *branch; /* [block][action] */
  size_t numbers; /* entries in use of the beliefs */
  size_t belief_capacity;
  size_t drop_limit; /* with more entries than this, idle beliefs are dropped instead of allocating
                        more */
  uint32_t *state;   /* the entry before those of a belief is its node */
  double *mass;      /* after a belief of up to HULL_MOST states, multipliers of the upper bound */
  size_t edges;
  size_t edge_capacity;
  edge *edge;
  size_t slots; /* of the hash table by belief, a power of two */
  uint32_t *slot;
  plans plans;                /* of the vectors, if there is no horizon */
  double *joint;              /* [cell]: joint probabilities after an action of a node */
  uint32_t predicted;         /* this node, or GRAPH_NONE */
  size_t action;              /* this action */
  uint32_t *recomputed_state; /* [state]: a dropped belief that was recomputed */
  double *recomputed_mass;    /* [state] */
  double *dense;              /* [state]: scratch, 0 between calls */
} search_graph;

idm_status idm_graph_create(const point_problem *problem, bounds *b, search_graph *g,
                            idm_error *opt_error);
void idm_graph_free(search_graph *g);
double idm_graph_bytes(const search_graph *g);
/* Node of a belief, dense [state], at a stage; created if it is new. */
idm_status idm_graph_add(search_graph *g, size_t stage, const double *z, uint32_t *ret_node,
                         idm_error *opt_error);
/* Initialises the upper bounds of all actions of a node. Pointers to branches may move. */
idm_status idm_graph_init_actions(search_graph *g, uint32_t at, idm_error *opt_error);
/* Computes an action's successors, unless they are present. Pointers to nodes, branches and edges
 * may move. */
idm_status idm_graph_expand(search_graph *g, uint32_t at, size_t action, idm_error *opt_error);
/* Updates a bound of a node and returns it. */
double idm_graph_upper(search_graph *g, uint32_t at);
double idm_graph_lower(search_graph *g, uint32_t at);
/* Prunes a stage's bounds, and renumbers the references to them. */
idm_status idm_graph_prune_lower(search_graph *g, size_t stage, idm_error *opt_error);
void idm_graph_prune_upper(search_graph *g, size_t stage);
/* Removes the vectors of a stage that are best at no belief with actions. The bound at these
 * beliefs does not change, and it remains a bound everywhere. Plans refer to the removed vectors:
 * they are freed, and none are stored afterwards. */
idm_status idm_graph_drop_lower(search_graph *g, size_t stage, idm_error *opt_error);

/* Belief of any node. That of a node without branches is valid until the next call. */
sparse_belief idm_graph_belief(search_graph *g, uint32_t at);

/* Belief of a node that is not dropped. */
static inline sparse_belief graph_belief(const search_graph *g, uint32_t at)
{
  const search_node *n = &g->node[at];
  return (sparse_belief){g->state + n->at, g->mass + n->at, n->count, n->support_mask};
}

/* An action of a node that has branches. */
static inline branch *graph_branch(const search_graph *g, uint32_t at, size_t action)
{
  return &g->branch[g->node[at].branch * g->problem->kernel->actions + action];
}

/* === action choice ========================================================================== */

/* The action of a belief with the largest upper bound. */

/* E[r] at a belief, plus the utility of the belief itself. */
double idm_graph_reward(const search_graph *g, const sparse_belief *b, size_t action);
/* The action of a node with the largest upper bound, after its successors and its bound are
 * computed. Pointers to nodes and edges may move. */
idm_status idm_graph_choose(search_graph *g, uint32_t at, size_t *action, idm_error *opt_error);

/* === Newton ================================================================================= */

/* Newton's method on both bounds, without a horizon. Trials close only a fraction 1 - discount of
 * the gap each; a linear system finds the fixed point at once. Lower bound: the values of the plans
 * (policy iteration over finite-state controllers, Hansen 1998). Upper bound: the values of its
 * points, given the mixtures of points that bound their successors. */

/* Raises the vectors to the values of their plans. */
idm_status idm_newton_lower(search_graph *g, idm_error *opt_error);
/* Lowers the points, by more than `least` each, to the backup of the action with the largest upper
 * bound. */
idm_status idm_newton_upper(search_graph *g, double least, idm_error *opt_error);

/* === search ================================================================================= */

/* Heuristic search: trials from the start belief towards the largest gap between the bounds, and
 * backups on the way back (Smith and Simmons 2005, HSVI2; Kurniawati, Hsu and Lee 2008, SARSOP;
 * docs/method/control.md, 10). */

/* Stopping criteria. */
typedef struct search_goal {
  double gap;        /* between the bounds at the start */
  double seconds;    /* 0: no limit */
  double start_time; /* from which seconds are counted (idm_seconds); 0: the start of the search */
  long backups;      /* 0: no limit */
  double bytes;      /* limit on the memory of beliefs and bounds; 0: none */
  idm_plan_monitor opt_monitor;
  void *context;
} search_goal;

/* Result of a search. */
typedef struct search_result {
  double lower; /* at the start */
  double upper;
  long trials;
  long backups;
  idm_stop stop;
} search_result;

/* Improves the bounds until their gap at the start reaches the goal, or another criterion stops the
 * search. */
idm_status idm_search(const point_problem *problem, const search_goal *goal, bounds *b,
                      search_result *result, idm_error *opt_error);

/* === point based ============================================================================ */

/* Content of the planner `point-based`; public for functions that write its plans. */

typedef struct point_based {
  const idm_setting *setting; /* borrowed */
  idm_sizes sizes;
  size_t models;
  size_t variants;
  double gap;
  size_t max_cells; /* maximum cells of an action */
  kernel *kernel;
  double discount;
  double *action_prior;              /* [action] */
  double *model_prior;               /* [model] */
  double *utility;                   /* [variant][action][state] */
  piecewise_reward piecewise_reward; /* utility of beliefs, of `planned` */
  bounds *bounds;                    /* [variant]; NULL before planning */
  /* Theta and gap of the last search, and its report. A theta that differs in perseverance and
   * lapse alone is not searched again. */
  idm_theta *planned;
  double planned_gap; /* 0: no plan that can be reused */
  idm_plan_report report;
} point_based;

#endif
