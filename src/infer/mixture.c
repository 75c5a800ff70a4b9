/* Mixture and quadratic approximations of a density.
 *
 * Contents: mixture · quadratic */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "infer/approximation.h"

/* === mixture ================================================================================ */

/* Defensive mixtures (Hesterberg 1995): importance weights target/proposal are bounded where a
 * component covers the target. */

static const double degrees = 5;

struct idm_mixture {
  size_t dimension;
  size_t capacity;
  size_t count;
  idm_defensive_component defensive;
  double total;   /* sum of all weights */
  double *weight; /* [1 + capacity]: first the weight of the defensive component */
  double *centre; /* [capacity][dimension] */
  double *factor; /* [capacity][dimension][dimension]: Cholesky factors of the scale matrices */
  double *log_constant; /* [capacity]: log density at the centre */
};

void idm_mixture_destroy(idm_mixture *m)
{
  if (!m) return;
  free(m->weight);
  free(m->centre);
  free(m->factor);
  free(m->log_constant);
  free(m);
}

idm_status idm_mixture_create(size_t dimension, size_t capacity, idm_defensive_component defensive,
                              double weight, idm_mixture **ret_mixture, idm_error *opt_error)
{
  *ret_mixture = NULL;
  idm_mixture *m = idm_new(1, sizeof *m);
  if (!m) return idm_fail_memory(opt_error);
  *m = (idm_mixture){
      .dimension = dimension, .capacity = capacity, .defensive = defensive, .total = weight};
  m->weight = idm_new(1 + capacity, sizeof *m->weight);
  m->centre = idm_new(capacity * dimension, sizeof *m->centre);
  m->factor = idm_new(capacity * dimension * dimension, sizeof *m->factor);
  m->log_constant = idm_new(capacity, sizeof *m->log_constant);
  if (!m->weight || !m->centre || !m->factor || !m->log_constant) {
    idm_mixture_destroy(m);
    return idm_fail_memory(opt_error);
  }
  m->weight[0] = weight;
  *ret_mixture = m;
  return IDM_OK;
}

bool idm_mixture_add(idm_mixture *m, double weight, const double *centre, const double *scale)
{
  static const double log_pi = 1.14472988584940017414;
  const size_t d = m->dimension;
  if (m->count == m->capacity || !(weight > 0)) return false;
  double *factor = m->factor + m->count * d * d;
  for (size_t i = 0; i < d * d; i++) {
    if (!isfinite(scale[i])) return false;
    factor[i] = scale[i];
  }
  if (!idm_cholesky(d, factor)) return false;
  double log_constant = idm_log_gamma(0.5 * (degrees + (double)d)) - idm_log_gamma(0.5 * degrees) -
                        0.5 * (double)d * (log(degrees) + log_pi);
  for (size_t i = 0; i < d; i++) log_constant -= log(factor[i * d + i]);
  memcpy(m->centre + m->count * d, centre, d * sizeof *centre);
  m->log_constant[m->count] = log_constant;
  m->weight[++m->count] = weight;
  m->total += weight;
  return true;
}

void idm_mixture_draw(const idm_mixture *m, idm_random *random, double *x)
{
  const size_t d = m->dimension;
  const size_t k = idm_random_choice(random, m->weight, 1 + m->count);
  if (k == 0) {
    m->defensive.draw(m->defensive.context, random, x);
    return;
  }
  /* Student t: normal / sqrt(chi-square / degrees), where chi-square is 2 gamma(degrees / 2). */
  const double scale = sqrt(degrees / (2 * idm_random_gamma(random, degrees / 2)));
  for (size_t i = 0; i < d; i++) x[i] = scale * idm_random_normal(random);
  idm_lower_multiply(d, m->factor + (k - 1) * d * d, x);
  for (size_t i = 0; i < d; i++) x[i] += m->centre[(k - 1) * d + i];
}

static double log_component(const idm_mixture *m, size_t k, const double *x, double *work)
{
  const size_t d = m->dimension;
  double square = 0;
  for (size_t i = 0; i < d; i++) work[i] = x[i] - m->centre[k * d + i];
  idm_lower_solve(d, m->factor + k * d * d, work);
  for (size_t i = 0; i < d; i++) square += work[i] * work[i];
  return m->log_constant[k] - 0.5 * (degrees + (double)d) * log1p(square / degrees);
}

double idm_mixture_log_density(const idm_mixture *m, const double *x, double *work)
{
  idm_log_sum sum = idm_log_sum_empty;
  for (size_t k = 0; k <= m->count; k++) {
    if (!(m->weight[k] > 0)) continue;
    const double log_term =
        log(m->weight[k]) +
        (k ? log_component(m, k - 1, x, work) : m->defensive.log_density(m->defensive.context, x));
    if (!isnan(log_term)) idm_log_sum_add(&sum, log_term);
  }
  return idm_log_sum_value(sum) - log(m->total);
}

/* === quadratic ============================================================================== */

/* Quadratic functions fitted by weighted least squares. */

size_t idm_quadratic_terms(size_t dimension, size_t points)
{
  const size_t linear = 1 + dimension;
  const size_t quadratic = linear + dimension * (dimension + 1) / 2;
  return points >= 4 * quadratic ? quadratic : points >= 2 * linear ? linear : 1;
}

/* Values of the terms at x. */
static void fill_terms(size_t dimension, size_t terms, const double *x, double *term)
{
  size_t at = 0;
  term[at++] = 1;
  for (size_t i = 0; i < dimension && at < terms; i++) term[at++] = x[i];
  for (size_t i = 0; i < dimension && at < terms; i++)
    for (size_t j = i; j < dimension; j++) term[at++] = x[i] * x[j];
}

/* Add a point to the normal equations: matrix[terms][terms] and rhs[terms]. */
static void add_point(size_t terms, const double *term, double weight, double value, double *matrix,
                      double *rhs)
{
  for (size_t a = 0; a < terms; a++) {
    rhs[a] += weight * term[a] * value;
    for (size_t b = 0; b < terms; b++) matrix[a * terms + b] += weight * term[a] * term[b];
  }
}

/* Cholesky factorisation in place. False if the residual of a term, given the terms before it, is
 * rounding error. */
static bool factor(size_t terms, double *matrix, double *diagonal)
{
  static const double rounding = 1e-10;
  for (size_t a = 0; a < terms; a++) diagonal[a] = matrix[a * (terms + 1)];
  bool independent = idm_cholesky(terms, matrix);
  for (size_t a = 0; a < terms && independent; a++) {
    const double pivot = matrix[a * (terms + 1)];
    independent = pivot * pivot > rounding * diagonal[a];
  }
  return independent;
}

idm_status idm_quadratic_fit(size_t dimension, size_t terms, size_t points, const double *x,
                             const double *value, const double *opt_weight, double *coefficient,
                             idm_error *opt_error)
{
  double *term = idm_new(terms * (terms + 1), sizeof *term);
  if (!term) return idm_fail_memory(opt_error);
  double *matrix = term + terms;
  bool finite = true;
  for (size_t a = 0; a < terms; a++) coefficient[a] = 0;
  for (size_t k = 0; k < points; k++) {
    const double weight = opt_weight ? opt_weight[k] : 1;
    if (weight == 0) continue;
    fill_terms(dimension, terms, x + k * dimension, term);
    add_point(terms, term, weight, value[k], matrix, coefficient);
  }
  if (factor(terms, matrix, term)) {
    idm_lower_solve(terms, matrix, coefficient);
    idm_lower_solve_transposed(terms, matrix, coefficient);
    for (size_t a = 0; a < terms; a++) finite = finite && isfinite(coefficient[a]);
  } else {
    finite = false;
  }
  free(term);
  return finite ? IDM_OK
                : idm_fail(opt_error, IDM_NUMERICAL, "%zu points do not determine %zu terms",
                           points, terms);
}

double idm_quadratic_at(size_t dimension, size_t terms, const double *coefficient, const double *x)
{
  double sum = coefficient[0];
  size_t at = 1;
  for (size_t i = 0; i < dimension && at < terms; i++) sum += coefficient[at++] * x[i];
  for (size_t i = 0; i < dimension && at < terms; i++)
    for (size_t j = i; j < dimension; j++) sum += coefficient[at++] * x[i] * x[j];
  return sum;
}
