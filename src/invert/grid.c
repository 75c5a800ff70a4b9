/* A grid of log-likelihoods: see the header. */
#include "invert/grid.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/parallel.h"

/* Points an axis, by dimension; points of a stencil, one more than the
 * degree, and those of them before the interval. */
static const size_t axis_points[IDM_GRID_DIMENSIONS + 1] = {0, 96, 36, 16};
enum { stencil = 6, before = 2 };
/* Numbers altogether: 512 MiB. */
static const size_t most_numbers = (size_t)1 << 27;
/* Below its best a cell's value is held: nobody goes there, and polynomials need not follow. */
static const double depth = 300;

struct idm_grid {
  size_t dimension;
  size_t axis;   /* points an axis */
  size_t points; /* altogether; the last coordinate runs fastest */
  size_t cells;
  double low[IDM_GRID_DIMENSIONS];
  double step[IDM_GRID_DIMENSIONS];
  double *base; /* [cell] */
  float *value; /* [cell][point], less the base */
};

void idm_grid_destroy(idm_grid *grid)
{
  if (!grid) return;
  free(grid->base);
  free(grid->value);
  free(grid);
}

typedef struct filling {
  idm_grid *grid;
  const idm_grid_source *source;
  atomic_bool stop;
  pthread_mutex_t mutex; /* of status and error */
  idm_status status;
  idm_error error;
} filling;

static void fail(filling *f, idm_status status, const idm_error *error)
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
  filling *f = content;
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

static void look(void *content)
{
  filling *f = content;
  if (f->source->opt_stopped(f->source->context)) atomic_store(&f->stop, true);
}

static void hold_depth(idm_grid *g)
{
  for (size_t c = 0; c < g->cells; c++) {
    float *value = g->value + c * g->points;
    float best = -INFINITY;
    for (size_t i = 0; i < g->points; i++) best = value[i] > best ? value[i] : best;
    const float least = isfinite(best) ? best - (float)depth : 0;
    for (size_t i = 0; i < g->points; i++) value[i] = value[i] > least ? value[i] : least;
  }
}

/* Points an axis that memory allows; 0: none worth having. */
static size_t axis_of(const idm_grid_source *source)
{
  if (!source->dimension || source->dimension > IDM_GRID_DIMENSIONS) return 0;
  size_t axis = source->axis ? source->axis : axis_points[source->dimension];
  for (; axis >= stencil + 2; axis--) {
    size_t points = source->cells;
    for (size_t k = 0; k < source->dimension; k++) points = idm_times(points, axis);
    if (points <= most_numbers) return axis;
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

static idm_status fill(idm_grid *grid, const idm_grid_source *source, int threads, bool *ret_whole,
                       idm_error *opt_error)
{
  filling f = {.grid = grid, .source = source};
  pthread_mutex_init(&f.mutex, NULL);
  const idm_status status = idm_parallel(grid->points, threads, fill_point,
                                         source->opt_stopped ? look : NULL, &f, opt_error);
  pthread_mutex_destroy(&f.mutex);
  *ret_whole = !atomic_load(&f.stop);
  if (status != IDM_OK || f.status == IDM_OK) return status;
  if (opt_error) *opt_error = f.error;
  return f.status;
}

idm_status idm_grid_create(const idm_grid_source *source, int threads, idm_grid **ret_grid,
                           idm_error *opt_error)
{
  *ret_grid = NULL;
  const size_t axis = axis_of(source);
  if (!axis) return IDM_OK;
  idm_grid *g;
  bool whole = false;
  idm_status status = make_grid(source, axis, &g, opt_error);
  if (status == IDM_OK) status = fill(g, source, threads, &whole, opt_error);
  if (status != IDM_OK || !whole) {
    idm_grid_destroy(g);
    return status;
  }
  hold_depth(g);
  *ret_grid = g;
  return IDM_OK;
}

/* What a record holds of a grid whose shape is there. */
static void pass(idm_grid *g, idm_record *record)
{
  idm_record_pass(record, g->low, sizeof g->low);
  idm_record_pass(record, g->step, sizeof g->step);
  idm_record_pass(record, g->base, g->cells * sizeof *g->base);
  idm_record_pass(record, g->value, g->cells * g->points * sizeof *g->value);
}

void idm_grid_write(const idm_grid *grid, idm_record *record)
{
  idm_grid copy = *grid; /* what is passed is only read */
  uint64_t axis = grid->axis;
  idm_record_pass(record, &axis, sizeof axis);
  pass(&copy, record);
}

idm_grid *idm_grid_read(size_t dimension, size_t cells, idm_record *record)
{
  static const double ends[IDM_GRID_DIMENSIONS] = {0};
  const idm_grid_source source = {
      .dimension = dimension, .low = ends, .high = ends, .cells = cells};
  uint64_t axis = 0;
  idm_grid *g = NULL;
  idm_record_pass(record, &axis, sizeof axis);
  const idm_grid_source same = {.dimension = dimension, .axis = (size_t)axis, .cells = cells};
  if (record->cut || axis < stencil + 2 || axis_of(&same) != axis) return NULL;
  if (make_grid(&source, (size_t)axis, &g, NULL) == IDM_OK) pass(g, record);
  if (g && g->value && !record->cut) return g;
  idm_grid_destroy(g);
  return NULL;
}

/* Weights of the stencil's values at position x among them (Lagrange). */
static void weigh(double x, double weight[stencil])
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

/* Where x stands: the stencil, and the cell within it. */
typedef struct place {
  size_t at[IDM_GRID_DIMENSIONS];   /* first point of the stencil, by axis */
  size_t left[IDM_GRID_DIMENSIONS]; /* of the cell, from there */
  double weight[IDM_GRID_DIMENSIONS][stencil];
} place;

static place find(const idm_grid *g, const double *x)
{
  place p = {0};
  for (size_t k = 0; k < g->dimension; k++) {
    const double last = (double)(g->axis - 1);
    const double here = fmin(fmax((x[k] - g->low[k]) / g->step[k], 0), last);
    const double base = fmin(fmax(floor(here) - before, 0), last - (stencil - 1));
    const double left = fmin(floor(here - base), stencil - 2);
    p.at[k] = (size_t)base;
    p.left[k] = (size_t)left;
    weigh(here - base, p.weight[k]);
  }
  return p;
}

/* How far along an axis is in the array. */
static size_t stride(const idm_grid *g, size_t axis)
{
  size_t stride = 1;
  for (size_t k = axis + 1; k < g->dimension; k++) stride *= g->axis;
  return stride;
}

/* Hold a value between those at the corners of its cell, and as much beyond as the gentlest
 * curvature there bends a parabola: beside a cliff polynomials swing, and would invent places that
 * are better than any. */
static double restrain(const idm_grid *g, const place *p, const float *value, double found)
{
  size_t strides[IDM_GRID_DIMENSIONS];
  size_t origin = 0;
  double low = INFINITY, high = -INFINITY;
  double bend[IDM_GRID_DIMENSIONS];
  for (size_t k = 0; k < g->dimension; k++) {
    strides[k] = stride(g, k);
    origin += (p->at[k] + p->left[k]) * strides[k];
    bend[k] = INFINITY;
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
      bend[k] = fmin(bend[k], fabs(second));
    }
  }
  double more = 0;
  for (size_t k = 0; k < g->dimension; k++) more += bend[k] / 8;
  return fmin(fmax(found, low - more), high + more);
}

/* The values of the stencil, weighted along every axis. */
static double blend(const idm_grid *g, const place *p, const float *value,
                    const double *const weight[IDM_GRID_DIMENSIONS])
{
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
  const place p = find(g, x);
  const float *value = g->value + cell * g->points;
  const double *const weight[IDM_GRID_DIMENSIONS] = {p.weight[0], p.weight[1], p.weight[2]};
  return g->base[cell] + restrain(g, &p, value, blend(g, &p, value, weight));
}

/* Slopes of the weights of the stencil's values at position x among them. */
static void weigh_slope(double x, double slope[stencil])
{
  for (int k = 0; k < stencil; k++) {
    double whole = 1;
    slope[k] = 0;
    for (int j = 0; j < stencil; j++) {
      if (j == k) continue;
      double part = 1;
      for (int i = 0; i < stencil; i++)
        if (i != k && i != j) part *= x - i;
      slope[k] += part;
      whole *= k - j;
    }
    slope[k] /= whole;
  }
}

void idm_grid_slope(const idm_grid *g, size_t cell, const double *x, double *slope)
{
  const place p = find(g, x);
  const float *value = g->value + cell * g->points;
  for (size_t k = 0; k < g->dimension; k++) {
    double along[stencil];
    const double *weight[IDM_GRID_DIMENSIONS] = {p.weight[0], p.weight[1], p.weight[2]};
    weigh_slope((x[k] - g->low[k]) / g->step[k] - (double)p.at[k], along);
    weight[k] = along;
    slope[k] = blend(g, &p, value, weight) / g->step[k];
  }
}

void idm_grid_clamp(const idm_grid *g, const double *x, double *nearest)
{
  for (size_t k = 0; k < g->dimension; k++) {
    const double high = g->low[k] + g->step[k] * (double)(g->axis - 1);
    nearest[k] = fmin(fmax(x[k], g->low[k]), high);
  }
}
