/* Dynamics of a cell's own: see the header. */
#include "invert/audit/dynamics.h"

#include "base/memory.h"
#include "idm/dynamics.h"
#include "idm/learn.h"

void idm_audit_learnt_destroy(idm_problem *problem)
{
  if (!problem) return;
  if (problem->setting) {
    free(problem->setting->start);
    free(problem->setting->transition);
    free(problem->setting->emission);
    free(problem->setting);
  }
  idm_theta_destroy(problem->theta);
  free(problem);
}

/* The same problem with a parameter and dynamics of its own. */
static idm_status fork_problem(const idm_problem *problem, idm_problem **ret_problem,
                               idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(problem->setting);
  const size_t cells = n.actions * n.states;
  idm_problem *own = *ret_problem = idm_duplicate(problem, 1, sizeof *own);
  if (!own) return idm_fail_memory(opt_error);
  own->theta = NULL;
  idm_setting *setting = own->setting = idm_duplicate(problem->setting, 1, sizeof *setting);
  if (!setting) return idm_fail_memory(opt_error);
  setting->start = idm_duplicate(problem->setting->start, n.states, sizeof(double));
  setting->transition =
      idm_duplicate(problem->setting->transition, cells * n.states, sizeof(double));
  setting->emission =
      idm_duplicate(problem->setting->emission, cells * n.observations, sizeof(double));
  const bool made = setting->start && (setting->transition || !problem->setting->transition) &&
                    (setting->emission || !problem->setting->emission);
  return made ? idm_theta_copy(problem->theta, &own->theta, opt_error) : idm_fail_memory(opt_error);
}

idm_status idm_audit_learn(const idm_problem *problem, const idm_data *data,
                           idm_problem **ret_problem, idm_error *opt_error)
{
  idm_iohmm *learner = NULL;
  idm_learnt learnt = {0};
  idm_learn_settings settings;
  idm_learn_settings_default(&settings);
  settings.start = IDM_LEARN_FROM_FILE;
  settings.starts = 1;
  settings.folds = 0;
  settings.draws = 0;
  settings.threads = 1;
  *ret_problem = NULL;
  idm_status status =
      idm_iohmm_create(problem, data, 0, IDM_LEARN_HOLD_NOTHING, &learner, opt_error);
  if (status == IDM_OK)
    status = idm_learn(learner, problem, &settings, NULL, NULL, &learnt, opt_error);
  if (status == IDM_OK) status = fork_problem(problem, ret_problem, opt_error);
  if (status == IDM_OK) status = idm_problem_put_dynamics(*ret_problem, learnt.dynamics, opt_error);
  idm_learnt_clear(&learnt);
  idm_iohmm_destroy(learner);
  if (status != IDM_OK) {
    idm_audit_learnt_destroy(*ret_problem);
    *ret_problem = NULL;
  }
  return status;
}
