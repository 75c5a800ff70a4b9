/* An upper bound on the value: numbers at the corners of the simplex and at points within it. What
 * a mixture of them is worth is never below a convex function that is below all of the numbers.
 * Over few states the best mixture is taken, over more the best of one point and corners
 * (Hauskrecht's sawtooth). */
#ifndef IDM_PLAN_POINT_SAWTOOTH_H
#define IDM_PLAN_POINT_SAWTOOTH_H

#include "idm/status.h"
#include "plan/point/belief.h"

/* Up to so many states a belief's bound is the hull; see hull.h. */
enum { HULL_MOST = 6 };
/* Points lie side by side in slices of so many. */
enum { SAWTOOTH_LANES = 16 };

typedef struct sawtooth_point {
  double value;
  double below; /* how far it is below the plane of the corners, as a negative number */
  uint64_t sign;
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
  size_t room;
  uint32_t *state; /* of a point: ascending up to HULL_MOST states, else by falling mass */
  double *mass;
  double *inverse; /* 1/mass */
  double *lane;    /* [slice][state + 1][lane] up to HULL_MOST states, else NULL: masses by state,
                      and the value; inf of a lane without a point */
  /* A point is in the list of one of its states: a belief without that state has no part of it. */
  uint32_t *head;  /* [state]: first point of its list, or SAWTOOTH_NONE */
  uint32_t *lists; /* [state]: length of its list */
  uint32_t *chain; /* [count]: next point of the same list */
  size_t told;     /* news so far */
  size_t kept;     /* those before are forgotten */
  size_t newest;   /* room for news */
  uint32_t *news;  /* [told - kept]: points whose value went down */
} sawtooth;

#define SAWTOOTH_NONE UINT32_MAX

idm_status idm_sawtooth_create(sawtooth *t, const double *corner, size_t states,
                               idm_error *opt_error);
void idm_sawtooth_free(sawtooth *t);
double idm_sawtooth_bytes(const sawtooth *t);
/* The bound at a belief by what was told since `heard`, or `known` where that is less (INFINITY:
 * nothing is known yet). Over few states it is the lower hull (hull.h), whose prices, [state of the
 * belief], stay the belief's own from call to call; elsewhere they are not used. `dense` is scratch
 * here and below, [state], and 0 before and after. */
double idm_sawtooth_at(const sawtooth *t, const belief *b, size_t heard, double known,
                       double *price, double *dense);
/* The mixture that the bound at a belief is: the sum of weight[i] times the number of part[i], a
 * point, or the corner part[i] - count, and of the rest, which is due to rounding. Returns how many
 * parts, at most one more than the belief has states. */
size_t idm_sawtooth_mix(const sawtooth *t, const belief *b, uint32_t *part, double *weight,
                        double *rest, double *dense);
/* Lower the bound at a belief to a value: at a corner, or at point `*point`, which is made where it
 * is SAWTOOTH_NONE. */
idm_status idm_sawtooth_lower(sawtooth *t, const belief *b, double value, uint32_t owner,
                              uint32_t *point, idm_error *opt_error);
/* Drop the points that the others make superfluous. `moved` receives the new number of every
 * owner's point, SAWTOOTH_NONE for a point that is dropped. Once `opt_halts` returns true, the
 * points that are not yet examined are kept. */
void idm_sawtooth_prune(sawtooth *t, double *dense,
                        void (*moved)(void *context, uint32_t owner, uint32_t point), void *context,
                        bool (*opt_halts)(void *context), void *halts_context);

#endif
