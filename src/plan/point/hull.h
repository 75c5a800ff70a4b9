/* The lower hull of a sawtooth's numbers at a belief over few states: the least that any mixture of
 * corners and points that makes up the belief is worth. Tighter than the sawtooth, whose mixtures
 * have one point each, by as much as a convex function bends; found by the simplex method. */
#ifndef IDM_PLAN_POINT_HULL_H
#define IDM_PLAN_POINT_HULL_H

#include <stdbool.h>

#include "plan/point/sawtooth.h"

/* The hull at a belief over at most HULL_MOST states, point `without` left out (SAWTOOTH_NONE:
 * none); price[state of the belief] is a plane below all of the numbers but for rounding. `dense`
 * is scratch as in sawtooth.h. */
double idm_hull_at(const sawtooth *t, const belief *b, uint32_t without, double *price,
                   double *dense);
/* The mixture itself, as idm_sawtooth_mix has it. */
size_t idm_hull_mix(const sawtooth *t, const belief *b, uint32_t *part, double *weight,
                    double *rest, double *dense);
/* Whether a point is below the plane of the prices. */
bool idm_hull_moves(const sawtooth *t, const belief *b, uint32_t point, const double *price);

#endif
