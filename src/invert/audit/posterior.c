/* Allocates, stores and reports the draws of an audit, and converts an audit to a posterior.
 *
 * Contents: draws · posterior */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "invert/audit.h"
#include "invert/audit/model.h"
#include "invert/posterior.h"

/* === draws ================================================================================== */

/* Memory and records of the draws of an audit, and progress reports. */

void idm_audit_draws_clear(audit_draws *draws)
{
  free(draws->mean);
  free(draws->sd);
  free(draws->effect);
  free(draws->cell);
  free(draws->within);
  free(draws->agent);
  free(draws->log_likelihood);
  idm_joint_dynamics_destroy(draws->dynamics);
  *draws = (audit_draws){0};
}

idm_status idm_audit_draws_create(const audit_model *m, audit_draws *draws, idm_error *opt_error)
{
  *draws = (audit_draws){.chains = m->settings->chains, .draws = (size_t)m->settings->draws};
  const size_t all = idm_times(m->dimension, draws->chains * draws->draws);
  draws->mean = idm_new(all, sizeof(double));
  draws->sd = idm_new(all, sizeof(double));
  draws->effect = idm_new(idm_times(m->effects, all), sizeof(double));
  draws->cell = idm_new(idm_times(m->cells, all), sizeof(double));
  draws->within = m->cohorts ? idm_new(idm_times(m->cells, all), sizeof(double)) : NULL;
  draws->agent =
      m->cohorts ? idm_new(idm_times(idm_audit_agents(m, m->cohorts), all), sizeof(double)) : NULL;
  draws->log_likelihood =
      idm_new(idm_times(m->cells, draws->chains * draws->draws), sizeof(double));
  const bool allocated = draws->mean && draws->sd && draws->effect && draws->cell &&
                         (draws->within || !m->cohorts) && (draws->agent || !m->cohorts) &&
                         draws->log_likelihood;
  if (!allocated) return idm_fail_memory(opt_error);
  return m->joint
             ? idm_joint_dynamics_create(&m->joint->cut->draws->name, &draws->dynamics, opt_error)
             : IDM_OK;
}

void idm_audit_draws_pass(const audit_model *m, audit_draws *draws, idm_record *r)
{
  const size_t one = draws->chains * draws->draws, all = m->dimension * one;
  idm_record_transfer(r, draws->mean, all * sizeof(double));
  idm_record_transfer(r, draws->sd, all * sizeof(double));
  idm_record_transfer(r, draws->effect, m->effects * all * sizeof(double));
  idm_record_transfer(r, draws->cell, m->cells * all * sizeof(double));
  if (draws->within) idm_record_transfer(r, draws->within, m->cells * all * sizeof(double));
  if (draws->agent)
    idm_record_transfer(r, draws->agent, idm_audit_agents(m, m->cohorts) * all * sizeof(double));
  idm_record_transfer(r, draws->log_likelihood, m->cells * one * sizeof(double));
  idm_joint_dynamics *d = draws->dynamics;
  if (!d) return;
  idm_record_transfer(r, d->mean, d->name.count * sizeof(double));
  idm_record_transfer(r, d->sd, d->name.count * sizeof(double));
  idm_record_transfer(r, &d->rhat, sizeof d->rhat);
  idm_record_transfer(r, &d->effective, sizeof d->effective);
}

static void describe(const void *content, char *buffer, size_t size)
{
  (void)content;
  if (size) buffer[0] = '\0';
}

bool idm_audit_report_progress(const audit_watch *watch, double share, uint64_t step,
                               const idm_progress_state *opt_work)
{
  const idm_fit_monitor *watcher = watch->opt_monitor;
  const idm_journal_step content = {watch->journal, step, opt_work};
  const idm_progress_state work = {
      .done = watch->from + share * (watch->to - watch->from),
      .content = &content,
      .describe = describe,
      /* A checkpoint without the state of the step in progress would lose its work. */
      .save = watch->journal && (!opt_work || opt_work->save) ? idm_journal_save : NULL};
  return watcher && watcher->progress && watcher->progress(watcher->context, &work);
}

/* === posterior ============================================================================== */

/* Conversion of an audit to idm_posterior, the form that every run has. */

/* Axis of the posterior along groups or contrasts, and the draws on it. */
typedef struct audit_axis {
  const char *axis;
  const char *suffix; /* appended to the coordinate in the name of the series */
  size_t count;
  bool contrasts;
} audit_axis;

static const char *label_of(const idm_audit *a, const audit_axis *r, size_t i, char *buffer,
                            size_t size)
{
  if (!r->contrasts) return a->group[i].name;
  snprintf(buffer, size, "%s - %s", a->contrast[i].group, a->contrast[i].against);
  return buffer;
}

static idm_status add_axis(const idm_audit *a, const audit_axis *r, idm_posterior *p,
                           idm_error *opt_error)
{
  size_t capacity = 1;
  for (size_t i = 0; r->contrasts && i < r->count; i++) {
    const size_t length = strlen(a->contrast[i].group) + strlen(a->contrast[i].against) + 4;
    capacity = length > capacity ? length : capacity;
  }
  idm_labels label = {0};
  char *buffer = idm_new(capacity, 1);
  idm_status status =
      buffer ? idm_labels_create(&label, r->count, opt_error) : idm_fail_memory(opt_error);
  for (size_t i = 0; i < r->count && status == IDM_OK; i++) {
    const char *text = label_of(a, r, i, buffer, capacity);
    status = idm_labels_set(&label, i, text, strlen(text), opt_error);
  }
  if (status == IDM_OK) status = idm_posterior_add_axis(p, r->axis, &label, opt_error);
  idm_labels_destroy(&label);
  free(buffer);
  return status;
}

static void store_number(const idm_audit_quantity *number, idm_posterior *p, size_t quantity)
{
  const size_t all = p->chains * p->draws;
  memcpy(p->value + quantity * all, number->draw, all * sizeof(double));
  p->summarised[quantity] = true;
}

/* Whether each group has its own sd of agents. */
static bool varies_by_group(const idm_audit *a)
{
  return a->groups && a->group[0].within;
}

static idm_status store_within(const idm_audit *a, size_t j, idm_posterior *p, size_t *at,
                               idm_error *opt_error)
{
  char name[400];
  snprintf(name, sizeof name, "%.300s_within", a->coordinate.name[j]);
  for (size_t i = 0; i < a->groups; i++) store_number(&a->group[i].within[j], p, *at + i);
  const idm_status status = idm_posterior_add_series(p, name, 0, *at, opt_error);
  *at += a->groups;
  return status;
}

/* Store groups, contrasts and population of coordinate j, starting at quantity *at, which is
 * advanced. */
static idm_status store_coordinate(const idm_audit *a, const audit_axis *rows, size_t j,
                                   idm_posterior *p, size_t *at, idm_error *opt_error)
{
  char name[400];
  idm_status status = IDM_OK;
  for (size_t r = 0; r < 2 && status == IDM_OK; r++) {
    snprintf(name, sizeof name, "%.300s%s", a->coordinate.name[j], rows[r].suffix);
    for (size_t i = 0; i < rows[r].count; i++)
      store_number(r ? &a->contrast[i].number[j] : &a->group[i].number[j], p, *at + i);
    status = idm_posterior_add_series(p, name, r, *at, opt_error);
    *at += rows[r].count;
  }
  const struct {
    const char *suffix;
    const idm_audit_quantity *number;
  } one[] = {{"_mean", a->mean}, {"_sd", a->sd}, {"_within", a->within}};
  for (size_t k = 0; k < 3 && status == IDM_OK; k++) {
    if (!one[k].number) continue;
    snprintf(name, sizeof name, "%.300s%s", a->coordinate.name[j], one[k].suffix);
    store_number(&one[k].number[j], p, *at);
    status = idm_labels_set(&p->quantity, (*at)++, name, strlen(name), opt_error);
  }
  return status == IDM_OK && varies_by_group(a) ? store_within(a, j, p, at, opt_error) : status;
}

static idm_status fill(const idm_audit *a, size_t quantities, idm_posterior *p,
                       idm_error *opt_error)
{
  const audit_axis rows[2] = {{"group", "", a->groups, false},
                              {"contrast", "_contrast", a->contrasts, true}};
  const size_t d = a->coordinate.count;
  p->seed = a->seed;
  p->request = a->request;
  p->resolution = a->resolution;
  p->warmup = a->warmup;
  p->cuts = a->cuts > 1 ? a->cuts : 0;
  size_t at = 0;
  idm_status status = idm_labels_create(&p->quantity, quantities, opt_error);
  for (size_t r = 0; r < 2 && status == IDM_OK; r++) status = add_axis(a, &rows[r], p, opt_error);
  for (size_t j = 0; j < d && status == IDM_OK; j++)
    status = store_coordinate(a, rows, j, p, &at, opt_error);
  return status;
}

idm_status idm_audit_posterior(const idm_audit *audit, idm_posterior **ret_posterior,
                               idm_error *opt_error)
{
  idm_require(audit, ret_posterior);
  const size_t population = (audit->mean ? 2U : 0U) + (audit->within ? 1U : 0U);
  const size_t groups = audit->groups * (varies_by_group(audit) ? 2 : 1);
  const size_t quantities = audit->coordinate.count * (groups + audit->contrasts + population);
  idm_posterior *p;
  idm_status status = idm_posterior_allocate("audit", "blocks", audit->chains, audit->draws,
                                             quantities, &p, opt_error);
  *ret_posterior = NULL;
  if (status != IDM_OK) return status;
  status = fill(audit, quantities, p, opt_error);
  if (status == IDM_OK && audit->problem)
    status = idm_problem_copy(audit->problem, &p->problem, opt_error);
  if (status == IDM_OK)
    *ret_posterior = p;
  else
    idm_posterior_destroy(p);
  return status;
}
