/* Beliefs and policies of an agent along a given path of actions and observations. */
#ifndef IDM_PLAN_FOLLOW_H
#define IDM_PLAN_FOLLOW_H

#include "base/door.h"
#include "idm/plan.h"

/* Nodes of a path; the first is the start. */
typedef struct idm_path_trace {
  size_t step_count;
  double *belief;    /* [node][state]; NaN if the agent has no belief */
  double *policy;    /* [node][action] */
  int32_t *action;   /* [node]: action taken there; IDM_MISSING at the last node */
  char **step_label; /* [node]: the step that leads there, as in "monitor:positive"; NULL at the
                        start */
} idm_path_trace;

/* Follow a path such as "monitor:positive,monitor:negative" from the start belief, with the last
 * plan of the workspace. Without a path, the start only. *ret_trace is owned by the caller.
 * IDM_USAGE if a label of the path does not belong to the problem, or if the path continues after
 * the end of an episode. */
IDM_CHECKED idm_status idm_path_trace_create(const idm_setting *setting,
                                             const idm_workspace *workspace, const char *opt_path,
                                             idm_path_trace **ret_trace, idm_error *opt_error);
/* Free a trace. Accepts NULL. */
IDM_CHECKED void idm_path_trace_destroy(idm_path_trace *trace);

#endif
