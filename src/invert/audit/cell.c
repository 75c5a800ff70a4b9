/* Cells of an audit: the mode, a quadratic approximation of the log-likelihood, its grid, and
 * starting points. */
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/extension/inverse.h"
#include "infer/approximation.h"
#include "invert/audit/model.h"
#include "invert/clone.h"
#include "setting/model.h"

void idm_audit_cell_reset(audit_cell *cell)
{
  idm_fit_close(&cell->f);
  idm_grid_destroy(cell->grid);
  free(cell->precision);
  free(cell->linear_term);
  free(cell->information);
  free(cell->agent_information);
  free(cell->start);
  free(cell->distant_point);
  idm_start_destroy(cell->found);
  cell->found = NULL;
  cell->grid = NULL;
  cell->precision = cell->linear_term = cell->information = cell->agent_information = cell->start =
      cell->distant_point = NULL;
}

void idm_audit_cell_close(audit_cell *cell)
{
  idm_audit_cell_reset(cell);
  idm_clone_destroy(cell->modified);
  idm_dynamics_draws_clear(&cell->own);
  idm_data_destroy(cell->data);
  free(cell->from);
  *cell = (audit_cell){0};
}

idm_status idm_audit_priors(const idm_parameters *parameters, double *mean, double *sd,
                            idm_error *opt_error)
{
  for (size_t i = 0; i < parameters->items; i++) {
    const parameter *item = &parameters->item[i];
    const char *name = parameters->theta->block[item->block].info->name;
    const bool is_unbounded = isinf(item->lower) && isinf(item->upper);
    if (!idm_parameter_is_scalar(item) || item->prior->kind != IDM_PRIOR_NORMAL || !is_unbounded)
      return idm_fail(opt_error, IDM_INPUT,
                      "an audit requires unbounded coordinates with a normal prior, and the free "
                      "block '%s' (prior %s) does not have them; set a normal prior, as "
                      "in free: {%s: {prior: {normal: [0, 1]}}}, or hold the block",
                      name, idm_prior_name(item->prior->kind), name);
    mean[item->first] = item->prior->argument[0];
    sd[item->first] = item->prior->argument[1];
  }
  return IDM_OK;
}

/* Add to `precision` the precision of a posterior less that of the prior. Negative eigenvalues,
 * which are rounding errors, are set to 0. */
static idm_status subtract_prior(size_t d, const double *covariance, const double *sd,
                                 double *precision, idm_error *opt_error)
{
  double *work = idm_new(2 * d * d + d, sizeof *work);
  if (!work) return idm_fail_memory(opt_error);
  double *vectors = work + d * d;
  double *values = vectors + d * d;
  memcpy(work, covariance, d * d * sizeof *work);
  if (idm_cholesky(d, work)) {
    idm_cholesky_inverse(d, work, vectors);
    memcpy(work, vectors, d * d * sizeof *work);
    for (size_t i = 0; i < d; i++) work[i * (d + 1)] -= 1 / (sd[i] * sd[i]);
    idm_symmetric_eigen(d, work, values, vectors);
    for (size_t k = 0; k < d; k++)
      for (size_t i = 0; values[k] > 0 && i < d; i++)
        for (size_t j = 0; j < d; j++)
          precision[i * d + j] += values[k] * vectors[k * d + i] * vectors[k * d + j];
  }
  free(work);
  return IDM_OK;
}

/* Approximate log L at the mode m of the posterior: its precision, and the gradient (m - M)/s^2,
 * which balances that of the prior. */
static idm_status approximate(audit_cell *cell, const chain_start *s, const double *mean,
                              const double *sd, idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  const idm_status status =
      s->definite ? subtract_prior(d, s->covariance, sd, cell->precision, opt_error) : IDM_OK;
  for (size_t i = 0; i < d; i++) {
    cell->linear_term[i] = (s->mode[i] - mean[i]) / (sd[i] * sd[i]);
    for (size_t j = 0; j < d; j++) cell->linear_term[i] += cell->precision[i * d + j] * s->mode[j];
  }
  return status;
}

/* Compute `information` from the moments of the grid, which include the tails; without a grid, copy
 * the precision at the mode. */
static idm_status find_information(audit_cell *cell, const double *mean, const double *sd,
                                   idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  double covariance[IDM_GRID_DIMENSIONS * IDM_GRID_DIMENSIONS];
  if (cell->grid) {
    const idm_status status = idm_audit_moments(cell, mean, sd, covariance, opt_error);
    return status == IDM_OK ? subtract_prior(d, covariance, sd, cell->information, opt_error)
                            : status;
  }
  memcpy(cell->information, cell->precision, d * d * sizeof *cell->information);
  return IDM_OK;
}

/* Evaluate the log-likelihood at x, and keep x as the distant point if it is the largest so far. */
static idm_status try_point(audit_cell *cell, const double *x, idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  double log_likelihood;
  const idm_status status =
      idm_matching_log_likelihood(cell->f.matching[0], x, &log_likelihood, NULL, opt_error);
  if (status != IDM_OK || !(log_likelihood > cell->distant_log_likelihood)) return status;
  cell->distant_log_likelihood = log_likelihood;
  memcpy(cell->distant_point, x, d * sizeof *x);
  return IDM_OK;
}

/* Search for a likelihood maximum far from the prior mean, outside the reach of the mode search and
 * of the grid: evaluate the problem's own numbers, and points on each axis at 1, 2, 4, ... prior
 * sds. */
static idm_status search_distant(audit_cell *cell, const double *mean, const double *sd,
                                 idm_error *opt_error)
{
  enum { doublings = 7 };
  const size_t d = cell->f.parameters->dimension;
  double *x = idm_new(d, sizeof *x);
  if (!x) return idm_fail_memory(opt_error);
  cell->distant_log_likelihood = -INFINITY;
  idm_parameters_get(cell->f.parameters, cell->problem->theta, x);
  idm_status status = try_point(cell, x, opt_error);
  for (size_t i = 0; i < 2 * d * doublings && status == IDM_OK; i++) {
    const size_t axis = i / (2 * doublings);
    const double sds = ldexp(i % 2 ? 1 : -1, (int)(i / 2 % doublings));
    memcpy(x, mean, d * sizeof *x);
    x[axis] += sds * sd[axis];
    status = try_point(cell, x, opt_error);
  }
  free(x);
  return status;
}

/* Log-likelihood of a cell as a function of z = (x - distant point) / prior sd. */
typedef struct distant_target {
  audit_cell *cell;
  const double *sd; /* [dimension] */
  double *x;        /* [dimension] */
} distant_target;

static idm_status evaluate(void *context, const double *z, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  const distant_target *c = context;
  const size_t d = c->cell->f.parameters->dimension;
  for (size_t i = 0; i < d; i++) c->x[i] = c->cell->distant_point[i] + c->sd[i] * z[i];
  const idm_status status = idm_matching_log_likelihood(c->cell->f.matching[0], c->x, log_density,
                                                        opt_gradient, opt_error);
  for (size_t i = 0; opt_gradient && i < d; i++) opt_gradient[i] *= c->sd[i];
  return status;
}

/* Maximise the log-likelihood from the distant point, to a loose tolerance. */
static idm_status maximise_distant(audit_cell *cell, const double *sd, idm_error *opt_error)
{
  static const double tolerance = 0.01;
  enum { steps = 30 };
  const size_t d = cell->f.parameters->dimension;
  double maximum = cell->distant_log_likelihood, *z = idm_new(2 * d, sizeof *z);
  if (!z) return idm_fail_memory(opt_error);
  distant_target c = {cell, sd, z + d};
  const idm_target target = {.dimension = d, .gradient = true, .context = &c, .evaluate = evaluate};
  const idm_status status =
      isfinite(maximum) ? idm_maximise(&target, tolerance, steps, z, &maximum, opt_error) : IDM_OK;
  for (size_t i = 0; i < d && maximum > cell->distant_log_likelihood; i++)
    cell->distant_point[i] += sd[i] * z[i];
  cell->distant_log_likelihood = fmax(cell->distant_log_likelihood, maximum);
  free(z);
  return status;
}

/* All chains use plans around the same mode and start at different points. Without grids, which
 * detect other modes, each chain finds its own mode. */
static idm_status place_chains(audit_cell *cell, const chain_start *found, idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  chain_start *own = NULL;
  idm_status status = idm_start_create(d, &own, opt_error);
  for (size_t i = 0; i < cell->f.matchings && status == IDM_OK; i++) {
    memcpy(own->mode, found->mode, d * sizeof *own->mode);
    memcpy(own->covariance, found->covariance, d * d * sizeof *own->covariance);
    own->definite = found->definite;
    if (i && d > IDM_GRID_DIMENSIONS) status = idm_start_find(&cell->f, i, own, opt_error);
    if (status == IDM_OK) status = idm_start_prepare(&cell->f, i, own, opt_error);
    memcpy(cell->start + i * d, own->x, d * sizeof *own->x);
  }
  idm_start_destroy(own);
  return status;
}

/* Allocate the results of an open fit. */
static idm_status make_room(audit_cell *cell, size_t chains, idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  cell->precision = idm_new(d * d, sizeof *cell->precision);
  cell->linear_term = idm_new(d, sizeof *cell->linear_term);
  cell->information = idm_new(d * d, sizeof *cell->information);
  cell->start = idm_new(chains * d, sizeof *cell->start);
  cell->distant_point = idm_new(d, sizeof *cell->distant_point);
  return cell->precision && cell->linear_term && cell->information && cell->start &&
                 cell->distant_point
             ? IDM_OK
             : idm_fail_memory(opt_error);
}

/* Open the fit of a cell, and allocate its results. */
static idm_status open_fit(audit_cell *cell, const idm_fit_settings *settings, idm_error *opt_error)
{
  idm_status status = idm_fit_open(&cell->f, idm_inverse_find("bayes"), cell->problem, cell->data,
                                   settings, settings->chains, opt_error);
  if (status == IDM_OK) status = make_room(cell, settings->chains, opt_error);
  return status == IDM_OK ? idm_start_create(cell->f.parameters->dimension, &cell->found, opt_error)
                          : status;
}

idm_status idm_audit_cell_open(audit_cell *cell, const idm_fit_settings *settings,
                               const double *mean, const double *sd, const atomic_bool *opt_stop,
                               idm_error *opt_error)
{
  idm_status status = open_fit(cell, settings, opt_error);
  chain_start *found = cell->found;
  if (status == IDM_OK) status = idm_start_find(&cell->f, 0, found, opt_error);
  if (status == IDM_OK) status = approximate(cell, found, mean, sd, opt_error);
  if (status == IDM_OK) status = place_chains(cell, found, opt_error);
  if (status == IDM_OK) status = idm_audit_tabulate(cell, found, mean, sd, opt_stop, opt_error);
  if (status == IDM_OK && cell->grid)
    status = idm_audit_disperse(cell, mean, sd, settings->chains, cell->start, opt_error);
  if (status == IDM_OK) status = find_information(cell, mean, sd, opt_error);
  if (status == IDM_OK) status = search_distant(cell, mean, sd, opt_error);
  return status == IDM_OK ? maximise_distant(cell, sd, opt_error) : status;
}

/* The mode is stored first, because plans are anchored there. */
static void pass_mode(audit_cell *cell, idm_record *r)
{
  const size_t d = cell->f.parameters->dimension;
  chain_start *found = cell->found;
  idm_record_transfer(r, found->mode, d * sizeof *found->mode);
  idm_record_transfer(r, found->covariance, d * d * sizeof *found->covariance);
  idm_record_transfer(r, &found->log_density, sizeof found->log_density);
  idm_record_transfer_flag(r, &found->definite);
}

static void pass_numbers(audit_cell *cell, size_t chains, idm_record *r)
{
  const size_t d = cell->f.parameters->dimension;
  idm_record_transfer(r, cell->precision, d * d * sizeof *cell->precision);
  idm_record_transfer(r, cell->linear_term, d * sizeof *cell->linear_term);
  idm_record_transfer(r, cell->information, d * d * sizeof *cell->information);
  idm_record_transfer(r, cell->start, chains * d * sizeof *cell->start);
  idm_record_transfer(r, cell->distant_point, d * sizeof *cell->distant_point);
  idm_record_transfer(r, cell->low, sizeof cell->low);
  idm_record_transfer(r, cell->high, sizeof cell->high);
  idm_record_transfer(r, &cell->base, sizeof cell->base);
  idm_record_transfer(r, &cell->distant_log_likelihood, sizeof cell->distant_log_likelihood);
}

void idm_audit_cell_write(const audit_cell *cell, size_t chains, idm_record *record)
{
  audit_cell copy = *cell; /* the copy is only read */
  pass_mode(&copy, record);
  pass_numbers(&copy, chains, record);
  if (cell->grid) idm_grid_write(cell->grid, record);
}

idm_status idm_audit_cell_read(audit_cell *cell, const idm_fit_settings *settings,
                               idm_record *record, idm_error *opt_error)
{
  idm_status status = open_fit(cell, settings, opt_error);
  if (status != IDM_OK) return status;
  const size_t d = cell->f.parameters->dimension;
  pass_mode(cell, record);
  if (!record->truncated) status = place_chains(cell, cell->found, opt_error);
  pass_numbers(cell, settings->chains, record);
  if (d <= IDM_GRID_DIMENSIONS) cell->grid = idm_grid_read(d, 1, record);
  const bool fits = d > IDM_GRID_DIMENSIONS || cell->grid;
  return status == IDM_OK ? idm_record_close(record, fits, opt_error) : status;
}
