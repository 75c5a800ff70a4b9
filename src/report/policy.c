/* Panels of what a planned agent does: see the header. */
#include "report/policy.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/number.h"
#include "idm/data.h"

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

static bool perseveres(const idm_workspace *workspace)
{
  return idm_theta_scalar(idm_workspace_theta(workspace), IDM_PERSEVERANCE) != 0;
}

/* The action that view `index` after the first follows; IDM_MISSING behind the last. */
static int previous(const idm_setting *setting, const idm_workspace *workspace, size_t index)
{
  for (size_t u = 0; perseveres(workspace) && u < setting->actions.count; u++)
    if (!setting->ends[u] && --index == 0) return (int)u;
  return IDM_MISSING;
}

size_t idm_policy_views(const idm_setting *setting, const idm_workspace *workspace)
{
  size_t count = 1;
  while (previous(setting, workspace, count) != IDM_MISSING) count++;
  return count + idm_workspace_has_habits(workspace);
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
  else if (perseveres(workspace))
    idm_print(title, size, "%.200s%sfirst decision", agent, between);
  else if (idm_workspace_has_habits(workspace))
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

/* The probabilities along the beliefs between two states. */
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
    /* There are fewer colours than actions may be. */
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

/* Where the belief stands after each step of a path. */
static idm_status add_path(idm_panel *panel, const idm_followed *f, idm_error *opt_error)
{
  idm_mark *steps = NULL;
  idm_status status = idm_panel_add(panel, IDM_MARK_STEPS, "belief along the path",
                                    IDM_COLOUR_QUIET, f->places, &steps, opt_error);
  if (status == IDM_OK) status = idm_labels_create(&steps->label, f->places, opt_error);
  for (size_t i = 0; status == IDM_OK && i < f->places; i++) {
    char number[24];
    const int length = snprintf(number, sizeof number, "%zu", i);
    steps->column[IDM_FIGURE_X][i] = f->belief[2 * i + 1];
    status = idm_labels_set(&steps->label, i, number, (size_t)length, opt_error);
  }
  return status;
}

/* The probabilities in each state, where states are observed: a row per state, a column per action.
 */
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
                          idm_policy_view view, const char *title, const idm_followed *opt_path,
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
