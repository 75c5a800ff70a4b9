/* Model checks of the cells of an audit, and sensitivity to fixed dynamics.
 *
 * Contents: held dynamics · model checks */
#include <math.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/system.h"
#include "invert/assess.h"
#include "invert/assess/context.h"
#include "invert/assess/environment.h"
#include "invert/audit/estimands.h"
#include "invert/posterior.h"

/* === held dynamics ========================================================================== */

/* Test of the environment with all groups, and sensitivity of groups and contrasts to errors of the
 * dynamics. */

idm_status idm_audit_environment_test(const idm_problem *problem, const idm_data *data, bool fitted,
                                      idm_audit *a, idm_error *opt_error)
{
  idm_assessment found = {0};
  idm_audit_group *all = &a->group[a->groups - 1];
  idm_checks_begin(&found.checks, a->checks.kind);
  const idm_status status =
      idm_environment_assess(problem, data, fitted, false, IDM_CHECK_LEVEL, &found, opt_error);
  if (status == IDM_OK) idm_checks_merge(&a->checks, &found.checks, IDM_CHECK_MISFIT);
  for (size_t i = 0; i < found.misfits.count; i++) {
    idm_notes_add(&all->misfits, "%s", found.misfits.text[i]);
    all->model_misfit = true;
  }
  idm_notes_clear(&found.misfits);
  idm_notes_clear(&found.remarks);
  return status;
}

/* Largest absolute shift of a cell's coordinate by an error of the dynamics; NaN if none was
 * measured. */
static double shift_of(const idm_assessment *cell, size_t coordinate)
{
  double largest = NAN;
  for (size_t k = 0; k < cell->sensitivities; k++) {
    const idm_sensitivity *s = &cell->sensitivity[k];
    if (s->dynamics) largest = fmax(largest, fabs(s->derivative[coordinate] * s->step));
  }
  return largest;
}

/* Shift of the difference of two weighted sums of cells, with independent errors per cell. */
static double combine(const audit_estimands *estimands, const idm_assessment *cell,
                      const double *weight, const double *opt_subtracted, size_t coordinate)
{
  double squares = 0;
  for (size_t c = 0; c < estimands->model.cells; c++) {
    const double share = weight[c] - (opt_subtracted ? opt_subtracted[c] : 0);
    if (share == 0) continue;
    const double own = share * shift_of(&cell[c], coordinate);
    squares += own * own;
  }
  return sqrt(squares);
}

void idm_audit_propagate_shift(const audit_estimands *estimands, const idm_assessment *cell,
                               idm_audit *a)
{
  for (size_t j = 0; j < a->coordinate.count; j++) {
    for (size_t g = 0; g < a->sides; g++)
      a->group[g].number[j].dynamics_shift =
          combine(estimands, cell, estimands->group[g].cell, NULL, j);
    for (size_t c = 0; c < a->contrasts; c++)
      a->contrast[c].number[j].dynamics_shift =
          combine(estimands, cell, estimands->group[a->contrast[c].side[0]].cell,
                  estimands->group[a->contrast[c].side[1]].cell, j);
  }
}

/* Divide the shift of a number by its posterior sd, and return whether the number depends on
 * dynamics. */
static bool depends(idm_audit *a, idm_audit_quantity *n)
{
  n->dynamics_shift /= n->diagnosis.sd;
  return isfinite(n->dynamics_shift) &&
         idm_check_test(&a->checks, IDM_CHECK_DEPENDS, n->dynamics_shift);
}

/* Flag the groups whose coordinate j depends on dynamics, with one remark that names the group with
 * the largest shift. */
static void flag_coordinate(idm_audit *a, size_t j)
{
  const idm_audit_group *largest = NULL;
  size_t count = 0;
  for (size_t g = 0; g < a->sides; g++) {
    if (!depends(a, &a->group[g].number[j]) || g >= a->groups) continue;
    a->group[g].depends = true;
    const double shift = a->group[g].number[j].dynamics_shift;
    if (!largest || shift > largest->number[j].dynamics_shift) largest = &a->group[g];
    count++;
  }
  if (largest)
    idm_notes_add(&a->remarks,
                  "%s of %zu of %zu groups depends on dynamics: a plausible error of the file's "
                  "probabilities (one standard error, given the log of a group) moves "
                  "its mean by up to %.1f posterior sds (of '%s'); intervals are conditional on "
                  "the file, and each contrast is judged by the shift of the difference",
                  a->coordinate.name[j], count, a->groups, largest->number[j].dynamics_shift,
                  largest->name);
}

void idm_audit_flag_dependence(idm_audit *a)
{
  for (size_t j = 0; j < a->coordinate.count; j++) flag_coordinate(a, j);
  for (size_t c = 0; c < a->contrasts; c++)
    for (size_t j = 0; j < a->coordinate.count; j++) {
      idm_audit_contrast *contrast = &a->contrast[c];
      const bool moves = depends(a, &contrast->number[j]);
      if (moves && contrast->verdict != IDM_AUDIT_FAILED) contrast->depends = true;
    }
}

/* === model checks =========================================================================== */

/* Model checks of cells: comparison with chance, homogeneity of agents, predictive checks. */

/* Cells that are inspected in parallel. */
typedef struct inspection {
  const audit_model *model;
  const audit_draws *draws;
  size_t among;
  check_time_limit limit;     /* of all cells together */
  idm_assessment *assessment; /* [cell] */
  idm_status *status;         /* [cell] */
  idm_error *error;
} inspection;

check_time_limit idm_audit_limit(const audit_model *model)
{
  return idm_check_time_begin(
      idm_check_effort_seconds(model->settings->checks, idm_seconds_worked(model->began)), NULL);
}

/* Copy the time limit of all cells, with a cancellation token for this cell that its thread owns.
 */
static check_time_limit cell_limit(const audit_model *m, size_t cell, const check_time_limit *limit,
                                   idm_cancel *cancel)
{
  check_time_limit own = *limit;
  idm_cancel_init(cancel, NULL, "examining the log");
  own.cancel = cancel;
  m->cell[cell].f.parameters->cancel = cancel;
  return own;
}

/* Run the model checks on one cell: at its best draw or, for nested agents, at one draw of their
 * numbers. */
static idm_status check_model(const audit_model *m, const audit_draws *draws, size_t cell,
                              const strata *opt_agents, size_t among, const check_time_limit *limit,
                              idm_assessment *a, idm_error *opt_error)
{
  const audit_cell *c = &m->cell[cell];
  const size_t all = draws->chains * draws->draws;
  const idm_labels *quantity = idm_parameters_quantities(c->f.parameters);
  idm_statistics *density = idm_new(all, sizeof *density);
  bool *summarised = idm_new(quantity->count, sizeof *summarised);
  idm_status status = density && summarised ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) {
    for (size_t k = 0; k < all; k++) density[k].log_density = draws->log_likelihood[cell * all + k];
    for (size_t j = 0; j < quantity->count; j++) summarised[j] = true;
    const idm_posterior posterior = {.answer = IDM_POSTERIOR,
                                     .chains = draws->chains,
                                     .draws = draws->draws,
                                     .seed = c->f.key,
                                     .quantity = *quantity,
                                     .summarised = summarised,
                                     .unconstrained = draws->cell + cell * m->dimension * all,
                                     .statistics = density};
    const check_context q = {.f = &c->f,
                             .posterior = &posterior,
                             .assessment = a,
                             .among = among,
                             .people = opt_agents,
                             .learnt = m->learnt,
                             .opt_time_limit = limit};
    status = opt_agents ? idm_check_time_run(&q, IDM_CHECK_CHANCE, idm_check_chance, opt_error)
                        : idm_assess_model(&q, opt_error);
  }
  free(density);
  free(summarised);
  return status;
}

static idm_status inspect(const inspection *i, size_t cell, idm_error *opt_error)
{
  idm_cancel cancel;
  const check_time_limit limit = cell_limit(i->model, cell, &i->limit, &cancel);
  idm_checks_begin(&i->assessment[cell].checks, IDM_CHECK_AUDIT);
  const idm_status status = check_model(i->model, i->draws, cell, NULL, i->among, &limit,
                                        &i->assessment[cell], opt_error);
  i->model->cell[cell].f.parameters->cancel = NULL;
  return status;
}

/* Check whether a finer lattice changes the cell's numbers and, for fixed dynamics, compute the
 * sensitivity of these numbers to the dynamics, in their own coordinates. */
static idm_status check_posterior(const audit_model *m, const audit_draws *draws, size_t cell,
                                  const strata *opt_agents, const check_time_limit *limit,
                                  idm_assessment *a, idm_error *opt_error)
{
  const audit_cell *c = &m->cell[cell];
  const size_t d = m->dimension, all = draws->chains * draws->draws;
  double *x = draws->cell + cell * d * all;
  bool *summarised = idm_new(d, sizeof *summarised);
  a->diagnosis = idm_new(d, sizeof *a->diagnosis);
  idm_status status = a->diagnosis && summarised ? IDM_OK : idm_fail_memory(opt_error);
  a->quantities = status == IDM_OK ? d : 0;
  a->answer = IDM_POSTERIOR;
  for (size_t j = 0; j < d && status == IDM_OK; j++) {
    a->diagnosis[j].sd = sqrt(idm_moments_of(x + j * all, all).variance);
    summarised[j] = true;
  }
  const idm_posterior posterior = {.answer = IDM_POSTERIOR,
                                   .chains = draws->chains,
                                   .draws = draws->draws,
                                   .quantity = c->f.parameters->coordinate,
                                   .summarised = summarised,
                                   .value = x,
                                   .unconstrained = x};
  const check_context q = {.f = &c->f,
                           .posterior = &posterior,
                           .assessment = a,
                           .among = 1,
                           .people = opt_agents,
                           .opt_time_limit = limit};
  if (status == IDM_OK && !m->learnt)
    status = idm_check_time_run(&q, IDM_CHECK_DEPENDS, idm_dynamics_sensitivity, opt_error);
  if (status == IDM_OK)
    status = idm_check_time_run(&q, IDM_CHECK_LATTICE, idm_check_lattice, opt_error);
  free(summarised);
  return status;
}

idm_status idm_audit_check_cell(const audit_model *m, const audit_draws *draws, size_t cell,
                                const strata *agents, size_t among, const check_time_limit *limit,
                                idm_assessment *a, idm_error *opt_error)
{
  idm_cancel cancel;
  const check_time_limit own = cell_limit(m, cell, limit, &cancel);
  idm_status status = check_model(m, draws, cell, agents, among, &own, a, opt_error);
  if (status == IDM_OK) status = check_posterior(m, draws, cell, agents, &own, a, opt_error);
  m->cell[cell].f.parameters->cancel = NULL;
  return status;
}

static void inspect_cell(void *context, size_t cell)
{
  const inspection *i = context;
  i->status[cell] = inspect(i, cell, &i->error[cell]);
}

idm_status idm_audit_check_models(const audit_model *model, const audit_draws *draws, size_t among,
                                  idm_assessment *assessment, idm_error *opt_error)
{
  inspection i = {.model = model,
                  .draws = draws,
                  .among = among,
                  .limit = idm_audit_limit(model),
                  .assessment = assessment};
  memset(assessment, 0, model->cells * sizeof *assessment);
  i.status = idm_new(model->cells, sizeof *i.status);
  i.error = idm_new(model->cells, sizeof *i.error);
  idm_status status = i.status && i.error ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status =
        idm_parallel(model->cells, model->settings->threads, inspect_cell, NULL, &i, opt_error);
  for (size_t c = 0; c < model->cells && status == IDM_OK; c++) {
    status = i.status[c];
    if (status != IDM_OK && opt_error) *opt_error = i.error[c];
  }
  /* Cells are checked one after another, because each check uses all threads. */
  for (size_t c = 0; c < model->cells && status == IDM_OK; c++) {
    idm_cancel cancel;
    const check_time_limit limit = cell_limit(model, c, &i.limit, &cancel);
    status = check_posterior(model, draws, c, NULL, &limit, &assessment[c], opt_error);
    model->cell[c].f.parameters->cancel = NULL;
  }
  free(i.status);
  free(i.error);
  return status;
}

void idm_audit_clear_checks(idm_assessment *assessment, size_t cells)
{
  for (size_t c = 0; assessment && c < cells; c++) {
    idm_notes_clear(&assessment[c].failures);
    idm_notes_clear(&assessment[c].misfits);
    idm_notes_clear(&assessment[c].remarks);
    free(assessment[c].finer_shift);
    free(assessment[c].model.between);
    free(assessment[c].model.extension);
    free(assessment[c].diagnosis);
    for (size_t k = 0; k < assessment[c].sensitivities; k++)
      free(assessment[c].sensitivity[k].derivative);
    free(assessment[c].sensitivity);
  }
}
