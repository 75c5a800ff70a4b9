/* Tree of histories: common prefixes of trajectories. See docs/method/likelihood.md, 3. */
#ifndef IDM_EXTENSION_PREFIX_H
#define IDM_EXTENSION_PREFIX_H

#include "idm/extension/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scope of a behaviour's memory: which histories it distinguishes. */
typedef enum idm_scope {
  IDM_SCOPE_TRAJECTORY = 0,  /* actions and observations of the current trajectory */
  IDM_SCOPE_AGENT = 1 << 0,  /* all trajectories of the agent so far, in data order */
  IDM_SCOPE_REWARD = 1 << 1, /* rewards in addition */
} idm_scope;

/* Node of a tree of histories that is shared by trajectories (or agents) with equal histories. A
 * node is a row or, if `begin` is not -1, the start of a trajectory with its variant and start
 * belief. Nodes are in depth-first order: parents precede children, and subtrees are contiguous. */
typedef struct idm_prefix_node {
  int32_t parent; /* -1: first node of an agent (or, without agent scope, of a trajectory) */
  int32_t begin;  /* index into begin_variant and begin_start; -1 for a row */
  int32_t action; /* recorded action; IDM_MISSING if not recorded */
  int32_t observation;
  uint32_t available; /* availability set */
  uint32_t depth;     /* number of ancestors */
  uint32_t first_row; /* index of a data row of this node, for messages; for a start: of its first
                         child */
  bool missed;        /* a missed response, see idm_data.missed */
  bool leaf;          /* no child: no later row uses the memory after it */
  bool last; /* last row of its trajectories; a separate node if an action was not recorded, since a
                missing last action may be one that ends the trajectory */
  bool all_recorded; /* below it nothing is missing, but for observations of leaves */
  uint64_t count;    /* number of trajectories through this node */
} idm_prefix_node;

typedef struct idm_prefix_tree {
  const idm_data *data; /* borrowed */
  unsigned scope;       /* bits of idm_scope */
  size_t nodes;
  idm_prefix_node *node;
  double *reward;          /* [nodes]; NULL without IDM_SCOPE_REWARD */
  size_t begins;           /* number of trajectory starts */
  uint32_t *begin_variant; /* [begins] */
  int32_t *begin_start;    /* [begins]: index into start_belief or -1 */
  size_t trajectories;
  uint32_t *first; /* [trajectory]: its start node */
  uint32_t *last;  /* [trajectory]: node of its last row */
  uint32_t depth;  /* maximum depth of a node */
} idm_prefix_tree;

#ifdef __cplusplus
}
#endif
#endif
