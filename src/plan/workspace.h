/* What a workspace holds, for the parts of the library that look inside it. */
#ifndef IDM_PLAN_WORKSPACE_H
#define IDM_PLAN_WORKSPACE_H

#include "idm/planner.h"
#include "plan/believer/believer.h"

struct idm_workspace {
  const idm_planner *planner;
  const idm_setting *setting; /* borrowed */
  idm_theta *theta;           /* own copy, clamped: the believer's models are here */
  idm_theta *candidate;       /* a theta on its way in */
  idm_recognition recognition;
  void *content;
  double *scratch; /* for values and policies asked of the workspace itself */
  believer *believer;
};

#endif
