/* How fine a lattice has to be: a population of points around the mode, weighed by the posterior on
 * one lattice after the other (adaptive importance sampling, Cappe et al. 2004).
 *
 * Contents: the population · weighing · few points · lattices · the choice */
#include "idm/refine.h"

#include <math.h>
#include <stdio.h>

#include "base/dense.h"
#include "base/door.h"
#include "base/log_sum.h"
#include "base/memory.h"
#include "base/moments.h"
#include "base/number.h"
#include "belief/lattice.h"
#include "infer/quadratic.h"
#include "invert/finer.h"
#include "invert/matching/fit.h"
#include "invert/matching/halt.h"
#include "invert/matching/matching.h"
#include "invert/matching/start.h"

/* A lattice is fine enough where doubling moves no mean by `fine` sds, and fair by `fair`. */
static const double fine = 0.1;
static const double fair = 0.25;
/* Weights are even where this share of the points is effective; below the other they say nothing.
 */
static const double even_share = 0.5;
static const double least_share = 0.15;
/* Points of the finest lattice that a fit is given by itself; of lattices on which a plan is so
 * dear that fewer and fewer are made. */
enum {
  most_points = 100000,
  dear_points = 2000,
  rather_dear_points = 10000,
  very_dear_points = 30000
};
/* Free numbers beyond which points around a mode no longer find the posterior. */
enum { most_dimensions = 12 };
/* Lattices held side by side, at most: what fits must not depend on the threads. */
enum { most_workers = 4 };
/* Heavy tails keep weights bounded. */
static const double degrees = 5;
static const uint64_t own_stream = (uint64_t)3 << 32; /* beyond those of chains, starts and prior */

/* --- the population ------------------------------------------------------------------------- */

typedef struct population {
  size_t size;
  size_t dimension;
  size_t numbers;       /* reported */
  double *centre;       /* [dimension] */
  double *factor;       /* [dimension][dimension]: Cholesky factor of the covariance */
  double *next;         /* [dimension][dimension]: one being factored */
  double *y;            /* [size][dimension] */
  double *number;       /* [size][numbers] */
  double *log_proposal; /* [size] */
  double *log_density;  /* [size]: log posterior on a lattice */
  double *log_finer;    /* [size]: on the finer one */
  idm_random random;
} population;

static void free_population(population *p)
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

static idm_status make_population(const fit *f, population *p, idm_error *opt_error)
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
  idm_random_init(&p->random, f->settings->seed, own_stream);
  const bool made = p->centre && p->factor && p->next && p->y && p->number && p->log_proposal &&
                    p->log_density && p->log_finer;
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* Points that are to come will lie so many times as far out. */
static void widen(population *p, double by)
{
  for (size_t i = 0; i < p->dimension * p->dimension; i++) p->factor[i] *= by;
}

/* Points of a multivariate t around the centre, and its log density up to a constant. */
static void draw_points(const fit *f, population *p)
{
  const size_t d = p->dimension;
  for (size_t k = 0; k < p->size; k++) {
    double *y = p->y + k * d;
    const double spread = sqrt(degrees / (2 * idm_random_gamma(&p->random, degrees / 2)));
    double square = 0;
    for (size_t i = 0; i < d; i++) {
      y[i] = spread * idm_random_normal(&p->random);
      square += y[i] * y[i];
    }
    idm_lower_multiply(d, p->factor, y);
    for (size_t i = 0; i < d; i++) y[i] += p->centre[i];
    p->log_proposal[k] = -0.5 * (degrees + (double)d) * log1p(square / degrees);
    idm_parameters_report(f->parameters, y, p->number + k * p->numbers);
  }
}

/* --- weighing ------------------------------------------------------------------------------- */

/* Normalised weights of the points by a log density, into `weight`; returns the effective share. */
static double weigh(const population *p, const double *log_density, double *weight)
{
  for (size_t k = 0; k < p->size; k++) weight[k] = log_density[k] - p->log_proposal[k];
  idm_softmax(weight, p->size, weight);
  return idm_effective_size(weight, p->size) / (double)p->size;
}

/* The largest shift of a summarised mean between two sets of weights, in sds of the first. */
static double shift_between(const fit *f, const population *p, const double *from, const double *to)
{
  double most = 0;
  for (size_t i = 0; i < f->parameters->quantity.count; i++) {
    double mean[2], variance[2];
    if (!f->parameters->summarised[i]) continue;
    for (int k = 0; k < 2; k++) {
      const idm_points points = {p->number + i, p->size, 1, p->numbers, 0, k ? to : from};
      idm_covariance(&points, 0, &mean[k], &variance[k]);
    }
    if (variance[0] > 0) most = fmax(most, fabs(mean[1] - mean[0]) / sqrt(variance[0]));
  }
  return most;
}

/* Mean and Cholesky factor (p->next) of the weighted points. False where they have none. */
static bool find_spread(const population *p, const double *weight, double *mean)
{
  const size_t d = p->dimension;
  idm_covariance(&(idm_points){p->y, p->size, d, d, 1, weight}, 0, mean, p->next);
  return idm_cholesky(d, p->next);
}

/* Centre and spread of the weighted points, where they have some. */
static void refit(population *p, const double *weight)
{
  const size_t d = p->dimension;
  double mean[most_dimensions];
  if (!find_spread(p, weight, mean)) return;
  memcpy(p->factor, p->next, d * d * sizeof *p->next);
  memcpy(p->centre, mean, d * sizeof *mean);
}

/* --- few points ----------------------------------------------------------------------------- */

/* A population of draws from a normal approximation, weighed by what is smooth of a change. */
typedef struct approximate {
  population p;
  double *weight[2]; /* [size]: before and after */
} approximate;

static void free_approximate(approximate *a)
{
  free_population(&a->p);
  for (int i = 0; i < 2; i++) free(a->weight[i]);
}

static idm_status make_approximate(const population *p, approximate *a, idm_error *opt_error)
{
  enum { draws = 4000 };
  *a = (approximate){.p = {.size = draws, .dimension = p->dimension, .numbers = p->numbers}};
  a->p.number = idm_new(draws * p->numbers, sizeof(double));
  for (int i = 0; i < 2; i++) a->weight[i] = idm_new(draws, sizeof *a->weight[i]);
  idm_random_init(&a->p.random, 0, 0);
  const bool made = a->p.number && a->weight[0] && a->weight[1];
  return made ? IDM_OK : idm_fail_memory(opt_error);
}

/* Draw around the mean by p->next, and weigh. */
static void draw_approximate(const fit *f, const population *p, const double *mean, size_t terms,
                             const double *coefficient, approximate *a)
{
  const size_t d = p->dimension;
  double z[most_dimensions], y[most_dimensions];
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

/* The same shift from few points: the posterior is taken as normal, and of what the finer lattice
 * changes a quadratic function is kept, so that which points there happen to be hardly matters.
 * The shift is left alone where they do not tell. */
static idm_status shift_of_few(const fit *f, const population *p, const double *weight,
                               double *shift, idm_error *opt_error)
{
  const size_t d = p->dimension;
  const size_t terms = idm_quadratic_terms(d, p->size);
  double mean[most_dimensions];
  approximate a;
  idm_status status = make_approximate(p, &a, opt_error);
  double *z = idm_new(p->size * (d + 1) + terms, sizeof *z);
  if (status == IDM_OK && !z) status = idm_fail_memory(opt_error);
  bool told = status == IDM_OK && find_spread(p, weight, mean);
  for (size_t k = 0; k < p->size && told; k++) {
    for (size_t i = 0; i < d; i++) z[k * d + i] = p->y[k * d + i] - mean[i];
    idm_lower_solve(d, p->next, z + k * d);
    z[p->size * d + k] = weight[k] > 0 ? p->log_finer[k] - p->log_density[k] : 0;
  }
  double *coefficient = z ? z + p->size * (d + 1) : NULL;
  told = told && idm_quadratic_fit(d, terms, p->size, z, z + p->size * d, weight, coefficient,
                                   NULL) == IDM_OK;
  if (told) {
    draw_approximate(f, p, mean, terms, coefficient, &a);
    *shift = shift_between(f, &a.p, a.weight[0], a.weight[1]);
  }
  free_approximate(&a);
  free(z);
  return status;
}

/* --- lattices ------------------------------------------------------------------------------- */

/* All points on one lattice, shared out between matchings that start from the same plan, so that no
 * number depends on who made it. */
typedef struct evaluation {
  const fit *f;
  const population *p;
  double *log_density;
  idm_status *status; /* [matching] */
  idm_error *error;   /* [matching] */
} evaluation;

static void evaluate_part(void *context, size_t worker)
{
  const evaluation *e = context;
  const population *p = e->p;
  idm_error *error = &e->error[worker];
  const idm_target target = idm_matching_target(e->f->matching[worker]);
  idm_status status = idm_matching_anchor(e->f->matching[worker], p->centre, error);
  for (size_t k = worker; k < p->size && status == IDM_OK; k += e->f->matchings)
    status =
        target.evaluate(target.context, p->y + k * p->dimension, &e->log_density[k], NULL, error);
  e->status[worker] = status;
}

static idm_status evaluate(const fit *f, const population *p, double *log_density,
                           idm_error *opt_error)
{
  evaluation e = {.f = f, .p = p, .log_density = log_density};
  e.status = idm_new(f->matchings, sizeof *e.status);
  e.error = idm_new(f->matchings, sizeof *e.error);
  idm_status status = e.status && e.error ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_halt_parallel(f->parameters->halt, f->matchings, f->settings->threads,
                               evaluate_part, &e, opt_error);
  for (size_t i = 0; i < f->matchings && status == IDM_OK; i++) {
    status = e.status[i];
    if (status != IDM_OK && opt_error) *opt_error = e.error[i];
  }
  free(e.status);
  free(e.error);
  return status;
}

/* Move the points to where the posterior on this lattice is, until its weights are even. */
static idm_status gather(const fit *f, population *p, double *weight, double *ret_share,
                         idm_error *opt_error)
{
  enum { rounds = 4 };
  idm_status status = IDM_OK;
  *ret_share = weigh(p, p->log_density, weight);
  for (int i = 0; i < rounds && *ret_share < even_share && status == IDM_OK; i++) {
    if (*ret_share > 0) refit(p, weight);
    draw_points(f, p);
    status = evaluate(f, p, p->log_density, opt_error);
    if (status == IDM_OK) *ret_share = weigh(p, p->log_density, weight);
  }
  return status;
}

/* --- the choice ----------------------------------------------------------------------------- */

typedef struct choice {
  const idm_data *data;
  const idm_fit_settings *settings;
  idm_problem problem; /* at the resolution looked at */
  fit f;
  population p;
  double *weight[2]; /* [size]: on the lattice and on the finer one */
  bool dear;         /* plans on the first lattice are */
  idm_refinement *found;
  idm_halt halt;
} choice;

static idm_status open_at(choice *c, idm_error *opt_error)
{
  const int threads = c->settings->threads;
  const size_t workers = threads < 1 ? 1 : threads > most_workers ? most_workers : (size_t)threads;
  return idm_fit_open_halted(&c->f, NULL, &c->problem, c->data, c->settings, workers, &c->halt,
                             opt_error);
}

/* Points around the mode on the lattice looked at. */
static idm_status begin(choice *c, idm_error *opt_error)
{
  const fit *f = &c->f;
  const size_t d = f->parameters->dimension;
  start *s = NULL;
  idm_status status = make_population(f, &c->p, opt_error);
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
    /* The curvature at a mode between kinks of a coarse lattice is that of one piece. */
    if (c->dear) widen(&c->p, 3);
    draw_points(f, &c->p);
    status = evaluate(f, &c->p, c->p.log_density, opt_error);
  }
  idm_start_destroy(s);
  return status;
}

/* Whether a fit may be given a lattice by itself: its points count by what each costs, beside one
 * of few actions, results and models. */
static bool affordable(const choice *c, int resolution)
{
  static const double usual = 72;
  const idm_setting *s = c->problem.setting;
  const double breadth = (double)s->actions.count * (double)s->observations.count *
                         (double)c->problem.theta->models / usual;
  return (double)idm_lattice_count(s->states.count, resolution) * fmax(breadth, 1) <= most_points;
}

/* Whether shifts that shrink as they did, or by 4 a doubling where there is one only, come down to
 * a fair one on a lattice that a fit can be given. */
static bool hopeful(const choice *c, int next)
{
  const idm_refinement *r = c->found;
  const double now = r->step[r->steps - 1].shift;
  const double before = r->steps > 1 ? r->step[r->steps - 2].shift : 4 * now;
  const double ratio = fmin(fmax(before > 0 ? now / before : 1, 0.25), 1);
  double expected = now;
  for (int at = next; affordable(c, at); at *= 2) {
    expected *= ratio;
    if (expected <= fair) return true;
    if (ratio >= 1) return false;
  }
  return false;
}

/* Go over to another lattice, with fewer points where plans are very dear there. */
static idm_status go_over(choice *c, int resolution, double *log_density, idm_error *opt_error)
{
  population *p = &c->p;
  idm_fit_close(&c->f);
  c->problem.agent.resolution = resolution;
  const idm_status status = open_at(c, opt_error);
  if (status != IDM_OK) return status;
  const size_t points = idm_workspace_points(idm_matching_workspace(c->f.matching[0]));
  const size_t most = 4 * p->dimension + (points > very_dear_points ? 8 : 16);
  if (points > rather_dear_points && p->size > most) p->size = most;
  return evaluate(&c->f, p, log_density, opt_error);
}

/* Compare the lattice looked at with a finer one, on which the comparison leaves the choice.
 * *ret_on: go on with that one. */
static idm_status compare(choice *c, bool *ret_on, idm_error *opt_error)
{
  idm_refinement *r = c->found;
  const int resolution = idm_lattice_resolution(&c->problem);
  const int finer = idm_lattice_finer(&c->problem, idm_matching_workspace(c->f.matching[0]),
                                      resolution, most_workers);
  double share[2] = {0};
  *ret_on = false;
  idm_status status = gather(&c->f, &c->p, c->weight[0], &share[0], opt_error);
  if (status != IDM_OK || !finer || r->steps == IDM_REFINEMENTS) return status;
  status = go_over(c, finer, c->p.log_finer, opt_error);
  if (status != IDM_OK) return status;
  share[0] = weigh(&c->p, c->p.log_density, c->weight[0]);
  share[1] = weigh(&c->p, c->p.log_finer, c->weight[1]);
  idm_refinement_step *step = &r->step[r->steps++];
  *step = (idm_refinement_step){resolution, finer, 0, fmin(share[0], share[1])};
  double shift = shift_between(&c->f, &c->p, c->weight[0], c->weight[1]);
  if (c->dear) status = shift_of_few(&c->f, &c->p, c->weight[0], &shift, opt_error);
  if (status != IDM_OK) return status;
  step->shift = idm_lattice_doubling(resolution, finer) * shift;
  memcpy(c->p.log_density, c->p.log_finer, c->p.size * sizeof *c->p.log_density);
  *ret_on = share[0] >= least_share && (step->shift > fine || share[1] < least_share) &&
            hopeful(c, finer) && 5 * finer >= 9 * resolution;
  return IDM_OK;
}

/* The first lattice that is fine enough, else the first that is fair, else the first. */
static void choose(idm_refinement *r)
{
  const double limit[] = {fine, fair};
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < r->steps; i++)
      if (r->step[i].shift <= limit[k] && r->step[i].share >= least_share) {
        r->resolution = r->step[i].resolution;
        r->settled = k == 0;
        return;
      }
}

/* The points on the first lattice. Where plans are dear there they come from the posterior on one a
 * third as fine, and only what lattices disagree about is left to be found. */
static idm_status begin_coarsely(choice *c, idm_error *opt_error)
{
  const int first = c->found->resolution;
  double share;
  if (!c->dear) return begin(c, opt_error);
  idm_fit_close(&c->f);
  c->problem.agent.resolution = first / 3;
  idm_status status = open_at(c, opt_error);
  if (status == IDM_OK) status = begin(c, opt_error);
  if (status == IDM_OK) status = gather(&c->f, &c->p, c->weight[0], &share, opt_error);
  if (status != IDM_OK) return status;
  if (share > 0) refit(&c->p, c->weight[0]);
  widen(&c->p, 1.5);
  c->p.size = 24 + 8 * c->p.dimension;
  draw_points(&c->f, &c->p);
  return go_over(c, first, c->p.log_density, opt_error);
}

static idm_status refine(choice *c, idm_error *opt_error)
{
  idm_status status = open_at(c, opt_error);
  if (status != IDM_OK || !c->f.matching) return status;
  const idm_workspace *workspace = idm_matching_workspace(c->f.matching[0]);
  if (!idm_lattice_matters(&c->problem, workspace)) {
    idm_fit_close(&c->f);
    return IDM_OK;
  }
  c->found->resolution = idm_lattice_resolution(&c->problem);
  if (c->f.parameters->dimension > most_dimensions) {
    idm_fit_close(&c->f);
    return IDM_OK;
  }
  c->dear = idm_workspace_points(workspace) > dear_points;
  status = begin_coarsely(c, opt_error);
  for (bool on = true; on && status == IDM_OK;) status = compare(c, &on, opt_error);
  if (status == IDM_OK) choose(c->found);
  free_population(&c->p);
  for (int i = 0; i < 2; i++) free(c->weight[i]);
  idm_fit_close(&c->f);
  return status;
}

idm_status idm_refine(const idm_problem *problem, const idm_data *data,
                      const idm_fit_settings *settings, const idm_fit_watch *opt_watch,
                      idm_refinement *refinement, idm_error *opt_error)
{
  idm_require(problem, data, settings, refinement);
  *refinement = (idm_refinement){0};
  if (problem->agent.resolution || !idm_agent_planner(&problem->agent)->lattice ||
      problem->setting->fully_observed)
    return IDM_OK;
  choice c = {.data = data, .settings = settings, .problem = *problem, .found = refinement};
  c.problem.agent.resolution = idm_lattice_resolution(problem);
  idm_halt_begin(&c.halt, opt_watch, "choosing the lattice");
  return refine(&c, opt_error);
}

void idm_refinement_remark(const idm_refinement *r, idm_notes *notes)
{
  if (!r || !notes) return;
  char text[2000];
  int length = idm_print(text, sizeof text, "the lattice was chosen by its weight (auto):");
  for (size_t i = 0; i < r->steps && i < IDM_REFINEMENTS; i++)
    length += idm_print(text + length, sizeof text - (size_t)length,
                        "%s doubling %d moves a posterior mean by %.2g posterior sd", i ? "," : "",
                        r->step[i].resolution, r->step[i].shift);
  idm_print(text + length, sizeof text - (size_t)length, "; taken: %d%s", r->resolution,
            r->settled ? "" : ", and no lattice within reach is fine enough for 0.1");
  idm_notes_add(notes, "%s", text);
}
