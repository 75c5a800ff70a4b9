/* A behaviour whose internal state is a belief, or a weighted set of beliefs where we cannot tell
 * which: how every planner over beliefs acts. */
#ifndef IDM_PLAN_BELIEVER_H
#define IDM_PLAN_BELIEVER_H

#include "idm/behavior.h"
#include "idm/planner.h"
#include "plan/believer/environment.h"

/* All but the environment is borrowed: the planner's content gives the policies, theta the
 * candidate models. */
typedef struct believer {
  const idm_planner *planner;
  void *content;
  const idm_setting *setting;
  const idm_theta *theta;
  idm_recognition recognition;
  bool differentiable; /* its policies have the derivative of the planner's adjoint */
  environment environment;
} believer;

/* Their content is a believer. */
extern const idm_behavior_ops idm_believer_ops;

#endif
