/* Below this a probability has lost digits to underflow, and its logarithm is asked for instead. */
#ifndef IDM_PLAN_SMALLEST_H
#define IDM_PLAN_SMALLEST_H

static const double idm_smallest = 1e-290;

#endif
