/* Weighted least squares over a utility and potentials. */
#include "invert/utility/learner_steps.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/least.h"
#include "base/memory.h"
#include "base/null_space.h"
#include "invert/utility/open.h"

/* A column that is left with less than this share of the largest is a combination of others. */
static const double tolerance = 1e-11;
/* Work of the decomposition that takes minutes at most. */
static const double most_work = 4e11;
/* Numbers of a matrix whose null space is looked for. */
enum { most_numbers = 4000000 };

/* Equations: row i is of entry[i] and potential[i], with a right side and the root of its weight.
 */
typedef struct equations {
  const idm_learner_steps *steps;
  size_t rows;
  size_t potentials; /* (count - 1) * states */
  size_t *entry;     /* [row]: action * states + state */
  size_t *step;      /* [row] */
  double *right;     /* [row]: unweighted */
  double *root;      /* [row] */
} equations;

/* --- equations ------------------------------------------------------------------------------ */

/* KL(pi_k || pi_{k+1}) at every state. */
static void diverge(const idm_learner_steps *o, size_t step, double *by_state)
{
  const idm_sizes n = o->world->n;
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
  const idm_sizes n = o->world->n;
  const size_t all = n.states * n.actions;
  assert(n.states > 0 && n.actions > 0);
  for (size_t k = 0; k + 1 < o->count; k++) {
    diverge(o, k, divergence);
    for (size_t e = 0; e < all; e++) {
      const size_t s = e % n.states;
      const size_t u = e / n.states;
      const double weight = o->weight[k * all + s * n.actions + u];
      if (!(weight > 0)) continue;
      const double next = o->policy[(k + 1) * all + s * n.actions + u];
      const double right =
          o->alpha * (log(next / o->prior[u]) + idm_mdp_next(o->world, u, s, divergence));
      if (!isfinite(right))
        return idm_fail(opt_error, IDM_INPUT,
                        "batch %zu never takes an action that the one before takes, there or in a "
                        "state that follows: a soft learner keeps every action; expected "
                        "--smoothing above 0",
                        k + 2);
      q->entry[q->rows] = e;
      q->step[q->rows] = k;
      q->root[q->rows] = sqrt(weight);
      q->right[q->rows++] = right - idm_sought_constant(o->sought, e);
    }
  }
  return IDM_OK;
}

/* Add scale * (discount P phi - phi) of equation i to row[potentials]. */
static void add_potential(const equations *q, size_t i, double scale, double *row)
{
  const idm_mdp *world = q->steps->world;
  const idm_moves *moves = world->moves;
  double *own = row + q->step[i] * world->n.states;
  for (size_t j = moves->first[q->entry[i]]; j < moves->first[q->entry[i] + 1]; j++)
    own[moves->next[j]] += scale * world->discount * moves->probability[j];
  own[q->entry[i] % world->n.states] -= scale;
}

/* What the potentials phi leave of equation i: right - (discount P phi - phi). */
static double left_over(const equations *q, size_t i, const double *phi)
{
  const idm_mdp *world = q->steps->world;
  const size_t s = q->entry[i] % world->n.states;
  const double *own = phi + q->step[i] * world->n.states;
  return q->right[i] - idm_mdp_next(world, q->entry[i] / world->n.states, s, own) + own[s];
}

/* --- solution ------------------------------------------------------------------------------- */

/* The free number of an equation is, given the potentials, the weighted mean of what these leave of
 * its equations: total[free] are their weights. */
static void mean_numbers(const equations *q, const double *phi, double *total, double *x)
{
  const idm_sought *sought = q->steps->sought;
  memset(total, 0, sought->count * sizeof *total);
  memset(x, 0, sought->count * sizeof *x);
  for (size_t i = 0; i < q->rows; i++) {
    const int32_t number = sought->number[q->entry[i]];
    if (number < 0) continue;
    total[number] += q->root[i] * q->root[i];
    x[number] += q->root[i] * q->root[i] * left_over(q, i, phi);
  }
  for (size_t k = 0; k < sought->count; k++)
    if (total[k] > 0) x[k] /= total[k];
}

/* The same mean of the rows themselves, mean[free][potentials + 1], right sides last. */
static void mean_rows(const equations *q, const double *total, double *mean)
{
  const idm_sought *sought = q->steps->sought;
  const size_t width = q->potentials + 1;
  for (size_t i = 0; i < q->rows; i++) {
    const int32_t number = sought->number[q->entry[i]];
    if (number < 0) continue;
    const double share = q->root[i] * q->root[i] / total[number];
    add_potential(q, i, share, mean + (size_t)number * width);
    mean[(size_t)number * width + q->potentials] += share * q->right[i];
  }
}

/* Potentials of least norm, from the equations less the means of those that share a number. */
static idm_status find_potentials(const equations *q, double *total, double *x, double *phi,
                                  idm_error *opt_error)
{
  const idm_sought *sought = q->steps->sought;
  const size_t width = q->potentials + 1;
  size_t rank;
  double *mean = idm_new(idm_times(sought->count, width), sizeof *mean);
  double *a = idm_new(idm_times(q->rows, q->potentials), sizeof *a);
  double *b = idm_new(q->rows, sizeof *b);
  bool done = mean && a && b;
  if (done) {
    memset(phi, 0, q->potentials * sizeof *phi);
    mean_numbers(q, phi, total, x);
    mean_rows(q, total, mean);
    for (size_t i = 0; i < q->rows; i++) {
      const int32_t number = sought->number[q->entry[i]];
      const double *row = number < 0 ? NULL : mean + (size_t)number * width;
      add_potential(q, i, q->root[i], a + i * q->potentials);
      for (size_t j = 0; j < q->potentials && row; j++)
        a[i * q->potentials + j] -= q->root[i] * row[j];
      b[i] = q->root[i] * (q->right[i] - (row ? row[q->potentials] : 0));
    }
    done = idm_least_squares(q->rows, q->potentials, a, b, tolerance, phi, &rank);
  }
  free(mean);
  free(a);
  free(b);
  return done ? IDM_OK : idm_fail_memory(opt_error);
}

/* --- weights of features -------------------------------------------------------------------- */

/* v[rows] less its projection on orthonormal q[rank][rows]. */
static void take_span(size_t rows, size_t rank, const double *q, double *v)
{
  for (size_t k = 0; k < rank; k++) {
    double along = 0;
    for (size_t i = 0; i < rows; i++) along += q[k * rows + i] * v[i];
    for (size_t i = 0; i < rows; i++) v[i] -= along * q[k * rows + i];
  }
}

/* Orthonormal columns q[rank][rows] that span those of the weights, w[rows][count]. Twice, so that
 * rounding of the first pass is gone. */
static size_t span_weights(size_t rows, size_t count, const double *w, double *q)
{
  size_t rank = 0;
  for (size_t k = 0; k < count; k++) {
    double *own = q + rank * rows;
    double before = 0, after = 0;
    for (size_t i = 0; i < rows; i++) {
      own[i] = w[i * count + k];
      before += own[i] * own[i];
    }
    for (int pass = 0; pass < 2; pass++) take_span(rows, rank, q, own);
    for (size_t i = 0; i < rows; i++) after += own[i] * own[i];
    if (!(sqrt(after) > tolerance * sqrt(before))) continue;
    for (size_t i = 0; i < rows; i++) own[i] /= sqrt(after);
    rank++;
  }
  return rank;
}

/* The weights given the potentials: least squares of what these leave, of least norm. */
static bool fit_weights(const equations *q, const double *phi, double *w, double *b, double *x)
{
  size_t rank;
  for (size_t i = 0; i < q->rows; i++) b[i] = q->root[i] * left_over(q, i, phi);
  return idm_least_squares(q->rows, q->steps->sought->count, w, b, tolerance, x, &rank);
}

/* Potentials of least norm from the equations less their projection on the weights, as
 * find_potentials takes the means; then the weights. */
static idm_status find_weights(const equations *q, double *x, double *phi, idm_error *opt_error)
{
  const idm_sought *sought = q->steps->sought;
  size_t rank;
  double *w = idm_new(idm_times(q->rows, sought->count), sizeof *w);
  double *span = idm_new(idm_times(q->rows, sought->count), sizeof *span);
  double *a = idm_new(idm_times(q->rows, q->potentials), sizeof *a);
  double *column = idm_new(idm_times(q->rows, 2), sizeof *column);
  bool done = w && span && a && column;
  if (done) {
    double *b = column + q->rows;
    for (size_t i = 0; i < q->rows; i++) {
      add_potential(q, i, q->root[i], a + i * q->potentials);
      (void)idm_sought_add(sought, q->entry[i], q->root[i], w + i * sought->count);
      b[i] = q->root[i] * q->right[i];
    }
    const size_t spanned = span_weights(q->rows, sought->count, w, span);
    take_span(q->rows, spanned, span, b);
    for (size_t j = 0; j < q->potentials; j++) {
      for (size_t i = 0; i < q->rows; i++) column[i] = a[i * q->potentials + j];
      take_span(q->rows, spanned, span, column);
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

/* Numbers and potentials of the least sum of squares. */
static idm_status find_numbers(const equations *q, double *total, double *x, double *phi,
                               idm_error *opt_error)
{
  if (q->steps->sought->features) return find_weights(q, x, phi, opt_error);
  const idm_status status = find_potentials(q, total, x, phi, opt_error);
  if (status == IDM_OK) mean_numbers(q, phi, total, x);
  return status;
}

/* Sum of squares, and the largest entry of half its gradient by numbers and potentials. */
static void certify(const equations *q, const double *phi, const double *x, double *slope,
                    idm_finding *f)
{
  const idm_sought *sought = q->steps->sought;
  double *by_number = slope + q->potentials;
  double size = 1;
  memset(slope, 0, (q->potentials + sought->count) * sizeof *slope);
  f->objective = 0;
  for (size_t i = 0; i < q->rows; i++) {
    const double weight = q->root[i] * q->root[i];
    const double left = left_over(q, i, phi) - idm_sought_value(sought, q->entry[i], x) +
                        idm_sought_constant(sought, q->entry[i]);
    size = fmax(size, weight * fabs(q->right[i]));
    f->objective += weight * left * left;
    add_potential(q, i, weight * left, slope);
    (void)idm_sought_add(sought, q->entry[i], weight * left, by_number);
  }
  f->attained = 0;
  for (size_t j = 0; j < q->potentials + sought->count; j++)
    f->attained = fmax(f->attained, fabs(slope[j]) / size);
  snprintf(f->certificate, sizeof f->certificate, "gradient norm");
  f->closed = 1e-9;
}

/* --- what is open --------------------------------------------------------------------------- */

/* With potentials eliminated first, rows that have none left are what the equations say of the
 * utility alone. */
static idm_status look(const equations *q, idm_finding *f, idm_error *opt_error)
{
  const idm_sought *sought = q->steps->sought;
  const size_t width = q->potentials + sought->count;
  if (idm_times(q->rows, width) > most_numbers) {
    idm_notes_add(&f->words,
                  "unchecked: with %zu equations, what the data leave open was not looked for",
                  q->rows);
    return IDM_OK;
  }
  double *rows = idm_new(idm_times(q->rows, width), sizeof *rows);
  size_t *pivot = idm_new(q->rows < width ? q->rows : width, sizeof *pivot);
  double *said = idm_new(idm_times(q->rows, sought->count), sizeof *said);
  idm_status status = rows && pivot && said ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    size_t count = 0;
    for (size_t i = 0; i < q->rows; i++) {
      add_potential(q, i, 1, rows + i * width);
      (void)idm_sought_add(sought, q->entry[i], 1, rows + i * width + q->potentials);
    }
    const size_t rank = idm_row_reduce(q->rows, width, rows, 1e-10, pivot);
    for (size_t r = 0; r < rank; r++)
      if (pivot[r] >= q->potentials)
        memcpy(said + count++ * sought->count, rows + r * width + q->potentials,
               sought->count * sizeof *said);
    status = idm_open_design(count, said, f, opt_error);
  }
  free(rows);
  free(pivot);
  free(said);
  return status;
}

/* --- all of it ------------------------------------------------------------------------------ */

static idm_status check_size(const equations *q, idm_error *opt_error)
{
  const idm_sought *sought = q->steps->sought;
  const double width = (double)(q->potentials + (sought->features ? sought->count : 0));
  if (2 * (double)q->rows * width * width <= most_work) return IDM_OK;
  return idm_fail(
      opt_error, IDM_INPUT,
      "%zu equations with %zu potentials, a number a state and batch, are more than can "
      "be eliminated; expected fewer batches",
      q->rows, q->potentials);
}

idm_status idm_learner_steps_invert(const idm_learner_steps *steps, double *x, idm_finding *finding,
                                    idm_error *opt_error)
{
  const size_t states = steps->world->n.states;
  const size_t most = idm_times(steps->count - 1, steps->sought->entries);
  equations q = {.steps = steps, .potentials = (steps->count - 1) * states};
  double *work =
      idm_new(2 * most + 2 * q.potentials + 2 * steps->sought->count + states, sizeof *work);
  size_t *place = idm_new(2 * most, sizeof *place);
  idm_status status = work && place ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    q.entry = place;
    q.step = place + most;
    q.right = work;
    q.root = work + most;
    double *phi = q.root + most;
    double *slope = phi + q.potentials;
    double *total = slope + q.potentials + steps->sought->count;
    status = put_equations(&q, total + steps->sought->count, opt_error);
    if (status == IDM_OK) status = check_size(&q, opt_error);
    if (status == IDM_OK) status = find_numbers(&q, total, x, phi, opt_error);
    if (status == IDM_OK) {
      certify(&q, phi, x, slope, finding);
      status = look(&q, finding, opt_error);
    }
  }
  free(work);
  free(place);
  return status;
}
