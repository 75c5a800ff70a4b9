/* The inverse planner `distance`: utilities whose discounted sums fit the trajectories' scores, in
 * the L2 norm (least squares) or the L1 norm (`docs/method/inverse.md, 6`). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/extension/data.h"
#include "infer/program.h"
#include "invert/utility/bellman.h"
#include "invert/utility/mdp.h"
#include "invert/utility/preference_model.h"
#include "invert/utility/task.h"

extern const idm_inverse idm_inverse_distance; /* registered below */

/* Linear regression of the scores: row h contains sum_t discount^t d utility(s_t, u_t) / d number,
 * and b the score minus the contribution of fixed entries, in units. */
typedef struct design {
  size_t rows;
  size_t columns;
  double *a; /* [rows][columns] */
  double *b; /* [rows] */
} design;

/* Rank tolerance: a column whose remainder is below this share of the largest is linearly
 * dependent. */
static const double tolerance = 1e-11;

/* --- design --------------------------------------------------------------------------------- */

static void free_design(design *d)
{
  free(d->a);
  free(d->b);
}

static double largest_score(const idm_data *data)
{
  double largest = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    largest = fmax(largest, fabs(data->number[IDM_COLUMN_SCORE][t]));
  return largest;
}

static idm_status make_design(const idm_task *task, idm_discounted_sum *sum, double discount,
                              design *d, idm_error *opt_error)
{
  const idm_data *data = task->data;
  const idm_free_utility *free_utility = task->free_utility;
  *d = (design){.rows = data->trajectories, .columns = free_utility->count};
  d->a = idm_new(idm_times(data->trajectories, free_utility->count), sizeof *d->a);
  d->b = idm_new(data->trajectories, sizeof *d->b);
  idm_status status = d->a && d->b ? IDM_OK : idm_fail_memory(opt_error);
  sum->discount = discount;
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++) {
    double held = 0;
    status =
        idm_discounted_sum_add(sum, t, 1, "has a score", d->a + t * d->columns, &held, opt_error);
    d->b[t] = data->number[IDM_COLUMN_SCORE][t] / free_utility->unit - held;
  }
  return status;
}

static double residual(const design *d, size_t row, const double *x)
{
  double sum = -d->b[row];
  for (size_t j = 0; j < d->columns; j++) sum += d->a[row * d->columns + j] * x[j];
  return sum;
}

/* --- sums of squares ------------------------------------------------------------------------ */

/* Least-squares solution of least norm; *ret_span receives rows that span the row space of the
 * design. */
static idm_status fit_squares(const design *d, double *x, double **ret_span, size_t *ret_rank,
                              idm_error *opt_error)
{
  double *a = idm_duplicate(d->a, d->rows * d->columns, sizeof *a);
  double *b = idm_duplicate(d->b, d->rows, sizeof *b);
  const bool done = a && b && idm_least_squares(d->rows, d->columns, a, b, tolerance, x, ret_rank);
  free(b);
  if (!done) {
    free(a);
    return idm_fail_memory(opt_error);
  }
  *ret_span = a;
  return IDM_OK;
}

/* Adds a fault if the columns differ so much in size that the smallest is lost in rounding errors,
 * whatever the gradient. */
static void certify_scales(const design *d, idm_optimality *f)
{
  double range[2] = {INFINITY, 0};
  for (size_t j = 0; j < d->columns; j++) {
    double largest = 0;
    for (size_t h = 0; h < d->rows; h++) largest = fmax(largest, fabs(d->a[h * d->columns + j]));
    if (largest > 0) range[0] = fmin(range[0], largest);
    range[1] = fmax(range[1], largest);
  }
  if (range[0] < 10 * tolerance * range[1])
    idm_notes_add(&f->faults,
                  "the scores depend on one of the numbers %.3g times as much as on another, which "
                  "least squares cannot resolve; give features values of similar size, or hold the "
                  "number",
                  range[1] / range[0]);
}

/* Sum of squares, and its gradient relative to the largest term that enters it. */
static void certify_squares(const design *d, const double *x, idm_optimality *f)
{
  double worst = 0;
  f->objective = 0;
  for (size_t h = 0; h < d->rows; h++) f->objective += residual(d, h, x) * residual(d, h, x);
  for (size_t j = 0; j < d->columns; j++) {
    double gradient = 0;
    double size = 0;
    for (size_t h = 0; h < d->rows; h++) {
      const double term = d->a[h * d->columns + j];
      gradient += term * residual(d, h, x);
      size = fmax(size, fabs(term) * fmax(fabs(d->b[h]), fabs(residual(d, h, x) + d->b[h])));
    }
    if (size > 0) worst = fmax(worst, fabs(gradient) / size);
  }
  snprintf(f->certificate, sizeof f->certificate, "gradient norm");
  f->attained = worst;
  f->closed = 1e-9;
}

/* --- sums of absolute values ---------------------------------------------------------------- */

/* Coordinates y of the row space of the design: x = sum_r y_r basis[r], without unidentified
 * directions; |x| = |y|. */
typedef struct coordinates {
  size_t rank;
  double *basis; /* [rank][columns]: orthonormal */
} coordinates;

/* Orthonormalises the spanning rows by Gram-Schmidt with reorthogonalisation. */
static void set_coordinates(const double *span, size_t rank, size_t columns, coordinates *c)
{
  c->rank = rank;
  memcpy(c->basis, span, rank * columns * sizeof *span);
  for (size_t r = 0; r < rank; r++) {
    double *row = c->basis + r * columns;
    for (int pass = 0; pass < 2; pass++)
      for (size_t i = 0; i < r; i++) {
        double dot = 0;
        for (size_t j = 0; j < columns; j++) dot += c->basis[i * columns + j] * row[j];
        for (size_t j = 0; j < columns; j++) row[j] -= dot * c->basis[i * columns + j];
      }
    double norm = 0;
    for (size_t j = 0; j < columns; j++) norm = hypot(norm, row[j]);
    for (size_t j = 0; j < columns; j++) row[j] /= norm;
  }
}

static double along(const coordinates *c, size_t r, const double *row, size_t columns)
{
  double sum = 0;
  for (size_t j = 0; j < columns; j++) sum += row[j] * c->basis[r * columns + j];
  return sum;
}

/* min sum t subject to t_h >= +-(a x - b)_h, x by its coordinates. */
static idm_status make_program(const design *d, const coordinates *c, idm_program **ret_program,
                               idm_error *opt_error)
{
  idm_status status = idm_program_create(c->rank + d->rows, ret_program, opt_error);
  for (size_t h = 0; h < d->rows && status == IDM_OK; h++)
    for (int sign = -1; sign <= 1 && status == IDM_OK; sign += 2) {
      for (size_t r = 0; r < c->rank && status == IDM_OK; r++) {
        const double value = along(c, r, d->a + h * d->columns, d->columns);
        if (value != 0) status = idm_program_add_entry(*ret_program, r, sign * value, opt_error);
      }
      if (status == IDM_OK) status = idm_program_add_entry(*ret_program, c->rank + h, 1, opt_error);
      if (status == IDM_OK)
        status = idm_program_add_row(*ret_program, sign * d->b[h], INFINITY, opt_error);
    }
  for (size_t h = 0; h < d->rows && status == IDM_OK; h++)
    idm_program_set_cost(*ret_program, c->rank + h, 1);
  return status;
}

static const char no_minimum_message[] = "the sum of distances could not be minimised";

static double add_distances(const design *d, const double *x)
{
  double sum = 0;
  for (size_t h = 0; h < d->rows; h++) sum += fabs(residual(d, h, x));
  return sum;
}

static void certify_absolute(const design *d, const double *x, double gap, idm_optimality *f)
{
  f->objective = add_distances(d, x);
  snprintf(f->certificate, sizeof f->certificate, "duality gap");
  f->attained = gap;
  f->closed = 1e-9;
}

/* Adds a remark on other optima. */
static void note_uniqueness(const idm_face *face, idm_optimality *f)
{
  if (face->unchecked)
    idm_notes_add(&f->words, "unchecked: whether other utilities fit the scores as well");
  else if (!face->unique)
    idm_notes_add(&f->words, "%s",
                  face->nearest
                      ? "other utilities fit the scores as well; this is the one of least norm"
                      : "other utilities fit the scores as well; this is one of them");
}

/* Minimises the L1 norm; among all minimisers selects the one of least norm, which has no component
 * in unidentified directions. */
static idm_status fit_absolute(const design *d, const coordinates *c, const double *key, double *x,
                               idm_optimality *f, idm_cancel *cancel, idm_error *opt_error)
{
  idm_program *program = NULL;
  double *work = idm_new(3 * c->rank + d->rows, sizeof *work);
  idm_face face = {.count = c->rank,
                   .bounded = true}; /* the coordinates exclude unbounded directions */
  idm_status status = work ? make_program(d, c, &program, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    double *weight = work + c->rank + d->rows;
    double *rotated_key = weight + c->rank;
    for (size_t r = 0; r < c->rank; r++) {
      weight[r] = 1;
      rotated_key[r] = along(c, r, key, d->columns);
    }
    face.x = work;
    face.weight = weight;
    face.key = rotated_key;
    status = idm_face_choose_unique(program, no_minimum_message, no_minimum_message, &face, cancel,
                                    opt_error);
  }
  if (status == IDM_OK) {
    memset(x, 0, d->columns * sizeof *x);
    for (size_t r = 0; r < c->rank; r++)
      for (size_t j = 0; j < d->columns; j++) x[j] += face.x[r] * c->basis[r * d->columns + j];
    certify_absolute(d, x, face.attained, f);
    note_uniqueness(&face, f);
  }
  idm_program_destroy(program);
  free(work);
  return status;
}

/* Minimises the norm of the settings and stores the certificate and the unidentified directions. */
static idm_status fit_norm(idm_task *task, const design *d, double *x, idm_optimality *f,
                           idm_error *opt_error)
{
  const bool absolute = task->settings->norm == IDM_NORM_1;
  double *span = NULL;
  size_t rank = 0;
  coordinates c = {.basis = idm_new(idm_times(d->columns, d->columns), sizeof *c.basis)};
  double *key = idm_new(d->columns, sizeof *key);
  idm_status status = c.basis && key ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = fit_squares(d, x, &span, &rank, opt_error);
  /* If least squares fit the scores up to rounding, no sum is smaller: a linear program, in which
   * all rows would be active, would add rounding errors of its own. */
  const double distance_sum = status == IDM_OK && absolute ? add_distances(d, x) : INFINITY;
  const bool explained = distance_sum <= 1e-10;
  if (explained) certify_absolute(d, x, distance_sum, f);
  if (explained) note_uniqueness(&(idm_face){.unique = rank == d->columns, .nearest = true}, f);
  if (status == IDM_OK && absolute && !explained) {
    set_coordinates(span, rank, d->columns, &c);
    status = idm_free_utility_keys(task->problem, task->free_utility, key, opt_error);
    if (status == IDM_OK) status = fit_absolute(d, &c, key, x, f, &task->cancel, opt_error);
  }
  if (status == IDM_OK && !absolute) certify_squares(d, x, f);
  if (status == IDM_OK) certify_scales(d, f);
  if (status == IDM_OK) status = idm_nullspace_design(rank, span, f, opt_error);
  free(span);
  free(key);
  free(c.basis);
  return status;
}

/* Fit at one discount: numbers x and their optimality record. */
static idm_status fit_at(idm_task *task, idm_discounted_sum *sum, double discount, double *x,
                         idm_optimality **ret_optimality, idm_error *opt_error)
{
  const idm_free_utility *free_utility = task->free_utility;
  design d = {0};
  *ret_optimality = NULL;
  idm_status status = make_design(task, sum, discount, &d, opt_error);
  if (status == IDM_OK)
    status = idm_optimality_create(free_utility->count, ret_optimality, opt_error);
  if (status == IDM_OK) status = fit_norm(task, &d, x, *ret_optimality, opt_error);
  if (status == IDM_OK)
    (*ret_optimality)->objective *= task->settings->norm == IDM_NORM_2
                                        ? free_utility->unit * free_utility->unit
                                        : free_utility->unit;
  if (status != IDM_OK) {
    idm_optimality_destroy(*ret_optimality);
    *ret_optimality = NULL;
  }
  free_design(&d);
  return status;
}

static const char *method_of(const idm_task *task)
{
  return task->settings->norm == IDM_NORM_2 ? "least-squares" : "linear-program";
}

/* --- the inverse planner -------------------------------------------------------------------- */

static idm_status find(idm_task *task, idm_discounted_sum *sum, double *x,
                       idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_optimality *f = NULL;
  const idm_status status = fit_at(task, sum, sum->discount, x, &f, opt_error);
  if (status != IDM_OK) return status;
  return idm_estimate_utility(task->inverse, task->problem, task->settings, task->free_utility, x,
                              method_of(task), f, ret_posterior, opt_error);
}

/* Context of fit_discount. */
typedef struct discount_fit {
  idm_task *task;
  idm_discounted_sum *sum;
} discount_fit;

static idm_status fit_discount(void *context, double discount, double *x,
                               idm_optimality **ret_optimality, idm_error *opt_error)
{
  const discount_fit *s = context;
  return fit_at(s->task, s->sum, discount, x, ret_optimality, opt_error);
}

/* Joint estimation of the utility and the discount. */
static idm_status find_discount(idm_task *task, idm_discounted_sum *sum, double *x,
                                idm_posterior **ret_posterior, idm_error *opt_error)
{
  discount_fit s = {task, sum};
  const bool squares = task->settings->norm == IDM_NORM_2;
  const double terms = (double)task->data->trajectories;
  /* Rounding error of a score that is fitted exactly. */
  const double rounding = 1e-10 * largest_score(task->data);
  const idm_discount_search search = {
      .task = task,
      .evidence = "the scores",
      .method = method_of(task),
      .floor = terms * (squares ? rounding * rounding : rounding),
      .terms = terms,
      .squares = squares,
      .fit = fit_discount,
      .context = &s,
      .x = x,
      .reports = true,
  };
  return idm_discount_search_run(&search, ret_posterior, opt_error);
}

static idm_status answer(idm_task *task, idm_posterior **ret_posterior, idm_error *opt_error)
{
  if (task->settings->norm == IDM_NORM_INF)
    return idm_fail(opt_error, IDM_USAGE, "'%s' supports --norm 1 or 2, not inf",
                    task->inverse->name);
  idm_free_utility_rescale(task->free_utility, false, largest_score(task->data));
  idm_discounted_sum *sum = NULL;
  double *x = idm_new(task->free_utility->count, sizeof *x);
  idm_status status = x ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_discounted_sum_create(task->problem, task->data, task->free_utility,
                                       task->inverse->name, &sum, opt_error);
  if (status == IDM_OK)
    status = idm_discount_is_free(task->problem)
                 ? find_discount(task, sum, x, ret_posterior, opt_error)
                 : find(task, sum, x, ret_posterior, opt_error);
  idm_discounted_sum_destroy(sum);
  free(x);
  return status;
}

static const idm_task_method method = {
    .by = IDM_BY_LOG, .activity = "fitting scores", .answer = answer};

static const char *const settings_read[] = {"norm", NULL};

const idm_inverse idm_inverse_distance = {
    .name = "distance",
    .summary = "utilities whose discounted sums are nearest to the trajectories' scores",
    .row = "Distance minimisation",
    .answer = IDM_POINT,
    .target_block = "utility",
    .alone = "scores are discounted sums of utilities: they depend on the discount, which may be "
             "free as well, and not on how actions are chosen",
    .extra_block = "discount",
    .extra_alone = true,
    .columns = 1u << IDM_COLUMN_SCORE,
    .features = true,
    .settings = settings_read,
    .method = &method,
    .fit = idm_task_fit,
};
