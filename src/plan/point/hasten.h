/* Newton's method on both bounds, without a horizon: what trials would move again and again, by
 * 1 - discount of the way each time, a linear system moves at once. From below it is the value of
 * the plans as they go on (policy iteration over finite plans, Hansen 1998), from above that of the
 * points of the upper bound with the mixtures of points that follow them. */
#ifndef IDM_PLAN_POINT_HASTEN_H
#define IDM_PLAN_POINT_HASTEN_H

#include "plan/point/graph.h"

/* Raise the vectors to what their plans are worth. */
idm_status idm_hasten_below(graph *g, idm_error *opt_error);
/* Lower the points, by more than `least` each, to what follows the most promising action there. */
idm_status idm_hasten_above(graph *g, double least, idm_error *opt_error);

#endif
