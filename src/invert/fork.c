/* A problem with a parameter and dynamics of its own: see the header. */
#include "invert/fork.h"

#include "base/memory.h"

void idm_fork_destroy(idm_problem *fork)
{
  if (!fork) return;
  if (fork->setting) {
    free(fork->setting->start);
    free(fork->setting->transition);
    free(fork->setting->emission);
    free(fork->setting);
  }
  idm_theta_destroy(fork->theta);
  free(fork);
}

static idm_status fill(const idm_problem *problem, idm_problem *fork, idm_error *opt_error)
{
  const idm_setting *from = problem->setting;
  const idm_sizes n = idm_setting_sizes(from);
  const size_t rows = n.actions * n.states;
  idm_setting *setting = fork->setting = idm_duplicate(from, 1, sizeof *setting);
  if (!setting) return idm_fail_memory(opt_error);
  setting->start = idm_duplicate(from->start, n.states, sizeof(double));
  setting->transition = idm_duplicate(from->transition, rows * n.states, sizeof(double));
  setting->emission = idm_duplicate(from->emission, rows * n.observations, sizeof(double));
  const bool made = setting->start && (setting->transition || !from->transition) &&
                    (setting->emission || !from->emission);
  return made ? idm_theta_copy(problem->theta, &fork->theta, opt_error)
              : idm_fail_memory(opt_error);
}

idm_status idm_problem_fork(const idm_problem *problem, idm_problem **ret_fork,
                            idm_error *opt_error)
{
  *ret_fork = NULL;
  idm_problem *fork = idm_duplicate(problem, 1, sizeof *fork);
  if (!fork) return idm_fail_memory(opt_error);
  fork->setting = NULL;
  fork->theta = NULL;
  const idm_status status = fill(problem, fork, opt_error);
  if (status == IDM_OK)
    *ret_fork = fork;
  else
    idm_fork_destroy(fork);
  return status;
}
