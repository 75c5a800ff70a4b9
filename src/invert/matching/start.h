/* Where chains start. */
#ifndef IDM_INVERT_MATCHING_START_H
#define IDM_INVERT_MATCHING_START_H

#include "invert/matching/fit.h"

/* A mode climbed to from this chain's own starting points, its normal approximation, and an
 * overdispersed point to start from. The matching is anchored at the mode. */
typedef struct start {
  double *x;          /* [dimension] */
  double *mode;       /* [dimension] */
  double *covariance; /* [dimension][dimension]; nothing where there are too many numbers */
  double log_density; /* at the mode */
  bool definite;      /* the covariance is that of the mode; else a guess by the prior */
  bool placed;        /* x was chosen already */
} start;
/* Whether so many numbers have a covariance: a network has not. */
bool idm_start_is_dense(size_t dimension);
idm_status idm_start_create(size_t dimension, start **ret_start, idm_error *opt_error);
void idm_start_destroy(start *s);
/* Find it for chain `chain`: the best of a few points of its own, and the mode above. */
idm_status idm_start_find(const fit *f, size_t chain, start *s, idm_error *opt_error);
/* The mode above the point in s->mode, where the density is s->log_density, and the approximation
 * there. */
idm_status idm_start_climb(const fit *f, size_t chain, start *s, idm_error *opt_error);
/* Let plans of this chain start from around its mode, and scatter x, where it is not placed. */
idm_status idm_start_settle(const fit *f, size_t chain, start *s, idm_error *opt_error);

/* A fit of some trajectories, spread over a log that has many histories: `*ret_part`, to be
 * destroyed after the fit is closed. *ret_share is theirs of all trajectories, or 1 where all are
 * few enough and there is none. */
idm_status idm_start_open_part(const fit *f, fit *small, idm_data **ret_part, double *ret_share,
                               idm_error *opt_error);
/* Climb from s->mode, near the top of a target whose evaluations are dear, to it: s->covariance
 * says how wide it is, so that steps are as if it were round, and few. */
idm_status idm_start_climb_near(const idm_target *target, start *s, idm_error *opt_error);

/* The highest mode of as many starts as there are chains, and of scans of every number beside it,
 * climbed to the end, all by the first matching, which is left anchored there. Covariance and x are
 * left alone. */
idm_status idm_start_best(const fit *f, start *best, idm_error *opt_error);

#endif
