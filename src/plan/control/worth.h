/* The utility of a belief by action: less its entropy, as much as its likeliest state,
 * and the best of pieces, max_i a_i.z. It is linear in the weights, IDM_BELIEF_UTILITY. */
#ifndef IDM_PLAN_CONTROL_WORTH_H
#define IDM_PLAN_CONTROL_WORTH_H

#include <stdbool.h>
#include <stddef.h>

/* Terms that have a weight, in the order of their fields. */
enum { WORTH_ENTROPY, WORTH_GUESS, WORTH_TERMS };

/* A utility of beliefs; all is borrowed. */
typedef struct worth {
  size_t states;
  size_t actions;
  const double *weight; /* [term][action] */
  size_t pieces;
  const double *piece; /* [piece][action][state] */
} worth;

/* What the weights multiply: sum z log z, and max z. */
void idm_worth_terms(size_t states, const double *z, double *term);
/* The utility of a belief with an action. */
double idm_worth_at(const worth *w, size_t action, const double *z);
/* The same where a state is certain. */
double idm_worth_corner(const worth *w, size_t action, size_t state);
/* slope[state] += factor times the derivative by the belief; nothing where z is 0 and stays so. */
void idm_worth_slope(const worth *w, size_t action, const double *z, double factor, double *slope);

#endif
