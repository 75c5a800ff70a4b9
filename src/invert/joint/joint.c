/* Draws of learnt dynamics and of the numbers behind decisions, together: see the header.
 *
 * Contents: starting points · chains · passes · the dynamics drawn */
#include "invert/joint/joint.h"

#include <assert.h>
#include <math.h>

#include "base/dense.h"
#include "base/journal.h"
#include "base/memory.h"
#include "base/moments.h"
#include "base/number.h"
#include "idm/diagnostics.h"
#include "idm/samplers.h"
#include "infer/nuts.h"
#include "infer/pcn.h"
#include "invert/check.h"
#include "invert/joint/approach.h"
#include "invert/joint/learner.h"
#include "invert/matching/drawing.h"
#include "learn/ratio.h"

/* Streams beyond those of chains. */
static const uint64_t start_stream = (uint64_t)5 << 32;

/* --- starting points ------------------------------------------------------------------------ */

/* The chains of a request, one lane each. */
typedef struct lanes {
  const joint *joint;
  size_t count;
  int threads;
  uint64_t key;
  double *precision;  /* [dimension][dimension]: without the decisions */
  joint_lane **lane;  /* [count] */
  joint_peak *peak;   /* [count] */
  double *x;          /* [count][dimension]: where the chain starts */
  double *centre;     /* [count][dimension]: first guesses of mean and covariance */
  double *covariance; /* [count][dimension][dimension] */
  idm_status *status; /* [count] */
  idm_error *error;   /* [count] */
} lanes;

static void close_lanes(lanes *l)
{
  for (size_t i = 0; l->lane && i < l->count; i++) idm_joint_lane_destroy(l->lane[i]);
  for (size_t i = 0; l->peak && i < l->count; i++) idm_joint_peak_clear(&l->peak[i]);
  free(l->lane);
  free(l->peak);
  free(l->precision);
  free(l->x);
  free(l->centre);
  free(l->covariance);
  free(l->status);
  free(l->error);
}

static idm_status open_lanes(lanes *l, idm_error *opt_error)
{
  const size_t d = l->joint->dimension, n = l->count;
  l->lane = idm_new(n, sizeof *l->lane);
  l->precision = idm_new(idm_times(d, d), sizeof *l->precision);
  l->peak = idm_new(n, sizeof *l->peak);
  l->x = idm_new(idm_times(n, d), sizeof *l->x);
  l->centre = idm_new(idm_times(n, d), sizeof *l->centre);
  l->covariance = idm_new(idm_times(n, idm_times(d, d)), sizeof *l->covariance);
  l->status = idm_new(n, sizeof *l->status);
  l->error = idm_new(n, sizeof *l->error);
  idm_status status = l->lane && l->precision && l->peak && l->x && l->centre && l->covariance &&
                              l->status && l->error
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  for (size_t i = 0; i < n && status == IDM_OK; i++)
    status = idm_joint_peak_create(d, &l->peak[i], opt_error);
  return status == IDM_OK ? idm_joint_precision(l->joint, l->precision, opt_error) : status;
}

/* Let the numbers of every lane but the first begin at the best of some draws, twice as wide as
 * their prior: lanes that all began at the same numbers would miss a second mode of them. Every
 * second lane takes none that is near where the first begins. Where all are impossible, they stay.
 * `work` has room for two vectors. */
static idm_status scatter_numbers(lanes *l, size_t i, double *work, idm_error *opt_error)
{
  enum { tries = 16 };
  static const double width = 2, near = 1; /* sds of the prior */
  const joint *j = l->joint;
  const joint_numbers *n = j->numbers;
  double *natural = l->peak[i].mode, *tried = work, *v = work + j->dimension, best = -INFINITY;
  idm_random random;
  idm_status status = IDM_OK;
  idm_random_init(&random, l->key, start_stream + l->count + i);
  memcpy(tried, natural, j->dimension * sizeof *tried);
  for (int k = 0; k < tries && status == IDM_OK; k++) {
    double density, far = 0;
    for (size_t a = 0; a < n->count; a++) {
      const double z = width * idm_random_normal(&random);
      tried[j->ratios + a] = n->start[a] + n->unit[a] * z;
      far = fmax(far, fabs(z));
    }
    if (i % 2 && far < near) continue;
    idm_joint_inverse(j, tried, v);
    status = idm_joint_evaluate(l->lane[i], v, &density, NULL, 0, opt_error);
    if (status != IDM_OK || !(density > best)) continue;
    best = density;
    memcpy(natural, tried, j->dimension * sizeof *natural);
  }
  return status;
}

/* Climb from a draw of the dynamics. */
static idm_status climb(lanes *l, size_t i, idm_error *opt_error)
{
  double *work = idm_new(2 * l->joint->dimension, sizeof *work);
  idm_status status =
      work ? idm_joint_lane_create(l->joint, &l->lane[i], opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_joint_begin(l->joint, i, l->count, l->peak[i].mode, opt_error);
  if (status == IDM_OK && i > 0) status = scatter_numbers(l, i, work, opt_error);
  free(work);
  return status == IDM_OK ? idm_joint_climb(l->lane[i], l->precision, &l->peak[i], opt_error)
                          : status;
}

static void climb_lane(void *context, size_t i)
{
  lanes *l = context;
  l->status[i] = climb(l, i, &l->error[i]);
}

/* A point of the peak's normal, `spread` times as wide, as a vector of the target. `work` has room
 * for the dimension. */
static void draw_around(const lanes *l, size_t i, const double *factor, double spread,
                        idm_random *random, double *work, double *v)
{
  const size_t d = l->joint->dimension;
  for (size_t a = 0; a < d; a++) work[a] = spread * idm_random_normal(random);
  idm_lower_multiply(d, factor, work);
  for (size_t a = 0; a < d; a++) work[a] += l->peak[i].mode[a];
  idm_joint_inverse(l->joint, work, v);
}

/* Mean and covariance of the target's vector, by draws of the peak's normal. */
static idm_status guess(lanes *l, size_t i, const double *factor, idm_random *random,
                        idm_error *opt_error)
{
  const size_t d = l->joint->dimension, count = 500 + 20 * d;
  double *x = idm_new(idm_times(count + 1, d), sizeof *x);
  if (!x) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < count; k++) draw_around(l, i, factor, 1, random, x + count * d, x + k * d);
  const idm_points points = {
      .x = x, .count = count, .dimension = d, .next_point = d, .next_number = 1};
  idm_covariance(&points, 1, l->centre + i * d, l->covariance + i * d * d);
  free(x);
  return IDM_OK;
}

/* A point dispersed around the mode, nearer where the density is 0; at last the mode itself. */
static idm_status disperse(lanes *l, size_t i, idm_error *opt_error)
{
  enum { tries = 12 };
  const size_t d = l->joint->dimension;
  double *x = l->x + i * d;
  double *factor = idm_duplicate(l->peak[i].covariance, d * d, sizeof *factor);
  double *work = idm_new(d, sizeof *work);
  idm_random random;
  idm_random_init(&random, l->key, start_stream + i);
  double density = -INFINITY, spread = 1.2;
  idm_joint_inverse(l->joint, l->peak[i].mode, x);
  idm_status status = factor && work ? idm_joint_surface(l->lane[i], l->peak[i].mode,
                                                         l->peak[i].covariance, opt_error)
                                     : idm_fail_memory(opt_error);
  if (status == IDM_OK && !idm_cholesky(d, factor))
    status = idm_fail(opt_error, IDM_NUMERICAL, "the joint posterior has no normal approximation");
  if (status == IDM_OK) status = guess(l, i, factor, &random, opt_error);
  for (int k = 0; k < tries && status == IDM_OK && !isfinite(density); k++, spread *= 0.7) {
    draw_around(l, i, factor, spread, &random, work, x);
    status = idm_joint_evaluate(l->lane[i], x, &density, NULL, 0, opt_error);
  }
  if (!isfinite(density)) idm_joint_inverse(l->joint, l->peak[i].mode, x);
  free(factor);
  free(work);
  return status;
}

static void disperse_lane(void *context, size_t i)
{
  lanes *l = context;
  l->status[i] = disperse(l, i, &l->error[i]);
}

static idm_status each(lanes *l, void (*task)(void *context, size_t lane), idm_error *opt_error)
{
  idm_status status = idm_halt_parallel(l->joint->halt, l->count, l->threads, task, l, opt_error);
  for (size_t i = 0; i < l->count && status == IDM_OK; i++) {
    status = l->status[i];
    if (status != IDM_OK && opt_error) *opt_error = l->error[i];
  }
  return status;
}

/* Leave a mode for the highest where it is so much lower that no posterior is left in it. */
static void leave_low_modes(const lanes *l)
{
  static const double hopeless = 10; /* nats */
  const size_t d = l->joint->dimension;
  size_t best = 0;
  for (size_t i = 1; i < l->count; i++)
    if (l->peak[i].log_density > l->peak[best].log_density) best = i;
  for (size_t i = 0; i < l->count; i++)
    if (l->peak[i].log_density < l->peak[best].log_density - hopeless)
      idm_joint_peak_copy(d, &l->peak[best], &l->peak[i]);
}

/* --- chains --------------------------------------------------------------------------------- */

static idm_status choose_sampler(const lanes *l, const idm_fit_settings *settings,
                                 const idm_sampler **ret_sampler, idm_error *opt_error)
{
  enum { few = 20 }; /* dimensions in which many cheap evaluations gain more than gradients */
  const bool slopes = idm_joint_has_gradient(l->lane[0]);
  *ret_sampler = settings->sampler[0]                  ? idm_sampler_find(settings->sampler)
                 : slopes && l->joint->dimension > few ? &idm_sampler_nuts
                                                       : &idm_sampler_pcn;
  if (*ret_sampler && (slopes || !(*ret_sampler)->gradient)) return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE,
                  "'%s' does not draw dynamics and decisions of this agent together, which have no "
                  "gradient; expected --sampler pcn or metropolis",
                  settings->sampler);
}

/* Acceptance that nuts aims at: at kinks of an interpolated plan errors of a trajectory shrink only
 * in proportion to its steps, so that short steps do not pay. */
static const double rugged_acceptance = 0.65;
/* Deepest tree of nuts: while warm-up tries short steps, trajectories of hundreds of them cost more
 * than they move the chain. */
enum { rugged_depth = 6 };

static idm_status run_chains(lanes *l, const idm_fit_settings *settings, const idm_sampler *sampler,
                             const idm_fit_watch *watch, idm_chains **ret_chains,
                             idm_error *opt_error)
{
  const size_t d = l->joint->dimension;
  idm_target *target = idm_new(l->count, sizeof *target);
  idm_status status = target ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_drawing_create(settings, sampler, l->key, d, NULL, l->joint->halt, ret_chains,
                                opt_error);
  if (status == IDM_OK) {
    (*ret_chains)->settings.kernel.surrogate = idm_joint_surrogate;
    (*ret_chains)->settings.kernel.acceptance = rugged_acceptance;
    if (!settings->depth) (*ret_chains)->settings.kernel.depth = rugged_depth;
  }
  for (size_t i = 0; i < l->count && status == IDM_OK; i++) {
    target[i] = idm_joint_target(l->lane[i], &l->peak[i]);
    status = idm_chains_start(*ret_chains, i, &target[i], l->x + i * d, l->centre + i * d,
                              l->covariance + i * d * d, opt_error);
  }
  if (status == IDM_OK)
    status = idm_drawing_run(*ret_chains, target, watch, l->joint->halt, opt_error);
  if (status == IDM_OK && idm_chains_common(*ret_chains) < settings->draws)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  free(target);
  return status;
}

/* --- passes --------------------------------------------------------------------------------- */

/* Chains of cheap evaluations that mix slowly are run again with four times the steps per draw, and
 * again. */
enum { passes = 4, first_steps = 3 };

/* One pass under way. The first member is what idm_journal_save needs. */
typedef struct pass_work {
  idm_journal_work work;
  const idm_fit_watch *watch;
} pass_work;

static void describe_pass(const void *content, char *buffer, size_t size)
{
  const pass_work *p = content;
  char words[96];
  idm_print(buffer, size, "%spass %zu: %s", p->work.step ? "chains mixed slowly; " : "",
            (size_t)p->work.step + 1, idm_work_words(p->work.opt_inner, words, sizeof words));
}

static bool watch_pass(void *context, const idm_work *inner)
{
  pass_work *p = context;
  p->work.opt_inner = inner;
  const idm_work all = {.done = inner->done,
                        .content = p,
                        .describe = describe_pass,
                        .save = inner->save ? idm_journal_save : NULL};
  return p->watch->progress(p->watch->context, &all);
}

/* The free numbers of all cells at a draw, then what each differs from its mean over cells: what
 * decisions depend on. Priors alone separate numbers that cells share from those that are theirs,
 * and chains move slowly there. out[2][cells][free numbers]. */
static void list_levels(const joint *j, const double *w, double *out)
{
  const size_t free = j->cell[0].parameters->dimension, all = j->cells * free;
  for (size_t c = 0; c < j->cells; c++)
    j->numbers->place(j->numbers->context, c, w, out + c * free);
  for (size_t i = 0; i < free; i++) {
    double sum = 0;
    for (size_t c = 0; c < j->cells; c++) sum += out[c * free + i];
    for (size_t c = 0; c < j->cells; c++)
      out[all + c * free + i] = out[c * free + i] - sum / (double)j->cells;
  }
}

/* Whether the chains of one number have R-hat and effective draws, with a margin for sums. */
static idm_status find_mixed(const idm_chains *c, const double *first, size_t next,
                             idm_check_id rhat, double effective, bool *mixed, idm_error *opt_error)
{
  const size_t draws = (size_t)c->settings.draws;
  idm_diagnosis one;
  const idm_status status =
      idm_diagnose(first, c->settings.chains, draws, draws * next, next, &one, opt_error);
  const bool holds =
      one.rhat <= idm_check_threshold(rhat) && fmin(one.ess_bulk, one.ess_tail) >= effective;
  *mixed = *mixed && status == IDM_OK && holds;
  return status;
}

/* Whether the chains of the dynamics and of the levels are mixed. */
static idm_status find_settled(const joint *j, const idm_chains *c, bool *ret_settled,
                               idm_error *opt_error)
{
  const size_t all = c->settings.chains * (size_t)c->settings.draws;
  /* Where there is a single cell nothing differs. */
  const size_t own = j->cells * j->cell[0].parameters->dimension;
  const size_t levels = j->cells > 1 ? 2 * own : own;
  const double least = 1.5 * idm_check_threshold(IDM_CHECK_EFFECTIVE);
  double *level = idm_new(idm_times(all, 2 * own), sizeof *level);
  idm_status status = level ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t k = 0; k < all && status == IDM_OK; k++)
    list_levels(j, c->draw + k * c->dimension + j->ratios, level + k * 2 * own);
  *ret_settled = true;
  for (size_t i = 0; i < j->ratios && status == IDM_OK; i++)
    status =
        find_mixed(c, c->draw + i, c->dimension, IDM_CHECK_JOINT_RHAT, 0, ret_settled, opt_error);
  for (size_t i = 0; i < levels && status == IDM_OK; i++)
    status = find_mixed(c, level + i, 2 * own, IDM_CHECK_RHAT, least, ret_settled, opt_error);
  free(level);
  return status;
}

static idm_status run_pass(lanes *l, const idm_fit_settings *settings, const idm_sampler *sampler,
                           size_t at, pass_work *p, idm_chains **ret_chains, idm_error *opt_error)
{
  idm_fit_settings own = *settings;
  idm_fit_watch watch = {.progress = watch_pass, .context = p};
  if (at) own.thin = first_steps << 2 * at;
  p->work.step = at;
  if (!p->watch->progress) watch.progress = NULL;
  idm_journal_go_on(p->work.journal, at, &watch);
  const idm_status status = run_chains(l, &own, sampler, &watch, ret_chains, opt_error);
  return idm_record_blame(p->watch, status, opt_error);
}

/* The chains of the last pass; those before it leave an empty record each. */
static idm_status run_passes(lanes *l, const idm_fit_settings *settings, const idm_sampler *sampler,
                             const idm_fit_watch *watch, idm_chains **ret_chains,
                             idm_error *opt_error)
{
  const double all = (double)settings->chains * (double)settings->draws;
  const bool again = sampler == &idm_sampler_pcn && !settings->thin && settings->chains > 1 &&
                     all >= 4 * idm_check_threshold(IDM_CHECK_EFFECTIVE);
  pass_work p = {.watch = watch};
  idm_record r;
  bool settled = false;
  idm_status status = idm_journal_create("idmjnt1", watch, &p.work.journal, opt_error);
  for (size_t k = 0; k < passes && !settled && status == IDM_OK; k++) {
    const bool last = !again || k + 1 == passes;
    if (!last && idm_journal_get(p.work.journal, k, &r)) continue;
    status = run_pass(l, settings, sampler, k, &p, ret_chains, opt_error);
    if (status == IDM_OK && !last)
      status = find_settled(l->joint, *ret_chains, &settled, opt_error);
    if (status != IDM_OK || last) break;
    if (settled) continue;
    idm_chains_destroy(*ret_chains);
    *ret_chains = NULL;
    idm_journal_begin(k, &r);
    status = idm_journal_put(p.work.journal, k, &r, opt_error);
  }
  idm_journal_destroy(p.work.journal);
  assert(status != IDM_OK || *ret_chains); /* the last pass leaves them */
  return status;
}

/* --- the dynamics drawn --------------------------------------------------------------------- */

/* Means and sds of the probabilities. */
static idm_status average(const joint *j, const idm_chains *c, idm_joint_dynamics *learnt,
                          idm_error *opt_error)
{
  const idm_dynamics_draws *draws = j->cut->draws;
  const size_t all = c->settings.chains * (size_t)c->settings.draws;
  idm_welford *sum = idm_new(draws->numbers, sizeof *sum);
  idm_dynamics *d = NULL;
  idm_status status =
      sum ? idm_problem_dynamics(j->cut->learnt, &d, opt_error) : idm_fail_memory(opt_error);
  for (size_t k = 0; k < all && status == IDM_OK; k++) {
    ratio_set(j->learner->structure, c->draw + k * c->dimension, d->start);
    for (size_t i = 0; i < draws->numbers; i++) idm_welford_add(&sum[i], d->start[draws->place[i]]);
  }
  for (size_t i = 0; i < draws->numbers && status == IDM_OK; i++) {
    learnt->mean[i] = sum[i].mean;
    learnt->sd[i] = sqrt(idm_welford_variance(&sum[i]));
  }
  idm_dynamics_destroy(d);
  free(sum);
  return status;
}

/* How much likelihood of the observations the decisions cost: at the mean, against the best start
 * or draw without decisions. */
static idm_status measure_loss(const joint *j, idm_joint_dynamics *learnt, idm_error *opt_error)
{
  const idm_dynamics_draws *draws = j->cut->draws;
  idm_dynamics_draws mean = {0};
  idm_dynamics *d = NULL;
  double best = draws->highest, here = NAN;
  for (size_t i = 0; i < draws->chains * draws->draws; i++)
    best = fmax(best, draws->log_likelihood[i]);
  idm_status status = idm_dynamics_mean(j->cut, learnt, &mean, opt_error);
  if (status == IDM_OK)
    status = idm_dynamics_create(idm_setting_sizes(j->cut->learnt->setting), &d, opt_error);
  if (status == IDM_OK) status = idm_dynamics_take(j->cut->learnt, &mean, 0, 0, d, opt_error);
  if (status == IDM_OK) status = idm_iohmm_log_likelihood(j->learner, d, &here, NULL, opt_error);
  learnt->lost = best - here;
  learnt->free = j->ratios;
  idm_dynamics_destroy(d);
  idm_dynamics_draws_clear(&mean);
  return status;
}

static idm_status diagnose(const joint *j, const idm_chains *c, idm_joint_dynamics *learnt,
                           idm_error *opt_error)
{
  const size_t draws = (size_t)c->settings.draws;
  idm_status status = IDM_OK;
  learnt->rhat = 0;
  learnt->effective = INFINITY;
  for (size_t i = 0; i < j->ratios && status == IDM_OK; i++) {
    idm_diagnosis one;
    status = idm_diagnose(c->draw + i, c->settings.chains, draws, draws * c->dimension,
                          c->dimension, &one, opt_error);
    /* What is not a number stays none. */
    learnt->rhat = isnan(learnt->rhat) || learnt->rhat > one.rhat ? learnt->rhat : one.rhat;
    learnt->effective = fmin(learnt->effective, one.ess_bulk);
  }
  return status;
}

idm_status idm_joint_draw(joint *j, const idm_fit_settings *settings, uint64_t key,
                          const idm_fit_watch *opt_watch, idm_chains **ret_chains,
                          idm_joint_dynamics **ret_dynamics, idm_error *opt_error)
{
  static const idm_fit_watch unwatched = {0};
  const idm_fit_watch *watch = opt_watch ? opt_watch : &unwatched;
  const idm_sampler *sampler = NULL;
  idm_halt halt;
  *ret_chains = NULL;
  *ret_dynamics = NULL;
  idm_halt_begin(&halt, watch, "looking for where to start");
  j->ratios = ratio_count(j->learner->structure);
  j->dimension = j->ratios + j->numbers->count;
  joint watched = *j;
  watched.halt = &halt;
  lanes l = {
      .joint = &watched, .count = settings->chains, .threads = settings->threads, .key = key};
  idm_status status = open_lanes(&l, opt_error);
  if (status == IDM_OK) status = each(&l, climb_lane, opt_error);
  if (status == IDM_OK) status = choose_sampler(&l, settings, &sampler, opt_error);
  if (status == IDM_OK) {
    leave_low_modes(&l);
    status = each(&l, disperse_lane, opt_error);
  }
  if (status == IDM_OK) status = run_passes(&l, settings, sampler, watch, ret_chains, opt_error);
  if (status == IDM_OK)
    status = idm_joint_dynamics_create(&j->cut->draws->name, ret_dynamics, opt_error);
  if (status == IDM_OK) status = average(j, *ret_chains, *ret_dynamics, opt_error);
  if (status == IDM_OK) status = diagnose(j, *ret_chains, *ret_dynamics, opt_error);
  if (status == IDM_OK) status = measure_loss(j, *ret_dynamics, opt_error);
  close_lanes(&l);
  if (status != IDM_OK) {
    idm_chains_destroy(*ret_chains);
    *ret_chains = NULL;
    idm_joint_dynamics_destroy(*ret_dynamics);
    *ret_dynamics = NULL;
  }
  return status;
}
