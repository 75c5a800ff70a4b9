/* Profile log-likelihoods and intervals of free numbers.
 *
 * Contents: profile · region · bound */
#ifndef IDM_INVERT_ASSESS_PROFILE_H
#define IDM_INVERT_ASSESS_PROFILE_H

#include "invert/assess/inquiry.h"

/* === profile ================================================================================ */

/* The profile log-likelihood: the maximum over the other free numbers with one fixed. It is a
 * function of the problem and the log only; it does not depend on draws or seeds. */

/* Drop of the profile at the ends of a 95 % interval (half a chi-square quantile). */
static const double idm_profile_drop = 1.92;
/* Largest distance of a search, as a multiple of a number's unit, and the inverse of the smallest;
 * beyond it the number is treated as at its limit. */
static const double idm_profile_range = 1e4;

/* Range in which a coordinate of y is searched. */
typedef struct search_window {
  double low;
  double high;
  double unit; /* natural step size of a search */
} search_window;

/* A point of a profile. */
typedef struct profile_point {
  double value; /* of the fixed coordinate */
  double log_likelihood;
  double *y; /* [dimension] */
} profile_point;

typedef struct profile {
  const fit_context *f;
  idm_matching *matching; /* owned by this profile alone */
  size_t dimension;
  size_t fixed;     /* the fixed coordinate; dimension: none */
  bool at_limit;    /* a number is held at its limit: heights are not functions of y alone */
  bool with_priors; /* heights include the proper priors of the other numbers */
  double ceiling;   /* larger heights are reported as this one, so that a search can end early */
  bool frugal;      /* an evaluation takes long: use fewer starts and shorter searches */
  long left;        /* evaluations left for searches */
  const search_window *windows; /* [dimension] */
  const double *step;           /* [dimension]: a step over which the likelihood changes */
  size_t known_points;          /* good points found before, the best first: */
  const profile_point *known_point;
  profile_point best;    /* the maximum of the likelihood */
  profile_point highest; /* the highest point seen */
  double *path;          /* [dimension]: change of the other numbers per unit of the fixed one */
  double
      *precision_factor; /* [n][n]: Cholesky factor of minus the Hessian by the n other numbers at
                            the maximum; searches use the coordinates z = root' (others - start) */
  double *y;             /* scratch, [dimension] each */
  double *gradient;
  double *nuisance;
  double *origin; /* of z */
  double *z;
  double *unit_step;      /* of z */
  profile_point start[2]; /* the two best starts of the next search */
} profile;

/* Whether a window holds values, not logarithms of values. */
bool idm_window_is_linear(const search_window *w);
/* If a value is outside a window, or within a tenth of its range of an end, extend that end by a
 * factor of idm_profile_range, repeatedly: a peak near the end would be taken for a limit. */
void idm_window_extend(search_window *w, double value);
/* Compute the windows of all coordinates. */
void idm_profile_windows(const fit_context *f, search_window *windows);

idm_status idm_profile_create(const fit_context *f, idm_matching *matching, profile **ret_profile,
                              idm_error *opt_error);
void idm_profile_destroy(profile *p);
/* Fix a coordinate, or none (dimension); minus the Hessian at the maximum gives the path of the
 * other numbers and their scales. */
void idm_profile_fix(profile *p, size_t fixed, const double *precision);

/* Log-likelihood at y; -INFINITY where y is outside the windows by more than half their width. */
idm_status idm_profile_evaluate(profile *p, const double *y, double *log_likelihood,
                                idm_error *opt_error);
/* Maximise from `at` over all coordinates but the fixed one. */
idm_status idm_profile_maximise(profile *p, profile_point *at, idm_error *opt_error);
/* Compute the profile at to->value by a search from the best of the points that a neighbour on
 * either side, the path and the known points suggest. */
idm_status idm_profile_at(profile *p, const profile_point *opt_inner,
                          const profile_point *opt_outer, profile_point *to, idm_error *opt_error);

/* Move from a local maximum over the other numbers to a higher one, if a coarse scan along each of
 * them finds one. */
idm_status idm_profile_escape(profile *p, profile_point *at, idm_error *opt_error);

/* Allocate an array of points with their y; release with free(). Returns NULL without memory. */
profile_point *idm_profile_points_create(size_t count, size_t dimension);
void idm_profile_point_copy(const profile_point *from, size_t dimension, profile_point *to);

/* === region ================================================================================= */

/* Regions in which the profile of one free number is within the drop of its maximum: one interval,
 * or several. */

/* A scan over the window of a coordinate, in ascending order of values, and its regions. */
typedef struct scan {
  size_t count;
  size_t capacity;
  profile_point *profile_point; /* [capacity] */
  size_t regions;
  double region[IDM_MAX_REGIONS][2]; /* ends, in the coordinate; infinite if unbounded */
} scan;

/* Whether a value is in one of `count` regions, end[count][2], up to rounding; the two ends may be
 * in either order. */
bool idm_regions_contain(size_t count, const double *end, double value);

idm_status idm_scan_create(size_t dimension, scan *s, idm_error *opt_error);
void idm_scan_destroy(scan *s);
/* Scan the whole window of coordinate p->fixed. */
idm_status idm_scan_run(profile *p, bool fine, scan *s, idm_error *opt_error);
/* Compute the regions from the scan and from further points (such as draws); a further point
 * outside all regions is examined if its height is within the drop. */
idm_status idm_scan_regions(profile *p, const profile_point *extra_points, size_t count, scan *s,
                            idm_error *opt_error);

/* === bound ================================================================================== */

/* What the data bound of one free number: the fall of its profile towards its limits, its regions
 * within the drop of the maximum, and the contraction of the posterior relative to the prior. */

/* Fill in id, including its sentence, from the regions of a scan. The profile, of q's fit, is fixed
 * at the item and holds the maximum of the likelihood. */
idm_status idm_profile_bounds(const check_context *q, const parameter *item, profile *p,
                              const scan *s, idm_identification *id, idm_error *opt_error);

#endif
