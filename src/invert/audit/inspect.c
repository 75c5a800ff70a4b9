/* The model's half of the verdict on a cell: see the header. */
#include "invert/audit/inspect.h"

#include <math.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/moments.h"
#include "base/parallel.h"
#include "invert/assess/checks.h"
#include "invert/assess/depend.h"
#include "invert/assess/model.h"
#include "invert/check.h"

/* Cells side by side. */
typedef struct inspection {
  const audit_model *model;
  const audit_draws *draws;
  size_t among;
  allowance limit;            /* of all cells */
  idm_assessment *assessment; /* [cell] */
  idm_status *status;         /* [cell] */
  idm_error *error;
} inspection;

allowance idm_audit_limit(const audit_model *model)
{
  return idm_allowance_begin(idm_effort_seconds(model->settings->checks, idm_worked(model->began)),
                             NULL);
}

/* The limit of all cells, with a halt of this one that the thread at hand owns. */
static allowance interrupt(const audit_model *m, size_t cell, const allowance *limit,
                           idm_halt *halt)
{
  allowance own = *limit;
  idm_halt_begin(halt, NULL, "examining the log");
  own.halt = halt;
  m->cell[cell].f.parameters->halt = halt;
  return own;
}

/* The tests of the model in one cell, at its best draw or, of agents, at a draw of theirs. */
static idm_status inspect_model(const audit_model *m, const audit_draws *draws, size_t cell,
                                const strata *opt_agents, size_t among, const allowance *limit,
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
    const inquiry q = {.f = &c->f,
                       .posterior = &posterior,
                       .assessment = a,
                       .among = among,
                       .people = opt_agents,
                       .learnt = m->learnt,
                       .opt_allowance = limit};
    status = opt_agents ? idm_allowance_run(&q, IDM_CHECK_CHANCE, idm_check_chance, opt_error)
                        : idm_assess_model(&q, opt_error);
  }
  free(density);
  free(summarised);
  return status;
}

static idm_status inspect(const inspection *i, size_t cell, idm_error *opt_error)
{
  idm_halt halt;
  const allowance limit = interrupt(i->model, cell, &i->limit, &halt);
  idm_checks_begin(&i->assessment[cell].checks, IDM_CHECK_AUDIT);
  const idm_status status = inspect_model(i->model, i->draws, cell, NULL, i->among, &limit,
                                          &i->assessment[cell], opt_error);
  i->model->cell[cell].f.parameters->halt = NULL;
  return status;
}

/* Whether a finer lattice moves the cell's numbers and, of dynamics that were held, how far these
 * do: in their own coordinates. */
static idm_status inspect_answer(const audit_model *m, const audit_draws *draws, size_t cell,
                                 const strata *opt_agents, const allowance *limit,
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
  const inquiry q = {.f = &c->f,
                     .posterior = &posterior,
                     .assessment = a,
                     .among = 1,
                     .people = opt_agents,
                     .opt_allowance = limit};
  if (status == IDM_OK && !m->learnt)
    status = idm_allowance_run(&q, IDM_CHECK_DEPENDS, idm_depend_measure, opt_error);
  if (status == IDM_OK)
    status = idm_allowance_run(&q, IDM_CHECK_LATTICE, idm_check_lattice, opt_error);
  free(summarised);
  return status;
}

idm_status idm_audit_inspect_cell(const audit_model *m, const audit_draws *draws, size_t cell,
                                  const strata *agents, size_t among, const allowance *limit,
                                  idm_assessment *a, idm_error *opt_error)
{
  idm_halt halt;
  const allowance own = interrupt(m, cell, limit, &halt);
  idm_status status = inspect_model(m, draws, cell, agents, among, &own, a, opt_error);
  if (status == IDM_OK) status = inspect_answer(m, draws, cell, agents, &own, a, opt_error);
  m->cell[cell].f.parameters->halt = NULL;
  return status;
}

static void inspect_cell(void *context, size_t cell)
{
  const inspection *i = context;
  i->status[cell] = inspect(i, cell, &i->error[cell]);
}

idm_status idm_audit_inspect(const audit_model *model, const audit_draws *draws, size_t among,
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
  /* Cell by cell: each takes all threads. */
  for (size_t c = 0; c < model->cells && status == IDM_OK; c++) {
    idm_halt halt;
    const allowance limit = interrupt(model, c, &i.limit, &halt);
    status = inspect_answer(model, draws, c, NULL, &limit, &assessment[c], opt_error);
    model->cell[c].f.parameters->halt = NULL;
  }
  free(i.status);
  free(i.error);
  return status;
}

void idm_audit_inspected_clear(idm_assessment *assessment, size_t cells)
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
      free(assessment[c].sensitivity[k].slope);
    free(assessment[c].sensitivity);
  }
}
