/* Runs, as others of the room read them. */
#ifndef IDM_IO_RUN_READ_H
#define IDM_IO_RUN_READ_H

#include "idm/run.h"

/* idm_dynamics_read_run of dynamics that must be of the problem's states, actions and observations.
 */
idm_status idm_dynamics_read_for(const char *folder, const idm_problem *problem,
                                 idm_problem **ret_learnt, idm_dynamics_draws *draws,
                                 idm_error *opt_error);

#endif
