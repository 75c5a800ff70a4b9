/* Simulation of a behaviour in the environment. */
#ifndef IDM_PLAN_SIMULATE_H
#define IDM_PLAN_SIMULATE_H

#include "base/door.h"
#include "idm/extension/behavior.h"
#include "idm/plan.h"

typedef struct idm_simulation {
  size_t trajectories;
  int steps;     /* maximum per trajectory; 0: the horizon, or 1000 */
  uint64_t seed; /* trajectory i uses random stream i */
  size_t agents; /* number of agents, who have equal numbers of consecutive trajectories; 0: one */
  /* Log whose design is reproduced (see idm_data_design); it replaces the numbers of trajectories
   * and agents. A trajectory that is not closed by an ending action is at most as long as in the
   * log; after its last row the available actions are those of that row. The first state is drawn
   * from the trajectory's start belief. The behaviour must be planned for the log's variants. */
  const idm_data *opt_design_log;
  const idm_theta *opt_reward_theta; /* utilities that the environment pays as rewards; NULL: no
                                        rewards in the log */
  bool states; /* store the hidden state before each action; observed states are always stored */
  /* Called before each trajectory with its agent; it may plan for another theta. NULL: one theta
   * for all. */
  idm_status (*opt_before)(void *context, size_t trajectory, size_t agent, idm_error *opt_error);
  void *context;
} idm_simulation;

/* Adapt a simulation to a problem: rewards are paid if its agent learns from rewards or its log has
 * a reward column; if agent and trajectory are read from the same columns, every trajectory gets
 * its own agent. The problem must outlive the simulation. */
IDM_CHECKED void idm_simulation_adapt(idm_simulation *simulation, const idm_problem *problem);
/* Simulate trajectories of a behaviour in the environment of the setting (not in the agent's
 * models). *ret_data is owned by the caller. IDM_INPUT if the environment's dynamics are missing.
 */
IDM_CHECKED idm_status idm_simulate(const idm_setting *setting, idm_behavior behavior,
                                    const idm_simulation *simulation, idm_data **ret_data,
                                    idm_error *opt_error);

#endif
