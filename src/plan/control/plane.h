/* Beliefs over three states in coordinates of the lattice, y = r (z_1 + z_2, z_2), whose points are
 * numbered by y_1 (y_1 + 1) / 2 + y_2. For worlds where control->plane holds: loops over lookaheads
 * spend their time here. */
#ifndef IDM_PLAN_CONTROL_PLANE_H
#define IDM_PLAN_CONTROL_PLANE_H

#include "plan/control/control.h"

/* The cell of a belief. At the far faces it is the one below. */
typedef struct plane_cell {
  size_t at;        /* its first point */
  size_t middle;    /* steps from there to the second, */
  size_t last;      /* and to the third */
  double high, low; /* parts of the coordinates in the order of the steps */
  bool turned;      /* the second coordinate steps up first */
} plane_cell;

IDM_INLINE plane_cell plane_locate(int resolution, double one, double two)
{
  const double r = resolution;
  const uint32_t most = (uint32_t)resolution - 1;
  const double both = r * (two + one), far = r * two;
  const double first = both < r ? both : r, second = far < r ? far : r;
  const uint32_t floor_first = (uint32_t)first < most ? (uint32_t)first : most;
  const uint32_t floor_second = (uint32_t)second < most ? (uint32_t)second : most;
  const double a = first - floor_first, b = second - floor_second;
  const size_t up = (size_t)floor_first + 1; /* a step in y_1; one in y_2 is 1 */
  return (plane_cell){.at = (size_t)floor_first * (floor_first + 1) / 2 + floor_second,
                      .middle = a < b ? 1 : up,
                      .last = up + 1,
                      .high = a < b ? b : a,
                      .low = a < b ? a : b,
                      .turned = a < b};
}

IDM_INLINE double plane_value(const plane_cell *cell, const double *v)
{
  v += cell->at;
  return (1 - cell->high) * v[0] + (cell->high - cell->low) * v[cell->middle] +
         cell->low * v[cell->last];
}

/* How certain a belief is; nothing where that earns nothing. */
IDM_INLINE idm_certain plane_certain(const control *c, double arrival, double one, double two)
{
  const double z[3] = {1 - one - two, one, two};
  if (arrival == 0) return (idm_certain){0, 0, 0};
  return idm_belief_certain(c->numbers.certainty, 3, z);
}

/* V and the award at a belief z' = joint / p, and the derivative of p times that by the joint,
 * [state], where V is linear on the cell. */
IDM_INLINE double plane_slope(const control *c, const plane_cell *cell, const double *v, double one,
                              double two, double *slope)
{
  const int resolution = c->lattice->resolution;
  const double arrival = c->numbers.arrival;
  const idm_certain certain = plane_certain(c, arrival, one, two);
  const double z[3] = {1 - one - two, one, two};
  const double value = plane_value(cell, v) + arrival * certain.share;
  const double by_certainty = arrival * certain.slope;
  v += cell->at;
  const double up = resolution * (v[cell->middle] - v[0]);
  const double on = resolution * (v[cell->last] - v[cell->middle]);
  const double by_first = cell->turned ? on : up, by_both = up + on;
  const double level = value - by_first * one - by_both * two - by_certainty * z[certain.state];
  slope[0] = level;
  slope[1] = level + by_first;
  slope[2] = level + by_both;
  slope[certain.state] += by_certainty;
  return value;
}

#endif
