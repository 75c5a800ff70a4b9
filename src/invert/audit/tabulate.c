/* Interpolation grids that replace the likelihoods of cells: extent, refinement, moments and
 * approximation error. */
#include "invert/audit/model.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/system.h"
#include "idm/extension/random.h"

/* Points per axis, by dimension. The grid covers the posterior mass, and its error is measured. */
static const size_t axis_points[IDM_GRID_DIMENSIONS + 1] = {0, 96, 28, 14};
/* Points per axis of a refined grid, which still costs less than an exact likelihood per draw. */
static const size_t finer_points[IDM_GRID_DIMENSIONS + 1] = {0, 400, 56, 20};
/* Points per axis of the mesh over which a grid is summed. */
static const size_t mesh_points[IDM_GRID_DIMENSIONS + 1] = {0, 400, 60, 20};
enum { max_expansions = 8 };
/* Random stream beyond those of chains and starts. */
static const uint64_t scatter_stream = (uint64_t)1 << 34;
/* A grid ends where the log density is this far below that at the mode, or this many prior sds from
 * the prior mean. */
static const double max_drop = 20;
static const double max_sds = 8;

/* Log-likelihood of a cell plus the log of a prior of twice the scale. */
typedef struct grid_target {
  audit_cell *cell;
  const double *mean;
  const double *sd;
  const atomic_bool *opt_stop;
} grid_target;

static idm_status evaluate_exact(const grid_target *g, const double *x, double *log_likelihood,
                                 idm_error *opt_error)
{
  if (g->opt_stop && atomic_load(g->opt_stop))
    return idm_fail(opt_error, IDM_UNTRUSTED, "interrupted");
  return idm_matching_log_likelihood(g->cell->f.matching[0], x, log_likelihood, NULL, opt_error);
}

static double log_prior(const grid_target *g, const double *x)
{
  double sum = 0;
  for (size_t i = 0; i < g->cell->f.parameters->dimension; i++) {
    const double z = (x[i] - g->mean[i]) / (2 * g->sd[i]);
    sum -= 0.5 * z * z;
  }
  return sum;
}

/* --- values --------------------------------------------------------------------------------- */

/* h'x - x'Px/2, with h the linear term and P the precision. */
static double approximation(const audit_cell *cell, size_t d, const double *x)
{
  double sum = 0;
  for (size_t i = 0; i < d; i++) {
    double row = 0;
    for (size_t k = 0; k < d; k++) row += cell->precision[i * d + k] * x[k];
    sum += x[i] * (cell->linear_term[i] - 0.5 * row);
  }
  return sum;
}

double idm_audit_grid_likelihood(const audit_cell *cell, size_t dimension, const double *x)
{
  double nearest[IDM_GRID_DIMENSIONS];
  bool inside = true;
  idm_grid_clamp(cell->grid, x, nearest);
  for (size_t i = 0; i < dimension; i++) inside = inside && nearest[i] == x[i];
  const double value = idm_grid_at(cell->grid, 0, nearest);
  if (inside) return value;
  return value +
         fmin(approximation(cell, dimension, x) - approximation(cell, dimension, nearest), 0);
}

/* --- meshes --------------------------------------------------------------------------------- */

/* Number of points of a mesh over a cell's box; the last coordinate varies fastest. */
static size_t mesh_size(size_t dimension)
{
  size_t point_count = 1;
  for (size_t i = 0; i < dimension; i++) point_count *= mesh_points[dimension];
  return point_count;
}

static size_t mesh_index(size_t dimension, size_t point_index, size_t coordinate)
{
  assert(dimension > 0 && dimension <= IDM_GRID_DIMENSIONS);
  for (size_t i = dimension - 1; i > coordinate; i--) point_index /= mesh_points[dimension];
  return point_index % mesh_points[dimension];
}

static void mesh_point(const audit_cell *cell, size_t point_index, double *x)
{
  const size_t d = cell->f.parameters->dimension;
  for (size_t i = 0; i < d; i++)
    x[i] = cell->low[i] + (cell->high[i] - cell->low[i]) * (double)mesh_index(d, point_index, i) /
                              (double)(mesh_points[d] - 1);
}

/* Log density of a cell at the points of its mesh, less the maximum, from its grid and a prior with
 * `scale` times its scale. The caller frees the array. NULL: out of memory. */
static double *fill_mesh(const audit_cell *cell, const double *mean, const double *sd, double scale)
{
  const size_t d = cell->f.parameters->dimension;
  const size_t point_count = mesh_size(d);
  double *density = idm_new(point_count, sizeof *density);
  double x[IDM_GRID_DIMENSIONS], max_density = -INFINITY;
  for (size_t k = 0; density && k < point_count; k++) {
    mesh_point(cell, k, x);
    density[k] = idm_audit_grid_likelihood(cell, d, x);
    for (size_t i = 0; i < d; i++) {
      const double z = (x[i] - mean[i]) / (scale * sd[i]);
      density[k] -= 0.5 * z * z;
    }
    max_density = fmax(max_density, density[k]);
  }
  for (size_t k = 0; density && k < point_count; k++) density[k] -= max_density;
  return density;
}

idm_status idm_audit_moments(const audit_cell *cell, const double *mean, const double *sd,
                             double *covariance, idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  double x[IDM_GRID_DIMENSIONS], first[IDM_GRID_DIMENSIONS] = {0};
  double *density = fill_mesh(cell, mean, sd, 1);
  if (!density) return idm_fail_memory(opt_error);
  memset(covariance, 0, d * d * sizeof *covariance);
  idm_softmax(density, mesh_size(d), density);
  for (size_t k = 0; k < mesh_size(d); k++) {
    mesh_point(cell, k, x);
    /* Centre at the middle of the box, to avoid cancellation in the second moments. */
    for (size_t i = 0; i < d; i++) x[i] -= 0.5 * (cell->low[i] + cell->high[i]);
    for (size_t i = 0; i < d; i++) {
      first[i] += density[k] * x[i];
      for (size_t j = 0; j < d; j++) covariance[i * d + j] += density[k] * x[i] * x[j];
    }
  }
  free(density);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) covariance[i * d + j] -= first[i] * first[j];
  return IDM_OK;
}

idm_status idm_audit_disperse(const audit_cell *cell, const double *mean, const double *sd,
                              size_t chains, double *x, idm_error *opt_error)
{
  static const double tempering = 8; /* posterior sds become nearly three times as wide */
  const size_t d = cell->f.parameters->dimension;
  const size_t point_count = mesh_size(d);
  double *density = fill_mesh(cell, mean, sd, 1);
  if (!density) return idm_fail_memory(opt_error);
  for (size_t k = 0; k < point_count; k++) density[k] /= tempering;
  idm_softmax(density, point_count, density);
  idm_random random;
  idm_random_init(&random, cell->f.key, scatter_stream);
  const double first = idm_random_uniform(&random);
  for (size_t i = 0; i < chains; i++) {
    double remaining = ((double)i + first) / (double)chains;
    size_t k = 0;
    while (k + 1 < point_count && (remaining -= density[k]) > 0) k++;
    mesh_point(cell, k, x + i * d);
  }
  free(density);
  return IDM_OK;
}

/* Move the faces of the box outwards if the density is not low on them, as with another mode or a
 * curved ridge. */
static idm_status expand_box(const grid_target *g, bool *ret_expanded, idm_error *opt_error)
{
  audit_cell *cell = g->cell;
  const size_t d = cell->f.parameters->dimension;
  double face[2 * IDM_GRID_DIMENSIONS] = {0};
  double *density = fill_mesh(cell, g->mean, g->sd, 2);
  *ret_expanded = false;
  if (!density) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < 2 * d; i++) face[i] = -INFINITY;
  for (size_t k = 0; k < mesh_size(d); k++)
    for (size_t i = 0; i < d; i++) {
      const size_t index = mesh_index(d, k, i);
      if (index == 0) face[2 * i] = fmax(face[2 * i], density[k]);
      if (index + 1 == mesh_points[d]) face[2 * i + 1] = fmax(face[2 * i + 1], density[k]);
    }
  free(density);
  for (size_t i = 0; i < 2 * d; i++) {
    const size_t axis = i / 2;
    const double direction = i % 2 ? 1 : -1;
    double *end = i % 2 ? &cell->high[axis] : &cell->low[axis];
    const bool is_far = direction * (*end - g->mean[axis]) > max_sds * g->sd[axis];
    if (is_far || face[i] < -max_drop) continue;
    *end += direction * 0.5 * (cell->high[axis] - cell->low[axis]);
    *ret_expanded = true;
  }
  return IDM_OK;
}

/* --- extent ---------------------------------------------------------------------------------- */

/* Find the extent of coordinate i in one direction, along the conditional mean of the other
 * coordinates under the normal approximation. */
static idm_status find_extent(const grid_target *g, const chain_start *found, size_t i,
                              double direction, double mode_density, double *ret_end,
                              idm_error *opt_error)
{
  const size_t d = g->cell->f.parameters->dimension;
  const double sd = sqrt(found->covariance[i * (d + 1)]);
  double x[IDM_GRID_DIMENSIONS];
  assert(i < d && d <= IDM_GRID_DIMENSIONS);
  for (double t = 2;; t *= 1.5) {
    double log_likelihood;
    for (size_t k = 0; k < d; k++)
      x[k] = found->mode[k] + direction * t * found->covariance[k * d + i] / sd;
    const idm_status status = evaluate_exact(g, x, &log_likelihood, opt_error);
    if (status != IDM_OK) return status;
    *ret_end = x[i];
    const bool is_far = direction * (x[i] - g->mean[i]) > max_sds * g->sd[i];
    if (is_far || !(mode_density - log_likelihood - log_prior(g, x) < max_drop)) return IDM_OK;
  }
}

/* Extend the box to draws of the prior whose density is close to that of the mode: another mode, or
 * a ridge. In one dimension, an even mesh replaces the draws. */
static idm_status include_modes(const grid_target *g, double mode_density, double *low,
                                double *high, idm_error *opt_error)
{
  enum { point_count = 64 };
  const size_t d = g->cell->f.parameters->dimension;
  idm_random random;
  idm_random_init(&random, 0, 0);
  for (size_t k = 0; k < point_count; k++) {
    double x[IDM_GRID_DIMENSIONS], log_likelihood;
    for (size_t i = 0; i < d; i++)
      x[i] = g->mean[i] + g->sd[i] * (d > 1 ? idm_random_normal(&random)
                                            : max_sds * (2 * (double)k / (point_count - 1) - 1));
    const idm_status status = evaluate_exact(g, x, &log_likelihood, opt_error);
    if (status != IDM_OK) return status;
    if (!(mode_density - log_likelihood - log_prior(g, x) < max_drop)) continue;
    for (size_t i = 0; i < d; i++) {
      low[i] = fmin(low[i], x[i]);
      high[i] = fmax(high[i], x[i]);
    }
  }
  return IDM_OK;
}

static idm_status fill(void *context, const double *x, double *column, idm_error *opt_error)
{
  return evaluate_exact(context, x, column, opt_error);
}

/* Build a grid with `axis` points per axis over the cell's box, and replace the present grid. */
static idm_status build_grid(grid_target *g, size_t axis, idm_error *opt_error)
{
  audit_cell *cell = g->cell;
  idm_grid *grid;
  const idm_grid_source source = {.dimension = cell->f.parameters->dimension,
                                  .low = cell->low,
                                  .high = cell->high,
                                  .axis = axis,
                                  .cells = 1,
                                  .opt_base = &cell->base,
                                  .value = fill,
                                  .context = g};
  const idm_status status = idm_grid_create(&source, 1, &grid, opt_error);
  if (status != IDM_OK) return status;
  idm_grid_destroy(cell->grid);
  cell->grid = grid;
  return IDM_OK;
}

idm_status idm_audit_tabulate(audit_cell *cell, const chain_start *found, const double *mean,
                              const double *sd, const atomic_bool *opt_stop, idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  grid_target g = {cell, mean, sd, opt_stop};
  if (d > IDM_GRID_DIMENSIONS) return IDM_OK;
  idm_status status = evaluate_exact(&g, found->mode, &cell->base, opt_error);
  const double mode_density = cell->base + log_prior(&g, found->mode);
  for (size_t i = 0; i < d && status == IDM_OK; i++) {
    status = find_extent(&g, found, i, -1, mode_density, &cell->low[i], opt_error);
    if (status == IDM_OK)
      status = find_extent(&g, found, i, 1, mode_density, &cell->high[i], opt_error);
  }
  if (status == IDM_OK) status = include_modes(&g, mode_density, cell->low, cell->high, opt_error);
  bool expanded = true;
  for (int k = 0; k < max_expansions && expanded && status == IDM_OK; k++) {
    status = build_grid(&g, axis_points[d], opt_error);
    if (status == IDM_OK && cell->grid) status = expand_box(&g, &expanded, opt_error);
    expanded = expanded && cell->grid;
  }
  if (status == IDM_OK && expanded) status = build_grid(&g, axis_points[d], opt_error);
  return status;
}

idm_status idm_audit_refine(audit_cell *cell, const double *mean, const double *sd,
                            const atomic_bool *opt_stop, idm_error *opt_error)
{
  grid_target g = {cell, mean, sd, opt_stop};
  const size_t d = cell->f.parameters->dimension;
  return cell->grid ? build_grid(&g, finer_points[d], opt_error) : IDM_OK;
}

/* --- approximation error --------------------------------------------------------------------- */

/* Number of draws at which grids are compared with exact likelihoods. */
enum { compared_draws = 64 };

typedef struct comparison {
  const audit_model *model;
  const audit_draws *draws;
  double *error;      /* [cell][compared draw] */
  idm_status *status; /* [cell] */
  idm_error *message;
} comparison;

static void compare(void *context, size_t cell)
{
  const comparison *k = context;
  const audit_cell *c = &k->model->cell[cell];
  const size_t d = k->model->dimension;
  const size_t all = k->draws->chains * k->draws->draws;
  double x[IDM_GRID_DIMENSIONS];
  for (size_t i = 0; c->grid && i < compared_draws && k->status[cell] == IDM_OK; i++) {
    const size_t at = (2 * i + 1) * all / (2 * compared_draws);
    double exact;
    for (size_t j = 0; j < d; j++) x[j] = k->draws->cell[(cell * d + j) * all + at];
    k->status[cell] =
        idm_matching_log_likelihood(c->f.matching[0], x, &exact, NULL, &k->message[cell]);
    k->error[cell * compared_draws + i] = exact - idm_audit_grid_likelihood(c, d, x);
  }
}

/* Standard deviation over the compared draws of the total error of all cells. */
static double error_sd(const comparison *k)
{
  idm_welford sums = {0};
  for (size_t i = 0; i < compared_draws; i++) {
    double sum = 0;
    for (size_t c = 0; c < k->model->cells; c++) sum += k->error[c * compared_draws + i];
    idm_welford_add(&sums, sum);
  }
  const double sd = sqrt(sums.squares / compared_draws);
  return isfinite(sd) ? sd : INFINITY;
}

idm_status idm_audit_grid_error(const audit_model *model, const audit_draws *draws,
                                double *ret_error, idm_error *opt_error)
{
  comparison k = {.model = model, .draws = draws};
  k.error = idm_new(idm_times(model->cells, compared_draws), sizeof *k.error);
  k.status = idm_new(model->cells, sizeof *k.status);
  k.message = idm_new(model->cells, sizeof *k.message);
  idm_status status = k.error && k.status && k.message ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_parallel(model->cells, model->settings->threads, compare, NULL, &k, opt_error);
  for (size_t c = 0; c < model->cells && status == IDM_OK; c++) {
    status = k.status[c];
    if (status != IDM_OK && opt_error) *opt_error = k.message[c];
  }
  if (status == IDM_OK) *ret_error = error_sd(&k);
  free(k.error);
  free(k.status);
  free(k.message);
  return status;
}
