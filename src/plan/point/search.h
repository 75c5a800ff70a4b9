/* Heuristic search from the start belief, by bounds.
 *
 * Contents: plans · graph · choose · hasten · search · point based */
#ifndef IDM_PLAN_POINT_SEARCH_H
#define IDM_PLAN_POINT_SEARCH_H

#include <stdint.h>

#include "idm/planner.h"
#include "idm/status.h"
#include "plan/point/bounds.h"

/* === plans ================================================================================== */

/* How the plans of a lower bound's vectors go on: each begins with its vector's action at the
 * belief that it was made for, and goes on, outcome by outcome, as another's. */

typedef struct plans {
  size_t width; /* outcomes of an action, at most; 0: nothing is kept */
  size_t count;
  size_t capacity;
  uint32_t *owner; /* [count]: node of the belief */
  uint32_t *after; /* [count][width]: vector that follows an outcome */
} plans;

void idm_plans_free(plans *p);
/* The plan of the next vector. */
idm_status idm_plans_add(plans *p, uint32_t owner, const uint32_t *after, idm_error *opt_error);
/* Close ranks as vectors do: see idm_alphas_compact. */
void idm_plans_compact(plans *p, const uint32_t *map, const uint32_t *before);

/* === graph ================================================================================== */

/* Beliefs that a search has met, each once a stage, with what may follow each action, and bounds
 * that are brought up to date when they are asked for. In a large graph beliefs without successors
 * that are not used for long are dropped, and computed again from their parents on demand; one that
 * is reached in another way while it is dropped gets a second node. */

#define GRAPH_NONE    UINT32_MAX
#define GRAPH_DROPPED SIZE_MAX

typedef struct search_node {
  size_t at; /* of its belief, or GRAPH_DROPPED */
  uint64_t support_mask;
  double upper;
  double lower;
  size_t seen_upper;
  uint32_t seen_lower;
  uint32_t count;
  uint32_t best;    /* vector that is worth `lower` */
  uint32_t point;   /* its own in the upper bound, or SAWTOOTH_NONE */
  uint32_t branch;  /* block of its actions, or GRAPH_NONE */
  uint32_t parent;  /* node that it was first reached from, or GRAPH_NONE */
  uint32_t outcome; /* and by what outcome of the kernel */
  uint32_t stage : 30;
  uint32_t actions_initialised : 1; /* its actions have bounds */
  uint32_t used : 1;                /* its bounds were read since beliefs were last dropped */
} search_node;

/* What may follow an action at a node. */
typedef struct edge {
  double p;
  uint32_t node;
  uint32_t outcome; /* counted from the action's first */
} edge;

/* An action at a node. */
typedef struct branch {
  double upper;  /* bound on what it is worth, as last looked at */
  uint32_t edge; /* first */
  uint32_t edges : 31;
  uint32_t expanded : 1;
} branch;

typedef struct search_graph {
  const point_problem *problem; /* borrowed */
  bounds *bounds;               /* borrowed */
  size_t count;
  size_t capacity;
  search_node *node;
  size_t
      blocks; /* nodes with actions: the last successors of a search, which are most, have none */
  size_t block_capacity;
  branch *branch; /* [block][action] */
  size_t numbers; /* used of the beliefs */
  size_t belief_capacity;
  size_t
      drop_limit;  /* with more numbers than this, idle beliefs are dropped rather than room made */
  uint32_t *state; /* before those of a belief, its node */
  double *mass;    /* of a belief of up to HULL_MOST states prices of the upper bound follow */
  size_t edges;
  size_t edge_capacity;
  edge *edge;
  size_t slots; /* of the table by belief, a power of two */
  uint32_t *slot;
  plans plans;                /* of the vectors, where there is no horizon */
  double *joint;              /* [cell]: what follows an action of a node */
  uint32_t predicted;         /* that node, or GRAPH_NONE */
  size_t action;              /* and the action */
  uint32_t *recomputed_state; /* [state]: a belief that was dropped, computed again */
  double *recomputed_mass;    /* [state] */
  double *dense;              /* [state]: scratch, 0 between calls */
} search_graph;

idm_status idm_graph_create(const point_problem *problem, bounds *b, search_graph *g,
                            idm_error *opt_error);
void idm_graph_free(search_graph *g);
double idm_graph_bytes(const search_graph *g);
/* The node of a belief at a stage, [state] with gaps; made where it is new. */
idm_status idm_graph_add(search_graph *g, size_t stage, const double *z, uint32_t *ret_node,
                         idm_error *opt_error);
/* Give all actions of a node a first upper bound. Pointers to branches may move. */
idm_status idm_graph_init_actions(search_graph *g, uint32_t at, idm_error *opt_error);
/* See to it that an action's successors are there. Pointers to nodes, branches and edges may move.
 */
idm_status idm_graph_expand(search_graph *g, uint32_t at, size_t action, idm_error *opt_error);
/* Bring a bound of a node up to date, and return it. */
double idm_graph_upper(search_graph *g, uint32_t at);
double idm_graph_lower(search_graph *g, uint32_t at);
/* Drop what pruning finds of a stage's bounds, and number anew. */
idm_status idm_graph_prune_lower(search_graph *g, size_t stage, idm_error *opt_error);
void idm_graph_prune_upper(search_graph *g, size_t stage);
/* Drop the vectors of a stage that are best at no belief with actions. The bound at those beliefs
 * stays what it is, and is one everywhere. Plans refer to the vectors that are dropped: none are
 * kept from here on. */
idm_status idm_graph_drop_lower(search_graph *g, size_t stage, idm_error *opt_error);

/* The belief of any node. That of one without branches is valid until the next call. */
sparse_belief idm_graph_belief(search_graph *g, uint32_t at);

/* The belief of a node that was met or expanded. */
static inline sparse_belief graph_belief(const search_graph *g, uint32_t at)
{
  const search_node *n = &g->node[at];
  return (sparse_belief){g->state + n->at, g->mass + n->at, n->count, n->support_mask};
}

/* An action of a node that was met or expanded. */
static inline branch *graph_branch(const search_graph *g, uint32_t at, size_t action)
{
  return &g->branch[g->node[at].branch * g->problem->kernel->actions + action];
}

/* === choose ================================================================================= */

/* The most promising action of a belief, by upper bounds. */

/* E[r] at a belief, and what the belief itself is paid. */
double idm_graph_reward(const search_graph *g, const sparse_belief *b, size_t action);
/* The most promising action of a node, looked at: its successors are there, and its bound is
 * theirs. Pointers to nodes and edges may move. */
idm_status idm_graph_choose(search_graph *g, uint32_t at, size_t *action, idm_error *opt_error);

/* === hasten ================================================================================= */

/* Newton's method on both bounds, without a horizon: what trials would move again and again, by
 * 1 - discount of the way each time, a linear system moves at once. From below it is the value of
 * the plans as they go on (policy iteration over finite plans, Hansen 1998), from above that of the
 * points of the upper bound with the mixtures of points that follow them. */

/* Raise the vectors to what their plans are worth. */
idm_status idm_newton_lower(search_graph *g, idm_error *opt_error);
/* Lower the points, by more than `least` each, to what follows the most promising action there. */
idm_status idm_newton_upper(search_graph *g, double least, idm_error *opt_error);

/* === search ================================================================================= */

/* Heuristic search: trials from the start belief to where the bounds are furthest apart, and
 * backups on the way back (Smith and Simmons 2005, HSVI2; Kurniawati, Hsu and Lee 2008, SARSOP). */

/* When to stop. */
typedef struct search_goal {
  double gap;        /* between the bounds at the start */
  double seconds;    /* 0: however long it takes */
  double start_time; /* when they began to count (idm_seconds); 0: with the search */
  long backups;      /* 0: however many it takes */
  double bytes;      /* that beliefs and bounds may take; 0: whatever they take */
  idm_plan_monitor opt_monitor;
  void *context;
} search_goal;

/* What was reached. */
typedef struct search_result {
  double lower; /* at the start */
  double upper;
  long trials;
  long backups;
  idm_stop stop;
} search_result;

/* Improve the bounds until they are as close at the start as the goal asks for. */
idm_status idm_search(const point_problem *problem, const search_goal *goal, bounds *b,
                      search_result *result, idm_error *opt_error);

/* === point based ============================================================================ */

/* What the planner `point-based` holds, for those who write its plans down. */

typedef struct point_based {
  const idm_setting *setting; /* borrowed */
  idm_sizes sizes;
  size_t models;
  size_t variants;
  double gap;
  size_t max_cells; /* cells of an action, at most */
  kernel *kernel;
  double discount;
  double *action_prior;              /* [action] */
  double *model_prior;               /* [model] */
  double *utility;                   /* [variant][action][state] */
  piecewise_reward piecewise_reward; /* for beliefs themselves, of `planned` */
  bounds *bounds;                    /* [variant]; NULL before planning */
  /* What they were searched for, to what gap, and what was reported: nothing is searched for twice
   * while only habits move. */
  idm_theta *planned;
  double planned_gap; /* 0: nothing that a later plan may stand on */
  idm_plan_report report;
} point_based;

#endif
