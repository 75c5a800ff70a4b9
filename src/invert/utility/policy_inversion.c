/* The inverse planner `policy-inversion`: the utility of a soft learner from the policies of its
 * successive batches, by least squares (`docs/method/inverse.md, 7`).
 *
 * Contents: learner steps · policy inversion */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/extension/random.h"
#include "invert/utility/bellman.h"
#include "invert/utility/mdp.h"
#include "invert/utility/soft_plan.h"
#include "invert/utility/task.h"
#include "setting/model.h"

/* === learner steps ============================================================================ */

/* Weighted least squares over a utility and potentials. */

/* Rank tolerance: a column whose remainder is below this share of the largest is linearly
 * dependent. */
static const double tolerance = 1e-11;
/* Limit on the operations of the decomposition, which then takes minutes at most. */
static const double max_work = 4e11;
/* Largest matrix whose null space is computed. */
enum { max_numbers = 4000000 };

/* Equations: row i has entry[i] and the potential of step[i], with a right-hand side and the square
 * root of its weight. */
typedef struct equations {
  const idm_learner_steps *steps;
  size_t rows;
  size_t potentials;   /* (count - 1) * states */
  size_t *entry;       /* [row]: action * states + state */
  size_t *step;        /* [row] */
  double *rhs;         /* [row]: unweighted */
  double *root_weight; /* [row] */
} equations;

/* --- equations ------------------------------------------------------------------------------ */

/* KL(pi_k || pi_{k+1}) in every state. */
static void policy_divergence(const idm_learner_steps *o, size_t step, double *by_state)
{
  const idm_sizes n = o->mdp->n;
  const double *now = o->policy + step * n.states * n.actions;
  const double *next = now + n.states * n.actions;
  for (size_t s = 0; s < n.states; s++) {
    by_state[s] = 0;
    for (size_t u = 0; u < n.actions; u++) {
      const double p = now[s * n.actions + u];
      if (p > 0) by_state[s] += p * log(p / next[s * n.actions + u]);
    }
  }
}

static idm_status put_equations(equations *q, double *divergence, idm_error *opt_error)
{
  const idm_learner_steps *o = q->steps;
  const idm_sizes n = o->mdp->n;
  const size_t all = n.states * n.actions;
  assert(n.states > 0 && n.actions > 0);
  for (size_t k = 0; k + 1 < o->count; k++) {
    policy_divergence(o, k, divergence);
    for (size_t e = 0; e < all; e++) {
      const size_t s = e % n.states;
      const size_t u = e / n.states;
      const double weight = o->weight[k * all + s * n.actions + u];
      if (!(weight > 0)) continue;
      const double next = o->policy[(k + 1) * all + s * n.actions + u];
      const double rhs =
          o->alpha * (log(next / o->prior[u]) + idm_mdp_next_value(o->mdp, u, s, divergence));
      if (!isfinite(rhs))
        return idm_fail(opt_error, IDM_INPUT,
                        "batch %zu never takes an action that the previous batch takes, in a "
                        "visited state or a successor: a soft learner takes every action with "
                        "positive probability; expected --smoothing above 0",
                        k + 2);
      q->entry[q->rows] = e;
      q->step[q->rows] = k;
      q->root_weight[q->rows] = sqrt(weight);
      q->rhs[q->rows++] = rhs - idm_free_utility_constant(o->free_utility, e);
    }
  }
  return IDM_OK;
}

/* Adds scale * (discount P phi - phi) of equation i to row[potentials]. */
static void add_potential(const equations *q, size_t i, double scale, double *row)
{
  const idm_mdp *mdp = q->steps->mdp;
  const idm_sparse_rows *moves = mdp->moves;
  double *own = row + q->step[i] * mdp->n.states;
  for (size_t j = moves->first[q->entry[i]]; j < moves->first[q->entry[i] + 1]; j++)
    own[moves->next[j]] += scale * mdp->discount * moves->probability[j];
  own[q->entry[i] % mdp->n.states] -= scale;
}

/* Remainder of equation i given the potentials phi: rhs - (discount P phi - phi). */
static double residual_at(const equations *q, size_t i, const double *phi)
{
  const idm_mdp *mdp = q->steps->mdp;
  const size_t s = q->entry[i] % mdp->n.states;
  const double *own = phi + q->step[i] * mdp->n.states;
  return q->rhs[i] - idm_mdp_next_value(mdp, q->entry[i] / mdp->n.states, s, own) + own[s];
}

/* --- solution ------------------------------------------------------------------------------- */

/* Given the potentials, the least-squares value of a free number is the weighted mean of the
 * remainders of its equations; total[free] receives the weights. */
static void mean_numbers(const equations *q, const double *phi, double *total, double *x)
{
  const idm_free_utility *free_utility = q->steps->free_utility;
  memset(total, 0, free_utility->count * sizeof *total);
  memset(x, 0, free_utility->count * sizeof *x);
  for (size_t i = 0; i < q->rows; i++) {
    const int32_t number = free_utility->number[q->entry[i]];
    if (number < 0) continue;
    total[number] += q->root_weight[i] * q->root_weight[i];
    x[number] += q->root_weight[i] * q->root_weight[i] * residual_at(q, i, phi);
  }
  for (size_t k = 0; k < free_utility->count; k++)
    if (total[k] > 0) x[k] /= total[k];
}

/* The same mean of the rows, mean[free][potentials + 1], right-hand sides last. */
static void mean_rows(const equations *q, const double *total, double *mean)
{
  const idm_free_utility *free_utility = q->steps->free_utility;
  const size_t width = q->potentials + 1;
  for (size_t i = 0; i < q->rows; i++) {
    const int32_t number = free_utility->number[q->entry[i]];
    if (number < 0) continue;
    const double share = q->root_weight[i] * q->root_weight[i] / total[number];
    add_potential(q, i, share, mean + (size_t)number * width);
    mean[(size_t)number * width + q->potentials] += share * q->rhs[i];
  }
}

/* Potentials of least norm, from the equations minus the means over those that share a number. */
static idm_status find_potentials(const equations *q, double *total, double *x, double *phi,
                                  idm_error *opt_error)
{
  const idm_free_utility *free_utility = q->steps->free_utility;
  const size_t width = q->potentials + 1;
  size_t rank;
  double *mean = idm_new(idm_times(free_utility->count, width), sizeof *mean);
  double *a = idm_new(idm_times(q->rows, q->potentials), sizeof *a);
  double *b = idm_new(q->rows, sizeof *b);
  bool done = mean && a && b;
  if (done) {
    memset(phi, 0, q->potentials * sizeof *phi);
    mean_numbers(q, phi, total, x);
    mean_rows(q, total, mean);
    for (size_t i = 0; i < q->rows; i++) {
      const int32_t number = free_utility->number[q->entry[i]];
      const double *row = number < 0 ? NULL : mean + (size_t)number * width;
      add_potential(q, i, q->root_weight[i], a + i * q->potentials);
      for (size_t j = 0; j < q->potentials && row; j++)
        a[i * q->potentials + j] -= q->root_weight[i] * row[j];
      b[i] = q->root_weight[i] * (q->rhs[i] - (row ? row[q->potentials] : 0));
    }
    done = idm_least_squares(q->rows, q->potentials, a, b, tolerance, phi, &rank);
  }
  free(mean);
  free(a);
  free(b);
  return done ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- weights of features -------------------------------------------------------------------- */

/* v[rows] minus its projection on orthonormal q[rank][rows]. */
static void project_out(size_t rows, size_t rank, const double *q, double *v)
{
  for (size_t k = 0; k < rank; k++) {
    double along = 0;
    for (size_t i = 0; i < rows; i++) along += q[k * rows + i] * v[i];
    for (size_t i = 0; i < rows; i++) v[i] -= along * q[k * rows + i];
  }
}

/* Orthonormal basis q[rank][rows] of the columns w[rows][count], by Gram-Schmidt with
 * reorthogonalisation; returns the rank. */
static size_t orthonormalise(size_t rows, size_t count, const double *w, double *q)
{
  size_t rank = 0;
  for (size_t k = 0; k < count; k++) {
    double *own = q + rank * rows;
    double before = 0, after = 0;
    for (size_t i = 0; i < rows; i++) {
      own[i] = w[i * count + k];
      before += own[i] * own[i];
    }
    for (int pass = 0; pass < 2; pass++) project_out(rows, rank, q, own);
    for (size_t i = 0; i < rows; i++) after += own[i] * own[i];
    if (!(sqrt(after) > tolerance * sqrt(before))) continue;
    for (size_t i = 0; i < rows; i++) own[i] /= sqrt(after);
    rank++;
  }
  return rank;
}

/* Weights of least norm given the potentials, by least squares on the remainders. */
static bool fit_weights(const equations *q, const double *phi, double *w, double *b, double *x)
{
  size_t rank;
  for (size_t i = 0; i < q->rows; i++) b[i] = q->root_weight[i] * residual_at(q, i, phi);
  return idm_least_squares(q->rows, q->steps->free_utility->count, w, b, tolerance, x, &rank);
}

/* Potentials of least norm from the equations projected onto the complement of the weights' columns
 * (find_potentials uses the means instead), then the weights. */
static idm_status find_weights(const equations *q, double *x, double *phi, idm_error *opt_error)
{
  const idm_free_utility *free_utility = q->steps->free_utility;
  size_t rank;
  double *w = idm_new(idm_times(q->rows, free_utility->count), sizeof *w);
  double *span = idm_new(idm_times(q->rows, free_utility->count), sizeof *span);
  double *a = idm_new(idm_times(q->rows, q->potentials), sizeof *a);
  double *column = idm_new(idm_times(q->rows, 2), sizeof *column);
  bool done = w && span && a && column;
  if (done) {
    double *b = column + q->rows;
    for (size_t i = 0; i < q->rows; i++) {
      add_potential(q, i, q->root_weight[i], a + i * q->potentials);
      (void)idm_free_utility_add(free_utility, q->entry[i], q->root_weight[i],
                                 w + i * free_utility->count);
      b[i] = q->root_weight[i] * q->rhs[i];
    }
    const size_t spanned = orthonormalise(q->rows, free_utility->count, w, span);
    project_out(q->rows, spanned, span, b);
    for (size_t j = 0; j < q->potentials; j++) {
      for (size_t i = 0; i < q->rows; i++) column[i] = a[i * q->potentials + j];
      project_out(q->rows, spanned, span, column);
      for (size_t i = 0; i < q->rows; i++) a[i * q->potentials + j] = column[i];
    }
    done = idm_least_squares(q->rows, q->potentials, a, b, tolerance, phi, &rank) &&
           fit_weights(q, phi, w, b, x);
  }
  free(w);
  free(span);
  free(a);
  free(column);
  return done ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- all numbers ---------------------------------------------------------------------------- */

/* Free numbers and potentials of the least sum of squares. */
static idm_status find_numbers(const equations *q, double *total, double *x, double *phi,
                               idm_error *opt_error)
{
  if (q->steps->free_utility->features) return find_weights(q, x, phi, opt_error);
  const idm_status status = find_potentials(q, total, x, phi, opt_error);
  if (status == IDM_OK) mean_numbers(q, phi, total, x);
  return status;
}

/* Sum of squares, and the largest entry of half its gradient with respect to numbers and
 * potentials. */
static void certify(const equations *q, const double *phi, const double *x, double *gradient,
                    idm_optimality *f)
{
  const idm_free_utility *free_utility = q->steps->free_utility;
  double *by_number = gradient + q->potentials;
  double size = 1;
  memset(gradient, 0, (q->potentials + free_utility->count) * sizeof *gradient);
  f->objective = 0;
  for (size_t i = 0; i < q->rows; i++) {
    const double weight = q->root_weight[i] * q->root_weight[i];
    const double residual = residual_at(q, i, phi) -
                            idm_free_utility_value(free_utility, q->entry[i], x) +
                            idm_free_utility_constant(free_utility, q->entry[i]);
    size = fmax(size, weight * fabs(q->rhs[i]));
    f->objective += weight * residual * residual;
    add_potential(q, i, weight * residual, gradient);
    (void)idm_free_utility_add(free_utility, q->entry[i], weight * residual, by_number);
  }
  f->attained = 0;
  for (size_t j = 0; j < q->potentials + free_utility->count; j++)
    f->attained = fmax(f->attained, fabs(gradient[j]) / size);
  snprintf(f->certificate, sizeof f->certificate, "gradient norm");
  f->closed = 1e-9;
}

/* --- what is open --------------------------------------------------------------------------- */

/* After elimination of the potentials, the rows without potentials are the constraints on the
 * utility alone. */
static idm_status find_nullspace(const equations *q, idm_optimality *f, idm_error *opt_error)
{
  const idm_free_utility *free_utility = q->steps->free_utility;
  const size_t width = q->potentials + free_utility->count;
  if (idm_times(q->rows, width) > max_numbers) {
    idm_notes_add(&f->words,
                  "unchecked: with %zu equations, what the data leave open was not determined",
                  q->rows);
    return IDM_OK;
  }
  double *rows = idm_new(idm_times(q->rows, width), sizeof *rows);
  size_t *pivot = idm_new(q->rows < width ? q->rows : width, sizeof *pivot);
  double *identified_rows =
      idm_new(idm_times(q->rows, free_utility->count), sizeof *identified_rows);
  idm_status status = rows && pivot && identified_rows ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    size_t count = 0;
    for (size_t i = 0; i < q->rows; i++) {
      add_potential(q, i, 1, rows + i * width);
      (void)idm_free_utility_add(free_utility, q->entry[i], 1, rows + i * width + q->potentials);
    }
    const size_t rank = idm_row_reduce(q->rows, width, rows, 1e-10, pivot);
    for (size_t r = 0; r < rank; r++)
      if (pivot[r] >= q->potentials)
        memcpy(identified_rows + count++ * free_utility->count, rows + r * width + q->potentials,
               free_utility->count * sizeof *identified_rows);
    status = idm_nullspace_design(count, identified_rows, f, opt_error);
  }
  free(rows);
  free(pivot);
  free(identified_rows);
  return status;
}

/* --- all of it ------------------------------------------------------------------------------ */

static idm_status check_size(const equations *q, idm_error *opt_error)
{
  const idm_free_utility *free_utility = q->steps->free_utility;
  const double width = (double)(q->potentials + (free_utility->features ? free_utility->count : 0));
  if (2 * (double)q->rows * width * width <= max_work) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "%zu equations with %zu potentials, one per state and batch, are too many to "
                  "eliminate; expected fewer batches",
                  q->rows, q->potentials);
}

idm_status idm_learner_steps_invert(const idm_learner_steps *steps, double *x,
                                    idm_optimality *optimality, idm_error *opt_error)
{
  const size_t states = steps->mdp->n.states;
  const size_t most = idm_times(steps->count - 1, steps->free_utility->entries);
  equations q = {.steps = steps, .potentials = (steps->count - 1) * states};
  double *work =
      idm_new(2 * most + 2 * q.potentials + 2 * steps->free_utility->count + states, sizeof *work);
  size_t *place = idm_new(2 * most, sizeof *place);
  idm_status status = work && place ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    q.entry = place;
    q.step = place + most;
    q.rhs = work;
    q.root_weight = work + most;
    double *phi = q.root_weight + most;
    double *gradient = phi + q.potentials;
    double *total = gradient + q.potentials + steps->free_utility->count;
    status = put_equations(&q, total + steps->free_utility->count, opt_error);
    if (status == IDM_OK) status = check_size(&q, opt_error);
    if (status == IDM_OK) status = find_numbers(&q, total, x, phi, opt_error);
    if (status == IDM_OK) {
      certify(&q, phi, x, gradient, optimality);
      status = find_nullspace(&q, optimality, opt_error);
    }
  }
  free(work);
  free(place);
  return status;
}

/* === policy inversion ========================================================================= */

extern const idm_inverse idm_inverse_policy_inversion; /* registered below */

/* Policies and weights of the log's batches, in ascending order. */
typedef struct batches {
  size_t count;
  double *policy; /* [count][state][action] */
  double *weight; /* [count][state][action] */
  double *visits; /* [count][state] */
} batches;

/* --- batches -------------------------------------------------------------------------------- */

static double batch_of(const idm_data *data, size_t trajectory)
{
  return data->number[IDM_COLUMN_BATCH][trajectory];
}

/* Next batch number, or infinity. */
static double next_batch(const idm_data *data, double after)
{
  double next = INFINITY;
  for (size_t t = 0; t < data->trajectories; t++)
    if (batch_of(data, t) > after) next = fmin(next, batch_of(data, t));
  return next;
}

static size_t count_batches(const idm_data *data)
{
  size_t count = 0;
  for (double at = next_batch(data, -INFINITY); isfinite(at); at = next_batch(data, at)) count++;
  return count;
}

/* Batch k from its counts: pi_k(u|s) = (n + c pi~_u) / (n_s + c), and the share of its rows in
 * (s,u). */
static void put_batch(const batches *b, size_t k, idm_sizes n, const double *count,
                      const double *prior, double smoothing)
{
  const size_t all = n.states * n.actions;
  double decisions = 0;
  for (size_t s = 0; s < n.states; s++) decisions += b->visits[k * n.states + s];
  for (size_t e = 0; e < all; e++) {
    const double visits = b->visits[k * n.states + e / n.actions] + smoothing;
    const double prior_probability = prior[e % n.actions];
    b->policy[k * all + e] =
        visits > 0 ? (count[e] + smoothing * prior_probability) / visits : prior_probability;
    b->weight[k * all + e] = count[e] / decisions;
  }
}

static idm_status make_batches(batches *b, size_t count, idm_sizes n, idm_error *opt_error)
{
  const size_t all = n.states * n.actions;
  b->count = count;
  b->policy = idm_new(idm_times(count, all), sizeof *b->policy);
  b->weight = idm_new(idm_times(count, all), sizeof *b->weight);
  b->visits = idm_new(idm_times(count, n.states), sizeof *b->visits);
  return b->policy && b->weight && b->visits ? IDM_OK : idm_fail_memory(opt_error);
}

static void clear_batches(batches *b)
{
  free(b->policy);
  free(b->weight);
  free(b->visits);
}

static idm_status read_batches(const idm_problem *problem, const idm_data *data, const idm_mdp *mdp,
                               const double *prior, double smoothing, batches *b,
                               idm_error *opt_error)
{
  bool *in_batch = idm_new(data->trajectories, sizeof *in_batch);
  idm_status status = in_batch ? make_batches(b, count_batches(data), mdp->n, opt_error)
                               : idm_fail_memory(opt_error);
  double at = -INFINITY;
  for (size_t k = 0; k < b->count && status == IDM_OK; k++) {
    idm_demonstrator *d = NULL;
    at = next_batch(data, at);
    for (size_t t = 0; t < data->trajectories; t++) in_batch[t] = batch_of(data, t) == at;
    status = idm_demonstrator_create(mdp, data, problem->setting, in_batch, &d, opt_error);
    if (status == IDM_OK) {
      memcpy(b->visits + k * mdp->n.states, d->visits, mdp->n.states * sizeof *d->visits);
      put_batch(b, k, mdp->n, d->count, prior, smoothing);
    }
    idm_demonstrator_destroy(d);
  }
  free(in_batch);
  return status;
}

/* --- the inverse planner -------------------------------------------------------------------- */

/* Context of fit_at. */
typedef struct inversion_context {
  idm_task *task;
  const idm_soft_agent *agent;
  const batches *b;
} inversion_context;

static idm_status fit_at(void *context, double discount, double *x, idm_optimality **ret_optimality,
                         idm_error *opt_error)
{
  const inversion_context *v = context;
  const idm_free_utility *free_utility = v->task->free_utility;
  idm_mdp mdp = *v->task->mdp;
  const idm_learner_steps steps = {&mdp,        free_utility, v->agent->alpha, v->agent->prior,
                                   v->b->count, v->b->policy, v->b->weight};
  mdp.discount = discount;
  idm_status status = idm_optimality_create(free_utility->count, ret_optimality, opt_error);
  if (status == IDM_OK) status = idm_learner_steps_invert(&steps, x, *ret_optimality, opt_error);
  if (status != IDM_OK) {
    idm_optimality_destroy(*ret_optimality);
    *ret_optimality = NULL;
  }
  return status;
}

static const char method_name[] = "least-squares";

/* --- errors of the discount ----------------------------------------------------------------- */

/* Parametric bootstrap. Errors of the batches' policies enter both sides of the equations, so that
 * sums of squares have no F distribution. Every batch is drawn again from its policy, many times;
 * for each, the sum at the estimate is above the least sum by a gap. Unlike replicates of the
 * discount, of which many can end at 1, gaps give a range at any discount. */

enum { REPLICATES = 200 };
/* Evaluations of a search, about, and the largest number of operations of all of them. */
static const double evaluations = 150, max_bootstrap_work = 1e12;
/* Key of the random streams of replicates. */
static const uint64_t bootstrap_stream = (uint64_t)1 << 41;

typedef struct bootstrap {
  const inversion_context *v;
  double discount;
  double gap[REPLICATES];
  idm_status status[REPLICATES];
  idm_error error[REPLICATES];
} bootstrap;

/* Draws the actions of every visit of a batch from its policy. count[state][action] is scratch. */
static void draw_batch(const batches *from, size_t k, idm_sizes n, const double *prior,
                       double smoothing, idm_random *random, double *count, const batches *to)
{
  memset(count, 0, n.states * n.actions * sizeof *count);
  for (size_t s = 0; s < n.states; s++) {
    const double visits = from->visits[k * n.states + s];
    const double *policy = from->policy + (k * n.states + s) * n.actions;
    to->visits[k * n.states + s] = visits;
    const size_t draws = (size_t)ceil(visits);
    for (size_t i = 0; i < draws; i++)
      count[s * n.actions + idm_random_choice(random, policy, n.actions)]++;
  }
  put_batch(to, k, n, count, prior, smoothing);
}

static idm_status replicate(bootstrap *q, size_t index, idm_error *error)
{
  inversion_context v = *q->v;
  const idm_sizes n = v.task->mdp->n;
  const idm_fit_settings *settings = v.task->settings;
  batches drawn = {0};
  idm_random random;
  double *count = idm_new(n.states * n.actions, sizeof *count);
  double *x = idm_new(v.task->free_utility->count, sizeof *x);
  idm_status status = count && x ? IDM_OK : idm_fail_memory(error);
  idm_random_init(&random, settings->seed, bootstrap_stream + index);
  if (status == IDM_OK) status = make_batches(&drawn, v.b->count, n, error);
  for (size_t k = 0; k < drawn.count && status == IDM_OK; k++)
    draw_batch(q->v->b, k, n, v.agent->prior, settings->smoothing, &random, count, &drawn);
  v.b = &drawn;
  const idm_discount_search search = {.task = v.task, .fit = fit_at, .context = &v, .x = x};
  if (status == IDM_OK)
    status = idm_discount_search_gap(&search, q->discount, &q->gap[index], error);
  clear_batches(&drawn);
  free(count);
  free(x);
  return status;
}

static void run_replicate(void *context, size_t index)
{
  bootstrap *q = context;
  q->status[index] = replicate(q, index, &q->error[index]);
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Operations of one evaluation, as limited by check_size. */
static double evaluation_work(const idm_task *task, const batches *b)
{
  const double rows = (double)((b->count - 1) * task->free_utility->entries);
  const double width = (double)((b->count - 1) * task->mdp->n.states + task->free_utility->count);
  return 2 * rows * width * width;
}

static idm_status find_gap(void *context, double discount, double *ret_gap, idm_error *opt_error)
{
  const inversion_context *v = context;
  *ret_gap = -1;
  if (evaluation_work(v->task, v->b) * evaluations * REPLICATES > max_bootstrap_work) return IDM_OK;
  bootstrap *q = idm_new(1, sizeof *q);
  if (!q) return idm_fail_memory(opt_error);
  q->v = v;
  q->discount = discount;
  idm_status status = idm_cancel_parallel(&v->task->cancel, REPLICATES, v->task->settings->threads,
                                          run_replicate, q, opt_error);
  for (size_t i = 0; i < REPLICATES && status == IDM_OK; i++) {
    status = q->status[i];
    if (status != IDM_OK && opt_error) *opt_error = q->error[i];
  }
  qsort(q->gap, REPLICATES, sizeof *q->gap, ascending);
  *ret_gap = q->gap[REPLICATES - REPLICATES / 20];
  free(q);
  return status;
}

/* Joint estimation of the utility and the discount. */
static idm_status find_discount(idm_task *task, inversion_context *v, double *x,
                                idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_discount_search search = {
      .task = task,
      .evidence = "changes from batch to batch",
      .method = method_name,
      .floor = 1e-20 * v->agent->alpha * v->agent->alpha,
      .fit = fit_at,
      .context = v,
      .gap = find_gap,
      .x = x,
      .reports = true,
  };
  return idm_discount_search_run(&search, ret_posterior, opt_error);
}

static idm_status find(idm_task *task, const idm_soft_agent *agent, const batches *b,
                       idm_posterior **ret_posterior, idm_error *opt_error)
{
  inversion_context v = {task, agent, b};
  idm_optimality *f = NULL;
  double *x = idm_new(task->free_utility->count, sizeof *x);
  idm_status status = x ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK && idm_discount_is_free(task->problem)) {
    status = find_discount(task, &v, x, ret_posterior, opt_error);
  } else if (status == IDM_OK) {
    status = fit_at(&v, task->mdp->discount, x, &f, opt_error);
    if (status == IDM_OK)
      status =
          idm_estimate_utility(task->inverse, task->problem, task->settings, task->free_utility, x,
                               method_name, f, ret_posterior, opt_error);
  }
  free(x);
  return status;
}

static idm_status check(const idm_problem *problem, const idm_data *data, idm_error *opt_error)
{
  const char *caller = idm_inverse_policy_inversion.name;
  if (problem->setting->horizon)
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' inverts a learner of one policy for all steps; expected a problem "
                    "without `horizon`",
                    caller);
  if (count_batches(data) >= 2) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' uses a learner's changes from batch to batch, and the log has one batch "
                  "only; expected at least two in the column '%s'",
                  caller, idm_columns_name(&problem->columns, IDM_COLUMN_BATCH, 0));
}

static idm_status answer(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_problem *problem = task->problem;
  idm_soft_agent *agent = NULL;
  batches b = {0};
  idm_status status = check(problem, task->data, opt_error);
  if (status == IDM_OK)
    status = idm_soft_agent_create(problem, task->inverse->name, &agent, opt_error);
  if (status == IDM_OK)
    status = read_batches(problem, task->data, task->mdp, agent->prior, task->settings->smoothing,
                          &b, opt_error);
  if (status == IDM_OK) status = find(task, agent, &b, ret_posterior, opt_error);
  clear_batches(&b);
  idm_soft_agent_destroy(agent);
  return status;
}

static const idm_task_method method = {
    .by = IDM_BY_STATES, .activity = "comparing the learner's batches", .answer = answer};

static const char *const settings_read[] = {"smoothing", "seed", NULL};

const idm_inverse idm_inverse_policy_inversion = {
    .name = "policy-inversion",
    .summary = "the utility of a soft learner, from the policies of its successive batches",
    .row = "Soft policy inversion",
    .answer = IDM_POINT,
    .columns = 1u << IDM_COLUMN_BATCH,
    .family = IDM_LATTICE_PLANNER,
    .target_block = "utility",
    .alone =
        "the equations of a learner's steps give utilities in units of alpha (with the utility "
        "as the only feature, its weight is the file's alpha over the learner's); for others "
        "use --inverse map or bayes",
    .extra_block = "discount",
    .extra_alone = true,
    .features = true,
    .settings = settings_read,
    .method = &method,
    .fit = idm_task_fit,
};
