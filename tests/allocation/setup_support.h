/* Provides the logs and fits with which several tests of failing allocations begin. */
#ifndef IDM_TESTS_ALLOCATION_SETUP_SUPPORT_H
#define IDM_TESTS_ALLOCATION_SETUP_SUPPORT_H

#include "support.h"

extern const char allocation_diag[];
extern const char allocation_beads[];

/* The inputs and results of a fit. */
typedef struct fitted {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment;
  const idm_inverse *inverse;
} fitted;

/* Settings of a minimal fit. */
idm_fit_settings few(const char *sampler);
fitted open_fit(void);
void close_fit(fitted *f);

#endif
