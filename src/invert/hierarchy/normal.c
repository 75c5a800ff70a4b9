/* Normal and polynomial approximations of log-likelihoods.
 *
 * Contents: normal · polynomial */
#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/system.h"
#include "idm/extension/random.h"
#include "invert/hierarchy/hierarchy.h"

/* === normal ================================================================================= */

/* Normal approximation of a person and its coordinates u. */

void idm_normal_frame(normal_frame *frame, const double *factor, const double *mean,
                      const double *curvature, const double *linear_term, double *scratch)
{
  const size_t q = frame->effects;
  double *product = scratch; /* H L */
  for (size_t i = 0; i < q; i++)
    for (size_t j = 0; j < q; j++) {
      double sum = 0;
      for (size_t k = j; k < q; k++) sum += curvature[i * q + k] * factor[k * q + j];
      product[i * q + j] = sum;
    }
  for (size_t i = 0; i < q; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = i == j;
      for (size_t k = i; k < q; k++) sum += factor[k * q + i] * product[k * q + j];
      frame->t[i * q + j] = frame->t[j * q + i] = sum;
    }
  for (size_t j = 0; j < q; j++) {
    double sum = 0;
    for (size_t k = j; k < q; k++) {
      double gradient = linear_term[k];
      for (size_t l = 0; l < q; l++) gradient -= curvature[k * q + l] * mean[l];
      sum += factor[k * q + j] * gradient;
    }
    frame->v[j] = sum;
  }
  frame->log_det = 0;
  if (idm_cholesky(q, frame->t)) {
    for (size_t i = 0; i < q; i++) frame->log_det += log(frame->t[i * q + i]);
    idm_lower_solve(q, frame->t, frame->v);
    if (isfinite(frame->log_det)) return;
  }
  /* Not finite or not positive definite: use the non-centred coordinates. */
  memset(frame->t, 0, q * q * sizeof *frame->t);
  memset(frame->v, 0, q * sizeof *frame->v);
  for (size_t i = 0; i < q; i++) frame->t[i * q + i] = 1;
  frame->log_det = 0;
}

void idm_normal_u_to_z(const normal_frame *frame, const double *u, double *z)
{
  for (size_t i = 0; i < frame->effects; i++) z[i] = frame->v[i] + u[i];
  idm_lower_solve_transposed(frame->effects, frame->t, z);
}

void idm_normal_z_to_u(const normal_frame *frame, const double *z, double *u)
{
  const size_t q = frame->effects;
  for (size_t i = 0; i < q; i++) {
    double sum = -frame->v[i];
    for (size_t k = i; k < q; k++) sum += frame->t[k * q + i] * z[k];
    u[i] = sum;
  }
}

void idm_normal_effects(size_t effects, const double *factor, const double *mean, const double *z,
                        double *e)
{
  for (size_t i = 0; i < effects; i++) {
    double sum = mean[i];
    for (size_t k = 0; k <= i; k++) sum += factor[i * effects + k] * z[k];
    e[i] = sum;
  }
}

void idm_normal_information(size_t q, const double *factor, const double *curvature,
                            const double *linear_term, double *information, double *rhs)
{
  double t[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], v[IDM_MAX_EFFECTS];
  double column[IDM_MAX_EFFECTS], scratch[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  const double zero_mean[IDM_MAX_EFFECTS] = {0};
  normal_frame frame = {.effects = q, .t = t, .v = v};
  idm_normal_frame(&frame, factor, zero_mean, curvature, linear_term, scratch); /* v = T^-1 L'h */
  for (size_t j = 0; j < q; j++) {
    for (size_t k = 0; k < q; k++) {
      column[k] = 0;
      for (size_t l = k; l < q; l++) column[k] += factor[l * q + k] * curvature[l * q + j];
    }
    idm_lower_solve(q, t, column);
    memcpy(scratch + j * q, column, q * sizeof *column); /* T^-1 L' H, by columns */
  }
  for (size_t i = 0; i < q; i++) {
    rhs[i] = linear_term[i];
    for (size_t k = 0; k < q; k++) rhs[i] -= scratch[i * q + k] * v[k];
    for (size_t j = 0; j < q; j++) {
      double sum = curvature[i * q + j];
      for (size_t k = 0; k < q; k++) sum -= scratch[i * q + k] * scratch[j * q + k];
      information[i * q + j] = sum;
    }
  }
}

/* === polynomial ============================================================================= */

/* Polynomial approximations of the log-likelihoods of leaves. */

/* Total degree by dimension, limited to a few hundred terms. */
static const unsigned degrees[IDM_POLYNOMIAL_DIMENSIONS + 1] = {0, 4, 4, 4, 4, 4, 3, 3, 3};
enum { max_degree = 4, points_per_term = 4 };
/* Half side of the box, and radius beyond which polynomials are constant, in sds of the points. */
static const double half_side = 3.5;
static const double cutoff_radius = 4;
/* A point this many nats below the maximum has half the weight. */
static const double half_weight_drop = 3;

struct idm_polynomials {
  size_t dimension;
  size_t leaves;
  size_t terms;
  unsigned char *power; /* [term][dimension] */
  double *coefficient;  /* [leaf][term] */
  double middle[IDM_POLYNOMIAL_DIMENSIONS];
  double sd[IDM_POLYNOMIAL_DIMENSIONS];
};

void idm_polynomials_destroy(idm_polynomials *p)
{
  if (!p) return;
  free(p->power);
  free(p->coefficient);
  free(p);
}

/* --- terms ---------------------------------------------------------------------------------- */

/* Exponents of the next term of at most this total degree; returns false after the last. */
static bool next_term(size_t dimension, unsigned degree, unsigned char *power)
{
  for (size_t i = 0; i < dimension; i++) {
    unsigned sum = 0;
    power[i]++;
    for (size_t k = 0; k < dimension; k++) sum += power[k];
    if (sum <= degree) return true;
    power[i] = 0;
  }
  return false;
}

static idm_status list_terms(idm_polynomials *p, unsigned degree, idm_error *opt_error)
{
  const size_t d = p->dimension;
  unsigned char current[IDM_POLYNOMIAL_DIMENSIONS] = {0};
  do p->terms++;
  while (next_term(d, degree, current));
  p->power = idm_new(idm_times(p->terms, d), 1);
  if (!p->power) return idm_fail_memory(opt_error);
  for (size_t t = 0; t < p->terms; t++) {
    memcpy(p->power + t * d, current, d);
    next_term(d, degree, current);
  }
  return IDM_OK;
}

/* Hermite polynomials with variance 1 under the standard normal: h[k], k = 0, ..., max_degree. */
static void hermite(double z, double *h)
{
  h[0] = 1;
  h[1] = z;
  for (unsigned k = 1; k < max_degree; k++)
    h[k + 1] = (z * h[k] - sqrt((double)k) * h[k - 1]) / sqrt((double)k + 1);
}

/* Evaluate all terms at z. */
static void fill_terms(const idm_polynomials *p, const double *z, double *term)
{
  double h[IDM_POLYNOMIAL_DIMENSIONS][max_degree + 1];
  const size_t d = p->dimension;
  for (size_t i = 0; i < d; i++) hermite(z[i], h[i]);
  for (size_t t = 0; t < p->terms; t++) {
    const unsigned char *power = p->power + t * d;
    term[t] = h[0][power[0]];
    for (size_t i = 1; i < d; i++) term[t] *= h[i][power[i]];
  }
}

double idm_polynomials_at(const idm_polynomials *p, size_t leaf, const double *x)
{
  double h[IDM_POLYNOMIAL_DIMENSIONS][max_degree + 1], z[IDM_POLYNOMIAL_DIMENSIONS];
  const size_t d = p->dimension;
  const double *c = p->coefficient + leaf * p->terms;
  double square = 0, sum = 0;
  for (size_t i = 0; i < d; i++) {
    z[i] = (x[i] - p->middle[i]) / p->sd[i];
    square += z[i] * z[i];
  }
  const double shrink = square > cutoff_radius * cutoff_radius ? cutoff_radius / sqrt(square) : 1;
  for (size_t i = 0; i < d; i++) hermite(shrink * z[i], h[i]);
  for (size_t t = 0; t < p->terms; t++) {
    const unsigned char *power = p->power + t * d;
    double term = h[0][power[0]];
    for (size_t i = 1; i < d; i++) term *= h[i][power[i]];
    sum += c[t] * term;
  }
  return sum;
}

/* --- fitting -------------------------------------------------------------------------------- */

/* A fit in progress. */
typedef struct polynomial_fit {
  const polynomial_source *source;
  idm_polynomials *p;
  size_t points;
  double *z;          /* [point][dimension] */
  double *term;       /* [point][term] */
  double *value;      /* [point][leaf] */
  idm_status *status; /* [point], then [leaf] */
  idm_error *error;   /* [point], then [leaf] */
  bool stopped;
} polynomial_fit;

static void evaluate(void *context, size_t point)
{
  polynomial_fit *f = context;
  const idm_polynomials *p = f->p;
  double x[IDM_POLYNOMIAL_DIMENSIONS];
  const double *z = f->z + point * p->dimension;
  if (f->stopped) return;
  for (size_t i = 0; i < p->dimension; i++) x[i] = p->middle[i] + p->sd[i] * z[i];
  fill_terms(p, z, f->term + point * p->terms);
  f->status[point] =
      f->source->value(f->source->context, x, f->value + point * p->leaves, &f->error[point]);
}

static void poll_stop(void *context)
{
  polynomial_fit *f = context;
  f->stopped = f->stopped || f->source->opt_stopped(f->source->context);
}

/* Weighted least squares for one leaf. IDM_NUMERICAL if the points do not determine its polynomial.
 */
static idm_status solve(const polynomial_fit *f, size_t leaf, double *gram)
{
  const idm_polynomials *p = f->p;
  const size_t n = p->terms;
  double *c = p->coefficient + leaf * n;
  double best = -INFINITY;
  for (size_t m = 0; m < f->points; m++) best = fmax(best, f->value[m * p->leaves + leaf]);
  memset(gram, 0, n * n * sizeof *gram);
  for (size_t m = 0; m < f->points; m++) {
    const double *term = f->term + m * n;
    const double value = f->value[m * p->leaves + leaf];
    if (!isfinite(value)) continue;
    const double weight = 1 / (1 + (best - value) / half_weight_drop);
    for (size_t i = 0; i < n; i++) {
      const double weighted_term = weight * weight * term[i];
      c[i] += weighted_term * (value - best);
      for (size_t j = 0; j <= i; j++) gram[i * n + j] += weighted_term * term[j];
    }
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) gram[j * n + i] = gram[i * n + j];
    gram[i * (n + 1)] *= 1 + 1e-9;
  }
  if (!idm_cholesky(n, gram)) return IDM_NUMERICAL;
  idm_lower_solve(n, gram, c);
  idm_lower_solve_transposed(n, gram, c);
  c[0] += best;
  return isfinite(c[0]) ? IDM_OK : IDM_NUMERICAL;
}

static void fit_leaf(void *context, size_t leaf)
{
  polynomial_fit *f = context;
  double *gram = idm_new(idm_times(f->p->terms, f->p->terms), sizeof *gram);
  f->status[leaf] = gram ? solve(f, leaf, gram) : idm_fail_memory(&f->error[leaf]);
  free(gram);
}

/* Return the first status other than IDM_OK. */
static idm_status first_failure(const polynomial_fit *f, size_t count, idm_error *opt_error)
{
  for (size_t i = 0; i < count; i++) {
    if (f->status[i] == IDM_OK) continue;
    if (opt_error) *opt_error = f->error[i];
    return f->status[i];
  }
  return IDM_OK;
}

static idm_status fit(polynomial_fit *f, int threads, bool *fitted, idm_error *opt_error)
{
  idm_random random;
  idm_random_init(&random, 0, 0);
  for (size_t i = 0; i < f->points * f->p->dimension; i++) f->z[i] = idm_random_normal(&random);
  idm_status status = idm_parallel(f->points, threads, evaluate,
                                   f->source->opt_stopped ? poll_stop : NULL, f, opt_error);
  if (status == IDM_OK) status = first_failure(f, f->points, opt_error);
  if (status != IDM_OK || f->stopped) return status;
  status = idm_parallel(f->p->leaves, threads, fit_leaf, NULL, f, opt_error);
  if (status == IDM_OK) status = first_failure(f, f->p->leaves, opt_error);
  *fitted = status == IDM_OK;
  return status == IDM_NUMERICAL ? IDM_OK : status;
}

static idm_status fit_all(const polynomial_source *source, int threads, idm_polynomials *p,
                          bool *fitted, idm_error *opt_error)
{
  polynomial_fit f = {.source = source, .p = p, .points = points_per_term * p->terms};
  const size_t tasks = f.points > p->leaves ? f.points : p->leaves;
  f.z = idm_new(idm_times(f.points, p->dimension), sizeof *f.z);
  f.term = idm_new(idm_times(f.points, p->terms), sizeof *f.term);
  f.value = idm_new(idm_times(f.points, p->leaves), sizeof *f.value);
  f.status = idm_new(tasks, sizeof *f.status);
  f.error = idm_new(tasks, sizeof *f.error);
  const idm_status status = f.z && f.term && f.value && f.status && f.error
                                ? fit(&f, threads, fitted, opt_error)
                                : idm_fail_memory(opt_error);
  free(f.z);
  free(f.term);
  free(f.value);
  free(f.status);
  free(f.error);
  return status;
}

idm_status idm_polynomials_create(const polynomial_source *source, int threads,
                                  idm_polynomials **ret_polynomials, idm_error *opt_error)
{
  *ret_polynomials = NULL;
  if (source->dimension > IDM_POLYNOMIAL_DIMENSIONS) return IDM_OK;
  bool fitted = false;
  idm_polynomials *p = idm_new(1, sizeof *p);
  if (!p) return idm_fail_memory(opt_error);
  p->dimension = source->dimension;
  p->leaves = source->leaves;
  for (size_t i = 0; i < p->dimension; i++) {
    p->middle[i] = 0.5 * (source->low[i] + source->high[i]);
    p->sd[i] = 0.5 * (source->high[i] - source->low[i]) / half_side;
  }
  idm_status status = list_terms(p, degrees[p->dimension], opt_error);
  if (status == IDM_OK) {
    p->coefficient = idm_new(idm_times(p->leaves, p->terms), sizeof *p->coefficient);
    status = p->coefficient ? fit_all(source, threads, p, &fitted, opt_error)
                            : idm_fail_memory(opt_error);
  }
  if (status == IDM_OK && fitted)
    *ret_polynomials = p;
  else
    idm_polynomials_destroy(p);
  return status;
}
