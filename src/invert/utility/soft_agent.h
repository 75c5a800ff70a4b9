/* What inverse planners of soft plans share: the agent's own numbers, the demonstrator's occupancy
 * by action and state, and what soft plans leave open. */
#ifndef IDM_INVERT_UTILITY_SOFT_AGENT_H
#define IDM_INVERT_UTILITY_SOFT_AGENT_H

#include "invert/utility/demonstrator.h"
#include "invert/utility/open.h"

typedef struct idm_soft_agent {
  double alpha;
  double *prior; /* [action] */
} idm_soft_agent;

/* Alpha and action prior as the planner's clamps leave them. IDM_INPUT, as what `who` cannot do
 * without, where alpha is not above 0 and finite or counts in the range of the utility, where eta
 * is not 0 or utilities count by delay, and where there are several models. */
idm_status idm_soft_agent_create(const idm_problem *problem, const char *who,
                                 idm_soft_agent **ret_agent, idm_error *opt_error);
void idm_soft_agent_destroy(idm_soft_agent *agent);

/* mu_demo as idm_demonstrator_occupancy has it, in the order of utilities:
 * occupancy[action][state], an array of twice as many numbers, of which the rest is scratch. */
idm_status idm_soft_agent_demonstrated(const idm_demonstrator *demonstrator, const idm_mdp *world,
                                       const idm_data *data, const idm_setting *setting,
                                       bool empirical, double *occupancy, idm_notes *opt_notes,
                                       idm_error *opt_error);

/* idm_open_shaping; with a horizon, potentials that stand for no utility of the last step:
 * utilities by state alone whose expectation any number of steps ahead no action changes, and where
 * states were never visited whatever makes no action of another better. */
idm_status idm_soft_agent_open(const idm_mdp *world, const idm_demonstrator *opt_seen,
                               const idm_sought *sought, idm_finding *finding,
                               idm_error *opt_error);

#endif
