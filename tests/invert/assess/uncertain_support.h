/* Logs for which few draws estimate an sd with a large error. */
#ifndef IDM_TESTS_UNCERTAIN_SUPPORT_H
#define IDM_TESTS_UNCERTAIN_SUPPORT_H

#include "support.h"

/* 100 choices of a learner in a two-armed reversal task, whose inverse temperature and learning
 * rate of gains are free. With these settings, two chains with the sampler's default steps estimate
 * the sd of the inverse temperature a quarter too large, by Monte Carlo error. */
void uncertain_learner(idm_problem **problem, idm_data **data, idm_fit_settings *settings);
/* 120 choices of such a learner, whose posterior has a hundredth of its mass in a distant mode: the
 * importance sample cannot compare the sd, and only some seeds draw from that mode. */
void uncertain_far_mode(idm_problem **problem, idm_data **data, idm_fit_settings *settings);

#endif
