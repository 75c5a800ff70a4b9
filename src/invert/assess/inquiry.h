/* The parts of an assessment. */
#ifndef IDM_INVERT_ASSESS_H
#define IDM_INVERT_ASSESS_H

#include "invert/fit.h"

/* What every part looks at. */
typedef struct inquiry {
  const fit *f;
  const idm_posterior *posterior;
  idm_assessment *assessment;
} inquiry;

/* The unconstrained coordinates of draw i of all chains' draws. */
void idm_inquiry_draw(const inquiry *q, size_t i, double *y);
/* Coordinate c of a scalar item at draw i. */
double idm_inquiry_coordinate(const inquiry *q, const parameter *item, size_t i);

/* --- identify.c: profile likelihoods and limits, by the first matching */
idm_status idm_identify(const inquiry *q, idm_error *opt_error);
/* --- ridge.c: which parameters move together */
idm_status idm_identify_ridge(const inquiry *q, idm_error *opt_error);
/* --- sensitivity.c */
idm_status idm_assess_lattice(const inquiry *q, idm_error *opt_error);
idm_status idm_assess_sensitivity(const inquiry *q, idm_error *opt_error);

#endif
