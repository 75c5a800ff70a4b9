/* Construction of a table of the log-likelihood on a grid around the mode, which replaces planning.
 *
 * Contents: whether it pays · the mode · the box · filling · the error · construction */
#include "invert/matching/fit.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "belief/belief.h"
#include "invert/cancel.h"
#include "invert/clone.h"

/* Lattices with more points than this make planning slow. */
enum { costly_points = 2000 };
/* Initial number of points per axis, by dimension, and largest number of doublings. */
static const size_t first_axis[IDM_GRID_DIMENSIONS + 1] = {0, 41, 25, 13};
static const int max_doublings[IDM_GRID_DIMENSIONS + 1] = {0, 2, 1, 0};
/* Points of the posterior at which a table is compared with planning, and its largest error there,
 * in nats, as an sd, which bounds the shift of a posterior mean in sds (Cauchy-Schwarz). */
enum { test_points = 32 };
static const double max_error = 0.05;
static const uint64_t table_stream = (uint64_t)6
                                     << 32; /* beyond the streams of the importance check */
/* Fall of the log density at the ends of a table, by dimension: chains propose beyond the
 * posterior, and in one dimension a longer table costs little. */
static const double depths[IDM_GRID_DIMENSIONS + 1] = {0, 40, 20, 20};

/* --- whether it pays ------------------------------------------------------------------------ */

static size_t points_of(size_t dimension, int doublings)
{
  const size_t axis = ((first_axis[dimension] - 1) << doublings) + 1;
  size_t points = 1;
  for (size_t i = 0; i < dimension; i++) points *= axis;
  return points;
}

/* Whether the table needs fewer plans than the chains, which plan at least once per draw, warm-up
 * included. */
static bool saves_plans(const fit_context *f)
{
  const size_t d = f->parameters->dimension;
  const idm_workspace *workspace = idm_matching_workspace(f->matching[0]);
  const double plans =
      (double)f->settings->chains * (double)(f->settings->warmup + f->settings->draws);
  return d <= IDM_GRID_DIMENSIONS && d == f->parameters->items &&
         idm_lattice_is_used(f->problem, workspace) &&
         idm_workspace_points(workspace) > costly_points &&
         plans > (double)(points_of(d, 0) + test_points);
}

/* --- the mode ------------------------------------------------------------------------------- */

typedef struct table_build {
  const fit_context *f;
  idm_likelihood_table *table;
  chain_start *mode_start;
  size_t workers;        /* number of matchings that plan in parallel */
  pthread_mutex_t mutex; /* of the two next fields */
  size_t idle_count;
  idm_matching **idle; /* [workers] */
  size_t cells;
  size_t longest;
  const idm_grid *before; /* grid with half the resolution; NULL: none */
  size_t axis;            /* points per axis of the grid under construction */
  double *density;        /* [point]: log posterior */
  double *test_point;     /* [test point][dimension]: u */
  double *test_error;     /* [test point] */
  idm_status *status;     /* [test point] */
  idm_error *error;       /* [test point] */
} table_build;

/* Find the higher of two modes on a coarser lattice, then refine it on the fit's own. */
static idm_status find_mode(table_build *k, idm_error *opt_error)
{
  const fit_context *f = k->f;
  idm_problem coarse = *f->problem;
  coarse.agent.resolution = k->table->tail_resolution;
  fit_context small;
  chain_start *other = NULL;
  idm_status status = idm_fit_open_cancel(&small, NULL, &coarse, f->data, f->settings, 1,
                                          f->parameters->cancel, opt_error);
  if (status != IDM_OK) return status;
  small.key = f->key;
  status = idm_start_find(&small, 0, k->mode_start, opt_error);
  if (status == IDM_OK) status = idm_start_create(f->parameters->dimension, &other, opt_error);
  small.key++;
  if (status == IDM_OK) status = idm_start_find(&small, 0, other, opt_error);
  if (status == IDM_OK && other->log_density > k->mode_start->log_density) {
    chain_start *lower = k->mode_start;
    k->mode_start = other;
    other = lower;
  }
  idm_start_destroy(other);
  idm_fit_close(&small);
  const idm_target target = idm_matching_target(f->matching[0]);
  idm_matching_warm_start(f->matching[0]);
  return status == IDM_OK ? idm_start_maximise_near(&target, k->mode_start, opt_error) : status;
}

static void prepare_worker(void *context, size_t worker)
{
  table_build *k = context;
  idm_error ignored;
  /* A failure of planning at the mode recurs at its next evaluation. */
  (void)idm_matching_use_surface(k->idle[worker], k->mode_start->mode, k->mode_start->covariance,
                                 &ignored);
}

/* --- the box -------------------------------------------------------------------------------- */

/* Find the extent of the box along coordinate i of u in one direction: where the log density has
 * fallen by about the depth. The covariance of a coarser lattice can be inaccurate if its mode is
 * at a kink. *ret_end is NAN if no end was found. */
static idm_status find_extent(const table_build *k, size_t i, double direction, double *ret_end,
                              idm_error *opt_error)
{
  enum { trials = 12 };
  const idm_target target = idm_matching_target(k->f->matching[0]);
  const double depth = depths[k->table->dimension];
  double u[IDM_GRID_DIMENSIONS] = {0}, y[IDM_GRID_DIMENSIONS], t = sqrt(2 * depth);
  *ret_end = NAN;
  for (int trial = 0; trial < trials; trial++) {
    double trial_density;
    u[i] = direction * t;
    idm_table_unwhiten(k->table, u, y);
    const idm_status status = target.evaluate(target.context, y, &trial_density, NULL, opt_error);
    if (status != IDM_OK) return status;
    const double decrease = fmax(k->mode_start->log_density - trial_density, 0);
    if (decrease >= depth) *ret_end = u[i];
    if (decrease >= depth && decrease < 1.5 * depth) return IDM_OK;
    t *= fmin(fmax(sqrt(1.2 * depth / decrease), 0.1), 4);
  }
  return IDM_OK;
}

/* Set coordinates in which the posterior is about isotropic, and the extent of the box in them. */
static idm_status set_extents(table_build *k, bool *ret_bounded, idm_error *opt_error)
{
  idm_likelihood_table *t = k->table;
  const size_t d = t->dimension;
  idm_status status = IDM_OK;
  memcpy(t->mode, k->mode_start->mode, d * sizeof *t->mode);
  memcpy(t->factor, k->mode_start->covariance, d * d * sizeof *t->factor);
  *ret_bounded = idm_cholesky(d, t->factor);
  for (size_t i = 0; i < d && *ret_bounded && status == IDM_OK; i++) {
    status = find_extent(k, i, -1, &t->low[i], opt_error);
    if (status == IDM_OK) status = find_extent(k, i, 1, &t->high[i], opt_error);
    *ret_bounded = isfinite(t->low[i]) && isfinite(t->high[i]);
  }
  return status;
}

/* --- filling -------------------------------------------------------------------------------- */

static idm_matching *acquire_matching(table_build *k)
{
  pthread_mutex_lock(&k->mutex);
  idm_matching *matching = k->idle[--k->idle_count];
  pthread_mutex_unlock(&k->mutex);
  return matching;
}

static void release_matching(table_build *k, idm_matching *matching)
{
  pthread_mutex_lock(&k->mutex);
  k->idle[k->idle_count++] = matching;
  pthread_mutex_unlock(&k->mutex);
}

/* Index of u in the grid under construction, and whether the coarser grid contains it too. */
static size_t index_of(const table_build *k, const double *u, bool *in_coarser_grid)
{
  size_t index = 0;
  *in_coarser_grid = k->before != NULL;
  for (size_t i = 0; i < k->table->dimension; i++) {
    const double width = k->table->high[i] - k->table->low[i];
    const long at = lround((u[i] - k->table->low[i]) / width * (double)(k->axis - 1));
    index = index * k->axis + (size_t)at;
    *in_coarser_grid = *in_coarser_grid && at % 2 == 0;
  }
  return index;
}

static idm_status evaluate_column(table_build *k, const double *y, double *column,
                                  idm_error *opt_error)
{
  double *row = idm_new(2 * k->longest, sizeof *row);
  if (!row) return idm_fail_memory(opt_error);
  idm_matching *matching = acquire_matching(k);
  const idm_status status = idm_matching_log_likelihood(matching, y, &column[0], NULL, opt_error);
  if (status == IDM_OK && k->cells > 1)
    idm_fit_unit_likelihoods(k->f, matching, k->longest, row, column + 1);
  release_matching(k, matching);
  free(row);
  return status;
}

static idm_status fill_point(void *context, const double *u, double *column, idm_error *opt_error)
{
  table_build *k = context;
  bool in_coarser_grid;
  double y[IDM_GRID_DIMENSIONS];
  const size_t index = index_of(k, u, &in_coarser_grid);
  idm_status status = IDM_OK;
  idm_table_unwhiten(k->table, u, y);
  for (size_t c = 0; in_coarser_grid && c < k->cells; c++) column[c] = idm_grid_at(k->before, c, u);
  if (!in_coarser_grid) status = evaluate_column(k, y, column, opt_error);
  k->density[index] = column[0] + idm_parameters_log_prior(k->f->parameters, y, NULL);
  return status;
}

static bool is_cancelled(void *context)
{
  const table_build *k = context;
  return idm_cancel_check(k->f->parameters->cancel, NULL) != IDM_OK;
}

/* Create a grid with `axis` points per axis; the table's grid remains as the coarser one. */
static idm_status fill_grid(table_build *k, size_t axis, idm_grid **ret_grid, idm_error *opt_error)
{
  idm_likelihood_table *t = k->table;
  double *base = idm_new(k->cells, sizeof *base);
  size_t points = 1;
  for (size_t i = 0; i < t->dimension; i++) points *= axis;
  free(k->density);
  k->axis = axis;
  k->before = t->grid;
  k->density = idm_new(points, sizeof *k->density);
  idm_status status = base && k->density ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = evaluate_column(k, t->mode, base, opt_error);
  if (status == IDM_OK) t->top = base[0];
  const idm_grid_source source = {.dimension = t->dimension,
                                  .low = t->low,
                                  .high = t->high,
                                  .axis = axis,
                                  .cells = k->cells,
                                  .opt_base = base,
                                  .value = fill_point,
                                  .opt_stopped = is_cancelled,
                                  .context = k};
  *ret_grid = NULL;
  if (status == IDM_OK) status = idm_grid_create(&source, (int)k->workers, ret_grid, opt_error);
  if (status == IDM_OK && !*ret_grid)
    status = idm_cancel_check(k->f->parameters->cancel, opt_error);
  t->points = points;
  free(base);
  return status;
}

/* --- the error ------------------------------------------------------------------------------- */

/* Draw test points from the posterior given by the grid, each uniformly within the cell of its grid
 * point. */
static idm_status draw_test_points(const table_build *k, idm_error *opt_error)
{
  const idm_likelihood_table *t = k->table;
  const size_t d = t->dimension;
  idm_random random;
  double *weight = idm_new(t->points, sizeof *weight);
  if (!weight) return idm_fail_memory(opt_error);
  idm_softmax(k->density, t->points, weight);
  idm_random_init(&random, k->f->key, table_stream);
  for (size_t j = 0; j < test_points; j++) {
    size_t at = idm_random_choice(&random, weight, t->points);
    for (size_t i = d; i-- > 0; at /= k->axis) {
      const double step = (t->high[i] - t->low[i]) / (double)(k->axis - 1);
      const double position = (double)(at % k->axis) + idm_random_uniform(&random) - 0.5;
      k->test_point[j * d + i] = fmin(fmax(t->low[i] + step * position, t->low[i]), t->high[i]);
    }
  }
  free(weight);
  return IDM_OK;
}

static void evaluate_test_point(void *context, size_t j)
{
  table_build *k = context;
  double y[IDM_GRID_DIMENSIONS], exact = NAN;
  idm_table_unwhiten(k->table, k->test_point + j * k->table->dimension, y);
  idm_matching *matching = acquire_matching(k);
  k->status[j] = idm_matching_log_likelihood(matching, y, &exact, NULL, &k->error[j]);
  release_matching(k, matching);
  k->test_error[j] = exact - idm_table_at(k->table, y, NULL);
}

/* Compute the sd over the test points of the error of the table. */
static idm_status measure_error(table_build *k, idm_error *opt_error)
{
  idm_status status = draw_test_points(k, opt_error);
  if (status == IDM_OK)
    status = idm_cancel_parallel(k->f->parameters->cancel, test_points, (int)k->workers,
                                 evaluate_test_point, k, opt_error);
  for (size_t j = 0; j < test_points && status == IDM_OK; j++) {
    status = k->status[j];
    if (status != IDM_OK && opt_error) *opt_error = k->error[j];
  }
  const double sd =
      sqrt(idm_squares_about(k->test_error, test_points, idm_mean(k->test_error, test_points)) /
           test_points);
  k->table->error = isfinite(sd) ? sd : INFINITY;
  return status;
}

void idm_table_remark(const idm_likelihood_table *table, idm_notes *notes)
{
  idm_notes_add(notes,
                "the log-likelihood was computed by planning at %zu points around the mode, and "
                "interpolated between them: at %d more its error has an sd of %.2g, and no "
                "posterior mean is off by more posterior sds than that",
                table->points, test_points, table->error);
}

/* --- construction ---------------------------------------------------------------------------- */

/* Refine the grid until its error is acceptable. *ret_usable is false if it never is. */
static idm_status refine(table_build *k, bool *ret_usable, idm_error *opt_error)
{
  idm_likelihood_table *t = k->table;
  size_t axis = first_axis[t->dimension];
  *ret_usable = false;
  for (int i = 0; i <= max_doublings[t->dimension] && !*ret_usable; i++, axis = 2 * axis - 1) {
    idm_grid *finer;
    idm_status status = fill_grid(k, axis, &finer, opt_error);
    if (status != IDM_OK || !finer) return status;
    idm_grid_destroy(t->grid);
    t->grid = finer;
    status = measure_error(k, opt_error);
    if (status != IDM_OK) return status;
    *ret_usable = t->error <= max_error;
  }
  return IDM_OK;
}

static idm_status table_build_init(table_build *k, idm_error *opt_error)
{
  const fit_context *f = k->f;
  const size_t thread_limit = f->settings->threads < 1 ? 1 : (size_t)f->settings->threads;
  const size_t d = f->parameters->dimension;
  k->workers = k->idle_count = thread_limit < f->matchings ? thread_limit : f->matchings;
  k->longest = idm_fit_longest(f);
  k->table = idm_new(1, sizeof *k->table);
  k->idle = idm_duplicate(f->matching, k->workers, sizeof *f->matching);
  k->test_point = idm_new(test_points * d, sizeof *k->test_point);
  k->test_error = idm_new(test_points, sizeof *k->test_error);
  k->status = idm_new(test_points, sizeof *k->status);
  k->error = idm_new(test_points, sizeof *k->error);
  if (!k->table || !k->idle || !k->test_point || !k->test_error || !k->status || !k->error)
    return idm_fail_memory(opt_error);
  k->table->dimension = d;
  const int default_resolution = idm_lattice_default(f->problem->setting->states.count);
  const int own = idm_lattice_resolution(f->problem);
  k->table->tail_resolution = (own < default_resolution ? own : default_resolution) / 3;
  k->table->units = idm_fit_units(f);
  k->cells = 1 + k->table->units;
  return idm_start_create(d, &k->mode_start, opt_error);
}

static void table_build_clear(table_build *k)
{
  idm_start_destroy(k->mode_start);
  free(k->idle);
  free(k->density);
  free(k->test_point);
  free(k->test_error);
  free(k->status);
  free(k->error);
}

idm_status idm_tabulate(const fit_context *f, idm_likelihood_table **ret_table,
                        idm_error *opt_error)
{
  *ret_table = NULL;
  if (!saves_plans(f)) return IDM_OK;
  table_build k = {.f = f};
  bool usable = false;
  pthread_mutex_init(&k.mutex, NULL);
  idm_status status = table_build_init(&k, opt_error);
  if (status == IDM_OK) status = find_mode(&k, opt_error);
  if (status == IDM_OK)
    status = idm_cancel_parallel(f->parameters->cancel, k.workers, (int)k.workers, prepare_worker,
                                 &k, opt_error);
  if (status == IDM_OK) status = set_extents(&k, &usable, opt_error);
  if (status == IDM_OK && usable) status = refine(&k, &usable, opt_error);
  pthread_mutex_destroy(&k.mutex);
  table_build_clear(&k);
  if (status == IDM_OK && usable) {
    *ret_table = k.table;
    return IDM_OK;
  }
  idm_table_destroy(k.table);
  /* If no mode was found, chains start without a table, and report a failure themselves. */
  return status == IDM_NUMERICAL ? IDM_OK : status;
}
