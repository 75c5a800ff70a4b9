/* A world in which it shows whether somebody has left a demonstrator's plan yet: its states are
 * those of the world, once for whoever has left and once for every node of the plan. What is paid
 * for leaving at a node can then be part of a utility. */
#ifndef IDM_INVERT_UTILITY_LEAVING_H
#define IDM_INVERT_UTILITY_LEAVING_H

#include "invert/utility/policy_graph.h"

typedef struct idm_leaving {
  idm_mind mind; /* state s of whoever has left, then node * states + s from `states` on. A guess of
                    the plan lets its follower go, unpaid. Rows are its own, the rest is borrowed */
  size_t nodes;
  size_t states; /* of the world */
  double *start; /* at the first node */
} idm_leaving;

idm_status idm_leaving_create(const idm_mind *mind, const idm_policy_graph *plan,
                              idm_leaving **ret_leaving, idm_error *opt_error);
/* Takes NULL. */
void idm_leaving_destroy(idm_leaving *leaving);

/* paid[action][state] = the utility of (action, state of the world), and what is paid for taking
 * another action than the plan's at a node, [node]. */
void idm_leaving_pay(const idm_leaving *leaving, const idm_policy_graph *plan,
                     const double *utility, const double *pay, double *paid);
/* From count[action][state], as idm_policy_graph_counts has it: by state of the world, [action][s],
 * and how often the plan was left at each node, [node]. */
void idm_leaving_gather(const idm_leaving *leaving, const idm_policy_graph *plan,
                        const double *count, double *gathered, double *left);

#endif
