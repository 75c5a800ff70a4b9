/* Response of posterior means to a change of the log-likelihood: covariances over draws, with
 * quadratic regression of the changes (docs/method/verdict.md, 5).
 *
 * Contents: points · changes · a plain fit · a population */
#include "invert/assess/environment.h"

#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "infer/approximation.h"
#include "invert/assess/residual.h"
#include "invert/matching.h"
#include "invert/matching/fit.h"

/* Largest number of draws for shifts. */
enum { max_draws = 1000 };

void idm_response_close(response *r)
{
  free(r->table);
  free(r->point_numbers);
  free(r->mean);
  free(r->sd);
  *r = (response){0};
}

/* --- points --------------------------------------------------------------------------------- */

static size_t all_draws(const check_context *q)
{
  return q->posterior->chains * q->posterior->draws;
}

void idm_response_point(const response *r, size_t k, double *y)
{
  if (r->q->people)
    memcpy(y, r->point_numbers + k * r->q->people->dimension, r->q->people->dimension * sizeof *y);
  else
    idm_context_draw(r->q, idm_context_sample_at(r->q, k, r->points), y);
}

double *idm_response_row(const response *r, size_t change, size_t c)
{
  return r->table + (change * r->strata + c) * r->points;
}

/* Choose the points, cycling through the strata, and compute the moments of each stratum's draws.
 */
static idm_status set_points(response *r, idm_error *opt_error)
{
  const strata *s = r->q->people;
  const size_t d = s->dimension;
  double *y = idm_new(d, sizeof *y);
  idm_welford *moments = idm_new(d, sizeof *moments);
  const bool made = y && moments;
  for (size_t k = 0; made && k < r->points; k++)
    idm_strata_draw(s, s->count <= r->points ? k % s->count : k * s->count / r->points,
                    idm_context_sample_at(r->q, k, r->points), r->point_numbers + k * d);
  for (size_t c = 0; made && c < s->count; c++) {
    memset(moments, 0, d * sizeof *moments);
    for (size_t i = 0; i < r->draws; i++) {
      idm_strata_draw(s, c, idm_context_sample_at(r->q, i, r->draws), y);
      for (size_t j = 0; j < d; j++) idm_welford_add(&moments[j], y[j]);
    }
    for (size_t j = 0; j < d; j++) {
      r->mean[c * d + j] = moments[j].mean;
      r->sd[c * d + j] = sqrt(idm_welford_variance(&moments[j]));
    }
  }
  free(y);
  free(moments);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

static idm_status open_population(response *r, idm_error *opt_error)
{
  const strata *s = r->q->people;
  const size_t numbers = idm_times(s->count, s->dimension);
  r->strata = s->count;
  r->draws = all_draws(r->q) < max_draws ? all_draws(r->q) : max_draws;
  r->point_numbers = idm_new(idm_times(r->points, s->dimension), sizeof *r->point_numbers);
  r->mean = idm_new(numbers, sizeof *r->mean);
  r->sd = idm_new(numbers, sizeof *r->sd);
  return r->point_numbers && r->mean && r->sd ? set_points(r, opt_error)
                                              : idm_fail_memory(opt_error);
}

idm_status idm_response_open(response *r, const check_context *q, size_t points, size_t count,
                             idm_error *opt_error)
{
  *r = (response){.q = q, .strata = 1, .count = count};
  r->points = points < all_draws(q) ? points : all_draws(q);
  idm_status status = q->people ? open_population(r, opt_error) : IDM_OK;
  if (status == IDM_OK) {
    r->table = idm_new(idm_times(idm_times(count, r->strata), r->points), sizeof *r->table);
    if (!r->table) status = idm_fail_memory(opt_error);
  }
  if (status != IDM_OK) idm_response_close(r);
  return status;
}

/* --- changes -------------------------------------------------------------------------------- */

/* Create a matching of the whole log for a population; that of a plain fit may use segments, which
 * have no strata. */
static idm_status match(const check_context *q, const idm_problem *problem,
                        idm_matching **ret_matching, idm_error *opt_error)
{
  const fit_context *f = q->f;
  return q->people ? idm_matching_create(problem, f->data, f->tree, f->parameters, ret_matching,
                                         opt_error)
                   : idm_fit_create_matching(f, problem, ret_matching, opt_error);
}

/* Add the log-likelihood of a matching at point k, by stratum. */
static void add_found(const response *r, size_t change, size_t k, const idm_matching *matching,
                      double total, double weight)
{
  const strata *s = r->q->people;
  if (!s) {
    idm_response_row(r, change, 0)[k] += weight * total;
    return;
  }
  const idm_scorer *scorer = idm_matching_scorer(matching);
  for (size_t t = 0; t < r->q->f->data->trajectories; t++)
    idm_response_row(r, change, s->design->cell_of[t])[k] +=
        weight * (isfinite(total) ? idm_scorer_trajectory(scorer, t) : NAN);
}

idm_status idm_response_add(const response *r, size_t change, const idm_problem *problem,
                            double weight, idm_error *opt_error)
{
  const check_context *q = r->q;
  idm_matching *matching = NULL;
  double *y = idm_new(q->f->parameters->dimension, sizeof *y);
  idm_status status = y ? match(q, problem, &matching, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    idm_response_point(r, r->points / 2, y);
    status = idm_matching_fix_start(matching, y, opt_error);
  }
  for (size_t k = 0; k < r->points && status == IDM_OK; k++) {
    double total = 0;
    idm_response_point(r, k, y);
    status = idm_matching_log_likelihood(matching, y, &total, NULL, opt_error);
    if (status == IDM_OK) add_found(r, change, k, matching, total, weight);
  }
  idm_matching_destroy(matching);
  free(y);
  return status;
}

/* --- a plain fit ---------------------------------------------------------------------------- */

/* Covariance over `size` draws of the sample of a quantity with change[size]. */
static double covariance(const check_context *q, size_t quantity, const double *change, size_t size)
{
  const double *value = q->posterior->value + quantity * all_draws(q);
  double mean = 0, middle = 0, sum = 0;
  for (size_t k = 0; k < size; k++) {
    mean += value[idm_context_sample_at(q, k, size)] / (double)size;
    middle += change[k] / (double)size;
  }
  for (size_t k = 0; k < size; k++)
    sum += (value[idm_context_sample_at(q, k, size)] - mean) * (change[k] - middle);
  return sum / (double)(size - 1);
}

/* Coordinates of draw i, standardised by mean and sd. */
static void standardise(const check_context *q, const double *mean, const double *sd, size_t i,
                        double *z)
{
  const size_t d = q->f->parameters->dimension;
  idm_context_draw(q, i, z);
  for (size_t k = 0; k < d; k++) z[k] = sd[k] > 0 ? (z[k] - mean[k]) / sd[k] : 0;
}

static void find_moments(const check_context *q, double *mean, double *sd)
{
  for (size_t k = 0; k < q->f->parameters->dimension; k++) {
    const idm_moments m =
        idm_moments_of(q->posterior->unconstrained + k * all_draws(q), all_draws(q));
    mean[k] = m.mean;
    sd[k] = sqrt(m.variance);
  }
}

/* Standard error of a slope, from the residuals of the function at the draws. */
static double error_of_shift(size_t d, size_t terms, const double *coefficient, size_t size,
                             const double *z, const double *change)
{
  double square = 0;
  for (size_t k = 0; k < size; k++) {
    const double residual = change[k] - idm_quadratic_at(d, terms, coefficient, z + k * d);
    square += residual * residual;
  }
  return size > terms ? sqrt(square / (double)(size - terms) / (double)size) : NAN;
}

idm_status idm_response_smooth(const check_context *q, const double *change, size_t size,
                               size_t count, double *to, double *ret_error, idm_error *opt_error)
{
  const size_t d = q->f->parameters->dimension;
  const size_t terms = idm_quadratic_terms(d, size);
  double *mean = idm_new(idm_times(d, size + 3) + terms, sizeof *mean);
  *ret_error = NAN;
  if (!mean) return idm_fail_memory(opt_error);
  double *sd = mean + d, *z = mean + 2 * d, *coefficient = mean + d * (size + 3);
  find_moments(q, mean, sd);
  for (size_t k = 0; k < size; k++)
    standardise(q, mean, sd, idm_context_sample_at(q, k, size), z + k * d);
  if (terms > 1 && idm_quadratic_fit(d, terms, size, z, change, NULL, coefficient, NULL) == IDM_OK)
    *ret_error = error_of_shift(d, terms, coefficient, size, z, change);
  for (size_t i = 0; i < count && isfinite(*ret_error); i++) {
    standardise(q, mean, sd, idm_context_sample_at(q, i, count), z);
    to[i] = idm_quadratic_at(d, terms, coefficient, z);
  }
  free(mean);
  return IDM_OK;
}

/* Shifts from the changes at the points or, if these are few, from their quadratic function. */
static idm_status find_plain(const response *r, const double *change, double *shift,
                             idm_error *opt_error)
{
  enum { min_draws = 100 };
  const check_context *q = r->q;
  const size_t count = all_draws(q) < max_draws ? all_draws(q) : max_draws;
  double error = NAN;
  double *all = r->points < min_draws && r->points < count ? idm_new(count, sizeof *all) : NULL;
  if (r->points < min_draws && r->points < count && !all) return idm_fail_memory(opt_error);
  const idm_status status =
      all ? idm_response_smooth(q, change, r->points, count, all, &error, opt_error) : IDM_OK;
  const bool smooth = all && isfinite(error);
  for (size_t i = 0; i < q->posterior->quantity.count && status == IDM_OK; i++)
    shift[i] = covariance(q, i, smooth ? all : change, smooth ? count : r->points);
  free(all);
  return status;
}

/* --- a population --------------------------------------------------------------------------- */

/* Quadratic function of the changes of one stratum. Coordinates are distances from its mean, in
 * `width` of its sds. */
typedef struct quadratic {
  double width;
  size_t terms; /* 1: the points do not determine the function */
  double *coefficient;
  double error; /* standard error of the change per sd of a number */
} quadratic;

/* Scratch of the quadratic functions. */
typedef struct fit_scratch {
  double *z;      /* [point][dimension] */
  double *weight; /* [point] */
  double *value;  /* [point]: changes, 0 if not finite */
} fit_scratch;

static void scale(const response *r, size_t c, double width, const double *x, double *z)
{
  const size_t d = r->q->people->dimension;
  for (size_t j = 0; j < d; j++) {
    const double unit = width * r->sd[c * d + j];
    z[j] = unit > 0 ? (x[j] - r->mean[c * d + j]) / unit : 0;
  }
}

/* Compute Gaussian kernel weights of the points for a width; returns their effective number. */
static double kernel_weights(const response *r, size_t change, size_t c, double width,
                             fit_scratch *f)
{
  const size_t d = r->q->people->dimension;
  const double *row = idm_response_row(r, change, c);
  for (size_t k = 0; k < r->points; k++) {
    double square = 0;
    scale(r, c, width, r->point_numbers + k * d, f->z + k * d);
    for (size_t j = 0; j < d; j++) square += f->z[k * d + j] * f->z[k * d + j];
    f->weight[k] = isfinite(row[k]) ? exp(-square / 2) : 0;
    f->value[k] = isfinite(row[k]) ? row[k] : 0;
  }
  return idm_effective_size(f->weight, r->points);
}

/* The smallest weighted mean square over the coordinates of the points. */
static double least_square(const response *r, const fit_scratch *f)
{
  const size_t d = r->q->people->dimension;
  double least = INFINITY;
  for (size_t j = 0; j < d; j++) {
    double square = 0, sum = 0;
    for (size_t k = 0; k < r->points; k++) {
      square += f->weight[k] * f->z[k * d + j] * f->z[k * d + j];
      sum += f->weight[k];
    }
    least = fmin(least, square / sum);
  }
  return least;
}

/* Standard error of a slope, from the weighted residuals of the function. */
static double error_of(const response *r, const quadratic *g, const fit_scratch *f,
                       double effective)
{
  const size_t d = r->q->people->dimension;
  double square = 0, sum = 0;
  for (size_t k = 0; k < r->points; k++) {
    const double residual =
        f->value[k] - idm_quadratic_at(d, g->terms, g->coefficient, f->z + k * d);
    square += f->weight[k] * residual * residual;
    sum += f->weight[k];
  }
  const double freedom = effective - (double)g->terms;
  return freedom > 0 ? sqrt(square / sum / freedom / least_square(r, f)) / g->width : INFINITY;
}

/* Fit with the narrowest weights that leave four effective points per term, or half of all points.
 */
static void fit_function(const response *r, size_t change, size_t c, fit_scratch *f, quadratic *g)
{
  enum { max_width = 64 };
  const size_t d = r->q->people->dimension;
  const double required_ess = fmin(2 * (double)((d + 1) * (d + 2)), (double)r->points / 2);
  double effective = 0;
  g->width = 1;
  while (effective < required_ess && g->width < max_width) {
    g->width *= 2;
    effective = kernel_weights(r, change, c, g->width, f);
  }
  g->terms = idm_quadratic_terms(d, (size_t)effective);
  if (g->terms > 1 && idm_quadratic_fit(d, g->terms, r->points, f->z, f->value, f->weight,
                                        g->coefficient, NULL) != IDM_OK)
    g->terms = 1;
  g->error = g->terms > 1 ? error_of(r, g, f, effective) : INFINITY;
}

/* Add a stratum's predicted change at every draw. */
static void add_function(const response *r, size_t c, const quadratic *g, double *y, double *total)
{
  const size_t d = r->q->people->dimension;
  for (size_t i = 0; i < r->draws; i++) {
    idm_strata_draw(r->q->people, c, idm_context_sample_at(r->q, i, r->draws), y);
    scale(r, c, g->width, y, y + d);
    total[i] += g->terms > 1 ? idm_quadratic_at(d, g->terms, g->coefficient, y + d) : NAN;
  }
}

/* Largest correlation of a quantity with a number of one stratum. */
static double correlation(const response *r, size_t quantity, size_t c, double sd, double *y,
                          double *number)
{
  const size_t d = r->q->people->dimension;
  double most = 0;
  for (size_t j = 0; j < d; j++) {
    for (size_t i = 0; i < r->draws; i++) {
      idm_strata_draw(r->q->people, c, idm_context_sample_at(r->q, i, r->draws), y);
      number[i] = y[j];
    }
    const double own = covariance(r->q, quantity, number, r->draws) / (sd * r->sd[c * d + j]);
    if (isfinite(own)) most = fmax(most, fabs(own));
  }
  return fmin(most, 1);
}

/* Errors of the strata may be correlated, since they use the same points: their absolute values are
 * added. */
static void add_uncertain(const response *r, size_t c, const quadratic *g, double *y,
                          double *number, double *uncertain)
{
  const check_context *q = r->q;
  for (size_t i = 0; i < q->posterior->quantity.count; i++)
    if (idm_context_is_assessed(q, i))
      uncertain[i] += g->error * correlation(r, i, c, q->assessment->diagnosis[i].sd, y, number);
}

static idm_status find_population(const response *r, size_t change, double *shift,
                                  double *opt_uncertain, idm_error *opt_error)
{
  const size_t d = r->q->people->dimension, count = r->q->posterior->quantity.count;
  double *total = idm_new(2 * r->draws + 2 * d + (d + 1) * (d + 2), sizeof *total);
  double *points = idm_new(idm_times(r->points, d + 2), sizeof *points);
  const bool made = total && points;
  if (made) {
    double *const number = total + r->draws, *const y = number + r->draws;
    fit_scratch f = {.z = points + 2 * r->points, .weight = points, .value = points + r->points};
    quadratic g = {.coefficient = y + 2 * d};
    for (size_t c = 0; c < r->strata; c++) {
      fit_function(r, change, c, &f, &g);
      add_function(r, c, &g, y, total);
      if (opt_uncertain) add_uncertain(r, c, &g, y, number, opt_uncertain);
    }
    for (size_t i = 0; i < count; i++) shift[i] = covariance(r->q, i, total, r->draws);
  }
  free(total);
  free(points);
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_response_shifts(const response *r, size_t change, double *shift,
                               double *opt_uncertain, idm_error *opt_error)
{
  if (r->q->people) return find_population(r, change, shift, opt_uncertain, opt_error);
  return find_plain(r, idm_response_row(r, change, 0), shift, opt_error);
}
