/* Simulated people, and designs that describe them. */
#ifndef IDM_TESTS_INVERT_PEOPLE_SUPPORT_H
#define IDM_TESTS_INVERT_PEOPLE_SUPPORT_H

#include "support.h"

/* DIAG on a lattice of resolution 20, with the given blocks free. */
idm_problem *support_people_diag(const char *free_blocks);

/* A design of the agents of a log: one cell per agent, one effect per coordinate, with an intercept
 * and `slopes` regressors each (to be filled: [person][1 + slope], the first is 1). Priors:
 * intercept normal(mean[k], sd[k]), slopes normal(0, sd[k]/2), sds half-normal(sd[k]/2), LKJ(2). */
idm_design *support_design(const idm_data *data, size_t coordinates, size_t slopes,
                           const double *mean, const double *sd);

/* Agents with the free parameters x[person][coordinate] and at least `decisions` decisions each:
 * trajectories are simulated until there are enough. */
idm_data *support_people(const idm_problem *problem, size_t people, const double *x,
                         size_t decisions, uint64_t seed);

#endif
