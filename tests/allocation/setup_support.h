/* Logs and fits that several tests of failing allocation begin with. */
#ifndef IDM_TESTS_ALLOCATION_SETUP_SUPPORT_H
#define IDM_TESTS_ALLOCATION_SETUP_SUPPORT_H

#include "support.h"

extern const char allocation_diag[];
extern const char allocation_beads[];

/* What a fit needs, and what it made. */
typedef struct fitted {
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_assessment *assessment;
  const idm_inverse *inverse;
} fitted;

/* As small as a fit can be. */
idm_fit_settings few(const char *sampler);
fitted open_fit(void);
void close_fit(fitted *f);

#endif
