/* The agents of a plot: one a panel, each the problem's own with some keys set. */
#ifndef IDM_REPORT_AGENTS_H
#define IDM_REPORT_AGENTS_H

#include "idm/plot.h"
#include "idm/workspace.h"

typedef struct idm_plot_agent {
  const idm_problem *problem;
  idm_workspace *workspace; /* planned */
  const char *title;        /* of its panel */
} idm_plot_agent;

/* What is done with each of them. */
typedef struct idm_plot_drawer {
  /* Whether there is something to draw of such an agent, before it is planned for. */
  idm_status (*check)(const idm_problem *problem, idm_error *opt_error);
  idm_status (*draw)(const void *context, const idm_plot_agent *agent, idm_figure *figure,
                     idm_error *opt_error);
  const void *context;
} idm_plot_drawer;

/* Every agent that the settings name, or the problem's own, planned for and drawn. IDM_USAGE where
 * the subject is the answer of people, who are no one agent. */
idm_status idm_plot_agents(const idm_plot_subject *subject, const idm_plot_settings *settings,
                           const idm_plot_drawer *drawer, idm_figure *figure, idm_notes *notes,
                           idm_error *opt_error);
/* Columns of panels for so many agents. */
size_t idm_plot_agents_columns(const idm_plot_settings *settings);
/* Fails where the agent does not decide by a belief, which is what the kind of plot draws. */
idm_status idm_plot_agent_believes(const idm_problem *problem, idm_error *opt_error);

#endif
