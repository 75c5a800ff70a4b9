/* An agent whose alpha changes within trajectories and returns to its initial value. */
#ifndef IDM_TESTS_CHANGING_SUPPORT_H
#define IDM_TESTS_CHANGING_SUPPORT_H

#include "support.h"

/* Whether alpha is changed at a step, counted from 0. */
typedef bool (*changing_when)(int step);
/* Steps 10 to 19. */
bool changing_middle(int step);
/* Every second step. */
bool changing_parity(int step);

/* Three observed states and two actions; alpha is 0.6. */
idm_problem *changing_problem(void);
/* A log of one agent whose alpha is `factor` times the problem's at the steps given by `when`. */
idm_data *changing_simulate(const idm_problem *problem, double factor, changing_when when,
                            size_t trajectories, int steps, uint64_t seed);

#endif
