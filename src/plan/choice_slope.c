/* Choices at given beliefs, in reverse. */
#include "plan/choice_slope.h"

#include "base/memory.h"
#include "plan/believer/slope.h"
#include "plan/workspace.h"

struct idm_choice_slope {
  idm_workspace *workspace;
  void *adjoint;
  double *decision;      /* [action] */
  double *log_slope;     /* [action]: by log pi */
  double *specification; /* [action][model]: 0, as choices depend on policies alone */
  habit_slope habit;
};

bool idm_choice_slope_possible(const idm_workspace *workspace)
{
  const idm_planner *planner = workspace->planner;
  return planner->belief && workspace->believer.differentiable &&
         !(planner->gives & IDM_GIVES_STEPS);
}

void idm_choice_slope_destroy(idm_choice_slope *slope)
{
  if (!slope) return;
  if (slope->adjoint) slope->workspace->planner->belief->adjoint->destroy(slope->adjoint);
  free(slope->decision);
  free(slope->log_slope);
  free(slope->specification);
  free(slope);
}

idm_status idm_choice_slope_create(idm_workspace *workspace, idm_choice_slope **ret_slope,
                                   idm_error *opt_error)
{
  *ret_slope = NULL;
  const idm_theta *theta = workspace->theta;
  const size_t actions = theta->sizes.actions;
  idm_choice_slope *s = idm_new(1, sizeof *s);
  if (!s) return idm_fail_memory(opt_error);
  s->workspace = workspace;
  s->decision = idm_new(actions, sizeof *s->decision);
  s->log_slope = idm_new(actions, sizeof *s->log_slope);
  s->specification = idm_new(idm_times(actions, theta->models), sizeof *s->specification);
  idm_status status =
      s->decision && s->log_slope && s->specification ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status =
        workspace->planner->belief->adjoint->create(workspace->content, &s->adjoint, opt_error);
  if (status == IDM_OK)
    *ret_slope = s;
  else
    idm_choice_slope_destroy(s);
  return status;
}

void idm_choice_slope_begin(idm_choice_slope *slope)
{
  slope->habit = (habit_slope){0};
  slope->workspace->planner->belief->adjoint->begin(slope->adjoint);
}

void idm_choice_slope_point(idm_choice_slope *slope, const double *z, const double *by_choice)
{
  const idm_workspace *w = slope->workspace;
  const size_t actions = w->theta->sizes.actions;
  const habit own = idm_habit_of(w->theta);
  const double open = (double)actions;
  w->planner->belief->policy(w->content, 0, 0, z, slope->decision, NULL, w->scratch);
  memset(slope->log_slope, 0, actions * sizeof *slope->log_slope);
  for (size_t u = 0; u < actions; u++) {
    const double p = idm_habit_slip(own, slope->decision[u], open);
    if (p > 0 && by_choice[u] != 0)
      idm_habit_recall(own, actions, slope->decision, open, IDM_MISSING, u, by_choice[u] * p,
                       slope->log_slope, &slope->habit);
  }
  const idm_policy_slope point = {.belief = z,
                                  .decision = slope->decision,
                                  .log_decision_slope = slope->log_slope,
                                  .specification_slope = slope->specification};
  w->planner->belief->adjoint->point(slope->adjoint, &point);
}

idm_status idm_choice_slope_finish(idm_choice_slope *slope, idm_theta *theta_slope,
                                   idm_error *opt_error)
{
  idm_theta_clear(theta_slope);
  return idm_believer_finish(&slope->workspace->believer, slope->adjoint, &slope->habit, false,
                             theta_slope, opt_error);
}
