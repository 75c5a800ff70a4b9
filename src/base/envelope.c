/* Elimination within the envelope of a matrix (George and Liu 1981, chapter 4), row by row. */
#include "base/envelope.h"

#include <math.h>

static idm_edge find_edge(size_t n, const double *row, size_t diagonal)
{
  idm_edge edge = {0, n - 1};
  while (edge.first < diagonal && row[edge.first] == 0) edge.first++;
  while (edge.last > diagonal && row[edge.last] == 0) edge.last--;
  return edge;
}

bool idm_envelope_factor(size_t n, double *a, idm_edge *edge)
{
  for (size_t i = 0; i < n; i++) {
    double *row = a + i * n;
    edge[i] = find_edge(n, row, i);
    for (size_t k = edge[i].first; k < i; k++) {
      if (row[k] == 0) continue;
      const double *above = a + k * n;
      const double by = row[k] / above[k];
      const size_t last = edge[k].last;
      row[k] = by;
      for (size_t j = k + 1; j <= last; j++) row[j] -= by * above[j];
      if (last > edge[i].last) edge[i].last = last;
    }
    if (row[i] == 0 || !isfinite(row[i])) return false;
  }
  return true;
}

void idm_envelope_solve(size_t n, const double *a, const idm_edge *edge, double *x)
{
  for (size_t i = 0; i < n; i++) {
    double sum = x[i];
    for (size_t k = edge[i].first; k < i; k++) sum -= a[i * n + k] * x[k];
    x[i] = sum;
  }
  for (size_t i = n; i-- > 0;) {
    double sum = x[i];
    for (size_t j = i + 1; j <= edge[i].last; j++) sum -= a[i * n + j] * x[j];
    x[i] = sum / a[i * n + i];
  }
}

void idm_envelope_solve_transposed(size_t n, const double *a, const idm_edge *edge, double *x)
{
  for (size_t i = 0; i < n; i++) {
    x[i] /= a[i * n + i];
    for (size_t j = i + 1; j <= edge[i].last; j++) x[j] -= a[i * n + j] * x[i];
  }
  for (size_t i = n; i-- > 0;)
    for (size_t k = edge[i].first; k < i; k++) x[k] -= a[i * n + k] * x[i];
}
