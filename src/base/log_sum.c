/* Sums of exponentials in logarithms: see the header.
 *
 * The soft extrema (soft.c, soft_block.c, soft_slope.c) do not call these functions: they are
 * accurate in every limit of a temperature, run on vectors of problems, and share their
 * exponentials with their gradients. */
#include "base/log_sum.h"

double idm_log_add_exp(double a, double b)
{
  if (a == b) return a + log(2); /* also for infinities, of which the difference is NaN */
  const double high = a > b ? a : b;
  const double low = a > b ? b : a;
  return high + log1p(exp(low - high));
}

void idm_log_sum_add(idm_log_sum *sum, double term)
{
  if (term > sum->largest) {
    sum->scale = sum->scale * exp(sum->largest - term) + 1;
    sum->largest = term;
  } else {
    /* Equal infinities have no difference. Of -inf the scale has no effect. */
    sum->scale += term == sum->largest ? 1 : exp(term - sum->largest);
  }
}

double idm_log_sum_value(idm_log_sum sum)
{
  return sum.largest + log(sum.scale);
}

double idm_log_sum_exp(const double *x, size_t count)
{
  idm_log_sum sum = idm_log_sum_empty;
  for (size_t i = 0; i < count; i++) idm_log_sum_add(&sum, x[i]);
  return idm_log_sum_value(sum);
}

static double largest_of(const double *x, size_t count)
{
  double largest = -INFINITY;
  for (size_t i = 0; i < count; i++) largest = fmax(largest, x[i]);
  return largest;
}

/* Two passes rather than idm_log_sum: one exponential per term. */
double idm_softmax(const double *x, size_t count, double *p)
{
  const double largest = largest_of(x, count);
  double scale = 0;
  if (count == 0) return -INFINITY;
  for (size_t i = 0; i < count; i++) scale += p[i] = x[i] == largest ? 1 : exp(x[i] - largest);
  const double sum = largest + log(scale);
  for (size_t i = 0; i < count; i++) p[i] = isfinite(sum) ? p[i] / scale : 0;
  return sum;
}

void idm_softmax_floor(double *x, size_t count, double floor)
{
  const double largest = largest_of(x, count);
  const double least = log(floor);
  for (size_t i = 0; i < count; i++) x[i] = fmax(x[i] - largest, least); /* NaN: least */
  idm_softmax(x, count, x);
}
