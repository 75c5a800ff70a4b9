/* Least squares by a complete orthogonal decomposition (Golub and Van Loan, section 5.5). */
#include "base/least.h"

#include <math.h>

#include "base/memory.h"

/* Reflect column `column` of a from row `from` on into its first entry, and the columns after it
 * and b along with it. */
static void reflect(size_t rows, size_t columns, double *a, double *b, size_t from)
{
  double norm = 0;
  for (size_t i = from; i < rows; i++) norm = hypot(norm, a[i * columns + from]);
  if (norm == 0) return;
  const double alpha = a[from * columns + from] > 0 ? -norm : norm;
  const double head = a[from * columns + from] - alpha;
  /* v = (head, rest), 2 / |v|^2 = -1 / (alpha head). */
  const double scale = -1 / (alpha * head);
  for (size_t j = from + 1; j <= columns; j++) {
    double *column = j < columns ? a + j : b;
    const size_t stride = j < columns ? columns : 1;
    double dot = head * column[from * stride];
    for (size_t i = from + 1; i < rows; i++) dot += a[i * columns + from] * column[i * stride];
    dot *= scale;
    column[from * stride] -= dot * head;
    for (size_t i = from + 1; i < rows; i++) column[i * stride] -= dot * a[i * columns + from];
  }
  a[from * columns + from] = alpha;
  for (size_t i = from + 1; i < rows; i++) a[i * columns + from] = 0;
}

static double column_norm(size_t rows, size_t columns, const double *a, size_t from, size_t column)
{
  double norm = 0;
  for (size_t i = from; i < rows; i++) norm = hypot(norm, a[i * columns + column]);
  return norm;
}

/* R of a, columns exchanged by place[columns]; returns the rank. */
static size_t triangulate(size_t rows, size_t columns, double *a, double *b, double tolerance,
                          size_t *place)
{
  double largest = 0;
  size_t rank = 0;
  for (size_t j = 0; j < columns; j++) place[j] = j;
  for (; rank < rows && rank < columns; rank++) {
    size_t best = rank;
    double norm = -1;
    for (size_t j = rank; j < columns; j++) {
      const double of = column_norm(rows, columns, a, rank, j);
      if (of > norm) {
        norm = of;
        best = j;
      }
    }
    largest = fmax(largest, norm);
    if (!(norm > tolerance * largest)) break;
    for (size_t i = 0; i < rows && best != rank; i++) {
      const double kept = a[i * columns + best];
      a[i * columns + best] = a[i * columns + rank];
      a[i * columns + rank] = kept;
    }
    const size_t kept = place[best];
    place[best] = place[rank];
    place[rank] = kept;
    reflect(rows, columns, a, b, rank);
  }
  return rank;
}

/* Least norm y with r y = c for r[rank][columns] of full rank: y = r' (r r')^-1 c by the triangle
 * of r'. `across`[columns][rank] is scratch. */
static void least_norm(size_t rank, size_t columns, const double *r, const double *c,
                       double *across, double *work, double *y)
{
  /* r' = Q T: then T' (Q' y) = c, and y = Q (Q' y). */
  for (size_t i = 0; i < rank; i++)
    for (size_t j = 0; j < columns; j++) across[j * rank + i] = r[i * columns + j];
  /* Gram-Schmidt, twice, which is as good as reflections here and keeps Q. */
  double *t = work; /* [rank][rank] upper triangle */
  for (size_t k = 0; k < rank; k++) {
    for (size_t i = 0; i <= k; i++) t[i * rank + k] = 0;
    for (int pass = 0; pass < 2; pass++)
      for (size_t i = 0; i < k; i++) {
        double dot = 0;
        for (size_t j = 0; j < columns; j++) dot += across[j * rank + i] * across[j * rank + k];
        t[i * rank + k] += dot;
        for (size_t j = 0; j < columns; j++) across[j * rank + k] -= dot * across[j * rank + i];
      }
    double norm = 0;
    for (size_t j = 0; j < columns; j++) norm = hypot(norm, across[j * rank + k]);
    t[k * rank + k] = norm;
    for (size_t j = 0; j < columns; j++) across[j * rank + k] /= norm;
  }
  double *w = work + rank * rank;
  for (size_t i = 0; i < rank; i++) {
    w[i] = c[i];
    for (size_t k = 0; k < i; k++) w[i] -= t[k * rank + i] * w[k];
    w[i] /= t[i * rank + i];
  }
  for (size_t j = 0; j < columns; j++) {
    y[j] = 0;
    for (size_t i = 0; i < rank; i++) y[j] += across[j * rank + i] * w[i];
  }
}

bool idm_least_squares(size_t rows, size_t columns, double *a, double *b, double tolerance,
                       double *x, size_t *ret_rank)
{
  size_t *place = idm_new(columns, sizeof *place);
  double *row = idm_new(2 * columns, sizeof *row);
  *ret_rank = 0;
  if (!place || !row) {
    free(place);
    free(row);
    return false;
  }
  const size_t rank = triangulate(rows, columns, a, b, tolerance, place);
  double *across = idm_new(idm_times(rank, columns), sizeof *across);
  double *work = idm_new(idm_times(rank, rank + 1), sizeof *work);
  const bool done = across && work;
  if (done) {
    double *y = row + columns;
    least_norm(rank, columns, a, b, across, work, y);
    for (size_t j = 0; j < columns; j++) x[place[j]] = y[j];
    for (size_t i = 0; i < rank; i++) {
      for (size_t j = 0; j < columns; j++) row[place[j]] = a[i * columns + j];
      memcpy(a + i * columns, row, columns * sizeof *row);
    }
    *ret_rank = rank;
  }
  free(across);
  free(work);
  free(place);
  free(row);
  return done;
}
