/* Policies by state. */
#include "invert/policy.h"

#include "base/memory.h"
#include "idm/planner.h"
#include "idm/workspace.h"

bool idm_policy_by_belief(const idm_problem *problem)
{
  return idm_agent_planner(&problem->agent)->belief && idm_theta_variants(problem->theta) == 1;
}

bool idm_policy_leaps(const idm_problem *problem)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const idm_block *alpha = &problem->theta->block[IDM_ALPHA];
  if (planner->gives & IDM_GIVES_STEPS) return true;
  for (size_t i = 0; i < planner->clamps; i++)
    if (planner->clamp[i].block == IDM_ALPHA && planner->clamp[i].kind == IDM_CLAMP_VALUE)
      return planner->clamp[i].value == 0;
  return idm_planner_reads(planner, IDM_ALPHA) && alpha->role != IDM_DESCRIPTIVE &&
         alpha->value[0] == 0;
}

bool idm_policy_by_state(const idm_problem *problem)
{
  return problem->setting->fully_observed && idm_policy_by_belief(problem);
}

bool idm_policy_is_unchosen(const idm_problem *problem, const idm_data *data)
{
  if (!problem->environments || !data->label[IDM_COLUMN_ENVIRONMENT]) return false;
  return !problem->within || idm_data_spans(data);
}

idm_status idm_policy_plan(const idm_problem *problem, const idm_theta *theta, double *policy,
                           idm_error *opt_error)
{
  const idm_sizes n = idm_setting_sizes(problem->setting);
  idm_workspace *workspace = NULL;
  double *corner = idm_new(n.states, sizeof *corner);
  idm_status status = corner ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, opt_error);
  if (status == IDM_OK) status = idm_plan(theta, NULL, workspace, NULL, opt_error);
  for (size_t s = 0; s < n.states && status == IDM_OK; s++) {
    corner[s] = 1;
    idm_plan_policy(workspace, 0, corner, policy + s * n.actions, NULL);
    corner[s] = 0;
  }
  idm_workspace_destroy(workspace);
  free(corner);
  return status;
}

idm_status idm_policy_put(const idm_problem *problem, const idm_theta *theta, idm_finding *finding,
                          idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  const size_t numbers = idm_times(setting->states.count, setting->actions.count);
  finding->policy = idm_new(numbers, sizeof *finding->policy);
  idm_status status = finding->policy ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->states, &finding->state, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->actions, &finding->action, opt_error);
  if (status == IDM_OK) status = idm_policy_plan(problem, theta, finding->policy, opt_error);
  return status;
}
