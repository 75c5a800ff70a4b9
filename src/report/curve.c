/* The density of a quantity along its axis: see the header. */
#include "report/curve.h"

#include <math.h>

#include "base/memory.h"

/* Draws that span less than this ratio are as easily read off an even axis. */
static const double wide = 30;

double idm_curve_natural(const idm_curve *curve, double along)
{
  return curve->logarithmic ? exp(along) : along;
}

static double along_of(bool logarithmic, double x)
{
  return !logarithmic ? x : x > 0 ? log(x) : NAN;
}

static bool spans_powers(const idm_shown_one *one)
{
  double low = INFINITY, high = 0;
  for (size_t i = 0; i < one->count; i++) {
    if (!isfinite(one->draw[i])) continue;
    low = fmin(low, one->draw[i]);
    high = fmax(high, one->draw[i]);
  }
  return one->by_ratio && low > 0 && high > wide * low;
}

static double mean_of(const double *draw, size_t count)
{
  double sum = 0, n = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(draw[i])) sum += draw[i], n++;
  return n > 0 ? sum / n : NAN;
}

/* The grid, and what is over it. */
static void fill(idm_curve *c)
{
  const double step = (c->range.high - c->range.low) / (double)(c->points - 1);
  size_t best = 0;
  for (size_t i = 0; i < c->points; i++) {
    c->along[i] = i + 1 < c->points ? c->range.low + (double)i * step : c->range.high;
    c->at[i] = idm_curve_natural(c, c->along[i]);
  }
  idm_density_at(c->draw, c->count, c->bandwidth, c->support, c->along, c->points, c->height);
  for (size_t i = 1; i < c->points; i++)
    if (c->height[i] > c->height[best]) best = i;
  c->mode = c->at[best];
}

idm_status idm_curve_create(const idm_shown_one *one, size_t points, int dimension,
                            idm_curve *ret_curve, idm_error *opt_error)
{
  idm_curve *c = ret_curve;
  *c = (idm_curve){.logarithmic = spans_powers(one), .count = one->count, .points = points};
  c->draw = idm_new(one->count, sizeof *c->draw);
  c->along = idm_new(3 * points, sizeof *c->along);
  if (!c->draw || !c->along) {
    idm_curve_clear(c);
    return idm_fail_memory(opt_error);
  }
  c->at = c->along + points;
  c->height = c->at + points;
  c->mean = c->mode = mean_of(one->draw, one->count);
  for (size_t i = 0; i < one->count; i++) c->draw[i] = along_of(c->logarithmic, one->draw[i]);
  c->support = one->support;
  if (c->logarithmic)
    c->support = (idm_span){one->support.low > 0 ? log(one->support.low) : -INFINITY,
                            log(one->support.high)};
  idm_status status = idm_density_bandwidth(c->draw, c->count, dimension, &c->bandwidth, opt_error);
  if (status == IDM_OK)
    status = idm_shown_range(c->draw, c->count, c->bandwidth, c->support, &c->range, &c->varies,
                             opt_error);
  c->varies = c->varies && c->bandwidth > 0 && c->range.low < c->range.high;
  if (status == IDM_OK && c->varies)
    fill(c);
  else
    c->points = 0;
  if (status != IDM_OK) idm_curve_clear(c);
  return status;
}

idm_status idm_curve_compare(const idm_curve *curve, const double *draw, size_t count,
                             double *height, idm_error *opt_error)
{
  double bandwidth;
  double *along = idm_new(count, sizeof *along);
  if (!along) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < count; i++) along[i] = along_of(curve->logarithmic, draw[i]);
  const idm_status status = idm_density_bandwidth(along, count, 1, &bandwidth, opt_error);
  for (size_t i = 0; i < curve->points; i++) height[i] = 0;
  if (status == IDM_OK && bandwidth > 0)
    idm_density_at(along, count, bandwidth, curve->support, curve->along, curve->points, height);
  free(along);
  return status;
}

void idm_curve_clear(idm_curve *curve)
{
  free(curve->draw);
  free(curve->along);
  *curve = (idm_curve){0};
}
