/* The most promising action of a belief, by upper bounds. */
#ifndef IDM_PLAN_POINT_CHOOSE_H
#define IDM_PLAN_POINT_CHOOSE_H

#include "plan/point/graph.h"

/* E[r] at a belief, and what the belief itself is paid. */
double idm_graph_reward(const graph *g, const belief *b, size_t action);
/* The most promising action of a node, looked at: its successors are there, and its bound is
 * theirs. Pointers to nodes and edges may move. */
idm_status idm_graph_choose(graph *g, uint32_t at, size_t *action, idm_error *opt_error);

#endif
