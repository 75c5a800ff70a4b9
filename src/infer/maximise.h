/* Maximisation of a target: L-BFGS and pattern search. Method: docs/method/inference.md, 3. */
#ifndef IDM_INFER_MAXIMISE_H
#define IDM_INFER_MAXIMISE_H

#include "base/door.h"
#include "idm/extension/sampler.h"
#include "idm/status.h"

/* Maximise by L-BFGS from x [dimension] until the last five steps together increase the log density
 * by no more than `tolerance` (1e-3 for a starting point; 0 for an estimate: until no further
 * increase). `limit` is the maximum number of steps. x and *log_density receive the best point
 * found. Returns errors of the target. */
IDM_CHECKED idm_status idm_maximise(const idm_target *target, double tolerance, int limit,
                                    double *x, double *log_density, idm_error *opt_error);
/* Pattern search (Hooke and Jeeves 1961): try every coordinate up and down by its step [dimension],
 * move if the density increases by more than `tolerance`, else divide the steps by four, until they
 * are a thousandth of their initial values. No gradient is used, so kinks, plateaus and derivatives
 * that are NaN do not stop the search. `limit` is the maximum number of evaluations. On entry x and
 * *log_density hold a point and its log density; on return the best point found. */
IDM_CHECKED idm_status idm_pattern_search(const idm_target *target, const double *step,
                                          double tolerance, int limit, double *x,
                                          double *log_density, idm_error *opt_error);

#endif
