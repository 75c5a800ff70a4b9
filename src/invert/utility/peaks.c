/* Peaks of a density. */
#include "invert/utility/peaks.h"

#include <math.h>

#include "base/dense.h"
#include "base/log_sum.h"
#include "base/memory.h"
#include "idm/laplace.h"
#include "idm/maximise.h"

/* Shares of proposals: of the broad distribution, and at least of every peak among peaks. */
static const double broad_share = 0.2, least_share = 0.05;

/* --- making --------------------------------------------------------------------------------- */

void idm_peaks_destroy(idm_peaks *peaks)
{
  if (!peaks) return;
  for (size_t i = 0; peaks->peak && i < peaks->capacity; i++) {
    free(peaks->peak[i].mode);
    free(peaks->peak[i].covariance);
  }
  free(peaks->peak);
  free(peaks->scratch);
  free(peaks);
}

idm_status idm_peaks_create(size_t dimension, size_t most, idm_peaks **ret_peaks,
                            idm_error *opt_error)
{
  *ret_peaks = NULL;
  idm_peaks *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  *p = (idm_peaks){.dimension = dimension, .capacity = most};
  p->peak = idm_new(most, sizeof *p->peak);
  p->scratch = idm_new(idm_times(dimension, dimension + 1), sizeof *p->scratch);
  bool room = p->peak && p->scratch;
  for (size_t i = 0; i < most && room; i++) {
    p->peak[i].mode = idm_new(dimension, sizeof(double));
    p->peak[i].covariance = idm_new(idm_times(dimension, dimension), sizeof(double));
    room = p->peak[i].mode && p->peak[i].covariance;
  }
  if (!room) {
    idm_peaks_destroy(p);
    return idm_fail_memory(opt_error);
  }
  *ret_peaks = p;
  return IDM_OK;
}

/* --- climbing ------------------------------------------------------------------------------- */

/* Whether the straight way from x, of this height, to a peak leads through a valley. */
static idm_status valley_to(const idm_peaks *p, const idm_target *target, const idm_peak *peak,
                            const double *x, double height, bool *valley, idm_error *opt_error)
{
  enum { stops = 64 };
  static const double depth = 0.1;
  idm_status status = IDM_OK;
  *valley = false;
  for (int k = 1; k < stops && status == IDM_OK && !*valley; k++) {
    double here = -INFINITY;
    for (size_t j = 0; j < p->dimension; j++)
      p->scratch[j] = x[j] + (peak->mode[j] - x[j]) * k / stops;
    status = target->evaluate(target->context, p->scratch, &here, NULL, opt_error);
    *valley = !(here >= fmin(height, peak->height) - depth);
  }
  return status;
}

/* The peak's width, and with it what it holds: the height and half the log determinant of the
 * covariance. */
static idm_status measure(const idm_peaks *p, const idm_target *target, idm_peak *peak,
                          idm_error *opt_error)
{
  const size_t n = p->dimension;
  peak->content = peak->height;
  const idm_status status =
      idm_laplace(target, peak->mode, peak->covariance, NULL, &peak->definite, opt_error);
  if (status != IDM_OK || !peak->definite) return status;
  memcpy(p->scratch, peak->covariance, n * n * sizeof *p->scratch);
  peak->definite = idm_cholesky(n, p->scratch);
  for (size_t j = 0; j < n && peak->definite; j++) peak->content += log(p->scratch[j * n + j]);
  return IDM_OK;
}

idm_status idm_peaks_climb(idm_peaks *p, const idm_target *target, double *x, idm_error *opt_error)
{
  enum { limit = 2000 };
  double height = -INFINITY;
  bool apart = true;
  idm_status status = idm_maximise(target, 0, limit, x, &height, opt_error);
  for (size_t i = 0; i < p->count && status == IDM_OK && apart; i++)
    status = valley_to(p, target, &p->peak[i], x, height, &apart, opt_error);
  if (status != IDM_OK || !apart || p->count == p->capacity) return status;
  idm_peak *peak = &p->peak[p->count++];
  memcpy(peak->mode, x, p->dimension * sizeof *x);
  peak->height = height;
  return measure(p, target, peak, opt_error);
}

/* --- what they hold ------------------------------------------------------------------------- */

static double fullest(const idm_peaks *p)
{
  double most = -INFINITY;
  for (size_t i = 0; i < p->count; i++) most = fmax(most, p->peak[i].content);
  return most;
}

void idm_peaks_thin(idm_peaks *p)
{
  static const double next_to_nothing = 12; /* exp(-12), by widths that are a guess */
  const double most = fullest(p);
  size_t kept = 0;
  for (size_t i = 0; i < p->count; i++) {
    if (p->peak[i].content < most - next_to_nothing) continue;
    const idm_peak peak = p->peak[i];
    p->peak[i] = p->peak[kept];
    p->peak[kept++] = peak;
  }
  p->count = kept;
}

idm_status idm_peaks_mixture(const idm_peaks *p, idm_broad broad, idm_mixture **ret_mixture,
                             idm_error *opt_error)
{
  *ret_mixture = NULL;
  double *weight = idm_new(p->count, sizeof *weight);
  if (!weight) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < p->count; i++) weight[i] = p->peak[i].content;
  idm_softmax_floor(weight, p->count, least_share);
  const idm_status status =
      idm_mixture_create(p->dimension, p->count, broad, broad_share, ret_mixture, opt_error);
  for (size_t i = 0; i < p->count && status == IDM_OK; i++)
    if (p->peak[i].definite)
      idm_mixture_add(*ret_mixture, (1 - broad_share) * weight[i], p->peak[i].mode,
                      p->peak[i].covariance);
  free(weight);
  return status;
}
