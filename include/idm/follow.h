/* Following an agent along a path of actions and observations. */
#ifndef IDM_FOLLOW_H
#define IDM_FOLLOW_H

#include "idm/workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Places on a path, the start first. */
typedef struct idm_path_trace {
  size_t step_count;
  double *belief;    /* [place][state]; NaN where the agent holds none */
  double *policy;    /* [place][action] */
  int32_t *action;   /* [place]: taken there; IDM_MISSING at the last */
  char **step_label; /* [place]: "monitor:positive", what led there; NULL at the start */
} idm_path_trace;

/* Follow "monitor:positive,monitor:negative" from the start, after planning; without a path the
 * start alone. IDM_USAGE where the path is none of the problem's, or goes on where an episode ends.
 */
IDM_API idm_status idm_path_trace_create(const idm_setting *setting, const idm_workspace *workspace,
                                         const char *opt_path, idm_path_trace **ret_trace,
                                         idm_error *opt_error);
/* Takes NULL. */
IDM_API void idm_path_trace_destroy(idm_path_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
