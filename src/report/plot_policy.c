/* What an agent does at every belief, and where its belief goes: the paper's figure "Bounded
 * Rational Control". */
#include "base/memory.h"
#include "idm/plot.h"
#include "idm/problem_file.h"
#include "invert/fork.h"
#include "report/policy.h"

extern const idm_plot idm_plot_policy; /* registered in plots.c */

/* --- agents --------------------------------------------------------------------------------- */

/* One "KEY=VALUE" of a panel. */
static idm_status assign(idm_problem *problem, const char *from, size_t length,
                         idm_error *opt_error)
{
  while (length && (*from == ' ' || *from == '\t')) from++, length--;
  while (length && (from[length - 1] == ' ' || from[length - 1] == '\t')) length--;
  char *text = idm_text_copy(from, length);
  if (!text) return idm_fail_memory(opt_error);
  const idm_status status = idm_problem_set(problem, text, opt_error);
  free(text);
  return status;
}

/* "TITLE: KEY=VALUE, KEY=VALUE" put into the problem; returns where the title ends. */
static idm_status vary(idm_problem *problem, const char *panel, size_t *ret_title,
                       idm_error *opt_error)
{
  const char *colon = strrchr(panel, ':');
  const char *at = colon ? colon + 1 : panel;
  idm_status status = IDM_OK;
  *ret_title = colon ? (size_t)(colon - panel) : strlen(panel);
  while (*at && status == IDM_OK) {
    const size_t length = strcspn(at, ",");
    status = assign(problem, at, length, opt_error);
    at += length + (at[length] == ',');
  }
  return status;
}

static idm_status add_agent(idm_figure *figure, const idm_problem *problem, const char *title,
                            const char *opt_path, idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  idm_workspace *workspace = NULL;
  idm_followed *f = NULL;
  idm_status status =
      idm_workspace_create(setting, problem->theta, &problem->agent, &workspace, opt_error);
  if (status == IDM_OK) status = idm_plan(problem->theta, NULL, workspace, NULL, opt_error);
  if (status == IDM_OK && !setting->fully_observed && opt_path)
    status = idm_follow(setting, workspace, opt_path, &f, opt_error);
  if (status == IDM_OK) status = idm_policy_add(figure, setting, workspace, title, f, opt_error);
  idm_followed_destroy(f);
  idm_workspace_destroy(workspace);
  return status;
}

/* --- the figure ----------------------------------------------------------------------------- */

static idm_status check(const idm_problem *problem, idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  const size_t states = problem->setting->states.count;
  if (!planner->belief)
    return idm_fail(opt_error, IDM_USAGE,
                    "'%s' does not decide by a belief: there is no policy to draw over it",
                    planner->name);
  if (!problem->setting->fully_observed && states != 2)
    return idm_fail(opt_error, IDM_USAGE,
                    "a policy is drawn over the beliefs between two states, and the problem has "
                    "%zu%s",
                    states, states == 3 ? "; see the kind 'simplex'" : "");
  return IDM_OK;
}

static idm_status make_policy(const idm_plot_subject *subject, const idm_plot_settings *settings,
                              idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  (void)notes;
  const size_t count = settings->panels ? settings->panels : 1;
  idm_status status = check(subject->problem, opt_error);
  if (status == IDM_OK)
    status = idm_figure_create(
        "", "Decision policies: how probable each action is at each belief of the agent.",
        count < 3 ? count : 3, ret_figure, opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    idm_problem *agent = NULL;
    size_t length = 0;
    status = idm_problem_fork(subject->problem, &agent, opt_error);
    if (status == IDM_OK && settings->panels)
      status = vary(agent, settings->panel[i], &length, opt_error);
    char *title = idm_text_copy(settings->panels ? settings->panel[i] : "", length);
    if (status == IDM_OK && !title) status = idm_fail_memory(opt_error);
    if (status == IDM_OK) status = check(agent, opt_error);
    if (status == IDM_OK) status = add_agent(*ret_figure, agent, title, settings->path, opt_error);
    free(title);
    idm_fork_destroy(agent);
  }
  return status;
}

const idm_plot idm_plot_policy = {
    .name = "policy",
    .summary = "what an agent does at every belief (two states) or in every state, of one agent or "
               "of several side by side",
    .needs = IDM_PLOT_PROBLEM,
    .make = make_policy,
};
