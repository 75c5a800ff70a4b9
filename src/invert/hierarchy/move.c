/* Updates of the population: conditional on the people, and jointly with them.
 *
 * Contents: closed form · slice sampling · covariance · spreads · joint moves */
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "invert/hierarchy/hierarchy.h"

/* --- closed form ---------------------------------------------------------------------------- */

/* Recompute z after a change of coefficients or factor that leaves the effects fixed. r: residuals
 * e - m, [person][effect]. */
static void set_z_of_effects(hierarchy_chain *c, const double *r)
{
  const size_t q = c->model->design->effects;
  for (size_t i = 0; i < c->model->design->people; i++) {
    memcpy(c->current.z + i * q, r + i * q, q * sizeof *r);
    idm_lower_solve(q, c->current.population.factor, c->current.z + i * q);
  }
}

/* Residuals e - m, computed from z; a difference would lose precision at a small sd. */
static void residuals(const hierarchy_chain *c, double *r)
{
  const size_t q = c->model->design->effects;
  memcpy(r, c->current.z, c->model->design->people * q * sizeof *r);
  for (size_t i = 0; i < c->model->design->people; i++)
    idm_lower_multiply(q, c->current.population.factor, r + i * q);
}

/* Precision of the coefficients given the people, and the precision times the difference of their
 * conditional mean from the current values. */
static void coefficient_posterior(const hierarchy_chain *c, double *precision, double *rhs)
{
  const idm_design *d = c->model->design;
  const population *p = &c->current.population;
  const size_t q = d->effects, n = p->coefficients;
  double omega[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], y[IDM_MAX_EFFECTS];
  idm_cholesky_inverse(q, p->factor, omega);
  for (size_t j = 0; j < q; j++)
    for (size_t a = p->first[j]; a < p->first[j + 1]; a++) {
      const double sd = idm_population_coefficient_sd(d, p, j, a - p->first[j]);
      rhs[a] = (d->coefficient_mean[j][a - p->first[j]] - p->b[a]) / (sd * sd);
      for (size_t k = 0; k < q; k++)
        for (size_t b = p->first[k]; b < p->first[k + 1]; b++)
          precision[a * n + b] = omega[j * q + k] * c->model->gram[a * n + b];
      precision[a * n + a] += 1 / (sd * sd);
    }
  for (size_t i = 0; i < d->people; i++) {
    memcpy(y, c->current.z + i * q, q * sizeof *y);
    idm_lower_solve_transposed(q, p->factor, y);
    for (size_t j = 0; j < q; j++)
      for (size_t a = 0; a < d->coefficients[j]; a++)
        rhs[p->first[j] + a] += d->regressor[j][i * d->coefficients[j] + a] * y[j];
  }
}

static bool all_finite(const double *x, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

/* Draw the coefficients given people and covariance: a normal linear regression. */
static void draw_coefficients(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  population *p = &c->current.population;
  const size_t q = d->effects, n = p->coefficients;
  double *precision = c->scratch;
  double *shift = precision + n * n;
  double *r = c->next.e;
  coefficient_posterior(c, precision, shift);
  if (!all_finite(precision, n * n) || !idm_cholesky(n, precision)) return;
  idm_lower_solve(n, precision, shift);
  for (size_t a = 0; a < n; a++) shift[a] += idm_random_normal(&c->random);
  idm_lower_solve_transposed(n, precision, shift);
  if (!all_finite(shift, n)) return;
  residuals(c, r);
  for (size_t a = 0; a < n; a++) p->b[a] += shift[a];
  for (size_t i = 0; i < d->people; i++)
    for (size_t j = 0; j < q; j++)
      for (size_t a = 0; a < d->coefficients[j]; a++)
        r[i * q + j] -= d->regressor[j][i * d->coefficients[j] + a] * shift[p->first[j] + a];
  set_z_of_effects(c, r);
}

/* --- slice sampling -------------------------------------------------------------------------- */

/* Density of the population at its current parameters, up to a constant. */
typedef double (*density_function)(hierarchy_chain *chain, const double *given);

/* Update one parameter by slice sampling (Neal 2003), with stepping out and shrinkage. */
static void slice_sample(hierarchy_chain *c, density_function density, const double *given,
                         double *number, double width)
{
  enum { max_steps = 20, max_shrinks = 200 };
  const double current = *number;
  const double level = density(c, given) + log(idm_random_uniform(&c->random));
  double low = current - width * idm_random_uniform(&c->random);
  double high = low + width;
  for (int i = 0; i < max_steps; i++, low -= width) {
    *number = low;
    if (!(density(c, given) > level)) break;
  }
  for (int i = 0; i < max_steps; i++, high += width) {
    *number = high;
    if (!(density(c, given) > level)) break;
  }
  for (int i = 0; i < max_shrinks; i++) {
    *number = low + (high - low) * idm_random_uniform(&c->random);
    if (density(c, given) > level) return;
    if (*number < current)
      low = *number;
    else
      high = *number;
  }
  *number = current;
}

/* --- covariance ----------------------------------------------------------------------------- */

/* Log density of the covariance given the people, who enter by the scatter matrix of their
 * residuals. */
static double covariance_density(hierarchy_chain *c, const double *scatter)
{
  const idm_design *d = c->model->design;
  population *p = &c->current.population;
  const size_t q = d->effects;
  double omega[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  idm_population_set_factor(p);
  idm_cholesky_inverse(q, p->factor, omega);
  double trace = 0;
  for (size_t i = 0; i < q * q; i++) trace += omega[i] * scatter[i];
  const double density =
      idm_population_log_prior(d, p) - 0.5 * trace - (double)d->people * idm_population_log_det(p);
  return isfinite(density) ? density : -INFINITY;
}

static void draw_covariance(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  population *p = &c->current.population;
  const size_t q = d->effects;
  double scatter[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS] = {0};
  double *r = c->next.e;
  residuals(c, r);
  for (size_t i = 0; i < d->people; i++)
    for (size_t j = 0; j < q; j++)
      for (size_t k = 0; k < q; k++) scatter[j * q + k] += r[i * q + j] * r[i * q + k];
  if (covariance_density(c, scatter) > -INFINITY) {
    for (size_t j = 0; j < q; j++)
      slice_sample(c, covariance_density, scatter, &p->root[j], d->sd_scale[j]);
    for (size_t k = 0; k < p->pairs; k++)
      slice_sample(c, covariance_density, scatter, &p->partial[k], 1);
  }
  idm_population_set_factor(p);
  set_z_of_effects(c, r);
}

/* --- spreads -------------------------------------------------------------------------------- */

/* Log density of spreads given the pooled coefficients. */
static double spread_density(hierarchy_chain *c, const double *given)
{
  (void)given;
  const double density = idm_population_log_density(c->model->design, &c->current.population);
  return isfinite(density) ? density : -INFINITY;
}

/* Draw the spread of an effect, given the people and the ratios of its pooled coefficients to the
 * spread: a normal regression of r = e - m on the change of each person's mean per unit of spread.
 */
static void scale_spread(hierarchy_chain *c, size_t j, double *r)
{
  const idm_design *d = c->model->design;
  population *p = &c->current.population;
  const size_t q = d->effects, n = d->coefficients[j], first = n - d->pooled;
  const double *b = p->b + p->first[j];
  const double spread = p->spread[j], scale = d->spread_scale[j];
  double omega[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], square = 0, product = 0;
  double *unit = c->next.exact;
  idm_cholesky_inverse(q, p->factor, omega);
  for (size_t i = 0; i < d->people; i++) {
    const double *w = d->regressor[j] + i * n;
    unit[i] = 0;
    for (size_t a = first; a < n; a++) unit[i] += w[a] * b[a] / spread;
    square += unit[i] * unit[i];
    for (size_t k = 0; k < q; k++) product += unit[i] * omega[j * q + k] * r[i * q + k];
  }
  const double precision = omega[j * q + j] * square + 1 / (scale * scale);
  const double shift = (product - spread / (scale * scale)) / precision +
                       idm_random_normal(&c->random) / sqrt(precision);
  if (!isfinite(shift) || spread + shift == 0) return;
  idm_population_set_spread(d, p, j, spread + shift);
  for (size_t i = 0; i < d->people; i++) r[i * q + j] -= shift * unit[i];
}

/* Interleave both parametrisations (Yu and Meng 2011): given the coefficients, which mixes well if
 * the data determine them; and with proportional coefficients, which mixes well otherwise. */
static void draw_spreads(hierarchy_chain *c)
{
  const population *p = &c->current.population;
  const bool people_vary = !c->model->design->fixed;
  double *r = c->next.e;
  if (people_vary) residuals(c, r);
  for (size_t j = 0; j < p->spreads; j++) {
    slice_sample(c, spread_density, NULL, &p->spread[j], c->model->design->spread_scale[j]);
    if (people_vary) scale_spread(c, j, r);
  }
  if (people_vary) set_z_of_effects(c, r);
}

/* --- joint moves ----------------------------------------------------------------------------- */

/* Compute all people from u under a population: z, e, the log-likelihoods by the table, and
 * log_prior_u = sum_i (-|z_i|^2/2 - log det T_i) + log prior, the log density of (population, u)
 * without the likelihoods. */
static void set_from_u(hierarchy_chain *c, hierarchy_state *s)
{
  const idm_design *d = c->model->design;
  const size_t q = d->effects;
  double t[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], v[IDM_MAX_EFFECTS], mean[IDM_MAX_EFFECTS];
  double scratch[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  normal_frame frame = {.effects = q, .t = t, .v = v};
  s->log_prior_u = idm_population_log_prior(d, &s->population);
  for (size_t i = 0; i < d->people && d->fixed; i++)
    idm_population_mean(d, &s->population, i, s->e + i * q);
  for (size_t i = 0; i < d->people && !d->fixed; i++) {
    double *z = s->z + i * q;
    double squares = 0;
    idm_population_mean(d, &s->population, i, mean);
    idm_normal_frame(&frame, s->population.factor, mean, c->curvature + i * q * q,
                     c->linear_term + i * q, scratch);
    idm_normal_u_to_z(&frame, c->u + i * q, z);
    idm_normal_effects(q, s->population.factor, mean, z, s->e + i * q);
    for (size_t j = 0; j < q; j++) squares += z[j] * z[j];
    s->log_prior_u -= 0.5 * squares + frame.log_det;
  }
  for (size_t i = 0; i < d->people && c->model->has_tables; i++)
    s->surrogate[i] = idm_hierarchy_surrogate(c->model, i, s->e + i * q);
}

/* Compute u of all people and log_prior_u from the current state. */
static void set_u(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  const size_t q = d->effects;
  double t[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS], v[IDM_MAX_EFFECTS], mean[IDM_MAX_EFFECTS];
  double scratch[IDM_MAX_EFFECTS * IDM_MAX_EFFECTS];
  normal_frame frame = {.effects = q, .t = t, .v = v};
  c->current.log_prior_u = idm_population_log_prior(d, &c->current.population);
  for (size_t i = 0; i < d->people && !d->fixed; i++) {
    const double *z = c->current.z + i * q;
    idm_population_mean(d, &c->current.population, i, mean);
    idm_normal_frame(&frame, c->current.population.factor, mean, c->curvature + i * q * q,
                     c->linear_term + i * q, scratch);
    idm_normal_z_to_u(&frame, z, c->u + i * q);
    for (size_t j = 0; j < q; j++) c->current.log_prior_u -= 0.5 * z[j] * z[j];
    c->current.log_prior_u -= frame.log_det;
  }
}

static double sum_likelihood(const hierarchy_chain *c, const double *likelihood)
{
  double sum = 0;
  for (size_t i = 0; i < c->model->design->people; i++) sum += likelihood[i];
  return sum;
}

/* Number of blocks with their own step size: all coefficients, then each root, partial and spread.
 */
static size_t block_count(const hierarchy_chain *c)
{
  const population *p = &c->current.population;
  return 1 + p->effects + p->pairs + p->spreads;
}

/* Choose coefficients by their indices in b: one column of regressors over all effects, the same
 * with the first column, which may be correlated with it, or all. */
static size_t choose_coefficients(hierarchy_chain *c, size_t *coefficient_index)
{
  enum { max_joint = 12 };
  const idm_design *d = c->model->design;
  const population *p = &c->current.population;
  size_t columns = 0, count = 0;
  for (size_t j = 0; j < d->effects; j++)
    columns = d->coefficients[j] > columns ? d->coefficients[j] : columns;
  const size_t column = (size_t)(idm_random_uniform(&c->random) * (double)columns);
  const double kind = idm_random_uniform(&c->random);
  const bool all = p->coefficients <= max_joint && kind<0.5, two_columns = kind> 0.75;
  for (size_t j = 0; j < d->effects; j++)
    for (size_t a = 0; a < d->coefficients[j]; a++)
      if (all || a == column || (two_columns && a == 0))
        coefficient_index[count++] = p->first[j] + a;
  return count;
}

/* Half the squared Mahalanobis distance of x from the centre. factor: Cholesky factor of the
 * precision. */
static double half_square(size_t n, const double *factor, const double *centre, const double *x,
                          double *scratch)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) scratch[i] = x[i] - centre[i];
  for (size_t i = 0; i < n; i++) {
    double row = 0;
    for (size_t j = i; j < n; j++) row += factor[j * n + i] * scratch[j];
    sum += row * row;
  }
  return 0.5 * sum;
}

/* Log density, up to a constant, of a multivariate t with five degrees of freedom. half: half the
 * squared distance. */
static double log_student(size_t n, double half)
{
  return -0.5 * (5 + (double)n) * log1p(2 * half / 5);
}

/* Propose some coefficients from a heavy-tailed version of their conditional under the
 * approximations, with u of all people fixed. Given covariance and spreads, this conditional does
 * not depend on u, because the two are independent under the approximations. */
static void draw_independent(hierarchy_chain *c, population *p)
{
  const idm_design *d = c->model->design;
  const size_t n = p->coefficients;
  double *precision = c->regression, *factor = precision + n * n, *rhs = factor + n * n;
  double *centre = rhs + n, *current = centre + n, *scratch = current + n;
  size_t *coefficient_index = c->coefficient_index;
  const size_t count = choose_coefficients(c, coefficient_index);
  c->log_proposal_ratio = -INFINITY;
  idm_chain_regress(c, p, precision, rhs);
  for (size_t j = 0; j < d->effects; j++)
    for (size_t a = p->first[j]; a < p->first[j + 1]; a++) {
      const double sd = idm_population_coefficient_sd(d, p, j, a - p->first[j]);
      precision[a * (n + 1)] += 1 / (sd * sd);
      rhs[a] += d->coefficient_mean[j][a - p->first[j]] / (sd * sd);
    }
  for (size_t i = 0; i < count; i++) {
    centre[i] = rhs[coefficient_index[i]];
    for (size_t a = 0; a < n; a++) centre[i] -= precision[coefficient_index[i] * n + a] * p->b[a];
    for (size_t k = 0; k < count; k++)
      factor[i * count + k] = precision[coefficient_index[i] * n + coefficient_index[k]];
    current[i] = p->b[coefficient_index[i]];
  }
  if (!all_finite(factor, count * count) || !idm_cholesky(count, factor)) return;
  idm_lower_solve(count, factor, centre);
  idm_lower_solve_transposed(count, factor, centre);
  for (size_t i = 0; i < count; i++) centre[i] += current[i];
  const double before = half_square(count, factor, centre, current, scratch);
  const double t_scale = sqrt(2.5 / idm_random_gamma(&c->random, 2.5));
  for (size_t i = 0; i < count; i++) current[i] = t_scale * idm_random_normal(&c->random);
  idm_lower_solve_transposed(count, factor, current);
  for (size_t i = 0; i < count; i++) p->b[coefficient_index[i]] = current[i] += centre[i];
  const double after = half_square(count, factor, centre, current, scratch);
  c->log_proposal_ratio = log_student(count, before) - log_student(count, after);
}

/* Random walk of one block: all coefficients, a root, a partial, or a spread with its coefficients.
 */
static void walk_block(hierarchy_chain *c, population *p)
{
  const size_t n = p->coefficients;
  const double size = exp(c->log_step[c->block]);
  const size_t spreads_from = block_count(c) - p->spreads;
  if (c->block >= spreads_from && p->spreads) {
    const size_t j = c->block - spreads_from;
    const double spread = p->spread[j] + size * idm_random_normal(&c->random);
    idm_population_set_spread(c->model->design, p, j, spread);
  } else if (c->block) {
    p->number[n + c->block - 1] += size * idm_random_normal(&c->random);
    idm_population_set_factor(p);
  } else {
    double *shift = c->scratch;
    for (size_t a = 0; a < n; a++) shift[a] = size * idm_random_normal(&c->random);
    idm_lower_solve_transposed(n, c->precision, shift);
    for (size_t a = 0; a < n; a++) p->b[a] += shift[a];
  }
}

/* Take one step: half of the steps update coefficients, by a random walk or an independent
 * proposal; the others update another block. The kind is random, so that the step is reversible. */
static void step(hierarchy_chain *c, const hierarchy_state *from, hierarchy_state *to)
{
  population *p = &to->population;
  const size_t first = c->model->design->fixed ? 1 + p->effects : 1; /* sds of 0 are fixed */
  const size_t other_blocks = block_count(c) - first;
  const double kind = idm_random_uniform(&c->random);
  const double block_draw = idm_random_uniform(&c->random) * (double)other_blocks;
  idm_population_assign(p, &from->population);
  c->log_proposal_ratio = 0;
  c->independent = kind < 0.25;
  c->block = kind < 0.5 || !other_blocks ? 0 : first + (size_t)block_draw;
  if (c->independent)
    draw_independent(c, p);
  else
    walk_block(c, p);
  set_from_u(c, to);
}

/* Robbins-Monro adaptation to an acceptance rate of 0.35. */
static void tune(hierarchy_chain *c, bool accepted)
{
  if (c->adapting && !c->independent) c->log_step[c->block] += 0.1 * ((accepted ? 1 : 0) - 0.35);
}

static void swap_states(hierarchy_state *a, hierarchy_state *b)
{
  const hierarchy_state kept = *a;
  *a = *b;
  *b = kept;
}

static void copy_state(const hierarchy_chain *c, hierarchy_state *to, const hierarchy_state *from)
{
  const size_t people = c->model->design->people;
  const size_t bytes = people * c->model->design->effects * sizeof *to->z;
  idm_population_assign(&to->population, &from->population);
  memcpy(to->z, from->z, bytes);
  memcpy(to->e, from->e, bytes);
  memcpy(to->surrogate, from->surrogate, people * sizeof *to->surrogate);
  to->log_prior_u = from->log_prior_u;
}

/* Take several steps by the tables. */
static void walk_by_table(hierarchy_chain *c)
{
  const size_t steps = 6 * block_count(c);
  copy_state(c, &c->proposal, &c->current);
  double density = c->proposal.log_prior_u + sum_likelihood(c, c->proposal.surrogate);
  for (size_t i = 0; i < steps; i++) {
    step(c, &c->proposal, &c->next);
    const double proposed_density = c->next.log_prior_u + sum_likelihood(c, c->next.surrogate);
    const bool accepted =
        log(idm_random_uniform(&c->random)) < proposed_density - density + c->log_proposal_ratio;
    tune(c, accepted);
    if (!accepted) continue;
    density = proposed_density;
    swap_states(&c->proposal, &c->next);
  }
}

/* Draw the population given the people; likelihoods do not change. */
static void draw_population(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  if (!d->fixed) draw_coefficients(c);
  if (!d->fixed) draw_covariance(c);
  if (c->current.population.spreads) draw_spreads(c);
}

void idm_chain_propose(hierarchy_chain *c)
{
  draw_population(c);
  set_u(c);
  c->by_table = idm_chain_uses_table(c, &c->random);
  if (c->by_table)
    walk_by_table(c);
  else
    step(c, &c->current, &c->proposal);
}

void idm_chain_accumulate(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  if (!c->adapting) return;
  idm_hmc_accumulate(c);
  c->sum_count++;
  for (size_t i = 0; i < d->people * d->effects; i++) c->sum[i] += c->current.e[i];
  for (size_t cell = 0; cell < d->cells; cell++) {
    double x[IDM_MAX_EFFECTS];
    idm_hierarchy_coordinates(d, cell, c->current.e + d->cell_person[cell] * d->effects, x);
    for (size_t k = 0; k < d->coordinates; k++) {
      c->low[k] = fmin(c->low[k], x[k]);
      c->high[k] = fmax(c->high[k], x[k]);
    }
  }
}

idm_status idm_chain_evaluate_exact(hierarchy_chain *c, const leaf_worker *worker, size_t from,
                                    size_t to, idm_error *opt_error)
{
  const size_t q = c->model->design->effects;
  idm_status status = IDM_OK;
  for (size_t i = from; i < to && status == IDM_OK && c->uses_exact; i++)
    status = idm_hierarchy_exact(c->model, worker, i, c->proposal.e + i * q, &c->proposal.exact[i],
                                 opt_error);
  return status;
}

void idm_chain_accept_reject(hierarchy_chain *c)
{
  if (c->uses_exact) {
    double log_ratio = sum_likelihood(c, c->proposal.exact) - sum_likelihood(c, c->current.exact);
    if (c->by_table)
      log_ratio -=
          sum_likelihood(c, c->proposal.surrogate) - sum_likelihood(c, c->current.surrogate);
    if (!c->by_table)
      log_ratio += c->proposal.log_prior_u - c->current.log_prior_u + c->log_proposal_ratio;
    const double log_uniform = log(idm_random_uniform(&c->random));
    const bool accepted = log_uniform < log_ratio ||
                          (isnan(log_ratio) && sum_likelihood(c, c->proposal.exact) > -INFINITY);
    if (!c->by_table) tune(c, accepted);
    c->proposed++;
    c->kept += accepted;
    if (!accepted) return;
  }
  idm_chain_accept(c);
}

/* Delayed acceptance requires a proposal that is reversible under the tables: each part is
 * reversible, and the order of the parts is palindromic. */
idm_status idm_chain_delayed_sweep(hierarchy_chain *c, const leaf_worker *worker,
                                   idm_error *opt_error)
{
  enum { rounds = 2 };
  const size_t people = c->model->design->people;
  draw_population(c);
  copy_state(c, &c->sweep_start, &c->current);
  memcpy(c->sweep_start.exact, c->current.exact, people * sizeof *c->current.exact);
  c->uses_exact = false;
  idm_status status = idm_chain_update_people(c, worker, 0, people, opt_error);
  for (int i = 0; i < rounds && status == IDM_OK; i++) {
    set_u(c);
    walk_by_table(c);
    idm_chain_accept(c);
    status = idm_chain_update_people(c, worker, 0, people, opt_error);
  }
  c->uses_exact = true;
  if (status == IDM_OK) status = idm_chain_evaluate(c, worker, 0, people, opt_error);
  if (status != IDM_OK) return status;
  const double log_ratio =
      sum_likelihood(c, c->current.exact) - sum_likelihood(c, c->current.surrogate) -
      (sum_likelihood(c, c->sweep_start.exact) - sum_likelihood(c, c->sweep_start.surrogate));
  const double log_uniform = log(idm_random_uniform(&c->random));
  const bool accepted = log_uniform < log_ratio ||
                        (isnan(log_ratio) && sum_likelihood(c, c->current.exact) > -INFINITY);
  c->proposed++;
  c->kept += accepted;
  if (!accepted) swap_states(&c->current, &c->sweep_start);
  return IDM_OK;
}
