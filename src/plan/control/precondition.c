/* Preconditioner of Newton's linear solves: the dense inverse of the derivative at a stored
 * solution.
 *
 * A plan that starts from a nearby solution has a similar derivative. With that inverse as a right
 * preconditioner, GMRES takes a few products instead of about twenty. */
#include "plan/control/control.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

/* Maximum points; beyond, a product with the dense inverse costs more than the products it saves.
 */
enum { max_points = 640 };

/* Replaces a[n][n] by its inverse, by Gauss-Jordan elimination. The rows of I - gamma P are
 * diagonally dominant, so that pivoting is not needed. */
IDM_KERNEL(static, invert, (size_t n, double *restrict a), (n, a))
{
  for (size_t k = 0; k < n; k++) {
    double *restrict pivot = a + k * n;
    const double scale = 1 / pivot[k];
    pivot[k] = 1;
    for (size_t j = 0; j < n; j++) pivot[j] *= scale;
    for (size_t i = 0; i < n; i++) {
      if (i == k) continue;
      double *restrict row = a + i * n;
      const double factor = row[k];
      row[k] = 0;
      for (size_t j = 0; j < n; j++) row[j] -= factor * pivot[j];
    }
  }
}

/* Allocates the inverse of one more slot. */
static idm_status grow(control *c, idm_error *opt_error)
{
  const size_t one = idm_times(c->padded, c->padded);
  double *all = idm_new(idm_times(c->inverses + 1, one), sizeof *all);
  if (!all) return idm_fail_memory(opt_error);
  if (c->inverses) memcpy(all, c->inverse, c->inverses * one * sizeof *all);
  free(c->inverse);
  c->preconditioner = NULL;
  c->inverse = all;
  c->inverses++;
  return IDM_OK;
}

idm_status idm_control_precondition(control *c, size_t slot, idm_error *opt_error)
{
  const size_t n = c->padded;
  const bool is_too_large = c->lattice->points > max_points || c->variants > 1;
  if (is_too_large || !(c->numbers.discount < 1) || slot > c->inverses) return IDM_OK;
  const idm_status status = slot == c->inverses ? grow(c, opt_error) : IDM_OK;
  if (status != IDM_OK) return status;
  double *inverse = c->inverse + slot * n * n, *unit_vector = c->vector;
  idm_control_fold(c);
  memset(unit_vector, 0, n * sizeof *unit_vector);
  /* Columns of the derivative are stored as rows: the result is the inverse of the transpose, which
   * the products below read. */
  for (size_t j = 0; j < n; j++) {
    unit_vector[j] = 1;
    idm_control_derivative(c, unit_vector, inverse + j * n);
    unit_vector[j] = 0;
  }
  invert(n, inverse);
  return IDM_OK;
}

void idm_control_choose_preconditioner(control *c, const idm_solver *solver)
{
  size_t best = 0;
  c->preconditioner = NULL;
  if (!solver->precondition || solver->slots <= 0) return;
  for (size_t k = 1; k < (size_t)solver->slots && k < c->inverses; k++)
    if (fabs(solver->weights[k]) > fabs(solver->weights[best])) best = k;
  if (best < c->inverses) c->preconditioner = c->inverse + best * c->padded * c->padded;
}

IDM_KERNEL(, idm_control_apply_inverse, (const control *c, const double *x, double *restrict y),
           (c, x, y))
{
  const size_t n = c->padded;
  memset(y, 0, n * sizeof *y);
  for (size_t j = 0; j + 4 <= n; j += 4) { /* n is a multiple of 4, because slices are whole */
    const double *restrict row = c->preconditioner + j * n;
    const double a = x[j], b = x[j + 1], d = x[j + 2], e = x[j + 3];
    for (size_t i = 0; i < n; i++)
      y[i] += a * row[i] + b * row[n + i] + d * row[2 * n + i] + e * row[3 * n + i];
  }
}

void idm_control_preconditioned(const void *context, const double *x, double *y)
{
  const control *c = context;
  double *preconditioned = c->vector + (CONTROL_VECTORS - 1) * c->padded;
  idm_control_apply_inverse(c, x, preconditioned);
  idm_control_derivative(c, preconditioned, y);
}

IDM_KERNEL(, idm_control_apply_transposed, (const control *c, const double *x, double *restrict y),
           (c, x, y))
{
  enum { sums = 8 };
  const size_t n = c->padded;
  for (size_t j = 0; j < n; j++) {
    const double *restrict row = c->preconditioner + j * n;
    double sum[sums] = {0};
    for (size_t i = 0; i + sums <= n; i += sums)
      for (size_t k = 0; k < sums; k++) sum[k] += row[i + k] * x[i + k];
    y[j] = ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
  }
}

void idm_control_transposed_preconditioned(const void *context, const double *x, double *y)
{
  const control *c = context;
  double *preconditioned = c->vector + (CONTROL_VECTORS - 1) * c->padded;
  idm_control_apply_transposed(c, x, preconditioned);
  idm_control_transposed(c, preconditioned, y);
}
