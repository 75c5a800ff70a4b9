/* Gauss-Jordan elimination, and the null space that can be read off it. */
#include "base/null_space.h"

#include <math.h>
#include <string.h>

static size_t largest(size_t rows, size_t columns, const double *a, size_t first, size_t column)
{
  size_t best = first;
  for (size_t i = first; i < rows; i++)
    if (fabs(a[i * columns + column]) > fabs(a[best * columns + column])) best = i;
  return best;
}

static void exchange(size_t columns, double *a, double *b)
{
  for (size_t j = 0; j < columns && a != b; j++) {
    const double kept = a[j];
    a[j] = b[j];
    b[j] = kept;
  }
}

/* Make the pivot 1 and the rest of its column 0. */
static void clear_column(size_t rows, size_t columns, double *a, size_t row, size_t column)
{
  double *pivot = a + row * columns;
  const double scale = 1 / pivot[column];
  for (size_t j = 0; j < columns; j++) pivot[j] *= scale;
  pivot[column] = 1;
  for (size_t i = 0; i < rows; i++) {
    const double factor = a[i * columns + column];
    if (i == row || factor == 0) continue;
    for (size_t j = 0; j < columns; j++) a[i * columns + j] -= factor * pivot[j];
    a[i * columns + column] = 0;
  }
}

size_t idm_row_reduce(size_t rows, size_t columns, double *a, double tolerance, size_t *pivot)
{
  double size = 0;
  size_t rank = 0;
  for (size_t i = 0; i < rows * columns; i++) size = fmax(size, fabs(a[i]));
  for (size_t j = 0; j < columns && rank < rows; j++) {
    const size_t best = largest(rows, columns, a, rank, j);
    if (!(fabs(a[best * columns + j]) > tolerance * size)) {
      for (size_t i = rank; i < rows; i++) a[i * columns + j] = 0;
      continue;
    }
    exchange(columns, a + rank * columns, a + best * columns);
    clear_column(rows, columns, a, rank, j);
    pivot[rank++] = j;
  }
  return rank;
}

void idm_null_space(size_t columns, const double *a, size_t rank, const size_t *pivot,
                    double *basis)
{
  size_t next = 0; /* pivot */
  size_t vector = 0;
  memset(basis, 0, (columns - rank) * columns * sizeof *basis);
  for (size_t j = 0; j < columns; j++) {
    if (next < rank && pivot[next] == j) {
      next++;
      continue;
    }
    double *x = basis + vector++ * columns;
    x[j] = 1;
    for (size_t i = 0; i < rank; i++) x[pivot[i]] = -a[i * columns + j];
  }
}
