/* Ranks and counts: see the header. */
#include "infer/uniform.h"

#include <math.h>

#include "base/gamma.h"
#include "base/memory.h"

typedef struct ranked {
  double value;
  size_t chain;
} ranked;

static int by_value(const void *a, const void *b)
{
  const double x = ((const ranked *)a)->value, y = ((const ranked *)b)->value;
  return (x > y) - (x < y);
}

idm_status idm_rank_counts(const double *x, size_t chains, size_t draws, size_t bins, size_t *count,
                           idm_error *opt_error)
{
  ranked *order = idm_new(idm_times(chains, draws), sizeof *order);
  size_t n = 0;
  if (!order) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < chains * bins; i++) count[i] = 0;
  for (size_t i = 0; i < chains * draws; i++)
    if (!isnan(x[i])) order[n++] = (ranked){x[i], i / draws};
  qsort(order, n, sizeof *order, by_value);
  for (size_t first = 0, next; first < n; first = next) {
    for (next = first + 1; next < n && order[next].value == order[first].value; next++) {
    }
    /* Ranks from 0.5 to n - 0.5; of ties the mean. */
    const double rank = 0.5 * (double)(first + next);
    const size_t bin = (size_t)(rank / (double)n * (double)bins);
    for (size_t i = first; i < next; i++)
      count[order[i].chain * bins + (bin < bins ? bin : bins - 1)]++;
  }
  free(order);
  return IDM_OK;
}

static double probability(size_t n, double p, size_t k)
{
  if (p <= 0 || p >= 1) return k == (p <= 0 ? 0 : n);
  const double all = (double)n, here = (double)k;
  return exp(idm_log_gamma(all + 1) - idm_log_gamma(here + 1) - idm_log_gamma(all - here + 1) +
             here * log(p) + (all - here) * log1p(-p));
}

void idm_binomial_interval(size_t n, double p, double share, size_t *ret_low, size_t *ret_high)
{
  const double tail = (1 - share) / 2;
  double below = 0, above = 0;
  size_t low = 0, high = n;
  while (low < n && below + probability(n, p, low) <= tail) below += probability(n, p, low++);
  while (high > 0 && above + probability(n, p, high) <= tail) above += probability(n, p, high--);
  *ret_low = low;
  *ret_high = high;
}
