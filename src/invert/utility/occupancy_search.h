/* The free numbers of any planner whose policy's occupancy comes nearest to a given one: where
 * idm_occupancy_loss is least. It is convex in the occupancy and not in the numbers, so that it is
 * searched for from several places. */
#ifndef IDM_INVERT_UTILITY_OCCUPANCY_SEARCH_H
#define IDM_INVERT_UTILITY_OCCUPANCY_SEARCH_H

#include "idm/finding.h"
#include "invert/utility/occupancy_loss.h"

/* theta receives the numbers. The finding, made with as many numbers as are free, receives what J
 * is there, its certificate and what the occupancy leaves open. `least` is what no policy comes
 * below; -INFINITY: not computed. IDM_INPUT where the divergence is infinite at every start, or
 * where the planner has no policy by state. */
idm_status idm_occupancy_search(idm_asked *asked, const idm_parameters *parameters,
                                const double *target, double least, idm_theta *theta,
                                idm_finding *finding, idm_error *opt_error);

/* Climb from the numbers y alone, which receives where that ends. */
idm_status idm_occupancy_climb(idm_asked *asked, const idm_parameters *parameters,
                               const double *target, double *y, idm_error *opt_error);

#endif
