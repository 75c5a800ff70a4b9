/* Linear algebra: Cholesky and Jacobi for small dense matrices, LU within an envelope, restarted
 * GMRES, least squares, null spaces and tiled products.
 *
 * Contents: dense · envelope · krylov · least · null space · product */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/vector.h"

/* === dense ================================================================================== */

/* Cholesky and Jacobi for small matrices. LAPACK would be a dependency for a few hundred lines of
 * code that take no measurable share of the run time. */

/* --- Cholesky ------------------------------------------------------------------------------- */

bool idm_cholesky(size_t n, double *a)
{
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
      if (i == j && !(sum > 0 && isfinite(sum))) return false;
      a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
    }
    for (size_t j = i + 1; j < n; j++) a[i * n + j] = 0;
  }
  return true;
}

void idm_lower_solve(size_t n, const double *l, double *x)
{
  for (size_t i = 0; i < n; i++) {
    double sum = x[i];
    for (size_t j = 0; j < i; j++) sum -= l[i * n + j] * x[j];
    x[i] = sum / l[i * n + i];
  }
}

void idm_lower_solve_transposed(size_t n, const double *l, double *x)
{
  for (size_t i = n; i-- > 0;) {
    x[i] /= l[i * n + i];
    for (size_t j = 0; j < i; j++) x[j] -= l[i * n + j] * x[i];
  }
}

void idm_lower_multiply(size_t n, const double *l, double *x)
{
  /* Rows in descending order: each row needs only entries that are not yet overwritten. */
  for (size_t i = n; i-- > 0;) {
    double sum = 0;
    for (size_t j = 0; j <= i; j++) sum += l[i * n + j] * x[j];
    x[i] = sum;
  }
}

void idm_cholesky_inverse(size_t n, const double *l, double *inverse)
{
  for (size_t i = 0; i < n; i++) {
    double *row = inverse + i * n;
    for (size_t j = 0; j < n; j++) row[j] = i == j;
    idm_lower_solve(n, l, row);
    idm_lower_solve_transposed(n, l, row);
  }
  /* Restore the symmetry that rounding removes. */
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      inverse[i * n + j] = inverse[j * n + i] = 0.5 * (inverse[i * n + j] + inverse[j * n + i]);
}

/* --- eigenvectors --------------------------------------------------------------------------- */

/* A rotation, applied as x' = x - s (y + tau x), y' = y + s (x - tau y) with tau = tan(angle / 2):
 * accurate for small angles (Rutishauser 1966). */
typedef struct rotation {
  double sine;
  double tau;
} rotation;

static void rotate(rotation r, double *x, double *y)
{
  const double u = *x, v = *y;
  *x = u - r.sine * (v + r.tau * u);
  *y = v + r.sine * (u - r.tau * v);
}

/* Set a[p][q] to zero by the smaller of the two rotation angles that do so; apply the rotation to
 * `vectors`. */
static void annihilate(size_t n, double *a, size_t p, size_t q, double *vectors)
{
  const double entry = a[p * n + q];
  const double theta = 0.5 * (a[q * n + q] - a[p * n + p]) / entry;
  const double tangent = copysign(1 / (fabs(theta) + hypot(1, theta)), theta);
  const double cosine = 1 / sqrt(1 + tangent * tangent);
  const rotation r = {tangent * cosine, tangent * cosine / (1 + cosine)};
  a[p * n + p] -= tangent * entry;
  a[q * n + q] += tangent * entry;
  a[p * n + q] = a[q * n + p] = 0;
  for (size_t k = 0; k < n; k++) {
    rotate(r, &vectors[p * n + k], &vectors[q * n + k]);
    if (k == p || k == q) continue;
    rotate(r, &a[k * n + p], &a[k * n + q]);
    a[p * n + k] = a[k * n + p];
    a[q * n + k] = a[k * n + q];
  }
}

/* One sweep over all pairs. Returns false where no entry exceeds its bound, so that no rotation was
 * applied. The bound is relative to the diagonal, so that small eigenvalues of a definite matrix
 * are accurate as well (Demmel and Veselic 1992). */
static bool sweep(size_t n, double *a, double negligible, double *vectors)
{
  bool rotated = false;
  for (size_t p = 0; p < n; p++) {
    for (size_t q = p + 1; q < n; q++) {
      const double entry = fabs(a[p * n + q]);
      const double scale = sqrt(fabs(a[p * n + p])) * sqrt(fabs(a[q * n + q]));
      if (!(entry > negligible && entry > 0.5 * DBL_EPSILON * scale)) continue;
      annihilate(n, a, p, q, vectors);
      rotated = true;
    }
  }
  return rotated;
}

static void swap_numbers(size_t n, double *x, double *y)
{
  for (size_t k = 0; k < n; k++) {
    const double swapped = x[k];
    x[k] = y[k];
    y[k] = swapped;
  }
}

static void sort_ascending(size_t n, double *values, double *vectors)
{
  for (size_t i = 0; i < n; i++) {
    size_t smallest = i;
    for (size_t j = i + 1; j < n; j++)
      if (values[j] < values[smallest]) smallest = j;
    if (smallest == i) continue;
    swap_numbers(1, values + i, values + smallest);
    swap_numbers(n, vectors + i * n, vectors + smallest * n);
  }
}

void idm_symmetric_eigen(size_t n, double *a, double *values, double *vectors)
{
  enum { max_sweeps = 60 }; /* about ten suffice; the bound serves infinite entries */
  double squares = 0;
  for (size_t i = 0; i < n * n; i++) {
    vectors[i] = i % (n + 1) == 0;
    squares += a[i] * a[i];
  }
  const double negligible = DBL_EPSILON * DBL_EPSILON * sqrt(squares);
  for (int i = 0; i < max_sweeps && sweep(n, a, negligible, vectors);) i++;
  for (size_t i = 0; i < n; i++) values[i] = a[i * n + i];
  sort_ascending(n, values, vectors);
}

/* === envelope =============================================================================== */

/* LU within the envelope of a matrix (George and Liu 1981, chapter 4), row by row. */

static idm_row_extent find_extent(size_t n, const double *row, size_t diagonal)
{
  idm_row_extent extent = {0, n - 1};
  while (extent.first < diagonal && row[extent.first] == 0) extent.first++;
  while (extent.last > diagonal && row[extent.last] == 0) extent.last--;
  return extent;
}

bool idm_envelope_factor(size_t n, double *a, idm_row_extent *extent)
{
  for (size_t i = 0; i < n; i++) {
    double *row = a + i * n;
    extent[i] = find_extent(n, row, i);
    for (size_t k = extent[i].first; k < i; k++) {
      if (row[k] == 0) continue;
      const double *above = a + k * n;
      const double row_factor = row[k] / above[k];
      const size_t last = extent[k].last;
      row[k] = row_factor;
      for (size_t j = k + 1; j <= last; j++) row[j] -= row_factor * above[j];
      if (last > extent[i].last) extent[i].last = last;
    }
    if (row[i] == 0 || !isfinite(row[i])) return false;
  }
  return true;
}

void idm_envelope_solve(size_t n, const double *a, const idm_row_extent *extent, double *x)
{
  for (size_t i = 0; i < n; i++) {
    double sum = x[i];
    for (size_t k = extent[i].first; k < i; k++) sum -= a[i * n + k] * x[k];
    x[i] = sum;
  }
  for (size_t i = n; i-- > 0;) {
    double sum = x[i];
    for (size_t j = i + 1; j <= extent[i].last; j++) sum -= a[i * n + j] * x[j];
    x[i] = sum / a[i * n + i];
  }
}

void idm_envelope_solve_transposed(size_t n, const double *a, const idm_row_extent *extent,
                                   double *x)
{
  for (size_t i = 0; i < n; i++) {
    x[i] /= a[i * n + i];
    for (size_t j = i + 1; j <= extent[i].last; j++) x[j] -= a[i * n + j] * x[i];
  }
  for (size_t i = n; i-- > 0;)
    for (size_t k = extent[i].first; k < i; k++) x[k] -= a[i * n + k] * x[i];
}

/* === krylov ================================================================================= */

/* Restarted GMRES without preconditioner: the Krylov method with the fewest matrix-vector products,
 * which are the largest cost of a step here. */

/* Eight numbers in one register, or in several shorter ones. */
typedef double vector8 __attribute__((vector_size(64)));
enum { chunk = 8, group = 4 };

/* sum += x * y over one chunk. Vectors are passed by pointer: passed by value, their calling
 * convention would depend on the instruction set. */
IDM_INLINE void add_products(vector8 *sum, const vector8 *x, const double *y)
{
  vector8 numbers;
  memcpy(&numbers, y, sizeof numbers);
  *sum += *x * numbers;
}

IDM_INLINE double total_of(const vector8 *x)
{
  const vector8 s = *x;
  return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

/* out[g] = <x, y_g> for `count` (one or four) vectors y_g of length n, stored one after another; x
 * is read once. */
IDM_INLINE void dots(size_t n, size_t count, const double *x, const double *y, double *out)
{
  vector8 a = {0}, b = {0}, c = {0}, d = {0};
  size_t i = 0;
  for (; i + chunk <= n; i += chunk) {
    vector8 entry;
    memcpy(&entry, x + i, sizeof entry);
    add_products(&a, &entry, y + i);
    if (count == 1) continue;
    add_products(&b, &entry, y + n + i);
    add_products(&c, &entry, y + 2 * n + i);
    add_products(&d, &entry, y + 3 * n + i);
  }
  const vector8 *const sums[group] = {&a, &b, &c, &d};
  for (size_t g = 0; g < count; g++) {
    out[g] = total_of(sums[g]);
    for (size_t k = i; k < n; k++) out[g] += x[k] * y[g * n + k];
  }
}

/* Inner products of x with each of `count` vectors, in groups of four. */
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

/* The least-squares problem of the Hessenberg matrix, kept triangular by Givens rotations. */
typedef struct hessenberg {
  double r[IDM_GMRES_BASIS][IDM_GMRES_BASIS + 1]; /* column by column */
  double cosine[IDM_GMRES_BASIS];
  double sine[IDM_GMRES_BASIS];
  double g[IDM_GMRES_BASIS +
           1]; /* rotated right-hand side; |g[k]| is the residual norm after k columns */
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
  if (!(length > 0)) { /* a zero column cannot lower the residual */
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

/* One cycle from the residual basis[0] (not normalised) of norm `norm`. Returns the number of
 * products spent. */
IDM_KERNEL_RETURNS(static, int, cycle,
                   (size_t n, idm_apply apply, const void *context, double *basis, double norm,
                    double target_norm, int max_products, double *x, double *ret_residual),
                   (n, apply, context, basis, norm, target_norm, max_products, x, ret_residual))
{
  hessenberg h;
  h.g[0] = norm;
  scale(n, 1 / norm, basis, basis);
  int k = 0;
  while (k < max_products && fabs(h.g[k]) > target_norm) {
    double *next = basis + (size_t)(k + 1) * n;
    apply(context, basis + (size_t)k * n, next);
    /* Classical Gram-Schmidt: its inner products are independent of each other, and a cycle needs
     * few correct digits. */
    project(n, k + 1, next, basis, h.r[k]);
    double negated[IDM_GMRES_BASIS + 1];
    for (int i = 0; i <= k; i++) negated[i] = -h.r[k][i];
    add_combination(n, k + 1, negated, basis, next);
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
  int products_used = 0;
  while (products_used < products && residual > tolerance * norm) {
    const int left = products - products_used;
    double reached;
    const int spent = cycle(n, apply, context, vectors, residual, tolerance * norm,
                            left < basis ? left : basis, x, &reached);
    products_used += spent;
    if (!(reached < residual) || reached <= tolerance * norm || products_used >= products) {
      residual = reached;
      break;
    }
    /* The next cycle starts from the true residual. */
    apply(context, x, vectors);
    products_used++;
    for (size_t i = 0; i < n; i++) vectors[i] = b[i] - vectors[i];
    residual = norm_of(n, vectors);
  }
  if (opt_used) *opt_used += products_used;
  return residual / norm;
}

/* === least ================================================================================== */

/* Least squares by a complete orthogonal decomposition (Golub and Van Loan, section 5.5). */

/* Apply the Householder reflection that zeroes column `from` of a below row `from`, to that column,
 * to the columns after it and to b. */
static void reflect(size_t rows, size_t columns, double *a, double *b, size_t from)
{
  double norm = 0;
  for (size_t i = from; i < rows; i++) norm = hypot(norm, a[i * columns + from]);
  if (norm == 0) return;
  const double alpha = a[from * columns + from] > 0 ? -norm : norm;
  const double first_entry = a[from * columns + from] - alpha;
  /* With v = (first_entry, rest): 2 / |v|^2 = -1 / (alpha first_entry). */
  const double scale = -1 / (alpha * first_entry);
  for (size_t j = from + 1; j <= columns; j++) {
    double *column = j < columns ? a + j : b;
    const size_t stride = j < columns ? columns : 1;
    double dot = first_entry * column[from * stride];
    for (size_t i = from + 1; i < rows; i++) dot += a[i * columns + from] * column[i * stride];
    dot *= scale;
    column[from * stride] -= dot * first_entry;
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

/* R of a QR factorisation with column pivoting: column j of R is column permutation[j] of a.
 * Returns the rank. */
static size_t triangulate(size_t rows, size_t columns, double *a, double *b, double tolerance,
                          size_t *permutation)
{
  double largest = 0;
  size_t rank = 0;
  for (size_t j = 0; j < columns; j++) permutation[j] = j;
  for (; rank < rows && rank < columns; rank++) {
    size_t best = rank;
    double norm = -1;
    for (size_t j = rank; j < columns; j++) {
      const double column_length = column_norm(rows, columns, a, rank, j);
      if (column_length > norm) {
        norm = column_length;
        best = j;
      }
    }
    largest = fmax(largest, norm);
    if (!(norm > tolerance * largest)) break;
    for (size_t i = 0; i < rows && best != rank; i++) {
      const double swapped = a[i * columns + best];
      a[i * columns + best] = a[i * columns + rank];
      a[i * columns + rank] = swapped;
    }
    const size_t swapped = permutation[best];
    permutation[best] = permutation[rank];
    permutation[rank] = swapped;
    reflect(rows, columns, a, b, rank);
  }
  return rank;
}

/* Least-norm y with r y = c for r[rank][columns] of full row rank: y = r' (r r')^-1 c by a QR
 * factorisation of r'. across[columns][rank] and work[rank * (rank + 1)] are scratch. */
static void least_norm(size_t rank, size_t columns, const double *r, const double *c,
                       double *across, double *work, double *y)
{
  /* r' = Q T, hence T' (Q' y) = c and y = Q (Q' y). */
  for (size_t i = 0; i < rank; i++)
    for (size_t j = 0; j < columns; j++) across[j * rank + i] = r[i * columns + j];
  /* Gram-Schmidt applied twice is as accurate as reflections here, and gives Q explicitly. */
  double *t = work; /* [rank][rank] upper triangular */
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
  size_t *permutation = idm_new(columns, sizeof *permutation);
  double *row = idm_new(2 * columns, sizeof *row);
  *ret_rank = 0;
  if (!permutation || !row) {
    free(permutation);
    free(row);
    return false;
  }
  const size_t rank = triangulate(rows, columns, a, b, tolerance, permutation);
  double *across = idm_new(idm_times(rank, columns), sizeof *across);
  double *work = idm_new(idm_times(rank, rank + 1), sizeof *work);
  const bool done = across && work;
  if (done) {
    double *y = row + columns;
    least_norm(rank, columns, a, b, across, work, y);
    for (size_t j = 0; j < columns; j++) x[permutation[j]] = y[j];
    for (size_t i = 0; i < rank; i++) {
      for (size_t j = 0; j < columns; j++) row[permutation[j]] = a[i * columns + j];
      memcpy(a + i * columns, row, columns * sizeof *row);
    }
    *ret_rank = rank;
  }
  free(across);
  free(work);
  free(permutation);
  free(row);
  return done;
}

/* === null space ============================================================================= */

/* Gauss-Jordan elimination, and the null space from the reduced matrix. */

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
    const double swapped = a[j];
    a[j] = b[j];
    b[j] = swapped;
  }
}

/* Scale the pivot row to a pivot of 1 and eliminate the rest of its column. */
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
  size_t next = 0; /* index of the next pivot */
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

/* === product ================================================================================ */

/* Dense products in tiles that stay in registers. */

/* Numbers per register. Longer vectors would not stay in registers. */
#if defined(__x86_64__)
enum { lanes = 4 };
#else
enum { lanes = 2 };
#endif
typedef double vector __attribute__((vector_size(lanes * sizeof(double))));
enum { tile_rows = 4, tile_columns = 8, across = tile_columns / lanes };

/* Loops over a tile are unrolled, so that each of its sums has a register. */
#define UNROLL _Pragma("GCC unroll 4")

/* `rows` (four or one) rows by eight columns of c; rows of b are `stride` apart. */
IDM_INLINE void multiply_tile(size_t rows, size_t k, const double *a, size_t row, size_t column,
                              const double *b, size_t stride, size_t m, double *c)
{
  vector sum[tile_rows][across];
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

/* Eight columns of c from eight columns of b; rows of b are `stride` apart. */
IDM_INLINE void multiply_columns(size_t n, size_t k, const double *a, size_t row, size_t column,
                                 const double *b, size_t stride, size_t m, double *c)
{
  size_t i = 0;
  for (; i + tile_rows <= n; i += tile_rows)
    multiply_tile(tile_rows, k, a + i * row, row, column, b, stride, m, c + i * m);
  for (; i < n; i++) multiply_tile(1, k, a + i * row, row, column, b, stride, m, c + i * m);
}

/* The remaining columns, fewer than a tile has. */
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
  enum { panel_depth = 256, min_packed_rows = 8 };
  double panel[panel_depth * tile_columns];
  size_t j = 0;
  for (; j + tile_columns <= m; j += tile_columns) {
    if (n < min_packed_rows) {
      multiply_columns(n, k, a, row, column, b + j, m, m, c + j);
      continue;
    }
    /* Copy a panel of columns to contiguous memory once for all rows: rows of b are far apart. */
    for (size_t first = 0; first < k; first += panel_depth) {
      const size_t depth = k - first < panel_depth ? k - first : panel_depth;
      for (size_t p = 0; p < depth; p++)
        memcpy(panel + p * tile_columns, b + (first + p) * m + j, tile_columns * sizeof *panel);
      multiply_columns(n, depth, a + first * column, row, column, panel, tile_columns, m, c + j);
    }
  }
  multiply_rest(n, j, m, k, a, row, column, b, c);
}

void idm_transpose(size_t n, size_t m, const double *from, double *to)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++) to[j * n + i] = from[i * m + j];
}
