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

#ifdef __cplusplus
}
#endif
#endif
