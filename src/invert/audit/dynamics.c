/* Dynamics of a cell's own: see the header. */
#include "invert/audit/dynamics.h"

#include "base/memory.h"

/* One draw of one chain, which is a point. */
static idm_status take_point(const idm_problem *problem, const idm_dynamics *point,
                             idm_dynamics_draws *draws, idm_error *opt_error)
{
  idm_status status = idm_dynamics_names(problem, &draws->name, &draws->place, opt_error);
  if (status != IDM_OK) return status;
  draws->chains = draws->draws = 1;
  draws->numbers = draws->name.count;
  draws->value = idm_new(draws->numbers, sizeof *draws->value);
  draws->log_likelihood = idm_new(1, sizeof *draws->log_likelihood);
  if (!draws->value || !draws->log_likelihood) {
    idm_dynamics_draws_clear(draws);
    return idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < draws->numbers; i++) draws->value[i] = point->start[draws->place[i]];
  return IDM_OK;
}

idm_status idm_audit_learn(const idm_problem *problem, const idm_data *data, bool drawn,
                           uint64_t seed, idm_dynamics_draws *draws, idm_error *opt_error)
{
  enum { chains = 2, sweeps = 200 };
  idm_iohmm *learner = NULL;
  idm_learnt learnt = {0};
  idm_learn_settings settings;
  idm_learn_settings_default(&settings);
  settings.start = IDM_LEARN_FROM_FILE;
  settings.starts = 1;
  settings.folds = 0;
  settings.chains = chains;
  settings.draws = settings.warmup = sweeps;
  settings.seed = seed;
  settings.threads = 1;
  *draws = (idm_dynamics_draws){0};
  idm_status status =
      idm_iohmm_create(problem, data, 0, IDM_LEARN_HOLD_NOTHING, &learner, opt_error);
  if (status == IDM_OK)
    status = idm_learn(learner, problem, &settings, NULL, NULL, &learnt, opt_error);
  if (status == IDM_OK && !drawn) status = take_point(problem, learnt.dynamics, draws, opt_error);
  if (status == IDM_OK && drawn)
    status =
        idm_learn_draw(learner, problem, learnt.dynamics, &settings, NULL, NULL, draws, opt_error);
  idm_learnt_clear(&learnt);
  idm_iohmm_destroy(learner);
  return status;
}
