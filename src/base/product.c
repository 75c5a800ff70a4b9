/* Dense products: see the header. */
#include "base/product.h"

#include <string.h>

#include "base/vector.h"

/* Numbers of a register, so that a tile stays in registers: longer vectors would be kept in memory.
 */
#if defined(__x86_64__)
enum { lanes = 4 };
#else
enum { lanes = 2 };
#endif
typedef double vector __attribute__((vector_size(lanes * sizeof(double))));
enum { tall = 4, wide = 8, across = wide / lanes };

/* Loops over a tile are unrolled, so that its sums have registers of their own. */
#define UNROLL _Pragma("GCC unroll 4")

/* `rows` (four, or one) rows by eight columns of c; rows of b are `stride` apart. */
IDM_INLINE void multiply_tile(size_t rows, size_t k, const double *a, size_t row, size_t column,
                              const double *b, size_t stride, size_t m, double *c)
{
  vector sum[tall][across];
  UNROLL
  for (size_t r = 0; r < rows; r++) {
    UNROLL
    for (size_t v = 0; v < across; v++) memcpy(&sum[r][v], c + r * m + v * lanes, sizeof(vector));
  }
  for (size_t p = 0; p < k; p++) {
    UNROLL
    for (size_t v = 0; v < across; v++) {
      vector numbers;
      memcpy(&numbers, b + p * stride + v * lanes, sizeof numbers);
      UNROLL
      for (size_t r = 0; r < rows; r++) sum[r][v] += a[r * row + p * column] * numbers;
    }
  }
  UNROLL
  for (size_t r = 0; r < rows; r++) {
    UNROLL
    for (size_t v = 0; v < across; v++) memcpy(c + r * m + v * lanes, &sum[r][v], sizeof(vector));
  }
}

/* Eight columns of c, with eight of b that stand `stride` apart. */
IDM_INLINE void multiply_columns(size_t n, size_t k, const double *a, size_t row, size_t column,
                                 const double *b, size_t stride, size_t m, double *c)
{
  size_t i = 0;
  for (; i + tall <= n; i += tall)
    multiply_tile(tall, k, a + i * row, row, column, b, stride, m, c + i * m);
  for (; i < n; i++) multiply_tile(1, k, a + i * row, row, column, b, stride, m, c + i * m);
}

/* Columns that are left over. */
static void multiply_rest(size_t n, size_t first, size_t m, size_t k, const double *a, size_t row,
                          size_t column, const double *b, double *c)
{
  for (size_t j = first; j < m; j++)
    for (size_t i = 0; i < n; i++) {
      double sum = 0;
      for (size_t p = 0; p < k; p++) sum += a[i * row + p * column] * b[p * m + j];
      c[i * m + j] += sum;
    }
}

IDM_KERNEL(, idm_product,
           (size_t n, size_t m, size_t k, const double *a, size_t row, size_t column,
            const double *b, double *c),
           (n, m, k, a, row, column, b, c))
{
  enum { deep = 256, many = 8 };
  double panel[deep * wide];
  size_t j = 0;
  for (; j + wide <= m; j += wide) {
    if (n < many) {
      multiply_columns(n, k, a, row, column, b + j, m, m, c + j);
      continue;
    }
    /* Columns are put side by side once, for all rows: in b they are far apart. */
    for (size_t first = 0; first < k; first += deep) {
      const size_t depth = k - first < deep ? k - first : deep;
      for (size_t p = 0; p < depth; p++)
        memcpy(panel + p * wide, b + (first + p) * m + j, wide * sizeof *panel);
      multiply_columns(n, depth, a + first * column, row, column, panel, wide, m, c + j);
    }
  }
  multiply_rest(n, j, m, k, a, row, column, b, c);
}

void idm_transpose(size_t n, size_t m, const double *from, double *to)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++) to[j * n + i] = from[i * m + j];
}
