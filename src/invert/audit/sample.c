/* Draws of the model of an audit, by blocks.
 *
 * What each log says of its cell is known about, by its normal approximation; every block is
 * proposed from its conditional under that and accepted by the log-likelihoods themselves. Level
 * and spread move both ways, with cells held (centred) and with effects held in units of the spread
 * (non-centred), so that it mixes whether groups carry little data or much (Yu and Meng 2011,
 * JCGS 20).
 *
 * Contents: a walker · vectors · the spread · chains */
#include <math.h>
#include <stdatomic.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "idm/matching.h"
#include "idm/random.h"
#include "invert/audit/model.h"

/* --- a walker ------------------------------------------------------------------------------- */

/* One chain: where it is, and where it may go. */
typedef struct walker {
  const audit_model *model;
  size_t chain;
  double *level_sd; /* [dimension]: s */
  idm_random random;
  double *mu;             /* [dimension] */
  double *tau;            /* [dimension] */
  double *effect;         /* [effect][dimension] */
  double *x;              /* [cell][dimension] */
  double *log_likelihood; /* [cell] */
  double *next_x;
  double *next_log_likelihood;
  bool *touched;    /* [cell] */
  double *factor;   /* [dimension][dimension] */
  double *centre;   /* [dimension] */
  double *proposal; /* [dimension] */
  double *work;     /* [dimension] */
  long moves;
  long accepted;
} walker;

static void destroy_walker(walker *w)
{
  void *const arrays[] = {w->level_sd, w->mu,
                          w->tau,      w->effect,
                          w->x,        w->log_likelihood,
                          w->next_x,   w->next_log_likelihood,
                          w->touched,  w->factor,
                          w->centre,   w->proposal,
                          w->work};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static idm_status create_walker(walker *w, const audit_model *m, idm_error *opt_error)
{
  const size_t d = m->dimension;
  double **const arrays[] = {&w->level_sd, &w->mu, &w->tau, &w->centre, &w->proposal, &w->work};
  bool made = true;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    *arrays[i] = idm_new(d, sizeof(double));
    made = made && *arrays[i];
  }
  w->effect = idm_new(m->effects * d, sizeof *w->effect);
  w->x = idm_new(m->cells * d, sizeof *w->x);
  w->next_x = idm_new(m->cells * d, sizeof *w->next_x);
  w->log_likelihood = idm_new(m->cells, sizeof *w->log_likelihood);
  w->next_log_likelihood = idm_new(m->cells, sizeof *w->next_log_likelihood);
  w->touched = idm_new(m->cells, sizeof *w->touched);
  w->factor = idm_new(d * d, sizeof *w->factor);
  made = made && w->effect && w->x && w->next_x && w->log_likelihood && w->next_log_likelihood &&
         w->touched && w->factor;
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

static idm_status score(const walker *w, size_t cell, const double *x, double *log_likelihood,
                        idm_error *opt_error)
{
  return idm_matching_log_likelihood(w->model->cell[cell].f.matching[w->chain], x, log_likelihood,
                                     NULL, opt_error);
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

/* A vector that is added to some cells, with a normal prior: an effect, or the level. */
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
    w->touched[c] = b->share[c * b->stride] > 0;
    for (size_t i = 0; w->touched[c] && i < d; i++) {
      w->centre[i] += cell->pull[i];
      for (size_t j = 0; j < d; j++) {
        w->factor[i * d + j] += cell->precision[i * d + j];
        w->centre[i] -= cell->precision[i * d + j] * (w->x[c * d + j] - b->vector[j]);
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
      w->next_x[c * d + j] = w->x[c * d + j] + (w->proposal[j] - b->vector[j]);
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

/* --- chains --------------------------------------------------------------------------------- */

/* Everything once. The moves that change every cell take turns. */
static idm_status sweep(walker *w, idm_error *opt_error)
{
  const audit_model *m = w->model;
  const size_t d = m->dimension;
  idm_status status = IDM_OK;
  for (size_t k = 0; k < m->effects && status == IDM_OK; k++)
    status = move_vector(w, &(block){w->effect + k * d, m->share + k, m->effects, NULL, w->tau},
                         opt_error);
  if (status != IDM_OK || !m->pooled) return status;
  const size_t turn = (size_t)(idm_random_uniform(&w->random) * 2 * (double)d);
  status = turn < d ? stretch(w, turn, opt_error) : move_level(w, opt_error);
  for (size_t j = 0; j < d; j++) draw_spread(w, j);
  if (m->partition) draw_level(w);
  return status;
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

static idm_status start(walker *w, idm_error *opt_error)
{
  const audit_model *m = w->model;
  const size_t d = m->dimension;
  begin(w);
  place_cells(w);
  for (size_t c = 0; c < m->cells; c++) {
    const idm_status status = score(w, c, w->x + c * d, &w->log_likelihood[c], opt_error);
    if (status != IDM_OK) return status;
    if (!isfinite(w->log_likelihood[c]))
      return idm_fail(opt_error, IDM_NUMERICAL,
                      "a group has no starting point that explains its data: some decision has "
                      "probability 0 there");
  }
  return IDM_OK;
}

/* Sweeps a draw: of predicates one costs every cell several times over. */
static long thin_of(const audit_model *model)
{
  enum { usual = 3 };
  if (model->settings->thin > 0) return model->settings->thin;
  return model->partition ? usual : 1;
}

/* Chains at work. */
typedef struct work {
  const audit_model *model;
  double scale;
  uint64_t stream;
  audit_draws *draws;
  const audit_watch *watch;
  atomic_long done; /* sweeps of all chains */
  atomic_bool stop;
  idm_status *status; /* [chain] */
  idm_error *error;
  long *moves;
  long *accepted;
} work;

static void keep(const work *k, const walker *w, size_t draw)
{
  const audit_model *m = k->model;
  const size_t d = m->dimension;
  const size_t all = k->draws->chains * k->draws->draws;
  const size_t at = w->chain * k->draws->draws + draw;
  for (size_t j = 0; j < d; j++) {
    k->draws->mean[j * all + at] = w->mu[j];
    k->draws->sd[j * all + at] = w->tau[j];
  }
  for (size_t i = 0; i < m->effects * d; i++) k->draws->effect[i * all + at] = w->effect[i];
  for (size_t i = 0; i < m->cells * d; i++) k->draws->cell[i * all + at] = w->x[i];
  for (size_t c = 0; c < m->cells; c++)
    k->draws->log_likelihood[c * all + at] = w->log_likelihood[c];
}

static idm_status walk(work *k, walker *w, idm_error *opt_error)
{
  const idm_fit_settings *settings = k->model->settings;
  const long thin = thin_of(k->model);
  const long sweeps = (settings->warmup + settings->draws) * thin;
  idm_status status = start(w, opt_error);
  for (long i = 0; i < sweeps && status == IDM_OK && !k->stop; i++) {
    status = sweep(w, opt_error);
    const long draw = (i + 1) / thin - 1 - settings->warmup;
    if ((i + 1) % thin == 0 && draw >= 0) keep(k, w, (size_t)draw);
    k->done++;
  }
  return status;
}

static void run_chain(void *context, size_t chain)
{
  work *k = context;
  const audit_model *m = k->model;
  walker w = {.model = m, .chain = chain};
  idm_status status = create_walker(&w, m, &k->error[chain]);
  if (status == IDM_OK) {
    for (size_t j = 0; j < m->dimension; j++) w.level_sd[j] = k->scale * m->sd[j];
    idm_random_init(&w.random, m->key, k->stream + chain);
    status = walk(k, &w, &k->error[chain]);
  }
  k->status[chain] = status;
  k->moves[chain] = w.moves;
  k->accepted[chain] = w.accepted;
  destroy_walker(&w);
}

static void describe(const void *content, char *buffer, size_t size)
{
  (void)content;
  if (size) buffer[0] = '\0';
}

static void watch(void *context)
{
  work *k = context;
  const idm_fit_settings *s = k->model->settings;
  const idm_fit_watch *watcher = k->watch->opt_watch;
  const double whole =
      (double)s->chains * (double)(s->warmup + s->draws) * (double)thin_of(k->model);
  const double share = (double)k->done / whole;
  const idm_work shown = {.done = k->watch->from + share * (k->watch->to - k->watch->from),
                          .describe = describe};
  if (watcher->progress(watcher->context, &shown)) k->stop = true;
}

void idm_audit_draws_clear(audit_draws *draws)
{
  free(draws->mean);
  free(draws->sd);
  free(draws->effect);
  free(draws->cell);
  free(draws->log_likelihood);
  *draws = (audit_draws){0};
}

static idm_status make_draws(const audit_model *m, audit_draws *draws, idm_error *opt_error)
{
  *draws = (audit_draws){.chains = m->settings->chains, .draws = (size_t)m->settings->draws};
  const size_t all = idm_times(m->dimension, draws->chains * draws->draws);
  draws->mean = idm_new(all, sizeof(double));
  draws->sd = idm_new(all, sizeof(double));
  draws->effect = idm_new(idm_times(m->effects, all), sizeof(double));
  draws->cell = idm_new(idm_times(m->cells, all), sizeof(double));
  draws->log_likelihood =
      idm_new(idm_times(m->cells, draws->chains * draws->draws), sizeof(double));
  const bool made =
      draws->mean && draws->sd && draws->effect && draws->cell && draws->log_likelihood;
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

idm_status idm_audit_sample(const audit_model *model, double scale, uint64_t stream,
                            const audit_watch *opt_watch, audit_draws *draws, idm_error *opt_error)
{
  const size_t n = model->settings->chains;
  work k = {.model = model, .scale = scale, .stream = stream, .draws = draws, .watch = opt_watch};
  const bool watched = opt_watch && opt_watch->opt_watch && opt_watch->opt_watch->progress;
  k.status = idm_new(n, sizeof *k.status);
  k.error = idm_new(n, sizeof *k.error);
  k.moves = idm_new(2 * n, sizeof *k.moves);
  k.accepted = k.moves ? k.moves + n : NULL;
  idm_status status = make_draws(model, draws, opt_error);
  if (status == IDM_OK && (!k.status || !k.error || !k.moves)) status = idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status =
        idm_parallel(n, model->settings->threads, run_chain, watched ? watch : NULL, &k, opt_error);
  double moves = 0;
  double accepted = 0;
  for (size_t i = 0; i < n && status == IDM_OK; i++) {
    status = k.status[i];
    if (status != IDM_OK && opt_error) *opt_error = k.error[i];
    moves += (double)k.moves[i];
    accepted += (double)k.accepted[i];
  }
  if (status == IDM_OK && k.stop)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted; nothing was kept");
  draws->acceptance = moves > 0 ? accepted / moves : 1;
  free(k.status);
  free(k.error);
  free(k.moves);
  if (status != IDM_OK) idm_audit_draws_clear(draws);
  return status;
}
