/* Simulation: a behaviour acting in the environment. */
#ifndef IDM_SIMULATE_H
#define IDM_SIMULATE_H

#include "idm/behavior.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_simulation {
  size_t trajectories;
  int steps;                /* most steps a trajectory; 0: the horizon, or 1000 */
  uint64_t seed;            /* trajectory i uses stream i */
  size_t agents;            /* who share the trajectories out evenly, in order; 0: one */
  const double *opt_reward; /* [action][state]: what the environment pays; NULL: nothing, and no
                               rewards in the log */
  /* Called before each trajectory with its agent, and may plan for another theta. NULL: all act by
   * the same. */
  idm_status (*opt_before)(void *context, size_t trajectory, size_t agent, idm_error *opt_error);
  void *context;
} idm_simulation;

/* Let the environment pay the problem's utilities, where its agent learns from rewards. The problem
 * must outlive the simulation. */
IDM_API void idm_simulation_pay(idm_simulation *simulation, const idm_problem *problem);
/* Trajectories of the behaviour in the environment (never in the agent's models). */
IDM_API idm_status idm_simulate(const idm_setting *setting, idm_behavior behavior,
                                const idm_simulation *simulation, idm_data **ret_data,
                                idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
