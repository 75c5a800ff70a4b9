/* Hamiltonian Monte Carlo updates of population and people together (docs/method/people.md, 3).
 *
 * Contents: memory · coordinates · density and gradient · trajectories */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>

#include "base/dense.h"
#include "base/memory.h"

/* --- memory ---------------------------------------------------------------------------------- */

void idm_hmc_destroy(hierarchy_hmc *m)
{
  if (!m) return;
  idm_population_destroy(&m->reference);
  void *const arrays[] = {m->sum,      m->squares,       m->sd,      m->position,       m->momentum,
                          m->gradient, m->leaf_gradient, m->scratch, m->factor_gradient};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  free(m);
}

static idm_status allocate(const hierarchy *model, hierarchy_hmc *m, idm_error *opt_error)
{
  const idm_design *d = model->design;
  const idm_status status = idm_population_create(d, &m->reference, opt_error);
  if (status != IDM_OK) return status;
  m->numbers = m->reference.coefficients + d->effects + m->reference.pairs;
  m->dimension = m->numbers + idm_times(d->people, d->effects);
  m->sum = idm_new(m->numbers, sizeof *m->sum);
  m->squares = idm_new(m->numbers, sizeof *m->squares);
  m->sd = idm_new(m->numbers, sizeof *m->sd);
  m->position = idm_new(m->dimension, sizeof *m->position);
  m->momentum = idm_new(m->dimension, sizeof *m->momentum);
  m->gradient = idm_new(m->dimension, sizeof *m->gradient);
  m->factor_gradient = idm_new(d->effects * d->effects, sizeof *m->factor_gradient);
  m->leaf_gradient = idm_new(idm_times(d->people, d->effects), sizeof *m->leaf_gradient);
  m->scratch = idm_new(idm_hierarchy_scratch(model), sizeof *m->scratch);
  return m->sum && m->squares && m->sd && m->position && m->momentum && m->gradient &&
                 m->leaf_gradient && m->scratch && m->factor_gradient
             ? IDM_OK
             : idm_fail_memory(opt_error);
}

idm_status idm_hmc_create(hierarchy_chain *c, idm_error *opt_error)
{
  const idm_design *d = c->model->design;
  if (!c->model->leaves.leaf_gradient || d->held || d->fixed) return IDM_OK;
  c->hmc = idm_new(1, sizeof *c->hmc);
  if (!c->hmc) return idm_fail_memory(opt_error);
  c->hmc->log_step = log(0.2);
  return allocate(c->model, c->hmc, opt_error);
}

void idm_hmc_transfer(hierarchy_hmc *m, idm_record *r)
{
  if (!m) return;
  idm_record_transfer(r, m->reference.number, m->reference.numbers * sizeof(double));
  idm_record_transfer(r, m->sum, m->numbers * sizeof *m->sum);
  idm_record_transfer(r, m->squares, m->numbers * sizeof *m->squares);
  idm_record_transfer(r, m->sd, m->numbers * sizeof *m->sd);
  idm_record_transfer(r, &m->sum_count, sizeof m->sum_count);
  idm_record_transfer(r, &m->log_step, sizeof m->log_step);
}

/* --- coordinates ---------------------------------------------------------------------------- */

/* Parameter i of the population; the absolute value of a root, whose sign has no meaning. */
static double number_of(const population *p, size_t i)
{
  const bool root = i >= p->coefficients && i < p->coefficients + p->effects;
  return root ? fabs(p->number[i]) : p->number[i];
}

void idm_hmc_accumulate(hierarchy_chain *c)
{
  hierarchy_hmc *m = c->hmc;
  if (!m || !c->adapting) return;
  m->sum_count++;
  for (size_t i = 0; i < m->numbers; i++) {
    const double x = number_of(&c->current.population, i);
    m->sum[i] += x;
    m->squares[i] += x * x;
  }
}

/* Initial guess of the sd of parameter i. */
static double expected_sd(const hierarchy_chain *c, size_t i)
{
  const population *p = &c->current.population;
  if (i < p->coefficients) return 1;
  return i < p->coefficients + p->effects ? 0.3 * c->model->design->sd_scale[i - p->coefficients]
                                          : 0.5;
}

void idm_hmc_adapt(hierarchy_chain *c)
{
  enum { min_states = 10 };
  hierarchy_hmc *m = c->hmc;
  if (!m) return;
  const double n = (double)m->sum_count;
  idm_population_assign(&m->reference, &c->current.population);
  for (size_t i = 0; i < m->numbers; i++) {
    m->sd[i] = expected_sd(c, i);
    if (m->sum_count >= min_states) {
      const double mean = m->sum[i] / n;
      const double variance = fmax(m->squares[i] / n - mean * mean, 0);
      /* Shrink towards a tenth of the initial guess, with the weight of five states, so that no sd
       * is 0. */
      m->sd[i] = sqrt((n * variance + 5 * 0.01 * m->sd[i] * m->sd[i]) / (n + 5));
      m->reference.number[i] = mean;
    }
    m->sum[i] = m->squares[i] = 0;
  }
  m->sum_count = 0;
  idm_population_set_factor(&m->reference);
}

/* Compute population and people from the position: coefficients, roots and partials into `to`, and
 * z and e. Frames use the reference population. */
static void state_from_position(const hierarchy_chain *c, hierarchy_state *to)
{
  const hierarchy_hmc *m = c->hmc;
  const idm_design *d = c->model->design;
  const size_t q = d->effects;
  population *p = &to->population;
  memcpy(p->b, m->position, p->coefficients * sizeof *p->b);
  idm_lower_solve_transposed(p->coefficients, c->precision, p->b);
  for (size_t i = p->coefficients; i < m->numbers; i++) p->number[i] = m->sd[i] * m->position[i];
  idm_population_set_factor(p);
  double t[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], v[IDM_MAX_EFFECTS], mean[IDM_MAX_EFFECTS];
  double scratch[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  normal_frame frame = {.effects = q, .t = t, .v = v};
  for (size_t i = 0; i < d->people; i++) {
    idm_population_mean(d, p, i, mean);
    idm_normal_frame(&frame, m->reference.factor, mean, c->curvature + i * q * q,
                     c->linear_term + i * q, scratch);
    idm_normal_u_to_z(&frame, m->position + m->numbers + i * q, to->z + i * q);
    idm_normal_effects(q, p->factor, mean, to->z + i * q, to->e + i * q);
  }
}

void idm_hmc_set_position(hierarchy_chain *c)
{
  const hierarchy_hmc *m = c->hmc;
  const idm_design *d = c->model->design;
  const population *p = &c->current.population;
  const size_t q = d->effects, n = p->coefficients;
  double t[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], v[IDM_MAX_EFFECTS], mean[IDM_MAX_EFFECTS];
  double scratch[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  normal_frame frame = {.effects = q, .t = t, .v = v};
  for (size_t i = 0; i < n; i++) { /* L_P' b */
    m->position[i] = 0;
    for (size_t k = i; k < n; k++) m->position[i] += c->precision[k * n + i] * p->b[k];
  }
  for (size_t i = n; i < m->numbers; i++) m->position[i] = p->number[i] / m->sd[i];
  for (size_t i = 0; i < d->people; i++) {
    idm_population_mean(d, p, i, mean);
    idm_normal_frame(&frame, m->reference.factor, mean, c->curvature + i * q * q,
                     c->linear_term + i * q, scratch);
    idm_normal_z_to_u(&frame, c->current.z + i * q, m->position + m->numbers + i * q);
  }
}

/* --- density and gradient -------------------------------------------------------------------- */

/* Derivatives by roots and partials from the derivative by the factor (reverse mode of
 * idm_population_set_factor). */
static void factor_adjoint(const population *p, const double *by_factor, double *by_root,
                           double *by_partial)
{
  const size_t q = p->effects;
  for (size_t j = 0; j < q; j++) {
    double remaining[IDM_MAX_EFFECTS + 1] = {fabs(p->root[j])};
    const double *row = by_factor + j * q, *y = p->partial + j * (j - 1) / 2;
    for (size_t k = 0; k < j; k++)
      remaining[k + 1] = p->pairs ? remaining[k] / cosh(y[k]) : remaining[k];
    double by_left = row[j];
    for (size_t k = j; k-- > 0 && p->pairs;) {
      const double t = tanh(y[k]), s = 1 / cosh(y[k]);
      by_partial[j * (j - 1) / 2 + k] += remaining[k] * (row[k] * s * s - by_left * s * t);
      by_left = by_left * s + row[k] * t;
    }
    by_root[j] += p->root[j] < 0 ? -by_left : by_left;
  }
}

/* Add the terms of person i to the derivatives by u, by the coefficients and by the factor. by_e:
 * gradient of the person's log-likelihood. */
static void person_adjoint(const hierarchy_chain *c, const hierarchy_state *at, size_t i,
                           const double *by_e, double *by_coefficient)
{
  const hierarchy_hmc *m = c->hmc;
  const idm_design *d = c->model->design;
  const population *p = &at->population;
  const size_t q = d->effects;
  const double *z = at->z + i * q, *h = c->curvature + i * q * q, *l = m->reference.factor;
  const double zero_mean[IDM_MAX_EFFECTS] = {0};
  double t[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], v[IDM_MAX_EFFECTS];
  double scratch[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], back[IDM_MAX_EFFECTS];
  double *by_u = m->gradient + m->numbers + i * q;
  normal_frame frame = {.effects = q, .t = t, .v = v};
  idm_normal_frame(&frame, l, zero_mean, h, zero_mean, scratch);
  for (size_t j = 0; j < q; j++) {
    by_u[j] = -z[j]; /* derivative by z */
    for (size_t k = j; k < q; k++) by_u[j] += p->factor[k * q + j] * by_e[k];
    for (size_t k = 0; k <= j; k++) m->factor_gradient[j * q + k] += by_e[j] * z[k];
  }
  idm_lower_solve(q, t, by_u);
  memcpy(back, by_u, q * sizeof *back);
  idm_lower_solve_transposed(q, t, back); /* (T T')^-1 times the derivative by z */
  for (size_t j = 0; j < q; j++) {
    double product[IDM_MAX_EFFECTS], by_mean = by_e[j];
    for (size_t k = 0; k < q; k++) {
      product[k] = 0;
      for (size_t r = 0; r <= k; r++) product[k] += l[k * q + r] * back[r];
      by_mean -= h[j * q + k] * product[k];
    }
    for (size_t a = 0; a < d->coefficients[j]; a++)
      by_coefficient[p->first[j] + a] += d->regressor[j][i * d->coefficients[j] + a] * by_mean;
  }
}

/* Add the derivatives of the population's log prior. */
static void add_prior_gradient(const idm_design *d, const population *p, double *gradient)
{
  const size_t n = p->coefficients;
  for (size_t j = 0; j < d->effects; j++) {
    for (size_t a = 0; a < d->coefficients[j]; a++) {
      const double sd = idm_population_coefficient_sd(d, p, j, a);
      gradient[p->first[j] + a] -= (p->b[p->first[j] + a] - d->coefficient_mean[j][a]) / (sd * sd);
    }
    gradient[n + j] -= p->root[j] / (d->sd_scale[j] * d->sd_scale[j]);
    for (size_t k = 0; k < j && p->pairs; k++) {
      const size_t pair = j * (j - 1) / 2 + k;
      gradient[n + d->effects + pair] -=
          2 * idm_population_pair_shape(d, k) * tanh(p->partial[pair]);
    }
  }
}

idm_status idm_hmc_evaluate(hierarchy_chain *c, const leaf_worker *worker, hierarchy_state *at,
                            double *log_density, idm_error *opt_error)
{
  hierarchy_hmc *m = c->hmc;
  const idm_design *d = c->model->design;
  const population *p = &at->population;
  const size_t q = d->effects, n = p->coefficients;
  double squares = 0, sum = 0;
  state_from_position(c, at);
  memset(m->gradient, 0, m->numbers * sizeof *m->gradient);
  memset(m->factor_gradient, 0, q * q * sizeof *m->factor_gradient);
  const idm_status status = idm_hierarchy_gradients(c->model, worker, at->e, at->exact,
                                                    m->leaf_gradient, m->scratch, opt_error);
  for (size_t i = 0; i < d->people && status == IDM_OK; i++) {
    person_adjoint(c, at, i, m->leaf_gradient + i * q, m->gradient);
    sum += at->exact[i];
    for (size_t j = 0; j < q; j++) squares += at->z[i * q + j] * at->z[i * q + j];
  }
  factor_adjoint(p, m->factor_gradient, m->gradient + n, m->gradient + n + q);
  add_prior_gradient(d, p, m->gradient);
  idm_lower_solve(n, c->precision, m->gradient);
  for (size_t i = n; i < m->numbers; i++) m->gradient[i] *= m->sd[i];
  *log_density = sum - 0.5 * squares + idm_population_log_prior(d, p);
  if (isnan(*log_density)) *log_density = -INFINITY;
  return status;
}

/* --- trajectories --------------------------------------------------------------------------- */

/* Largest length of a trajectory, in sds of the density: most of a period of 2 pi. */
static const double max_length = 5;

static double kinetic(const hierarchy_hmc *m)
{
  double sum = 0;
  for (size_t i = 0; i < m->dimension; i++) sum += 0.5 * m->momentum[i] * m->momentum[i];
  return sum;
}

static void add_scaled(hierarchy_hmc *m, double *x, const double *by, double step)
{
  for (size_t i = 0; i < m->dimension; i++) x[i] += step * by[i];
}

/* Robbins-Monro adaptation to an acceptance rate of 0.8. */
static void tune(hierarchy_chain *c, double acceptance)
{
  if (c->adapting) c->hmc->log_step = fmin(c->hmc->log_step + 0.05 * (acceptance - 0.8), 0);
}

idm_status idm_hmc_update(hierarchy_chain *c, const leaf_worker *worker, idm_error *opt_error)
{
  enum { max_leapfrog = 40 };
  hierarchy_hmc *m = c->hmc;
  hierarchy_state *to = &c->proposal;
  /* One trajectory in eight has short steps, for regions where the density is narrower. */
  const bool short_steps = idm_random_uniform(&c->random) < 0.125;
  const double step = exp(m->log_step) * (short_steps ? 0.25 : 1);
  /* Lengths are random, to avoid periodic trajectories. */
  const int steps =
      1 + (int)fmin(max_length * idm_random_uniform(&c->random) / step, max_leapfrog - 1);
  double before, after;
  idm_population_assign(&to->population, &c->current.population);
  idm_hmc_set_position(c);
  for (size_t i = 0; i < m->dimension; i++) m->momentum[i] = idm_random_normal(&c->random);
  idm_status status = idm_hmc_evaluate(c, worker, to, &before, opt_error);
  before -= kinetic(m);
  after = before;
  for (int k = 0; k < steps && status == IDM_OK && isfinite(after); k++) {
    add_scaled(m, m->momentum, m->gradient, 0.5 * step);
    add_scaled(m, m->position, m->momentum, step);
    status = idm_hmc_evaluate(c, worker, to, &after, opt_error);
    add_scaled(m, m->momentum, m->gradient, 0.5 * step);
  }
  if (status != IDM_OK) return status;
  const double log_ratio = after - kinetic(m) - before;
  const double acceptance = isnan(log_ratio) ? 0 : fmin(1, exp(log_ratio));
  const bool accepted = idm_random_uniform(&c->random) < acceptance;
  if (!short_steps) tune(c, acceptance);
  c->proposed++;
  c->kept += accepted;
  if (accepted) idm_chain_accept(c);
  return IDM_OK;
}
