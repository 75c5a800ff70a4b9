/* Effective sample size: autocovariances by a fast Fourier transform, cut off by Geyer's initial
 * monotone sequence (Geyer 1992; Vehtari et al. 2021, section 3.2).
 *
 * Where the papers leave freedom (which terms of the last pair count, the bound on the size) this
 * does as ArviZ 0.23. */
#include "infer/ess.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/moments.h"

struct idm_ess {
  size_t chains;
  size_t draws;
  size_t size;       /* of the transform: a power of two, twice the draws or more, so that nothing
                        wraps around */
  double *cosine;    /* [size / 2] of 2 pi k / size */
  double *sine;      /* [size / 2] */
  double *real;      /* [size] */
  double *imaginary; /* [size] */
  double *power;     /* [size], in the order in which the forward transform leaves it */
  double *rho;       /* [draws] autocorrelations */
};

/* --- room ----------------------------------------------------------------------------------- */

static size_t transform_size(size_t draws)
{
  size_t size = 4;
  while (size < 2 * draws) size *= 2;
  return size;
}

static void fill_circle(idm_ess *ess)
{
  const double angle = 6.283185307179586477 / (double)ess->size;
  for (size_t k = 0; k < ess->size / 2; k++) {
    ess->cosine[k] = cos(angle * (double)k);
    ess->sine[k] = sin(angle * (double)k);
  }
}

idm_status idm_ess_create(size_t chains, size_t draws, idm_ess **ret_ess, idm_error *opt_error)
{
  *ret_ess = NULL;
  idm_ess *ess = draws < (size_t)-1 / 64 ? idm_new(1, sizeof *ess) : NULL;
  if (!ess) goto failed;
  ess->chains = chains;
  ess->draws = draws;
  ess->size = transform_size(draws);
  ess->cosine = idm_new(ess->size / 2, sizeof(double));
  ess->sine = idm_new(ess->size / 2, sizeof(double));
  ess->real = idm_new(ess->size, sizeof(double));
  ess->imaginary = idm_new(ess->size, sizeof(double));
  ess->power = idm_new(ess->size, sizeof(double));
  ess->rho = idm_new(draws, sizeof(double));
  if (!ess->cosine || !ess->sine || !ess->real || !ess->imaginary || !ess->power || !ess->rho)
    goto failed;
  fill_circle(ess);
  *ret_ess = ess;
  return IDM_OK;
failed:
  idm_ess_destroy(ess);
  return idm_fail(opt_error, IDM_MEMORY, "no memory for the diagnostics of %zu draws", draws);
}

void idm_ess_destroy(idm_ess *ess)
{
  if (!ess) return;
  free(ess->cosine);
  free(ess->sine);
  free(ess->real);
  free(ess->imaginary);
  free(ess->power);
  free(ess->rho);
  free(ess);
}

/* --- Fourier transforms --------------------------------------------------------------------- */

/* From natural order to that of reversed bits (Gentleman and Sande 1966). */
static void transform_forward(idm_ess *ess)
{
  double *re = ess->real, *im = ess->imaginary;
  for (size_t half = ess->size / 2; half > 0; half /= 2) {
    const size_t stride = ess->size / 2 / half;
    for (size_t start = 0; start < ess->size; start += 2 * half) {
      for (size_t i = start, k = 0; i < start + half; i++, k += stride) {
        const double x = re[i] - re[i + half], y = im[i] - im[i + half];
        re[i] += re[i + half];
        im[i] += im[i + half];
        re[i + half] = x * ess->cosine[k] - y * ess->sine[k];
        im[i + half] = x * ess->sine[k] + y * ess->cosine[k];
      }
    }
  }
}

/* From the order of reversed bits to natural order (Cooley and Tukey 1965). */
static void transform_back(idm_ess *ess)
{
  double *re = ess->real, *im = ess->imaginary;
  for (size_t half = 1; half < ess->size; half *= 2) {
    const size_t stride = ess->size / 2 / half;
    for (size_t start = 0; start < ess->size; start += 2 * half) {
      for (size_t i = start, k = 0; i < start + half; i++, k += stride) {
        const double a = re[i + half], b = im[i + half];
        const double x = a * ess->cosine[k] - b * ess->sine[k];
        const double y = a * ess->sine[k] + b * ess->cosine[k];
        re[i + half] = re[i] - x;
        im[i + half] = im[i] - y;
        re[i] += x;
        im[i] += y;
      }
    }
  }
}

/* Deviations from the chain's mean, then zeros. */
static void load_chain(const idm_ess *ess, const double *x, double *target)
{
  const double mean = idm_mean(x, ess->draws);
  for (size_t i = 0; i < ess->draws; i++) target[i] = x[i] - mean;
  memset(target + ess->draws, 0, (ess->size - ess->draws) * sizeof *target);
}

/* real[t] = autocovariance at lag t, mean over chains. Two chains travel as real and imaginary part
 * of one series: the real part of its autocovariance is the sum of theirs, and the power spectra
 * add up before the way back. That of real numbers is the same in either direction. */
static void autocovariances(idm_ess *ess, const double *x)
{
  memset(ess->power, 0, ess->size * sizeof *ess->power);
  for (size_t c = 0; c < ess->chains; c += 2) {
    load_chain(ess, x + c * ess->draws, ess->real);
    memset(ess->imaginary, 0, ess->size * sizeof *ess->imaginary);
    if (c + 1 < ess->chains) load_chain(ess, x + (c + 1) * ess->draws, ess->imaginary);
    transform_forward(ess);
    for (size_t k = 0; k < ess->size; k++)
      ess->power[k] += ess->real[k] * ess->real[k] + ess->imaginary[k] * ess->imaginary[k];
  }
  const double norm = (double)ess->size * (double)ess->draws * (double)ess->chains;
  for (size_t k = 0; k < ess->size; k++) ess->real[k] = ess->power[k] / norm;
  memset(ess->imaginary, 0, ess->size * sizeof *ess->imaginary);
  transform_back(ess);
}

/* --- Geyer's sequence ----------------------------------------------------------------------- */

/* Variance of the chains' means (Vehtari et al. 2021, equation 3.1, over the draws of a chain). */
static double between_variance(const idm_ess *ess, const double *x)
{
  if (ess->chains < 2) return 0;
  const double centre = idm_mean(x, ess->chains * ess->draws);
  double squares = 0;
  for (size_t c = 0; c < ess->chains; c++) {
    const double distance = idm_mean(x + c * ess->draws, ess->draws) - centre;
    squares += distance * distance;
  }
  return squares / (double)(ess->chains - 1);
}

/* Fill rho up to where a pair of an even and the next odd lag is no longer positive; returns the
 * first lag of the last pair looked at. That lag counts half where it is positive by itself. */
static size_t positive_sequence(idm_ess *ess, double within, double total)
{
  double *rho = ess->rho;
  const double *covariance = ess->real;
  double even = 1, odd = 1 - (within - covariance[1]) / total;
  memset(rho, 0, ess->draws * sizeof *rho);
  rho[0] = even;
  rho[1] = odd;
  size_t last = 0;
  while (last + 4 < ess->draws && even + odd > 0) {
    last += 2;
    even = 1 - (within - covariance[last]) / total;
    odd = 1 - (within - covariance[last + 1]) / total;
    if (even + odd < 0) continue;
    rho[last] = even;
    rho[last + 1] = odd;
  }
  if (even > 0) rho[last] = even;
  return last;
}

/* Pairs before `last` may not grow: one that does becomes the one before it. */
static void make_monotone(double *rho, size_t last)
{
  for (size_t t = 2; t + 2 <= last; t += 2) {
    const double before = rho[t - 2] + rho[t - 1];
    if (rho[t] + rho[t + 1] > before) rho[t] = rho[t + 1] = 0.5 * before;
  }
}

static bool is_constant(const double *x, size_t count)
{
  const double resolution = 1e-15; /* absolute, as in ArviZ */
  double least = x[0], most = x[0];
  for (size_t i = 0; i < count; i++) {
    least = fmin(least, x[i]);
    most = fmax(most, x[i]);
  }
  return most - least < resolution;
}

double idm_ess_of(idm_ess *ess, const double *x)
{
  const size_t count = ess->chains * ess->draws;
  for (size_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return NAN;
  if (is_constant(x, count)) return (double)count;
  autocovariances(ess, x);
  const double n = (double)ess->draws;
  const double within = ess->real[0] * n / (n - 1);
  const size_t last = positive_sequence(ess, within, ess->real[0] + between_variance(ess, x));
  make_monotone(ess->rho, last);
  double tau = -1 + ess->rho[last];
  for (size_t t = 0; t < last; t++) tau += 2 * ess->rho[t];
  /* Antithetic chains may beat independent draws, but not without bound. */
  tau = fmax(tau, 1 / log10((double)count));
  return isnan(ess->rho[1]) ? NAN : (double)count / tau;
}
