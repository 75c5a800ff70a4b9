/* Restarted GMRES without preconditioner: among Krylov methods the one with the fewest products,
 * and here a product costs more than everything else in a step. */
#include "base/krylov.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"

/* Eight numbers in a register (or in several, where registers are shorter). */
typedef double octet __attribute__((vector_size(64)));
enum { chunk = 8, group = 4 };

/* sum += x * y over one chunk. Vectors go by pointer: by value they would need an ABI of their own.
 */
IDM_INLINE void add_products(octet *sum, const octet *x, const double *y)
{
  octet numbers;
  memcpy(&numbers, y, sizeof numbers);
  *sum += *x * numbers;
}

IDM_INLINE double total_of(const octet *x)
{
  const octet s = *x;
  return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

/* out[g] = <x, y_g> for `count` (one or four) vectors y_g of length n, one after the other; x is
 * read once. */
IDM_INLINE void dots(size_t n, size_t count, const double *x, const double *y, double *out)
{
  octet a = {0}, b = {0}, c = {0}, d = {0};
  size_t i = 0;
  for (; i + chunk <= n; i += chunk) {
    octet at;
    memcpy(&at, x + i, sizeof at);
    add_products(&a, &at, y + i);
    if (count == 1) continue;
    add_products(&b, &at, y + n + i);
    add_products(&c, &at, y + 2 * n + i);
    add_products(&d, &at, y + 3 * n + i);
  }
  const octet *const sums[group] = {&a, &b, &c, &d};
  for (size_t g = 0; g < count; g++) {
    out[g] = total_of(sums[g]);
    for (size_t k = i; k < n; k++) out[g] += x[k] * y[g * n + k];
  }
}

/* Inner products of x with each of `count` vectors, in groups that fit the registers. */
IDM_INLINE void project(size_t n, int count, const double *x, const double *basis, double *out)
{
  int first = 0;
  for (; first + group <= count; first += group)
    dots(n, group, x, basis + (size_t)first * n, out + first);
  for (; first < count; first++) dots(n, 1, x, basis + (size_t)first * n, out + first);
}

IDM_INLINE double norm_of(size_t n, const double *x)
{
  double square;
  dots(n, 1, x, x, &square);
  return sqrt(square);
}

/* y += sum_g a_g x_g over `count` vectors. */
IDM_INLINE void add_group(size_t n, int count, const double *restrict a, const double *restrict x,
                          double *restrict y)
{
  for (size_t i = 0; i < n; i++) {
    double sum = y[i];
    for (int g = 0; g < count; g++) sum += a[g] * x[(size_t)g * n + i];
    y[i] = sum;
  }
}

IDM_INLINE void add_combination(size_t n, int count, const double *a, const double *basis,
                                double *y)
{
  int first = 0;
  for (; first + group <= count; first += group)
    add_group(n, group, a + first, basis + (size_t)first * n, y);
  for (; first < count; first++) add_group(n, 1, a + first, basis + (size_t)first * n, y);
}

IDM_INLINE void scale(size_t n, double a, const double *x, double *y)
{
  for (size_t i = 0; i < n; i++) y[i] = a * x[i];
}

/* The small least-squares problem, kept triangular by Givens rotations. */
typedef struct hessenberg {
  double r[IDM_GMRES_BASIS][IDM_GMRES_BASIS + 1]; /* column by column */
  double cosine[IDM_GMRES_BASIS];
  double sine[IDM_GMRES_BASIS];
  double g[IDM_GMRES_BASIS + 1]; /* rotated right side; |g[k]| is the residual after k columns */
} hessenberg;

IDM_INLINE void rotate_column(hessenberg *h, int k, double below)
{
  double *column = h->r[k];
  for (int i = 0; i < k; i++) {
    const double upper = column[i];
    column[i] = h->cosine[i] * upper + h->sine[i] * column[i + 1];
    column[i + 1] = -h->sine[i] * upper + h->cosine[i] * column[i + 1];
  }
  const double length = sqrt(column[k] * column[k] + below * below);
  h->cosine[k] = length > 0 ? column[k] / length : 1;
  h->sine[k] = length > 0 ? below / length : 0;
  column[k] = length;
  if (!(length > 0)) { /* the column is empty: it cannot lower the residual */
    h->g[k + 1] = h->g[k];
    h->g[k] = 0;
    return;
  }
  h->g[k + 1] = -h->sine[k] * h->g[k];
  h->g[k] = h->cosine[k] * h->g[k];
}

/* x += V y with R y = g. */
IDM_INLINE void add_solution(size_t n, const hessenberg *h, int columns, const double *basis,
                             double *x)
{
  double y[IDM_GMRES_BASIS];
  for (int i = columns; i-- > 0;) {
    double sum = h->g[i];
    for (int j = i + 1; j < columns; j++) sum -= h->r[j][i] * y[j];
    y[i] = h->r[i][i] != 0 ? sum / h->r[i][i] : 0;
  }
  add_combination(n, columns, y, basis, x);
}

/* One cycle from residual basis[0] (not normalised) of norm `norm`; returns products spent. */
IDM_KERNEL_RETURNS(static, int, cycle,
                   (size_t n, idm_apply apply, const void *context, double *basis, double norm,
                    double enough, int most, double *x, double *ret_residual),
                   (n, apply, context, basis, norm, enough, most, x, ret_residual))
{
  hessenberg h;
  h.g[0] = norm;
  scale(n, 1 / norm, basis, basis);
  int k = 0;
  while (k < most && fabs(h.g[k]) > enough) {
    double *next = basis + (size_t)(k + 1) * n;
    apply(context, basis + (size_t)k * n, next);
    /* Classical Gram-Schmidt: the products are independent of each other, and the few digits asked
     * of a cycle survive it. */
    project(n, k + 1, next, basis, h.r[k]);
    double minus[IDM_GMRES_BASIS + 1];
    for (int i = 0; i <= k; i++) minus[i] = -h.r[k][i];
    add_combination(n, k + 1, minus, basis, next);
    const double below = norm_of(n, next);
    rotate_column(&h, k, below);
    k++;
    if (!(below > 0)) break;
    scale(n, 1 / below, next, next);
  }
  add_solution(n, &h, k, basis, x);
  *ret_residual = fabs(h.g[k]);
  return k;
}

IDM_KERNEL_RETURNS(, double, idm_gmres,
                   (size_t n, idm_apply apply, const void *context, const double *b, double *x,
                    double tolerance, int basis, int products, double *work, long *opt_used),
                   (n, apply, context, b, x, tolerance, basis, products, work, opt_used))
{
  double *vectors = work;
  memset(x, 0, n * sizeof *x);
  const double norm = norm_of(n, b);
  if (!isfinite(norm)) return 1;
  if (!(norm > 0)) return 0;
  memcpy(vectors, b, n * sizeof *b);
  double residual = norm;
  int used = 0;
  while (used < products && residual > tolerance * norm) {
    const int left = products - used;
    double reached;
    const int spent = cycle(n, apply, context, vectors, residual, tolerance * norm,
                            left < basis ? left : basis, x, &reached);
    used += spent;
    if (!(reached < residual) || reached <= tolerance * norm || used >= products) {
      residual = reached;
      break;
    }
    /* The true residual starts the next cycle. */
    apply(context, x, vectors);
    used++;
    for (size_t i = 0; i < n; i++) vectors[i] = b[i] - vectors[i];
    residual = norm_of(n, vectors);
  }
  if (opt_used) *opt_used += used;
  return residual / norm;
}
