/* The profile log-likelihood: the highest that the other free numbers allow, one being fixed. It is
 * a function of the problem and the log alone: no draw, and no seed, has a part in it. */
#ifndef IDM_INVERT_ASSESS_PROFILE_H
#define IDM_INVERT_ASSESS_PROFILE_H

#include "invert/assess/inquiry.h"

/* A 95 % interval ends where the profile has fallen this far (half a chi-square quantile). */
static const double idm_profile_drop = 1.92;
/* A number is followed so many times its unit away, or to that part of it; farther out it is as
 * good as at its limit. */
static const double idm_profile_reach = 1e4;

/* Where a coordinate of y is looked for. */
typedef struct window {
  double low;
  double high;
  double unit; /* a step worth taking */
} window;

/* A point of a profile. */
typedef struct place {
  double value;  /* of the fixed coordinate */
  double height; /* log-likelihood */
  double *y;     /* [dimension] */
} place;

typedef struct profile {
  const fit *f;
  idm_matching *matching; /* this profile's own */
  size_t dimension;
  size_t fixed;        /* the coordinate left out; dimension: none is */
  bool aside;          /* a number is held at its limit: heights are not of y alone */
  bool weighed;        /* heights take in the proper priors of the others */
  double enough;       /* a height above this counts as this: a climb need not go on */
  bool frugal;         /* an evaluation takes long: fewer starts, shorter climbs */
  long left;           /* evaluations that may still be spent on climbs */
  const window *where; /* [dimension] */
  const double *step;  /* [dimension]: a step over which the likelihood changes */
  size_t guides;       /* good points found before, the best first: */
  const place *guide;
  place best;    /* the maximum of the likelihood */
  place highest; /* the highest point seen */
  double *path;  /* [dimension]: how the others follow the fixed one, a unit of it */
  double *root;  /* [n][n]: Cholesky factor of minus the Hessian by the n others at the maximum, in
                    whose coordinates climbs go: z = root' (others - start) */
  double *y;     /* scratch, [dimension] each */
  double *gradient;
  double *others;
  double *origin; /* of z */
  double *z;
  double *unit_step; /* of z */
  place start[2];    /* the two best starts of the next climb */
} profile;

/* Whether a window is one of values, not of their logarithms. */
bool idm_window_is_linear(const window *w);
/* Widen a window that has a value outside, or within a tenth of its reach of an end, by as much as
 * it reaches at a time: a peak out there would be taken for a limit. */
void idm_window_hold(window *w, double value);
/* Windows of all coordinates. */
void idm_profile_windows(const fit *f, window *where);

idm_status idm_profile_create(const fit *f, idm_matching *matching, profile **ret_profile,
                              idm_error *opt_error);
void idm_profile_destroy(profile *p);
/* Fix a coordinate, or none (dimension), and learn from minus the Hessian at the maximum how the
 * others follow it and how far they may go. */
void idm_profile_fix(profile *p, size_t fixed, const double *precision);

/* Log-likelihood at y, unless it lies outside the windows. */
idm_status idm_profile_height(profile *p, const double *y, double *height, idm_error *opt_error);
/* Climb from `at` over all coordinates but the fixed one. */
idm_status idm_profile_climb(profile *p, place *at, idm_error *opt_error);
/* The profile at to->value: climbed from the best of what a neighbour on either side, the path and
 * the guides suggest. */
idm_status idm_profile_at(profile *p, const place *opt_inner, const place *opt_outer, place *to,
                          idm_error *opt_error);

/* Leave a local maximum of the others for a higher one, where a coarse scan along each of them
 * leads to one. */
idm_status idm_profile_hop(profile *p, place *at, idm_error *opt_error);

/* An array of places with their y, for free(). NULL without memory. */
place *idm_places_create(size_t count, size_t dimension);
void idm_place_copy(const place *from, size_t dimension, place *to);

#endif
