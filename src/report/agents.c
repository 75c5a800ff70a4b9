/* The agents of a plot: see the header. */
#include "report/agents.h"

#include "base/memory.h"
#include "idm/capacity.h"
#include "idm/problem_file.h"
#include "invert/fork.h"
#include "report/policy.h"

/* --- one agent ------------------------------------------------------------------------------ */

/* A fork borrows what no parameter needs; names of columns are what a utility that is set lets go.
 */
static idm_status fork_agent(const idm_problem *problem, idm_problem **ret_agent,
                             idm_error *opt_error)
{
  idm_status status = idm_problem_fork(problem, ret_agent, opt_error);
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
  idm_fork_destroy(agent);
}

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
  if (status == IDM_OK) status = idm_problem_validate(problem, opt_error);
  /* What was asked for, not what was read from a file. */
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
    status = fork_agent(subject->problem, &agent, opt_error);
    if (status == IDM_OK && settings->panels) status = vary(agent, panel, &length, opt_error);
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

idm_status idm_plot_agent_believes(const idm_problem *problem, idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  if (planner->belief) return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE,
                  "'%s' does not decide by a belief: there is no policy to draw over it",
                  planner->name);
}
