/* The inverse planner `distance`: utilities whose discounted sums are the trajectories' scores. */
#include <math.h>
#include <stdio.h>

#include "base/least.h"
#include "base/memory.h"
#include "idm/data.h"
#include "infer/program.h"
#include "invert/utility/answer.h"
#include "invert/utility/asked.h"
#include "invert/utility/open.h"

extern const idm_inverse idm_inverse_distance; /* registered below */

/* Scores, and what each is a sum of: row h has sum_t discount^t d utility(s_t, u_t) / d number, and
 * score less what held entries add. */
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

static idm_status add_row(const idm_world *world, const idm_data *data, const idm_sought *sought,
                          const int32_t *state, size_t t, design *d, idm_error *opt_error)
{
  double *row = d->a + d->rows * d->columns;
  double weight = 1;
  d->b[d->rows] = data->number[IDM_COLUMN_SCORE][t];
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
    if (sought->number[entry] >= 0)
      row[sought->number[entry]] += weight;
    else
      d->b[d->rows] -= weight * sought->held[entry];
  }
  d->rows++;
  return IDM_OK;
}

static idm_status make_design(const idm_world *world, const idm_problem *problem,
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

/* min sum t where t_h >= +-(a x - b)_h. */
static idm_status fit_absolute(const design *d, double *x, idm_finding *f, idm_error *opt_error)
{
  idm_program *program = NULL;
  idm_program_solution found;
  idm_status status = idm_program_create(d->columns + d->rows, &program, opt_error);
  for (size_t h = 0; h < d->rows && status == IDM_OK; h++)
    for (int sign = -1; sign <= 1 && status == IDM_OK; sign += 2) {
      for (size_t j = 0; j < d->columns && status == IDM_OK; j++)
        if (d->a[h * d->columns + j] != 0)
          status = idm_program_enter(program, j, sign * d->a[h * d->columns + j], opt_error);
      if (status == IDM_OK) status = idm_program_enter(program, d->columns + h, 1, opt_error);
      if (status == IDM_OK) status = idm_program_add(program, sign * d->b[h], INFINITY, opt_error);
    }
  for (size_t h = 0; h < d->rows && status == IDM_OK; h++)
    idm_program_set_cost(program, d->columns + h, 1);
  if (status == IDM_OK) status = idm_program_solve(program, NULL, NULL, &found, opt_error);
  if (status == IDM_OK && found.end != IDM_PROGRAM_SOLVED)
    status = idm_fail(opt_error, IDM_NUMERICAL, "the sum of distances could not be minimised");
  if (status == IDM_OK) {
    memcpy(x, found.x, d->columns * sizeof *x);
    f->objective = 0;
    for (size_t h = 0; h < d->rows; h++) f->objective += fabs(residual(d, h, x));
    snprintf(f->certificate, sizeof f->certificate, "duality gap");
    f->attained = fmax(found.gap, found.violation);
    f->closed = 1e-9;
  }
  idm_program_destroy(program);
  return status;
}

/* --- the inverse planner -------------------------------------------------------------------- */

static idm_status find(const idm_asked *asked, idm_posterior **ret_posterior, idm_error *opt_error)
{
  const idm_sought *sought = asked->sought;
  const idm_fit_settings *settings = asked->settings;
  design d = {0};
  idm_finding *f = NULL;
  double *span = NULL;
  size_t rank = 0;
  double *x = idm_new(sought->count, sizeof *x);
  idm_status status = x ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = make_design(asked->world, asked->problem, asked->data, sought, &d, opt_error);
  if (status == IDM_OK) status = idm_finding_create(sought->count, &f, opt_error);
  if (status == IDM_OK) status = fit_squares(&d, x, &span, &rank, opt_error);
  if (status == IDM_OK) status = idm_open_design(rank, span, f, opt_error);
  if (status == IDM_OK && settings->norm == IDM_NORM_2) certify_squares(&d, x, f);
  if (status == IDM_OK && settings->norm == IDM_NORM_1) status = fit_absolute(&d, x, f, opt_error);
  if (status == IDM_OK)
    status = idm_answer_utility(asked->inverse, asked->problem, settings, sought, x,
                                settings->norm == IDM_NORM_2 ? "least-squares" : "linear-program",
                                f, ret_posterior, opt_error);
  else
    idm_finding_destroy(f);
  free(span);
  free(x);
  clear(&d);
  return status;
}

static idm_status fit_distance(const idm_problem *problem, const idm_data *data,
                               const idm_fit_settings *settings, const idm_fit_watch *opt_watch,
                               idm_posterior **ret_posterior, idm_notes *opt_notes,
                               idm_error *opt_error)
{
  idm_asked asked;
  *ret_posterior = NULL;
  idm_status status = idm_asked_open(&asked, &idm_inverse_distance, problem, data, settings,
                                     opt_watch, "explaining scores", opt_notes, opt_error);
  if (status == IDM_OK && settings->norm == IDM_NORM_INF)
    status = idm_fail(opt_error, IDM_USAGE, "'%s' takes --norm 1 or 2, not inf",
                      idm_inverse_distance.name);
  if (status == IDM_OK) status = find(&asked, ret_posterior, opt_error);
  idm_asked_close(&asked);
  return status;
}

static const char *const settings_read[] = {"norm", NULL};

const idm_inverse idm_inverse_distance = {
    .name = "distance",
    .summary = "utilities whose discounted sums come nearest to the trajectories' scores",
    .row = "Distance minimisation",
    .answer = IDM_POINT,
    .finds = "utility",
    .columns = 1u << IDM_COLUMN_SCORE,
    .settings = settings_read,
    .fit = fit_distance,
};
