/* The utility of a belief: see the header. */
#include "plan/control/worth.h"

#include <math.h>

static double weight_of(const worth *w, size_t term, size_t action)
{
  return w->weight[term * w->actions + action];
}

static const double *piece_of(const worth *w, size_t action, size_t i)
{
  return w->piece + (i * w->actions + action) * w->states;
}

static size_t likeliest(size_t states, const double *z)
{
  size_t best = 0;
  for (size_t s = 1; s < states; s++)
    if (z[s] > z[best]) best = s;
  return best;
}

static double minus_entropy(size_t states, const double *z)
{
  double sum = 0;
  for (size_t s = 0; s < states; s++)
    if (z[s] > 0) sum += z[s] * log(z[s]);
  return sum;
}

/* The best piece, and what it pays: 0 where there is none. */
static size_t best_piece(const worth *w, size_t action, const double *z, double *ret_paid)
{
  size_t best = 0;
  *ret_paid = 0;
  for (size_t i = 0; i < w->pieces; i++) {
    const double *piece = piece_of(w, action, i);
    double sum = 0;
    for (size_t s = 0; s < w->states; s++) sum += z[s] * piece[s];
    if (i && !(sum > *ret_paid)) continue;
    *ret_paid = sum;
    best = i;
  }
  return best;
}

void idm_worth_terms(size_t states, const double *z, double *term)
{
  term[WORTH_ENTROPY] = minus_entropy(states, z);
  term[WORTH_GUESS] = z[likeliest(states, z)];
}

double idm_worth_at(const worth *w, size_t action, const double *z)
{
  const double entropy = weight_of(w, WORTH_ENTROPY, action);
  const double guess = weight_of(w, WORTH_GUESS, action);
  double sum = 0;
  if (w->pieces) (void)best_piece(w, action, z, &sum);
  if (entropy != 0) sum += entropy * minus_entropy(w->states, z);
  if (guess != 0) sum += guess * z[likeliest(w->states, z)];
  return sum;
}

double idm_worth_corner(const worth *w, size_t action, size_t state)
{
  double best = w->pieces ? -INFINITY : 0;
  for (size_t i = 0; i < w->pieces; i++) best = fmax(best, piece_of(w, action, i)[state]);
  return best + weight_of(w, WORTH_GUESS, action);
}

void idm_worth_slope(const worth *w, size_t action, const double *z, double factor, double *slope)
{
  const double entropy = factor * weight_of(w, WORTH_ENTROPY, action);
  for (size_t s = 0; s < w->states && entropy != 0; s++)
    if (z[s] > 0) slope[s] += entropy * (log(z[s]) + 1);
  slope[likeliest(w->states, z)] += factor * weight_of(w, WORTH_GUESS, action);
  if (!w->pieces) return;
  double paid;
  const double *piece = piece_of(w, action, best_piece(w, action, z, &paid));
  for (size_t s = 0; s < w->states; s++) slope[s] += factor * piece[s];
}
