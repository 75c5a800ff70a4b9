/* Calibration of predicted probabilities: is an action that is predicted with probability p taken
 * in a share p of the decisions?
 *
 * The shares are estimated by isotonic regression of 1{action} on its predicted probability, one
 * action against the rest (pool adjacent violators; Dimitriadis, Gneiting and Jordan 2021). The
 * statistic is the log-loss that the recalibrated probabilities gain. The free numbers were fitted
 * to the same decisions: what their scores explain is subtracted from the outcomes first, of the
 * log and of its replicates alike (residual.h). */
#ifndef IDM_INVERT_ASSESS_RELIABILITY_H
#define IDM_INVERT_ASSESS_RELIABILITY_H

#include "invert/assess/residual.h"

/* Outcomes with adjacent predicted probabilities. */
typedef struct reliability_pool {
  double chances; /* decisions */
  double taken;   /* of those, without what the free numbers explain */
  double least;   /* predicted probabilities: from, to, and their sum */
  double most;
  double expected;
  double variance; /* of `taken`: sum of p (1 - p) */
  double surprise; /* sum of taken log p + (chances - taken) log(1 - p) */
} reliability_pool;

typedef struct reliability {
  const residual *r;
  size_t points;          /* actions that are neither impossible nor certain */
  size_t *point;          /* [points]: question * actions + action, by ascending probability */
  reliability_pool *pool; /* [pools] of the answers taken last; room for one per point */
  size_t pools;
} reliability;

/* No points where the free numbers cannot be projected out. */
idm_status idm_reliability_open(reliability *c, const residual *r, idm_error *opt_error);
void idm_reliability_close(reliability *c);
/* The gain in log-loss (nats, summed over actions) of some answers, whose shift has been found. */
double idm_reliability_take(reliability *c, const double *taken, const double *shift);
/* The pool that is furthest off, in sds, of those whose share is off by at least `least`; NULL
 * where there is none. */
const reliability_pool *idm_reliability_worst(const reliability *c, double least);

#endif
