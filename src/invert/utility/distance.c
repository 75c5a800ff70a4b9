/* The inverse planner `distance`: utilities whose discounted sums are the trajectories' scores. */
#include <math.h>
#include <stdio.h>

#include "base/least.h"
#include "base/memory.h"
#include "idm/data.h"
#include "infer/program.h"
#include "invert/utility/answer.h"
#include "invert/utility/asked.h"
#include "invert/utility/face.h"
#include "invert/utility/open.h"

extern const idm_inverse idm_inverse_distance; /* registered below */

/* Scores, and what each is a sum of: row h has sum_t discount^t d utility(s_t, u_t) / d number, and
 * score less what held entries add, in units. */
typedef struct design {
  size_t rows;
  size_t columns;
  double *a; /* [rows][columns] */
  double *b; /* [rows] */
} design;

/* A column that is left with less than this share of the largest is a combination of others. */
static const double tolerance = 1e-11;

/* --- design --------------------------------------------------------------------------------- */

static void clear(design *d)
{
  free(d->a);
  free(d->b);
}

static idm_status add_row(const idm_mdp *world, const idm_data *data, const idm_sought *sought,
                          const int32_t *state, size_t t, design *d, idm_error *opt_error)
{
  double *row = d->a + d->rows * d->columns;
  double weight = 1;
  d->b[d->rows] = data->number[IDM_COLUMN_SCORE][t] / sought->unit;
  for (size_t r = data->first[t]; r < data->first[t + 1]; r++, weight *= world->discount) {
    const bool last = r + 1 == data->first[t + 1];
    if (data->action[r] == IDM_MISSING && last) break; /* a state that was come to */
    if (data->action[r] == IDM_MISSING || state[r] == IDM_MISSING) {
      const idm_status status =
          idm_fail(opt_error, IDM_INPUT,
                   "the trajectory has a score, and %s here is not recorded: nobody can say what "
                   "the score is a sum of",
                   data->action[r] == IDM_MISSING ? "the action" : "the state");
      idm_data_locate(data, r, opt_error);
      return status;
    }
    const size_t entry = (size_t)data->action[r] * world->n.states + (size_t)state[r];
    d->b[d->rows] -= idm_sought_add(sought, entry, weight, row);
  }
  d->rows++;
  return IDM_OK;
}

static double largest_score(const idm_data *data)
{
  double largest = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    largest = fmax(largest, fabs(data->number[IDM_COLUMN_SCORE][t]));
  return largest;
}

static idm_status make_design(const idm_mdp *world, const idm_problem *problem,
                              const idm_data *data, const idm_sought *sought, design *d,
                              idm_error *opt_error)
{
  *d = (design){.columns = sought->count};
  int32_t *state = idm_new(data->rows, sizeof *state);
  d->a = idm_new(idm_times(data->trajectories, sought->count), sizeof *d->a);
  d->b = idm_new(data->trajectories, sizeof *d->b);
  idm_status status = state && d->a && d->b ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) idm_demonstrator_states(data, problem->setting, state);
  for (size_t t = 0; t < data->trajectories && status == IDM_OK; t++)
    status = add_row(world, data, sought, state, t, d, opt_error);
  free(state);
  return status;
}

static double residual(const design *d, size_t row, const double *x)
{
  double sum = -d->b[row];
  for (size_t j = 0; j < d->columns; j++) sum += d->a[row * d->columns + j] * x[j];
  return sum;
}

/* --- sums of squares ------------------------------------------------------------------------ */

/* Least squares of least norm; and rows that span what the design says, in *ret_span. */
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

/* Sum of squares, and its gradient relative to the largest term that enters it. */
static void certify_squares(const design *d, const double *x, idm_finding *f)
{
  double worst = 0;
  f->objective = 0;
  for (size_t h = 0; h < d->rows; h++) f->objective += residual(d, h, x) * residual(d, h, x);
  for (size_t j = 0; j < d->columns; j++) {
    double slope = 0;
    double size = 1;
    for (size_t h = 0; h < d->rows; h++) {
      const double term = d->a[h * d->columns + j];
      slope += term * residual(d, h, x);
      size = fmax(size, fabs(term) * fmax(fabs(d->b[h]), fabs(residual(d, h, x) + d->b[h])));
    }
    worst = fmax(worst, fabs(slope) / size);
  }
  snprintf(f->certificate, sizeof f->certificate, "gradient norm");
  f->attained = worst;
  f->closed = 1e-9;
}

/* --- sums of absolute values ---------------------------------------------------------------- */

/* Coordinates y of what the design says of the numbers: x = sum_r y_r basis[r], and what is open is
 * left out. x is as long as y. */
typedef struct coordinates {
  size_t rank;
  double *basis; /* [rank][columns]: orthonormal */
} coordinates;

/* Rows that span them, made orthonormal: by Gram and Schmidt, twice. */
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

/* min sum t where t_h >= +-(a x - b)_h, x by its coordinates. */
static idm_status make_program(const design *d, const coordinates *c, idm_program **ret_program,
                               idm_error *opt_error)
{
  idm_status status = idm_program_create(c->rank + d->rows, ret_program, opt_error);
  for (size_t h = 0; h < d->rows && status == IDM_OK; h++)
    for (int sign = -1; sign <= 1 && status == IDM_OK; sign += 2) {
      for (size_t r = 0; r < c->rank && status == IDM_OK; r++) {
        const double value = along(c, r, d->a + h * d->columns, d->columns);
        if (value != 0) status = idm_program_enter(*ret_program, r, sign * value, opt_error);
      }
      if (status == IDM_OK) status = idm_program_enter(*ret_program, c->rank + h, 1, opt_error);
      if (status == IDM_OK)
        status = idm_program_add(*ret_program, sign * d->b[h], INFINITY, opt_error);
    }
  for (size_t h = 0; h < d->rows && status == IDM_OK; h++)
    idm_program_set_cost(*ret_program, c->rank + h, 1);
  return status;
}

static const char no_least[] = "the sum of distances could not be minimised";

static void certify_absolute(const design *d, const double *x, const idm_face *face, idm_finding *f)
{
  f->objective = 0;
  for (size_t h = 0; h < d->rows; h++) f->objective += fabs(residual(d, h, x));
  snprintf(f->certificate, sizeof f->certificate, "duality gap");
  f->attained = face->attained;
  f->closed = 1e-9;
  if (!face->only)
    idm_notes_add(&f->words, "%s",
                  face->nearest
                      ? "other utilities come as near to the scores; this is the one of least norm"
                      : "other utilities come as near to the scores; this is one of them");
}

/* Of all that come as near the least one, as for squares: it has no part in what is open, so that
 * coordinates leave it out. */
static idm_status fit_absolute(const design *d, const coordinates *c, const double *key, double *x,
                               idm_finding *f, idm_halt *halt, idm_error *opt_error)
{
  idm_program *program = NULL;
  double *work = idm_new(3 * c->rank + d->rows, sizeof *work);
  idm_face face = {.count = c->rank};
  idm_status status = work ? make_program(d, c, &program, opt_error) : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    double *weight = work + c->rank + d->rows;
    double *turned = weight + c->rank;
    for (size_t r = 0; r < c->rank; r++) {
      weight[r] = 1;
      turned[r] = along(c, r, key, d->columns);
    }
    face.x = work;
    face.weight = weight;
    face.key = turned;
    status = idm_face_choose(program, no_least, no_least, &face, halt, opt_error);
  }
  if (status == IDM_OK) {
    memset(x, 0, d->columns * sizeof *x);
    for (size_t r = 0; r < c->rank; r++)
      for (size_t j = 0; j < d->columns; j++) x[j] += face.x[r] * c->basis[r * d->columns + j];
    certify_absolute(d, x, &face, f);
  }
  idm_program_destroy(program);
  free(work);
  return status;
}

/* The least of the sums that a norm asks for, what shows it, and what is open. */
static idm_status fit_norm(idm_asked *asked, const design *d, double *x, idm_finding *f,
                           idm_error *opt_error)
{
  const bool absolute = asked->settings->norm == IDM_NORM_1;
  double *span = NULL;
  size_t rank = 0;
  coordinates c = {.basis = idm_new(idm_times(d->columns, d->columns), sizeof *c.basis)};
  double *key = idm_new(d->columns, sizeof *key);
  idm_status status = c.basis && key ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = fit_squares(d, x, &span, &rank, opt_error);
  if (status == IDM_OK && absolute) {
    set_coordinates(span, rank, d->columns, &c);
    status = idm_sought_keys(asked->problem, asked->sought, key, opt_error);
    if (status == IDM_OK) status = fit_absolute(d, &c, key, x, f, &asked->halt, opt_error);
  }
  if (status == IDM_OK && !absolute) certify_squares(d, x, f);
  if (status == IDM_OK) status = idm_open_design(rank, span, f, opt_error);
  free(span);
  free(key);
  free(c.basis);
  return status;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static idm_status find(idm_asked *asked, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_sought *sought = asked->sought;
  const idm_fit_settings *settings = asked->settings;
  design d = {0};
  idm_finding *f = NULL;
  double *x = idm_new(sought->count, sizeof *x);
  idm_status status = x ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = make_design(asked->world, asked->problem, asked->data, sought, &d, opt_error);
  if (status == IDM_OK) status = idm_finding_create(sought->count, &f, opt_error);
  if (status == IDM_OK) status = fit_norm(asked, &d, x, f, opt_error);
  if (status == IDM_OK)
    f->objective *= settings->norm == IDM_NORM_2 ? sought->unit * sought->unit : sought->unit;
  if (status == IDM_OK)
    status = idm_answer_utility(asked->inverse, asked->problem, settings, sought, x,
                                settings->norm == IDM_NORM_2 ? "least-squares" : "linear-program",
                                f, ret_posterior, opt_error);
  else
    idm_finding_destroy(f);
  free(x);
  clear(&d);
  return status;
}

static idm_status answer(idm_asked *asked, idm_posterior **ret_posterior, idm_error *opt_error)
{
  if (asked->settings->norm == IDM_NORM_INF)
    return idm_fail(opt_error, IDM_USAGE, "'%s' takes --norm 1 or 2, not inf",
                    asked->inverse->name);
  idm_sought_measure(asked->sought, false, largest_score(asked->data));
  return find(asked, ret_posterior, opt_error);
}

static const idm_asked_method method = {
    .by = IDM_BY_STATES, .doing = "explaining scores", .answer = answer};

static const char *const settings_read[] = {"norm", NULL};

const idm_inverse idm_inverse_distance = {
    .name = "distance",
    .summary = "utilities whose discounted sums come nearest to the trajectories' scores",
    .row = "Distance minimisation",
    .answer = IDM_POINT,
    .finds = "utility",
    .alone = "scores are discounted sums of utilities, and how actions are chosen does not enter "
             "them; the discount is one that is given",
    .columns = 1u << IDM_COLUMN_SCORE,
    .features = true,
    .settings = settings_read,
    .method = &method,
    .fit = idm_asked_fit,
};
