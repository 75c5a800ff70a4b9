/* Internal interface of panels of a planned agent's policy.
 *
 * Contents: agents · policy · cases */
#ifndef IDM_REPORT_POLICY_H
#define IDM_REPORT_POLICY_H

#include "idm/extension/data.h"
#include "idm/extension/problem.h"
#include "plan/follow.h"
#include "plan/plan.h"
#include "report/figure.h"
#include "report/plot.h"

/* === agents ================================================================================= */

/* Agents of a plot: one per panel, each the problem's own with some keys set. */

typedef struct idm_plot_agent {
  const idm_problem *problem;
  idm_workspace *workspace; /* planned */
  const char *title;        /* of its panel */
} idm_plot_agent;

/* Functions that draw an agent. */
typedef struct idm_plot_drawer {
  /* Fails if there is nothing to draw for such an agent; called before it is planned. */
  idm_status (*check)(const idm_problem *problem, idm_error *opt_error);
  idm_status (*draw)(const void *context, const idm_plot_agent *agent, idm_figure *figure,
                     idm_error *opt_error);
  const void *context;
} idm_plot_drawer;

/* Plan and draw every agent that the settings name, or the problem's own. IDM_USAGE if the subject
 * is an answer for several people, which has no single agent. */
idm_status idm_plot_agents(const idm_plot_subject *subject, const idm_plot_settings *settings,
                           const idm_plot_drawer *drawer, idm_figure *figure, idm_notes *notes,
                           idm_error *opt_error);
/* Columns of panels for these agents. */
size_t idm_plot_agents_columns(const idm_plot_settings *settings);
/* Fails if the agent does not decide by a belief, which this kind of plot requires. */
idm_status idm_plot_agent_has_beliefs(const idm_problem *problem, idm_error *opt_error);

/* === policy ================================================================================= */

/* Panels of a planned agent's policy. */

/* Probabilities in a panel: those at choice time, or the planned policy. */
typedef struct idm_policy_view {
  bool planned;
  int steps; /* steps before the decision, with a horizon */
  int last;  /* previous action, which perseverance refers to; IDM_MISSING: first decision */
} idm_policy_view;

/* Probabilities of a view at belief z: policy [actions]. */
void idm_policy_evaluate(idm_workspace *workspace, idm_policy_view view, const double *z,
                         double *policy);

/* Number of views of an agent: one without habits. With lapse the planned policy is added, with
 * perseverance one view per previous action. */
size_t idm_policy_views(const idm_setting *setting, const idm_workspace *workspace);
/* View `index` of an agent, and its title: the title of the agent and the particulars of the view.
 */
idm_policy_view idm_policy_view_at(const idm_setting *setting, const idm_workspace *workspace,
                                   size_t index, const char *agent, char *title, size_t size);
/* Columns for that number of panels. */
size_t idm_policy_columns(size_t panels);

/* Add one panel: probabilities over the beliefs between two states, with marks at the beliefs of a
 * path; or in each state, if states are observed. */
idm_status idm_policy_add(idm_figure *figure, const idm_setting *setting, idm_workspace *workspace,
                          idm_policy_view view, const char *title, const idm_path_trace *opt_path,
                          idm_error *opt_error);

/* === cases ================================================================================== */

/* Three cases of a log that differ in when an action was taken: the paper's figure "Decision
 * Trajectories" (Appendix D). */

typedef enum idm_case_kind {
  IDM_CASE_RATIONAL,     /* every action is one that the rational policy takes */
  IDM_CASE_NOT_RATIONAL, /* the action was never taken, although it was due within the log */
  IDM_CASE_BELATED,      /* the action was taken later than it was due */
  IDM_CASES
} idm_case_kind;

typedef struct idm_case {
  bool found;
  size_t trajectory;
  char title[160]; /* the kind of the case, and the name of its trajectory */
} idm_case;

/* Select one trajectory of each kind by idm_explain, with the problem's own parameters. Of several:
 * for the first kind the one with the largest number of distinct actions, then the longest; for the
 * others the one with the largest delay, then the largest regret; the first in the log if these are
 * equal. */
idm_status idm_cases_choose(const idm_problem *problem, const idm_data *data, int32_t due,
                            idm_case ret_case[IDM_CASES], idm_notes *opt_notes,
                            idm_error *opt_error);

#endif
