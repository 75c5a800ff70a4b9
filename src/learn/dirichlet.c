/* Mixtures of products of Dirichlet rows: see the header. */
#include "learn/dirichlet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/gamma.h"
#include "base/log_sum.h"
#include "base/memory.h"

void dirichlet_destroy(dirichlet *d)
{
  if (!d) return;
  free(d->added);
  free(d->shape);
  free(d->constant);
  free(d);
}

idm_status dirichlet_create(const structure *s, size_t numbers, size_t parts, size_t kernels,
                            dirichlet **ret_dirichlet, idm_error *opt_error)
{
  *ret_dirichlet = NULL;
  dirichlet *d = idm_new(1, sizeof *d);
  if (!d) return idm_fail_memory(opt_error);
  const size_t all = idm_times(parts, kernels);
  *d = (dirichlet){.structure = s, .numbers = numbers, .parts = parts, .kernels = kernels};
  d->added = idm_new(parts, sizeof *d->added);
  d->shape = idm_new(idm_times(all, numbers), sizeof *d->shape);
  d->constant = idm_new(all, sizeof *d->constant);
  if (!d->added || !d->shape || !d->constant) {
    dirichlet_destroy(d);
    return idm_fail_memory(opt_error);
  }
  *ret_dirichlet = d;
  return IDM_OK;
}

/* Shapes of a row, and the logarithm of its normaliser. Shapes of what is impossible are 0. */
static double add_row(const structure *s, const row *it, double prior, const double *counts,
                      double *shape)
{
  double sum = 0, constant = 0;
  for (size_t i = it->first; i < it->first + it->width; i++) {
    if (!s->possible[i]) continue;
    shape[i] = prior + counts[i];
    sum += shape[i];
    constant -= idm_log_gamma(shape[i]);
  }
  return sum > 0 ? constant + idm_log_gamma(sum) : 0;
}

void dirichlet_add(dirichlet *d, size_t part, double prior, const double *counts)
{
  const structure *s = d->structure;
  if (d->added[part] == d->kernels) return;
  const size_t at = part * d->kernels + d->added[part]++;
  for (size_t r = 0; r < s->rows; r++)
    if (structure_leads(s, r))
      d->constant[at] += add_row(s, &s->row[r], prior, counts, d->shape + at * d->numbers);
}

void dirichlet_draw(const dirichlet *d, idm_random *random, double *numbers, double *scratch)
{
  const double all = (double)(d->parts * d->kernels);
  const size_t at = (size_t)(all * idm_random_uniform(random));
  memcpy(scratch, d->shape + at * d->numbers, d->numbers * sizeof *scratch);
  structure_draw(d->structure, 0, scratch, random, numbers);
}

/* Logarithms of the numbers that are learnt, 0 in place of the others. */
static void take_logarithms(const structure *s, const double *numbers, size_t count,
                            double *logarithm)
{
  memset(logarithm, 0, count * sizeof *logarithm);
  for (size_t r = 0; r < s->rows; r++) {
    const row *it = &s->row[r];
    for (size_t i = it->first; structure_leads(s, r) && i < it->first + it->width; i++)
      if (s->possible[i]) logarithm[i] = log(numbers[i]);
  }
}

double dirichlet_log_density(const dirichlet *d, const double *numbers, double *scratch,
                             size_t *opt_part)
{
  idm_log_sum all = idm_log_sum_empty;
  double largest = -INFINITY;
  take_logarithms(d->structure, numbers, d->numbers, scratch);
  if (opt_part) *opt_part = 0;
  for (size_t part = 0; part < d->parts; part++) {
    idm_log_sum own = idm_log_sum_empty;
    for (size_t at = part * d->kernels; at < (part + 1) * d->kernels; at++) {
      const double *shape = d->shape + at * d->numbers;
      double height = d->constant[at];
      for (size_t i = 0; i < d->numbers; i++) height += (shape[i] - 1) * scratch[i];
      idm_log_sum_add(&own, height);
    }
    const double height = idm_log_sum_value(own);
    idm_log_sum_add(&all, height);
    if (opt_part && height > largest) *opt_part = part;
    largest = fmax(largest, height);
  }
  return idm_log_sum_value(all) - log((double)(d->parts * d->kernels));
}
