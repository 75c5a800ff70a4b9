/* A log, its answer and the assessment of it, and what tests ask of them. */
#ifndef IDM_TESTS_ANSWERED_SUPPORT_H
#define IDM_TESTS_ANSWERED_SUPPORT_H

#include "support.h"

typedef struct answered {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment;
} answered;

/* Fit and assess by an inverse planner on one thread: two chains of `draws`. Takes the problem,
 * what of it is free, and the data. */
answered answered_fit(const char *inverse, idm_problem *problem, idm_data *data, int draws,
                      int warmup, int thin);
void answered_close(answered *a);
/* The sensitivity to a held number; fails the test where there is none. */
const idm_sensitivity *answered_sensitivity(const answered *a, const char *name);
/* Log-likelihoods of `count` draws, evenly spaced, under the problem as it is now. */
void answered_likelihoods(const answered *a, size_t count, double *value);

#endif
