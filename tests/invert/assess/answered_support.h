/* Fixture: a log, its posterior and the assessment, with functions that read them. */
#ifndef IDM_TESTS_ANSWERED_SUPPORT_H
#define IDM_TESTS_ANSWERED_SUPPORT_H

#include "support.h"

typedef struct answered {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment;
} answered;

/* Fit with an inverse planner on one thread, two chains of `draws`, and assess. Takes ownership of
 * the problem, with its free parameters set, and of the data. */
answered answered_fit(const char *inverse, idm_problem *problem, idm_data *data, int draws,
                      int warmup, int thin);
void answered_close(answered *a);
/* The sensitivity to a held parameter; fails the test where there is none. */
const idm_sensitivity *answered_sensitivity(const answered *a, const char *name);
/* Log-likelihoods of `count` evenly spaced draws, under the current state of the problem. */
void answered_likelihoods(const answered *a, size_t count, double *value);

#endif
