/* Importance sampling by defensive mixtures (Hesterberg 1995) that learn from their own points (the
 * population Monte Carlo of Cappe et al. 2004), weighted by everything proposed so far (the balance
 * heuristic of Veach and Guibas 1995).
 *
 * Contents: making · points · modes · what they show · rounds · starts */
#include "invert/matching/explore.h"
#include "base/log_sum.h"
#include "base/moments.h"
#include "invert/matching/halt.h"

#include <assert.h>
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "invert/matching/matching.h"
#include "invert/parameter_prior.h"
#include "setting/freedom.h"

/* Modes told apart, and parts fitted to points. */
enum { most_modes = 8, most_parts = 16 };
/* Shares of the proposals: the broad prior, the modes, and the part fitted last. Without the last
 * the modes have its share too. */
static const double broad_share = 0.2, mode_share = 0.35, last_share = 0.45;
/* No mode is proposed more rarely than this among the modes. */
static const double least_share = 0.05;

/* --- making --------------------------------------------------------------------------------- */

void idm_exploration_destroy(idm_exploration *e)
{
  if (!e) return;
  for (size_t i = 0; e->part && i < most_parts; i++) {
    free(e->part[i].centre);
    free(e->part[i].spread);
  }
  free(e->part);
  idm_parameters_destroy(e->broad);
  if (e->usual.theta != e->f->problem->theta) idm_theta_destroy(e->usual.theta);
  free(e->point);
  free(e->log_density);
  free(e->log_weight);
  free(e->weight);
  free(e);
}

/* Priors to draw from: the problem's own, and default ones where they are flat. */
static idm_status find_broad(idm_exploration *e, idm_error *opt_error)
{
  const idm_problem *problem = e->f->problem;
  idm_theta *theta = NULL;
  idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status != IDM_OK) return status;
  e->usual.theta = theta;
  for (size_t i = 0; i < theta->blocks && status == IDM_OK; i++)
    if (theta->block[i].role == IDM_DESCRIPTIVE && theta->block[i].prior.kind == IDM_PRIOR_FLAT)
      status = idm_theta_default_prior(theta, i, idm_problem_range(problem, i), opt_error);
  if (status == IDM_OK) status = idm_parameters_create(&e->usual, &e->broad, opt_error);
  if (status == IDM_OK) e->log_mass = idm_parameters_log_mass(e->broad);
  return status;
}

static idm_status make_room(idm_exploration *e, idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  e->part = idm_new(most_parts, sizeof *e->part);
  e->point = idm_new(idm_times(e->capacity, d), sizeof *e->point);
  e->log_density = idm_new(e->capacity, sizeof *e->log_density);
  e->log_weight = idm_new(e->capacity, sizeof *e->log_weight);
  e->weight = idm_new(e->capacity, sizeof *e->weight);
  if (!e->part || !e->point || !e->log_density || !e->log_weight || !e->weight)
    return idm_fail_memory(opt_error);
  for (size_t i = 0; i < most_parts; i++) {
    e->part[i].centre = idm_new(d, sizeof *e->part[i].centre);
    e->part[i].spread = idm_new(d * d, sizeof *e->part[i].spread);
    if (!e->part[i].centre || !e->part[i].spread) return idm_fail_memory(opt_error);
  }
  return IDM_OK;
}

idm_status idm_exploration_create(const fit *f, size_t lanes, uint64_t first_stream,
                                  size_t capacity, idm_exploration **ret_exploration,
                                  idm_error *opt_error)
{
  *ret_exploration = NULL;
  idm_exploration *e = idm_new(1, sizeof *e);
  if (!e) return idm_fail_memory(opt_error);
  e->f = f;
  e->usual = *f->problem;
  e->lanes = lanes;
  e->first_stream = first_stream;
  e->capacity = capacity;
  idm_status status = make_room(e, opt_error);
  if (status == IDM_OK) status = find_broad(e, opt_error);
  if (status != IDM_OK) {
    idm_exploration_destroy(e);
    return status;
  }
  *ret_exploration = e;
  return IDM_OK;
}

/* --- points --------------------------------------------------------------------------------- */

static void draw_broad(const void *context, idm_random *random, double *x)
{
  const idm_exploration *e = context;
  idm_parameters_draw(e->broad, random, x);
}

static double broad_log_density(const void *context, const double *x)
{
  const idm_exploration *e = context;
  return idm_parameters_log_prior(e->broad, x, NULL) - e->log_mass;
}

/* A mixture with given weights of the broad prior and of every part (NULL: of none). */
static idm_status mix(const idm_exploration *e, double broad, const double *opt_weight,
                      idm_mixture **ret_mixture, idm_error *opt_error)
{
  const idm_broad prior = {e, draw_broad, broad_log_density};
  const idm_status status = idm_mixture_create(e->f->parameters->dimension, e->parts, prior, broad,
                                               ret_mixture, opt_error);
  for (size_t i = 0; opt_weight && i < e->parts && status == IDM_OK; i++)
    idm_mixture_add(*ret_mixture, opt_weight[i], e->part[i].centre, e->part[i].spread);
  return status;
}

/* Points of all lanes, drawn and evaluated side by side. */
typedef struct drawing {
  idm_exploration *e;
  const idm_mixture *mixture;
  size_t draws; /* a lane */
  idm_status *status;
  idm_error *error;
} drawing;

static void draw_lane(void *context, size_t lane)
{
  const drawing *work = context;
  idm_exploration *e = work->e;
  const size_t d = e->f->parameters->dimension;
  const idm_target target = idm_matching_target(e->f->matching[lane % e->f->matchings]);
  idm_random random;
  /* Streams of later rounds begin where the points so far end. */
  idm_random_init(&random, e->f->key, e->first_stream + e->points * e->lanes + lane);
  for (size_t i = 0; i < work->draws && work->status[lane] == IDM_OK; i++) {
    const size_t at = e->points + lane * work->draws + i;
    double here = -INFINITY;
    idm_mixture_draw(work->mixture, &random, e->point + at * d);
    work->status[lane] =
        target.evaluate(target.context, e->point + at * d, &here, NULL, &work->error[lane]);
    e->log_density[at] = isnan(here) ? -INFINITY : here;
  }
}

/* Weights of all points by everything that was proposed. */
static idm_status weigh(idm_exploration *e, idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  double drawn[most_parts];
  for (size_t i = 0; i < e->parts; i++) drawn[i] = e->part[i].drawn;
  idm_mixture *all = NULL;
  double *work = idm_new(d, sizeof *work);
  idm_status status = work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = mix(e, e->broad_drawn, drawn, &all, opt_error);
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
  drawing work = {.e = e, .mixture = mixture, .draws = draws};
  if (e->points + e->lanes * draws > e->capacity) draws = work.draws = 0;
  work.status = idm_new(e->lanes, sizeof *work.status);
  work.error = idm_new(e->lanes, sizeof *work.error);
  idm_status status = work.status && work.error ? IDM_OK : idm_fail_memory(opt_error);
  /* A matching belongs to one thread. */
  if (status == IDM_OK)
    status = idm_halt_parallel(e->f->parameters->halt, e->lanes,
                               e->f->matchings < e->lanes ? 1 : e->f->settings->threads, draw_lane,
                               &work, opt_error);
  for (size_t i = 0; i < e->lanes && status == IDM_OK; i++) {
    status = work.status[i];
    if (status != IDM_OK && opt_error) *opt_error = work.error[i];
  }
  if (status == IDM_OK) e->points += e->lanes * draws;
  free(work.status);
  free(work.error);
  return status;
}

/* --- modes ---------------------------------------------------------------------------------- */

/* Whether the way from a to b, of these log densities, leads through a valley. */
static idm_status valley_between(const idm_exploration *e, const double *a, double at_a,
                                 const double *b, double at_b, double *work, bool *valley,
                                 idm_error *opt_error)
{
  enum { stops = 4 };
  static const double depth = 0.1;
  const size_t d = e->f->parameters->dimension;
  const idm_target target = idm_matching_target(e->f->matching[0]);
  idm_status status = IDM_OK;
  *valley = false;
  for (int k = 1; k < stops && status == IDM_OK && !*valley; k++) {
    double here = -INFINITY;
    for (size_t i = 0; i < d; i++) work[i] = a[i] + (b[i] - a[i]) * k / stops;
    status = target.evaluate(target.context, work, &here, NULL, opt_error);
    *valley = !(here >= fmin(at_a, at_b) - depth);
  }
  return status;
}

/* Whether y lies beyond a valley from every mode so far. */
static idm_status stands_apart(const idm_exploration *e, const double *y, double at_y, double *work,
                               bool *apart, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  *apart = true;
  for (size_t m = 0; m < e->modes && status == IDM_OK && *apart; m++)
    status = valley_between(e, y, at_y, e->part[m].centre, e->part[m].log_density, work, apart,
                            opt_error);
  return status;
}

/* Keep a mode that stands apart from those so far. */
static idm_status keep_mode(idm_exploration *e, const start *s, double *work, idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  bool apart = true;
  if (e->modes == most_modes || !idm_start_is_dense(d)) return IDM_OK;
  const idm_status status = stands_apart(e, s->mode, s->log_density, work, &apart, opt_error);
  if (status != IDM_OK || !apart) return status;
  idm_part *part = &e->part[e->modes++];
  e->parts = e->modes;
  memcpy(part->centre, s->mode, d * sizeof *s->mode);
  memcpy(part->spread, s->covariance, d * d * sizeof *s->covariance);
  part->log_density = s->log_density;
  part->definite = s->definite;
  return IDM_OK;
}

/* The highest point not yet looked at, below `under`; the number of points where there is none. */
static size_t next_highest(const idm_exploration *e, double under)
{
  size_t at = e->points;
  for (size_t i = 0; i < e->points; i++)
    if (e->log_density[i] < under && isfinite(e->log_density[i]) &&
        (at == e->points || e->log_density[i] > e->log_density[at]))
      at = i;
  return at;
}

/* Climb from the highest points that stand apart from the modes so far. */
static idm_status search(idm_exploration *e, start *scratch, double *work, idm_error *opt_error)
{
  enum { looked_at = 24, most_climbs = 6 };
  const size_t d = e->f->parameters->dimension;
  double under = INFINITY;
  idm_status status = IDM_OK;
  for (int k = 0, climbs = 0; k < looked_at && climbs < most_climbs && status == IDM_OK; k++) {
    bool apart;
    const size_t at = next_highest(e, under);
    if (at == e->points) break;
    under = e->log_density[at];
    status = stands_apart(e, e->point + at * d, under, work, &apart, opt_error);
    if (status != IDM_OK || !apart) continue;
    climbs++;
    memcpy(scratch->mode, e->point + at * d, d * sizeof *work);
    scratch->log_density = under;
    status = idm_start_climb(e->f, 0, scratch, opt_error);
    if (status == IDM_OK) status = keep_mode(e, scratch, work, opt_error);
    if (status == IDM_NUMERICAL) status = IDM_OK; /* nowhere to climb from there */
  }
  return status;
}

/* Modes of the starts, the highest first: what is higher up stands for what lies around it. */
static idm_status take_starts(idm_exploration *e, start *const *starts, size_t count, double *work,
                              idm_error *opt_error)
{
  idm_status status = IDM_OK;
  double under = INFINITY;
  for (size_t k = 0; k < count && status == IDM_OK; k++) {
    size_t at = count;
    for (size_t i = 0; i < count; i++)
      if (starts[i]->log_density < under &&
          (at == count || starts[i]->log_density > starts[at]->log_density))
        at = i;
    if (at == count) break;
    under = starts[at]->log_density;
    if (k == 0) status = idm_matching_anchor(e->f->matching[0], starts[at]->mode, opt_error);
    if (status == IDM_OK) status = keep_mode(e, starts[at], work, opt_error);
  }
  return status;
}

idm_status idm_explore_modes(idm_exploration *e, start *const *starts, size_t count, size_t looks,
                             idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  start *scratch = NULL;
  idm_mixture *broad = NULL;
  double *work = idm_new(d, sizeof *work);
  idm_status status = work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_start_create(d, &scratch, opt_error);
  if (status == IDM_OK) status = mix(e, 1, NULL, &broad, opt_error);
  if (status == IDM_OK) status = draw(e, broad, looks, opt_error);
  e->broad_drawn = (double)e->points;
  if (status == IDM_OK) status = take_starts(e, starts, count, work, opt_error);
  if (status == IDM_OK && e->modes) status = search(e, scratch, work, opt_error);
  if (status == IDM_OK && e->modes)
    status = idm_matching_anchor(e->f->matching[0], e->part[0].centre, opt_error);
  if (status == IDM_OK) status = weigh(e, opt_error);
  idm_mixture_destroy(broad);
  idm_start_destroy(scratch);
  free(work);
  return status;
}

/* --- what they show ------------------------------------------------------------------------- */

double idm_exploration_effective(const idm_exploration *e)
{
  return idm_effective_size(e->weight, e->points);
}

/* log of the volume that a spread takes, and the distance of y from its centre; inf where it is no
 * spread. */
static double badness(const idm_part *part, size_t d, const double *y, double *factor)
{
  double *x = factor + d * d, sum = 0;
  memcpy(factor, part->spread, d * d * sizeof *factor);
  if (!idm_cholesky(d, factor)) return INFINITY;
  for (size_t i = 0; i < d; i++) x[i] = y[i] - part->centre[i];
  idm_lower_solve(d, factor, x);
  for (size_t i = 0; i < d; i++) sum += x[i] * x[i] + 2 * log(factor[i * d + i]);
  return sum;
}

size_t idm_exploration_nearest(const idm_exploration *e, const double *y, double *work)
{
  size_t nearest = 0;
  double least = INFINITY;
  for (size_t m = 0; m < e->modes; m++) {
    const double here = badness(&e->part[m], e->f->parameters->dimension, y, work);
    if (!(here < least)) continue;
    least = here;
    nearest = m;
  }
  return nearest;
}

idm_status idm_exploration_shares(const idm_exploration *e, double *share, idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  double *work = idm_new(d * (d + 1), sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  for (size_t m = 0; m < e->modes; m++) share[m] = 0;
  assert(!e->points || e->modes); /* points are drawn around modes */
  for (size_t i = 0; i < e->points; i++)
    share[idm_exploration_nearest(e, e->point + i * d, work)] += e->weight[i];
  free(work);
  return IDM_OK;
}

/* weight[parts] of the next proposals: the modes by the height and the width of each. */
static void choose_weights(const idm_exploration *e, double *weight, double *factor)
{
  const size_t d = e->f->parameters->dimension;
  const bool fitted = e->parts > e->modes;
  for (size_t m = 0; m < e->modes; m++) {
    /* At its own centre badness is the log of the squared volume. */
    const double volume = 0.5 * badness(&e->part[m], d, e->part[m].centre, factor);
    weight[m] = e->part[m].log_density + (isfinite(volume) ? volume : 0);
  }
  idm_softmax_floor(weight, e->modes, least_share);
  for (size_t m = 0; m < e->modes; m++) weight[m] *= mode_share + (fitted ? 0 : last_share);
  for (size_t i = e->modes; i < e->parts; i++) weight[i] = i + 1 == e->parts ? last_share : 0;
}

idm_status idm_exploration_mixture(const idm_exploration *e, idm_mixture **ret_mixture,
                                   idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  double weight[most_parts];
  double *work = idm_new(d * (d + 1), sizeof *work);
  *ret_mixture = NULL;
  if (!work) return idm_fail_memory(opt_error);
  choose_weights(e, weight, work);
  free(work);
  return mix(e, broad_share, weight, ret_mixture, opt_error);
}

/* --- rounds --------------------------------------------------------------------------------- */

idm_status idm_explore_add(idm_exploration *e, const double *centre, const double *spread,
                           idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  if (e->parts == most_parts) return IDM_OK;
  double *factor = idm_duplicate(spread, d * d, sizeof *factor);
  if (!factor) return idm_fail_memory(opt_error);
  if (idm_cholesky(d, factor)) {
    idm_part *part = &e->part[e->parts++];
    memcpy(part->centre, centre, d * sizeof *centre);
    memcpy(part->spread, spread, d * d * sizeof *spread);
    part->drawn = 0;
  }
  free(factor);
  return IDM_OK;
}

idm_status idm_explore_round(idm_exploration *e, size_t draws, idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  const double before = (double)e->points;
  double weight[most_parts] = {0};
  idm_mixture *mixture = NULL;
  double *work = idm_new(d * (d + 1), sizeof *work);
  idm_status status = work ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    choose_weights(e, weight, work);
    status = mix(e, broad_share, weight, &mixture, opt_error);
  }
  if (status == IDM_OK) status = draw(e, mixture, draws, opt_error);
  const double drawn = (double)e->points - before;
  for (size_t i = 0; i < e->parts && status == IDM_OK; i++) e->part[i].drawn += drawn * weight[i];
  e->broad_drawn += drawn * broad_share;
  if (status == IDM_OK) status = weigh(e, opt_error);
  /* Fewer points than a covariance has numbers say nothing of it. */
  if (status == IDM_OK && idm_exploration_effective(e) > (double)(2 * d * (d + 1))) {
    idm_covariance(&(idm_points){e->point, e->points, d, d, 1, e->weight}, 0, work, work + d);
    status = idm_explore_add(e, work, work + d, opt_error);
  }
  idm_mixture_destroy(mixture);
  free(work);
  return status;
}

/* --- starts --------------------------------------------------------------------------------- */

/* The mode for a chain. */
static idm_status choose_mode(const idm_exploration *e, size_t chain, size_t *ret_mode,
                              idm_error *opt_error)
{
  /* Shares of few points say little; heights then have to do, exp(-10) being next to nothing. */
  static const double enough = 50, little = 1e-3, low = 10;
  double share[most_modes], highest = -INFINITY;
  size_t held[most_modes] = {0}, count = 0;
  const bool known = idm_exploration_effective(e) >= enough;
  const idm_status status = idm_exploration_shares(e, share, opt_error);
  for (size_t m = 0; m < e->modes; m++) highest = fmax(highest, e->part[m].log_density);
  for (size_t m = 0; m < e->modes && status == IDM_OK; m++)
    if (known ? share[m] > little : e->part[m].log_density > highest - low) held[count++] = m;
  *ret_mode = count ? held[chain % count] : 0;
  return status;
}

idm_status idm_explore_start(const idm_exploration *e, size_t chain, start *s, idm_error *opt_error)
{
  const size_t d = e->f->parameters->dimension;
  size_t mode = 0;
  double total = 0;
  double *flat = idm_new(e->points, sizeof *flat);
  double *work = idm_new(d * (d + 1), sizeof *work);
  idm_status status =
      flat && work ? choose_mode(e, chain, &mode, opt_error) : idm_fail_memory(opt_error);
  for (size_t i = 0; i < e->points && status == IDM_OK; i++)
    if (idm_exploration_nearest(e, e->point + i * d, work) == mode)
      total += flat[i] = sqrt(e->weight[i]);
  if (status == IDM_OK) {
    const idm_part *part = &e->part[mode];
    memcpy(s->mode, part->centre, d * sizeof *s->mode);
    memcpy(s->covariance, part->spread, d * d * sizeof *s->covariance);
    s->log_density = part->log_density;
    s->definite = part->definite;
    s->placed = total > 0;
  }
  if (status == IDM_OK && s->placed) {
    idm_random random;
    idm_random_init(&random, e->f->key, e->first_stream + (UINT64_C(1) << 31) + chain);
    const size_t at = idm_random_choice(&random, flat, e->points);
    memcpy(s->x, e->point + at * d, d * sizeof *s->x);
  }
  free(flat);
  free(work);
  return status;
}
