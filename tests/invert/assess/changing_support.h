/* An agent whose alpha changes within trajectories and comes back. */
#ifndef IDM_TESTS_CHANGING_SUPPORT_H
#define IDM_TESTS_CHANGING_SUPPORT_H

#include "support.h"

/* At which steps, counted from 0. */
typedef bool (*changing_when)(int step);
/* Of 30 steps, the ten in the middle. */
bool changing_middle(int step);
/* Every second step. */
bool changing_parity(int step);

/* Three observed states and two actions; alpha is 0.6. */
idm_problem *changing_problem(void);
/* A log of one agent whose alpha is `factor` times the problem's at some steps. */
idm_data *changing_simulate(const idm_problem *problem, double factor, changing_when when,
                            size_t trajectories, int steps, uint64_t seed);

#endif
