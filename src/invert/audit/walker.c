/* One chain of an audit, by blocks.
 *
 * What each log says of its cell is known about, by its normal approximation; every block is
 * proposed from its conditional under that and accepted by the log-likelihoods themselves. Level
 * and spread move both ways, with cells held (centred) and with effects held in units of the spread
 * (non-centred), so that it mixes whether groups carry little data or much (Yu and Meng 2011,
 * JCGS 20).
 *
 * Contents: a walker · likelihoods · vectors · the spread · sweeps */
#include "invert/audit/walker.h"

#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/matching.h"
#include "invert/audit/tabulate.h"

/* --- a walker ------------------------------------------------------------------------------- */

void idm_walker_destroy(walker *w)
{
  void *const arrays[] = {
      w->level_sd, w->mu,     w->kept,   w->exact,    w->next_x, w->next_log_likelihood,
      w->touched,  w->factor, w->centre, w->proposal, w->held};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

idm_status idm_walker_create(walker *w, const audit_model *m, size_t chain, double scale,
                             uint64_t stream, idm_error *opt_error)
{
  const size_t d = m->dimension;
  *w = (walker){
      .model = m, .chain = chain, .numbers = 2 * d + (m->effects + m->cells) * d + m->cells};
  w->level_sd = idm_new(d, sizeof *w->level_sd);
  w->mu = idm_new(w->numbers, sizeof *w->mu);
  w->kept = idm_new(w->numbers, sizeof *w->kept);
  w->exact = idm_new(m->cells, sizeof *w->exact);
  w->next_x = idm_new(m->cells * d, sizeof *w->next_x);
  w->next_log_likelihood = idm_new(m->cells, sizeof *w->next_log_likelihood);
  w->touched = idm_new(m->cells, sizeof *w->touched);
  w->factor = idm_new(d * d, sizeof *w->factor);
  w->centre = idm_new(d, sizeof *w->centre);
  w->proposal = idm_new(d, sizeof *w->proposal);
  w->held = idm_new(3 * d + m->cells, sizeof *w->held);
  if (!w->level_sd || !w->mu || !w->kept || !w->exact || !w->next_x || !w->next_log_likelihood ||
      !w->touched || !w->factor || !w->centre || !w->proposal || !w->held)
    return idm_fail_memory(opt_error);
  w->tau = w->mu + d;
  w->effect = w->tau + d;
  w->x = w->effect + m->effects * d;
  w->log_likelihood = w->x + m->cells * d;
  for (size_t j = 0; j < d; j++) w->level_sd[j] = scale * m->sd[j];
  idm_random_init(&w->random, m->key, stream + chain);
  return IDM_OK;
}

/* --- likelihoods ---------------------------------------------------------------------------- */

static idm_status score_exactly(const walker *w, size_t cell, const double *x,
                                double *log_likelihood, idm_error *opt_error)
{
  return idm_matching_log_likelihood(w->model->cell[cell].f.matching[w->chain], x, log_likelihood,
                                     NULL, opt_error);
}

/* By the grid, where there is one. */
static idm_status score(const walker *w, size_t cell, const double *x, double *log_likelihood,
                        idm_error *opt_error)
{
  const audit_cell *c = &w->model->cell[cell];
  if (!c->grid) return score_exactly(w, cell, x, log_likelihood, opt_error);
  *log_likelihood = idm_audit_rough(c, w->model->dimension, x);
  return IDM_OK;
}

/* x of every cell from level and effects. */
static void place_cells(walker *w)
{
  const audit_model *m = w->model;
  const size_t d = m->dimension;
  for (size_t c = 0; c < m->cells; c++)
    for (size_t j = 0; j < d; j++) {
      double sum = w->mu[j];
      for (size_t k = 0; k < m->effects; k++)
        sum += m->share[c * m->effects + k] * w->effect[k * d + j];
      w->x[c * d + j] = sum;
    }
}

/* Go to next_x in the cells touched, with a chance by their log-likelihoods and what else changes.
 */
static idm_status decide(walker *w, double log_ratio, bool *ret_taken, idm_error *opt_error)
{
  const audit_model *m = w->model;
  const size_t d = m->dimension;
  const double threshold = log(idm_random_uniform(&w->random));
  *ret_taken = false;
  for (size_t c = 0; c < m->cells && isfinite(log_ratio); c++) {
    if (!w->touched[c]) continue;
    const idm_status status = score(w, c, w->next_x + c * d, &w->next_log_likelihood[c], opt_error);
    if (status != IDM_OK) return status;
    log_ratio += w->next_log_likelihood[c] - w->log_likelihood[c];
  }
  if (!isfinite(log_ratio) || threshold >= log_ratio) return IDM_OK;
  *ret_taken = true;
  for (size_t c = 0; c < m->cells; c++) {
    if (!w->touched[c]) continue;
    memcpy(w->x + c * d, w->next_x + c * d, d * sizeof *w->x);
    w->log_likelihood[c] = w->next_log_likelihood[c];
  }
  return IDM_OK;
}

/* --- vectors -------------------------------------------------------------------------------- */

/* A vector of which some cells have a share, with a normal prior: an effect, or the level. */
typedef struct block {
  double *vector;      /* [dimension] */
  const double *share; /* of cell c: share[c * stride] */
  size_t stride;
  const double *mean; /* [dimension] of the prior; NULL: 0 */
  const double *sd;   /* [dimension] */
} block;

static double mean_of(const block *b, size_t j)
{
  return b->mean ? b->mean[j] : 0;
}

/* Its conditional under the approximations: factor L of the precision, and centre. */
static bool condition(walker *w, const block *b)
{
  const audit_model *m = w->model;
  const size_t d = m->dimension;
  memset(w->factor, 0, d * d * sizeof *w->factor);
  for (size_t j = 0; j < d; j++) {
    w->factor[j * (d + 1)] = 1 / (b->sd[j] * b->sd[j]);
    w->centre[j] = mean_of(b, j) / (b->sd[j] * b->sd[j]);
  }
  for (size_t c = 0; c < m->cells; c++) {
    const audit_cell *cell = &m->cell[c];
    const double share = b->share[c * b->stride];
    w->touched[c] = share != 0;
    for (size_t i = 0; w->touched[c] && i < d; i++) {
      w->centre[i] += share * cell->pull[i];
      for (size_t j = 0; j < d; j++) {
        w->factor[i * d + j] += share * share * cell->precision[i * d + j];
        w->centre[i] -=
            share * cell->precision[i * d + j] * (w->x[c * d + j] - share * b->vector[j]);
      }
    }
  }
  if (!idm_cholesky(d, w->factor)) return false;
  idm_lower_solve(d, w->factor, w->centre);
  idm_lower_solve_transposed(d, w->factor, w->centre);
  return true;
}

/* Half the square of a vector's distance from the centre, in the conditional's deviations. */
static double half_square(walker *w, const double *vector)
{
  const size_t d = w->model->dimension;
  double sum = 0;
  for (size_t i = 0; i < d; i++) {
    double row = 0;
    for (size_t j = i; j < d; j++) row += w->factor[j * d + i] * (vector[j] - w->centre[j]);
    sum += row * row;
  }
  return 0.5 * sum;
}

/* log density of the t of five degrees about the centre. */
static double log_proposal(walker *w, const double *vector)
{
  return -0.5 * (5 + (double)w->model->dimension) * log1p(2 * half_square(w, vector) / 5);
}

/* A normal vector with the conditional's covariance, times `scale`, into the proposal. */
static void draw_normal(walker *w, double scale)
{
  const size_t d = w->model->dimension;
  for (size_t j = 0; j < d; j++) w->proposal[j] = scale * idm_random_normal(&w->random);
  idm_lower_solve_transposed(d, w->factor, w->proposal);
}

/* Propose from the conditional with heavier tails or, one time in four, from around where it is. */
static double propose(walker *w, const block *b)
{
  const size_t d = w->model->dimension;
  if (idm_random_uniform(&w->random) < 0.25) {
    draw_normal(w, 2.4 / sqrt((double)d));
    for (size_t j = 0; j < d; j++) w->proposal[j] += b->vector[j];
    return 0;
  }
  draw_normal(w, sqrt(2.5 / idm_random_gamma(&w->random, 2.5)));
  for (size_t j = 0; j < d; j++) w->proposal[j] += w->centre[j];
  return log_proposal(w, b->vector) - log_proposal(w, w->proposal);
}

static idm_status move_vector(walker *w, const block *b, idm_error *opt_error)
{
  const audit_model *m = w->model;
  const size_t d = m->dimension;
  if (!condition(w, b)) return IDM_OK;
  double log_ratio = propose(w, b);
  for (size_t j = 0; j < d; j++) {
    const double before = (b->vector[j] - mean_of(b, j)) / b->sd[j];
    const double after = (w->proposal[j] - mean_of(b, j)) / b->sd[j];
    log_ratio += 0.5 * (before * before - after * after);
  }
  for (size_t c = 0; c < m->cells; c++)
    for (size_t j = 0; w->touched[c] && j < d; j++)
      w->next_x[c * d + j] =
          w->x[c * d + j] + b->share[c * b->stride] * (w->proposal[j] - b->vector[j]);
  bool taken;
  const idm_status status = decide(w, log_ratio, &taken, opt_error);
  if (taken) memcpy(b->vector, w->proposal, d * sizeof *b->vector);
  w->moves++;
  w->accepted += taken;
  return status;
}

/* The level with the effects of all held. */
static idm_status move_level(walker *w, idm_error *opt_error)
{
  static const double all = 1;
  return move_vector(w, &(block){w->mu, &all, 0, w->model->mean, w->level_sd}, opt_error);
}

/* The level against some effects, the sum with each held: cells that meet one of them stay where
 * they are, so that few who meet none, and leave level and effects open, do not hold up the rest.
 */
static idm_status exchange(walker *w, size_t first, size_t count, idm_error *opt_error)
{
  const audit_model *m = w->model;
  const size_t d = m->dimension;
  double *mean = w->held, *sd = w->held + d, *before = w->held + 2 * d, *share = w->held + 3 * d;
  for (size_t j = 0; j < d; j++) {
    const double of_level = 1 / (w->level_sd[j] * w->level_sd[j]);
    const double of_effect = 1 / (w->tau[j] * w->tau[j]);
    const double precision = of_level + (double)count * of_effect;
    mean[j] = m->mean[j] * of_level / precision;
    for (size_t k = first; k < first + count; k++)
      mean[j] += (w->mu[j] + w->effect[k * d + j]) * of_effect / precision;
    sd[j] = 1 / sqrt(precision);
    before[j] = w->mu[j];
  }
  for (size_t c = 0; c < m->cells; c++) {
    share[c] = 1;
    for (size_t k = first; k < first + count; k++) share[c] -= m->share[c * m->effects + k];
  }
  const idm_status status = move_vector(w, &(block){w->mu, share, 1, mean, sd}, opt_error);
  for (size_t k = first; k < first + count; k++)
    for (size_t j = 0; j < d; j++) w->effect[k * d + j] -= w->mu[j] - before[j];
  return status;
}

/* The level of a partition with its cells held: its conditional is normal. */
static void draw_level(walker *w)
{
  const audit_model *m = w->model;
  const size_t d = m->dimension;
  for (size_t j = 0; j < d; j++) {
    const double of_prior = 1 / (w->level_sd[j] * w->level_sd[j]);
    const double of_cell = 1 / (w->tau[j] * w->tau[j]);
    double sum = m->mean[j] * of_prior;
    for (size_t c = 0; c < m->cells; c++) sum += w->x[c * d + j] * of_cell;
    const double precision = of_prior + (double)m->cells * of_cell;
    w->mu[j] = sum / precision + idm_random_normal(&w->random) / sqrt(precision);
    for (size_t c = 0; c < m->cells; c++) w->effect[c * d + j] = w->x[c * d + j] - w->mu[j];
  }
}

/* --- the spread ----------------------------------------------------------------------------- */

/* What the logarithm of tau_j is drawn from: with effects held, or with them in units of tau. */
typedef struct spread {
  const walker *w;
  size_t j;
  double squares; /* sum of the effects' squares */
  double now;     /* tau_j */
  bool scaled;    /* the effects go with it */
} spread;

/* pull' x - x' precision x / 2 of cell c, whose coordinate j is at `value`. */
static double approximation(const walker *w, size_t c, size_t j, double value)
{
  const size_t d = w->model->dimension;
  const audit_cell *cell = &w->model->cell[c];
  double sum = 0;
  for (size_t i = 0; i < d; i++) {
    const double x = i == j ? value : w->x[c * d + i];
    double row = 0;
    for (size_t l = 0; l < d; l++)
      row += cell->precision[i * d + l] * (l == j ? value : w->x[c * d + l]);
    sum += x * (cell->pull[i] - 0.5 * row);
  }
  return sum;
}

/* x_cj where the effects of coordinate j are `factor` times what they are. */
static double stretched(const walker *w, size_t c, size_t j, double factor)
{
  return w->mu[j] + factor * (w->x[c * w->model->dimension + j] - w->mu[j]);
}

static double approximate_all(const walker *w, size_t j, double factor)
{
  double sum = 0;
  for (size_t c = 0; c < w->model->cells; c++)
    sum += approximation(w, c, j, stretched(w, c, j, factor));
  return sum;
}

/* log density of t = log tau_j: half-normal of scale s/2, the Jacobian, and what hangs on it. */
static double log_spread(const spread *s, double t)
{
  const double tau = exp(t);
  const double in_scale = tau / (0.5 * s->w->level_sd[s->j]);
  const double prior = t - 0.5 * in_scale * in_scale;
  if (s->scaled) return prior + approximate_all(s->w, s->j, tau / s->now);
  const double effects = (double)s->w->model->effects;
  return prior - effects * t - 0.5 * s->squares / (tau * tau);
}

/* One slice by stepping out and shrinkage (Neal 2003, Annals of Statistics 31). */
static double slice(walker *w, const spread *s, double t)
{
  enum { most_steps = 40, most_shrinks = 200 };
  const double level = log_spread(s, t) + log(idm_random_uniform(&w->random));
  double low = t - idm_random_uniform(&w->random);
  double high = low + 1;
  for (int i = 0; i < most_steps && log_spread(s, low) > level; i++) low -= 1;
  for (int i = 0; i < most_steps && log_spread(s, high) > level; i++) high += 1;
  for (int i = 0; i < most_shrinks; i++) {
    const double next = low + (high - low) * idm_random_uniform(&w->random);
    if (log_spread(s, next) > level) return next;
    if (next < t)
      low = next;
    else
      high = next;
  }
  return t;
}

/* With effects held: no log-likelihood changes. */
static void draw_spread(walker *w, size_t j)
{
  const size_t d = w->model->dimension;
  spread s = {.w = w, .j = j, .now = w->tau[j]};
  for (size_t k = 0; k < w->model->effects; k++)
    s.squares += w->effect[k * d + j] * w->effect[k * d + j];
  w->tau[j] = exp(slice(w, &s, log(w->tau[j])));
}

/* With effects in units of it: a slice under the approximations, accepted by what they miss (Liu
 * 2001, surrogate transitions). */
static idm_status stretch(walker *w, size_t j, idm_error *opt_error)
{
  const audit_model *m = w->model;
  const size_t d = m->dimension;
  const spread s = {.w = w, .j = j, .now = w->tau[j], .scaled = true};
  const double tau = exp(slice(w, &s, log(w->tau[j])));
  const double factor = tau / w->tau[j];
  const double missed = approximate_all(w, j, 1) - approximate_all(w, j, factor);
  memcpy(w->next_x, w->x, m->cells * d * sizeof *w->x);
  for (size_t c = 0; c < m->cells; c++) {
    w->next_x[c * d + j] = stretched(w, c, j, factor);
    w->touched[c] = true;
  }
  bool taken;
  const idm_status status = decide(w, missed, &taken, opt_error);
  for (size_t k = 0; taken && k < m->effects; k++) w->effect[k * d + j] *= factor;
  if (taken) w->tau[j] = tau;
  return status;
}

/* --- sweeps --------------------------------------------------------------------------------- */

static idm_status move_effects(walker *w, bool backwards, idm_error *opt_error)
{
  const audit_model *m = w->model;
  idm_status status = IDM_OK;
  for (size_t i = 0; i < m->effects && status == IDM_OK; i++) {
    const size_t k = backwards ? m->effects - 1 - i : i;
    status = move_vector(
        w, &(block){w->effect + k * m->dimension, m->share + k, m->effects, NULL, w->tau},
        opt_error);
  }
  return status;
}

static idm_status move_together(walker *w, idm_error *opt_error)
{
  const size_t d = w->model->dimension;
  const size_t turn = (size_t)(idm_random_uniform(&w->random) * 2 * (double)d);
  return turn < d ? stretch(w, turn, opt_error) : move_level(w, opt_error);
}

/* Of predicates, one of them against the level, or all at once. */
static idm_status move_against(walker *w, idm_error *opt_error)
{
  const size_t effects = w->model->effects;
  if (w->model->partition) return IDM_OK;
  const size_t turn = (size_t)(idm_random_uniform(&w->random) * (double)(effects + 1));
  return turn < effects ? exchange(w, turn, 1, opt_error) : exchange(w, 0, effects, opt_error);
}

static void draw_population(walker *w, bool backwards)
{
  const size_t d = w->model->dimension;
  if (backwards && w->model->partition) draw_level(w);
  for (size_t j = 0; j < d; j++) draw_spread(w, backwards ? d - 1 - j : j);
  if (!backwards && w->model->partition) draw_level(w);
}

/* Everything once, in one order or the other at random, so that a sweep is as likely as the way
 * back. The moves that change every cell take turns. */
static idm_status sweep(walker *w, idm_error *opt_error)
{
  if (!w->model->pooled) return move_effects(w, false, opt_error);
  const bool backwards = idm_random_uniform(&w->random) < 0.5;
  if (backwards) draw_population(w, true);
  idm_status status = backwards ? move_against(w, opt_error) : move_effects(w, false, opt_error);
  if (status == IDM_OK) status = move_together(w, opt_error);
  if (status == IDM_OK)
    status = backwards ? move_effects(w, true, opt_error) : move_against(w, opt_error);
  if (!backwards) draw_population(w, false);
  return status;
}

/* Accept the sweeps since the last look by what the grids missed (delayed acceptance; Christen and
 * Fox 2005), or go back. */
static idm_status look(walker *w, idm_error *opt_error)
{
  const audit_model *m = w->model;
  const double threshold = log(idm_random_uniform(&w->random));
  const double *before = w->kept + (w->log_likelihood - w->mu);
  double log_ratio = 0;
  for (size_t c = 0; c < m->cells; c++) {
    double *exact = &w->next_log_likelihood[c];
    const idm_status status = score_exactly(w, c, w->x + c * m->dimension, exact, opt_error);
    if (status != IDM_OK) return status;
    log_ratio += (*exact - w->log_likelihood[c]) - (w->exact[c] - before[c]);
  }
  if (isfinite(log_ratio) && threshold < log_ratio) {
    memcpy(w->exact, w->next_log_likelihood, m->cells * sizeof *w->exact);
    memcpy(w->kept, w->mu, w->numbers * sizeof *w->kept);
  } else {
    memcpy(w->mu, w->kept, w->numbers * sizeof *w->kept);
  }
  return IDM_OK;
}

idm_status idm_walker_step(walker *w, long sweeps, const atomic_bool *stop, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (long i = 0; i < sweeps && status == IDM_OK && !atomic_load(stop); i++)
    status = sweep(w, opt_error);
  return status == IDM_OK && w->model->exact ? look(w, opt_error) : status;
}

/* The cells' own starting points where Z can reach them, else about their mean. */
static void begin(walker *w)
{
  const audit_model *m = w->model;
  const size_t d = m->dimension;
  for (size_t j = 0; j < d; j++) {
    double sum = 0;
    for (size_t c = 0; c < m->cells; c++) sum += m->cell[c].start[w->chain * d + j];
    w->mu[j] = m->pooled ? sum / (double)m->cells : m->mean[j];
    w->tau[j] =
        m->pooled ? 0.5 * w->level_sd[j] * exp(idm_random_normal(&w->random) - 1) : w->level_sd[j];
    for (size_t k = 0; k < m->effects; k++)
      w->effect[k * d + j] = m->partition ? m->cell[k].start[w->chain * d + j] - w->mu[j]
                                          : 0.1 * w->tau[j] * idm_random_normal(&w->random);
  }
}

idm_status idm_walker_start(walker *w, idm_error *opt_error)
{
  const audit_model *m = w->model;
  const size_t d = m->dimension;
  begin(w);
  place_cells(w);
  for (size_t c = 0; c < m->cells; c++) {
    idm_status status = score_exactly(w, c, w->x + c * d, &w->exact[c], opt_error);
    if (status == IDM_OK) status = score(w, c, w->x + c * d, &w->log_likelihood[c], opt_error);
    if (status != IDM_OK) return status;
    if (!isfinite(w->exact[c]))
      return idm_fail(opt_error, IDM_NUMERICAL,
                      "a group has no starting point that explains its data: some decision has "
                      "probability 0 there");
  }
  memcpy(w->kept, w->mu, w->numbers * sizeof *w->kept);
  return IDM_OK;
}
