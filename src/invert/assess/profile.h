/* Profile log-likelihoods, and what the data bound.
 *
 * Contents: profile · region · bound */
#ifndef IDM_INVERT_ASSESS_PROFILE_H
#define IDM_INVERT_ASSESS_PROFILE_H

#include "invert/assess/inquiry.h"

/* === profile ================================================================================ */

/* The profile log-likelihood: the highest that the other free numbers allow, one being fixed. It is
 * a function of the problem and the log alone: no draw, and no seed, has a part in it. */

/* A 95 % interval ends where the profile has fallen this far (half a chi-square quantile). */
static const double idm_profile_drop = 1.92;
/* A number is followed so many times its unit away, or to that part of it; farther out it is as
 * good as at its limit. */
static const double idm_profile_range = 1e4;

/* Where a coordinate of y is looked for. */
typedef struct search_window {
  double low;
  double high;
  double unit; /* a step worth taking */
} search_window;

/* A point of a profile. */
typedef struct profile_point {
  double value;          /* of the fixed coordinate */
  double log_likelihood; /* log-likelihood */
  double *y;             /* [dimension] */
} profile_point;

typedef struct profile {
  const fit_context *f;
  idm_matching *matching; /* this profile's own */
  size_t dimension;
  size_t fixed;                 /* the coordinate left out; dimension: none is */
  bool at_limit;                /* a number is held at its limit: heights are not of y alone */
  bool with_priors;             /* heights take in the proper priors of the others */
  double ceiling;               /* a height above this counts as this: a climb need not go on */
  bool frugal;                  /* an evaluation takes long: fewer starts, shorter climbs */
  long left;                    /* evaluations that may still be spent on climbs */
  const search_window *windows; /* [dimension] */
  const double *step;           /* [dimension]: a step over which the likelihood changes */
  size_t known_points;          /* good points found before, the best first: */
  const profile_point *known_point;
  profile_point best;       /* the maximum of the likelihood */
  profile_point highest;    /* the highest point seen */
  double *path;             /* [dimension]: how the others follow the fixed one, a unit of it */
  double *precision_factor; /* [n][n]: Cholesky factor of minus the Hessian by the n others at the
                   maximum, in whose coordinates climbs go: z = root' (others - start) */
  double *y;                /* scratch, [dimension] each */
  double *gradient;
  double *nuisance;
  double *origin; /* of z */
  double *z;
  double *unit_step;      /* of z */
  profile_point start[2]; /* the two best starts of the next climb */
} profile;

/* Whether a window is one of values, not of their logarithms. */
bool idm_window_is_linear(const search_window *w);
/* Widen a window that has a value outside, or within a tenth of its reach of an end, by as much as
 * it reaches at a time: a peak out there would be taken for a limit. */
void idm_window_extend(search_window *w, double value);
/* Windows of all coordinates. */
void idm_profile_windows(const fit_context *f, search_window *windows);

idm_status idm_profile_create(const fit_context *f, idm_matching *matching, profile **ret_profile,
                              idm_error *opt_error);
void idm_profile_destroy(profile *p);
/* Fix a coordinate, or none (dimension), and learn from minus the Hessian at the maximum how the
 * others follow it and how far they may go. */
void idm_profile_fix(profile *p, size_t fixed, const double *precision);

/* Log-likelihood at y, unless it lies outside the windows. */
idm_status idm_profile_evaluate(profile *p, const double *y, double *log_likelihood,
                                idm_error *opt_error);
/* Climb from `at` over all coordinates but the fixed one. */
idm_status idm_profile_maximise(profile *p, profile_point *at, idm_error *opt_error);
/* The profile at to->value: climbed from the best of what a neighbour on either side, the path and
 * the guides suggest. */
idm_status idm_profile_at(profile *p, const profile_point *opt_inner,
                          const profile_point *opt_outer, profile_point *to, idm_error *opt_error);

/* Leave a local maximum of the others for a higher one, where a coarse scan along each of them
 * leads to one. */
idm_status idm_profile_escape(profile *p, profile_point *at, idm_error *opt_error);

/* An array of places with their y, for free(). NULL without memory. */
profile_point *idm_profile_points_create(size_t count, size_t dimension);
void idm_profile_point_copy(const profile_point *from, size_t dimension, profile_point *to);

/* === region ================================================================================= */

/* Where the profile of one free number is within the drop of its maximum: one interval, or several.
 */

/* A scan of the window of a coordinate, in ascending order of values, and what it found. */
typedef struct scan {
  size_t count;
  size_t capacity;
  profile_point *profile_point; /* [most] */
  size_t regions;
  double region[IDM_MAX_REGIONS][2]; /* ends, in the coordinate; infinite where it is open */
} scan;

/* Whether a value lies in one of so many regions, end[count][2], which may stand in either order,
 * or so near that only rounding tells. */
bool idm_regions_contain(size_t count, const double *end, double value);

idm_status idm_scan_create(size_t dimension, scan *s, idm_error *opt_error);
void idm_scan_destroy(scan *s);
/* Look all over the window of coordinate p->fixed. */
idm_status idm_scan_run(profile *p, bool fine, scan *s, idm_error *opt_error);
/* The regions, from the scan and from further points (draws, say), each looked at if it lies
 * outside of all regions though it is high enough. */
idm_status idm_scan_regions(profile *p, const profile_point *extra_points, size_t count, scan *s,
                            idm_error *opt_error);

/* === bound ================================================================================== */

/* What the data bound of one free number: how far its profile falls towards its limits, where it is
 * within the drop of the maximum, and how much narrower than its prior the posterior is. */

/* Fill id, its sentence too, from the regions of a scan; the profile, of q's fit, is fixed at the
 * item and knows the maximum. */
idm_status idm_profile_bounds(const check_context *q, const parameter *item, profile *p,
                              const scan *s, idm_identification *id, idm_error *opt_error);

#endif
