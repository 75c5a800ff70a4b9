/* What the planner `point-based` holds, for those who write its plans down. */
#ifndef IDM_PLAN_POINT_POINT_BASED_H
#define IDM_PLAN_POINT_POINT_BASED_H

#include "idm/planner.h"
#include "plan/point/search.h"

typedef struct point_based {
  const idm_setting *setting; /* borrowed */
  idm_sizes sizes;
  size_t models;
  size_t variants;
  double gap;
  size_t widest; /* cells of an action, at most */
  kernel *kernel;
  double discount;
  double *action_prior; /* [action] */
  double *model_prior;  /* [model] */
  double *utility;      /* [variant][action][state] */
  prize prize;          /* for beliefs themselves, of `planned` */
  bounds *bounds;       /* [variant]; NULL before planning */
  /* What they were searched for, to what gap, and what was reported: nothing is searched for twice
   * while only habits move. */
  idm_theta *planned;
  double planned_gap; /* 0: nothing that a later plan may stand on */
  idm_plan_report report;
} point_based;

#endif
