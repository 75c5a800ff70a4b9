/* Panels of what a planned agent does, wherever the agent comes from. */
#ifndef IDM_REPORT_POLICY_H
#define IDM_REPORT_POLICY_H

#include "idm/figure.h"
#include "idm/follow.h"

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
                          idm_policy_view view, const char *title, const idm_followed *opt_path,
                          idm_error *opt_error);

#endif
