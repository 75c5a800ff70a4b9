/* Following an agent along a path of actions and observations. */
#ifndef IDM_FOLLOW_H
#define IDM_FOLLOW_H

#include "idm/workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Places on a path, the start first. */
typedef struct idm_followed {
  size_t places;
  double *belief;  /* [place][state]; NaN where the agent holds none */
  double *policy;  /* [place][action] */
  int32_t *action; /* [place]: taken there; IDM_MISSING at the last */
  char **reached;  /* [place]: "monitor:positive", what led there; NULL at the start */
} idm_followed;

/* Follow "monitor:positive,monitor:negative" from the start, after planning; without a path the
 * start alone. IDM_USAGE where the path is none of the problem's, or goes on where an episode ends.
 */
IDM_API idm_status idm_follow(const idm_setting *setting, const idm_workspace *workspace,
                              const char *opt_path, idm_followed **ret_followed,
                              idm_error *opt_error);
/* Takes NULL. */
IDM_API void idm_followed_destroy(idm_followed *followed);

#ifdef __cplusplus
}
#endif
#endif
