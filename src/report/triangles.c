/* A simplex cut into triangles: see the header. */
#include "report/triangles.h"

#include <math.h>

size_t idm_triangles_count(size_t side)
{
  return side * side;
}

/* The triangle with its first corner at (side - b - c, b, c) / side, which points up or down. */
static idm_triangle triangle_at(size_t side, size_t b, size_t c, bool up)
{
  const double n = (double)side;
  const double first[3] = {(double)(side - b - c) / n, (double)b / n, (double)c / n};
  const double step = (up ? 1 : -1) / n;
  return (idm_triangle){{{first[0], first[1], first[2]},
                         {first[0] - step, first[1] + step, first[2]},
                         {first[0] - step, first[1], first[2] + step}}};
}

/* In rows away from the third state's side, 2 (side - c) - 1 of them in row c: those that point up
 * at even places, and between them those that point down. */
static size_t place_of(size_t side, size_t c, size_t b, bool up)
{
  return c * (2 * side - c) + 2 * b - (up ? 0 : 1);
}

void idm_triangles_make(size_t side, idm_triangle *ret_triangles)
{
  for (size_t c = 0; c < side; c++)
    for (size_t b = 0; b + c < side; b++) {
      ret_triangles[place_of(side, c, b, true)] = triangle_at(side, b, c, true);
      if (b) ret_triangles[place_of(side, c, b, false)] = triangle_at(side, b, c + 1, false);
    }
}

void idm_triangle_set(const idm_triangle *triangle, idm_mark *cells, size_t i, double value)
{
  const double *first = triangle->corner[0], *second = triangle->corner[1];
  cells->column[IDM_FIGURE_X][i] = first[0];
  cells->column[IDM_FIGURE_Y][i] = first[1];
  cells->column[IDM_FIGURE_RIGHT][i] = 2 * first[0] - second[0];
  cells->column[IDM_FIGURE_TOP][i] = second[1];
  cells->column[IDM_FIGURE_VALUE][i] = value;
}

/* The triangle that z is inside of; their number where it is in none. */
static size_t find(size_t side, const double *z)
{
  double whole[3], parts = 0;
  for (int s = 0; s < 3; s++) {
    if (!(z[s] >= 0)) return idm_triangles_count(side);
    whole[s] = floor((double)side * z[s]);
    parts += (double)side * z[s] - whole[s];
  }
  /* The fractions of three numbers that sum to a whole one sum to 1 in one that points up, to 2 in
   * one that points down. */
  const bool up = parts < 1.5;
  const size_t b = (size_t)whole[1] + (up ? 0 : 1), c = (size_t)whole[2];
  if (b + c >= side + (up ? 0 : 1)) return idm_triangles_count(side);
  return place_of(side, c, b, up);
}

void idm_triangles_share(size_t side, const double *z, double mass, double *sum)
{
  /* A little away from z towards, and away from, each of the states: into each of the six
   * triangles that may meet there. */
  size_t found[6] = {0}, count = 0;
  for (int k = 0; k < 6; k++) {
    const double step = (k % 2 ? 1e-6 : -1e-6) / (double)side;
    double near[3];
    for (int s = 0; s < 3; s++) near[s] = z[s] + (s == k / 2 ? 2 * step : -step);
    const size_t triangle = find(side, near);
    if (triangle < idm_triangles_count(side)) found[count++] = triangle;
  }
  for (size_t i = 0; i < count; i++) sum[found[i]] += mass / (double)count;
}
