/* Hamiltonian Monte Carlo (docs/method/inference.md, 4).
 *
 * "nuts": with the no-U-turn criterion (Hoffman and Gelman 2014), multinomial sampling along the
 * trajectory (Betancourt 2017, appendix A.3), and additional U-turn checks between half
 * trajectories, as in Stan since 2.21.
 *
 * "hmc": trajectories of random length, whose end is accepted or rejected (Neal 2011). Where
 * gradients are expensive and the metric is about the covariance, fewer of them are needed per
 * effective draw: a tree is doubled until it turns back, so that most of its points are not used.
 *
 * Contents: state; phase space; subtrees; trajectory; random length; step size; warm-up; the step.
 */
#include "infer/chains.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/statistics.h"

/* Up to `max_dense_dimension` dimensions the metric is a full matrix, otherwise diagonal. */
enum { default_thin = 1, max_tree_depth = 16, max_dense_dimension = 64 };
/* An energy error above this marks a trajectory as divergent (Stan's value). */
static const double max_energy_error = 1000;

/* --- state ---------------------------------------------------------------------------------- */

/* A point of phase space. */
typedef struct point {
  double *position;
  double *momentum;
  double *gradient;
  double *log_density;
} point;

/* A subtree of a trajectory: its first and last momentum (in the order of construction) with their
 * velocities, the sum of its momenta, and the state drawn from it. */
typedef struct subtree {
  double *first;
  double *first_velocity;
  double *last;
  double *last_velocity;
  double *sum;
  double *position;
  double *gradient;
  double *log_density;
  double *energy;
  double *log_weight; /* log of the sum of exp(-energy error) over the subtree */
} subtree;

typedef struct nuts {
  size_t dimension;
  bool dense;
  double *step_size;
  double *mu; /* dual averaging (Hoffman and Gelman 2014, section 3.2): shrinkage point of log step
                 sizes */
  double *adapt_count;      /* number of iterations */
  double *mean_error;       /* mean error of the acceptance statistic */
  double *log_step_average; /* average of log step sizes */
  double *covariance;       /* the inverse metric, [dimension][dimension] or its diagonal */
  double *factor;           /* its Cholesky factor, or square roots */
  point current;
  point end[2];  /* ends of the trajectory, backward and forward */
  subtree tree;  /* the trajectory, from backward to forward */
  subtree built; /* subtree that is being added */
  subtree level[max_tree_depth];
  double *work; /* [dimension] */
  idm_scatter history;
} nuts;

static void take_point(double *opt_state, size_t *used, size_t n, point *p)
{
  p->position = idm_state_take(opt_state, used, n);
  p->momentum = idm_state_take(opt_state, used, n);
  p->gradient = idm_state_take(opt_state, used, n);
  p->log_density = idm_state_take(opt_state, used, 1);
}

static void take_subtree(double *opt_state, size_t *used, size_t n, subtree *b)
{
  double **const vector[] = {&b->first, &b->first_velocity, &b->last,    &b->last_velocity,
                             &b->sum,   &b->position,       &b->gradient};
  for (size_t i = 0; i < sizeof vector / sizeof vector[0]; i++)
    *vector[i] = idm_state_take(opt_state, used, n);
  b->log_density = idm_state_take(opt_state, used, 1);
  b->energy = idm_state_take(opt_state, used, 1);
  b->log_weight = idm_state_take(opt_state, used, 1);
}

static size_t map_state(double *opt_state, size_t dimension, nuts *view)
{
  size_t used = 0;
  view->dimension = dimension;
  view->dense = dimension <= max_dense_dimension;
  const size_t metric = view->dense ? dimension * dimension : dimension;
  view->step_size = idm_state_take(opt_state, &used, 1);
  view->mu = idm_state_take(opt_state, &used, 1);
  view->adapt_count = idm_state_take(opt_state, &used, 1);
  view->mean_error = idm_state_take(opt_state, &used, 1);
  view->log_step_average = idm_state_take(opt_state, &used, 1);
  view->covariance = idm_state_take(opt_state, &used, metric);
  view->factor = idm_state_take(opt_state, &used, metric);
  take_point(opt_state, &used, dimension, &view->current);
  for (int i = 0; i < 2; i++) take_point(opt_state, &used, dimension, &view->end[i]);
  take_subtree(opt_state, &used, dimension, &view->tree);
  take_subtree(opt_state, &used, dimension, &view->built);
  for (int i = 0; i < max_tree_depth; i++)
    take_subtree(opt_state, &used, dimension, &view->level[i]);
  view->work = idm_state_take(opt_state, &used, dimension);
  view->history = idm_scatter_take(opt_state, &used, dimension, view->dense);
  return used;
}

static size_t numbers(size_t dimension)
{
  nuts view;
  return map_state(NULL, dimension, &view);
}

/* --- phase space ---------------------------------------------------------------------------- */

static void copy(const nuts *m, double *to, const double *from)
{
  memcpy(to, from, m->dimension * sizeof *to);
}

static double dot(const nuts *m, const double *x, const double *y)
{
  double sum = 0;
  for (size_t i = 0; i < m->dimension; i++) sum += x[i] * y[i];
  return sum;
}

static void copy_point(const nuts *m, const point *to, const point *from)
{
  copy(m, to->position, from->position);
  copy(m, to->momentum, from->momentum);
  copy(m, to->gradient, from->gradient);
  *to->log_density = *from->log_density;
}

/* velocity = covariance * momentum. */
static void find_velocity(const nuts *m, const double *momentum, double *velocity)
{
  const size_t n = m->dimension;
  for (size_t i = 0; i < n; i++)
    velocity[i] =
        m->dense ? dot(m, m->covariance + i * n, momentum) : m->covariance[i] * momentum[i];
}

/* A momentum from the normal whose covariance is the inverse of `covariance`. */
static void draw_momentum(const nuts *m, double *momentum, idm_random *random)
{
  const size_t n = m->dimension;
  for (size_t i = 0; i < n; i++) {
    momentum[i] = idm_random_normal(random);
    if (!m->dense) momentum[i] /= m->factor[i];
  }
  if (m->dense) idm_lower_solve_transposed(n, m->factor, momentum);
}

/* Hamiltonian: minus the log density in phase space; +inf if undefined. */
static double energy_of(const nuts *m, const point *p, double *velocity)
{
  find_velocity(m, p->momentum, velocity);
  const double energy = 0.5 * dot(m, p->momentum, velocity) - *p->log_density;
  return isnan(energy) ? INFINITY : energy;
}

/* One leapfrog step of signed size `step`. A gradient that is not finite ends the trajectory. */
static idm_status leapfrog(const nuts *m, const idm_target *target, const point *p, double step,
                           idm_error *opt_error)
{
  const size_t n = m->dimension;
  for (size_t i = 0; i < n; i++) p->momentum[i] += 0.5 * step * p->gradient[i];
  find_velocity(m, p->momentum, m->work);
  for (size_t i = 0; i < n; i++) p->position[i] += step * m->work[i];
  const idm_status status =
      idm_target_evaluate(target, p->position, p->log_density, p->gradient, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < n; i++) p->momentum[i] += 0.5 * step * p->gradient[i];
  for (size_t i = 0; i < n; i++)
    if (!isfinite(p->momentum[i])) *p->log_density = -INFINITY;
  return IDM_OK;
}

/* --- subtrees -------------------------------------------------------------------------------- */

/* Variables of a trajectory under construction. */
typedef struct trajectory {
  const nuts *m;
  const idm_target *target;
  idm_random *random;
  const point *at; /* the end that moves */
  double step;     /* signed */
  double energy;   /* initial energy */
  double accepted; /* sum of acceptance probabilities over the visited states */
  long evaluations;
  bool diverging;
} trajectory;

/* No-U-turn criterion for the sum of momenta a + b (Betancourt 2017, A.4.2). */
static bool no_u_turn(const nuts *m, const double *first_velocity, const double *last_velocity,
                      const double *a, const double *b)
{
  return dot(m, first_velocity, a) + dot(m, first_velocity, b) > 0 &&
         dot(m, last_velocity, a) + dot(m, last_velocity, b) > 0;
}

/* No-U-turn criterion for `next`, built after `b`: for the whole, and from each part to the nearest
 * state of the other, which detects step sizes near a period of the dynamics. */
static bool no_u_turn_between(const nuts *m, const subtree *b, const subtree *next)
{
  return no_u_turn(m, b->first_velocity, next->last_velocity, b->sum, next->sum) &&
         no_u_turn(m, b->first_velocity, next->first_velocity, b->sum, next->first) &&
         no_u_turn(m, b->last_velocity, next->last_velocity, b->last, next->sum);
}

static void copy_draw(const nuts *m, const subtree *to, const subtree *from)
{
  copy(m, to->position, from->position);
  copy(m, to->gradient, from->gradient);
  *to->log_density = *from->log_density;
  *to->energy = *from->energy;
}

/* b = b followed by next; the draw is taken from next with probability exp(log_probability). */
static void append(const trajectory *j, const subtree *b, const subtree *next,
                   double log_probability)
{
  const nuts *m = j->m;
  if (log(idm_random_uniform(j->random)) < log_probability) copy_draw(m, b, next);
  *b->log_weight = idm_log_add_exp(*b->log_weight, *next->log_weight);
  copy(m, b->last, next->last);
  copy(m, b->last_velocity, next->last_velocity);
  for (size_t i = 0; i < m->dimension; i++) b->sum[i] += next->sum[i];
}

/* Subtree that consists of the current point. */
static void init_leaf(const trajectory *j, const subtree *b, double energy)
{
  const nuts *m = j->m;
  const point *p = j->at;
  copy(m, b->first, p->momentum);
  copy(m, b->last, p->momentum);
  copy(m, b->sum, p->momentum);
  find_velocity(m, p->momentum, b->first_velocity);
  copy(m, b->last_velocity, b->first_velocity);
  copy(m, b->position, p->position);
  copy(m, b->gradient, p->gradient);
  *b->log_density = *p->log_density;
  *b->energy = energy;
  *b->log_weight = j->energy - energy;
}

/* Subtree of one point by one leapfrog step. */
static idm_status build_leaf(trajectory *j, const subtree *b, bool *valid, idm_error *opt_error)
{
  const idm_status status = leapfrog(j->m, j->target, j->at, j->step, opt_error);
  if (status != IDM_OK) return status;
  const double energy = energy_of(j->m, j->at, j->m->work);
  j->evaluations++;
  j->accepted += fmin(1, exp(j->energy - energy));
  *valid = energy - j->energy <= max_energy_error;
  if (!*valid) j->diverging = true;
  init_leaf(j, b, energy);
  return IDM_OK;
}

/* Build a subtree of 2^depth points from the current end. *valid is false if it made a U-turn or
 * diverged; it must then be discarded. */
static idm_status build_tree(trajectory *j, int depth, const subtree *b, bool *valid,
                             idm_error *opt_error)
{
  if (depth == 0) return build_leaf(j, b, valid, opt_error);
  const subtree *next = &j->m->level[depth - 1];
  idm_status status = build_tree(j, depth - 1, b, valid, opt_error);
  if (status != IDM_OK || !*valid) return status;
  status = build_tree(j, depth - 1, next, valid, opt_error);
  if (status != IDM_OK || !*valid) return status;
  *valid = no_u_turn_between(j->m, b, next);
  /* Within a subtree, draws are multinomial: in proportion to the weights. */
  append(j, b, next, *next->log_weight - idm_log_add_exp(*b->log_weight, *next->log_weight));
  return IDM_OK;
}

/* --- trajectory ----------------------------------------------------------------------------- */

/* The same subtree in reverse direction. */
static subtree reversed(const subtree *b)
{
  subtree other = *b;
  other.first = b->last;
  other.first_velocity = b->last_velocity;
  other.last = b->first;
  other.last_velocity = b->first_velocity;
  return other;
}

/* Double the trajectory in a random direction. *built is false if the new half made a U-turn or
 * diverged, and was discarded; *continues is false if the whole trajectory made a U-turn. */
static idm_status double_trajectory(trajectory *j, int depth, bool *built, bool *continues,
                                    idm_error *opt_error)
{
  const nuts *m = j->m;
  const bool forward = idm_random_uniform(j->random) > 0.5;
  const subtree tree = forward ? m->tree : reversed(&m->tree);
  j->at = &m->end[forward];
  j->step = forward ? *m->step_size : -*m->step_size;
  const idm_status status = build_tree(j, depth, &m->built, built, opt_error);
  if (status != IDM_OK || !*built) return status;
  *continues = no_u_turn_between(m, &tree, &m->built);
  /* Between the old half and the new half the draw is biased to the new one (biased progressive
   * sampling). */
  append(j, &tree, &m->built, *m->built.log_weight - *tree.log_weight);
  return IDM_OK;
}

/* One transition: draw a momentum, build the trajectory, draw a state. */
static idm_status transition(const nuts *m, const idm_sampler_settings *settings,
                             const idm_target *target, idm_random *random,
                             idm_statistics *statistics, idm_error *opt_error)
{
  draw_momentum(m, m->current.momentum, random);
  trajectory j = {.m = m, .target = target, .random = random, .at = &m->current};
  j.energy = energy_of(m, &m->current, m->work);
  init_leaf(&j, &m->tree, j.energy);
  for (int i = 0; i < 2; i++) copy_point(m, &m->end[i], &m->current);
  bool built = true, continues = true;
  int depth = 0;
  while (continues && depth < settings->depth) {
    const idm_status status = double_trajectory(&j, depth, &built, &continues, opt_error);
    if (status != IDM_OK) return status;
    if (!built) break;
    depth++;
  }
  copy(m, m->current.position, m->tree.position);
  copy(m, m->current.gradient, m->tree.gradient);
  *m->current.log_density = *m->tree.log_density;
  statistics->log_density = *m->tree.log_density;
  statistics->energy = *m->tree.energy;
  statistics->acceptance = j.accepted / (double)j.evaluations;
  if (depth > statistics->tree_depth) statistics->tree_depth = depth;
  statistics->evaluations += j.evaluations;
  statistics->diverging = statistics->diverging || j.diverging;
  return IDM_OK;
}

/* --- random length --------------------------------------------------------------------------- */

/* Range of the lengths of trajectories. A normal posterior whose covariance is the inverse metric
 * has the period 2 pi, and is forgotten after a quarter of it; others take longer. */
static const double min_length = 1.2, max_length = 2.8;

/* Number of leapfrog steps, independent of the state. */
static long draw_steps(const nuts *m, int depth, idm_random *random)
{
  const double length = min_length + (max_length - min_length) * idm_random_uniform(random);
  return (long)fmin(ldexp(1, depth) - 1, fmax(1, rint(length / *m->step_size)));
}

/* Take leapfrog steps from m->end[1], in place, up to the first point with density 0. */
static idm_status follow(const nuts *m, const idm_target *target, long steps, long *evaluations,
                         idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (long k = 0; k < steps && status == IDM_OK && isfinite(*m->end[1].log_density); k++) {
    status = leapfrog(m, target, &m->end[1], *m->step_size, opt_error);
    ++*evaluations;
  }
  return status;
}

/* One transition of "hmc": draw a momentum and a length, and accept or reject the end. */
static idm_status transition_to_end(const nuts *m, const idm_sampler_settings *settings,
                                    const idm_target *target, idm_random *random,
                                    idm_statistics *statistics, idm_error *opt_error)
{
  draw_momentum(m, m->current.momentum, random);
  const long steps = draw_steps(m, settings->depth, random);
  const double before = energy_of(m, &m->current, m->work);
  copy_point(m, &m->end[1], &m->current);
  const idm_status status = follow(m, target, steps, &statistics->evaluations, opt_error);
  if (status != IDM_OK) return status;
  const double after = energy_of(m, &m->end[1], m->work);
  statistics->acceptance = fmin(1, exp(before - after));
  const bool accepted = idm_random_uniform(random) < statistics->acceptance;
  if (accepted) copy_point(m, &m->current, &m->end[1]);
  statistics->log_density = *m->current.log_density;
  statistics->energy = accepted ? after : before;
  statistics->diverging = statistics->diverging || !(after - before <= max_energy_error);
  return IDM_OK;
}

/* --- step size ------------------------------------------------------------------------------ */

/* Decrease of the energy in one leapfrog step of the current size from the current state, with a
 * new momentum. */
static idm_status probe(const nuts *m, const idm_target *target, idm_random *random, double *gain,
                        long *evaluations, idm_error *opt_error)
{
  draw_momentum(m, m->current.momentum, random);
  copy_point(m, &m->end[1], &m->current);
  const double before = energy_of(m, &m->current, m->work);
  const idm_status status = leapfrog(m, target, &m->end[1], *m->step_size, opt_error);
  if (status != IDM_OK) return status;
  ++*evaluations;
  *gain = before - energy_of(m, &m->end[1], m->work);
  return IDM_OK;
}

/* Double or halve the step size until the acceptance probability of one leapfrog step crosses 0.8
 * (Hoffman and Gelman 2014, algorithm 4); dual averaging then starts with ten times that size. */
static idm_status find_step_size(const nuts *m, const idm_target *target, idm_random *random,
                                 long *evaluations, idm_error *opt_error)
{
  const double threshold = log(0.8);
  double gain = 0;
  idm_status status = probe(m, target, random, &gain, evaluations, opt_error);
  const bool up = gain > threshold;
  while (status == IDM_OK && (gain > threshold) == up) {
    const double next = *m->step_size * (up ? 2 : 0.5);
    if (!(next > 1e-12 && next < 1e12)) break;
    *m->step_size = next;
    status = probe(m, target, random, &gain, evaluations, opt_error);
  }
  *m->mu = log(10 * *m->step_size);
  *m->adapt_count = *m->mean_error = *m->log_step_average = 0;
  return status;
}

/* Nesterov's dual averaging with the constants of Hoffman and Gelman (2014): gamma .05, t0 10,
 * kappa .75. */
static void adapt_step_size(const nuts *m, double target_acceptance, double acceptance)
{
  const double count = ++*m->adapt_count;
  *m->mean_error += (target_acceptance - acceptance - *m->mean_error) / (count + 10);
  const double log_step = *m->mu - *m->mean_error * sqrt(count) / 0.05;
  *m->log_step_average += (log_step - *m->log_step_average) * pow(count, -0.75);
  *m->step_size = exp(log_step);
}

/* --- warm-up -------------------------------------------------------------------------------- */

/* Estimate the metric from the window that ends, and find a step size for it. */
static idm_status refit(const nuts *m, const idm_sampler_settings *settings,
                        const idm_target *target, idm_random *random, long *evaluations,
                        idm_error *opt_error)
{
  const size_t n = m->dimension, count = m->dense ? n * n : n;
  /* The new covariance is computed in the array of the old factor, so that after a failure the old
   * covariance is intact. */
  bool factored = idm_scatter_covariance(&m->history, settings->covariance, m->factor);
  if (factored && m->dense) {
    memcpy(m->history.scatter, m->factor, count * sizeof(double));
    factored = idm_cholesky(n, m->factor);
  }
  if (factored) {
    memcpy(m->covariance, m->dense ? m->history.scatter : m->factor, count * sizeof(double));
  } else {
    memcpy(m->factor, m->covariance, count * sizeof(double));
    if (m->dense) (void)idm_cholesky(n, m->factor);
  }
  for (size_t i = 0; !m->dense && i < n; i++) m->factor[i] = sqrt(m->covariance[i]);
  idm_scatter_restart(&m->history);
  return find_step_size(m, target, random, evaluations, opt_error);
}

static idm_status adapt(const nuts *m, const idm_sampler_settings *settings,
                        const idm_target *target, long iteration, idm_random *random,
                        long *evaluations, idm_error *opt_error)
{
  idm_status status = IDM_OK;
  const idm_window window = idm_warmup_window(iteration, settings->warmup);
  if (window.collect) idm_scatter_add(&m->history, m->current.position);
  if (window.at_end) status = refit(m, settings, target, random, evaluations, opt_error);
  if (status == IDM_OK && iteration == settings->warmup - 1 && *m->adapt_count > 0)
    *m->step_size = exp(*m->log_step_average);
  return status;
}

/* --- the step ------------------------------------------------------------------------------- */

static idm_status set_metric(const nuts *m, const idm_sampler_settings *settings,
                             idm_error *opt_error)
{
  const size_t n = m->dimension;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < (m->dense ? n : 1); k++) {
      const size_t j = m->dense ? k : i;
      m->covariance[m->dense ? i * n + j : i] =
          settings->covariance ? settings->covariance[i * n + j] : (double)(i == j);
    }
  if (m->dense) return idm_guess_factor(settings, n, m->factor, opt_error);
  for (size_t i = 0; i < n; i++) {
    if (!(m->covariance[i] > 0))
      return idm_fail(opt_error, IDM_USAGE,
                      "the first guess of the covariance is not positive definite");
    m->factor[i] = sqrt(m->covariance[i]);
  }
  return IDM_OK;
}

static idm_status start(double *state, const idm_sampler_settings *settings,
                        const idm_target *target, const double *x, idm_random *random,
                        idm_error *opt_error)
{
  nuts m;
  const size_t count = map_state(state, target->dimension, &m);
  memset(state, 0, count * sizeof *state);
  if (!target->gradient)
    return idm_fail(opt_error, IDM_USAGE, "Hamiltonian Monte Carlo needs a target with a gradient");
  if (settings->depth < 1 || settings->depth > max_tree_depth)
    return idm_fail(opt_error, IDM_USAGE,
                    "the depth of Hamiltonian Monte Carlo is %d; it must be 1 to %d",
                    settings->depth, (int)max_tree_depth);
  copy(&m, m.current.position, x);
  *m.step_size = 1;
  idm_status status = set_metric(&m, settings, opt_error);
  if (status == IDM_OK)
    status =
        idm_target_evaluate_start(target, x, m.current.log_density, m.current.gradient, opt_error);
  long evaluations = 0;
  if (status == IDM_OK) status = find_step_size(&m, target, random, &evaluations, opt_error);
  return status;
}

/* A transition of one of the samplers. */
typedef idm_status make_transition(const nuts *m, const idm_sampler_settings *settings,
                                   const idm_target *target, idm_random *random,
                                   idm_statistics *statistics, idm_error *opt_error);

static idm_status iterate(make_transition *make, double *state,
                          const idm_sampler_settings *settings, const idm_target *target,
                          long iteration, idm_random *random, double *x, idm_statistics *statistics,
                          idm_error *opt_error)
{
  nuts m;
  map_state(state, target->dimension, &m);
  const long thin = idm_sampler_thin(settings, default_thin);
  double acceptance = 0;
  idm_statistics_clear(statistics);
  for (long k = 0; k < thin; k++) {
    statistics->step_size = *m.step_size;
    const idm_status status = make(&m, settings, target, random, statistics, opt_error);
    if (status != IDM_OK) return status;
    acceptance += statistics->acceptance;
    if (iteration < settings->warmup)
      adapt_step_size(&m, settings->acceptance, statistics->acceptance);
  }
  statistics->acceptance = acceptance / (double)thin;
  copy(&m, x, m.current.position);
  if (iteration >= settings->warmup) return IDM_OK;
  return adapt(&m, settings, target, iteration, random, &statistics->evaluations, opt_error);
}

static idm_status step(double *state, const idm_sampler_settings *settings,
                       const idm_target *target, long iteration, idm_random *random, double *x,
                       idm_statistics *statistics, idm_error *opt_error)
{
  return iterate(transition, state, settings, target, iteration, random, x, statistics, opt_error);
}

static idm_status step_to_end(double *state, const idm_sampler_settings *settings,
                              const idm_target *target, long iteration, idm_random *random,
                              double *x, idm_statistics *statistics, idm_error *opt_error)
{
  return iterate(transition_to_end, state, settings, target, iteration, random, x, statistics,
                 opt_error);
}

const idm_sampler idm_sampler_nuts = {
    .name = "nuts",
    .summary = "Hamiltonian Monte Carlo with the no-U-turn criterion; needs a gradient",
    .gradient = true,
    .numbers = numbers,
    .start = start,
    .step = step,
};

const idm_sampler idm_sampler_hmc = {
    .name = "hmc",
    .summary = "Hamiltonian Monte Carlo with trajectories of random length; needs a gradient",
    .gradient = true,
    .numbers = numbers,
    .start = start,
    .step = step_to_end,
};
