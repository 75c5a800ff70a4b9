/* Samples the posterior of an audit by a hierarchical model whose people are the cells. For a
 * partition, cells vary normally about the level, so that each cell is a person with an intercept;
 * without pooling, the population is fixed at the prior. For predicates, cells are sums of shared
 * effects: fixed effects with a common spread. Agents nested in cells are sampled in nest.c.
 *
 * Contents: spread · joint · sample */
#include "invert/audit/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record.h"
#include "base/statistics.h"
#include "idm/extension/inverse.h"
#include "invert/hierarchy/hierarchy.h"
#include "invert/joint/joint.h"
#include "invert/posterior.h"

/* === spread =================================================================================== */

/* Effects with a common sd that is integrated out. In u = log tau, the integrand exp(-(K - 1) u -
 * squares / (2 tau^2) - tau^2 / (2 scale^2)) is smooth and decays doubly exponentially on both
 * sides, so that sums over a grid converge fast. Given levels, with mu integrated out, K - 1
 * independent contrasts replace the K effects, and the average is normal(mean, sqrt(sd^2 + tau^2 /
 * K)). */

enum { points = 256 };

/* Logarithms of the integrand on a grid that leaves out less than exp(-27) of its mass. */
typedef struct grid {
  double low;
  double step;
  double height[points]; /* relative to the maximum */
  double highest;
} grid;

/* Logarithm of an additional factor of the integrand. */
typedef double (*factor)(const void *context, double u);

static void tabulate(double squares, size_t count, double scale, factor opt_factor,
                     const void *context, double max_log_scale, grid *g)
{
  static const double margin = 2.2; /* exp(2 * 2.2) / 2 is 40 nats */
  const double effects = 0.5 * log(squares), prior = log(scale);
  g->low = fmin(effects, prior) - margin;
  g->step = (fmax(fmax(effects, prior), max_log_scale) + margin - g->low) / (points - 1);
  g->highest = -INFINITY;
  for (int i = 0; i < points; i++) {
    const double u = g->low + i * g->step;
    g->height[i] =
        -((double)count - 1) * u - 0.5 * exp(2 * (effects - u)) - 0.5 * exp(2 * (u - prior));
    if (opt_factor) g->height[i] += opt_factor(context, u);
    g->highest = fmax(g->highest, g->height[i]);
  }
}

/* Draw a grid point with probability proportional to its weight, and a uniform point in the
 * interval around it. */
static double draw_scale(const grid *g, idm_random *random)
{
  double weight[points];
  for (int i = 0; i < points; i++) weight[i] = exp(g->height[i] - g->highest);
  const double at = (double)idm_random_choice(random, weight, points);
  return exp(g->low + (at + idm_random_uniform(random) - 0.5) * g->step);
}

double idm_spread_log_prior(double squares, size_t count, double scale)
{
  grid g;
  double sum = 0;
  if (!(squares > 0) || !isfinite(squares) || !(scale > 0)) return -INFINITY;
  tabulate(squares, count, scale, NULL, NULL, -INFINITY, &g);
  for (int i = 0; i < points; i++) sum += exp(g.height[i] - g.highest);
  return g.highest + log(sum * g.step) - log(scale);
}

double idm_spread_draw(double squares, size_t count, double scale, idm_random *random)
{
  grid g;
  if (!(squares > 0) || !isfinite(squares) || !(scale > 0)) return NAN;
  tabulate(squares, count, scale, NULL, NULL, -INFINITY, &g);
  return draw_scale(&g, random);
}

/* Variance of the average of the levels, given tau. */
static double average_variance(const idm_spread_levels *l, double tau)
{
  return l->sd * l->sd + tau * tau / (double)l->count;
}

/* Log density of the average of the levels, given u = log tau. */
static double log_average(const void *context, double u)
{
  const idm_spread_levels *l = context;
  const double variance = average_variance(l, exp(u)), deviation = l->average - l->mean;
  return -0.5 * log(variance) - 0.5 * deviation * deviation / variance;
}

void idm_spread_draw_population(const idm_spread_levels *l, idm_random *random, double *ret_mean,
                                double *ret_spread)
{
  const double max_log_scale = log(fabs(l->average - l->mean)) + 0.5 * log((double)l->count);
  grid g;
  *ret_mean = *ret_spread = NAN;
  if (!(l->squares > 0) || !isfinite(l->squares) || !(max_log_scale < INFINITY) || !(l->scale > 0))
    return;
  tabulate(l->squares, l->count - 1, l->scale, log_average, l, max_log_scale, &g);
  const double tau = draw_scale(&g, random), variance = average_variance(l, tau);
  const double average_weight = l->sd * l->sd / variance; /* precision weight of the average */
  *ret_spread = tau;
  *ret_mean = average_weight * l->average + (1 - average_weight) * l->mean +
              l->sd * sqrt(1 - average_weight) * idm_random_normal(random);
}

/* === joint ==================================================================================== */

/* Audits with jointly sampled dynamics. The spread tau of the K effects of a coordinate is
 * integrated out of their prior and drawn afterwards (model.h). The marginal prior has a pole
 * |e|^(1-K) at 0, where chains would get stuck. The sampled numbers are mu and z with e = s/2
 * |z|^(K-1) z, [1 + K][dimension]: the Jacobian of this map, |e|^(K-1) up to a constant, cancels
 * the pole. */

/* Random stream of the spread, beyond those of chains. */
static const uint64_t spread_stream = (uint64_t)6 << 32;

/* Context of the functions of the sampled numbers. */
typedef struct effect_parameters {
  const audit_model *model;
  double scale; /* factor on the scales of the prior */
} effect_parameters;

/* Scale of tau in coordinate j. */
static double scale_of(const effect_parameters *l, size_t j)
{
  return 0.5 * l->scale * l->model->sd[j];
}

/* Ratio e / z in coordinate j. */
static double effect_ratio(const effect_parameters *l, const double *w, size_t j)
{
  const audit_model *m = l->model;
  double squares = 0;
  for (size_t k = 1; k <= m->effects; k++) squares += pow(w[k * m->dimension + j], 2);
  return scale_of(l, j) * pow(squares, 0.5 * ((double)m->effects - 1));
}

/* sum_k e_k^2 in coordinate j. */
static double squares_of(const effect_parameters *l, const double *w, size_t j)
{
  const double ratio = effect_ratio(l, w, j);
  double sum = 0;
  for (size_t k = 1; k <= l->model->effects; k++)
    sum += pow(ratio * w[k * l->model->dimension + j], 2);
  return sum;
}

static double log_prior(const void *context, const double *w)
{
  const effect_parameters *l = context;
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

static void cell_parameters(const void *context, size_t cell, const double *w, double *x)
{
  const effect_parameters *l = context;
  const audit_model *m = l->model;
  for (size_t j = 0; j < m->dimension; j++) {
    const double ratio = effect_ratio(l, w, j);
    x[j] = w[j];
    for (size_t k = 0; k < m->effects; k++)
      x[j] += m->share[cell * m->effects + k] * ratio * w[(k + 1) * m->dimension + j];
  }
}

/* Map the sampled numbers to mu and the effects, in which cells are linear. */
static void natural(const void *context, const double *w, double *n)
{
  const effect_parameters *l = context;
  const audit_model *m = l->model;
  for (size_t j = 0; j < m->dimension; j++) {
    const double ratio = effect_ratio(l, w, j);
    n[j] = w[j];
    for (size_t k = 1; k <= m->effects; k++)
      n[k * m->dimension + j] = ratio * w[k * m->dimension + j];
  }
}

static void inverse(const void *context, const double *n, double *w)
{
  const effect_parameters *l = context;
  const audit_model *m = l->model;
  for (size_t j = 0; j < m->dimension; j++) {
    double squares = 0;
    for (size_t k = 1; k <= m->effects; k++) squares += pow(n[k * m->dimension + j], 2);
    /* |e| = scale |z|^K, so that z / e = |z| / |e|. */
    const double length = sqrt(squares) / scale_of(l, j);
    const double inverse_ratio =
        length > 0 ? pow(length, 1 / (double)m->effects) / sqrt(squares) : 0;
    w[j] = n[j];
    for (size_t k = 1; k <= m->effects; k++)
      w[k * m->dimension + j] = inverse_ratio * n[k * m->dimension + j];
  }
}

/* Store one draw of coordinate j: mu, the effects and their spread. */
static void store_draw(const audit_draws *draws, const audit_model *m, size_t i, size_t j,
                       double mean, const double *effect, double sd)
{
  const size_t all = draws->chains * draws->draws;
  draws->mean[j * all + i] = mean;
  draws->sd[j * all + i] = sd;
  for (size_t k = 0; k < m->effects; k++)
    draws->effect[(k * m->dimension + j) * all + i] = effect[k];
}

/* Draw mu and the spread given the levels of cells that have one effect each. Only the prior
 * separates mu from the effects, so that chains move slowly between them. effect[K] is scratch. */
static void draw_population(const effect_parameters *l, const audit_draws *draws, size_t i,
                            size_t j, double *effect, idm_random *random)
{
  const audit_model *m = l->model;
  const size_t all = draws->chains * draws->draws;
  idm_welford sum = {0};
  double mean, sd;
  for (size_t c = 0; c < m->cells; c++)
    idm_welford_add(&sum, draws->cell[(c * m->dimension + j) * all + i]);
  const idm_spread_levels average_weight = {.count = m->cells,
                                            .average = sum.mean,
                                            .squares =
                                                idm_welford_variance(&sum) * ((double)m->cells - 1),
                                            .mean = m->mean[j],
                                            .sd = l->scale * m->sd[j],
                                            .scale = scale_of(l, j)};
  idm_spread_draw_population(&average_weight, random, &mean, &sd);
  for (size_t c = 0; c < m->cells; c++)
    effect[c] = draws->cell[(c * m->dimension + j) * all + i] - mean;
  store_draw(draws, m, i, j, mean, effect, sd);
}

/* Store all draws of the chains, with a draw of the spread for each. x[dimension + effects] is
 * scratch. */
static void store_joint_draws(const effect_parameters *l, const idm_chains *chains, size_t ratios,
                              uint64_t key, double *x, audit_draws *draws)
{
  const audit_model *m = l->model;
  const size_t d = m->dimension, all = draws->chains * draws->draws;
  idm_random random;
  idm_random_init(&random, key, spread_stream);
  for (size_t i = 0; i < all; i++) {
    const double *w = chains->draw + i * chains->dimension + ratios;
    for (size_t c = 0; c < m->cells; c++) {
      cell_parameters(l, c, w, x);
      for (size_t j = 0; j < d; j++) draws->cell[(c * d + j) * all + i] = x[j];
    }
    for (size_t j = 0; j < d; j++) {
      if (m->partition && m->cells > 1) {
        draw_population(l, draws, i, j, x + d, &random);
        continue;
      }
      const double ratio = effect_ratio(l, w, j);
      for (size_t k = 0; k < m->effects; k++) x[d + k] = ratio * w[(k + 1) * d + j];
      store_draw(draws, m, i, j, w[j], x + d,
                 idm_spread_draw(squares_of(l, w, j), m->effects, scale_of(l, j), &random));
    }
  }
}

/* Open the fits of the cells, for their parameters and trees of histories. */
static idm_status open_fits(const audit_model *m, fit_context *f, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t c = 0; c < m->cells && status == IDM_OK; c++)
    status = idm_fit_open(&f[c], idm_inverse_find("bayes"), m->joint->problem, m->cell[c].data,
                          m->settings, 1, opt_error);
  return status;
}

/* Set starting points of the search and prior scales. Effects start near 0. */
static void set_numbers(const effect_parameters *l, double *begin, double *unit)
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

static idm_status sample(const effect_parameters *l, const fit_context *f, double *begin,
                         double *unit, uint64_t key, const idm_fit_monitor *opt_monitor,
                         audit_draws *draws, idm_error *opt_error)
{
  const audit_model *m = l->model;
  const joint_parameters numbers = {.count = (1 + m->effects) * m->dimension,
                                    .context = l,
                                    .log_prior = log_prior,
                                    .cell_parameters = cell_parameters,
                                    .natural = natural,
                                    .inverse = inverse,
                                    .start = begin,
                                    .unit = unit};
  joint_target j = {.problem = m->joint->problem,
                    .cut = m->joint->cut,
                    .numbers = &numbers,
                    .learner = m->joint->learner,
                    .cells = m->cells,
                    .cell = f};
  idm_chains *chains = NULL;
  idm_joint_dynamics *dynamics = NULL;
  set_numbers(l, begin, unit);
  const idm_status status =
      idm_joint_draw(&j, m->settings, key, opt_monitor, &chains, &dynamics, opt_error);
  if (status == IDM_OK) {
    store_joint_draws(l, chains, j.ratios, key, begin, draws);
    idm_joint_dynamics_destroy(draws->dynamics);
    draws->dynamics = dynamics;
  }
  idm_chains_destroy(chains);
  return status;
}

/* Sample mu, tau, effects and cells of a pooled model jointly with its dynamics (see
 * idm_audit_sample). Fills draws->dynamics and leaves log_likelihood at 0. The cells of the model
 * need not be open. */
static idm_status idm_audit_joint_sample(const audit_model *m, double scale, uint64_t stream,
                                         const idm_fit_monitor *opt_monitor, audit_draws *draws,
                                         idm_error *opt_error)
{
  const effect_parameters l = {m, scale};
  const size_t count = (1 + m->effects) * m->dimension;
  fit_context *f = idm_new(m->cells, sizeof *f);
  double *begin = idm_new(2 * count, sizeof *begin);
  idm_status status = f && begin ? open_fits(m, f, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = sample(&l, f, begin, begin + count, m->key + stream, opt_monitor, draws, opt_error);
  for (size_t c = 0; f && c < m->cells; c++) idm_fit_close(&f[c]);
  free(f);
  free(begin);
  return status;
}

/* === sample =================================================================================== */

/* --- the design ----------------------------------------------------------------------------- */

/* Fill effect j, the j-th free number: an intercept and, for predicates, one coefficient per
 * predicate. Returns false if out of memory. */
static bool fill_effect(const audit_model *m, double scale, size_t j, idm_design *d)
{
  const size_t n = m->partition ? 1 : 1 + m->effects;
  double *w = d->regressor[j] = idm_new(idm_times(m->cells, n), sizeof *w);
  double *mean = d->coefficient_mean[j] = idm_new(n, sizeof *mean);
  double *sd = d->coefficient_sd[j] = idm_new(n, sizeof *sd);
  if (!w || !mean || !sd) return false;
  d->effect_coordinate[j] = (uint32_t)j;
  d->coefficients[j] = n;
  d->sd_scale[j] = scale * m->sd[j] * (m->pooled ? 0.5 : 1);
  mean[0] = m->mean[j];
  sd[0] = scale * m->sd[j];
  for (size_t k = 1; k < n; k++) sd[k] = 0.5 * scale * m->sd[j];
  for (size_t c = 0; c < m->cells; c++) {
    w[c * n] = 1;
    d->share[c * m->dimension + j] = 1;
    for (size_t k = 1; k < n; k++) w[c * n + k] = m->share[c * m->effects + k - 1];
  }
  return true;
}

/* Create the design, with s and the scales of tau multiplied by `scale`. */
static idm_status make_design(const audit_model *m, double scale, idm_design **ret_design,
                              idm_error *opt_error)
{
  const size_t q = m->dimension;
  idm_design *d = *ret_design = idm_new(1, sizeof *d);
  if (!d) return idm_fail_memory(opt_error);
  *d = (idm_design){.people = m->cells,
                    .cells = m->cells,
                    .coordinates = q,
                    .effects = q,
                    .pooled = m->partition ? 0 : m->effects,
                    .correlation = 1,
                    .independent = true,
                    .held = !m->pooled,
                    .fixed = !m->partition};
  d->cell_person = idm_new(m->cells, sizeof *d->cell_person);
  d->effect_coordinate = idm_new(q, sizeof *d->effect_coordinate);
  d->share = idm_new(idm_times(m->cells, q), sizeof *d->share);
  d->coefficients = idm_new(q, sizeof *d->coefficients);
  d->regressor = idm_new(q, sizeof *d->regressor);
  d->coefficient_mean = idm_new(q, sizeof *d->coefficient_mean);
  d->coefficient_sd = idm_new(q, sizeof *d->coefficient_sd);
  d->spread_scale = idm_new(q, sizeof *d->spread_scale);
  d->sd_scale = idm_new(q, sizeof *d->sd_scale);
  bool allocated = d->cell_person && d->effect_coordinate && d->share && d->coefficients &&
                   d->regressor && d->coefficient_mean && d->coefficient_sd && d->spread_scale &&
                   d->sd_scale;
  for (size_t c = 0; c < m->cells && allocated; c++) d->cell_person[c] = (uint32_t)c;
  for (size_t j = 0; j < q && allocated; j++) {
    d->spread_scale[j] = 0.5 * scale * m->sd[j];
    allocated = fill_effect(m, scale, j, d);
  }
  return allocated ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- leaves --------------------------------------------------------------------------------- */

/* Context of the leaves of the hierarchy. */
typedef struct leaf_context {
  const audit_model *model;
} leaf_context;

static double grid_log_likelihood(const void *context, size_t leaf, const double *x)
{
  const audit_model *m = ((const leaf_context *)context)->model;
  return idm_audit_grid_likelihood(&m->cell[leaf], m->dimension, x);
}

static idm_status exact_log_likelihood(void *context, const leaf_worker *lane, size_t leaf,
                                       const double *x, double *log_likelihood,
                                       idm_error *opt_error)
{
  const audit_model *m = ((const leaf_context *)context)->model;
  return idm_matching_log_likelihood(m->cell[leaf].f.matching[lane->chain], x, log_likelihood, NULL,
                                     opt_error);
}

static const double *start_of(const void *context, size_t leaf, size_t chain)
{
  const audit_model *m = ((const leaf_context *)context)->model;
  return m->cell[leaf].start + chain * m->dimension;
}

static leaf_source make_leaf_source(leaf_context *cells)
{
  const audit_model *m = cells->model;
  bool all_have_grids = true;
  for (size_t c = 0; c < m->cells; c++) all_have_grids = all_have_grids && m->cell[c].grid;
  return (leaf_source){.context = cells,
                       .table = all_have_grids ? grid_log_likelihood : NULL,
                       .exact = exact_log_likelihood,
                       .start = start_of};
}

/* Check that the log-likelihood is finite at the starting point of every chain. IDM_NUMERICAL
 * otherwise. */
static idm_status check_starts(leaf_context *cells, idm_error *opt_error)
{
  const audit_model *m = cells->model;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < m->cells * m->settings->chains && status == IDM_OK; i++) {
    const leaf_worker lane = {.chain = i / m->cells};
    double found;
    status = exact_log_likelihood(cells, &lane, i % m->cells,
                                  start_of(cells, i % m->cells, lane.chain), &found, opt_error);
    if (status == IDM_OK && !isfinite(found))
      return idm_fail(opt_error, IDM_NUMERICAL,
                      "a group has no starting point that explains its data: some decision has "
                      "probability 0 there");
  }
  return status;
}

/* --- draws ---------------------------------------------------------------------------------- */

/* Sweeps per draw. With tables, a sweep costs little, so draws are thinned. */
static long thinning(const audit_model *m, const leaf_source *leaves)
{
  enum { grid_thin = 2 };
  if (m->settings->thin > 0) return m->settings->thin;
  return leaves->table && !m->exact ? grid_thin : 1;
}

static void store_draws(const audit_model *m, const idm_people *p, audit_draws *draws)
{
  const size_t d = m->dimension, all = draws->chains * draws->draws;
  const size_t bytes = all * sizeof(double);
  for (size_t j = 0; j < d; j++) {
    const double *b = p->coefficient + p->coefficient_first[j] * all;
    memcpy(draws->mean + j * all, b, bytes);
    memcpy(draws->sd + j * all, (m->partition ? p->sd : p->spread) + j * all, bytes);
    for (size_t c = 0; c < m->cells; c++)
      memcpy(draws->cell + (c * d + j) * all, p->effect + (j * m->cells + c) * all, bytes);
    for (size_t k = 0; k < m->effects; k++) {
      double *effect = draws->effect + (k * d + j) * all;
      const double *from = m->partition ? draws->cell + (k * d + j) * all : b + (1 + k) * all;
      for (size_t i = 0; i < all; i++) effect[i] = from[i] - (m->partition ? b[i] : 0);
    }
  }
  memcpy(draws->log_likelihood, p->log_likelihood, m->cells * bytes);
}

/* Progress monitor of a sampling run. */
typedef struct sampling_progress {
  const audit_watch *watch;
  uint64_t step;
  bool stopped;
} sampling_progress;

static bool progress(void *context, const idm_progress_state *work)
{
  sampling_progress *w = context;
  w->stopped = w->stopped || idm_audit_report_progress(w->watch, work->done, w->step, work);
  return w->stopped;
}

/* Sample jointly with the dynamics. */
static idm_status draw_jointly(const audit_model *m, double scale, uint64_t stream,
                               sampling_progress *w, audit_draws *draws, idm_error *opt_error)
{
  idm_fit_monitor watch = {.progress = progress, .context = w};
  if (w->watch && w->watch->journal) idm_journal_resume_step(w->watch->journal, w->step, &watch);
  const bool is_watched = w->watch && w->watch->opt_monitor;
  return idm_audit_joint_sample(m, scale, stream, is_watched ? &watch : NULL, draws, opt_error);
}

static idm_status draw(const audit_model *m, double scale, uint64_t stream, sampling_progress *w,
                       audit_draws *draws, idm_error *opt_error)
{
  leaf_context cells = {m};
  const leaf_source leaves = make_leaf_source(&cells);
  idm_fit_monitor watch = {.progress = progress, .context = w};
  idm_fit_settings settings = *m->settings;
  idm_design *design = NULL;
  idm_people *people = NULL;
  settings.thin = thinning(m, &leaves);
  if (w->watch && w->watch->journal) idm_journal_resume_step(w->watch->journal, w->step, &watch);
  idm_status status = check_starts(&cells, opt_error);
  if (status == IDM_OK) status = make_design(m, scale, &design, opt_error);
  if (status == IDM_OK) {
    const hierarchy_request request = {.design = design,
                                       .leaves = &leaves,
                                       .exact = m->exact,
                                       .settings = &settings,
                                       .key = m->key,
                                       .stream = stream,
                                       .opt_monitor =
                                           w->watch && w->watch->opt_monitor ? &watch : NULL};
    status = idm_hierarchy_sample(&request, &people, NULL, opt_error);
  }
  if (status == IDM_OK && !w->stopped) store_draws(m, people, draws);
  idm_people_destroy(people);
  idm_design_destroy(design);
  return status;
}

idm_status idm_audit_sample(const audit_model *m, double scale, uint64_t stream,
                            const audit_watch *opt_monitor, audit_draws *draws,
                            idm_error *opt_error)
{
  idm_journal *journal = opt_monitor ? opt_monitor->journal : NULL;
  const size_t number = journal ? idm_journal_count(journal) : 0;
  const size_t parts = m->cohorts ? m->cohorts : 1;
  idm_status status = idm_audit_draws_create(m, draws, opt_error);
  for (size_t i = 0; i < parts && status == IDM_OK; i++) {
    sampling_progress w = {.watch = opt_monitor};
    idm_record record;
    w.step = opt_monitor
                 ? idm_audit_step(AUDIT_STEP_SAMPLE, opt_monitor->dynamics_index, number << 16 | i)
                 : 0;
    if (journal && idm_journal_get(journal, w.step, &record)) {
      status = m->cohorts ? idm_audit_nest_pass(m, i, scale, &record, opt_error) : IDM_OK;
      idm_audit_draws_pass(m, draws, &record);
      if (status == IDM_OK) status = idm_record_close(&record, true, opt_error);
      continue;
    }
    status = m->cohorts ? idm_audit_nest_sample(m, scale, opt_monitor, w.step, i, &w.stopped, draws,
                                                opt_error)
             : m->joint ? draw_jointly(m, scale, stream, &w, draws, opt_error)
                        : draw(m, scale, stream, &w, draws, opt_error);
    if (w.stopped) status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
    if (status != IDM_OK || !journal) continue;
    idm_journal_begin(w.step, &record);
    if (m->cohorts) status = idm_audit_nest_pass(m, i, scale, &record, opt_error);
    idm_audit_draws_pass(m, draws, &record);
    if (status == IDM_OK) status = idm_journal_put(journal, w.step, &record, opt_error);
  }
  if (status != IDM_OK) idm_audit_draws_clear(draws);
  return status;
}
