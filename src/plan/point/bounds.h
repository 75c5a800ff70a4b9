/* Bounds on the value from both sides, one pair a number of steps left: what a search improves and
 * policies are read off. */
#ifndef IDM_PLAN_POINT_BOUNDS_H
#define IDM_PLAN_POINT_BOUNDS_H

#include <stdbool.h>

#include "plan/point/alphas.h"
#include "plan/point/kernel.h"
#include "plan/point/prize.h"
#include "plan/point/sawtooth.h"

/* What is planned for. Everything is borrowed. */
typedef struct point_problem {
  const kernel *kernel;
  const double *reward; /* [action][state] */
  prize prize;          /* for the belief itself, by action */
  const double *prior;  /* [action]: one of 0 cannot be taken */
  const bool *terminal; /* [action] */
  const double *start;  /* [state] */
  double discount;
  int horizon; /* 0: none */
  /* The only action to take at a belief, [state], with so many steps left (1 where there is no
   * horizon): a policy that is given. NULL: any. Bounds from above are then no bounds on what the
   * policy is worth, which need not be convex; they still lead the search. */
  size_t (*opt_policy)(void *context, const double *z, int left);
  void *context;
  /* Whether to stop improving bounds: asked between the parts of long computations, each of which
   * leaves valid bounds. NULL: never. */
  bool (*opt_halts)(void *context);
  void *halts_context;
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

static inline bool bounds_halt(const point_problem *problem)
{
  return problem->opt_halts && problem->opt_halts(problem->halts_context);
}

/* The stage after stage t; -1 where nothing follows. */
static inline long bounds_after(const point_problem *problem, size_t t)
{
  return problem->horizon > 0 ? (long)t - 1 : (long)t;
}

#endif
