/* Beliefs that are paid the best of some pieces, and the POMDP with guess actions that is the same
 * problem. */
#ifndef IDM_TESTS_PLAN_GUESS_SUPPORT_H
#define IDM_TESTS_PLAN_GUESS_SUPPORT_H

#include "support.h"

/* Give a problem random pieces. */
void support_pieces(idm_problem *problem, size_t pieces, idm_random *random);
/* The problem whose actions come with a guess: action u * pieces + i does what u does, and pays
 * u(s, u) + a_i(s). Nothing is paid there for beliefs. */
idm_problem *support_guesses(const idm_problem *paid);

#endif
