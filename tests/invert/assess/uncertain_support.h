/* A log of which few draws leave an sd uncertain. */
#ifndef IDM_TESTS_UNCERTAIN_SUPPORT_H
#define IDM_TESTS_UNCERTAIN_SUPPORT_H

#include "support.h"

/* A learner in a two-armed reversal task, whose inverse temperature and learning rate after gains
 * are free, and 100 choices of its own. By the settings, two chains of the sampler's own steps have
 * an sd of the first that is a quarter too large, by the error of so few draws. */
void uncertain_learner(idm_problem **problem, idm_data **data, idm_fit_settings *settings);
/* The same of 120 choices whose posterior has a hundredth around a far mode: the look cannot
 * compare its sd, and some seeds draw from there, others do not. */
void uncertain_far_mode(idm_problem **problem, idm_data **data, idm_fit_settings *settings);

#endif
