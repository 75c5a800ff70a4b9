/* Choice of the resolution of the lattice (`resolution: auto`): a population of points around the
 * mode is weighted by the posterior on successive lattices (adaptive importance sampling, Cappe et
 * al. 2004; docs/method/verdict.md, 4).
 *
 * Contents: the population · weights · few points · lattices · the choice */
#include "invert/matching.h"

#include <math.h>
#include <stdio.h>

#include "base/arguments.h"
#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "belief/belief.h"
#include "infer/approximation.h"
#include "invert/cancel.h"
#include "invert/clone.h"
#include "invert/matching/fit.h"

/* Limits of the shift of a posterior mean, in sds, under doubling: a lattice is fine, or fair. */
static const double fine_shift = 0.1;
static const double fair_shift = 0.25;
/* Weights are even if this share of the points is effective; below min_share they are not used. */
static const double even_share = 0.5;
static const double min_share = 0.15;
/* Points of the finest lattice that is chosen automatically; and of lattices on which a plan takes
 * so long that fewer points are evaluated. */
enum {
  max_points = 100000,
  costly_points = 2000,
  more_costly_points = 10000,
  most_costly_points = 30000
};
/* Largest number of free numbers for which points around a mode cover the posterior. */
enum { max_dimensions = 12 };
/* Largest number of lattices in memory at once: which resolution fits must not depend on the number
 * of threads. */
enum { max_workers = 4 };
/* Degrees of freedom of the proposal density: heavy tails keep weights bounded. */
static const double degrees = 5;
static const uint64_t refine_stream = (uint64_t)3
                                      << 32; /* beyond the streams of chains, starts and prior */

/* --- the population ------------------------------------------------------------------------- */

typedef struct population {
  size_t size;
  size_t dimension;
  size_t numbers;       /* reported numbers */
  double *centre;       /* [dimension] */
  double *factor;       /* [dimension][dimension]: Cholesky factor of the covariance */
  double *next;         /* [dimension][dimension]: scratch for a new factor */
  double *y;            /* [size][dimension] */
  double *number;       /* [size][numbers] */
  double *log_proposal; /* [size] */
  double *log_density;  /* [size]: log posterior on a lattice */
  double *log_finer;    /* [size]: on the finer lattice */
  idm_random random;
} population;

static void population_clear(population *p)
{
  free(p->centre);
  free(p->factor);
  free(p->next);
  free(p->y);
  free(p->number);
  free(p->log_proposal);
  free(p->log_density);
  free(p->log_finer);
}

static idm_status population_init(const fit_context *f, population *p, idm_error *opt_error)
{
  const size_t d = f->parameters->dimension;
  *p = (population){
      .size = 100 + 8 * d, .dimension = d, .numbers = idm_parameters_numbers(f->parameters)};
  p->centre = idm_new(d, sizeof *p->centre);
  p->factor = idm_new(d * d, sizeof *p->factor);
  p->next = idm_new(d * d, sizeof *p->next);
  p->y = idm_new(p->size * d, sizeof *p->y);
  p->number = idm_new(p->size * p->numbers, sizeof *p->number);
  p->log_proposal = idm_new(p->size, sizeof *p->log_proposal);
  p->log_density = idm_new(p->size, sizeof *p->log_density);
  p->log_finer = idm_new(p->size, sizeof *p->log_finer);
  idm_random_init(&p->random, f->settings->seed, refine_stream);
  const bool allocated = p->centre && p->factor && p->next && p->y && p->number &&
                         p->log_proposal && p->log_density && p->log_finer;
  return allocated ? IDM_OK : idm_fail_memory(opt_error);
}

/* Scale the spread of later points. */
static void scale_covariance(population *p, double factor_by)
{
  for (size_t i = 0; i < p->dimension * p->dimension; i++) p->factor[i] *= factor_by;
}

/* Draw points of a multivariate t distribution around the centre, with their log densities up to a
 * constant. */
static void draw_points(const fit_context *f, population *p)
{
  const size_t d = p->dimension;
  for (size_t k = 0; k < p->size; k++) {
    double *y = p->y + k * d;
    const double t_scale = sqrt(degrees / (2 * idm_random_gamma(&p->random, degrees / 2)));
    double square = 0;
    for (size_t i = 0; i < d; i++) {
      y[i] = t_scale * idm_random_normal(&p->random);
      square += y[i] * y[i];
    }
    idm_lower_multiply(d, p->factor, y);
    for (size_t i = 0; i < d; i++) y[i] += p->centre[i];
    p->log_proposal[k] = -0.5 * (degrees + (double)d) * log1p(square / degrees);
    idm_parameters_report(f->parameters, y, p->number + k * p->numbers);
  }
}

/* --- weights --------------------------------------------------------------------------------- */

/* Compute normalised weights of the points by a log density; returns the effective share. */
static double compute_weights(const population *p, const double *log_density, double *weight)
{
  for (size_t k = 0; k < p->size; k++) weight[k] = log_density[k] - p->log_proposal[k];
  idm_softmax(weight, p->size, weight);
  return idm_effective_size(weight, p->size) / (double)p->size;
}

/* The largest shift of a summarised mean between two sets of weights, in sds of the first. */
static double shift_between(const fit_context *f, const population *p, const double *from,
                            const double *to)
{
  double maximum = 0;
  for (size_t i = 0; i < f->parameters->quantity.count; i++) {
    double mean[2], variance[2];
    if (!f->parameters->summarised[i]) continue;
    for (int k = 0; k < 2; k++) {
      const idm_points points = {p->number + i, p->size, 1, p->numbers, 0, k ? to : from};
      idm_covariance(&points, 0, &mean[k], &variance[k]);
    }
    if (variance[0] > 0) maximum = fmax(maximum, fabs(mean[1] - mean[0]) / sqrt(variance[0]));
  }
  return maximum;
}

/* Compute mean and Cholesky factor (p->next) of the weighted points; returns false if the
 * covariance is not positive definite. */
static bool find_covariance(const population *p, const double *weight, double *mean)
{
  const size_t d = p->dimension;
  idm_covariance(&(idm_points){p->y, p->size, d, d, 1, weight}, 0, mean, p->next);
  return idm_cholesky(d, p->next);
}

/* Set centre and spread to those of the weighted points, if their covariance is positive definite.
 */
static void refit(population *p, const double *weight)
{
  const size_t d = p->dimension;
  double mean[max_dimensions];
  if (!find_covariance(p, weight, mean)) return;
  memcpy(p->factor, p->next, d * d * sizeof *p->next);
  memcpy(p->centre, mean, d * sizeof *mean);
}

/* --- few points ----------------------------------------------------------------------------- */

/* Draws from a normal approximation, weighted by a smooth function of the change. */
typedef struct normal_sample {
  population p;
  double *weight[2]; /* [size]: before and after */
} normal_sample;

static void normal_sample_clear(normal_sample *a)
{
  population_clear(&a->p);
  for (int i = 0; i < 2; i++) free(a->weight[i]);
}

static idm_status normal_sample_init(const population *p, normal_sample *a, idm_error *opt_error)
{
  enum { draws = 4000 };
  *a = (normal_sample){.p = {.size = draws, .dimension = p->dimension, .numbers = p->numbers}};
  a->p.number = idm_new(draws * p->numbers, sizeof(double));
  for (int i = 0; i < 2; i++) a->weight[i] = idm_new(draws, sizeof *a->weight[i]);
  idm_random_init(&a->p.random, 0, 0);
  const bool allocated = a->p.number && a->weight[0] && a->weight[1];
  return allocated ? IDM_OK : idm_fail_memory(opt_error);
}

/* Draw around the mean with p->next, and compute the weights. */
static void normal_sample_draw(const fit_context *f, const population *p, const double *mean,
                               size_t terms, const double *coefficient, normal_sample *a)
{
  const size_t d = p->dimension;
  double z[max_dimensions], y[max_dimensions];
  for (size_t k = 0; k < a->p.size; k++) {
    for (size_t i = 0; i < d; i++) y[i] = z[i] = idm_random_normal(&a->p.random);
    idm_lower_multiply(d, p->next, y);
    for (size_t i = 0; i < d; i++) y[i] += mean[i];
    idm_parameters_report(f->parameters, y, a->p.number + k * p->numbers);
    a->weight[0][k] = 1 / (double)a->p.size;
    a->weight[1][k] = idm_quadratic_at(d, terms, coefficient, z);
  }
  idm_softmax(a->weight[1], a->p.size, a->weight[1]);
}

/* Compute the shift from few points: the posterior is approximated as normal and the change on the
 * finer lattice as quadratic, so that the result hardly depends on which points were drawn. *shift
 * is unchanged if the points do not determine the function. */
static idm_status smoothed_shift(const fit_context *f, const population *p, const double *weight,
                                 double *shift, idm_error *opt_error)
{
  const size_t d = p->dimension;
  const size_t terms = idm_quadratic_terms(d, p->size);
  double mean[max_dimensions];
  normal_sample a;
  idm_status status = normal_sample_init(p, &a, opt_error);
  double *z = idm_new(p->size * (d + 1) + terms, sizeof *z);
  if (status == IDM_OK && !z) status = idm_fail_memory(opt_error);
  bool determined = status == IDM_OK && find_covariance(p, weight, mean);
  for (size_t k = 0; k < p->size && determined; k++) {
    for (size_t i = 0; i < d; i++) z[k * d + i] = p->y[k * d + i] - mean[i];
    idm_lower_solve(d, p->next, z + k * d);
    z[p->size * d + k] = weight[k] > 0 ? p->log_finer[k] - p->log_density[k] : 0;
  }
  double *coefficient = z ? z + p->size * (d + 1) : NULL;
  determined = determined && idm_quadratic_fit(d, terms, p->size, z, z + p->size * d, weight,
                                               coefficient, NULL) == IDM_OK;
  if (determined) {
    normal_sample_draw(f, p, mean, terms, coefficient, &a);
    *shift = shift_between(f, &a.p, a.weight[0], a.weight[1]);
  }
  normal_sample_clear(&a);
  free(z);
  return status;
}

/* --- lattices ------------------------------------------------------------------------------- */

/* Evaluates all points on one lattice in parallel; all matchings start from the same plan, so
 * results do not depend on the worker. */
typedef struct evaluation {
  const fit_context *f;
  const population *p;
  double *log_density;
  idm_status *status; /* [matching] */
  idm_error *error;   /* [matching] */
} evaluation;

static void evaluate_worker(void *context, size_t worker)
{
  const evaluation *e = context;
  const population *p = e->p;
  idm_error *error = &e->error[worker];
  const idm_target target = idm_matching_target(e->f->matching[worker]);
  idm_status status = idm_matching_fix_start(e->f->matching[worker], p->centre, error);
  for (size_t k = worker; k < p->size && status == IDM_OK; k += e->f->matchings)
    status =
        target.evaluate(target.context, p->y + k * p->dimension, &e->log_density[k], NULL, error);
  e->status[worker] = status;
}

static idm_status evaluate(const fit_context *f, const population *p, double *log_density,
                           idm_error *opt_error)
{
  evaluation e = {.f = f, .p = p, .log_density = log_density};
  e.status = idm_new(f->matchings, sizeof *e.status);
  e.error = idm_new(f->matchings, sizeof *e.error);
  idm_status status = e.status && e.error ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_cancel_parallel(f->parameters->cancel, f->matchings, f->settings->threads,
                                 evaluate_worker, &e, opt_error);
  for (size_t i = 0; i < f->matchings && status == IDM_OK; i++) {
    status = e.status[i];
    if (status != IDM_OK && opt_error) *opt_error = e.error[i];
  }
  free(e.status);
  free(e.error);
  return status;
}

/* Refit the points to the posterior on this lattice until their weights are even. */
static idm_status adapt_population(const fit_context *f, population *p, double *weight,
                                   double *ret_share, idm_error *opt_error)
{
  enum { rounds = 4 };
  idm_status status = IDM_OK;
  *ret_share = compute_weights(p, p->log_density, weight);
  for (int i = 0; i < rounds && *ret_share < even_share && status == IDM_OK; i++) {
    if (*ret_share > 0) refit(p, weight);
    draw_points(f, p);
    status = evaluate(f, p, p->log_density, opt_error);
    if (status == IDM_OK) *ret_share = compute_weights(p, p->log_density, weight);
  }
  return status;
}

/* --- the choice ----------------------------------------------------------------------------- */

typedef struct lattice_choice {
  const idm_data *data;
  const idm_fit_settings *settings;
  idm_problem problem; /* at the current resolution */
  fit_context f;
  population p;
  double *weight[2]; /* [size]: on the current and on the finer lattice */
  bool costly;       /* plans on the first lattice take long */
  idm_refinement *found;
  idm_cancel cancel;
} lattice_choice;

static idm_status open_fit(lattice_choice *c, idm_error *opt_error)
{
  const int threads = c->settings->threads;
  const size_t workers = threads < 1 ? 1 : threads > max_workers ? max_workers : (size_t)threads;
  return idm_fit_open_cancel(&c->f, NULL, &c->problem, c->data, c->settings, workers, &c->cancel,
                             opt_error);
}

/* Create points around the mode on the current lattice. */
static idm_status init_population(lattice_choice *c, idm_error *opt_error)
{
  const fit_context *f = &c->f;
  const size_t d = f->parameters->dimension;
  chain_start *s = NULL;
  idm_status status = population_init(f, &c->p, opt_error);
  for (int i = 0; i < 2 && status == IDM_OK; i++) {
    c->weight[i] = idm_new(c->p.size, sizeof *c->weight[i]);
    if (!c->weight[i]) status = idm_fail_memory(opt_error);
  }
  if (status == IDM_OK) status = idm_start_create(d, &s, opt_error);
  if (status == IDM_OK) status = idm_start_find(f, 0, s, opt_error);
  if (status == IDM_OK) {
    memcpy(c->p.centre, s->mode, d * sizeof *s->mode);
    memcpy(c->p.factor, s->covariance, d * d * sizeof *s->covariance);
    if (!idm_cholesky(d, c->p.factor)) {
      memset(c->p.factor, 0, d * d * sizeof *c->p.factor);
      for (size_t i = 0; i < d; i++) c->p.factor[i * (d + 1)] = 1;
    }
    /* The curvature at a mode between kinks of a coarse lattice is that of one linear piece: use a
     * wider spread. */
    if (c->costly) scale_covariance(&c->p, 3);
    draw_points(f, &c->p);
    status = evaluate(f, &c->p, c->p.log_density, opt_error);
  }
  idm_start_destroy(s);
  return status;
}

/* Whether a lattice is small enough to be chosen automatically: points count by their cost relative
 * to that of a problem with few actions, observations and models. */
static bool is_affordable(const lattice_choice *c, int resolution)
{
  static const double reference_size = 72;
  const idm_setting *s = c->problem.setting;
  const double breadth = (double)s->actions.count * (double)s->observations.count *
                         (double)c->problem.theta->models / reference_size;
  return (double)idm_lattice_count(s->states.count, resolution) * fmax(breadth, 1) <= max_points;
}

/* Whether the shifts, extrapolated at their observed rate (by 4 per doubling if there is only one),
 * become fair on an affordable lattice. */
static bool may_become_fair(const lattice_choice *c, int next)
{
  const idm_refinement *r = c->found;
  const double last_shift = r->step[r->steps - 1].shift;
  const double earlier_shift = r->steps > 1 ? r->step[r->steps - 2].shift : 4 * last_shift;
  const double ratio = fmin(fmax(earlier_shift > 0 ? last_shift / earlier_shift : 1, 0.25), 1);
  double expected = last_shift;
  for (int at = next; is_affordable(c, at); at *= 2) {
    expected *= ratio;
    if (expected <= fair_shift) return true;
    if (ratio >= 1) return false;
  }
  return false;
}

/* Switch to another lattice, with fewer points if plans take very long there. */
static idm_status switch_lattice(lattice_choice *c, int resolution, double *log_density,
                                 idm_error *opt_error)
{
  population *p = &c->p;
  idm_fit_close(&c->f);
  c->problem.agent.resolution = resolution;
  const idm_status status = open_fit(c, opt_error);
  if (status != IDM_OK) return status;
  const size_t points = idm_workspace_points(idm_matching_workspace(c->f.matching[0]));
  const size_t maximum = 4 * p->dimension + (points > most_costly_points ? 8 : 16);
  if (points > more_costly_points && p->size > maximum) p->size = maximum;
  return evaluate(&c->f, p, log_density, opt_error);
}

/* Compare the current lattice with a finer one, which becomes the current one. *ret_continue:
 * compare further. */
static idm_status compare_finer(lattice_choice *c, bool *ret_continue, idm_error *opt_error)
{
  idm_refinement *r = c->found;
  const int resolution = idm_lattice_resolution(&c->problem);
  const int finer = idm_lattice_finer(&c->problem, idm_matching_workspace(c->f.matching[0]),
                                      resolution, max_workers);
  double share[2] = {0};
  *ret_continue = false;
  idm_status status = adapt_population(&c->f, &c->p, c->weight[0], &share[0], opt_error);
  if (status != IDM_OK || !finer || r->steps == IDM_REFINEMENTS) return status;
  status = switch_lattice(c, finer, c->p.log_finer, opt_error);
  if (status != IDM_OK) return status;
  share[0] = compute_weights(&c->p, c->p.log_density, c->weight[0]);
  share[1] = compute_weights(&c->p, c->p.log_finer, c->weight[1]);
  idm_refinement_step *step = &r->step[r->steps++];
  *step = (idm_refinement_step){resolution, finer, 0, fmin(share[0], share[1])};
  double shift = shift_between(&c->f, &c->p, c->weight[0], c->weight[1]);
  if (c->costly) status = smoothed_shift(&c->f, &c->p, c->weight[0], &shift, opt_error);
  if (status != IDM_OK) return status;
  step->shift = idm_lattice_doubling_factor(resolution, finer) * shift;
  memcpy(c->p.log_density, c->p.log_finer, c->p.size * sizeof *c->p.log_density);
  *ret_continue = share[0] >= min_share && (step->shift > fine_shift || share[1] < min_share) &&
                  may_become_fair(c, finer) && 5 * finer >= 9 * resolution;
  return IDM_OK;
}

/* Choose the first fine lattice, else the first fair one, else the first. */
static void choose_resolution(idm_refinement *r)
{
  const double limit[] = {fine_shift, fair_shift};
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < r->steps; i++)
      if (r->step[i].shift <= limit[k] && r->step[i].share >= min_share) {
        r->resolution = r->step[i].resolution;
        r->converged = k == 0;
        return;
      }
}

/* Create the points on the first lattice. If plans take long there, the points are drawn from the
 * posterior on one a third as fine, so that only the difference between lattices remains to be
 * estimated. */
static idm_status init_from_coarse(lattice_choice *c, idm_error *opt_error)
{
  const int first = c->found->resolution;
  double share;
  if (!c->costly) return init_population(c, opt_error);
  idm_fit_close(&c->f);
  c->problem.agent.resolution = first / 3;
  idm_status status = open_fit(c, opt_error);
  if (status == IDM_OK) status = init_population(c, opt_error);
  if (status == IDM_OK) status = adapt_population(&c->f, &c->p, c->weight[0], &share, opt_error);
  if (status != IDM_OK) return status;
  if (share > 0) refit(&c->p, c->weight[0]);
  scale_covariance(&c->p, 1.5);
  c->p.size = 24 + 8 * c->p.dimension;
  draw_points(&c->f, &c->p);
  return switch_lattice(c, first, c->p.log_density, opt_error);
}

static idm_status refine(lattice_choice *c, idm_error *opt_error)
{
  idm_status status = open_fit(c, opt_error);
  if (status != IDM_OK || !c->f.matching) return status;
  const idm_workspace *workspace = idm_matching_workspace(c->f.matching[0]);
  if (!idm_lattice_is_used(&c->problem, workspace)) {
    idm_fit_close(&c->f);
    return IDM_OK;
  }
  c->found->resolution = idm_lattice_resolution(&c->problem);
  if (c->f.parameters->dimension > max_dimensions) {
    idm_fit_close(&c->f);
    return IDM_OK;
  }
  c->costly = idm_workspace_points(workspace) > costly_points;
  status = init_from_coarse(c, opt_error);
  for (bool continues = true; continues && status == IDM_OK;)
    status = compare_finer(c, &continues, opt_error);
  if (status == IDM_OK) choose_resolution(c->found);
  population_clear(&c->p);
  for (int i = 0; i < 2; i++) free(c->weight[i]);
  idm_fit_close(&c->f);
  return status;
}

idm_status idm_refine(const idm_problem *problem, const idm_data *data,
                      const idm_fit_settings *settings, const idm_fit_monitor *opt_monitor,
                      idm_refinement *refinement, idm_error *opt_error)
{
  idm_require(problem, data, settings, refinement);
  *refinement = (idm_refinement){0};
  if (problem->agent.resolution || !idm_agent_planner(&problem->agent)->lattice ||
      problem->setting->fully_observed)
    return IDM_OK;
  lattice_choice c = {.data = data, .settings = settings, .problem = *problem, .found = refinement};
  c.problem.agent.resolution = idm_lattice_resolution(problem);
  idm_cancel_init(&c.cancel, opt_monitor, "choosing the lattice");
  return refine(&c, opt_error);
}

void idm_refinement_note(const idm_refinement *r, idm_notes *notes)
{
  if (!r || !notes) return;
  char text[2000];
  int length =
      idm_print(text, sizeof text, "the lattice was chosen by comparing resolutions (auto):");
  for (size_t i = 0; i < r->steps && i < IDM_REFINEMENTS; i++)
    length += idm_print(text + length, sizeof text - (size_t)length,
                        "%s doubling %d moves a posterior mean by %.2g posterior sd", i ? "," : "",
                        r->step[i].resolution, r->step[i].shift);
  idm_print(text + length, sizeof text - (size_t)length, "; chosen: %d%s", r->resolution,
            r->converged ? "" : ", and no affordable lattice is fine enough for 0.1");
  idm_notes_add(notes, "%s", text);
}
