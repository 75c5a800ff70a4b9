/* Policies as graphs over beliefs: a node is a belief with the action taken there, and what is seen
 * then leads to another node. Values are linear in the utility, one vector over states a node
 * (Hansen 1998's controllers). */
#ifndef IDM_INVERT_UTILITY_POLICY_GRAPH_H
#define IDM_INVERT_UTILITY_POLICY_GRAPH_H

#include "invert/matching/halt.h"
#include "invert/utility/mind.h"
#include "invert/utility/sought.h"

typedef struct idm_policy_graph {
  idm_sizes n;
  size_t count; /* nodes; the first is where it begins */
  size_t capacity;
  double *belief; /* [node][state] */
  size_t *low;    /* [node]: states before this one, and from `high` on, are impossible there */
  size_t *high;
  int32_t *action; /* [node] */
  uint32_t *next;  /* [node][observation] */
  bool *guessed;   /* [node][observation]: the belief that follows is no node's, and the nearest one
                      stands in for it */
} idm_policy_graph;

#define IDM_NO_NODE SIZE_MAX

/* No nodes yet. */
void idm_policy_graph_begin(const idm_mind *mind, idm_policy_graph *graph);
void idm_policy_graph_free(idm_policy_graph *graph);
/* The node of a belief: one that agrees with it in every entry, to 1e-9; or IDM_NO_NODE. */
size_t idm_policy_graph_find(const idm_policy_graph *graph, const double *z);
/* A node of its own for a belief, and the action taken there. */
idm_status idm_policy_graph_add(idm_policy_graph *graph, const double *z, size_t action,
                                idm_error *opt_error);
/* The node nearest to a belief in the sum of absolute differences; of equals the first. */
size_t idm_policy_graph_nearest(const idm_policy_graph *graph, const double *z);
/* Lead every node to those that follow it, once all are there. Where an observation is one that a
 * belief does not expect, the even belief says what follows. */
idm_status idm_policy_graph_link(const idm_mind *mind, idm_policy_graph *graph,
                                 idm_error *opt_error);

/* The graph of a policy from the start belief on, of at most so many nodes; the action comes from
 * whoever is asked. What a belief does not expect leads back to the start. */
typedef size_t (*idm_policy_ask)(void *context, const double *z);
idm_status idm_policy_graph_follow(const idm_mind *mind, idm_policy_ask ask, void *context,
                                   size_t most, idm_policy_graph *graph, idm_error *opt_error);

/* count[action][state] = E sum_t discount^t 1{s,u} from the first node and its belief on: what the
 * policy is worth there is their product with the utility. Any graph is a policy, guessed or not.
 */
idm_status idm_policy_graph_counts(const idm_mind *mind, const idm_policy_graph *graph,
                                   double *count, idm_halt *halt, idm_error *opt_error);
/* The share of discounted steps that come after a guess. */
idm_status idm_policy_graph_guesses(const idm_mind *mind, const idm_policy_graph *graph,
                                    double *share, idm_halt *halt, idm_error *opt_error);
/* value[node][state][number + 1]: what the policy that begins at a node is worth in a state, as
 * weights of the free numbers of the utility, and last what held entries add. */
idm_status idm_policy_graph_values(const idm_mind *mind, const idm_policy_graph *graph,
                                   const idm_sought *sought, double *value, idm_halt *halt,
                                   idm_error *opt_error);

#endif
