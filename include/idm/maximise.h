/* Climbing to a mode of a target. */
#ifndef IDM_MAXIMISE_H
#define IDM_MAXIMISE_H

#include "idm/sampler.h"
#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Climb from x by L-BFGS until the last five steps together have raised the log density by no more
 * than `tolerance` (1e-3 for a start, 0 for an answer: until nothing more is gained). x and
 * log_density receive the best point seen. */
IDM_API idm_status idm_maximise(const idm_target *target, double tolerance, int limit, double *x,
                                double *log_density, idm_error *opt_error);
/* Try every coordinate up and down by its step, go where it is higher by more than `tolerance`, and
 * divide the steps by four where it is not, until they are a thousandth of what they were (Hooke
 * and Jeeves 1961): no gradient is asked for, so that kinks, plateaus and slopes that are no
 * numbers do not end the search. `limit` bounds the evaluations. x and log_density, which come in
 * with a point and its height, receive the best point seen. */
IDM_API idm_status idm_pattern_search(const idm_target *target, const double *step,
                                      double tolerance, int limit, double *x, double *log_density,
                                      idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
