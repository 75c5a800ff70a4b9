/* Whether the agents of a cell are alike enough to share one number. */
#include "invert/audit/alike.h"

#include "base/memory.h"
#include "invert/assess/agents.h"

/* Streams beyond those of the chains. */
static const uint64_t first_stream = (uint64_t)1 << 33;

static idm_status test(const residual *r, uint64_t key, double *statistic, idm_error *opt_error)
{
  agents_check agents;
  idm_random random;
  double *shift = idm_new(r->dimension, sizeof *shift);
  double *taken = idm_new(idm_times(r->questions, r->actions), sizeof *taken);
  idm_status status = idm_agents_open(&agents, r, opt_error);
  if (status == IDM_OK && (!shift || !taken)) status = idm_fail_memory(opt_error);
  for (size_t i = 0; status == IDM_OK && agents.agents && i <= AUDIT_REPLICATES; i++) {
    idm_random_init(&random, key, first_stream + i);
    if (i) idm_residual_draw(r, &random, taken);
    const double *answers = i ? taken : r->taken;
    idm_residual_shift(r, answers, shift);
    statistic[i] = idm_agents_take(&agents, answers, shift);
  }
  idm_agents_close(&agents);
  free(shift);
  free(taken);
  return status;
}

idm_status idm_audit_alike(const audit_model *model, const audit_draws *draws, size_t cell,
                           double statistic[AUDIT_REPLICATES + 1], idm_error *opt_error)
{
  const audit_cell *c = &model->cell[cell];
  const size_t all = draws->chains * draws->draws;
  memset(statistic, 0, (AUDIT_REPLICATES + 1) * sizeof *statistic);
  if (c->data->agent_name.count < 2) return IDM_OK;
  idm_statistics *density = idm_new(all, sizeof *density);
  if (!density) return idm_fail_memory(opt_error);
  for (size_t i = 0; i < all; i++) density[i].log_density = draws->log_likelihood[cell * all + i];
  const idm_posterior posterior = {.answer = IDM_POSTERIOR,
                                   .chains = draws->chains,
                                   .draws = draws->draws,
                                   .seed = model->key,
                                   .unconstrained = draws->cell + cell * model->dimension * all,
                                   .statistics = density};
  const inquiry q = {.f = &c->f, .posterior = &posterior};
  residual r;
  idm_status status = idm_residual_open(&r, &q, opt_error);
  if (status == IDM_OK && r.seen) status = test(&r, c->f.key, statistic, opt_error);
  if (status == IDM_OK) idm_residual_close(&r);
  free(density);
  return status;
}
