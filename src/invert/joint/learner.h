/* Whether dynamics can be drawn together with the decisions of a log. */
#ifndef IDM_INVERT_JOINT_LEARNER_H
#define IDM_INVERT_JOINT_LEARNER_H

#include "idm/cut.h"

/* Whether the draws of a cut are of the observations in `data`, so that dynamics and decisions can
 * be drawn together: then the model of the observations, to be destroyed; else NULL. The draws and
 * the log give the same log-likelihood, the same rows are learnt, the prior of the rows is known,
 * and the models of the problem follow from its environment. */
idm_status idm_joint_learner(const idm_problem *problem, const idm_cuts *cut, const idm_data *data,
                             idm_iohmm **ret_learner, idm_error *opt_error);

/* The mean of learnt dynamics, as draws of which there is one: of those that were drawn with the
 * decisions, else of the draws of the cut. */
idm_status idm_dynamics_mean(const idm_cuts *cut, const idm_joint_dynamics *opt_drawn,
                             idm_dynamics_draws *mean, idm_error *opt_error);

#endif
