/* Restarted GMRES without preconditioner: among Krylov methods the one with the fewest products,
 * and here a product costs more than everything else in a step. */
#include "base/krylov.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"

IDM_INLINE double dot(size_t n, const double *restrict x, const double *restrict y)
{
  double part[16] = {0};
  size_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (size_t j = 0; j < 16; j++) part[j] += x[i + j] * y[i + j];
  double sum = 0;
  for (; i < n; i++) sum += x[i] * y[i];
  for (size_t j = 0; j < 16; j++) sum += part[j];
  return sum;
}

IDM_INLINE void add_scaled(size_t n, double a, const double *restrict x, double *restrict y)
{
  for (size_t i = 0; i < n; i++) y[i] += a * x[i];
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

static void rotate_column(hessenberg *h, int k, double below)
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
  for (int j = 0; j < columns; j++) add_scaled(n, y[j], basis + (size_t)j * n, x);
}

/* One cycle from residual basis[0] (not normalised) of norm `norm`; returns products spent. */
IDM_CLONES
static int cycle(size_t n, idm_apply apply, const void *context, double *basis, double norm,
                 double enough, int most, double *x, double *ret_residual)
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
    for (int i = 0; i <= k; i++) h.r[k][i] = dot(n, next, basis + (size_t)i * n);
    for (int i = 0; i <= k; i++) add_scaled(n, -h.r[k][i], basis + (size_t)i * n, next);
    const double below = sqrt(dot(n, next, next));
    rotate_column(&h, k, below);
    k++;
    if (!(below > 0)) break;
    scale(n, 1 / below, next, next);
  }
  add_solution(n, &h, k, basis, x);
  *ret_residual = fabs(h.g[k]);
  return k;
}

IDM_CLONES
double idm_gmres(size_t n, idm_apply apply, const void *context, const double *b, double *x,
                 double tolerance, int basis, int products, double *work, long *opt_used)
{
  double *vectors = work;
  memset(x, 0, n * sizeof *x);
  const double norm = sqrt(dot(n, b, b));
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
    residual = sqrt(dot(n, vectors, vectors));
  }
  if (opt_used) *opt_used += used;
  return residual / norm;
}
