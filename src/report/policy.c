/* Plans the agents of a plot, and draws panels of their policies.
 *
 * Contents: agents · policy */
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/data.h"
#include "invert/clone.h"
#include "io/problem_file.h"
#include "plan/plan.h"
#include "report/panels.h"

/* === agents ================================================================================= */

/* Agents of a plot. */

/* --- one agent ------------------------------------------------------------------------------ */

/* A clone borrows everything but the parameters. The names and sources of utility columns are
 * copied, since setting a utility frees them. */
static idm_status clone_agent(const idm_problem *problem, idm_problem **ret_agent,
                              idm_error *opt_error)
{
  idm_status status = idm_problem_clone(problem, ret_agent, opt_error);
  if (status != IDM_OK) return status;
  idm_problem *agent = *ret_agent;
  agent->columns.utility = (idm_labels){0};
  agent->utility_source = idm_duplicate(problem->utility_source, problem->utility_sources,
                                        sizeof *problem->utility_source);
  if (problem->utility_source && !agent->utility_source) status = idm_fail_memory(opt_error);
  if (status == IDM_OK && problem->columns.utility.count)
    status = idm_labels_copy(&problem->columns.utility, &agent->columns.utility, opt_error);
  return status;
}

static void destroy_agent(idm_problem *agent)
{
  if (!agent) return;
  idm_labels_destroy(&agent->columns.utility);
  free(agent->utility_source);
  idm_clone_destroy(agent);
}

/* Apply one "KEY=VALUE" of a panel. */
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

/* Apply "TITLE: KEY=VALUE, KEY=VALUE" to the problem; *ret_title is the length of the title. */
static idm_status apply_settings(idm_problem *problem, const char *panel, size_t *ret_title,
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
  if (status == IDM_OK) status = idm_problem_validate(problem, opt_error);
  /* The settings are arguments of the user, not the content of a file. */
  return status == IDM_INPUT ? IDM_USAGE : status;
}

static idm_status draw_agent(idm_problem *problem, const char *title, const idm_plot_drawer *drawer,
                             idm_figure *figure, idm_notes *notes, idm_error *opt_error)
{
  idm_plot_agent agent = {.problem = problem, .title = title};
  idm_status status = drawer->check(problem, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                  &agent.workspace, opt_error);
  if (status == IDM_OK)
    status = idm_plan_capacity(problem->theta, &problem->agent, NULL, agent.workspace, NULL, notes,
                               opt_error);
  if (status == IDM_OK) status = drawer->draw(drawer->context, &agent, figure, opt_error);
  idm_workspace_destroy(agent.workspace);
  return status;
}

/* --- all ------------------------------------------------------------------------------------ */

idm_status idm_plot_agents(const idm_plot_subject *subject, const idm_plot_settings *settings,
                           const idm_plot_drawer *drawer, idm_figure *figure, idm_notes *notes,
                           idm_error *opt_error)
{
  const idm_posterior *posterior = subject->posterior;
  const size_t count = settings->panels ? settings->panels : 1;
  idm_status status = IDM_OK;
  if (posterior && idm_posterior_axis(posterior, "person") < posterior->axes)
    return idm_fail(opt_error, IDM_USAGE,
                    "the run is of several people, and this kind of plot is of one agent");
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    const char *panel = settings->panels ? settings->panel[i] : "";
    idm_problem *agent = NULL;
    size_t length = 0;
    status = clone_agent(subject->problem, &agent, opt_error);
    if (status == IDM_OK && settings->panels)
      status = apply_settings(agent, panel, &length, opt_error);
    char *title = idm_text_copy(panel, length);
    if (status == IDM_OK && !title) status = idm_fail_memory(opt_error);
    if (status == IDM_OK) status = draw_agent(agent, title, drawer, figure, notes, opt_error);
    free(title);
    destroy_agent(agent);
  }
  return status;
}

size_t idm_plot_agents_columns(const idm_plot_settings *settings)
{
  return idm_policy_columns(settings->panels);
}

idm_status idm_plot_agent_has_beliefs(const idm_problem *problem, idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  if (planner->belief) return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE,
                  "'%s' does not decide by a belief: there is no policy to draw over it",
                  planner->name);
}

/* === policy ================================================================================= */

/* Panels of a planned agent's policy. */

enum { beliefs = 201 };

/* --- views ---------------------------------------------------------------------------------- */

void idm_policy_evaluate(idm_workspace *workspace, idm_policy_view view, const double *z,
                         double *policy)
{
  if (view.planned)
    idm_plan_policy_after(workspace, 0, view.steps, z, policy);
  else
    idm_plan_choice(workspace, 0, view.steps, z, view.last, policy);
}

static bool has_perseverance(const idm_workspace *workspace)
{
  return idm_theta_scalar(idm_workspace_theta(workspace), IDM_PERSEVERANCE) != 0;
}

/* Previous action of view `index`, counted after the first; IDM_MISSING after the last. */
static int previous(const idm_setting *setting, const idm_workspace *workspace, size_t index)
{
  for (size_t u = 0; has_perseverance(workspace) && u < setting->actions.count; u++)
    if (!setting->ends[u] && --index == 0) return (int)u;
  return IDM_MISSING;
}

size_t idm_policy_views(const idm_setting *setting, const idm_workspace *workspace)
{
  size_t count = 1;
  while (previous(setting, workspace, count) != IDM_MISSING) count++;
  return count + idm_workspace_has_bias(workspace);
}

idm_policy_view idm_policy_view_at(const idm_setting *setting, const idm_workspace *workspace,
                                   size_t index, const char *agent, char *title, size_t size)
{
  idm_policy_view view = {.last = IDM_MISSING};
  const char *between = agent[0] ? ", " : "";
  if (index) view.last = previous(setting, workspace, index);
  view.planned = index && view.last == IDM_MISSING;
  if (view.planned)
    idm_print(title, size, "%.200s%splanned", agent, between);
  else if (index)
    idm_print(title, size, "%.200s%safter %.80s", agent, between, setting->actions.name[view.last]);
  else if (has_perseverance(workspace))
    idm_print(title, size, "%.200s%sfirst decision", agent, between);
  else if (idm_workspace_has_bias(workspace))
    idm_print(title, size, "%.200s%swith lapse", agent, between);
  else
    idm_print(title, size, "%.200s", agent);
  return view;
}

size_t idm_policy_columns(size_t panels)
{
  return panels < 1 ? 1 : panels < 3 ? panels : 3;
}

/* --- panels --------------------------------------------------------------------------------- */

/* Add lines of the probabilities over the beliefs between two states. */
static idm_status add_lines(idm_panel *panel, const idm_setting *setting, idm_workspace *workspace,
                            idm_policy_view view, idm_error *opt_error)
{
  const size_t actions = setting->actions.count;
  double *policy = idm_new(actions, sizeof *policy);
  idm_status status = policy ? IDM_OK : idm_fail_memory(opt_error);
  const size_t first = panel->marks;
  for (size_t u = 0; u < actions && status == IDM_OK; u++) {
    idm_mark *line;
    status = idm_panel_add(panel, IDM_MARK_LINE, setting->actions.name[u], (int)u % IDM_COLOURS,
                           beliefs, &line, opt_error);
    /* There may be more actions than colours. */
    if (status == IDM_OK) line->dashed = u >= IDM_COLOURS;
  }
  for (size_t i = 0; i < beliefs && status == IDM_OK; i++) {
    const double p = (double)i / (beliefs - 1);
    const double z[2] = {1 - p, p};
    idm_policy_evaluate(workspace, view, z, policy);
    for (size_t u = 0; u < actions; u++) {
      panel->mark[first + u]->column[IDM_FIGURE_X][i] = p;
      panel->mark[first + u]->column[IDM_FIGURE_Y][i] = policy[u];
    }
  }
  free(policy);
  return status;
}

/* Add marks at the belief after each step of a path. */
static idm_status add_path(idm_panel *panel, const idm_path_trace *f, idm_error *opt_error)
{
  idm_mark *steps = NULL;
  idm_status status = idm_panel_add(panel, IDM_MARK_STEPS, "belief along the path",
                                    IDM_COLOUR_NEUTRAL, f->step_count, &steps, opt_error);
  if (status == IDM_OK) status = idm_labels_create(&steps->label, f->step_count, opt_error);
  for (size_t i = 0; status == IDM_OK && i < f->step_count; i++) {
    char number[24];
    const int length = snprintf(number, sizeof number, "%zu", i);
    steps->column[IDM_FIGURE_X][i] = f->belief[2 * i + 1];
    status = idm_labels_set(&steps->label, i, number, (size_t)length, opt_error);
  }
  return status;
}

/* Add cells of the probabilities in each state, if states are observed: one row per state, one
 * column per action. */
static idm_status add_cells(idm_panel *panel, const idm_setting *setting, idm_workspace *workspace,
                            idm_policy_view view, idm_error *opt_error)
{
  const size_t actions = setting->actions.count, states = setting->states.count;
  double *z = idm_new(states + actions, sizeof *z);
  idm_mark *cells = NULL;
  idm_status status = z ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_CELLS, "", 0, states * actions, &cells, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->states, &panel->y.category, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->actions, &panel->x.category, opt_error);
  for (size_t s = 0; s < states && status == IDM_OK; s++) {
    z[s] = 1;
    idm_policy_evaluate(workspace, view, z, z + states);
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

idm_status idm_policy_add(idm_figure *figure, const idm_setting *setting, idm_workspace *workspace,
                          idm_policy_view view, const char *title, const idm_path_trace *opt_path,
                          idm_error *opt_error)
{
  const bool observed = setting->fully_observed;
  idm_panel *panel;
  char belief[160];
  snprintf(belief, sizeof belief, "belief in %s",
           setting->states.count > 1 ? setting->states.name[1] : "");
  idm_status status = idm_figure_add(figure, title, observed ? "" : belief,
                                     observed ? "" : "probability", &panel, opt_error);
  if (status == IDM_OK && observed) return add_cells(panel, setting, workspace, view, opt_error);
  if (status == IDM_OK) {
    panel->x.low = panel->y.low = 0;
    panel->x.high = panel->y.high = 1;
    status = add_lines(panel, setting, workspace, view, opt_error);
  }
  if (status == IDM_OK && opt_path) status = add_path(panel, opt_path, opt_error);
  return status;
}
