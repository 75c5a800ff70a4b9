/* Tables of log-likelihoods that replace planning, by polynomial interpolation on a regular grid.
 *
 * Contents: grid · table */
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "base/memory.h"
#include "base/system.h"
#include "invert/matching.h"

/* === grid =================================================================================== */

/* Grid of log-likelihoods. */

/* Points per axis, by dimension; points of a stencil (degree plus one), and how many of them lie
 * before the interval. */
static const size_t axis_points[IDM_GRID_DIMENSIONS + 1] = {0, 96, 36, 16};
enum { stencil = 6, stencil_before = 2 };
/* Largest number of stored numbers: 512 MiB. */
static const size_t max_numbers = (size_t)1 << 27;
/* Values of a cell are clamped this far (nats) below its best: such points have no posterior mass,
 * and steep tails would make the polynomials oscillate. */
static const double max_drop = 300;

struct idm_grid {
  size_t dimension;
  size_t axis;   /* points per axis */
  size_t points; /* total; the last coordinate varies fastest */
  size_t cells;
  double low[IDM_GRID_DIMENSIONS];
  double step[IDM_GRID_DIMENSIONS];
  double *base; /* [cell] */
  float *value; /* [cell][point], minus the base */
};

void idm_grid_destroy(idm_grid *grid)
{
  if (!grid) return;
  free(grid->base);
  free(grid->value);
  free(grid);
}

typedef struct fill_job {
  idm_grid *grid;
  const idm_grid_source *source;
  atomic_bool stop;
  pthread_mutex_t mutex; /* guards status and error */
  idm_status status;
  idm_error error;
} fill_job;

static void fail(fill_job *f, idm_status status, const idm_error *error)
{
  pthread_mutex_lock(&f->mutex);
  if (f->status == IDM_OK) {
    f->status = status;
    f->error = *error;
  }
  pthread_mutex_unlock(&f->mutex);
  atomic_store(&f->stop, true);
}

static void fill_point(void *content, size_t point)
{
  fill_job *f = content;
  idm_grid *g = f->grid;
  if (atomic_load(&f->stop)) return;
  double x[IDM_GRID_DIMENSIONS];
  size_t rest = point;
  for (size_t k = g->dimension; k-- > 0; rest /= g->axis)
    x[k] = g->low[k] + (double)(rest % g->axis) * g->step[k];
  idm_error error = {0};
  double *column = idm_new(g->cells, sizeof *column);
  const idm_status status =
      column ? f->source->value(f->source->context, x, column, &error) : idm_fail_memory(&error);
  for (size_t c = 0; status == IDM_OK && c < g->cells; c++)
    g->value[c * g->points + point] = (float)(column[c] - g->base[c]);
  free(column);
  if (status != IDM_OK) fail(f, status, &error);
}

static void poll_stop(void *content)
{
  fill_job *f = content;
  if (f->source->opt_stopped(f->source->context)) atomic_store(&f->stop, true);
}

static void clamp_values(idm_grid *g)
{
  for (size_t c = 0; c < g->cells; c++) {
    float *value = g->value + c * g->points;
    float best = -INFINITY;
    for (size_t i = 0; i < g->points; i++) best = value[i] > best ? value[i] : best;
    const float floor_value = isfinite(best) ? best - (float)max_drop : 0;
    for (size_t i = 0; i < g->points; i++)
      value[i] = value[i] > floor_value ? value[i] : floor_value;
  }
}

/* Points per axis within the memory limit; 0 if too few for the stencil. */
static size_t axis_length(const idm_grid_source *source)
{
  if (!source->dimension || source->dimension > IDM_GRID_DIMENSIONS) return 0;
  size_t axis = source->axis ? source->axis : axis_points[source->dimension];
  for (; axis >= stencil + 2; axis--) {
    size_t points = source->cells;
    for (size_t k = 0; k < source->dimension; k++) points = idm_times(points, axis);
    if (points <= max_numbers) return axis;
  }
  return 0;
}

static idm_status make_grid(const idm_grid_source *source, size_t axis, idm_grid **ret_grid,
                            idm_error *opt_error)
{
  idm_grid *g = *ret_grid = idm_new(1, sizeof *g);
  if (!g) return idm_fail_memory(opt_error);
  assert(source->dimension <= IDM_GRID_DIMENSIONS);
  g->dimension = source->dimension;
  g->axis = axis;
  g->points = 1;
  g->cells = source->cells;
  for (size_t k = 0; k < g->dimension; k++) {
    g->points *= axis;
    g->low[k] = source->low[k];
    g->step[k] = (source->high[k] - source->low[k]) / (double)(axis - 1);
  }
  g->base = idm_new(g->cells, sizeof *g->base);
  g->value = idm_new(g->cells * g->points, sizeof *g->value);
  if (!g->base || !g->value) return idm_fail_memory(opt_error);
  for (size_t c = 0; source->opt_base && c < g->cells; c++) g->base[c] = source->opt_base[c];
  return IDM_OK;
}

static idm_status fill(idm_grid *grid, const idm_grid_source *source, int threads,
                       bool *ret_complete, idm_error *opt_error)
{
  fill_job f = {.grid = grid, .source = source};
  pthread_mutex_init(&f.mutex, NULL);
  const idm_status status = idm_parallel(grid->points, threads, fill_point,
                                         source->opt_stopped ? poll_stop : NULL, &f, opt_error);
  pthread_mutex_destroy(&f.mutex);
  *ret_complete = !atomic_load(&f.stop);
  if (status != IDM_OK || f.status == IDM_OK) return status;
  if (opt_error) *opt_error = f.error;
  return f.status;
}

idm_status idm_grid_create(const idm_grid_source *source, int threads, idm_grid **ret_grid,
                           idm_error *opt_error)
{
  *ret_grid = NULL;
  const size_t axis = axis_length(source);
  if (!axis) return IDM_OK;
  idm_grid *g;
  bool is_complete = false;
  idm_status status = make_grid(source, axis, &g, opt_error);
  if (status == IDM_OK) status = fill(g, source, threads, &is_complete, opt_error);
  if (status != IDM_OK || !is_complete) {
    idm_grid_destroy(g);
    return status;
  }
  clamp_values(g);
  *ret_grid = g;
  return IDM_OK;
}

/* Transfers the contents of an allocated grid to or from a record. */
static void pass(idm_grid *g, idm_record *record)
{
  idm_record_transfer(record, g->low, sizeof g->low);
  idm_record_transfer(record, g->step, sizeof g->step);
  idm_record_transfer(record, g->base, g->cells * sizeof *g->base);
  idm_record_transfer(record, g->value, g->cells * g->points * sizeof *g->value);
}

void idm_grid_write(const idm_grid *grid, idm_record *record)
{
  idm_grid copy = *grid; /* writing does not modify what is transferred */
  uint64_t axis = grid->axis;
  idm_record_transfer(record, &axis, sizeof axis);
  pass(&copy, record);
}

idm_grid *idm_grid_read(size_t dimension, size_t cells, idm_record *record)
{
  static const double ends[IDM_GRID_DIMENSIONS] = {0};
  const idm_grid_source source = {
      .dimension = dimension, .low = ends, .high = ends, .cells = cells};
  uint64_t axis = 0;
  idm_grid *g = NULL;
  idm_record_transfer(record, &axis, sizeof axis);
  const idm_grid_source stored_source = {
      .dimension = dimension, .axis = (size_t)axis, .cells = cells};
  if (record->truncated || axis < stencil + 2 || axis_length(&stored_source) != axis) return NULL;
  if (make_grid(&source, (size_t)axis, &g, NULL) == IDM_OK) pass(g, record);
  if (g && g->value && !record->truncated) return g;
  idm_grid_destroy(g);
  return NULL;
}

/* Lagrange weights of the stencil's values at position x within the stencil. */
static void lagrange_weights(double x, double weight[stencil])
{
  static const double scale[stencil] = {-1.0 / 120, 1.0 / 24,  -1.0 / 12,
                                        1.0 / 12,   -1.0 / 24, 1.0 / 120};
  double below = 1;
  for (int k = 0; k < stencil; k++) {
    weight[k] = below * scale[k];
    below *= x - k;
  }
  double above = 1;
  for (int k = stencil; k-- > 0;) {
    weight[k] *= above;
    above *= x - k;
  }
}

/* Position of x: its stencil, and the cell within the stencil. */
typedef struct stencil_position {
  size_t at[IDM_GRID_DIMENSIONS];   /* first point of the stencil, per axis */
  size_t left[IDM_GRID_DIMENSIONS]; /* left corner of the cell, relative to `at` */
  double weight[IDM_GRID_DIMENSIONS][stencil];
} stencil_position;

static stencil_position locate_stencil(const idm_grid *g, const double *x)
{
  stencil_position p = {0};
  for (size_t k = 0; k < g->dimension; k++) {
    const double last = (double)(g->axis - 1);
    const double position = fmin(fmax((x[k] - g->low[k]) / g->step[k], 0), last);
    const double base = fmin(fmax(floor(position) - stencil_before, 0), last - (stencil - 1));
    const double left = fmin(floor(position - base), stencil - 2);
    p.at[k] = (size_t)base;
    p.left[k] = (size_t)left;
    lagrange_weights(position - base, p.weight[k]);
  }
  return p;
}

/* Distance in the array between neighbours along an axis. */
static size_t stride(const idm_grid *g, size_t axis)
{
  size_t stride = 1;
  for (size_t k = axis + 1; k < g->dimension; k++) stride *= g->axis;
  return stride;
}

/* Limits the interpolated value to the range of the corners of its cell, extended by the overshoot
 * of a parabola with the smallest curvature there. Near a steep drop polynomials oscillate and
 * would produce spurious maxima. */
static double limit_overshoot(const idm_grid *g, const stencil_position *p, const float *value,
                              double interpolated)
{
  size_t strides[IDM_GRID_DIMENSIONS];
  size_t origin = 0;
  double low = INFINITY, high = -INFINITY;
  double curvature[IDM_GRID_DIMENSIONS];
  for (size_t k = 0; k < g->dimension; k++) {
    strides[k] = stride(g, k);
    origin += (p->at[k] + p->left[k]) * strides[k];
    curvature[k] = INFINITY;
  }
  for (size_t corner = 0; corner < (size_t)1 << g->dimension; corner++) {
    size_t index = origin;
    for (size_t k = 0; k < g->dimension; k++) index += (corner >> k & 1) * strides[k];
    low = fmin(low, (double)value[index]);
    high = fmax(high, (double)value[index]);
    for (size_t k = 0; k < g->dimension; k++) {
      const size_t along = p->at[k] + p->left[k] + (corner >> k & 1);
      if (along == 0 || along + 1 == g->axis) continue;
      const float *v = value + index;
      const double second = (double)v[strides[k]] - 2 * (double)v[0] + (double)*(v - strides[k]);
      curvature[k] = fmin(curvature[k], fabs(second));
    }
  }
  double margin = 0;
  for (size_t k = 0; k < g->dimension; k++) margin += curvature[k] / 8;
  return fmin(fmax(interpolated, low - margin), high + margin);
}

/* Values of the stencil, weighted along every axis. */
static double interpolate(const idm_grid *g, const stencil_position *p, const float *value,
                          const double *const weight[IDM_GRID_DIMENSIONS])
{
  assert(g->dimension >= 1 && g->dimension <= IDM_GRID_DIMENSIONS);
  const size_t blocks = g->dimension == 3 ? stencil : 1;
  const size_t rows = g->dimension >= 2 ? stencil : 1;
  const double *columns = weight[g->dimension - 1];
  double sum = 0;
  for (size_t i = 0; i < blocks; i++)
    for (size_t j = 0; j < rows; j++) {
      size_t row = g->dimension == 3 ? p->at[0] + i : 0;
      if (g->dimension >= 2) row = row * g->axis + p->at[g->dimension - 2] + j;
      const float *from = value + row * g->axis + p->at[g->dimension - 1];
      double part = 0;
      for (size_t k = 0; k < stencil; k++) part += columns[k] * (double)from[k];
      if (g->dimension >= 2) part *= weight[g->dimension - 2][j];
      if (g->dimension == 3) part *= weight[0][i];
      sum += part;
    }
  return sum;
}

double idm_grid_at(const idm_grid *g, size_t cell, const double *x)
{
  const stencil_position p = locate_stencil(g, x);
  const float *value = g->value + cell * g->points;
  const double *const weight[IDM_GRID_DIMENSIONS] = {p.weight[0], p.weight[1], p.weight[2]};
  return g->base[cell] + limit_overshoot(g, &p, value, interpolate(g, &p, value, weight));
}

/* Derivatives of the Lagrange weights at position x within the stencil. */
static void lagrange_derivatives(double x, double gradient[stencil])
{
  for (int k = 0; k < stencil; k++) {
    double is_complete = 1;
    gradient[k] = 0;
    for (int j = 0; j < stencil; j++) {
      if (j == k) continue;
      double part = 1;
      for (int i = 0; i < stencil; i++)
        if (i != k && i != j) part *= x - i;
      gradient[k] += part;
      is_complete *= k - j;
    }
    gradient[k] /= is_complete;
  }
}

void idm_grid_gradient(const idm_grid *g, size_t cell, const double *x, double *gradient)
{
  const stencil_position p = locate_stencil(g, x);
  const float *value = g->value + cell * g->points;
  for (size_t k = 0; k < g->dimension; k++) {
    double along[stencil];
    const double *weight[IDM_GRID_DIMENSIONS] = {p.weight[0], p.weight[1], p.weight[2]};
    lagrange_derivatives((x[k] - g->low[k]) / g->step[k] - (double)p.at[k], along);
    weight[k] = along;
    gradient[k] = interpolate(g, &p, value, weight) / g->step[k];
  }
}

void idm_grid_clamp(const idm_grid *g, const double *x, double *nearest)
{
  for (size_t k = 0; k < g->dimension; k++) {
    const double high = g->low[k] + g->step[k] * (double)(g->axis - 1);
    nearest[k] = fmin(fmax(x[k], g->low[k]), high);
  }
}

/* === table ================================================================================== */

/* Table of log-likelihoods around a mode. */

void idm_table_destroy(idm_likelihood_table *table)
{
  if (!table) return;
  idm_grid_destroy(table->grid);
  free(table);
}

void idm_table_whiten(const idm_likelihood_table *t, const double *y, double *u)
{
  for (size_t i = 0; i < t->dimension; i++) u[i] = y[i] - t->mode[i];
  idm_lower_solve(t->dimension, t->factor, u);
}

void idm_table_unwhiten(const idm_likelihood_table *t, const double *u, double *y)
{
  memcpy(y, u, t->dimension * sizeof *y);
  idm_lower_multiply(t->dimension, t->factor, y);
  for (size_t i = 0; i < t->dimension; i++) y[i] += t->mode[i];
}

bool idm_table_contains(const idm_likelihood_table *t, const double *y)
{
  double u[IDM_GRID_DIMENSIONS];
  bool inside = true;
  idm_table_whiten(t, y, u);
  for (size_t i = 0; i < t->dimension; i++)
    inside = inside && u[i] >= t->low[i] && u[i] <= t->high[i];
  return inside;
}

double idm_table_at(const idm_likelihood_table *t, const double *y, double *opt_gradient)
{
  double u[IDM_GRID_DIMENSIONS];
  idm_table_whiten(t, y, u);
  if (opt_gradient) {
    idm_grid_gradient(t->grid, 0, u, opt_gradient);
    idm_lower_solve_transposed(t->dimension, t->factor, opt_gradient);
  }
  return idm_grid_at(t->grid, 0, u);
}

void idm_table_units(const idm_likelihood_table *t, const double *y, double *to)
{
  double u[IDM_GRID_DIMENSIONS];
  idm_table_whiten(t, y, u);
  for (size_t i = 0; i < t->units; i++) to[i] = idm_grid_at(t->grid, 1 + i, u);
}
