/* What an agent does at every belief, and where its belief goes: the paper's figure "Bounded
 * Rational Control". */
#include <stdio.h>

#include "base/memory.h"
#include "idm/follow.h"
#include "idm/plot.h"
#include "idm/problem_file.h"
#include "invert/fork.h"

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

/* --- panels --------------------------------------------------------------------------------- */

enum { beliefs = 201 };

/* pi(u|z) along the beliefs between two states. */
static idm_status add_lines(idm_panel *panel, const idm_setting *setting, idm_workspace *workspace,
                            idm_error *opt_error)
{
  const size_t actions = setting->actions.count;
  double *policy = idm_new(actions, sizeof *policy);
  idm_status status = policy ? IDM_OK : idm_fail_memory(opt_error);
  const size_t first = panel->marks;
  for (size_t u = 0; u < actions && status == IDM_OK; u++) {
    idm_mark *line;
    status = idm_panel_add(panel, IDM_MARK_LINE, setting->actions.name[u], (int)u % IDM_COLOURS,
                           beliefs, &line, opt_error);
  }
  for (size_t i = 0; i < beliefs && status == IDM_OK; i++) {
    const double p = (double)i / (beliefs - 1);
    const double z[2] = {1 - p, p};
    idm_plan_policy(workspace, 0, z, policy, NULL);
    for (size_t u = 0; u < actions; u++) {
      panel->mark[first + u]->column[IDM_FIGURE_X][i] = p;
      panel->mark[first + u]->column[IDM_FIGURE_Y][i] = policy[u];
    }
  }
  free(policy);
  return status;
}

/* Where the belief stands after each step of a path. */
static idm_status add_path(idm_panel *panel, const idm_setting *setting,
                           const idm_workspace *workspace, const char *path, idm_error *opt_error)
{
  idm_followed *f = NULL;
  idm_mark *steps = NULL;
  idm_status status = idm_follow(setting, workspace, path, &f, opt_error);
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_STEPS, "belief along the path", IDM_COLOUR_QUIET,
                           f->places, &steps, opt_error);
  if (status == IDM_OK) status = idm_labels_create(&steps->label, f->places, opt_error);
  for (size_t i = 0; status == IDM_OK && i < f->places; i++) {
    char number[24];
    const int length = snprintf(number, sizeof number, "%zu", i);
    steps->column[IDM_FIGURE_X][i] = f->belief[2 * i + 1];
    status = idm_labels_set(&steps->label, i, number, (size_t)length, opt_error);
  }
  idm_followed_destroy(f);
  return status;
}

/* pi(u|s), where states are observed: a row a state, a column an action. */
static idm_status add_cells(idm_panel *panel, const idm_setting *setting, idm_workspace *workspace,
                            idm_error *opt_error)
{
  const size_t actions = setting->actions.count, states = setting->states.count;
  double *z = idm_new(states + actions, sizeof *z);
  idm_mark *cells;
  idm_status status = z ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_CELLS, "", 0, states * actions, &cells, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->states, &panel->y.category, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->actions, &panel->x.category, opt_error);
  for (size_t s = 0; s < states && status == IDM_OK; s++) {
    z[s] = 1;
    idm_plan_policy(workspace, 0, z, z + states, NULL);
    z[s] = 0;
    for (size_t u = 0; u < actions; u++) {
      const size_t i = s * actions + u;
      cells->column[IDM_FIGURE_X][i] = (double)u - 0.5;
      cells->column[IDM_FIGURE_RIGHT][i] = (double)u + 0.5;
      cells->column[IDM_FIGURE_Y][i] = (double)s - 0.5;
      cells->column[IDM_FIGURE_TOP][i] = (double)s + 0.5;
      cells->column[IDM_FIGURE_VALUE][i] = z[states + u];
    }
  }
  free(z);
  return status;
}

static idm_status add_agent(idm_figure *figure, const idm_problem *problem, const char *title,
                            const char *opt_path, idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  idm_workspace *workspace = NULL;
  idm_panel *panel;
  char belief[160];
  idm_status status =
      idm_workspace_create(setting, problem->theta, &problem->agent, &workspace, opt_error);
  if (status == IDM_OK) status = idm_plan(problem->theta, NULL, workspace, NULL, opt_error);
  snprintf(belief, sizeof belief, "belief in %s",
           setting->states.count > 1 ? setting->states.name[1] : "");
  const bool observed = setting->fully_observed;
  if (status == IDM_OK)
    status = idm_figure_add(figure, title, observed ? "" : belief, observed ? "" : "probability",
                            &panel, opt_error);
  if (status == IDM_OK && observed) status = add_cells(panel, setting, workspace, opt_error);
  if (status == IDM_OK && !observed) {
    panel->x.low = panel->y.low = 0;
    panel->x.high = panel->y.high = 1;
    status = add_lines(panel, setting, workspace, opt_error);
  }
  if (status == IDM_OK && !observed && opt_path)
    status = add_path(panel, setting, workspace, opt_path, opt_error);
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
