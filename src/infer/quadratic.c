/* Quadratic functions by least squares: see the header. */
#include "infer/quadratic.h"

#include <math.h>
#include <stdlib.h>

#include "base/dense.h"
#include "base/memory.h"

size_t idm_quadratic_terms(size_t dimension, size_t points)
{
  const size_t linear = 1 + dimension;
  const size_t all = linear + dimension * (dimension + 1) / 2;
  return points >= 4 * all ? all : points >= 2 * linear ? linear : 1;
}

/* The terms at x. */
static void expand(size_t dimension, size_t terms, const double *x, double *term)
{
  size_t at = 0;
  term[at++] = 1;
  for (size_t i = 0; i < dimension && at < terms; i++) term[at++] = x[i];
  for (size_t i = 0; i < dimension && at < terms; i++)
    for (size_t j = i; j < dimension; j++) term[at++] = x[i] * x[j];
}

/* The normal equations: matrix[terms][terms] and right[terms]. */
static void add_point(size_t terms, const double *term, double weight, double value, double *matrix,
                      double *right)
{
  for (size_t a = 0; a < terms; a++) {
    right[a] += weight * term[a] * value;
    for (size_t b = 0; b < terms; b++) matrix[a * terms + b] += weight * term[a] * term[b];
  }
}

/* The Cholesky factor of a matrix in its place. False where what the others leave of a term is
 * rounding. */
static bool factor(size_t terms, double *matrix, double *diagonal)
{
  static const double rounding = 1e-10;
  for (size_t a = 0; a < terms; a++) diagonal[a] = matrix[a * (terms + 1)];
  bool apart = idm_cholesky(terms, matrix);
  for (size_t a = 0; a < terms && apart; a++) {
    const double left = matrix[a * (terms + 1)];
    apart = left * left > rounding * diagonal[a];
  }
  return apart;
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
    expand(dimension, terms, x + k * dimension, term);
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
                : idm_fail(opt_error, IDM_NUMERICAL, "%zu points do not tell %zu terms apart",
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
