/* Cholesky and Jacobi for small matrices: a LAPACK would be a dependency for a few hundred lines'
 * worth of arithmetic that never shows in a profile. */
#include "base/dense.h"

#include <float.h>
#include <math.h>

/* --- Cholesky ------------------------------------------------------------------------------- */

bool idm_cholesky(size_t n, double *a)
{
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
      if (i == j && !(sum > 0 && isfinite(sum))) return false;
      a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
    }
    for (size_t j = i + 1; j < n; j++) a[i * n + j] = 0;
  }
  return true;
}

void idm_lower_solve(size_t n, const double *l, double *x)
{
  for (size_t i = 0; i < n; i++) {
    double sum = x[i];
    for (size_t j = 0; j < i; j++) sum -= l[i * n + j] * x[j];
    x[i] = sum / l[i * n + i];
  }
}

void idm_lower_solve_transposed(size_t n, const double *l, double *x)
{
  for (size_t i = n; i-- > 0;) {
    x[i] /= l[i * n + i];
    for (size_t j = 0; j < i; j++) x[j] -= l[i * n + j] * x[i];
  }
}

void idm_lower_multiply(size_t n, const double *l, double *x)
{
  /* From the last row up: each needs only numbers not yet replaced. */
  for (size_t i = n; i-- > 0;) {
    double sum = 0;
    for (size_t j = 0; j <= i; j++) sum += l[i * n + j] * x[j];
    x[i] = sum;
  }
}

void idm_cholesky_inverse(size_t n, const double *l, double *inverse)
{
  for (size_t i = 0; i < n; i++) {
    double *row = inverse + i * n;
    for (size_t j = 0; j < n; j++) row[j] = i == j;
    idm_lower_solve(n, l, row);
    idm_lower_solve_transposed(n, l, row);
  }
  /* Rounding must not make it asymmetric. */
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      inverse[i * n + j] = inverse[j * n + i] = 0.5 * (inverse[i * n + j] + inverse[j * n + i]);
}

/* --- eigenvectors --------------------------------------------------------------------------- */

/* A rotation, applied as x' = x - s (y + tau x), y' = y + s (x - tau y) with tau = tan(angle / 2):
 * accurate for small angles (Rutishauser 1966). */
typedef struct rotation {
  double sine;
  double tau;
} rotation;

static void rotate(rotation r, double *x, double *y)
{
  const double u = *x, v = *y;
  *x = u - r.sine * (v + r.tau * u);
  *y = v + r.sine * (u - r.tau * v);
}

/* Make a[p][q] zero by the smaller of the two angles that do. */
static void annihilate(size_t n, double *a, size_t p, size_t q, double *vectors)
{
  const double at = a[p * n + q];
  const double theta = 0.5 * (a[q * n + q] - a[p * n + p]) / at;
  const double tangent = copysign(1 / (fabs(theta) + hypot(1, theta)), theta);
  const double cosine = 1 / sqrt(1 + tangent * tangent);
  const rotation r = {tangent * cosine, tangent * cosine / (1 + cosine)};
  a[p * n + p] -= tangent * at;
  a[q * n + q] += tangent * at;
  a[p * n + q] = a[q * n + p] = 0;
  for (size_t k = 0; k < n; k++) {
    rotate(r, &vectors[p * n + k], &vectors[q * n + k]);
    if (k == p || k == q) continue;
    rotate(r, &a[k * n + p], &a[k * n + q]);
    a[p * n + k] = a[k * n + p];
    a[q * n + k] = a[k * n + q];
  }
}

/* One sweep over all pairs; false once none is worth a rotation. Relative to the diagonal, so that
 * small eigenvalues of a definite matrix are accurate as well (Demmel and Veselic 1992). */
static bool sweep(size_t n, double *a, double negligible, double *vectors)
{
  bool rotated = false;
  for (size_t p = 0; p < n; p++) {
    for (size_t q = p + 1; q < n; q++) {
      const double at = fabs(a[p * n + q]);
      const double scale = sqrt(fabs(a[p * n + p])) * sqrt(fabs(a[q * n + q]));
      if (!(at > negligible && at > 0.5 * DBL_EPSILON * scale)) continue;
      annihilate(n, a, p, q, vectors);
      rotated = true;
    }
  }
  return rotated;
}

static void swap_numbers(size_t n, double *x, double *y)
{
  for (size_t k = 0; k < n; k++) {
    const double kept = x[k];
    x[k] = y[k];
    y[k] = kept;
  }
}

static void sort_ascending(size_t n, double *values, double *vectors)
{
  for (size_t i = 0; i < n; i++) {
    size_t least = i;
    for (size_t j = i + 1; j < n; j++)
      if (values[j] < values[least]) least = j;
    if (least == i) continue;
    swap_numbers(1, values + i, values + least);
    swap_numbers(n, vectors + i * n, vectors + least * n);
  }
}

void idm_symmetric_eigen(size_t n, double *a, double *values, double *vectors)
{
  enum { most_sweeps = 60 }; /* some ten suffice; only infinities need a bound */
  double squares = 0;
  for (size_t i = 0; i < n * n; i++) {
    vectors[i] = i % (n + 1) == 0;
    squares += a[i] * a[i];
  }
  const double negligible = DBL_EPSILON * DBL_EPSILON * sqrt(squares);
  for (int i = 0; i < most_sweeps && sweep(n, a, negligible, vectors);) i++;
  for (size_t i = 0; i < n; i++) values[i] = a[i * n + i];
  sort_ascending(n, values, vectors);
}
