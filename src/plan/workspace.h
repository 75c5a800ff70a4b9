/* What a workspace holds. */
#ifndef IDM_PLAN_WORKSPACE_H
#define IDM_PLAN_WORKSPACE_H

#include "idm/workspace.h"
#include "plan/believer/believer.h"

struct idm_workspace {
  const idm_planner *planner;
  const idm_setting *setting; /* borrowed */
  idm_theta *theta;           /* own copy, clamped: the believer's models are here */
  idm_theta *candidate;       /* a theta on its way in */
  void *content;
  bool delayed;      /* utilities count by delay, and not by the discount */
  bool planned;      /* false until a plan succeeds, and after one that fails */
  double bound;      /* of the last plan, see idm_plan_report */
  double *scratch;   /* for values and policies asked of the workspace itself */
  double *look;      /* scratch of a look at one belief: a successor, policies; NULL likewise */
  believer believer; /* of a planner over beliefs */
};

/* Whether there is something to evaluate: a plan that succeeded, of that variant, at a belief that
 * is a distribution. */
bool idm_workspace_evaluates(const idm_workspace *workspace, size_t variant, int steps,
                             const double *z);

#endif
