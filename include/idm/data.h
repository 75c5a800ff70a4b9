/* Evidence (D): trajectories of (action, next observation), and the tree of their common prefixes.
 *
 * Row t of a trajectory is the pair (u_t, x_{t+1}): the action taken at z_t and what was seen after
 * it. z_0 is the start belief; there is no x_0. */
#ifndef IDM_DATA_H
#define IDM_DATA_H

#include <stdint.h>

#include "idm/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Not recorded: the agent knew, we do not. */
#define IDM_MISSING (-1)

typedef struct idm_data {
  idm_sizes sizes;
  size_t rows;
  int32_t *action;      /* [row], IDM_MISSING where not recorded */
  int32_t *observation; /* [row], IDM_MISSING where not recorded */
  uint32_t *available;  /* [row]: index of an availability set; 0 is "all actions" */
  uint32_t *line;       /* [row]: line of the file, for messages; 0 where there is none */

  size_t trajectories;
  size_t *first;     /* [trajectories + 1]: rows of trajectory i are first[i] .. first[i+1] - 1 */
  uint32_t *agent;   /* [trajectory] */
  uint32_t *variant; /* [trajectory]: variant of the setting; 0 in the common case */
  int32_t *start;    /* [trajectory]: index of a start belief, or -1 for the setting's own */
  idm_labels trajectory_name; /* may be empty: then trajectories are numbered from 1 */
  idm_labels agent_name;      /* [agents] */

  size_t available_sets; /* at least 1 */
  bool *available_set;   /* [set][action]; set 0 is all true */
  size_t starts;
  double *start_belief;  /* [starts][state] */
  size_t variants;       /* at least 1 */
  size_t columns;        /* utility columns */
  double *variant_value; /* [variants][columns] */

  /* Evidence by column, NULL where the log has none: numbers, or labels as indices into
   * label_name. By row, or by trajectory where the column's descriptor says so. */
  double *number[IDM_COLUMN_COUNT];
  int32_t *label[IDM_COLUMN_COUNT];
  idm_labels label_name[IDM_COLUMN_COUNT];

  size_t covariates;           /* columns kept on request */
  idm_labels covariate_name;   /* [covariates] */
  idm_labels *covariate_level; /* [covariates]: distinct texts */
  int32_t *covariate;          /* [covariates][row]: level, IDM_MISSING where the cell is empty */
} idm_data;

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
  bool leaf;          /* no child: the observation is never used */
  uint64_t count;     /* trajectories through this node */
} idm_prefix_node;

typedef struct idm_prefix_tree {
  unsigned scope; /* of idm_scope */
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

IDM_API void idm_data_destroy(idm_data *data);
/* How many actions an availability set leaves open. */
IDM_API size_t idm_data_open(const idm_data *data, uint32_t set);
/* Indices in range, trajectories not empty, availability consistent: the action taken was open. */
IDM_API idm_status idm_data_validate(const idm_data *data, const idm_setting *setting,
                                     idm_error *opt_error);
/* Refuses (IDM_INPUT) a scope with rewards where the data have none. */
IDM_API idm_status idm_prefix_tree_create(const idm_data *data, unsigned scope,
                                          idm_prefix_tree **ret_tree, idm_error *opt_error);
IDM_API void idm_prefix_tree_destroy(idm_prefix_tree *tree);

#ifdef __cplusplus
}
#endif
#endif
