/* Beliefs that a search has met, each once a stage, with what may follow each action, and bounds
 * that are brought up to date when they are asked for. */
#ifndef IDM_PLAN_POINT_GRAPH_H
#define IDM_PLAN_POINT_GRAPH_H

#include "plan/point/bounds.h"
#include "plan/point/plans.h"

#define GRAPH_NONE UINT32_MAX

typedef struct node {
  size_t at; /* of its belief */
  uint32_t count;
  uint32_t stage;
  uint64_t sign;
  double upper;
  double lower;
  uint32_t best;  /* vector that is worth `lower` */
  uint32_t point; /* its own in the upper bound, or SAWTOOTH_NONE */
  bool met;       /* its actions have bounds */
  size_t heard_above;
  size_t heard_below;
} node;

/* What may follow an action at a node. */
typedef struct edge {
  double p;
  uint32_t node;
  uint32_t outcome; /* counted from the action's first */
} edge;

/* An action at a node. */
typedef struct branch {
  double upper; /* bound on what it is worth, as last looked at */
  size_t edge;  /* first */
  uint32_t edges;
  bool expanded;
} branch;

typedef struct graph {
  const point_problem *problem; /* borrowed */
  bounds *bounds;               /* borrowed */
  size_t count;
  size_t capacity;
  node *node;
  branch *branch; /* [node][action] */
  size_t numbers; /* used of the beliefs */
  size_t room;
  uint32_t *state;
  double *mass;
  double *price; /* of the upper bound, beside each mass */
  size_t edges;
  size_t most_edges;
  edge *edge;
  size_t slots; /* of the table by belief, a power of two */
  uint32_t *slot;
  plans plans;   /* of the vectors, where there is no horizon */
  double *joint; /* [cell]: scratch */
  double *dense; /* [state]: scratch, 0 between calls */
} graph;

idm_status idm_graph_create(const point_problem *problem, bounds *b, graph *g,
                            idm_error *opt_error);
void idm_graph_free(graph *g);
double idm_graph_bytes(const graph *g);
/* The node of a belief at a stage, [state] with gaps; made where it is new. */
idm_status idm_graph_enter(graph *g, size_t stage, const double *z, uint32_t *ret_node,
                           idm_error *opt_error);
/* See to it that all actions of a node have a first upper bound. */
void idm_graph_meet(graph *g, uint32_t at);
/* See to it that an action's successors are there. Pointers to nodes and edges may move. */
idm_status idm_graph_expand(graph *g, uint32_t at, size_t action, idm_error *opt_error);
/* Bring a bound of a node up to date, and return it. */
double idm_graph_upper(graph *g, uint32_t at);
double idm_graph_lower(graph *g, uint32_t at);
/* Drop what pruning finds of a stage's bounds, and number anew. */
idm_status idm_graph_prune_below(graph *g, size_t stage, idm_error *opt_error);
void idm_graph_prune_above(graph *g, size_t stage);

static inline belief graph_belief(const graph *g, uint32_t at)
{
  const node *n = &g->node[at];
  return (belief){g->state + n->at, g->mass + n->at, n->count, n->sign};
}

static inline branch *graph_branch(const graph *g, uint32_t at, size_t action)
{
  return &g->branch[at * g->problem->kernel->actions + action];
}

#endif
