/* The nearest occupancy by an interior-point method. */
#ifndef IDM_INVERT_UTILITY_INTERIOR_H
#define IDM_INVERT_UTILITY_INTERIOR_H

#include "invert/matching/halt.h"
#include "invert/utility/flows.h"

/* q[entry] that minimises the objective of the flows, prices y[row] of the equations, and in *gap
 * how far from the least it can be (idm_flows_gap). */
idm_status idm_interior_minimise(const idm_flows *flows, idm_halt *opt_halt, double *q, double *y,
                                 double *gap, idm_error *opt_error);

#endif
