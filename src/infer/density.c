/* Kernel densities of draws: see the header.
 *
 * Contents: bandwidths · one number · two numbers */
#include "infer/density.h"

#include <math.h>

#include "base/memory.h"
#include "base/moments.h"
#include "idm/quantile.h"

/* A kernel is 0 so many bandwidths away: less than 1e-17 of it lies there. */
static const double reach = 9;

/* --- bandwidths ----------------------------------------------------------------------------- */

idm_status idm_density_bandwidth(const double *draw, size_t count, int dimension,
                                 double *ret_bandwidth, idm_error *opt_error)
{
  double *kept = idm_new(count, sizeof *kept);
  size_t n = 0;
  *ret_bandwidth = 0;
  if (!kept) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++)
    if (isfinite(draw[i])) kept[n++] = draw[i];
  if (n > 1) {
    const double sd = sqrt(idm_moments_of(kept, n).variance);
    const double quartiles = (idm_quantile(kept, n, 0.75) - idm_quantile(kept, n, 0.25)) / 1.34;
    const double s = quartiles > 0 ? fmin(sd, quartiles) : sd;
    const bool varies = kept[0] < kept[n - 1]; /* they are sorted now */
    *ret_bandwidth = !varies          ? 0
                     : dimension == 1 ? 0.9 * s * pow((double)n, -1.0 / 5)
                                      : s * pow((double)n, -1.0 / 6);
  }
  free(kept);
  return IDM_OK;
}

/* --- one number ----------------------------------------------------------------------------- */

static double kernel(double x, double centre, double bandwidth)
{
  static const double height = 0.3989422804014327; /* 1 / sqrt(2 pi) */
  const double z = (x - centre) / bandwidth;
  return fabs(z) < reach ? height * exp(-0.5 * z * z) / bandwidth : 0;
}

/* The kernel of a draw at x with all its images in the ends of the support. */
static double folded(double x, double draw, double bandwidth, idm_span s)
{
  double sum = kernel(x, draw, bandwidth);
  const double length = s.high - s.low;
  if (!isfinite(length)) {
    if (isfinite(s.low)) sum += kernel(x, 2 * s.low - draw, bandwidth);
    if (isfinite(s.high)) sum += kernel(x, 2 * s.high - draw, bandwidth);
    return sum;
  }
  /* Mirrors that face each other: draw + 2 k length and its mirror image, for every k in reach. */
  const int most = (int)fmin(ceil(reach * bandwidth / (2 * length)) + 1, 10000);
  for (int k = -most; k <= most; k++) {
    if (k) sum += kernel(x, draw + 2 * k * length, bandwidth);
    sum += kernel(x, 2 * s.low - draw + 2 * k * length, bandwidth);
  }
  return sum;
}

static bool holds(idm_span s, double x)
{
  return x >= s.low && x <= s.high;
}

void idm_density_at(const double *draw, size_t count, double bandwidth, idm_span support,
                    const double *at, size_t points, double *density)
{
  size_t n = 0;
  for (size_t i = 0; i < count; i++) n += isfinite(draw[i]) != 0;
  for (size_t k = 0; k < points; k++) {
    double sum = 0;
    for (size_t i = 0; i < count && holds(support, at[k]); i++)
      if (isfinite(draw[i])) sum += folded(at[k], draw[i], bandwidth, support);
    density[k] = n ? sum / (double)n : 0;
  }
}

/* --- two numbers ---------------------------------------------------------------------------- */

static bool is_pair(const idm_joint *j, size_t i)
{
  return isfinite(j->draw[0][i]) && isfinite(j->draw[1][i]);
}

idm_status idm_joint_density(const idm_joint *j, double *density, idm_error *opt_error)
{
  const size_t across = j->points[0], up = j->points[1];
  double *part = idm_new(across + up, sizeof *part);
  size_t n = 0;
  if (!part) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < across * up; k++) density[k] = 0;
  for (size_t i = 0; i < j->count; i++) {
    if (!is_pair(j, i)) continue;
    n++;
    for (size_t d = 0; d < 2; d++)
      for (size_t k = 0; k < j->points[d]; k++)
        part[d * across + k] =
            holds(j->support[d], j->at[d][k])
                ? folded(j->at[d][k], j->draw[d][i], j->bandwidth[d], j->support[d])
                : 0;
    for (size_t y = 0; y < up; y++)
      for (size_t x = 0; x < across && part[across + y] > 0; x++)
        density[y * across + x] += part[x] * part[across + y];
  }
  for (size_t k = 0; k < across * up; k++) density[k] /= n ? (double)n : 1;
  free(part);
  return IDM_OK;
}

/* The cell of a grid that a number lies in, and how far into it; false outside the grid. */
static bool find_cell(const double *at, size_t points, double x, size_t *ret_cell, double *ret_part)
{
  size_t low = 0, high = points - 1;
  if (points < 2 || !(x >= at[0] && x <= at[high])) return false;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (x >= at[middle])
      low = middle;
    else
      high = middle;
  }
  *ret_cell = low;
  *ret_part = (x - at[low]) / (at[high] - at[low]);
  return true;
}

idm_status idm_joint_level(const idm_joint *j, const double *density, double share,
                           double *ret_level, idm_error *opt_error)
{
  const size_t across = j->points[0];
  double *height = idm_new(j->count, sizeof *height);
  size_t n = 0;
  if (!height) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < j->count; i++) {
    size_t x, y;
    double a, b;
    if (!is_pair(j, i)) continue;
    height[n] = 0; /* beyond the grid it is lower than anywhere on it */
    if (find_cell(j->at[0], j->points[0], j->draw[0][i], &x, &a) &&
        find_cell(j->at[1], j->points[1], j->draw[1][i], &y, &b)) {
      const double *corner = density + y * across + x;
      height[n] = (1 - b) * ((1 - a) * corner[0] + a * corner[1]) +
                  b * ((1 - a) * corner[across] + a * corner[across + 1]);
    }
    n++;
  }
  *ret_level = n ? idm_quantile(height, n, 1 - share) : NAN;
  free(height);
  return IDM_OK;
}
