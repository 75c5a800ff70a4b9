/* Plot of an agent's policy over beliefs, and of the path of its belief: the paper's figure
 * "Bounded Rational Control". */
#include "report/panels.h"

extern const idm_plot idm_plot_policy; /* registered in plots.c */

static idm_status draw(const void *context, const idm_plot_agent *agent, idm_figure *figure,
                       idm_error *opt_error)
{
  const char *opt_path = context;
  const idm_setting *setting = agent->problem->setting;
  idm_path_trace *f = NULL;
  idm_status status = IDM_OK;
  if (!setting->fully_observed && opt_path)
    status = idm_path_trace_create(setting, agent->workspace, opt_path, &f, opt_error);
  const size_t views = idm_policy_views(setting, agent->workspace);
  for (size_t i = 0; i < views && status == IDM_OK; i++) {
    char title[320];
    const idm_policy_view view =
        idm_policy_view_at(setting, agent->workspace, i, agent->title, title, sizeof title);
    status = idm_policy_add(figure, setting, agent->workspace, view, title, f, opt_error);
  }
  idm_path_trace_destroy(f);
  return status;
}

static idm_status check(const idm_problem *problem, idm_error *opt_error)
{
  const size_t states = problem->setting->states.count;
  const idm_status status = idm_plot_agent_has_beliefs(problem, opt_error);
  if (status != IDM_OK || problem->setting->fully_observed || states == 2) return status;
  return idm_fail(opt_error, IDM_USAGE,
                  "a policy is drawn over the beliefs between two states, and the problem has "
                  "%zu%s",
                  states, states == 3 ? "; see the kind 'simplex'" : "");
}

static idm_status make_policy(const idm_plot_subject *subject, const idm_plot_settings *settings,
                              idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  const idm_plot_drawer drawer = {check, draw, settings->path};
  idm_status status = idm_figure_create(
      "", "Decision policies: probability of each action at each belief of the agent.",
      idm_plot_agents_columns(settings), ret_figure, opt_error);
  if (status == IDM_OK)
    status = idm_plot_agents(subject, settings, &drawer, *ret_figure, notes, opt_error);
  if (status == IDM_OK) (*ret_figure)->columns = idm_policy_columns((*ret_figure)->panels);
  return status;
}

const idm_plot idm_plot_policy = {
    .name = "policy",
    .summary = "what an agent does at every belief (two states) or in every state, of one agent or "
               "of several side by side",
    .needs = IDM_PLOT_PROBLEM,
    .dynamics = IDM_DYNAMICS_CENTRAL,
    .make = make_policy,
};
