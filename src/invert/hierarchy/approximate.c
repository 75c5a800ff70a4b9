/* Normal approximations of people's likelihoods by finite differences, for starting points and for
 * the coordinates of proposals. They do not change the target density (docs/method/people.md, 3).
 */
#include <assert.h>
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "invert/hierarchy/hierarchy.h"

/* Length of the differences in sds of the person under a wide population, so that the curvature
 * describes the whole posterior and not a point. */
static const double difference_sds = 0.7;
/* Differences of log-likelihoods are limited to this many nats. */
static const double max_drop = 50;

/* A cell's log-likelihood near x, relative to its value at x. */
typedef struct cell_point {
  const hierarchy_chain *chain;
  const leaf_worker *worker;
  size_t cell;
  size_t coordinates;
  double x[IDM_MAX_EFFECTS];
  double step[IDM_MAX_EFFECTS];
  double base;
  idm_error *error;
} cell_point;

/* Evaluate the cell at x with offsets, in steps, of coordinates i and j. */
static idm_status evaluate_cell(cell_point *c, size_t i, double offset_i, size_t j, double offset_j,
                                double *found)
{
  double x[IDM_MAX_EFFECTS];
  assert(i < c->coordinates && j < c->coordinates);
  memcpy(x, c->x, c->coordinates * sizeof *x);
  x[i] += offset_i * c->step[i];
  x[j] += offset_j * c->step[j];
  idm_status status = IDM_OK;
  if (c->chain->model->has_tables)
    *found = c->chain->model->leaves.table(c->chain->model->leaves.context, c->cell, x);
  else
    status = c->chain->model->leaves.exact(c->chain->model->leaves.context, c->worker, c->cell, x,
                                           found, c->error);
  *found = isnan(*found) ? -INFINITY : *found;
  return status;
}

/* Compute gradient and negative Hessian in units of the steps. */
static idm_status differentiate(cell_point *c, double *gradient, double *curvature)
{
  const size_t n = c->coordinates;
  idm_status status = evaluate_cell(c, 0, 0, 0, 0, &c->base);
  if (!isfinite(c->base)) c->base = -1e6;
  for (size_t i = 0; i < n && status == IDM_OK; i++) {
    double above, below;
    status = evaluate_cell(c, i, 1, i, 0, &above);
    if (status == IDM_OK) status = evaluate_cell(c, i, -1, i, 0, &below);
    if (status != IDM_OK) break;
    above = fmax(above - c->base, -max_drop);
    below = fmax(below - c->base, -max_drop);
    gradient[i] = (above - below) / 2;
    curvature[i * n + i] = -(above + below);
    for (size_t j = 0; j < i && status == IDM_OK; j++) {
      double corner[4];
      for (int k = 0; k < 4 && status == IDM_OK; k++) {
        status = evaluate_cell(c, i, k & 1 ? 1 : -1, j, k & 2 ? 1 : -1, &corner[k]);
        corner[k] = fmax(corner[k] - c->base, -max_drop);
      }
      const double mixed = -(corner[3] - corner[2] - corner[1] + corner[0]) / 4;
      curvature[i * n + j] = curvature[j * n + i] = mixed;
    }
  }
  return status;
}

/* Replace a by the nearest positive semidefinite matrix. */
static void make_semidefinite(size_t n, double *a)
{
  double values[IDM_MAX_EFFECTS];
  double vectors[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  double copy[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  memcpy(copy, a, n * n * sizeof *a);
  idm_symmetric_eigen(n, copy, values, vectors);
  memset(a, 0, n * n * sizeof *a);
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < n && values[k] > 0; i++)
      for (size_t j = 0; j < n; j++)
        a[i * n + j] += values[k] * vectors[k * n + i] * vectors[k * n + j];
}

/* Set the steps from the person's posterior sds in a cell's coordinates, under a wide population.
 */
static void set_difference_steps(const hierarchy_chain *chain, size_t person, cell_point *c)
{
  const idm_design *d = chain->model->design;
  const double *curvature = chain->curvature + person * d->effects * d->effects;
  const double *share = d->share + c->cell * d->effects;
  double variance[IDM_MAX_EFFECTS] = {0};
  for (size_t j = 0; j < d->effects; j++) {
    const double prior_precision = 1 / (d->sd_scale[j] * d->sd_scale[j]);
    variance[d->effect_coordinate[j]] +=
        share[j] * share[j] / (prior_precision + curvature[j * d->effects + j]);
  }
  for (size_t k = 0; k < c->coordinates; k++) {
    const double sd = sqrt(variance[k]);
    c->step[k] = difference_sds * (sd > 0 ? sd : 1);
  }
}

/* Compute H and h of one person at effects e. */
static idm_status approximate_person(hierarchy_chain *chain, const leaf_worker *worker,
                                     size_t person, const double *e, idm_error *opt_error)
{
  const idm_design *d = chain->model->design;
  const size_t q = d->effects, n = d->coordinates;
  double curvature_sum[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS] = {0};
  double linear_term[IDM_MAX_EFFECTS] = {0};
  double gradient[IDM_MAX_EFFECTS], curvature[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  cell_point c = {.chain = chain, .worker = worker, .coordinates = n, .error = opt_error};
  idm_status status = IDM_OK;
  for (size_t cell = chain->model->first[person]; cell < chain->model->first[person + 1]; cell++) {
    c.cell = cell;
    idm_hierarchy_coordinates(d, cell, e, c.x);
    set_difference_steps(chain, person, &c);
    status = differentiate(&c, gradient, curvature);
    if (status != IDM_OK) return status;
    make_semidefinite(n, curvature);
    const double *share = d->share + cell * q;
    for (size_t i = 0; i < q; i++) {
      const size_t ki = d->effect_coordinate[i];
      const double si = share[i] / c.step[ki];
      linear_term[i] += si * gradient[ki];
      for (size_t j = 0; j < q; j++) {
        const size_t kj = d->effect_coordinate[j];
        curvature_sum[i * q + j] += si * share[j] / c.step[kj] * curvature[ki * n + kj];
      }
    }
  }
  for (size_t i = 0; i < q; i++)
    for (size_t j = 0; j < q; j++) linear_term[i] += curvature_sum[i * q + j] * e[j];
  memcpy(chain->curvature + person * q * q, curvature_sum, q * q * sizeof *curvature_sum);
  memcpy(chain->linear_term + person * q, linear_term, q * sizeof *linear_term);
  return IDM_OK;
}

/* Compute z and the effects of a person from u, under the chain's population. */
static void person_from_u(const hierarchy_chain *c, size_t person, const double *u, double *z,
                          double *e)
{
  const idm_design *d = c->model->design;
  const size_t q = d->effects;
  double t[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], v[IDM_MAX_EFFECTS], mean[IDM_MAX_EFFECTS];
  double scratch[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  normal_frame frame = {.effects = q, .t = t, .v = v};
  idm_population_mean(d, &c->current.population, person, mean);
  idm_normal_frame(&frame, c->current.population.factor, mean, c->curvature + person * q * q,
                   c->linear_term + person * q, scratch);
  idm_normal_u_to_z(&frame, u, z);
  idm_normal_effects(q, c->current.population.factor, mean, z, e);
}

/* Starting point of the mode search of a person: that of the leaf source, if it has one; otherwise
 * the population mean. */
static void start_person(const hierarchy_chain *c, const leaf_worker *worker, size_t person,
                         double *at)
{
  const hierarchy *m = c->model;
  idm_population_mean(m->design, &c->current.population, person, at);
  if (m->leaves.start)
    memcpy(at, m->leaves.start(m->leaves.context, m->first[person], worker->chain),
           m->design->effects * sizeof *at);
}

/* Newton's method with a few iterations, each limited to one prior sd. */
idm_status idm_chain_find_modes(hierarchy_chain *c, const leaf_worker *worker, size_t from,
                                size_t to, idm_error *opt_error)
{
  enum { max_rounds = 6 };
  const idm_design *d = c->model->design;
  const size_t q = d->effects;
  const double u[IDM_MAX_EFFECTS] = {0};
  double z[IDM_MAX_EFFECTS], e[IDM_MAX_EFFECTS];
  const int rounds = d->fixed || c->model->leaves.start ? 0 : max_rounds;
  idm_status status = IDM_OK;
  for (size_t i = from; i < to && status == IDM_OK; i++) {
    double *at = c->current.e + i * q;
    start_person(c, worker, i, at);
    for (int round = 0; round < rounds && status == IDM_OK; round++) {
      status = approximate_person(c, worker, i, at, opt_error);
      person_from_u(c, i, u, z, e);
      for (size_t j = 0; j < q; j++)
        at[j] += fmin(fmax(e[j] - at[j], -d->sd_scale[j]), d->sd_scale[j]);
    }
    if (status == IDM_OK) status = approximate_person(c, worker, i, at, opt_error);
  }
  return status;
}

idm_status idm_chain_disperse(hierarchy_chain *c, const leaf_worker *worker, size_t from, size_t to,
                              idm_error *opt_error)
{
  (void)worker;
  (void)opt_error;
  const idm_design *d = c->model->design;
  const size_t q = d->effects;
  double u[IDM_MAX_EFFECTS], mean[IDM_MAX_EFFECTS];
  for (size_t i = from; i < to; i++) {
    double *z = c->current.z + i * q, *e = c->current.e + i * q;
    if (d->fixed || !c->model->leaves.start) {
      for (size_t j = 0; j < q; j++) u[j] = idm_random_normal(&c->person_random[i]);
      person_from_u(c, i, u, z, e);
      continue;
    }
    idm_population_mean(d, &c->current.population, i, mean);
    for (size_t j = 0; j < q; j++) z[j] = e[j] - mean[j];
    idm_lower_solve(q, c->current.population.factor, z);
  }
  return IDM_OK;
}

idm_status idm_chain_approximate(hierarchy_chain *c, const leaf_worker *worker, size_t from,
                                 size_t to, idm_error *opt_error)
{
  const size_t q = c->model->design->effects;
  double e[IDM_MAX_EFFECTS];
  idm_status status = IDM_OK;
  for (size_t i = from; i < to && status == IDM_OK; i++) {
    for (size_t j = 0; j < q; j++)
      e[j] = c->sum_count ? c->sum[i * q + j] / (double)c->sum_count : c->current.e[i * q + j];
    status = approximate_person(c, worker, i, e, opt_error);
  }
  return status;
}

static void add_person(const hierarchy_chain *c, size_t person, const double *information,
                       const double *rhs, double *precision, double *sum)
{
  const idm_design *d = c->model->design;
  const population *p = &c->current.population;
  for (size_t j = 0; j < d->effects; j++)
    for (size_t a = 0; a < d->coefficients[j]; a++) {
      const double w = d->regressor[j][person * d->coefficients[j] + a];
      double *row = precision + (p->first[j] + a) * p->coefficients;
      if (w == 0) continue;
      sum[p->first[j] + a] += w * rhs[j];
      for (size_t k = 0; k < d->effects; k++)
        for (size_t b = 0; b < d->coefficients[k]; b++)
          row[p->first[k] + b] += w * information[j * d->effects + k] *
                                  d->regressor[k][person * d->coefficients[k] + b];
    }
}

void idm_chain_regress(const hierarchy_chain *c, const population *p, double *precision,
                       double *rhs)
{
  const idm_design *d = c->model->design;
  const size_t n = p->coefficients, q = d->effects;
  double information[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], person_random[IDM_MAX_EFFECTS];
  memset(precision, 0, n * n * sizeof *precision);
  memset(rhs, 0, n * sizeof *rhs);
  for (size_t i = 0; i < d->people; i++) {
    idm_normal_information(q, p->factor, c->curvature + i * q * q, c->linear_term + i * q,
                           information, person_random);
    add_person(c, i, information, person_random, precision, rhs);
  }
}

/* Set the steps of the coefficients from their precision under the approximation, with people
 * integrated out. */
static void set_coefficient_steps(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  const population *p = &c->current.population;
  const size_t n = p->coefficients;
  idm_chain_regress(c, p, c->precision, c->regression);
  for (size_t j = 0; j < d->effects; j++)
    for (size_t a = 0; a < d->coefficients[j]; a++) {
      /* A floor, so that a spread near 0 does not give tiny steps. */
      const double sd =
          fmax(idm_population_coefficient_sd(d, p, j, a), 0.1 * d->coefficient_sd[j][a]);
      c->precision[(p->first[j] + a) * (n + 1)] += 1 / (sd * sd);
      c->regression[p->first[j] + a] += d->coefficient_mean[j][a] / (sd * sd);
    }
  if (idm_cholesky(n, c->precision)) return;
  memset(c->precision, 0, n * n * sizeof *c->precision); /* not finite or not positive definite */
  for (size_t j = 0; j < d->effects; j++)
    for (size_t a = 0; a < d->coefficients[j]; a++) {
      c->precision[(p->first[j] + a) * (n + 1)] = 1 / d->coefficient_sd[j][a];
      c->regression[p->first[j] + a] = p->b[p->first[j] + a];
    }
}

void idm_chain_newton_step(hierarchy_chain *c, double noise)
{
  const idm_design *d = c->model->design;
  population *p = &c->current.population;
  const size_t n = p->coefficients, q = d->effects;
  double *b = c->regression;
  set_coefficient_steps(c);
  idm_lower_solve(n, c->precision, b);
  for (size_t a = 0; a < n; a++) b[a] += noise * idm_random_normal(&c->random);
  idm_lower_solve_transposed(n, c->precision, b);
  for (size_t j = 0; j < q; j++)
    for (size_t a = p->first[j]; a < p->first[j + 1]; a++) {
      const double max_shift = 2 * d->coefficient_sd[j][a - p->first[j]];
      const double shift = b[a] - p->b[a];
      if (isfinite(shift)) p->b[a] += fmin(fmax(shift, -max_shift), max_shift);
    }
  for (size_t i = 0; i < d->people; i++) idm_population_mean(d, p, i, c->current.e + i * q);
}

void idm_chain_adapt_steps(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  set_coefficient_steps(c);
  idm_hmc_adapt(c);
  memset(c->sum, 0, d->people * d->effects * sizeof *c->sum);
  c->sum_count = 0;
  for (size_t k = 0; k < d->coordinates; k++) {
    c->low[k] = INFINITY;
    c->high[k] = -INFINITY;
  }
}
