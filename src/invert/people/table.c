/* A grid of log-likelihoods: see the header. */
#include "invert/people/table.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/parallel.h"

/* Points an axis, by dimension; points of a stencil, one more than the
 * degree, and those of them before the interval. */
static const size_t axis_points[IDM_TABLE_DIMENSIONS + 1] = {0, 96, 36, 16};
enum { stencil = 6, before = 2 };
/* Numbers altogether: 512 MiB. */
static const size_t most_numbers = (size_t)1 << 27;
/* Below its best a cell's value is held: nobody goes there, and polynomials need not follow. */
static const double depth = 300;

struct idm_table {
  size_t dimension;
  size_t axis;   /* points an axis */
  size_t points; /* altogether; the last coordinate runs fastest */
  size_t cells;
  double low[IDM_TABLE_DIMENSIONS];
  double step[IDM_TABLE_DIMENSIONS];
  float *value; /* [cell][point] */
};

void idm_table_destroy(idm_table *table)
{
  if (!table) return;
  free(table->value);
  free(table);
}

typedef struct filling {
  idm_table *table;
  idm_cells *cells;
  bool (*stopped)(void *context);
  void *context;
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
  idm_table *t = f->table;
  if (atomic_load(&f->stop)) return;
  double x[IDM_TABLE_DIMENSIONS];
  size_t rest = point;
  for (size_t k = t->dimension; k-- > 0; rest /= t->axis)
    x[k] = t->low[k] + (double)(rest % t->axis) * t->step[k];
  idm_error error = {0};
  const double *column;
  idm_judge *judge = idm_cells_borrow(f->cells);
  const idm_status status = idm_judge_all(judge, x, &column, &error);
  for (size_t c = 0; status == IDM_OK && c < t->cells; c++)
    t->value[c * t->points + point] = (float)column[c];
  idm_cells_return(f->cells, judge);
  if (status != IDM_OK) fail(f, status, &error);
}

static void look(void *content)
{
  filling *f = content;
  if (f->stopped(f->context)) atomic_store(&f->stop, true);
}

static void hold_depth(idm_table *t)
{
  for (size_t c = 0; c < t->cells; c++) {
    float *value = t->value + c * t->points;
    float best = -INFINITY;
    for (size_t i = 0; i < t->points; i++) best = value[i] > best ? value[i] : best;
    const float least = isfinite(best) ? best - (float)depth : 0;
    for (size_t i = 0; i < t->points; i++) value[i] = value[i] > least ? value[i] : least;
  }
}

/* Points an axis that memory allows; 0: none worth having. */
static size_t axis_of(size_t dimension, size_t cells)
{
  if (!dimension || dimension > IDM_TABLE_DIMENSIONS) return 0;
  size_t axis = axis_points[dimension];
  for (; axis >= stencil + 2; axis--) {
    size_t points = cells;
    for (size_t k = 0; k < dimension; k++) points = idm_times(points, axis);
    if (points <= most_numbers) return axis;
  }
  return 0;
}

idm_status idm_table_create(idm_cells *cells, size_t count, size_t coordinates, const double *low,
                            const double *high, int threads, bool (*opt_stopped)(void *context),
                            void *context, idm_table **ret_table, idm_error *opt_error)
{
  *ret_table = NULL;
  const size_t axis = axis_of(coordinates, count);
  if (!axis) return IDM_OK;
  idm_table *t = idm_new(1, sizeof *t);
  if (!t) return idm_fail_memory(opt_error);
  *t = (idm_table){.dimension = coordinates, .axis = axis, .points = 1, .cells = count};
  for (size_t k = 0; k < coordinates; k++) {
    t->points *= axis;
    t->low[k] = low[k];
    t->step[k] = (high[k] - low[k]) / (double)(axis - 1);
  }
  t->value = idm_new(count * t->points, sizeof *t->value);
  filling f = {.table = t, .cells = cells, .stopped = opt_stopped, .context = context};
  pthread_mutex_init(&f.mutex, NULL);
  idm_status status = t->value ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_parallel(t->points, threads, fill_point, opt_stopped ? look : NULL, &f, opt_error);
  pthread_mutex_destroy(&f.mutex);
  if (status == IDM_OK && f.status != IDM_OK) {
    status = f.status;
    if (opt_error) *opt_error = f.error;
  }
  if (status != IDM_OK || atomic_load(&f.stop)) {
    idm_table_destroy(t);
    return status;
  }
  hold_depth(t);
  *ret_table = t;
  return IDM_OK;
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
  size_t at[IDM_TABLE_DIMENSIONS];   /* first point of the stencil, by axis */
  size_t left[IDM_TABLE_DIMENSIONS]; /* of the cell, from there */
  double weight[IDM_TABLE_DIMENSIONS][stencil];
} place;

static place find(const idm_table *t, const double *x)
{
  place p = {0};
  for (size_t k = 0; k < t->dimension; k++) {
    const double last = (double)(t->axis - 1);
    const double here = fmin(fmax((x[k] - t->low[k]) / t->step[k], 0), last);
    const double base = fmin(fmax(floor(here) - before, 0), last - (stencil - 1));
    const double left = fmin(floor(here - base), stencil - 2);
    p.at[k] = (size_t)base;
    p.left[k] = (size_t)left;
    weigh(here - base, p.weight[k]);
  }
  return p;
}

/* How far along an axis is in the array. */
static size_t stride(const idm_table *t, size_t axis)
{
  size_t stride = 1;
  for (size_t k = axis + 1; k < t->dimension; k++) stride *= t->axis;
  return stride;
}

/* Hold a value between those at the corners of its cell, and as much beyond as the gentlest
 * curvature there bends a parabola: beside a cliff polynomials swing, and would invent places that
 * are better than any. */
static double restrain(const idm_table *t, const place *p, const float *value, double found)
{
  size_t strides[IDM_TABLE_DIMENSIONS];
  size_t origin = 0;
  double low = INFINITY, high = -INFINITY;
  double bend[IDM_TABLE_DIMENSIONS];
  for (size_t k = 0; k < t->dimension; k++) {
    strides[k] = stride(t, k);
    origin += (p->at[k] + p->left[k]) * strides[k];
    bend[k] = INFINITY;
  }
  for (size_t corner = 0; corner < (size_t)1 << t->dimension; corner++) {
    size_t index = origin;
    for (size_t k = 0; k < t->dimension; k++) index += (corner >> k & 1) * strides[k];
    low = fmin(low, (double)value[index]);
    high = fmax(high, (double)value[index]);
    for (size_t k = 0; k < t->dimension; k++) {
      const size_t along = p->at[k] + p->left[k] + (corner >> k & 1);
      if (along == 0 || along + 1 == t->axis) continue;
      const float *v = value + index;
      const double second = (double)v[strides[k]] - 2 * (double)v[0] + (double)*(v - strides[k]);
      bend[k] = fmin(bend[k], fabs(second));
    }
  }
  double more = 0;
  for (size_t k = 0; k < t->dimension; k++) more += bend[k] / 8;
  return fmin(fmax(found, low - more), high + more);
}

double idm_table_at(const idm_table *t, size_t cell, const double *x)
{
  const place p = find(t, x);
  const float *value = t->value + cell * t->points;
  const size_t blocks = t->dimension == 3 ? stencil : 1;
  const size_t rows = t->dimension >= 2 ? stencil : 1;
  const double *columns = p.weight[t->dimension - 1];
  double sum = 0;
  for (size_t i = 0; i < blocks; i++)
    for (size_t j = 0; j < rows; j++) {
      size_t row = t->dimension == 3 ? p.at[0] + i : 0;
      if (t->dimension >= 2) row = row * t->axis + p.at[t->dimension - 2] + j;
      const float *from = value + row * t->axis + p.at[t->dimension - 1];
      double part = 0;
      for (size_t k = 0; k < stencil; k++) part += columns[k] * (double)from[k];
      if (t->dimension >= 2) part *= p.weight[t->dimension - 2][j];
      if (t->dimension == 3) part *= p.weight[0][i];
      sum += part;
    }
  return restrain(t, &p, value, sum);
}
