/* Bounds on the value of a belief from both sides, for point-based planning, and the sparse kernel
 * that they are computed from.
 *
 * Contents: kernel · belief · belief reward · monotone · alpha vectors · sawtooth · hull · bounds
 */
#ifndef IDM_PLAN_POINT_BOUNDS_H
#define IDM_PLAN_POINT_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/extension/theta.h"
#include "idm/status.h"

/* === kernel ================================================================================= */

/* Dynamics of an agent as one sparse kernel p(s', o | s, u). An outcome o is an observation under
 * one of the agent's models, weighted by the prior of that model. With beta = inf the kernel is
 * sufficient for planning, for any number of models, and for observations emitted before or after
 * the transition. */

/* A cell is a pair (outcome, s') that an action can lead to; cells are ordered by outcome. */
typedef struct kernel {
  size_t states;
  size_t actions;
  size_t *outcome;     /* [action + 1]: first outcome; impossible ones are omitted */
  size_t *cell;        /* [outcome + 1]: first cell */
  uint32_t *state;     /* [cell]: s' */
  size_t *entry;       /* [action * states + 1]: first entry of the row of (u, s) */
  uint32_t *at;        /* [entry]: cell, relative to the first of its action */
  double *value;       /* [entry]: p(s', o | s, u) */
  size_t max_cells;    /* maximum cells of an action */
  size_t max_outcomes; /* maximum outcomes of an action */
} kernel;

/* Creates the kernel of a problem that is not fully observed. The rows of a terminal action, which
 * has no successors, are empty. */
idm_status idm_kernel_create(const idm_setting *setting, const idm_theta *theta,
                             kernel **ret_kernel, idm_error *opt_error);
void idm_kernel_destroy(kernel *k);
/* Maximum cells of an action, over all kernels of a problem of this form. */
size_t idm_kernel_max_cells(const idm_theta *theta);

static inline size_t kernel_outcomes(const kernel *k, size_t action)
{
  return k->outcome[action + 1] - k->outcome[action];
}

static inline size_t kernel_first_cell(const kernel *k, size_t action)
{
  return k->cell[k->outcome[action]];
}

static inline size_t kernel_cells(const kernel *k, size_t action)
{
  return k->cell[k->outcome[action + 1]] - kernel_first_cell(k, action);
}

/* === belief ================================================================================= */

/* A belief as a sparse vector over the states that it holds possible. */

typedef struct sparse_belief {
  const uint32_t *state; /* [count], ascending */
  const double *mass;    /* [count], all above 0 */
  size_t count;
  uint64_t support_mask; /* one bit per state modulo 64; a part of a belief has no bit that the
                            belief lacks */
} sparse_belief;

static inline uint64_t belief_bit(uint32_t state)
{
  return (uint64_t)1 << (state & 63);
}

/* === belief reward ========================================================================== */

/* Piecewise linear utility of a belief by action, max_i a_i.z, for example a payoff for a correct
 * guess of the state (docs/method/control.md, 11). It is convex in the belief, as both bounds
 * require. */

typedef struct piecewise_reward {
  size_t states;
  size_t actions;
  size_t pieces;
  const double *piece; /* [piece][action][state], borrowed */
  const double *guess; /* [action], borrowed: weight of the largest probability, max z, which is
                          piecewise linear too, with one piece per state; NULL: 0 */
} piecewise_reward;

/* Utility of beliefs of a theta, whose arrays are borrowed. Returns false if it is not of this
 * form: a term of entropy or certainty, or a negative weight of max z. */
bool idm_piecewise_reward_of(const idm_theta *theta, piecewise_reward *ret_reward);
/* Utility of a belief with an action. */
double idm_piecewise_reward_at(const piecewise_reward *p, size_t action, const sparse_belief *b);
/* Adds to vector[state] the linear piece that is best at a belief; it is nowhere above the utility.
 */
void idm_piecewise_reward_add(const piecewise_reward *p, size_t action, const sparse_belief *b,
                              double *vector);
/* Utility of the belief that is certain of a state. The utility of a belief is at most the mean of
 * these. */
double idm_piecewise_reward_corner(const piecewise_reward *p, size_t action, size_t state);

/* === monotone =============================================================================== */

/* The fixed point of x = max(constant + M x over the rows of each number, floor), where M has no
 * negative entries and row sums of at most `discount`. Solved by policy iteration; the bound is
 * valid for any rounding and any error of the iterative solver. */

typedef struct monotone_row {
  size_t entry; /* index of the first */
  double constant;
} monotone_row;

typedef struct monotone {
  double discount;
  bool (*opt_stop)(void *context); /* called between iterations; true: stop. NULL: never */
  void *context;
  size_t numbers;
  size_t rows;
  size_t entries;
  size_t row_capacity;
  size_t entry_capacity;
  size_t *first;     /* [number + 1]: first row */
  double *floor;     /* [number], -inf: none */
  monotone_row *row; /* [row + 1] */
  uint32_t *column;  /* [entry]: number */
  double *value;     /* [entry] */
} monotone;

/* Creates a system of `numbers` numbers, none of them defined yet. *m is freed by
 * idm_monotone_free, also after an error. */
idm_status idm_monotone_create(size_t numbers, double discount, monotone *m, idm_error *opt_error);
void idm_monotone_free(monotone *m);
/* Adds an entry to the current row. */
idm_status idm_monotone_add(monotone *m, size_t column, double value, idm_error *opt_error);
/* Completes the current row. */
idm_status idm_monotone_end_row(monotone *m, double constant, idm_error *opt_error);
/* Completes the current number, which has the rows since the last call. */
void idm_monotone_end(monotone *m, double floor);
/* Lowers x, [number], towards the fixed point. x must be nowhere below it, and remains so. */
idm_status idm_monotone_lower(const monotone *m, double *x, idm_error *opt_error);

/* === alpha vectors ========================================================================== */

/* Lower bound on the value: the maximum over alpha vectors, each of them the value by state of some
 * plan (policy tree), with the action that the plan begins with. */

/* Vectors per slice; those of a slice are stored side by side. */
enum { ALPHA_LANES = 16 };

typedef struct alphas {
  size_t states;
  size_t count;
  size_t capacity;
  size_t dominated; /* number of dominated vectors */
  double *value;    /* [slice][state][lane]; -inf in the lane of a dominated vector, and in an empty
                       lane */
  uint32_t *action; /* [count] */
  uint32_t
      *replacement; /* [count]: a vector that is nowhere below; itself if it is not dominated */
} alphas;

/* A vector and its value at a belief. */
typedef struct alpha_choice {
  uint32_t vector;
  double value;
} alpha_choice;

void idm_alphas_free(alphas *a);
double idm_alphas_bytes(const alphas *a);
/* Adds a vector, [state]; the vectors that it is nowhere below become dominated. */
idm_status idm_alphas_add(alphas *a, const double *vector, size_t action, idm_error *opt_error);
/* The best of the vectors from `from` on, or `known` if none of them is better. */
alpha_choice idm_alphas_best(const alphas *a, const sparse_belief *b, size_t from,
                             alpha_choice known);
/* Marks the vectors that are not used, [count], as dominated; at least one must be used. */
void idm_alphas_keep(alphas *a, const bool *used);
/* Removes the dominated vectors. map[i], [count] before the call, receives the new index of vector
 * i or of its replacement; before[i], [count + 1], the number of remaining vectors with an index
 * below i. */
void idm_alphas_compact(alphas *a, uint32_t *map, uint32_t *before);

static inline double alpha_at(const alphas *a, size_t vector, size_t state)
{
  return a->value[(vector / ALPHA_LANES * a->states + state) * ALPHA_LANES + vector % ALPHA_LANES];
}

/* The vector itself, or the one that replaces it if it is dominated. */
static inline uint32_t alpha_current(const alphas *a, uint32_t vector)
{
  while (a->replacement[vector] != vector) vector = a->replacement[vector];
  return vector;
}

/* === sawtooth =============================================================================== */

/* Upper bound on the value: values at the corners of the simplex and at points within it. If a
 * belief is a mixture of these, the same mixture of their values is not below a convex function
 * that is below all of the values. Over few states the smallest mixture is used, over more states
 * that of one point and corners (Hauskrecht's sawtooth). */

/* Maximum states of a belief for which the bound is the hull; see hull, below. */
enum { HULL_MOST = 6 };
/* Points per slice; those of a slice are stored side by side. */
enum { SAWTOOTH_LANES = 16 };

typedef struct sawtooth_point {
  double value;
  double below; /* value less the interpolation of the corners; at most 0 */
  uint64_t support_mask;
  size_t at; /* index of its first state */
  uint32_t count;
  uint32_t owner; /* node that it belongs to */
} sawtooth_point;

/* Updates are numbered: the bound at a belief is computed from the updates since it was last
 * computed. */
typedef struct sawtooth {
  size_t states;
  double *corner; /* [state] */
  size_t count;
  size_t capacity;
  sawtooth_point *point;
  size_t numbers; /* entries in use of the following arrays */
  size_t point_capacity;
  uint32_t
      *state; /* states of the points: ascending up to HULL_MOST states, else by decreasing mass */
  double *mass;
  double *inverse; /* 1/mass */
  double *lane;    /* [slice][state + 1][lane] up to HULL_MOST states, else NULL: masses by state,
                      and the value; inf of a lane without a point */
  /* A point is in the list of one of its states: it is no part of a belief without that state. */
  uint32_t *head;         /* [state]: first point of its list, or SAWTOOTH_NONE */
  uint32_t *lists;        /* [state]: length of its list */
  uint32_t *chain;        /* [count]: next point of the same list */
  size_t update_count;    /* updates so far */
  size_t first_update;    /* earlier updates are discarded */
  size_t update_capacity; /* allocated updates */
  uint32_t *updates;      /* [update_count - first_update]: points whose value decreased */
} sawtooth;

#define SAWTOOTH_NONE UINT32_MAX

idm_status idm_sawtooth_create(sawtooth *t, const double *corner, size_t states,
                               idm_error *opt_error);
void idm_sawtooth_free(sawtooth *t);
double idm_sawtooth_bytes(const sawtooth *t);
/* Bound at a belief, given that it was `known` at update `seen_updates` (INFINITY: not known). Over
 * few states it is the lower hull (hull, below), whose multipliers, [state of the belief], the
 * caller keeps with the belief between calls; otherwise they are not used. `dense` is scratch here
 * and below, [state], and 0 before and after. */
double idm_sawtooth_at(const sawtooth *t, const sparse_belief *b, size_t seen_updates, double known,
                       double *multiplier, double *dense);
/* Mixture that gives the bound at a belief: the sum of weight[i] times the value of part[i], which
 * is a point or the corner part[i] - count, plus *rest, which is due to rounding. Returns the
 * number of parts, at most one more than the states of the belief. */
size_t idm_sawtooth_mix(const sawtooth *t, const sparse_belief *b, uint32_t *part, double *weight,
                        double *rest, double *dense);
/* Lowers the bound at a belief to a value: at a corner, or at point `*point`, which is created if
 * it is SAWTOOTH_NONE. */
idm_status idm_sawtooth_lower(sawtooth *t, const sparse_belief *b, double value, uint32_t owner,
                              uint32_t *point, idm_error *opt_error);
/* Removes the points that the others imply. `renumber` is called with the owner and the new index
 * of a point, SAWTOOTH_NONE for a removed one. Once `opt_stop` returns true, the points that are
 * not yet examined are kept. */
void idm_sawtooth_prune(sawtooth *t, double *dense,
                        void (*renumber)(void *context, uint32_t owner, uint32_t point),
                        void *context, bool (*opt_stop)(void *context), void *stop_context);

/* === hull =================================================================================== */

/* Lower hull of a sawtooth's values at a belief over few states: the smallest value of a mixture of
 * corners and points that equals the belief, a linear program solved by the simplex method. It is
 * tighter than the sawtooth, whose mixtures contain one point. */

/* Hull at a belief over at most HULL_MOST states, without point `without` (SAWTOOTH_NONE: with
 * all). multiplier[state of the belief] receives the dual solution, a hyperplane below all values
 * up to rounding. `dense` is scratch as in sawtooth, above. */
double idm_hull_at(const sawtooth *t, const sparse_belief *b, uint32_t without, double *multiplier,
                   double *dense);
/* Whether a point is below the hyperplane of the multipliers. */
bool idm_hull_is_violated(const sawtooth *t, const sparse_belief *b, uint32_t point,
                          const double *multiplier);

/* === bounds ================================================================================= */

/* Bounds on the value from both sides, one pair per number of steps left. A search improves them,
 * and policies are computed from them. */

/* The planning problem. Everything is borrowed. */
typedef struct point_problem {
  const kernel *kernel;
  const double *reward;              /* [action][state] */
  piecewise_reward piecewise_reward; /* utility of the belief itself, by action */
  const double *prior;               /* [action]: an action of probability 0 is not available */
  const bool *terminal;              /* [action] */
  const double *start;               /* [state] */
  double discount;
  int horizon; /* 0: none */
  /* A given policy: the only action at a belief, [state], with `left` steps left (1 without a
   * horizon). NULL: all actions are available. Upper bounds are then not valid for the value of the
   * policy, which need not be convex; they still guide the search. */
  size_t (*opt_policy)(void *context, const double *z, int left);
  void *context;
  /* Called between the parts of long computations, each of which leaves valid bounds; true: stop
   * improving bounds. NULL: never. */
  bool (*opt_stop)(void *context);
  void *stop_context;
} point_problem;

typedef struct bounds_pair {
  alphas lower;
  sawtooth upper;
  double *quality; /* [action][state]: upper bound on the value of each action in each state */
} bounds_pair;

/* Stage t has t + 1 steps left; without a horizon there is one. */
typedef struct bounds {
  size_t stages;
  bounds_pair *stage;
} bounds;

/* Initial bounds. Lower bound: blind policies, which repeat one action. Upper bound: the fast
 * informed bound (Hauskrecht 2000), which observes the state one step late; its sweeps end once no
 * value changes by more than `tolerance`. */
idm_status idm_bounds_create(const point_problem *problem, double tolerance, bounds *b,
                             idm_error *opt_error);
void idm_bounds_free(bounds *b);

static inline bool bounds_stopped(const point_problem *problem)
{
  return problem->opt_stop && problem->opt_stop(problem->stop_context);
}

/* The stage that follows stage t; -1 if none does. */
static inline long bounds_after(const point_problem *problem, size_t t)
{
  return problem->horizon > 0 ? (long)t - 1 : (long)t;
}

#endif
