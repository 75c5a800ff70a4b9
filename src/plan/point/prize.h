/* What a belief is paid for itself with an action, where that is the best of finitely many pieces:
 * max_i a_i.z, as by guessing for a prize. It is convex in the belief, as both bounds on the value
 * need it to be. */
#ifndef IDM_PLAN_POINT_PRIZE_H
#define IDM_PLAN_POINT_PRIZE_H

#include "idm/theta.h"
#include "plan/point/belief.h"

typedef struct prize {
  size_t states;
  size_t actions;
  size_t pieces;
  const double *piece; /* [piece][action][state], borrowed */
  const double *guess; /* [action], borrowed: for the likeliest state's probability, which makes
                          pieces too, one per state; NULL: 0 */
} prize;

/* The prize of a theta, which is borrowed; false where its beliefs are paid otherwise: for their
 * entropy or certainty, or for being unsure. */
bool idm_prize_of(const idm_theta *theta, prize *ret_prize);
/* What a belief is paid. */
double idm_prize_at(const prize *p, size_t action, const belief *b);
/* Add, state by state, what guessing as is best at a belief is worth: nowhere above the prize. */
void idm_prize_add(const prize *p, size_t action, const belief *b, double *vector);
/* What is paid where a state is certain. A belief is paid no more than the mean of these. */
double idm_prize_corner(const prize *p, size_t action, size_t state);

#endif
