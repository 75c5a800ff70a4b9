/* Provides piecewise linear utilities of beliefs, and the equivalent POMDP with guess actions. */
#ifndef IDM_TESTS_PLAN_GUESS_SUPPORT_H
#define IDM_TESTS_PLAN_GUESS_SUPPORT_H

#include "support.h"

/* Sets random linear pieces of the utility of beliefs. */
void support_pieces(idm_problem *problem, size_t pieces, idm_random *random);
/* Returns the problem whose actions include a guess: action u * pieces + i has the dynamics of u
 * and the utility u(s, u) + a_i(s). It has no utility of beliefs. */
idm_problem *support_guesses(const idm_problem *paid);

#endif
