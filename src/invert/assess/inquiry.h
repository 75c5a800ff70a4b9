/* What every part of an assessment looks at. */
#ifndef IDM_INVERT_ASSESS_INQUIRY_H
#define IDM_INVERT_ASSESS_INQUIRY_H

#include "idm/assess.h"
#include "invert/matching/fit.h"

typedef struct inquiry {
  const fit *f;
  const idm_posterior *posterior;
  idm_assessment *assessment;
  size_t among;   /* answers that are judged together, each the more strictly; 1: this one alone */
  bool elsewhere; /* the answer does not come from the likelihood of the decisions, but from
                     programs, moments or preferences: their score is not 0 at its centre */
  bool learnt; /* the answer is over draws of learnt dynamics: those of the problem are no part of
                  it */
} inquiry;

/* The unconstrained coordinates of draw i of all chains' draws. */
void idm_inquiry_draw(const inquiry *q, size_t i, double *y);
/* Coordinate c of a scalar item at draw i. */
double idm_inquiry_coordinate(const inquiry *q, const parameter *item, size_t i);

/* How many draws to look at where each costs a plan on so many points, and draw k of them, spread
 * evenly over all. */
size_t idm_inquiry_sample(const inquiry *q, size_t points);
size_t idm_inquiry_sample_at(const inquiry *q, size_t k, size_t size);

#endif
