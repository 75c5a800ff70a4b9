/* "metropolis": for a few parameters and a target that is expensive. Independence proposals from a
 * multivariate t fitted to the history of warm-up alternate with random-walk proposals of the same
 * shape: the first make almost independent draws where the target is nearly normal, the second
 * keep the chain moving where it is not. Where a mixture of all modes and tails is given, some
 * steps are leaps proposed from it: a chain that knows one mode alone would never leave it.
 * Half an effective draw an evaluation, where a gradient costs two; nuts takes over beyond four
 * numbers. */
#include "infer/metropolis.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "infer/mixture.h"
#include "infer/sampler.h"

/* `share` of every four steps are independence proposals. */
enum { cycle = 4 };
/* Below `trusted` the independence proposal is given up; from `praised` on it has most steps. */
static const double trusted = 0.1, praised = 0.5;
/* Heavy tails keep the weights target/proposal bounded for a target with lighter ones. */
static const double degrees = 5;
/* Acceptance of the random walk that warm-up steers to (Gelman, Roberts and Gilks 1996: .44 in one
 * dimension, .23 in many). */
static const double aim = 0.35;

typedef struct metropolis {
  size_t dimension;
  double *log_density;
  double *log_scale; /* of the random walk, relative to 2.38 / sqrt(dimension) */
  double *walks;     /* random-walk steps since log_scale was last reset */
  double *share;     /* independence steps of every four */
  double *tries;     /* independence steps since the proposal last changed, and the sum of */
  double *accepted;  /* their acceptance probabilities */
  double *position;
  double *mean;   /* of the proposal */
  double *factor; /* [dimension][dimension]: Cholesky factor of its covariance */
  double *candidate;
  double *work; /* [dimension] */
  double *next; /* [dimension][dimension]: a covariance being factored */
  idm_scatter history;
} metropolis;

static size_t place(double *opt_state, size_t dimension, metropolis *view)
{
  size_t used = 0;
  view->dimension = dimension;
  view->log_density = idm_state_take(opt_state, &used, 1);
  view->log_scale = idm_state_take(opt_state, &used, 1);
  view->walks = idm_state_take(opt_state, &used, 1);
  view->share = idm_state_take(opt_state, &used, 1);
  view->tries = idm_state_take(opt_state, &used, 1);
  view->accepted = idm_state_take(opt_state, &used, 1);
  view->position = idm_state_take(opt_state, &used, dimension);
  view->mean = idm_state_take(opt_state, &used, dimension);
  view->factor = idm_state_take(opt_state, &used, dimension * dimension);
  view->candidate = idm_state_take(opt_state, &used, dimension);
  view->work = idm_state_take(opt_state, &used, dimension);
  view->next = idm_state_take(opt_state, &used, dimension * dimension);
  view->history = idm_scatter_take(opt_state, &used, dimension, true);
  return used;
}

static size_t numbers(size_t dimension)
{
  metropolis view;
  return place(NULL, dimension, &view);
}

static idm_status start(double *state, const idm_sampler_settings *settings,
                        const idm_target *target, const double *x, idm_random *random,
                        idm_error *opt_error)
{
  (void)random;
  metropolis view;
  const size_t n = target->dimension;
  const size_t count = place(state, n, &view);
  memset(state, 0, count * sizeof *state);
  memcpy(view.position, x, n * sizeof *x);
  memcpy(view.mean, settings->centre ? settings->centre : x, n * sizeof *x);
  /* Without a guess the proposal has to earn its share in warm-up. */
  *view.share = settings->covariance ? 2 : settings->warmup > 0 ? 1 : 0;
  const idm_status status = idm_guess_factor(settings, n, view.factor, opt_error);
  if (status != IDM_OK) return status;
  return idm_target_begin(target, x, view.log_density, NULL, opt_error);
}

/* --- proposals ------------------------------------------------------------------------------ */

static double walk_size(const metropolis *m)
{
  return exp(*m->log_scale) * 2.38 / sqrt((double)m->dimension);
}

/* candidate = centre + size * L z with z standard normal. */
static void propose(const metropolis *m, const double *centre, double size, idm_random *random)
{
  for (size_t i = 0; i < m->dimension; i++) m->work[i] = idm_random_normal(random);
  idm_lower_multiply(m->dimension, m->factor, m->work);
  for (size_t i = 0; i < m->dimension; i++) m->candidate[i] = centre[i] + size * m->work[i];
}

/* log density of the multivariate t at x, up to its constant. */
static double log_proposal(const metropolis *m, const double *x)
{
  double square = 0;
  for (size_t i = 0; i < m->dimension; i++) m->work[i] = x[i] - m->mean[i];
  idm_lower_solve(m->dimension, m->factor, m->work);
  for (size_t i = 0; i < m->dimension; i++) square += m->work[i] * m->work[i];
  return -0.5 * (degrees + (double)m->dimension) * log1p(square / degrees);
}

/* Accept or not, given the log of the proposals' ratio; *probability is Metropolis and Hastings'.
 */
static idm_status decide(const metropolis *m, const idm_target *target, double log_ratio,
                         idm_random *random, double *probability, idm_error *opt_error)
{
  double density;
  const idm_status status = idm_target_evaluate(target, m->candidate, &density, NULL, opt_error);
  if (status != IDM_OK) return status;
  *probability = fmin(1, exp(density - *m->log_density + log_ratio));
  if (idm_random_uniform(random) >= *probability) return IDM_OK;
  memcpy(m->position, m->candidate, m->dimension * sizeof(double));
  *m->log_density = density;
  return IDM_OK;
}

static idm_status jump(const metropolis *m, const idm_target *target, bool adapt,
                       idm_random *random, double *probability, idm_error *opt_error)
{
  /* A normal over the root of a chi-square by its degrees: 2 gamma(degrees / 2). */
  const double spread = sqrt(degrees / (2 * idm_random_gamma(random, degrees / 2)));
  propose(m, m->mean, spread, random);
  const double log_ratio = log_proposal(m, m->position) - log_proposal(m, m->candidate);
  const idm_status status = decide(m, target, log_ratio, random, probability, opt_error);
  if (status == IDM_OK && adapt) {
    ++*m->tries;
    *m->accepted += *probability;
  }
  return status;
}

static idm_status leap(const metropolis *m, const idm_mixture *mixture, const idm_target *target,
                       idm_random *random, double *probability, idm_error *opt_error)
{
  idm_mixture_draw(mixture, random, m->candidate);
  const double log_ratio = idm_mixture_log_density(mixture, m->position, m->work) -
                           idm_mixture_log_density(mixture, m->candidate, m->work);
  return decide(m, target, log_ratio, random, probability, opt_error);
}

static idm_status walk(const metropolis *m, const idm_target *target, bool adapt,
                       idm_random *random, double *probability, idm_error *opt_error)
{
  propose(m, m->position, walk_size(m), random);
  const idm_status status = decide(m, target, 0, random, probability, opt_error);
  /* Robbins and Monro: steps that shrink slowly enough to cross several orders of magnitude. */
  if (status == IDM_OK && adapt) *m->log_scale += (*probability - aim) * pow(1 + ++*m->walks, -0.6);
  return status;
}

/* --- warm-up -------------------------------------------------------------------------------- */

/* Independence steps of every four that the acceptance since the last change deserves. */
static double deserved_share(const metropolis *m)
{
  const double rate = *m->tries > 0 ? *m->accepted / *m->tries : 0;
  return rate < trusted ? 0 : rate < praised ? 2 : 3;
}

/* Fit the proposals to the window that ends; they start without a record. */
static void refit(const metropolis *m, const idm_sampler_settings *settings)
{
  const size_t n = m->dimension;
  if (idm_scatter_covariance(&m->history, settings->covariance, m->next) &&
      idm_cholesky(n, m->next)) {
    memcpy(m->factor, m->next, n * n * sizeof(double));
    memcpy(m->mean, m->history.mean, n * sizeof(double));
    *m->log_scale = 0;
    *m->walks = 0;
  }
  *m->share = fmax(1, deserved_share(m));
  *m->tries = 0;
  *m->accepted = 0;
  idm_scatter_restart(&m->history);
}

static void adapt(const metropolis *m, const idm_sampler_settings *settings, long iteration)
{
  if (idm_warmup_window(iteration, settings->warmup).close) refit(m, settings);
  if (iteration == settings->warmup - 1) *m->share = deserved_share(m);
}

/* --- the step ------------------------------------------------------------------------------- */

/* Of every four steps, which are independence proposals. */
static bool jumps_at(double share, long place_in_cycle)
{
  return share == 2 ? place_in_cycle % 2 == 0 : (double)place_in_cycle < share;
}

/* Every other walk of a cycle's end is a leap instead; every other step where the chain's own
 * proposals were given up. */
static bool leaps_at(const idm_sampler_settings *settings, double share, long step)
{
  const long period = share == 0 ? 2 : 2 * cycle;
  return settings->mixture && step % period == period - 1;
}

/* Steps a draw: beyond two parameters ridges are common, and a draw takes longer to forget. */
long idm_metropolis_thin(size_t dimension)
{
  return dimension <= 2 ? 2 : 8;
}

static idm_status step(double *state, const idm_sampler_settings *settings,
                       const idm_target *target, long iteration, idm_random *random, double *x,
                       idm_statistics *statistics, idm_error *opt_error)
{
  metropolis m;
  place(state, target->dimension, &m);
  const long thin = idm_sampler_thin(settings, idm_metropolis_thin(target->dimension));
  const bool warm = iteration < settings->warmup;
  const bool gather = idm_warmup_window(iteration, settings->warmup).gather;
  double acceptance = 0;
  for (long k = 0; k < thin; k++) {
    const long at = (iteration % cycle * (thin % cycle) + k) % cycle;
    double probability = 0;
    const idm_status status =
        leaps_at(settings, *m.share, iteration * thin + k)
            ? leap(&m, settings->mixture, target, random, &probability, opt_error)
            : (jumps_at(*m.share, at) ? jump : walk)(&m, target, warm, random, &probability,
                                                     opt_error);
    if (status != IDM_OK) return status;
    acceptance += probability;
    if (gather) idm_scatter_add(&m.history, m.position);
  }
  if (warm) adapt(&m, settings, iteration);
  memcpy(x, m.position, target->dimension * sizeof *x);
  idm_statistics_clear(statistics);
  statistics->log_density = *m.log_density;
  statistics->acceptance = acceptance / (double)thin;
  statistics->step_size = walk_size(&m);
  statistics->evaluations = thin;
  return IDM_OK;
}

const idm_sampler idm_sampler_metropolis = {
    .name = "metropolis",
    .summary = "independence proposals fitted in warm-up, and a random walk; few parameters",
    .gradient = false,
    .numbers = numbers,
    .start = start,
    .step = step,
};
