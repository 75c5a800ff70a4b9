/* The demonstrator of a log whose states are hidden: what it did at which belief, as a policy
 * graph. */
#ifndef IDM_INVERT_UTILITY_BELIEF_NODES_H
#define IDM_INVERT_UTILITY_BELIEF_NODES_H

#include "invert/utility/policy_graph.h"

/* The agent's filter runs along every trajectory until its first action or observation that is not
 * recorded (a note counts those); beliefs that have an action are the nodes, the first of them the
 * start. IDM_INPUT, with the beliefs, where some has two actions; with the row, where what was seen
 * cannot be seen, or done. */
idm_status idm_belief_nodes_read(const idm_mind *mind, const idm_data *data, const char *who,
                                 idm_policy_graph *graph, idm_notes *opt_notes,
                                 idm_error *opt_error);

#endif
