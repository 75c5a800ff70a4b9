/* Panels of what a planned agent does.
 *
 * Contents: agents · policy · cases */
#ifndef IDM_REPORT_POLICY_H
#define IDM_REPORT_POLICY_H

#include "idm/data.h"
#include "idm/figure.h"
#include "idm/follow.h"
#include "idm/plot.h"
#include "idm/problem.h"
#include "idm/workspace.h"

/* === agents ================================================================================= */

/* The agents of a plot: one a panel, each the problem's own with some keys set. */

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
idm_status idm_plot_agent_has_beliefs(const idm_problem *problem, idm_error *opt_error);

/* === policy ================================================================================= */

/* Panels of what a planned agent does, wherever the agent comes from. */

/* Which probabilities a panel shows: those at choice time, or the planned policy. */
typedef struct idm_policy_view {
  bool planned;
  int steps; /* of a horizon, before the decision */
  int last;  /* previous action, which perseverance refers to; IDM_MISSING: first decision */
} idm_policy_view;

/* The probabilities of a view at belief z: policy[actions]. */
void idm_policy_evaluate(idm_workspace *workspace, idm_policy_view view, const double *z,
                         double *policy);

/* Number of views of an agent: one without habits. With lapse the planned policy is added, with
 * perseverance one view per previous action. */
size_t idm_policy_views(const idm_setting *setting, const idm_workspace *workspace);
/* View `index` of them, and its title: that of the agent and what is particular. */
idm_policy_view idm_policy_view_at(const idm_setting *setting, const idm_workspace *workspace,
                                   size_t index, const char *agent, char *title, size_t size);
/* Columns of panels for so many of them. */
size_t idm_policy_columns(size_t panels);

/* One panel: the probabilities along the beliefs between two states, with marks at the beliefs
 * along a path; or in each state, where states are observed. */
idm_status idm_policy_add(idm_figure *figure, const idm_setting *setting, idm_workspace *workspace,
                          idm_policy_view view, const char *title, const idm_path_trace *opt_path,
                          idm_error *opt_error);

/* === cases ================================================================================== */

/* Three cases of a log that differ in when an action was taken: the paper's figure "Decision
 * Trajectories" (Appendix D). */

typedef enum idm_case_kind {
  IDM_CASE_RATIONAL,     /* every action is one that the rational policy takes */
  IDM_CASE_NOT_RATIONAL, /* never took the action, which was due within the log */
  IDM_CASE_BELATED,      /* took it later than it was due */
  IDM_CASES
} idm_case_kind;

typedef struct idm_case {
  bool found;
  size_t trajectory;
  char title[160]; /* what it is, and its name in the log */
} idm_case;

/* One trajectory of each kind, as idm_explain finds them for the problem's own parameter. Of
 * several: of the first kind that with the most different actions, then the longest; of the others
 * that with the largest delay, then regret; the first in the log among equals. */
idm_status idm_cases_choose(const idm_problem *problem, const idm_data *data, int32_t due,
                            idm_case ret_case[IDM_CASES], idm_notes *opt_notes,
                            idm_error *opt_error);

#endif
