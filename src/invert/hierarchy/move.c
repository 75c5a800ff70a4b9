/* Moves of the population: given the people, and with them.
 *
 * Contents: closed form · slices · covariance · spreads · with the people */
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "invert/hierarchy/approximate.h"
#include "invert/hierarchy/check.h"
#include "invert/hierarchy/hamiltonian.h"
#include "invert/hierarchy/move.h"
#include "invert/hierarchy/person.h"

/* --- closed form ---------------------------------------------------------------------------- */

/* Effects stay where they are; their means have moved by `shift` coefficients, or the factor has
 * changed: r is e - m before the change, [person][effect]. */
static void stay(hierarchy_chain *c, const double *r)
{
  const size_t q = c->model->design->effects;
  for (size_t i = 0; i < c->model->design->people; i++) {
    memcpy(c->now.z + i * q, r + i * q, q * sizeof *r);
    idm_lower_solve(q, c->now.population.factor, c->now.z + i * q);
  }
}

/* e - m, from z: a difference would lose what a small sd leaves. */
static void residuals(const hierarchy_chain *c, double *r)
{
  const size_t q = c->model->design->effects;
  memcpy(r, c->now.z, c->model->design->people * q * sizeof *r);
  for (size_t i = 0; i < c->model->design->people; i++)
    idm_lower_multiply(q, c->now.population.factor, r + i * q);
}

/* Precision of the coefficients given the people, and its product with the distance of their mean
 * from where they are. */
static void regress(const hierarchy_chain *c, double *precision, double *right)
{
  const idm_design *d = c->model->design;
  const population *p = &c->now.population;
  const size_t q = d->effects, n = p->coefficients;
  double omega[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS], y[IDM_MOST_EFFECTS];
  idm_cholesky_inverse(q, p->factor, omega);
  for (size_t j = 0; j < q; j++)
    for (size_t a = p->first[j]; a < p->first[j + 1]; a++) {
      const double sd = idm_population_coefficient_sd(d, p, j, a - p->first[j]);
      right[a] = (d->coefficient_mean[j][a - p->first[j]] - p->b[a]) / (sd * sd);
      for (size_t k = 0; k < q; k++)
        for (size_t b = p->first[k]; b < p->first[k + 1]; b++)
          precision[a * n + b] = omega[j * q + k] * c->model->gram[a * n + b];
      precision[a * n + a] += 1 / (sd * sd);
    }
  for (size_t i = 0; i < d->people; i++) {
    memcpy(y, c->now.z + i * q, q * sizeof *y);
    idm_lower_solve_transposed(q, p->factor, y);
    for (size_t j = 0; j < q; j++)
      for (size_t a = 0; a < d->coefficients[j]; a++)
        right[p->first[j] + a] += d->regressor[j][i * d->coefficients[j] + a] * y[j];
  }
}

static bool all_finite(const double *x, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

/* Coefficients given people and covariance: a normal regression. */
static void draw_coefficients(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  population *p = &c->now.population;
  const size_t q = d->effects, n = p->coefficients;
  double *precision = c->scratch;
  double *shift = precision + n * n;
  double *r = c->next.e;
  regress(c, precision, shift);
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
  stay(c, r);
}

/* --- slices --------------------------------------------------------------------------------- */

/* A density of the population as its numbers are, up to a constant. */
typedef double (*log_density)(hierarchy_chain *chain, const double *given);

/* One number by slice sampling (Neal 2003): an interval is found by stepping out, then shrinks. */
static void slice(hierarchy_chain *c, log_density density, const double *given, double *number,
                  double width)
{
  enum { most_steps = 20, most_shrinks = 200 };
  const double now = *number;
  const double level = density(c, given) + log(idm_random_uniform(&c->random));
  double low = now - width * idm_random_uniform(&c->random);
  double high = low + width;
  for (int i = 0; i < most_steps; i++, low -= width) {
    *number = low;
    if (!(density(c, given) > level)) break;
  }
  for (int i = 0; i < most_steps; i++, high += width) {
    *number = high;
    if (!(density(c, given) > level)) break;
  }
  for (int i = 0; i < most_shrinks; i++) {
    *number = low + (high - low) * idm_random_uniform(&c->random);
    if (density(c, given) > level) return;
    if (*number < now)
      low = *number;
    else
      high = *number;
  }
  *number = now;
}

/* --- covariance ----------------------------------------------------------------------------- */

/* Log density of the covariance given the people: they enter by the scatter of their residuals. */
static double covariance_density(hierarchy_chain *c, const double *scatter)
{
  const idm_design *d = c->model->design;
  population *p = &c->now.population;
  const size_t q = d->effects;
  double omega[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS];
  idm_population_build(p);
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
  population *p = &c->now.population;
  const size_t q = d->effects;
  double scatter[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS] = {0};
  double *r = c->next.e;
  residuals(c, r);
  for (size_t i = 0; i < d->people; i++)
    for (size_t j = 0; j < q; j++)
      for (size_t k = 0; k < q; k++) scatter[j * q + k] += r[i * q + j] * r[i * q + k];
  if (covariance_density(c, scatter) > -INFINITY) {
    for (size_t j = 0; j < q; j++)
      slice(c, covariance_density, scatter, &p->root[j], d->sd_scale[j]);
    for (size_t k = 0; k < p->pairs; k++) slice(c, covariance_density, scatter, &p->partial[k], 1);
  }
  idm_population_build(p);
  stay(c, r);
}

/* --- spreads -------------------------------------------------------------------------------- */

/* Log density of spreads given the pooled coefficients. */
static double spread_density(hierarchy_chain *c, const double *given)
{
  (void)given;
  const double density = idm_population_log_density(c->model->design, &c->now.population);
  return isfinite(density) ? density : -INFINITY;
}

/* The spread of an effect given the people and what its pooled coefficients are in units of it: a
 * normal regression of r = e - m on what one unit of it adds to each person's mean. */
static void scale_spread(hierarchy_chain *c, size_t j, double *r)
{
  const idm_design *d = c->model->design;
  population *p = &c->now.population;
  const size_t q = d->effects, n = d->coefficients[j], first = n - d->pooled;
  const double *b = p->b + p->first[j];
  const double spread = p->spread[j], scale = d->spread_scale[j];
  double omega[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS], square = 0, product = 0;
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
  idm_population_respread(d, p, j, spread + shift);
  for (size_t i = 0; i < d->people; i++) r[i * q + j] -= shift * unit[i];
}

/* Both ways (Yu and Meng 2011): given the coefficients, which is quick where groups of people tell
 * them apart; and with the coefficients in proportion, which is quick where they do not. */
static void draw_spreads(hierarchy_chain *c)
{
  const population *p = &c->now.population;
  const bool vary = !c->model->design->fixed;
  double *r = c->next.e;
  if (vary) residuals(c, r);
  for (size_t j = 0; j < p->spreads; j++) {
    slice(c, spread_density, NULL, &p->spread[j], c->model->design->spread_scale[j]);
    if (vary) scale_spread(c, j, r);
  }
  if (vary) stay(c, r);
}

/* --- with the people ------------------------------------------------------------------------ */

/* Put everybody at u under a population: z, e, the table's word and
 * rest = sum_i (-|z_i|^2/2 - log det T_i) + log prior, the log density of (population, u) less the
 * likelihoods. */
static void carry(hierarchy_chain *c, hierarchy_state *s)
{
  const idm_design *d = c->model->design;
  const size_t q = d->effects;
  double t[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS], v[IDM_MOST_EFFECTS], mean[IDM_MOST_EFFECTS];
  double scratch[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS];
  normal_frame frame = {.effects = q, .t = t, .v = v};
  s->rest = idm_population_log_prior(d, &s->population);
  for (size_t i = 0; i < d->people && d->fixed; i++)
    idm_population_mean(d, &s->population, i, s->e + i * q);
  for (size_t i = 0; i < d->people && !d->fixed; i++) {
    double *z = s->z + i * q;
    double squares = 0;
    idm_population_mean(d, &s->population, i, mean);
    idm_normal_frame(&frame, s->population.factor, mean, c->curvature + i * q * q, c->pull + i * q,
                     scratch);
    idm_normal_open(&frame, c->u + i * q, z);
    idm_normal_effects(q, s->population.factor, mean, z, s->e + i * q);
    for (size_t j = 0; j < q; j++) squares += z[j] * z[j];
    s->rest -= 0.5 * squares + frame.log_det;
  }
  for (size_t i = 0; i < d->people && c->model->tabled; i++)
    s->rough[i] = idm_model_rough(c->model, i, s->e + i * q);
}

/* u of everybody as they are, and the rest of their density. */
static void hold(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  const size_t q = d->effects;
  double t[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS], v[IDM_MOST_EFFECTS], mean[IDM_MOST_EFFECTS];
  double scratch[IDM_MOST_EFFECTS * IDM_MOST_EFFECTS];
  normal_frame frame = {.effects = q, .t = t, .v = v};
  c->now.rest = idm_population_log_prior(d, &c->now.population);
  for (size_t i = 0; i < d->people && !d->fixed; i++) {
    const double *z = c->now.z + i * q;
    idm_population_mean(d, &c->now.population, i, mean);
    idm_normal_frame(&frame, c->now.population.factor, mean, c->curvature + i * q * q,
                     c->pull + i * q, scratch);
    idm_normal_close(&frame, z, c->u + i * q);
    for (size_t j = 0; j < q; j++) c->now.rest -= 0.5 * z[j] * z[j];
    c->now.rest -= frame.log_det;
  }
}

static double total(const hierarchy_chain *c, const double *likelihood)
{
  double sum = 0;
  for (size_t i = 0; i < c->model->design->people; i++) sum += likelihood[i];
  return sum;
}

/* Blocks that steps have sizes for: all coefficients, then each root, partial and spread. */
static size_t blocks(const hierarchy_chain *c)
{
  const population *p = &c->now.population;
  return 1 + p->effects + p->pairs + p->spreads;
}

/* Some coefficients, by their places in b: one column of regressors over all effects, the same with
 * the first column, which it may trade with, or all. */
static size_t choose_coefficients(hierarchy_chain *c, size_t *place)
{
  enum { few = 12 };
  const idm_design *d = c->model->design;
  const population *p = &c->now.population;
  size_t columns = 0, count = 0;
  for (size_t j = 0; j < d->effects; j++)
    columns = d->coefficients[j] > columns ? d->coefficients[j] : columns;
  const size_t column = (size_t)(idm_random_uniform(&c->random) * (double)columns);
  const double kind = idm_random_uniform(&c->random);
  const bool all = p->coefficients <= few && kind<0.5, two = kind> 0.75;
  for (size_t j = 0; j < d->effects; j++)
    for (size_t a = 0; a < d->coefficients[j]; a++)
      if (all || a == column || (two && a == 0)) place[count++] = p->first[j] + a;
  return count;
}

/* Half the square of x's distance from the centre, under the factor of a precision. */
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

/* Log density of a t of five degrees. */
static double log_student(size_t n, double half)
{
  return -0.5 * (5 + (double)n) * log1p(2 * half / 5);
}

/* Draw some coefficients anew from their conditional under the approximations, u of everybody held,
 * with heavier tails. Given covariance and spreads that conditional does not depend on u: under
 * the approximations the two are independent. */
static void draw_anew(hierarchy_chain *c, population *p)
{
  const idm_design *d = c->model->design;
  const size_t n = p->coefficients;
  double *precision = c->regression, *factor = precision + n * n, *right = factor + n * n;
  double *centre = right + n, *now = centre + n, *scratch = now + n;
  size_t *place = c->place;
  const size_t count = choose_coefficients(c, place);
  c->ratio = -INFINITY;
  idm_chain_regress(c, p, precision, right);
  for (size_t j = 0; j < d->effects; j++)
    for (size_t a = p->first[j]; a < p->first[j + 1]; a++) {
      const double sd = idm_population_coefficient_sd(d, p, j, a - p->first[j]);
      precision[a * (n + 1)] += 1 / (sd * sd);
      right[a] += d->coefficient_mean[j][a - p->first[j]] / (sd * sd);
    }
  for (size_t i = 0; i < count; i++) {
    centre[i] = right[place[i]];
    for (size_t a = 0; a < n; a++) centre[i] -= precision[place[i] * n + a] * p->b[a];
    for (size_t k = 0; k < count; k++) factor[i * count + k] = precision[place[i] * n + place[k]];
    now[i] = p->b[place[i]];
  }
  if (!all_finite(factor, count * count) || !idm_cholesky(count, factor)) return;
  idm_lower_solve(count, factor, centre);
  idm_lower_solve_transposed(count, factor, centre);
  for (size_t i = 0; i < count; i++) centre[i] += now[i];
  const double before = half_square(count, factor, centre, now, scratch);
  const double wide = sqrt(2.5 / idm_random_gamma(&c->random, 2.5));
  for (size_t i = 0; i < count; i++) now[i] = wide * idm_random_normal(&c->random);
  idm_lower_solve_transposed(count, factor, now);
  for (size_t i = 0; i < count; i++) p->b[place[i]] = now[i] += centre[i];
  const double after = half_square(count, factor, centre, now, scratch);
  c->ratio = log_student(count, before) - log_student(count, after);
}

/* A walk of one block: all coefficients, a root, a partial, or a spread, which takes its
 * coefficients along. */
static void walk(hierarchy_chain *c, population *p)
{
  const size_t n = p->coefficients;
  const double size = exp(c->log_step[c->block]);
  const size_t spreads_from = blocks(c) - p->spreads;
  if (c->block >= spreads_from && p->spreads) {
    const size_t j = c->block - spreads_from;
    const double spread = p->spread[j] + size * idm_random_normal(&c->random);
    idm_population_respread(c->model->design, p, j, spread);
  } else if (c->block) {
    p->number[n + c->block - 1] += size * idm_random_normal(&c->random);
    idm_population_build(p);
  } else {
    double *shift = c->scratch;
    for (size_t a = 0; a < n; a++) shift[a] = size * idm_random_normal(&c->random);
    idm_lower_solve_transposed(n, c->precision, shift);
    for (size_t a = 0; a < n; a++) p->b[a] += shift[a];
  }
}

/* One step: half of them move coefficients, by a walk or anew, and half another block. The kind is
 * drawn each time, so that the way back is as likely. */
static void step(hierarchy_chain *c, const hierarchy_state *from, hierarchy_state *to)
{
  population *p = &to->population;
  const size_t first = c->model->design->fixed ? 1 + p->effects : 1; /* sds of 0 do not move */
  const size_t others = blocks(c) - first;
  const double kind = idm_random_uniform(&c->random);
  const double which = idm_random_uniform(&c->random) * (double)others;
  idm_population_assign(p, &from->population);
  c->ratio = 0;
  c->anew = kind < 0.25;
  c->block = kind < 0.5 || !others ? 0 : first + (size_t)which;
  if (c->anew)
    draw_anew(c, p);
  else
    walk(c, p);
  carry(c, to);
}

/* Robbins and Monro: three or four in ten. */
static void tune(hierarchy_chain *c, bool accepted)
{
  if (c->adapting && !c->anew) c->log_step[c->block] += 0.1 * ((accepted ? 1 : 0) - 0.35);
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
  memcpy(to->rough, from->rough, people * sizeof *to->rough);
  to->rest = from->rest;
}

/* Steps by the tables. */
static void wander(hierarchy_chain *c)
{
  const size_t steps = 6 * blocks(c);
  copy_state(c, &c->trial, &c->now);
  double density = c->trial.rest + total(c, c->trial.rough);
  for (size_t i = 0; i < steps; i++) {
    step(c, &c->trial, &c->next);
    const double new = c->next.rest + total(c, c->next.rough);
    const bool accepted = log(idm_random_uniform(&c->random)) < new - density + c->ratio;
    tune(c, accepted);
    if (!accepted) continue;
    density = new;
    swap_states(&c->trial, &c->next);
  }
}

/* The population given the people: no likelihood changes. */
static void draw_population(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  if (!d->fixed) draw_coefficients(c);
  if (!d->fixed) draw_covariance(c);
  if (c->now.population.spreads) draw_spreads(c);
}

void idm_chain_propose(hierarchy_chain *c)
{
  draw_population(c);
  hold(c);
  c->led = idm_chain_trusts(c, &c->random);
  if (c->led)
    wander(c);
  else
    step(c, &c->now, &c->trial);
}

void idm_chain_tally(hierarchy_chain *c)
{
  const idm_design *d = c->model->design;
  if (!c->adapting) return;
  idm_motion_tally(c);
  c->summed++;
  for (size_t i = 0; i < d->people * d->effects; i++) c->sum[i] += c->now.e[i];
  for (size_t cell = 0; cell < d->cells; cell++) {
    double x[IDM_MOST_EFFECTS];
    idm_model_numbers(d, cell, c->now.e + d->cell_person[cell] * d->effects, x);
    for (size_t k = 0; k < d->coordinates; k++) {
      c->low[k] = fmin(c->low[k], x[k]);
      c->high[k] = fmax(c->high[k], x[k]);
    }
  }
}

idm_status idm_chain_judge(hierarchy_chain *c, const leaf_lane *lane, size_t from, size_t to,
                           idm_error *opt_error)
{
  const size_t q = c->model->design->effects;
  idm_status status = IDM_OK;
  for (size_t i = from; i < to && status == IDM_OK && c->exactly; i++)
    status = idm_model_exact(c->model, lane, i, c->trial.e + i * q, &c->trial.exact[i], opt_error);
  return status;
}

void idm_chain_decide(hierarchy_chain *c)
{
  if (c->exactly) {
    double gain = total(c, c->trial.exact) - total(c, c->now.exact);
    if (c->led) gain -= total(c, c->trial.rough) - total(c, c->now.rough);
    if (!c->led) gain += c->trial.rest - c->now.rest + c->ratio;
    const double bar = log(idm_random_uniform(&c->random));
    const bool accepted = bar < gain || (isnan(gain) && total(c, c->trial.exact) > -INFINITY);
    if (!c->led) tune(c, accepted);
    c->proposed++;
    c->kept += accepted;
    if (!accepted) return;
  }
  idm_chain_swap(c);
}

/* Delayed acceptance needs a proposal that is reversible under the tables: each part is, and their
 * order is the same backwards. */
idm_status idm_chain_sweep_tables(hierarchy_chain *c, const leaf_lane *lane, idm_error *opt_error)
{
  enum { rounds = 2 };
  const size_t people = c->model->design->people;
  draw_population(c);
  copy_state(c, &c->begun, &c->now);
  memcpy(c->begun.exact, c->now.exact, people * sizeof *c->now.exact);
  c->exactly = false;
  idm_status status = idm_chain_people(c, lane, 0, people, opt_error);
  for (int i = 0; i < rounds && status == IDM_OK; i++) {
    hold(c);
    wander(c);
    idm_chain_swap(c);
    status = idm_chain_people(c, lane, 0, people, opt_error);
  }
  c->exactly = true;
  if (status == IDM_OK) status = idm_chain_look(c, lane, 0, people, opt_error);
  if (status != IDM_OK) return status;
  const double gain = total(c, c->now.exact) - total(c, c->now.rough) -
                      (total(c, c->begun.exact) - total(c, c->begun.rough));
  const double bar = log(idm_random_uniform(&c->random));
  const bool accepted = bar < gain || (isnan(gain) && total(c, c->now.exact) > -INFINITY);
  c->proposed++;
  c->kept += accepted;
  if (!accepted) swap_states(&c->now, &c->begun);
  return IDM_OK;
}
