/* Beliefs that a search has met, each once a stage, with what may follow each action, and bounds
 * that are brought up to date when they are asked for. In a large graph beliefs without successors
 * that are not used for long are dropped, and computed again from their parents on demand; one that
 * is reached in another way while it is dropped gets a second node. */
#ifndef IDM_PLAN_POINT_GRAPH_H
#define IDM_PLAN_POINT_GRAPH_H

#include "plan/point/bounds.h"
#include "plan/point/plans.h"

#define GRAPH_NONE    UINT32_MAX
#define GRAPH_DROPPED SIZE_MAX

typedef struct node {
  size_t at; /* of its belief, or GRAPH_DROPPED */
  uint64_t sign;
  double upper;
  double lower;
  size_t heard_above;
  uint32_t heard_below;
  uint32_t count;
  uint32_t best;    /* vector that is worth `lower` */
  uint32_t point;   /* its own in the upper bound, or SAWTOOTH_NONE */
  uint32_t branch;  /* block of its actions, or GRAPH_NONE */
  uint32_t parent;  /* node that it was first reached from, or GRAPH_NONE */
  uint32_t outcome; /* and by what outcome of the kernel */
  uint32_t stage : 30;
  uint32_t met : 1;  /* its actions have bounds */
  uint32_t used : 1; /* its bounds were read since beliefs were last dropped */
} node;

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

typedef struct graph {
  const point_problem *problem; /* borrowed */
  bounds *bounds;               /* borrowed */
  size_t count;
  size_t capacity;
  node *node;
  size_t
      blocks; /* nodes with actions: the last successors of a search, which are most, have none */
  size_t most_blocks;
  branch *branch; /* [block][action] */
  size_t numbers; /* used of the beliefs */
  size_t room;
  size_t spare;    /* with more numbers than this, idle beliefs are dropped rather than room made */
  uint32_t *state; /* before those of a belief, its node */
  double *mass;    /* of a belief of up to HULL_MOST states prices of the upper bound follow */
  size_t edges;
  size_t most_edges;
  edge *edge;
  size_t slots; /* of the table by belief, a power of two */
  uint32_t *slot;
  plans plans;              /* of the vectors, where there is no horizon */
  double *joint;            /* [cell]: what follows an action of a node */
  uint32_t predicted;       /* that node, or GRAPH_NONE */
  size_t action;            /* and the action */
  uint32_t *recalled_state; /* [state]: a belief that was dropped, computed again */
  double *recalled_mass;    /* [state] */
  double *dense;            /* [state]: scratch, 0 between calls */
} graph;

idm_status idm_graph_create(const point_problem *problem, bounds *b, graph *g,
                            idm_error *opt_error);
void idm_graph_free(graph *g);
double idm_graph_bytes(const graph *g);
/* The node of a belief at a stage, [state] with gaps; made where it is new. */
idm_status idm_graph_enter(graph *g, size_t stage, const double *z, uint32_t *ret_node,
                           idm_error *opt_error);
/* Give all actions of a node a first upper bound. Pointers to branches may move. */
idm_status idm_graph_meet(graph *g, uint32_t at, idm_error *opt_error);
/* See to it that an action's successors are there. Pointers to nodes, branches and edges may move.
 */
idm_status idm_graph_expand(graph *g, uint32_t at, size_t action, idm_error *opt_error);
/* Bring a bound of a node up to date, and return it. */
double idm_graph_upper(graph *g, uint32_t at);
double idm_graph_lower(graph *g, uint32_t at);
/* Drop what pruning finds of a stage's bounds, and number anew. */
idm_status idm_graph_prune_below(graph *g, size_t stage, idm_error *opt_error);
void idm_graph_prune_above(graph *g, size_t stage);
/* Drop the vectors of a stage that are best at no belief with actions. The bound at those beliefs
 * stays what it is, and is one everywhere. Plans refer to the vectors that are dropped: none are
 * kept from here on. */
idm_status idm_graph_drop_below(graph *g, size_t stage, idm_error *opt_error);

/* The belief of any node. That of one without branches is valid until the next call. */
belief idm_graph_recall(graph *g, uint32_t at);

/* The belief of a node that was met or expanded. */
static inline belief graph_belief(const graph *g, uint32_t at)
{
  const node *n = &g->node[at];
  return (belief){g->state + n->at, g->mass + n->at, n->count, n->sign};
}

/* An action of a node that was met or expanded. */
static inline branch *graph_branch(const graph *g, uint32_t at, size_t action)
{
  return &g->branch[g->node[at].branch * g->problem->kernel->actions + action];
}

#endif
