/* A tree of histories cut into swaths, each laid out by depth: what a network with a memory goes
 * over at once, level by level, so that memory follows the swath and not the tree.
 *
 * A swath is a stretch of the tree's nodes with all that lies above them. Its places are the nodes
 * that others follow: one memory each. */
#ifndef IDM_PLAN_NETWORK_SWATH_H
#define IDM_PLAN_NETWORK_SWATH_H

#include "idm/prefix.h"

typedef struct swath_place {
  uint32_t node;
  uint32_t before; /* place that it follows; its own at a beginning */
} swath_place;

/* A choice. */
typedef struct swath_row {
  uint32_t node;
  uint32_t place; /* at which it is made */
} swath_row;

typedef struct swath {
  size_t places;
  swath_place *place; /* [places], by depth */
  size_t levels;
  uint32_t *level; /* [levels + 1]: places of level i are level[i] .. level[i + 1] - 1 */
  size_t rows;
  swath_row *row; /* [rows] */
} swath;

typedef struct swaths {
  size_t count;
  size_t widest; /* places of the largest */
  swath *swath;
} swaths;

/* Swaths of about `most` places, or of twice the depth of the tree where that is more: what lies
 * above a stretch is gone over once a swath. */
idm_status idm_swaths_create(const idm_prefix_tree *tree, size_t most, swaths **ret_swaths,
                             idm_error *opt_error);
void idm_swaths_destroy(swaths *s);

#endif
