/* Cells: people who share one vector of free numbers, and what their log says of it, about. */
#include <math.h>

#include "base/dense.h"
#include "base/memory.h"
#include "idm/inverse.h"
#include "idm/maximise.h"
#include "invert/audit/cell.h"
#include "invert/audit/tabulate.h"
#include "invert/fork.h"

void idm_audit_cell_shut(audit_cell *cell)
{
  idm_fit_close(&cell->f);
  idm_grid_destroy(cell->grid);
  free(cell->precision);
  free(cell->pull);
  free(cell->told);
  free(cell->apart);
  free(cell->start);
  free(cell->place);
  idm_start_destroy(cell->found);
  cell->found = NULL;
  cell->grid = NULL;
  cell->precision = cell->pull = cell->told = cell->apart = cell->start = cell->place = NULL;
}

void idm_audit_cell_close(audit_cell *cell)
{
  idm_audit_cell_shut(cell);
  idm_fork_destroy(cell->moved);
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
    const bool open = isinf(item->lower) && isinf(item->upper);
    if (!idm_parameter_is_scalar(item) || item->prior->kind != IDM_PRIOR_NORMAL || !open)
      return idm_fail(opt_error, IDM_INPUT,
                      "an audit compares groups in coordinates that are unbounded and have a "
                      "normal prior, and the free block '%s' (prior %s) is none; give it one, as "
                      "in free: {%s: {prior: {normal: [0, 1]}}}, or hold it",
                      name, idm_prior_name(item->prior->kind), name);
    mean[item->first] = item->prior->argument[0];
    sd[item->first] = item->prior->argument[1];
  }
  return IDM_OK;
}

/* The precision of a posterior less that of the prior; what rounding leaves below 0 is nothing. */
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

/* log L about the mode m of the posterior: its precision, and the slope (m - M)/s^2 that balances
 * the prior. */
static idm_status approximate(audit_cell *cell, const start *s, const double *mean,
                              const double *sd, idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  const idm_status status =
      s->definite ? subtract_prior(d, s->covariance, sd, cell->precision, opt_error) : IDM_OK;
  for (size_t i = 0; i < d; i++) {
    cell->pull[i] = (s->mode[i] - mean[i]) / (sd[i] * sd[i]);
    for (size_t j = 0; j < d; j++) cell->pull[i] += cell->precision[i * d + j] * s->mode[j];
  }
  return status;
}

/* What the log tells, tails and all, where there is a grid to see it by. */
static idm_status find_told(audit_cell *cell, const double *mean, const double *sd,
                            idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  double covariance[IDM_GRID_DIMENSIONS * IDM_GRID_DIMENSIONS];
  if (cell->grid) {
    const idm_status status = idm_audit_moments(cell, mean, sd, covariance, opt_error);
    return status == IDM_OK ? subtract_prior(d, covariance, sd, cell->told, opt_error) : status;
  }
  memcpy(cell->told, cell->precision, d * d * sizeof *cell->told);
  return IDM_OK;
}

/* Take a place of the log where it is likelier than wherever it was before. */
static idm_status try_place(audit_cell *cell, const double *x, idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  double here;
  const idm_status status =
      idm_matching_log_likelihood(cell->f.matching[0], x, &here, NULL, opt_error);
  if (status != IDM_OK || !(here > cell->elsewhere)) return status;
  cell->elsewhere = here;
  memcpy(cell->place, x, d * sizeof *x);
  return IDM_OK;
}

/* Whether the decisions are likelier far from the prior, where neither climbs from its draws nor
 * the grid go: at the problem's own numbers, and along each axis at 1, 2, 4, ... of its sds. */
static idm_status look_elsewhere(audit_cell *cell, const double *mean, const double *sd,
                                 idm_error *opt_error)
{
  enum { doublings = 7 };
  const size_t d = cell->f.parameters->dimension;
  double *x = idm_new(d, sizeof *x);
  if (!x) return idm_fail_memory(opt_error);
  cell->elsewhere = -INFINITY;
  idm_parameters_get(cell->f.parameters, cell->problem->theta, x);
  idm_status status = try_place(cell, x, opt_error);
  for (size_t i = 0; i < 2 * d * doublings && status == IDM_OK; i++) {
    const size_t axis = i / (2 * doublings);
    const double sds = ldexp(i % 2 ? 1 : -1, (int)(i / 2 % doublings));
    memcpy(x, mean, d * sizeof *x);
    x[axis] += sds * sd[axis];
    status = try_place(cell, x, opt_error);
  }
  free(x);
  return status;
}

/* A cell's log-likelihood in sds of its prior about the likeliest place. */
typedef struct climb {
  audit_cell *cell;
  const double *sd; /* [dimension] */
  double *x;        /* [dimension] */
} climb;

static idm_status evaluate(void *context, const double *z, double *log_density,
                           double *opt_gradient, idm_error *opt_error)
{
  const climb *c = context;
  const size_t d = c->cell->f.parameters->dimension;
  for (size_t i = 0; i < d; i++) c->x[i] = c->cell->place[i] + c->sd[i] * z[i];
  const idm_status status = idm_matching_log_likelihood(c->cell->f.matching[0], c->x, log_density,
                                                        opt_gradient, opt_error);
  for (size_t i = 0; opt_gradient && i < d; i++) opt_gradient[i] *= c->sd[i];
  return status;
}

/* From there to about the maximum of the likelihood. */
static idm_status climb_elsewhere(audit_cell *cell, const double *sd, idm_error *opt_error)
{
  static const double tolerance = 0.01;
  enum { steps = 30 };
  const size_t d = cell->f.parameters->dimension;
  double height = cell->elsewhere, *z = idm_new(2 * d, sizeof *z);
  if (!z) return idm_fail_memory(opt_error);
  climb c = {cell, sd, z + d};
  const idm_target target = {.dimension = d, .gradient = true, .context = &c, .evaluate = evaluate};
  const idm_status status =
      isfinite(height) ? idm_maximise(&target, tolerance, steps, z, &height, opt_error) : IDM_OK;
  for (size_t i = 0; i < d && height > cell->elsewhere; i++) cell->place[i] += sd[i] * z[i];
  cell->elsewhere = fmax(cell->elsewhere, height);
  free(z);
  return status;
}

/* Every chain plans around the one mode and starts at a place of its own; without grids, which see
 * other modes, around a mode of its own. */
static idm_status settle(audit_cell *cell, const start *found, idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  start *own = NULL;
  idm_status status = idm_start_create(d, &own, opt_error);
  for (size_t i = 0; i < cell->f.matchings && status == IDM_OK; i++) {
    memcpy(own->mode, found->mode, d * sizeof *own->mode);
    memcpy(own->covariance, found->covariance, d * d * sizeof *own->covariance);
    own->definite = found->definite;
    if (i && d > IDM_GRID_DIMENSIONS) status = idm_start_find(&cell->f, i, own, opt_error);
    if (status == IDM_OK) status = idm_start_settle(&cell->f, i, own, opt_error);
    memcpy(cell->start + i * d, own->x, d * sizeof *own->x);
  }
  idm_start_destroy(own);
  return status;
}

/* Room for what is found of a cell whose fit is open. */
static idm_status make_room(audit_cell *cell, size_t chains, idm_error *opt_error)
{
  const size_t d = cell->f.parameters->dimension;
  cell->precision = idm_new(d * d, sizeof *cell->precision);
  cell->pull = idm_new(d, sizeof *cell->pull);
  cell->told = idm_new(d * d, sizeof *cell->told);
  cell->start = idm_new(chains * d, sizeof *cell->start);
  cell->place = idm_new(d, sizeof *cell->place);
  return cell->precision && cell->pull && cell->told && cell->start && cell->place
             ? IDM_OK
             : idm_fail_memory(opt_error);
}

/* A fit, and room for what is found. */
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
  start *found = cell->found;
  if (status == IDM_OK) status = idm_start_find(&cell->f, 0, found, opt_error);
  if (status == IDM_OK) status = approximate(cell, found, mean, sd, opt_error);
  if (status == IDM_OK) status = settle(cell, found, opt_error);
  if (status == IDM_OK) status = idm_audit_tabulate(cell, found, mean, sd, opt_stop, opt_error);
  if (status == IDM_OK && cell->grid)
    status = idm_audit_scatter(cell, mean, sd, settings->chains, cell->start, opt_error);
  if (status == IDM_OK) status = find_told(cell, mean, sd, opt_error);
  if (status == IDM_OK) status = look_elsewhere(cell, mean, sd, opt_error);
  return status == IDM_OK ? climb_elsewhere(cell, sd, opt_error) : status;
}

/* The mode: before plans are anchored there. */
static void pass_mode(audit_cell *cell, idm_record *r)
{
  const size_t d = cell->f.parameters->dimension;
  start *found = cell->found;
  idm_record_pass(r, found->mode, d * sizeof *found->mode);
  idm_record_pass(r, found->covariance, d * d * sizeof *found->covariance);
  idm_record_pass(r, &found->log_density, sizeof found->log_density);
  idm_record_pass_flag(r, &found->definite);
}

static void pass_numbers(audit_cell *cell, size_t chains, idm_record *r)
{
  const size_t d = cell->f.parameters->dimension;
  idm_record_pass(r, cell->precision, d * d * sizeof *cell->precision);
  idm_record_pass(r, cell->pull, d * sizeof *cell->pull);
  idm_record_pass(r, cell->told, d * d * sizeof *cell->told);
  idm_record_pass(r, cell->start, chains * d * sizeof *cell->start);
  idm_record_pass(r, cell->place, d * sizeof *cell->place);
  idm_record_pass(r, cell->low, sizeof cell->low);
  idm_record_pass(r, cell->high, sizeof cell->high);
  idm_record_pass(r, &cell->base, sizeof cell->base);
  idm_record_pass(r, &cell->elsewhere, sizeof cell->elsewhere);
}

void idm_audit_cell_write(const audit_cell *cell, size_t chains, idm_record *record)
{
  audit_cell copy = *cell; /* what is passed is only read */
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
  if (!record->cut) status = settle(cell, cell->found, opt_error);
  pass_numbers(cell, settings->chains, record);
  if (d <= IDM_GRID_DIMENSIONS) cell->grid = idm_grid_read(d, 1, record);
  const bool fits = d > IDM_GRID_DIMENSIONS || cell->grid;
  return status == IDM_OK ? idm_record_close(record, fits, opt_error) : status;
}
