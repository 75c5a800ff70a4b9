/* Bounds on the value of a belief from both sides.
 *
 * Contents: belief · prize · monotone · alphas · sawtooth · hull · bounds */
#ifndef IDM_PLAN_POINT_BOUNDS_H
#define IDM_PLAN_POINT_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/status.h"
#include "idm/theta.h"
#include "plan/point/kernel.h"

/* === belief ================================================================================= */

/* A belief by the states that it holds possible. */

typedef struct sparse_belief {
  const uint32_t *state; /* [count], ascending */
  const double *mass;    /* [count], all above 0 */
  size_t count;
  uint64_t
      support_mask; /* a bit a state modulo 64: one that a belief has not, none of its parts has */
} sparse_belief;

static inline uint64_t belief_bit(uint32_t state)
{
  return (uint64_t)1 << (state & 63);
}

/* === prize ================================================================================== */

/* What a belief is paid for itself with an action, where that is the best of finitely many pieces:
 * max_i a_i.z, as by guessing for a prize. It is convex in the belief, as both bounds on the value
 * need it to be. */

typedef struct piecewise_reward {
  size_t states;
  size_t actions;
  size_t pieces;
  const double *piece; /* [piece][action][state], borrowed */
  const double *guess; /* [action], borrowed: for the likeliest state's probability, which makes
                          pieces too, one per state; NULL: 0 */
} piecewise_reward;

/* The prize of a theta, which is borrowed; false where its beliefs are paid otherwise: for their
 * entropy or certainty, or for being unsure. */
bool idm_piecewise_reward_of(const idm_theta *theta, piecewise_reward *ret_reward);
/* What a belief is paid. */
double idm_piecewise_reward_at(const piecewise_reward *p, size_t action, const sparse_belief *b);
/* Add, state by state, what guessing as is best at a belief is worth: nowhere above the prize. */
void idm_piecewise_reward_add(const piecewise_reward *p, size_t action, const sparse_belief *b,
                              double *vector);
/* What is paid where a state is certain. A belief is paid no more than the mean of these. */
double idm_piecewise_reward_corner(const piecewise_reward *p, size_t action, size_t state);

/* === monotone =============================================================================== */

/* The fixed point of x = max(constant + M x over the rows of each number, floor), M with no
 * negative entries and rows that sum to no more than a discount: policy iteration, with a bound
 * that holds whatever rounding and an iterative solver leave over. */

typedef struct monotone_row {
  size_t entry; /* first */
  double constant;
} monotone_row;

typedef struct monotone {
  double discount;
  bool (*opt_stop)(void *context); /* whether to stop, asked between iterations; NULL: never */
  void *context;
  size_t numbers;
  size_t rows;
  size_t entries;
  size_t row_capacity;
  size_t entry_capacity;
  size_t *first;     /* [number + 1]: row */
  double *floor;     /* [number], -inf: none */
  monotone_row *row; /* [row + 1] */
  uint32_t *column;  /* [entry]: number */
  double *value;     /* [entry] */
} monotone;

/* So many numbers, none of them described yet; *m is freed by idm_monotone_free, whatever is
 * returned. */
idm_status idm_monotone_create(size_t numbers, double discount, monotone *m, idm_error *opt_error);
void idm_monotone_free(monotone *m);
/* Add an entry to the row to come. */
idm_status idm_monotone_add(monotone *m, size_t column, double value, idm_error *opt_error);
/* That row is complete. */
idm_status idm_monotone_end_row(monotone *m, double constant, idm_error *opt_error);
/* The number that those rows belong to is described. */
void idm_monotone_end(monotone *m, double floor);
/* Lower x, [number], which is nowhere below the fixed point, towards it; it stays nowhere below. */
idm_status idm_monotone_lower(const monotone *m, double *x, idm_error *opt_error);

/* === alphas ================================================================================= */

/* A lower bound on the value: the largest of a set of vectors, each of them what some plan is worth
 * by state, and the action that plan begins with. */

/* Vectors lie side by side in slices of so many. */
enum { ALPHA_LANES = 16 };

typedef struct alphas {
  size_t states;
  size_t count;
  size_t capacity;
  size_t dominated;      /* of them */
  double *value;         /* [slice][state][lane]; -inf of a lane that is dead, or none yet */
  uint32_t *action;      /* [count] */
  uint32_t *replacement; /* [count]: one that is nowhere below; itself while it lives */
} alphas;

/* A vector and what it is worth at some belief. */
typedef struct alpha_choice {
  uint32_t vector;
  double value;
} alpha_choice;

void idm_alphas_free(alphas *a);
double idm_alphas_bytes(const alphas *a);
/* Add a vector, [state]; those that it is nowhere below die. */
idm_status idm_alphas_add(alphas *a, const double *vector, size_t action, idm_error *opt_error);
/* The best of the vectors from `from` on, or `known` where none of them is better. */
alpha_choice idm_alphas_best(const alphas *a, const sparse_belief *b, size_t from,
                             alpha_choice known);
/* Let the vectors die that are not used, [count]; one at least is. */
void idm_alphas_keep(alphas *a, const bool *used);
/* Close ranks over the dead. map[i] is what became of vector i, [count] before; map[count] the
 * number left; and before[i], [count + 1], how many of those below i are left. */
void idm_alphas_compact(alphas *a, uint32_t *map, uint32_t *before);

static inline double alpha_at(const alphas *a, size_t vector, size_t state)
{
  return a->value[(vector / ALPHA_LANES * a->states + state) * ALPHA_LANES + vector % ALPHA_LANES];
}

/* The vector that stands for another: itself, or one that is nowhere below. */
static inline uint32_t alpha_current(const alphas *a, uint32_t vector)
{
  while (a->replacement[vector] != vector) vector = a->replacement[vector];
  return vector;
}

/* === sawtooth =============================================================================== */

/* An upper bound on the value: numbers at the corners of the simplex and at points within it. What
 * a mixture of them is worth is never below a convex function that is below all of the numbers.
 * Over few states the best mixture is taken, over more the best of one point and corners
 * (Hauskrecht's sawtooth). */

/* Up to so many states a belief's bound is the hull; see hull, below. */
enum { HULL_MOST = 6 };
/* Points lie side by side in slices of so many. */
enum { SAWTOOTH_LANES = 16 };

typedef struct sawtooth_point {
  double value;
  double below; /* how far it is below the plane of the corners, as a negative number */
  uint64_t support_mask;
  size_t at; /* of its states */
  uint32_t count;
  uint32_t owner; /* whoever put it there */
} sawtooth_point;

/* News are numbered: whoever heard of all before `told` hears of what came since. */
typedef struct sawtooth {
  size_t states;
  double *corner; /* [state] */
  size_t count;
  size_t capacity;
  sawtooth_point *point;
  size_t numbers; /* used of the following */
  size_t point_capacity;
  uint32_t *state; /* of a point: ascending up to HULL_MOST states, else by falling mass */
  double *mass;
  double *inverse; /* 1/mass */
  double *lane;    /* [slice][state + 1][lane] up to HULL_MOST states, else NULL: masses by state,
                      and the value; inf of a lane without a point */
  /* A point is in the list of one of its states: a belief without that state has no part of it. */
  uint32_t *head;         /* [state]: first point of its list, or SAWTOOTH_NONE */
  uint32_t *lists;        /* [state]: length of its list */
  uint32_t *chain;        /* [count]: next point of the same list */
  size_t update_count;    /* news so far */
  size_t first_update;    /* those before are forgotten */
  size_t update_capacity; /* room for news */
  uint32_t *updates;      /* [told - kept]: points whose value went down */
} sawtooth;

#define SAWTOOTH_NONE UINT32_MAX

idm_status idm_sawtooth_create(sawtooth *t, const double *corner, size_t states,
                               idm_error *opt_error);
void idm_sawtooth_free(sawtooth *t);
double idm_sawtooth_bytes(const sawtooth *t);
/* The bound at a belief by what was told since `heard`, or `known` where that is less (INFINITY:
 * nothing is known yet). Over few states it is the lower hull (hull, below), whose prices, [state
 * of the belief], stay the belief's own from call to call; elsewhere they are not used. `dense` is
 * scratch here and below, [state], and 0 before and after. */
double idm_sawtooth_at(const sawtooth *t, const sparse_belief *b, size_t seen_updates, double known,
                       double *multiplier, double *dense);
/* The mixture that the bound at a belief is: the sum of weight[i] times the number of part[i], a
 * point, or the corner part[i] - count, and of the rest, which is due to rounding. Returns how many
 * parts, at most one more than the belief has states. */
size_t idm_sawtooth_mix(const sawtooth *t, const sparse_belief *b, uint32_t *part, double *weight,
                        double *rest, double *dense);
/* Lower the bound at a belief to a value: at a corner, or at point `*point`, which is made where it
 * is SAWTOOTH_NONE. */
idm_status idm_sawtooth_lower(sawtooth *t, const sparse_belief *b, double value, uint32_t owner,
                              uint32_t *point, idm_error *opt_error);
/* Drop the points that the others make superfluous. `moved` receives the new number of every
 * owner's point, SAWTOOTH_NONE for a point that is dropped. Once `opt_stop` returns true, the
 * points that are not yet examined are kept. */
void idm_sawtooth_prune(sawtooth *t, double *dense,
                        void (*renumber)(void *context, uint32_t owner, uint32_t point),
                        void *context, bool (*opt_stop)(void *context), void *stop_context);

/* === hull =================================================================================== */

/* The lower hull of a sawtooth's numbers at a belief over few states: the least that any mixture of
 * corners and points that makes up the belief is worth. Tighter than the sawtooth, whose mixtures
 * have one point each, by as much as a convex function bends; found by the simplex method. */

/* The hull at a belief over at most HULL_MOST states, point `without` left out (SAWTOOTH_NONE:
 * none); price[state of the belief] is a plane below all of the numbers but for rounding. `dense`
 * is scratch as in sawtooth, above. */
double idm_hull_at(const sawtooth *t, const sparse_belief *b, uint32_t without, double *multiplier,
                   double *dense);
/* Whether a point is below the plane of the prices. */
bool idm_hull_is_violated(const sawtooth *t, const sparse_belief *b, uint32_t point,
                          const double *multiplier);

/* === bounds ================================================================================= */

/* Bounds on the value from both sides, one pair a number of steps left: what a search improves and
 * policies are read off. */

/* What is planned for. Everything is borrowed. */
typedef struct point_problem {
  const kernel *kernel;
  const double *reward;              /* [action][state] */
  piecewise_reward piecewise_reward; /* for the belief itself, by action */
  const double *prior;               /* [action]: one of 0 cannot be taken */
  const bool *terminal;              /* [action] */
  const double *start;               /* [state] */
  double discount;
  int horizon; /* 0: none */
  /* The only action to take at a belief, [state], with so many steps left (1 where there is no
   * horizon): a policy that is given. NULL: any. Bounds from above are then no bounds on what the
   * policy is worth, which need not be convex; they still lead the search. */
  size_t (*opt_policy)(void *context, const double *z, int left);
  void *context;
  /* Whether to stop improving bounds: asked between the parts of long computations, each of which
   * leaves valid bounds. NULL: never. */
  bool (*opt_stop)(void *context);
  void *stop_context;
} point_problem;

typedef struct bounds_pair {
  alphas lower;
  sawtooth upper;
  double *quality; /* [action][state]: an upper bound on what each action is worth in each state */
} bounds_pair;

/* Stage t has t + 1 steps left; without a horizon there is one. */
typedef struct bounds {
  size_t stages;
  bounds_pair *stage;
} bounds;

/* The first bounds: from below the plans that repeat one action, from above the fast informed
 * bound (Hauskrecht 2000), which knows the state one step late; its sweeps end once none moves by
 * more than `tolerance`. */
idm_status idm_bounds_create(const point_problem *problem, double tolerance, bounds *b,
                             idm_error *opt_error);
void idm_bounds_free(bounds *b);

static inline bool bounds_stopped(const point_problem *problem)
{
  return problem->opt_stop && problem->opt_stop(problem->stop_context);
}

/* The stage after stage t; -1 where nothing follows. */
static inline long bounds_after(const point_problem *problem, size_t t)
{
  return problem->horizon > 0 ? (long)t - 1 : (long)t;
}

#endif
