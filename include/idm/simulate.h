/* Simulation: a behaviour acting in the environment. */
#ifndef IDM_SIMULATE_H
#define IDM_SIMULATE_H

#include "idm/behavior.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idm_simulation {
  size_t trajectories;
  int steps;     /* most steps a trajectory; 0: the horizon, or 1000 */
  uint64_t seed; /* trajectory i uses stream i */
  size_t agents; /* who share the trajectories out evenly, in order; 0: one */
  /* A log whose design is kept (see idm_data_design); the two counts are then its own. A trajectory
   * that no ending action closed is as long as it was there at most; past its last row the actions
   * open are those of that row. The first state is drawn from the trajectory's start belief. The
   * behaviour must be planned for the log's variants. */
  const idm_data *opt_design_log;
  const idm_theta *opt_reward_theta; /* the environment pays its utilities; NULL: nothing, and no
                               rewards in the log */
  bool states; /* keep the hidden state that each action was taken in; one that is
                  observed is kept anyhow */
  /* Called before each trajectory with its agent, and may plan for another theta. NULL: all act by
   * the same. */
  idm_status (*opt_before)(void *context, size_t trajectory, size_t agent, idm_error *opt_error);
  void *context;
} idm_simulation;

/* Let the environment pay the problem's utilities, where its agent learns from rewards or its log
 * has a column for them; and where the problem takes agent and trajectory from the same columns,
 * give every trajectory an agent of its own. The problem must outlive the simulation. */
IDM_API void idm_simulation_adapt(idm_simulation *simulation, const idm_problem *problem);
/* Trajectories of the behaviour in the environment (never in the agent's models). */
IDM_API idm_status idm_simulate(const idm_setting *setting, idm_behavior behavior,
                                const idm_simulation *simulation, idm_data **ret_data,
                                idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
