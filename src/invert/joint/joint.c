/* Joint draws of learnt dynamics and of the numbers of decisions: Gauss-Newton search for modes,
 * dispersed starts, chains.
 *
 * Contents: approach · joint */
#include "invert/joint/joint.h"

#include <assert.h>
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/record.h"
#include "base/statistics.h"
#include "base/text.h"
#include "infer/chains.h"
#include "invert/assess.h"
#include "invert/matching/fit.h"
#include "invert/posterior.h"
#include "learn/learn.h"
#include "setting/model.h"

/* === approach ================================================================================= */

/* Mode of a joint posterior, and the normal approximation there (joint.h). */

/* Largest number of groups of trajectories for scores, which bounds the memory. Groups are sums of
 * independent scores, so their outer products estimate the same information. */
enum { max_groups = 4096 };
/* Steps of one-sided and central differences, in conditional sds under the current approximation.
 * Central differences average over the kinks of an interpolated policy. */
static const double difference_step = 0.4, central_step = 0.4;

/* --- the draws of the dynamics -------------------------------------------------------------- */

/* Compute the log-ratios of draw `at` of the cut. `d` is scratch. */
static idm_status take_ratios(const joint_target *j, size_t at, idm_dynamics *d, double *y,
                              idm_error *opt_error)
{
  const idm_dynamics_draws *draws = j->cut->draws;
  const idm_status status = idm_dynamics_of_draw(j->cut->learnt, draws, at / draws->draws,
                                                 at % draws->draws, d, opt_error);
  if (status == IDM_OK) ratio_get(j->learner->structure, d->start, y);
  return status;
}

/* Compute the log-ratios of draws of the cut, evenly spread, for their covariance:
 * y[count][ratios]. */
static idm_status list_ratios(const joint_target *j, size_t count, double *y, idm_error *opt_error)
{
  const size_t all = j->cut->draws->chains * j->cut->draws->draws;
  idm_dynamics *d = NULL;
  idm_status status =
      idm_dynamics_create(idm_setting_sizes(j->cut->learnt->setting), &d, opt_error);
  for (size_t k = 0; k < count && status == IDM_OK; k++)
    status = take_ratios(j, (2 * k + 1) * all / (2 * count), d, y + k * j->ratios, opt_error);
  idm_dynamics_destroy(d);
  return status;
}

/* Shrink the correlations of a covariance that is estimated from few draws. */
static void shrink(size_t n, size_t count, double *covariance)
{
  const double shrinkage = (double)count / (double)(count + n);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++)
      covariance[i * n + k] =
          i == k ? fmax(covariance[i * n + k], 1e-8) : shrinkage * covariance[i * n + k];
}

idm_status idm_joint_precision(const joint_target *j, double *precision, idm_error *opt_error)
{
  enum { max_draws = 2000 };
  const size_t n = j->ratios, d = j->dimension;
  const size_t all = j->cut->draws->chains * j->cut->draws->draws;
  const size_t count = all < max_draws ? all : max_draws;
  double *y = idm_new(idm_times(count, n), sizeof *y);
  double *work = idm_new(2 * n * n + n, sizeof *work);
  idm_status status = y && work ? list_ratios(j, count, y, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    double *inverse = work + n * n;
    const idm_points points = {
        .x = y, .count = count, .dimension = n, .point_stride = n, .number_stride = 1};
    idm_covariance(&points, count > 1, inverse + n * n, work);
    shrink(n, count, work);
    memset(precision, 0, d * d * sizeof *precision);
    if (idm_cholesky(n, work))
      idm_cholesky_inverse(n, work, inverse);
    else
      status = idm_fail(opt_error, IDM_NUMERICAL,
                        "the draws of the dynamics have no covariance; take more of them");
    for (size_t i = 0; i < n; i++)
      memcpy(precision + i * d, inverse + i * n, n * sizeof *precision);
    for (size_t i = n; i < d; i++) precision[i * (d + 1)] = pow(j->numbers->unit[i - n], -2);
  }
  free(y);
  free(work);
  return status;
}

idm_status idm_joint_start(const joint_target *j, size_t worker, size_t workers, double *v,
                           idm_error *opt_error)
{
  const size_t all = j->cut->draws->chains * j->cut->draws->draws;
  idm_dynamics *d = NULL;
  idm_status status =
      idm_dynamics_create(idm_setting_sizes(j->cut->learnt->setting), &d, opt_error);
  if (status == IDM_OK)
    status = take_ratios(j, (2 * worker + 1) * all / (2 * workers), d, v, opt_error);
  memcpy(v + j->ratios, j->numbers->start, j->numbers->count * sizeof *v);
  idm_dynamics_destroy(d);
  return status;
}

/* --- scores --------------------------------------------------------------------------------- */

/* State of a Gauss-Newton search. */
typedef struct gauss_newton {
  joint_worker *worker;
  size_t dimension;
  const double *base; /* precision without the decisions */
  size_t groups;
  joint_normal *normal;   /* current point and its approximation */
  double *displaced;      /* [dimension] */
  double *v;              /* [dimension]: the vector of the target */
  double *gradient;       /* [dimension] */
  double *sd;             /* [dimension]: conditional on the other coordinates */
  double *factor;         /* [dimension][dimension]: Cholesky factor of the precision */
  double *group_sides[2]; /* [groups] */
  double *score;          /* [dimension][groups] */
} gauss_newton;

/* Evaluate the target at natural coordinates, as idm_joint_evaluate. */
static idm_status evaluate(gauss_newton *c, const double *natural, double *log_density,
                           double *opt_group, idm_error *opt_error)
{
  idm_joint_inverse(idm_joint_worker_target(c->worker), natural, c->v);
  return idm_joint_evaluate(c->worker, c->v, log_density, opt_group, c->groups, opt_error);
}

static idm_status anchor(gauss_newton *c, idm_error *opt_error)
{
  idm_joint_inverse(idm_joint_worker_target(c->worker), c->normal->mode, c->v);
  return idm_joint_anchor(c->worker, c->v, opt_error);
}

/* Differences by coordinate i: central, or one-sided from the mode, for which side 0 holds the
 * groups at the mode; 0 next to the edge of the support. */
static idm_status difference_coordinate(gauss_newton *c, size_t i, bool central,
                                        idm_error *opt_error)
{
  const double h = (central ? central_step : difference_step) * c->sd[i];
  const double width = central ? 2 * h : h;
  double group_sides[2] = {c->normal->log_density, 0};
  bool finite = true;
  memcpy(c->displaced, c->normal->mode, c->dimension * sizeof *c->displaced);
  for (int k = !central; k < 2; k++) {
    c->displaced[i] = c->normal->mode[i] + (k ? h : -h);
    const idm_status status =
        evaluate(c, c->displaced, &group_sides[k], c->group_sides[k], opt_error);
    if (status != IDM_OK) return status;
    finite = finite && isfinite(group_sides[k]);
  }
  c->gradient[i] = finite ? (group_sides[1] - group_sides[0]) / width : 0;
  for (size_t k = 0; k < c->groups; k++)
    c->score[i * c->groups + k] =
        finite ? (c->group_sides[1][k] - c->group_sides[0][k]) / width : 0;
  return IDM_OK;
}

/* Compute gradient, precision and covariance at the mode. */
static idm_status approximate(gauss_newton *c, bool central, idm_error *opt_error)
{
  const size_t d = c->dimension;
  idm_status status = anchor(c, opt_error);
  if (status == IDM_OK)
    status = evaluate(c, c->normal->mode, &c->normal->log_density, c->group_sides[0], opt_error);
  for (size_t i = 0; i < d && status == IDM_OK; i++)
    status = difference_coordinate(c, i, central, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < d; i++)
    for (size_t k = 0; k <= i; k++) {
      double sum = 0;
      for (size_t t = 0; t < c->groups; t++)
        sum += c->score[i * c->groups + t] * c->score[k * c->groups + t];
      c->normal->information[i * d + k] = c->normal->information[k * d + i] = sum;
      c->factor[i * d + k] = c->factor[k * d + i] =
          sum + 0.5 * (c->base[i * d + k] + c->base[k * d + i]);
    }
  for (size_t i = 0; i < d; i++) {
    c->normal->score[i] = 0;
    for (size_t t = 0; t < c->groups; t++) c->normal->score[i] += c->score[i * c->groups + t];
  }
  for (size_t i = 0; i < d; i++) c->sd[i] = 1 / sqrt(c->factor[i * (d + 1)]);
  if (!idm_cholesky(d, c->factor))
    return idm_fail(opt_error, IDM_NUMERICAL, "the joint posterior has no normal approximation");
  idm_cholesky_inverse(d, c->factor, c->normal->covariance);
  return IDM_OK;
}

/* --- Gauss-Newton search --------------------------------------------------------------------- */

/* Take a Gauss-Newton step, halved until it gains more than `min_gain`; *gain is 0, and the mode
 * unchanged, if no step does. */
static idm_status gauss_newton_step(gauss_newton *c, double min_gain, double *gain,
                                    idm_error *opt_error)
{
  enum { halvings = 8 };
  const size_t d = c->dimension;
  double share = 1;
  *gain = 0;
  idm_lower_solve(d, c->factor, c->gradient);
  idm_lower_solve_transposed(d, c->factor, c->gradient);
  for (int k = 0; k < halvings && *gain == 0; k++, share /= 2) {
    double trial_density;
    for (size_t i = 0; i < d; i++) c->displaced[i] = c->normal->mode[i] + share * c->gradient[i];
    const idm_status status = evaluate(c, c->displaced, &trial_density, NULL, opt_error);
    if (status != IDM_OK) return status;
    if (!(trial_density > c->normal->log_density + min_gain)) continue;
    *gain = trial_density - c->normal->log_density;
    c->normal->log_density = trial_density;
    memcpy(c->normal->mode, c->displaced, d * sizeof *c->displaced);
  }
  return IDM_OK;
}

static idm_status gauss_newton_run(gauss_newton *c, idm_error *opt_error)
{
  enum { max_steps = 20 };
  static const double min_gain = 0.5; /* nats */
  double gain = INFINITY;
  idm_status status = anchor(c, opt_error);
  if (status == IDM_OK)
    status = evaluate(c, c->normal->mode, &c->normal->log_density, NULL, opt_error);
  if (status == IDM_OK && !isfinite(c->normal->log_density))
    return idm_fail(opt_error, IDM_NUMERICAL,
                    "a draw of the dynamics gives some decision probability 0");
  /* One-sided differences until they gain little, then central ones: the search ends when the
   * central step gains less than min_gain, so that the approximation is that of the mode. */
  bool central = false;
  for (int k = 0; k < max_steps && status == IDM_OK && gain > 0; k++) {
    central = central || gain <= min_gain || k + 1 == max_steps;
    status = approximate(c, central, opt_error);
    if (status == IDM_OK && k + 1 < max_steps)
      status = gauss_newton_step(c, central ? min_gain : 0, &gain, opt_error);
    if (gain == 0 && !central) gain = min_gain; /* continue with central differences */
  }
  return status;
}

/* Number of groups of trajectories for scores. */
static size_t count_groups(const joint_target *j)
{
  size_t count = 0;
  for (size_t c = 0; c < j->cells; c++)
    count += (j->cell[c].segments ? j->cell[c].segments : j->cell[c].data)->trajectories;
  return count < max_groups ? count : max_groups;
}

idm_status idm_joint_find_mode(joint_worker *worker, const double *precision, joint_normal *normal,
                               idm_error *opt_error)
{
  const joint_target *j = idm_joint_worker_target(worker);
  const size_t d = j->dimension;
  gauss_newton c = {.worker = worker,
                    .dimension = d,
                    .base = precision,
                    .groups = count_groups(j),
                    .normal = normal};
  double *work = idm_new(idm_times(d, d) + 4 * d + (d + 2) * c.groups, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  c.factor = work;
  c.displaced = c.factor + d * d;
  c.v = c.displaced + d;
  c.gradient = c.v + d;
  c.sd = c.gradient + d;
  c.group_sides[0] = c.sd + d;
  c.group_sides[1] = c.group_sides[0] + c.groups;
  c.score = c.group_sides[1] + c.groups;
  for (size_t i = 0; i < d; i++) c.sd[i] = 1 / sqrt(precision[i * (d + 1)]);
  idm_status status = gauss_newton_run(&c, opt_error);
  free(work);
  return status;
}

/* === joint ==================================================================================== */

/* First random stream, beyond those of chains. */
static const uint64_t start_stream = (uint64_t)5 << 32;

/* --- starting points ------------------------------------------------------------------------ */

/* The chains of a request, one worker each. */
typedef struct workers {
  const joint_target *joint;
  size_t count;
  int threads;
  uint64_t key;
  double *precision;     /* [dimension][dimension]: without the decisions */
  joint_worker **worker; /* [count] */
  joint_normal *normal;  /* [count] */
  double *x;             /* [count][dimension]: starting points of the chains */
  double *centre; /* [count][dimension]: initial estimates of mean and covariance for the sampler */
  double *covariance; /* [count][dimension][dimension] */
  idm_status *status; /* [count] */
  idm_error *error;   /* [count] */
} workers;

static void workers_clear(workers *l)
{
  for (size_t i = 0; l->worker && i < l->count; i++) idm_joint_worker_destroy(l->worker[i]);
  for (size_t i = 0; l->normal && i < l->count; i++) idm_joint_normal_clear(&l->normal[i]);
  free(l->worker);
  free(l->normal);
  free(l->precision);
  free(l->x);
  free(l->centre);
  free(l->covariance);
  free(l->status);
  free(l->error);
}

static idm_status workers_init(workers *l, idm_error *opt_error)
{
  const size_t d = l->joint->dimension, n = l->count;
  l->worker = idm_new(n, sizeof *l->worker);
  l->precision = idm_new(idm_times(d, d), sizeof *l->precision);
  l->normal = idm_new(n, sizeof *l->normal);
  l->x = idm_new(idm_times(n, d), sizeof *l->x);
  l->centre = idm_new(idm_times(n, d), sizeof *l->centre);
  l->covariance = idm_new(idm_times(n, idm_times(d, d)), sizeof *l->covariance);
  l->status = idm_new(n, sizeof *l->status);
  l->error = idm_new(n, sizeof *l->error);
  idm_status status = l->worker && l->precision && l->normal && l->x && l->centre &&
                              l->covariance && l->status && l->error
                          ? IDM_OK
                          : idm_fail_memory(opt_error);
  for (size_t i = 0; i < n && status == IDM_OK; i++)
    status = idm_joint_normal_create(d, &l->normal[i], opt_error);
  return status == IDM_OK ? idm_joint_precision(l->joint, l->precision, opt_error) : status;
}

/* Move the starting numbers of worker i to the best of some draws, twice as wide as their prior:
 * workers that all started at the same numbers could miss a second mode. Odd workers reject draws
 * near the starting values of the first. If all draws are impossible, the numbers are unchanged.
 * `work` has room for two vectors. */
static idm_status disperse_parameters(workers *l, size_t i, double *work, idm_error *opt_error)
{
  enum { tries = 16 };
  static const double width = 2, displaced = 1; /* sds of the prior */
  const joint_target *j = l->joint;
  const joint_parameters *n = j->numbers;
  double *natural = l->normal[i].mode, *trial = work, *v = work + j->dimension, best = -INFINITY;
  idm_random random;
  idm_status status = IDM_OK;
  idm_random_init(&random, l->key, start_stream + l->count + i);
  memcpy(trial, natural, j->dimension * sizeof *trial);
  for (int k = 0; k < tries && status == IDM_OK; k++) {
    double density, distance = 0;
    for (size_t a = 0; a < n->count; a++) {
      const double z = width * idm_random_normal(&random);
      trial[j->ratios + a] = n->start[a] + n->unit[a] * z;
      distance = fmax(distance, fabs(z));
    }
    if (i % 2 && distance < displaced) continue;
    idm_joint_inverse(j, trial, v);
    status = idm_joint_evaluate(l->worker[i], v, &density, NULL, 0, opt_error);
    if (status != IDM_OK || !(density > best)) continue;
    best = density;
    memcpy(natural, trial, j->dimension * sizeof *natural);
  }
  return status;
}

/* Search for a mode from a draw of the dynamics. */
static idm_status find_worker_mode(workers *l, size_t i, idm_error *opt_error)
{
  double *work = idm_new(2 * l->joint->dimension, sizeof *work);
  idm_status status = work ? idm_joint_worker_create(l->joint, &l->worker[i], opt_error)
                           : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_joint_start(l->joint, i, l->count, l->normal[i].mode, opt_error);
  if (status == IDM_OK && i > 0) status = disperse_parameters(l, i, work, opt_error);
  free(work);
  return status == IDM_OK
             ? idm_joint_find_mode(l->worker[i], l->precision, &l->normal[i], opt_error)
             : status;
}

static void find_mode_task(void *context, size_t i)
{
  workers *l = context;
  l->status[i] = find_worker_mode(l, i, &l->error[i]);
}

/* Draw a point of the normal approximation, `width` times as wide, as a vector of the target.
 * `work` has room for the dimension. */
static void draw_around(const workers *l, size_t i, const double *factor, double width,
                        idm_random *random, double *work, double *v)
{
  const size_t d = l->joint->dimension;
  for (size_t a = 0; a < d; a++) work[a] = width * idm_random_normal(random);
  idm_lower_multiply(d, factor, work);
  for (size_t a = 0; a < d; a++) work[a] += l->normal[i].mode[a];
  idm_joint_inverse(l->joint, work, v);
}

/* Estimate mean and covariance of the target's vector by draws of the normal approximation. */
static idm_status set_first_guess(workers *l, size_t i, const double *factor, idm_random *random,
                                  idm_error *opt_error)
{
  const size_t d = l->joint->dimension, count = 500 + 20 * d;
  double *x = idm_new(idm_times(count + 1, d), sizeof *x);
  if (!x) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < count; k++) draw_around(l, i, factor, 1, random, x + count * d, x + k * d);
  const idm_points points = {
      .x = x, .count = count, .dimension = d, .point_stride = d, .number_stride = 1};
  idm_covariance(&points, 1, l->centre + i * d, l->covariance + i * d * d);
  free(x);
  return IDM_OK;
}

/* Disperse the start around the mode, closer to it if the density is 0; the mode itself at last. */
static idm_status disperse(workers *l, size_t i, idm_error *opt_error)
{
  enum { tries = 12 };
  const size_t d = l->joint->dimension;
  double *x = l->x + i * d;
  double *factor = idm_duplicate(l->normal[i].covariance, d * d, sizeof *factor);
  double *work = idm_new(d, sizeof *work);
  idm_random random;
  idm_random_init(&random, l->key, start_stream + i);
  double density = -INFINITY, width = 1.2;
  idm_joint_inverse(l->joint, l->normal[i].mode, x);
  idm_status status = factor && work ? idm_joint_surface(l->worker[i], l->normal[i].mode,
                                                         l->normal[i].covariance, opt_error)
                                     : idm_fail_memory(opt_error);
  if (status == IDM_OK && !idm_cholesky(d, factor))
    status = idm_fail(opt_error, IDM_NUMERICAL, "the joint posterior has no normal approximation");
  if (status == IDM_OK) status = set_first_guess(l, i, factor, &random, opt_error);
  for (int k = 0; k < tries && status == IDM_OK && !isfinite(density); k++, width *= 0.7) {
    draw_around(l, i, factor, width, &random, work, x);
    status = idm_joint_evaluate(l->worker[i], x, &density, NULL, 0, opt_error);
  }
  if (!isfinite(density)) idm_joint_inverse(l->joint, l->normal[i].mode, x);
  free(factor);
  free(work);
  return status;
}

static void disperse_task(void *context, size_t i)
{
  workers *l = context;
  l->status[i] = disperse(l, i, &l->error[i]);
}

static idm_status for_each_worker(workers *l, void (*task)(void *context, size_t worker),
                                  idm_error *opt_error)
{
  idm_status status =
      idm_cancel_parallel(l->joint->cancel, l->count, l->threads, task, l, opt_error);
  for (size_t i = 0; i < l->count && status == IDM_OK; i++) {
    status = l->status[i];
    if (status != IDM_OK && opt_error) *opt_error = l->error[i];
  }
  return status;
}

/* Replace modes so much lower than the highest that their posterior mass is negligible. */
static void replace_low_modes(const workers *l)
{
  static const double negligible_drop = 10; /* nats */
  const size_t d = l->joint->dimension;
  size_t best = 0;
  for (size_t i = 1; i < l->count; i++)
    if (l->normal[i].log_density > l->normal[best].log_density) best = i;
  for (size_t i = 0; i < l->count; i++)
    if (l->normal[i].log_density < l->normal[best].log_density - negligible_drop)
      idm_joint_normal_copy(d, &l->normal[best], &l->normal[i]);
}

/* --- chains --------------------------------------------------------------------------------- */

static idm_status choose_sampler(const workers *l, const idm_fit_settings *settings,
                                 const idm_sampler **ret_sampler, idm_error *opt_error)
{
  enum {
    max_pcn_dimension = 20
  }; /* above this dimension, gradients gain more than many cheap evaluations */
  const bool has_gradient = idm_joint_has_gradient(l->worker[0]);
  *ret_sampler = settings->sampler[0] ? idm_sampler_find(settings->sampler)
                 : has_gradient && l->joint->dimension > max_pcn_dimension ? &idm_sampler_hmc
                                                                           : &idm_sampler_pcn;
  if (*ret_sampler && (has_gradient || !(*ret_sampler)->gradient)) return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE,
                  "'%s' needs a gradient, and the joint posterior of dynamics and decisions of "
                  "this agent has none; expected --sampler pcn or metropolis",
                  settings->sampler);
}

/* Target acceptance along gradients: at kinks of an interpolated plan, errors of a trajectory
 * decrease only in proportion to its steps, so short steps are inefficient. */
static const double gradient_acceptance = 0.65;
/* Largest depths: while warm-up tries short steps, long trajectories cost more than they move the
 * chain. */
enum { hmc_max_depth = 4, nuts_max_depth = 6 };

static idm_status run_chains(workers *l, const idm_fit_settings *settings,
                             const idm_sampler *sampler, const idm_fit_monitor *watch,
                             idm_chains **ret_chains, idm_error *opt_error)
{
  const size_t d = l->joint->dimension;
  idm_target *target = idm_new(l->count, sizeof *target);
  idm_status status = target ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_sampling_create(settings, sampler, l->key, d, NULL, l->joint->cancel, ret_chains,
                                 opt_error);
  if (status == IDM_OK) {
    (*ret_chains)->settings.kernel.surrogate = idm_joint_surrogate;
    (*ret_chains)->settings.kernel.acceptance = gradient_acceptance;
    if (!settings->depth)
      (*ret_chains)->settings.kernel.depth =
          sampler == &idm_sampler_nuts ? nuts_max_depth : hmc_max_depth;
  }
  for (size_t i = 0; i < l->count && status == IDM_OK; i++) {
    target[i] = idm_joint_target(l->worker[i], &l->normal[i]);
    status = idm_chains_start(*ret_chains, i, &target[i], l->x + i * d, l->centre + i * d,
                              l->covariance + i * d * d, opt_error);
  }
  if (status == IDM_OK)
    status = idm_sampling_run(*ret_chains, target, watch, l->joint->cancel, opt_error);
  if (status == IDM_OK && idm_chains_min_draws(*ret_chains) < settings->draws)
    status = idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  free(target);
  return status;
}

/* --- passes --------------------------------------------------------------------------------- */

/* Chains with cheap evaluations that mix slowly are rerun with four times the steps per draw,
 * repeatedly. */
enum { max_passes = 4, first_steps = 3 };

/* State of one pass. The first member is what idm_journal_save expects. */
typedef struct pass_work {
  idm_journal_step work;
  const idm_fit_monitor *watch;
} pass_work;

static void describe_pass(const void *content, char *buffer, size_t size)
{
  const pass_work *p = content;
  char words[96];
  idm_print(buffer, size, "%spass %zu: %s", p->work.step ? "chains mixed slowly; " : "",
            (size_t)p->work.step + 1,
            idm_progress_describe(p->work.opt_inner, words, sizeof words));
}

static bool watch_pass(void *context, const idm_progress_state *inner)
{
  pass_work *p = context;
  p->work.opt_inner = inner;
  const idm_progress_state all = {.done = inner->done,
                                  .content = p,
                                  .describe = describe_pass,
                                  .save = inner->save ? idm_journal_save : NULL};
  return p->watch->progress(p->watch->context, &all);
}

/* Compute the free numbers of all cells at a draw, then their differences from the mean over cells,
 * on which decisions depend. Only priors separate numbers that cells share from those of one cell,
 * and chains mix slowly along them. out[2][cells][free numbers]. */
static void cell_levels(const joint_target *j, const double *w, double *out)
{
  const size_t free = j->cell[0].parameters->dimension, all = j->cells * free;
  for (size_t c = 0; c < j->cells; c++)
    j->numbers->cell_parameters(j->numbers->context, c, w, out + c * free);
  for (size_t i = 0; i < free; i++) {
    double sum = 0;
    for (size_t c = 0; c < j->cells; c++) sum += out[c * free + i];
    for (size_t c = 0; c < j->cells; c++)
      out[all + c * free + i] = out[c * free + i] - sum / (double)j->cells;
  }
}

/* Whether R-hat and effective draws of one number suffice, with a margin for sums. */
static idm_status check_mixing(const idm_chains *c, const double *first, size_t next,
                               idm_check_id rhat, double effective, bool *sufficient,
                               idm_error *opt_error)
{
  const size_t draws = (size_t)c->settings.draws;
  idm_diagnosis one;
  const idm_status status =
      idm_diagnose(first, c->settings.chains, draws, draws * next, next, &one, opt_error);
  const bool thresholds_met =
      one.rhat <= idm_check_threshold(rhat) && fmin(one.ess_bulk, one.ess_tail) >= effective;
  *sufficient = *sufficient && status == IDM_OK && thresholds_met;
  return status;
}

/* Whether the chains of the dynamics and of the levels have converged. */
static idm_status check_convergence(const joint_target *j, const idm_chains *c, bool *ret_converged,
                                    idm_error *opt_error)
{
  const size_t all = c->settings.chains * (size_t)c->settings.draws;
  /* With a single cell there are no differences. */
  const size_t own = j->cells * j->cell[0].parameters->dimension;
  const size_t levels = j->cells > 1 ? 2 * own : own;
  const double min_effective = 1.5 * idm_check_threshold(IDM_CHECK_EFFECTIVE);
  double *level = idm_new(idm_times(all, 2 * own), sizeof *level);
  idm_status status = level ? IDM_OK : idm_fail_memory(opt_error);
  for (size_t k = 0; k < all && status == IDM_OK; k++)
    cell_levels(j, c->draw + k * c->dimension + j->ratios, level + k * 2 * own);
  *ret_converged = true;
  for (size_t i = 0; i < j->ratios && status == IDM_OK; i++)
    status = check_mixing(c, c->draw + i, c->dimension, IDM_CHECK_JOINT_RHAT, 0, ret_converged,
                          opt_error);
  for (size_t i = 0; i < levels && status == IDM_OK; i++)
    status = check_mixing(c, level + i, 2 * own, IDM_CHECK_RHAT, min_effective, ret_converged,
                          opt_error);
  free(level);
  return status;
}

static idm_status run_pass(workers *l, const idm_fit_settings *settings, const idm_sampler *sampler,
                           size_t at, pass_work *p, idm_chains **ret_chains, idm_error *opt_error)
{
  idm_fit_settings own = *settings;
  idm_fit_monitor watch = {.progress = watch_pass, .context = p};
  if (at) own.thin = first_steps << 2 * at;
  p->work.step = at;
  if (!p->watch->progress) watch.progress = NULL;
  idm_journal_resume_step(p->work.journal, at, &watch);
  const idm_status status = run_chains(l, &own, sampler, &watch, ret_chains, opt_error);
  return idm_record_name_file(p->watch, status, opt_error);
}

/* Run passes until the chains have converged; each earlier pass leaves an empty record in the
 * journal. Returns the chains of the last pass. */
static idm_status run_passes(workers *l, const idm_fit_settings *settings,
                             const idm_sampler *sampler, const idm_fit_monitor *watch,
                             idm_chains **ret_chains, idm_error *opt_error)
{
  const double all = (double)settings->chains * (double)settings->draws;
  const bool may_rerun = sampler == &idm_sampler_pcn && !settings->thin && settings->chains > 1 &&
                         all >= 4 * idm_check_threshold(IDM_CHECK_EFFECTIVE);
  pass_work p = {.watch = watch};
  idm_record r;
  bool converged = false;
  idm_status status = idm_journal_create("idmjnt1", watch, &p.work.journal, opt_error);
  for (size_t k = 0; k < max_passes && !converged && status == IDM_OK; k++) {
    const bool last = !may_rerun || k + 1 == max_passes;
    if (!last && idm_journal_get(p.work.journal, k, &r)) continue;
    status = run_pass(l, settings, sampler, k, &p, ret_chains, opt_error);
    if (status == IDM_OK && !last)
      status = check_convergence(l->joint, *ret_chains, &converged, opt_error);
    if (status != IDM_OK || last) break;
    if (converged) continue;
    idm_chains_destroy(*ret_chains);
    *ret_chains = NULL;
    idm_journal_begin(k, &r);
    status = idm_journal_put(p.work.journal, k, &r, opt_error);
  }
  idm_journal_destroy(p.work.journal);
  assert(status != IDM_OK || *ret_chains); /* the last pass returns its chains */
  return status;
}

/* --- drawn dynamics -------------------------------------------------------------------------- */

/* Compute means and sds of the probabilities. */
static idm_status average_dynamics(const joint_target *j, const idm_chains *c,
                                   idm_joint_dynamics *learnt, idm_error *opt_error)
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

/* Compute the loss in log-likelihood of the observations due to the decisions: at the mean, against
 * the best start or draw without decisions. */
static idm_status measure_loss(const joint_target *j, idm_joint_dynamics *learnt,
                               idm_error *opt_error)
{
  const idm_dynamics_draws *draws = j->cut->draws;
  idm_dynamics_draws mean = {0};
  idm_dynamics *d = NULL;
  double best = draws->highest, mean_log_likelihood = NAN;
  for (size_t i = 0; i < draws->chains * draws->draws; i++)
    best = fmax(best, draws->log_likelihood[i]);
  idm_status status = idm_dynamics_mean(j->cut, learnt, &mean, opt_error);
  if (status == IDM_OK)
    status = idm_dynamics_create(idm_setting_sizes(j->cut->learnt->setting), &d, opt_error);
  if (status == IDM_OK) status = idm_dynamics_of_draw(j->cut->learnt, &mean, 0, 0, d, opt_error);
  if (status == IDM_OK)
    status = idm_iohmm_log_likelihood(j->learner, d, &mean_log_likelihood, NULL, opt_error);
  learnt->lost = best - mean_log_likelihood;
  learnt->free = j->ratios;
  idm_dynamics_destroy(d);
  idm_dynamics_draws_clear(&mean);
  return status;
}

static idm_status diagnose(const joint_target *j, const idm_chains *c, idm_joint_dynamics *learnt,
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
    /* NaN is kept. */
    learnt->rhat = isnan(learnt->rhat) || learnt->rhat > one.rhat ? learnt->rhat : one.rhat;
    learnt->effective = fmin(learnt->effective, one.ess_bulk);
  }
  return status;
}

idm_status idm_joint_draw(joint_target *j, const idm_fit_settings *settings, uint64_t key,
                          const idm_fit_monitor *opt_monitor, idm_chains **ret_chains,
                          idm_joint_dynamics **ret_dynamics, idm_error *opt_error)
{
  static const idm_fit_monitor no_watch = {0};
  const idm_fit_monitor *watch = opt_monitor ? opt_monitor : &no_watch;
  const idm_sampler *sampler = NULL;
  idm_cancel cancel;
  *ret_chains = NULL;
  *ret_dynamics = NULL;
  idm_cancel_init(&cancel, watch, "searching for starting points");
  j->ratios = ratio_count(j->learner->structure);
  j->dimension = j->ratios + j->numbers->count;
  joint_target cancellable = *j;
  cancellable.cancel = &cancel;
  workers l = {
      .joint = &cancellable, .count = settings->chains, .threads = settings->threads, .key = key};
  idm_status status = workers_init(&l, opt_error);
  if (status == IDM_OK) status = for_each_worker(&l, find_mode_task, opt_error);
  if (status == IDM_OK) status = choose_sampler(&l, settings, &sampler, opt_error);
  if (status == IDM_OK) {
    replace_low_modes(&l);
    status = for_each_worker(&l, disperse_task, opt_error);
  }
  if (status == IDM_OK) status = run_passes(&l, settings, sampler, watch, ret_chains, opt_error);
  if (status == IDM_OK)
    status = idm_joint_dynamics_create(&j->cut->draws->name, ret_dynamics, opt_error);
  if (status == IDM_OK) status = average_dynamics(j, *ret_chains, *ret_dynamics, opt_error);
  if (status == IDM_OK) status = diagnose(j, *ret_chains, *ret_dynamics, opt_error);
  if (status == IDM_OK) status = measure_loss(j, *ret_dynamics, opt_error);
  workers_clear(&l);
  if (status != IDM_OK) {
    idm_chains_destroy(*ret_chains);
    *ret_chains = NULL;
    idm_joint_dynamics_destroy(*ret_dynamics);
    *ret_dynamics = NULL;
  }
  return status;
}
