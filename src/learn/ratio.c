/* Learnt rows as unconstrained numbers: see the header. */
#include "learn/ratio.h"

#include <math.h>

/* The last possible entry of a row. */
static size_t reference_of(const structure *s, size_t r)
{
  size_t last = s->row[r].first + s->row[r].width;
  while (!s->possible[--last]) {
  }
  return last;
}

size_t ratio_count_row(const structure *s, size_t r)
{
  const size_t reference = reference_of(s, r);
  size_t count = 0;
  for (size_t i = s->row[r].first; i < reference; i++) count += s->possible[i];
  return count;
}

size_t ratio_count(const structure *s)
{
  size_t count = 0;
  for (size_t r = 0; r < s->rows; r++)
    if (structure_is_open(s, r)) count += ratio_count_row(s, r);
  return count;
}

void ratio_get(const structure *s, const double *numbers, double *y)
{
  for (size_t r = 0; r < s->rows; r++) {
    if (!structure_is_open(s, r)) continue;
    const size_t reference = reference_of(s, r);
    for (size_t i = s->row[r].first; i < reference; i++)
      if (s->possible[i]) *y++ = log(numbers[i]) - log(numbers[reference]);
  }
}

/* One row from its ratios, scaled by the largest; returns those of the next. */
static const double *set_row(const structure *s, size_t r, const double *y, double *numbers)
{
  const size_t first = s->row[r].first, reference = reference_of(s, r);
  double largest = 0, sum = 0;
  for (size_t i = first, k = 0; i < reference; i++)
    if (s->possible[i]) largest = fmax(largest, y[k++]);
  for (size_t i = first; i <= reference; i++) {
    numbers[i] = !s->possible[i] ? 0 : exp((i < reference ? *y++ : 0) - largest);
    sum += numbers[i];
  }
  for (size_t i = first; i <= reference; i++) numbers[i] /= sum;
  return y;
}

void ratio_set(const structure *s, const double *y, double *numbers)
{
  for (size_t r = 0; r < s->rows; r++)
    if (structure_is_open(s, r)) y = set_row(s, r, y, numbers);
  structure_spread(s, numbers);
}

double ratio_log_prior(const structure *s, double prior, const double *numbers)
{
  /* The Jacobian of a row is the product of its entries: one more in every exponent. */
  return structure_penalty(s, prior + 1, numbers);
}

void ratio_gradient(const structure *s, double prior, double *counts, const double *numbers,
                    double *gradient)
{
  structure_gather(s, counts);
  for (size_t r = 0; r < s->rows; r++) {
    if (!structure_is_open(s, r)) continue;
    const size_t first = s->row[r].first, reference = reference_of(s, r);
    double all = 0;
    for (size_t i = first; i <= reference; i++) all += s->possible[i] ? counts[i] + prior : 0;
    for (size_t i = first; i < reference; i++)
      if (s->possible[i]) *gradient++ = counts[i] + prior - numbers[i] * all;
  }
}
