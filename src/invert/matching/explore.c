/* Exploration of a posterior by adaptive importance sampling: defensive mixtures (Hesterberg 1995),
 * fitted to their own points (population Monte Carlo, Cappe et al. 2004), with weights by the
 * mixture of all proposals (balance heuristic, Veach and Guibas 1995).
 *
 * Contents: creation · points · modes · summaries · rounds · starts */
#include "base/statistics.h"
#include "invert/cancel.h"
#include "invert/matching/fit.h"

#include <assert.h>
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "invert/parameters.h"
#include "setting/model.h"

/* Largest number of modes, and of components including those fitted to points. */
enum { max_modes = 8, max_components = 16 };
/* Shares of the proposals: the broad prior, the modes, and the last fitted component. Without a
 * fitted component the modes have its share too. */
static const double prior_share = 0.2, mode_share = 0.35, fitted_share = 0.45;
/* Least share of a mode among the modes. */
static const double min_mode_share = 0.05;

/* --- creation -------------------------------------------------------------------------------- */

void idm_exploration_destroy(idm_exploration *e)
{
  if (!e) return;
  for (size_t i = 0; e->component && i < max_components; i++) {
    free(e->component[i].centre);
    free(e->component[i].covariance);
  }
  free(e->component);
  idm_parameters_destroy(e->wide_prior);
  if (e->default_problem.theta != e->f->problem->theta) idm_theta_destroy(e->default_problem.theta);
  free(e->point);
  free(e->log_density);
  free(e->log_weight);
  free(e->weight);
  free(e);
}

/* Create the broad prior: the problem's own priors, with default ones in place of flat ones. */
static idm_status create_prior(idm_exploration *e, idm_error *opt_error)
{
  const idm_problem *problem = e->f->problem;
  idm_theta *theta = NULL;
  idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status != IDM_OK) return status;
  e->default_problem.theta = theta;
  for (size_t i = 0; i < theta->blocks && status == IDM_OK; i++)
    if (theta->block[i].role == IDM_DESCRIPTIVE && theta->block[i].prior.kind == IDM_PRIOR_FLAT)
      status =
          idm_theta_set_default_prior(theta, i, idm_problem_prior_range(problem, i), opt_error);
  if (status == IDM_OK)
    status = idm_parameters_create(&e->default_problem, &e->wide_prior, opt_error);
  if (status == IDM_OK) e->log_mass = idm_parameters_log_mass(e->wide_prior);
  return status;
}

static idm_status allocate_points(idm_exploration *e, idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  e->component = idm_new(max_components, sizeof *e->component);
  e->point = idm_new(idm_times(e->capacity, d), sizeof *e->point);
  e->log_density = idm_new(e->capacity, sizeof *e->log_density);
  e->log_weight = idm_new(e->capacity, sizeof *e->log_weight);
  e->weight = idm_new(e->capacity, sizeof *e->weight);
  if (!e->component || !e->point || !e->log_density || !e->log_weight || !e->weight)
    return idm_fail_memory(opt_error);
  for (size_t i = 0; i < max_components; i++) {
    e->component[i].centre = idm_new(d, sizeof *e->component[i].centre);
    e->component[i].covariance = idm_new(d * d, sizeof *e->component[i].covariance);
    if (!e->component[i].centre || !e->component[i].covariance) return idm_fail_memory(opt_error);
  }
  return IDM_OK;
}

idm_status idm_exploration_create(const fit_context *f, size_t streams, uint64_t first_stream,
                                  size_t capacity, idm_exploration **ret_exploration,
                                  idm_error *opt_error)
{
  *ret_exploration = NULL;
  idm_exploration *e = idm_new(1, sizeof *e);
  if (!e) return idm_fail_memory(opt_error);
  e->f = f;
  e->default_problem = *f->problem;
  e->streams = streams;
  e->first_stream = first_stream;
  e->capacity = capacity;
  idm_status status = allocate_points(e, opt_error);
  if (status == IDM_OK) status = create_prior(e, opt_error);
  if (status != IDM_OK) {
    idm_exploration_destroy(e);
    return status;
  }
  *ret_exploration = e;
  return IDM_OK;
}

/* --- points --------------------------------------------------------------------------------- */

static void draw_prior(const void *context, idm_random *random, double *x)
{
  const idm_exploration *e = context;
  idm_parameters_draw(e->wide_prior, random, x);
}

static double prior_log_density(const void *context, const double *x)
{
  const idm_exploration *e = context;
  return idm_parameters_log_prior(e->wide_prior, x, NULL) - e->log_mass;
}

/* Create a mixture with given weights of the broad prior and of every component (NULL: the broad
 * prior only). */
static idm_status make_mixture(const idm_exploration *e, double wide_prior,
                               const double *opt_weight, idm_mixture **ret_mixture,
                               idm_error *opt_error)
{
  const idm_defensive_component prior = {e, draw_prior, prior_log_density};
  const idm_status status = idm_mixture_create(e->f->parameters->dimension, e->components, prior,
                                               wide_prior, ret_mixture, opt_error);
  for (size_t i = 0; opt_weight && i < e->components && status == IDM_OK; i++)
    idm_mixture_add(*ret_mixture, opt_weight[i], e->component[i].centre,
                    e->component[i].covariance);
  return status;
}

/* Draws of all streams, evaluated in parallel. */
typedef struct stream_draws {
  idm_exploration *e;
  const idm_mixture *mixture;
  size_t draws; /* per stream */
  idm_status *status;
  idm_error *error;
} stream_draws;

static void draw_stream(void *context, size_t stream)
{
  const stream_draws *work = context;
  idm_exploration *e = work->e;
  const size_t d = e->f->parameters->dimension;
  const idm_target target = idm_matching_target(e->f->matching[stream % e->f->matchings]);
  idm_random random;
  /* Streams of later rounds are offset by the number of points so far. */
  idm_random_init(&random, e->f->key, e->first_stream + e->points * e->streams + stream);
  for (size_t i = 0; i < work->draws && work->status[stream] == IDM_OK; i++) {
    const size_t at = e->points + stream * work->draws + i;
    double point_density = -INFINITY;
    idm_mixture_draw(work->mixture, &random, e->point + at * d);
    work->status[stream] = target.evaluate(target.context, e->point + at * d, &point_density, NULL,
                                           &work->error[stream]);
    e->log_density[at] = isnan(point_density) ? -INFINITY : point_density;
  }
}

/* Compute the weights of all points by the mixture of all proposals. */
static idm_status compute_weights(idm_exploration *e, idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  double drawn[max_components];
  for (size_t i = 0; i < e->components; i++) drawn[i] = e->component[i].drawn;
  idm_mixture *all = NULL;
  double *work = idm_new(d, sizeof *work);
  idm_status status = work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = make_mixture(e, e->prior_drawn, drawn, &all, opt_error);
  for (size_t i = 0; i < e->points && status == IDM_OK; i++) {
    const double proposed = idm_mixture_log_density(all, e->point + i * d, work);
    e->log_weight[i] = isfinite(e->log_density[i]) ? e->log_density[i] - proposed : -INFINITY;
  }
  /* Equal weights if the target is 0 at every point. */
  if (status == IDM_OK && idm_softmax(e->log_weight, e->points, e->weight) == -INFINITY)
    for (size_t i = 0; i < e->points; i++) e->weight[i] = 1 / (double)e->points;
  idm_mixture_destroy(all);
  free(work);
  return status;
}

static idm_status draw(idm_exploration *e, const idm_mixture *mixture, size_t draws,
                       idm_error *opt_error)
{
  stream_draws work = {.e = e, .mixture = mixture, .draws = draws};
  if (e->points + e->streams * draws > e->capacity) draws = work.draws = 0;
  work.status = idm_new(e->streams, sizeof *work.status);
  work.error = idm_new(e->streams, sizeof *work.error);
  idm_status status = work.status && work.error ? IDM_OK : idm_fail_memory(opt_error);
  /* A matching belongs to one thread. */
  if (status == IDM_OK)
    status = idm_cancel_parallel(e->f->parameters->cancel, e->streams,
                                 e->f->matchings < e->streams ? 1 : e->f->settings->threads,
                                 draw_stream, &work, opt_error);
  for (size_t i = 0; i < e->streams && status == IDM_OK; i++) {
    status = work.status[i];
    if (status != IDM_OK && opt_error) *opt_error = work.error[i];
  }
  if (status == IDM_OK) e->points += e->streams * draws;
  free(work.status);
  free(work.error);
  return status;
}

/* --- modes ---------------------------------------------------------------------------------- */

/* Whether the straight line from a to b, of these log densities, crosses a valley. */
static idm_status valley_between(const idm_exploration *e, const double *a, double at_a,
                                 const double *b, double at_b, double *work, bool *valley,
                                 idm_error *opt_error)
{
  enum { path_steps = 4 };
  static const double valley_depth = 0.1;
  const size_t d = e->f->parameters->dimension;
  const idm_target target = idm_matching_target(e->f->matching[0]);
  idm_status status = IDM_OK;
  *valley = false;
  for (int k = 1; k < path_steps && status == IDM_OK && !*valley; k++) {
    double point_density = -INFINITY;
    for (size_t i = 0; i < d; i++) work[i] = a[i] + (b[i] - a[i]) * k / path_steps;
    status = target.evaluate(target.context, work, &point_density, NULL, opt_error);
    *valley = !(point_density >= fmin(at_a, at_b) - valley_depth);
  }
  return status;
}

/* Whether y is separated by a valley from every mode so far. */
static idm_status is_separate_mode(const idm_exploration *e, const double *y, double at_y,
                                   double *work, bool *separate, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  *separate = true;
  for (size_t m = 0; m < e->modes && status == IDM_OK && *separate; m++)
    status = valley_between(e, y, at_y, e->component[m].centre, e->component[m].log_density, work,
                            separate, opt_error);
  return status;
}

/* Add a mode if it is separated from those so far. */
static idm_status add_mode(idm_exploration *e, const chain_start *s, double *work,
                           idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  bool separate = true;
  if (e->modes == max_modes || !idm_start_is_dense(d)) return IDM_OK;
  const idm_status status =
      is_separate_mode(e, s->mode, s->log_density, work, &separate, opt_error);
  if (status != IDM_OK || !separate) return status;
  idm_component *component = &e->component[e->modes++];
  e->components = e->modes;
  memcpy(component->centre, s->mode, d * sizeof *s->mode);
  memcpy(component->covariance, s->covariance, d * d * sizeof *s->covariance);
  component->log_density = s->log_density;
  component->definite = s->definite;
  return IDM_OK;
}

/* Index of the highest point with a log density below `below_density`; the number of points if
 * there is none. */
static size_t next_highest(const idm_exploration *e, double below_density)
{
  size_t at = e->points;
  for (size_t i = 0; i < e->points; i++)
    if (e->log_density[i] < below_density && isfinite(e->log_density[i]) &&
        (at == e->points || e->log_density[i] > e->log_density[at]))
      at = i;
  return at;
}

/* Search from the highest points that are separated from the modes so far. */
static idm_status search_modes(idm_exploration *e, chain_start *scratch, double *work,
                               idm_error *opt_error)
{
  enum { max_examined = 24, max_searches = 6 };
  const size_t d = e->f->parameters->dimension;
  double below_density = INFINITY;
  idm_status status = IDM_OK;
  for (int k = 0, searches = 0; k < max_examined && searches < max_searches && status == IDM_OK;
       k++) {
    bool separate;
    const size_t at = next_highest(e, below_density);
    if (at == e->points) break;
    below_density = e->log_density[at];
    status = is_separate_mode(e, e->point + at * d, below_density, work, &separate, opt_error);
    if (status != IDM_OK || !separate) continue;
    searches++;
    memcpy(scratch->mode, e->point + at * d, d * sizeof *work);
    scratch->log_density = below_density;
    status = idm_start_maximise(e->f, 0, scratch, opt_error);
    if (status == IDM_OK) status = add_mode(e, scratch, work, opt_error);
    if (status == IDM_NUMERICAL) status = IDM_OK; /* no derivative at this point */
  }
  return status;
}

/* Add modes of the starts, the highest first, so that lower ones without a valley between are
 * merged into it. */
static idm_status add_start_modes(idm_exploration *e, chain_start *const *starts, size_t count,
                                  double *work, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  double below_density = INFINITY;
  for (size_t k = 0; k < count && status == IDM_OK; k++) {
    size_t at = count;
    for (size_t i = 0; i < count; i++)
      if (starts[i]->log_density < below_density &&
          (at == count || starts[i]->log_density > starts[at]->log_density))
        at = i;
    if (at == count) break;
    below_density = starts[at]->log_density;
    if (k == 0) status = idm_matching_fix_start(e->f->matching[0], starts[at]->mode, opt_error);
    if (status == IDM_OK) status = add_mode(e, starts[at], work, opt_error);
  }
  return status;
}

idm_status idm_explore_modes(idm_exploration *e, chain_start *const *starts, size_t count,
                             size_t pilot_draws, idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  chain_start *scratch = NULL;
  idm_mixture *wide_prior = NULL;
  double *work = idm_new(d, sizeof *work);
  idm_status status = work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_start_create(d, &scratch, opt_error);
  if (status == IDM_OK) status = make_mixture(e, 1, NULL, &wide_prior, opt_error);
  if (status == IDM_OK) status = draw(e, wide_prior, pilot_draws, opt_error);
  e->prior_drawn = (double)e->points;
  if (status == IDM_OK) status = add_start_modes(e, starts, count, work, opt_error);
  if (status == IDM_OK && e->modes) status = search_modes(e, scratch, work, opt_error);
  if (status == IDM_OK && e->modes)
    status = idm_matching_fix_start(e->f->matching[0], e->component[0].centre, opt_error);
  if (status == IDM_OK) status = compute_weights(e, opt_error);
  idm_mixture_destroy(wide_prior);
  idm_start_destroy(scratch);
  free(work);
  return status;
}

/* --- summaries ------------------------------------------------------------------------------- */

double idm_exploration_ess(const idm_exploration *e)
{
  return idm_effective_size(e->weight, e->points);
}

/* Normal deviance of y: twice the log of the volume of the component plus the squared distance of y
 * from its centre; INFINITY if its covariance is not positive definite. */
static double normal_deviance(const idm_component *component, size_t d, const double *y,
                              double *factor)
{
  double *x = factor + d * d, sum = 0;
  memcpy(factor, component->covariance, d * d * sizeof *factor);
  if (!idm_cholesky(d, factor)) return INFINITY;
  for (size_t i = 0; i < d; i++) x[i] = y[i] - component->centre[i];
  idm_lower_solve(d, factor, x);
  for (size_t i = 0; i < d; i++) sum += x[i] * x[i] + 2 * log(factor[i * d + i]);
  return sum;
}

size_t idm_exploration_nearest_mode(const idm_exploration *e, const double *y, double *work)
{
  size_t nearest = 0;
  double smallest = INFINITY;
  for (size_t m = 0; m < e->modes; m++) {
    const double point_density =
        normal_deviance(&e->component[m], e->f->parameters->dimension, y, work);
    if (!(point_density < smallest)) continue;
    smallest = point_density;
    nearest = m;
  }
  return nearest;
}

idm_status idm_exploration_mode_mass(const idm_exploration *e, double *share, idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  double *work = idm_new(d * (d + 1), sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  for (size_t m = 0; m < e->modes; m++) share[m] = 0;
  assert(!e->points || e->modes); /* points are drawn around modes */
  for (size_t i = 0; i < e->points; i++)
    share[idm_exploration_nearest_mode(e, e->point + i * d, work)] += e->weight[i];
  free(work);
  return IDM_OK;
}

/* Compute weight[components] of the next proposals: modes by density times volume. */
static void choose_weights(const idm_exploration *e, double *weight, double *factor)
{
  const size_t d = e->f->parameters->dimension;
  const bool fitted = e->components > e->modes;
  for (size_t m = 0; m < e->modes; m++) {
    /* At its own centre the deviance is the log of the squared volume. */
    const double volume =
        0.5 * normal_deviance(&e->component[m], d, e->component[m].centre, factor);
    weight[m] = e->component[m].log_density + (isfinite(volume) ? volume : 0);
  }
  idm_softmax_floor(weight, e->modes, min_mode_share);
  for (size_t m = 0; m < e->modes; m++) weight[m] *= mode_share + (fitted ? 0 : fitted_share);
  for (size_t i = e->modes; i < e->components; i++)
    weight[i] = i + 1 == e->components ? fitted_share : 0;
}

idm_status idm_exploration_mixture(const idm_exploration *e, idm_mixture **ret_mixture,
                                   idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  double weight[max_components];
  double *work = idm_new(d * (d + 1), sizeof *work);
  *ret_mixture = NULL;
  if (!work) return idm_fail_memory(opt_error);
  choose_weights(e, weight, work);
  free(work);
  return make_mixture(e, prior_share, weight, ret_mixture, opt_error);
}

/* --- rounds --------------------------------------------------------------------------------- */

idm_status idm_explore_add(idm_exploration *e, const double *centre, const double *covariance,
                           idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  if (e->components == max_components) return IDM_OK;
  double *factor = idm_duplicate(covariance, d * d, sizeof *factor);
  if (!factor) return idm_fail_memory(opt_error);
  if (idm_cholesky(d, factor)) {
    idm_component *component = &e->component[e->components++];
    memcpy(component->centre, centre, d * sizeof *centre);
    memcpy(component->covariance, covariance, d * d * sizeof *covariance);
    component->drawn = 0;
  }
  free(factor);
  return IDM_OK;
}

idm_status idm_explore_round(idm_exploration *e, size_t draws, idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  const double before = (double)e->points;
  double weight[max_components] = {0};
  idm_mixture *mixture = NULL;
  double *work = idm_new(d * (d + 1), sizeof *work);
  idm_status status = work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    choose_weights(e, weight, work);
    status = make_mixture(e, prior_share, weight, &mixture, opt_error);
  }
  if (status == IDM_OK) status = draw(e, mixture, draws, opt_error);
  const double drawn = (double)e->points - before;
  for (size_t i = 0; i < e->components && status == IDM_OK; i++)
    e->component[i].drawn += drawn * weight[i];
  e->prior_drawn += drawn * prior_share;
  if (status == IDM_OK) status = compute_weights(e, opt_error);
  /* A covariance requires more effective points than it has entries. */
  if (status == IDM_OK && idm_exploration_ess(e) > (double)(2 * d * (d + 1))) {
    idm_covariance(&(idm_points){e->point, e->points, d, d, 1, e->weight}, 0, work, work + d);
    status = idm_explore_add(e, work, work + d, opt_error);
  }
  idm_mixture_destroy(mixture);
  free(work);
  return status;
}

/* --- starts --------------------------------------------------------------------------------- */

/* Choose the mode of a chain. */
static idm_status choose_mode(const idm_exploration *e, size_t chain, size_t *ret_mode,
                              idm_error *opt_error)
{
  /* With few effective points, shares are unreliable; heights are used instead, exp(-10) being
   * negligible. */
  static const double min_ess = 50, min_mass = 1e-3, max_drop = 10;
  double share[max_modes], highest = -INFINITY;
  size_t eligible[max_modes] = {0}, count = 0;
  const bool has_ess = idm_exploration_ess(e) >= min_ess;
  const idm_status status = idm_exploration_mode_mass(e, share, opt_error);
  for (size_t m = 0; m < e->modes; m++) highest = fmax(highest, e->component[m].log_density);
  for (size_t m = 0; m < e->modes && status == IDM_OK; m++)
    if (has_ess ? share[m] > min_mass : e->component[m].log_density > highest - max_drop)
      eligible[count++] = m;
  *ret_mode = count ? eligible[chain % count] : 0;
  return status;
}

idm_status idm_explore_start(const idm_exploration *e, size_t chain, chain_start *s,
                             idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  size_t mode = 0;
  double total = 0;
  double *flattened_weight = idm_new(e->points, sizeof *flattened_weight);
  double *work = idm_new(d * (d + 1), sizeof *work);
  idm_status status = flattened_weight && work ? choose_mode(e, chain, &mode, opt_error)
                                               : idm_fail_memory(opt_error);
  for (size_t i = 0; i < e->points && status == IDM_OK; i++)
    if (idm_exploration_nearest_mode(e, e->point + i * d, work) == mode)
      total += flattened_weight[i] = sqrt(e->weight[i]);
  if (status == IDM_OK) {
    const idm_component *component = &e->component[mode];
    memcpy(s->mode, component->centre, d * sizeof *s->mode);
    memcpy(s->covariance, component->covariance, d * d * sizeof *s->covariance);
    s->log_density = component->log_density;
    s->definite = component->definite;
    s->x_chosen = total > 0;
  }
  if (status == IDM_OK && s->x_chosen) {
    idm_random random;
    idm_random_init(&random, e->f->key, e->first_stream + (UINT64_C(1) << 31) + chain);
    const size_t at = idm_random_choice(&random, flattened_weight, e->points);
    memcpy(s->x, e->point + at * d, d * sizeof *s->x);
  }
  free(flattened_weight);
  free(work);
  return status;
}
