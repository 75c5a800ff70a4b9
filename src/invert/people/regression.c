/* Least squares of people's effects on the regressors of a design: see the header. */
#include "invert/people/regression.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Abramowitz and Stegun (1964), 26.7.3 and 26.7.4: a sum of as many terms as half the degrees. */
double idm_student_tails(double t, size_t degrees)
{
  const double angle = atan(fabs(t) / sqrt((double)degrees));
  const double cosine = cos(angle), square = cosine * cosine;
  const bool odd = degrees % 2;
  double term = odd ? cosine : 1, sum = degrees > 1 ? term : 0;
  for (size_t k = odd ? 3 : 2; k + 1 < degrees; k += 2) {
    term *= square * (double)(k - 1) / (double)k;
    sum += term;
  }
  const double inside = sin(angle) * sum;
  return fmax(0, 1 - (odd ? (angle + inside) * 2 / acos(-1) : inside));
}

/* Subtract the projection of x[people] onto the basis; returns the sum of squares of the rest. */
static double project_out(const regression *r, double *x)
{
  double squares = 0;
  for (size_t k = 0; k < r->rank; k++) {
    const double *b = r->basis + k * r->people;
    double along = 0;
    for (size_t i = 0; i < r->people; i++) along += b[i] * x[i];
    for (size_t i = 0; i < r->people; i++) x[i] -= along * b[i];
  }
  for (size_t i = 0; i < r->people; i++) squares += x[i] * x[i];
  return squares;
}

idm_status idm_regression_open(regression *r, const idm_design *d, size_t effect,
                               idm_error *opt_error)
{
  static const double least = 1e-10; /* share of a regressor's squares that is its own */
  const size_t m = d->coefficients[effect];
  *r = (regression){.people = d->people};
  r->basis = idm_new(idm_times(m, d->people), sizeof *r->basis);
  if (!r->basis) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < m; k++) {
    double *b = r->basis + r->rank * d->people;
    double before = 0;
    for (size_t i = 0; i < d->people; i++) {
      b[i] = d->regressor[effect][i * m + k];
      before += b[i] * b[i];
    }
    project_out(r, b);
    /* Twice, since rounding leaves the first rest not quite orthogonal. */
    const double left = project_out(r, b);
    if (!(left > least * before)) continue;
    for (size_t i = 0; i < d->people; i++) b[i] /= sqrt(left);
    r->rank++;
  }
  return IDM_OK;
}

void idm_regression_close(regression *r)
{
  free(r->basis);
  *r = (regression){0};
}

double idm_regression_residuals(const regression *r, const double *x, size_t stride,
                                double *residual)
{
  for (size_t i = 0; i < r->people; i++) residual[i] = x[i * stride];
  return project_out(r, residual);
}

double idm_regression_leverage(const regression *r, size_t person)
{
  double sum = 0;
  for (size_t k = 0; k < r->rank; k++)
    sum += r->basis[k * r->people + person] * r->basis[k * r->people + person];
  return sum;
}
