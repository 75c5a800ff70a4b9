/* The tree of common prefixes of trajectories. */
#ifndef IDM_PREFIX_H
#define IDM_PREFIX_H

#include "idm/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a behaviour's memory is of: which histories are the same to it. */
typedef enum idm_scope {
  IDM_SCOPE_TRAJECTORY = 0, /* the trajectory so far */
  IDM_SCOPE_AGENT = 1 << 0, /* all of the agent's trajectories so far, in their order in the data */
  IDM_SCOPE_REWARD = 1 << 1, /* rewards are remembered too */
} idm_scope;

/* A tree of histories, common to all trajectories (or agents) that share them. A node is a row, or
 * where `begin` is not -1 the beginning of a trajectory in a variant and start belief. Nodes are in
 * depth-first order: a parent comes before its children, and a subtree is contiguous. */
typedef struct idm_prefix_node {
  int32_t parent; /* -1: a new agent begins here (or, without agent scope, a trajectory) */
  int32_t begin;  /* index into begin_variant and begin_start; -1 for a row */
  int32_t action; /* what this row holds; IDM_MISSING where not recorded */
  int32_t observation;
  uint32_t available; /* availability set */
  uint32_t depth;     /* nodes above it */
  uint32_t first_row; /* a row of the data that is this node, for messages; of a beginning: of its
                         first child */
  bool missed;        /* a missed response, see idm_data.missed */
  bool leaf;          /* no child: the observation is never used */
  bool last;          /* the last row of its trajectories: told apart from others where something
                         was not recorded, as an action may here be one that ends them */
  bool all_recorded;  /* everything that follows it was recorded */
  uint64_t count;     /* trajectories through this node */
} idm_prefix_node;

typedef struct idm_prefix_tree {
  const idm_data *data; /* borrowed: whose histories they are */
  unsigned scope;       /* of idm_scope */
  size_t nodes;
  idm_prefix_node *node;
  double *reward;          /* [nodes]; NULL without IDM_SCOPE_REWARD */
  size_t begins;           /* nodes at which trajectories begin */
  uint32_t *begin_variant; /* [begins] */
  int32_t *begin_start;    /* [begins]: index into start_belief or -1 */
  size_t trajectories;
  uint32_t *first; /* [trajectory]: node at which it begins */
  uint32_t *last;  /* [trajectory]: node of its last row */
  uint32_t depth;  /* of the deepest node */
} idm_prefix_tree;

/* Refuses (IDM_INPUT) a scope with rewards where the data have none. */
IDM_API idm_status idm_prefix_tree_create(const idm_data *data, unsigned scope,
                                          idm_prefix_tree **ret_tree, idm_error *opt_error);
IDM_API void idm_prefix_tree_destroy(idm_prefix_tree *tree);

#ifdef __cplusplus
}
#endif
#endif
