/* What a belief is paid for itself. */
#include "plan/point/prize.h"

#include <math.h>

/* Places of the fields in IDM_BELIEF_UTILITY, and of the award in IDM_CERTAINTY. */
enum { ENTROPY, GUESS, AWARD = 1 };

bool idm_prize_of(const idm_theta *theta, prize *ret_prize)
{
  const size_t actions = theta->sizes.actions;
  const double *entropy = idm_theta_values(theta, IDM_BELIEF_UTILITY, 0) + ENTROPY * actions;
  const double *guess = idm_theta_values(theta, IDM_BELIEF_UTILITY, 0) + GUESS * actions;
  *ret_prize = (prize){.states = theta->sizes.states, .actions = actions, .guess = guess};
  ret_prize->piece = idm_theta_rows(theta, IDM_BELIEF_UTILITY, &ret_prize->pieces);
  bool convex = idm_theta_values(theta, IDM_CERTAINTY, 0)[AWARD] == 0;
  for (size_t u = 0; u < actions; u++) convex = convex && entropy[u] == 0 && guess[u] >= 0;
  return convex;
}

static const double *piece_of(const prize *p, size_t action, size_t i)
{
  return p->piece + (i * p->actions + action) * p->states;
}

/* The piece that pays a belief best, and what it pays; there is one. */
static size_t best_piece(const prize *p, size_t action, const belief *b, double *ret_worth)
{
  size_t best = 0;
  *ret_worth = 0;
  for (size_t i = 0; i < p->pieces; i++) {
    const double *piece = piece_of(p, action, i);
    double sum = 0;
    for (size_t k = 0; k < b->count; k++) sum += b->mass[k] * piece[b->state[k]];
    if (i && sum <= *ret_worth) continue;
    *ret_worth = sum;
    best = i;
  }
  return best;
}

/* Place of the likeliest state in a belief. */
static size_t likeliest(const belief *b)
{
  size_t best = 0;
  for (size_t k = 1; k < b->count; k++)
    if (b->mass[k] > b->mass[best]) best = k;
  return best;
}

static double guess_of(const prize *p, size_t action)
{
  return p->guess ? p->guess[action] : 0;
}

double idm_prize_at(const prize *p, size_t action, const belief *b)
{
  double worth = 0;
  if (p->pieces) (void)best_piece(p, action, b, &worth);
  if (guess_of(p, action) > 0) worth += guess_of(p, action) * b->mass[likeliest(b)];
  return worth;
}

void idm_prize_add(const prize *p, size_t action, const belief *b, double *vector)
{
  if (p->pieces) {
    double worth = 0;
    const double *piece = piece_of(p, action, best_piece(p, action, b, &worth));
    for (size_t s = 0; s < p->states; s++) vector[s] += piece[s];
  }
  if (guess_of(p, action) > 0) vector[b->state[likeliest(b)]] += guess_of(p, action);
}

double idm_prize_corner(const prize *p, size_t action, size_t state)
{
  double best = p->pieces ? -INFINITY : 0;
  for (size_t i = 0; i < p->pieces; i++) best = fmax(best, piece_of(p, action, i)[state]);
  return best + guess_of(p, action);
}
