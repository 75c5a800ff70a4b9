/* Audits over dynamics that are drawn together with the decisions: see the header.
 *
 * The spread tau of the K effects of a coordinate is integrated out of their prior and drawn
 * afterwards (spread.h). That prior has a pole |e|^(1-K) at 0, in which chains would be stuck. The
 * numbers behind the decisions are mu and z with e = s/2 |z|^(K-1) z, [1 + K][dimension]: the
 * Jacobian of this map, up to a constant |e|^(K-1), cancels the pole. */
#include "invert/audit/joint.h"

#include <math.h>

#include "base/memory.h"
#include "base/moments.h"
#include "idm/inverse.h"
#include "invert/audit/spread.h"
#include "invert/joint/joint.h"

/* Streams of the spread, beyond those of chains. */
static const uint64_t spread_stream = (uint64_t)6 << 32;

/* What the numbers of a model refer to. */
typedef struct levels {
  const audit_model *model;
  double scale; /* of the prior */
} levels;

/* Scale of tau in coordinate j. */
static double scale_of(const levels *l, size_t j)
{
  return 0.5 * l->scale * l->model->sd[j];
}

/* e / z in coordinate j. */
static double stretch_of(const levels *l, const double *w, size_t j)
{
  const audit_model *m = l->model;
  double squares = 0;
  for (size_t k = 1; k <= m->effects; k++) squares += pow(w[k * m->dimension + j], 2);
  return scale_of(l, j) * pow(squares, 0.5 * ((double)m->effects - 1));
}

/* sum_k e_k^2 in coordinate j. */
static double squares_of(const levels *l, const double *w, size_t j)
{
  const double stretch = stretch_of(l, w, j);
  double sum = 0;
  for (size_t k = 1; k <= l->model->effects; k++)
    sum += pow(stretch * w[k * l->model->dimension + j], 2);
  return sum;
}

static double log_prior(const void *context, const double *w)
{
  const levels *l = context;
  const audit_model *m = l->model;
  double sum = 0;
  for (size_t j = 0; j < m->dimension; j++) {
    const double level = (w[j] - m->mean[j]) / (l->scale * m->sd[j]);
    const double squares = squares_of(l, w, j);
    sum += idm_spread_log_prior(squares, m->effects, scale_of(l, j)) - 0.5 * level * level +
           0.5 * ((double)m->effects - 1) * log(squares);
  }
  return sum;
}

static void place(const void *context, size_t cell, const double *w, double *x)
{
  const levels *l = context;
  const audit_model *m = l->model;
  for (size_t j = 0; j < m->dimension; j++) {
    const double stretch = stretch_of(l, w, j);
    x[j] = w[j];
    for (size_t k = 0; k < m->effects; k++)
      x[j] += m->share[cell * m->effects + k] * stretch * w[(k + 1) * m->dimension + j];
  }
}

/* mu and the effects: cells are linear in them. */
static void natural(const void *context, const double *w, double *n)
{
  const levels *l = context;
  const audit_model *m = l->model;
  for (size_t j = 0; j < m->dimension; j++) {
    const double stretch = stretch_of(l, w, j);
    n[j] = w[j];
    for (size_t k = 1; k <= m->effects; k++)
      n[k * m->dimension + j] = stretch * w[k * m->dimension + j];
  }
}

static void inverse(const void *context, const double *n, double *w)
{
  const levels *l = context;
  const audit_model *m = l->model;
  for (size_t j = 0; j < m->dimension; j++) {
    double squares = 0;
    for (size_t k = 1; k <= m->effects; k++) squares += pow(n[k * m->dimension + j], 2);
    /* |e| = scale |z|^K, so that z / e is |z| / |e|. */
    const double length = sqrt(squares) / scale_of(l, j);
    const double shrink = length > 0 ? pow(length, 1 / (double)m->effects) / sqrt(squares) : 0;
    w[j] = n[j];
    for (size_t k = 1; k <= m->effects; k++)
      w[k * m->dimension + j] = shrink * n[k * m->dimension + j];
  }
}

/* What a draw of the chains has of coordinate j: mu, then the effects, and their spread. */
static void place_draw(const audit_draws *draws, const audit_model *m, size_t i, size_t j,
                       double mean, const double *effect, double sd)
{
  const size_t all = draws->chains * draws->draws;
  draws->mean[j * all + i] = mean;
  draws->sd[j * all + i] = sd;
  for (size_t k = 0; k < m->effects; k++)
    draws->effect[(k * m->dimension + j) * all + i] = effect[k];
}

/* Draw mu and the spread given the levels of cells that each have an effect of their own: nothing
 * but the prior separates mu from the effects, and chains move slowly between them. effect[K] is
 * scratch. */
static void draw_population(const levels *l, const audit_draws *draws, size_t i, size_t j,
                            double *effect, idm_random *random)
{
  const audit_model *m = l->model;
  const size_t all = draws->chains * draws->draws;
  idm_welford sum = {0};
  double mean, sd;
  for (size_t c = 0; c < m->cells; c++)
    idm_welford_add(&sum, draws->cell[(c * m->dimension + j) * all + i]);
  const idm_spread_levels own = {.count = m->cells,
                                 .average = sum.mean,
                                 .squares = idm_welford_variance(&sum) * ((double)m->cells - 1),
                                 .mean = m->mean[j],
                                 .sd = l->scale * m->sd[j],
                                 .scale = scale_of(l, j)};
  idm_spread_draw_population(&own, random, &mean, &sd);
  for (size_t c = 0; c < m->cells; c++)
    effect[c] = draws->cell[(c * m->dimension + j) * all + i] - mean;
  place_draw(draws, m, i, j, mean, effect, sd);
}

/* Every draw, with a spread of its own; x[dimension + effects] is scratch. */
static void pour(const levels *l, const idm_chains *chains, size_t ratios, uint64_t key, double *x,
                 audit_draws *draws)
{
  const audit_model *m = l->model;
  const size_t d = m->dimension, all = draws->chains * draws->draws;
  idm_random random;
  idm_random_init(&random, key, spread_stream);
  for (size_t i = 0; i < all; i++) {
    const double *w = chains->draw + i * chains->dimension + ratios;
    for (size_t c = 0; c < m->cells; c++) {
      place(l, c, w, x);
      for (size_t j = 0; j < d; j++) draws->cell[(c * d + j) * all + i] = x[j];
    }
    for (size_t j = 0; j < d; j++) {
      if (m->partition && m->cells > 1) {
        draw_population(l, draws, i, j, x + d, &random);
        continue;
      }
      const double stretch = stretch_of(l, w, j);
      for (size_t k = 0; k < m->effects; k++) x[d + k] = stretch * w[(k + 1) * d + j];
      place_draw(draws, m, i, j, w[j], x + d,
                 idm_spread_draw(squares_of(l, w, j), m->effects, scale_of(l, j), &random));
    }
  }
}

/* Fits of the cells, for their parameters and trees. */
static idm_status open_fits(const audit_model *m, fit *f, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++)
    status = idm_fit_open(&f[c], idm_inverse_find("bayes"), m->joint->problem, m->cell[c].data,
                          m->settings, 1, opt_error);
  return status;
}

/* Where searches begin, and how wide the prior is: effects begin near 0. */
static void set_numbers(const levels *l, double *begin, double *unit)
{
  const audit_model *m = l->model;
  for (size_t j = 0; j < m->dimension; j++) {
    begin[j] = m->mean[j];
    unit[j] = l->scale * m->sd[j];
    for (size_t k = 1; k <= m->effects; k++) {
      begin[k * m->dimension + j] = 0.02 * unit[j];
      unit[k * m->dimension + j] = scale_of(l, j);
    }
  }
}

static idm_status sample(const levels *l, const fit *f, double *begin, double *unit, uint64_t key,
                         const idm_fit_watch *opt_watch, audit_draws *draws, idm_error *opt_error)
{
  const audit_model *m = l->model;
  const joint_numbers numbers = {.count = (1 + m->effects) * m->dimension,
                                 .context = l,
                                 .log_prior = log_prior,
                                 .place = place,
                                 .natural = natural,
                                 .inverse = inverse,
                                 .start = begin,
                                 .unit = unit};
  joint j = {.problem = m->joint->problem,
             .cut = m->joint->cut,
             .numbers = &numbers,
             .learner = m->joint->learner,
             .cells = m->cells,
             .cell = f};
  idm_chains *chains = NULL;
  idm_joint_dynamics *dynamics = NULL;
  set_numbers(l, begin, unit);
  const idm_status status =
      idm_joint_draw(&j, m->settings, key, opt_watch, &chains, &dynamics, opt_error);
  if (status == IDM_OK) {
    pour(l, chains, j.ratios, key, begin, draws);
    idm_joint_dynamics_destroy(draws->dynamics);
    draws->dynamics = dynamics;
  }
  idm_chains_destroy(chains);
  return status;
}

idm_status idm_audit_joint_sample(const audit_model *m, double scale, uint64_t stream,
                                  const idm_fit_watch *opt_watch, audit_draws *draws,
                                  idm_error *opt_error)
{
  const levels l = {m, scale};
  const size_t count = (1 + m->effects) * m->dimension;
  fit *f = idm_new(m->cells, sizeof *f);
  double *begin = idm_new(2 * count, sizeof *begin);
  idm_status status = f && begin ? open_fits(m, f, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = sample(&l, f, begin, begin + count, m->key + stream, opt_watch, draws, opt_error);
  for (size_t c = 0; f && c < m->cells; c++) idm_fit_close(&f[c]);
  free(f);
  free(begin);
  return status;
}
