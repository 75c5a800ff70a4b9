/* Draws of the model of an audit: room for them, and who watches them being made. */
#include "invert/audit/draws.h"
#include "base/memory.h"

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
  draws->within = m->wards ? idm_new(idm_times(m->cells, all), sizeof(double)) : NULL;
  draws->agent =
      m->wards ? idm_new(idm_times(idm_audit_agents(m, m->wards), all), sizeof(double)) : NULL;
  draws->log_likelihood =
      idm_new(idm_times(m->cells, draws->chains * draws->draws), sizeof(double));
  const bool made = draws->mean && draws->sd && draws->effect && draws->cell &&
                    (draws->within || !m->wards) && (draws->agent || !m->wards) &&
                    draws->log_likelihood;
  if (!made) return idm_fail_memory(opt_error);
  return m->joint
             ? idm_joint_dynamics_create(&m->joint->cut->draws->name, &draws->dynamics, opt_error)
             : IDM_OK;
}

void idm_audit_draws_pass(const audit_model *m, audit_draws *draws, idm_record *r)
{
  const size_t one = draws->chains * draws->draws, all = m->dimension * one;
  idm_record_pass(r, draws->mean, all * sizeof(double));
  idm_record_pass(r, draws->sd, all * sizeof(double));
  idm_record_pass(r, draws->effect, m->effects * all * sizeof(double));
  idm_record_pass(r, draws->cell, m->cells * all * sizeof(double));
  if (draws->within) idm_record_pass(r, draws->within, m->cells * all * sizeof(double));
  if (draws->agent)
    idm_record_pass(r, draws->agent, idm_audit_agents(m, m->wards) * all * sizeof(double));
  idm_record_pass(r, draws->log_likelihood, m->cells * one * sizeof(double));
  idm_joint_dynamics *d = draws->dynamics;
  if (!d) return;
  idm_record_pass(r, d->mean, d->name.count * sizeof(double));
  idm_record_pass(r, d->sd, d->name.count * sizeof(double));
  idm_record_pass(r, &d->rhat, sizeof d->rhat);
  idm_record_pass(r, &d->effective, sizeof d->effective);
}

static void describe(const void *content, char *buffer, size_t size)
{
  (void)content;
  if (size) buffer[0] = '\0';
}

bool idm_audit_watched(const audit_watch *watch, double share, uint64_t step,
                       const idm_work *opt_work)
{
  const idm_fit_watch *watcher = watch->opt_watch;
  const idm_journal_work content = {watch->journal, step, opt_work};
  const idm_work work = {.done = watch->from + share * (watch->to - watch->from),
                         .content = &content,
                         .describe = describe,
                         /* A checkpoint without what the step has done would lose it. */
                         .save = watch->journal && (!opt_work || opt_work->save) ? idm_journal_save
                                                                                 : NULL};
  return watcher && watcher->progress && watcher->progress(watcher->context, &work);
}
