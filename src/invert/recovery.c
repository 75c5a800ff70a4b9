/* What replications show: how well numbers are found again, and whether ranks are uniform. */
#include <math.h>

#include "idm/calibrate.h"

size_t idm_calibration_done(const idm_calibration *c)
{
  if (!c) return 0;
  size_t done = 0;
  for (size_t i = 0; i < c->settings.replications; i++) done += c->done[i];
  return done;
}

double idm_calibration_rhat(const idm_calibration *c)
{
  if (!c) return NAN;
  double most = 0;
  for (size_t i = 0; i < c->settings.replications; i++)
    if (c->done[i]) most = fmax(most, c->rhat[i]);
  return most;
}

idm_recovered idm_calibration_recovered(const idm_calibration *c, size_t quantity)
{
  if (!c || quantity >= c->quantity.count) return (idm_recovered){0};
  const double n = (double)idm_calibration_done(c);
  idm_recovered r = {0};
  double mt = 0, mm = 0, tt = 0, mean_m = 0, mean_t = 0;
  for (size_t i = 0; i < c->settings.replications; i++) {
    const idm_recovery *x = &c->recovery[i * c->quantity.count + quantity];
    if (!c->done[i]) continue;
    r.coverage += (x->low <= x->truth && x->truth <= x->high) / n;
    r.bias += (x->mean - x->truth) / x->sd / n;
    r.error += (x->mean - x->truth) * (x->mean - x->truth) / n;
    mean_m += x->mean / n;
    mean_t += x->truth / n;
  }
  for (size_t i = 0; i < c->settings.replications; i++) {
    const idm_recovery *x = &c->recovery[i * c->quantity.count + quantity];
    if (!c->done[i]) continue;
    mt += (x->mean - mean_m) * (x->truth - mean_t);
    mm += (x->mean - mean_m) * (x->mean - mean_m);
    tt += (x->truth - mean_t) * (x->truth - mean_t);
  }
  r.error = sqrt(r.error);
  r.correlation = mt / sqrt(mm * tt);
  return r;
}

double idm_calibration_uniformity(const idm_calibration *c, size_t quantity, size_t bins,
                                  size_t *count)
{
  if (!c || quantity >= c->quantity.count || !count) return NAN;
  size_t total = 0;
  for (size_t b = 0; b < bins; b++) count[b] = 0;
  for (size_t i = 0; i < c->settings.replications; i++) {
    if (!c->done[i]) continue;
    const int rank = c->recovery[i * c->quantity.count + quantity].rank;
    count[(size_t)rank * bins / (IDM_RANKS + 1)]++;
    total++;
  }
  const double expected = (double)total / (double)bins;
  double sum = 0;
  for (size_t b = 0; b < bins; b++) {
    const double d = (double)count[b] - expected;
    sum += d * d / expected;
  }
  return sum;
}
