/* Plot of an agent's policy over the beliefs of three states, and of paths of beliefs: the paper's
 * figure "Decision Trajectories" (Appendix D).
 *
 * Contents: cases · plot simplex */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "invert/explain.h"
#include "invert/predict.h"
#include "plan/plan.h"
#include "report/markup.h"
#include "report/panels.h"
#include "report/report.h"

/* === cases ==================================================================================== */

/* Cases of a log by an action that is due. */

/* --- rational cases ------------------------------------------------------------------------- */

/* Returns true if every row has a recorded action that the rational policy takes. Ties are shared
 * there, so that each of the best actions has a positive probability. */
static bool is_rational(const idm_explanation *e, const idm_data *data, size_t trajectory)
{
  for (size_t row = data->first[trajectory]; row < data->first[trajectory + 1]; row++)
    if (data->action[row] == IDM_MISSING ||
        !(idm_explanation_interval(e, row, IDM_EXPLAIN_RATIONAL, (size_t)data->action[row]).mean >
          0))
      return false;
  return true;
}

static size_t count_actions(const idm_data *data, size_t trajectory)
{
  size_t count = 0;
  for (size_t row = data->first[trajectory]; row < data->first[trajectory + 1]; row++) {
    bool first = true;
    for (size_t k = data->first[trajectory]; k < row && first; k++)
      first = data->action[k] != data->action[row];
    count += first;
  }
  return count;
}

static void select_rational(const idm_explanation *e, const idm_data *data, idm_case *ret_case)
{
  size_t most = 0, longest = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    const size_t rows = data->first[t + 1] - data->first[t];
    if (!rows || !is_rational(e, data, t)) continue;
    const size_t actions = count_actions(data, t);
    if (actions < most || (actions == most && rows <= longest)) continue;
    most = actions;
    longest = rows;
    ret_case->found = true;
    ret_case->trajectory = t;
  }
}

/* --- selection ------------------------------------------------------------------------------- */

/* Select the largest delay, then the largest regret; an undefined regret counts as 0. */
static void select_belated(const idm_explanation *e, bool censored, idm_case *ret_case)
{
  long max_delay = 0;
  double largest = 0;
  for (size_t t = 0; t < e->trajectories; t++) {
    const idm_case_summary *one = &e->one[t];
    const double regret = isnan(one->regret) ? 0 : one->regret;
    if (one->censored != censored || one->delayed < 1 || one->delayed < max_delay) continue;
    if (one->delayed == max_delay && regret <= largest) continue;
    max_delay = one->delayed;
    largest = regret;
    ret_case->found = true;
    ret_case->trajectory = t;
  }
}

static void name_case(const idm_explanation *e, const idm_data *data, idm_case_kind kind,
                      idm_case *one)
{
  char number[24], what[48];
  const idm_case_summary *found = &e->one[one->trajectory];
  if (kind == IDM_CASE_RATIONAL) snprintf(what, sizeof what, "rational");
  if (kind == IDM_CASE_NOT_RATIONAL)
    snprintf(what, sizeof what, "not rational: due at %zu", found->due);
  if (kind == IDM_CASE_BELATED) snprintf(what, sizeof what, "belated by %ld", found->delayed);
  snprintf(one->title, sizeof one->title, "%s (%.80s)", what,
           idm_data_trajectory_name(data, one->trajectory, number, sizeof number));
}

idm_status idm_cases_choose(const idm_problem *problem, const idm_data *data, int32_t due,
                            idm_case ret_case[IDM_CASES], idm_notes *opt_notes,
                            idm_error *opt_error)
{
  idm_explain_settings settings;
  idm_explanation *e = NULL;
  memset(ret_case, 0, IDM_CASES * sizeof *ret_case);
  idm_explain_settings_default(&settings);
  settings.due = due;
  const idm_status status =
      idm_explain_log(problem, NULL, data, &settings, &e, opt_notes, opt_error);
  if (status != IDM_OK) return status;
  select_rational(e, data, &ret_case[IDM_CASE_RATIONAL]);
  select_belated(e, true, &ret_case[IDM_CASE_NOT_RATIONAL]);
  select_belated(e, false, &ret_case[IDM_CASE_BELATED]);
  for (int kind = 0; kind < IDM_CASES; kind++)
    if (ret_case[kind].found) name_case(e, data, (idm_case_kind)kind, &ret_case[kind]);
  idm_explanation_destroy(e);
  return IDM_OK;
}

/* === plot simplex ============================================================================= */

extern const idm_plot idm_plot_simplex; /* registered in plots.c */

enum {
  side = 40, /* edge of the simplex, in cells */
  text_colour = IDM_COLOURS - 1,
  after = -2
};

/* --- regions -------------------------------------------------------------------------------- */

static size_t most_probable(const double *policy, size_t actions)
{
  size_t best = 0;
  for (size_t u = 1; u < actions; u++)
    if (policy[u] > policy[best]) best = u;
  return best;
}

/* Triangles, and the policy at the centre of each. */
typedef struct regions {
  size_t count;
  idm_triangle *triangle;
  size_t *action; /* [count]: the most probable */
  double *value;  /* [count]: its probability */
} regions;

static void close_regions(regions *r)
{
  free(r->triangle);
  free(r->action);
  free(r->value);
}

static idm_status open_regions(regions *r, idm_workspace *workspace, idm_policy_view view,
                               double *policy, size_t actions, idm_error *opt_error)
{
  r->count = idm_triangles_count(side);
  r->triangle = idm_new(r->count, sizeof *r->triangle);
  r->action = idm_new(r->count, sizeof *r->action);
  r->value = idm_new(r->count, sizeof *r->value);
  if (!r->triangle || !r->action || !r->value) return idm_fail_memory(opt_error);
  idm_triangles_make(side, r->triangle);
  for (size_t i = 0; i < r->count; i++) {
    double z[3] = {0};
    for (int k = 0; k < 3; k++)
      for (int s = 0; s < 3; s++) z[s] += r->triangle[i].corner[k][s] / 3;
    idm_policy_evaluate(workspace, view, z, policy);
    r->action[i] = most_probable(policy, actions);
    r->value[i] = policy[r->action[i]];
  }
  return IDM_OK;
}

/* Add cells, one mark per action. */
static idm_status add_regions(idm_panel *panel, const idm_setting *setting, const regions *r,
                              idm_error *opt_error)
{
  idm_status status = IDM_OK;
  for (size_t u = 0; u < setting->actions.count && status == IDM_OK; u++) {
    size_t count = 0;
    idm_mark *cells;
    for (size_t i = 0; i < r->count; i++) count += r->action[i] == u;
    status = idm_panel_add(panel, IDM_MARK_CELLS, setting->actions.name[u], (int)(u % IDM_COLOURS),
                           count, &cells, opt_error);
    for (size_t i = 0, k = 0; i < r->count && status == IDM_OK; i++)
      if (r->action[i] == u) idm_triangle_set(&r->triangle[i], cells, k++, r->value[i]);
  }
  return status;
}

/* --- decision boundary ----------------------------------------------------------------------- */

/* Point between two corners at which the most probable action changes; false if it does not. The
 * policy is interpolated linearly. */
static bool crossing_point(const double *const z[2], const double *const policy[2], size_t actions,
                           double *at)
{
  const size_t a = most_probable(policy[0], actions), b = most_probable(policy[1], actions);
  if (a == b) return false;
  const double from = policy[0][a] - policy[0][b], to = policy[1][b] - policy[1][a];
  const double part = from + to > 0 ? from / (from + to) : 0.5;
  for (int s = 0; s < 2; s++) at[s] = z[0][s] + part * (z[1][s] - z[0][s]);
  return true;
}

/* Pieces of the boundary inside a triangle: between its two crossings, or, if three actions meet,
 * from each of the three crossings to their mean. Returns the count of numbers. */
static size_t boundary_pieces(const idm_triangle *triangle, const double *policy, size_t actions,
                              double *piece)
{
  double at[3][2], middle[2] = {0};
  size_t count = 0, used = 0;
  for (int k = 0; k < 3; k++) {
    const int next = (k + 1) % 3;
    const double *const z[2] = {triangle->corner[k], triangle->corner[next]};
    const double *const p[2] = {policy + (size_t)k * actions, policy + (size_t)next * actions};
    if (crossing_point(z, p, actions, at[count])) count++;
  }
  for (size_t k = 0; k < count; k++)
    for (int s = 0; s < 2; s++) middle[s] += at[k][s] / 3;
  for (size_t k = 0; k < (count == 2 ? 1 : count); k++)
    for (int s = 0; s < 2; s++) {
      piece[used++] = at[k][s];
      piece[used++] = count == 2 ? at[1][s] : middle[s];
    }
  return used;
}

/* Add the boundary as a line of pieces separated by NaN. */
static idm_status add_boundary(idm_panel *panel, const regions *r, idm_workspace *workspace,
                               idm_policy_view view, double *policy, size_t actions,
                               idm_error *opt_error)
{
  double *x = idm_new(9 * r->count, sizeof *x), *y = idm_new(9 * r->count, sizeof *y);
  idm_status status = x && y ? IDM_OK : idm_fail_memory(opt_error);
  size_t used = 0;
  for (size_t i = 0; i < r->count && status == IDM_OK; i++) {
    double piece[12];
    for (size_t k = 0; k < 3; k++)
      idm_policy_evaluate(workspace, view, r->triangle[i].corner[k], policy + k * actions);
    const size_t numbers = boundary_pieces(&r->triangle[i], policy, actions, piece);
    for (size_t k = 0; k < numbers; k += 4) {
      for (size_t end = 0; end < 2; end++) {
        x[used] = piece[k + end];
        y[used++] = piece[k + 2 + end];
      }
      x[used] = y[used] = NAN;
      used++;
    }
  }
  if (status == IDM_OK && used)
    status = idm_panel_plot(panel, IDM_MARK_LINE, "decision boundary", text_colour, used, x, y,
                            opt_error);
  free(x);
  free(y);
  return status;
}

/* --- paths of beliefs ------------------------------------------------------------------------ */

/* A sequence of beliefs, and the action at each. */
typedef struct belief_path {
  size_t step_count;
  double *belief;  /* [step][3] */
  int32_t *action; /* [step]: IDM_MISSING if it was not recorded; `after` at the belief after the
                      last row */
} belief_path;

static void belief_path_close(belief_path *w)
{
  free(w->belief);
  free(w->action);
}

static idm_status belief_path_open(belief_path *w, size_t step_count, idm_error *opt_error)
{
  w->step_count = step_count;
  w->belief = idm_new(step_count, 3 * sizeof *w->belief);
  w->action = idm_new(step_count, sizeof *w->action);
  return w->belief && w->action ? IDM_OK : idm_fail_memory(opt_error);
}

static idm_status add_arrows(idm_panel *panel, const belief_path *w, idm_error *opt_error)
{
  idm_mark *arrows;
  if (w->step_count < 2) return IDM_OK;
  const idm_status status = idm_panel_add(panel, IDM_MARK_ARROWS, "belief update", text_colour,
                                          w->step_count - 1, &arrows, opt_error);
  for (size_t i = 0; i + 1 < w->step_count && status == IDM_OK; i++) {
    const double *from = w->belief + 3 * i, *to = from + 3;
    arrows->column[IDM_FIGURE_X][i] = from[0];
    arrows->column[IDM_FIGURE_Y][i] = from[1];
    arrows->column[IDM_FIGURE_RIGHT][i] = to[0];
    arrows->column[IDM_FIGURE_TOP][i] = to[1];
  }
  return status;
}

/* The beliefs at which an action was taken. */
static idm_status add_points(idm_panel *panel, const belief_path *w, int32_t action,
                             const char *name, int colour, idm_error *opt_error)
{
  size_t count = 0;
  idm_mark *points;
  for (size_t i = 0; i < w->step_count; i++) count += w->action[i] == action;
  if (!count) return IDM_OK;
  idm_status status =
      idm_panel_add(panel, IDM_MARK_POINTS, name, colour, count, &points, opt_error);
  if (status == IDM_OK) status = idm_labels_create(&points->label, count, opt_error);
  for (size_t i = 0, k = 0; i < w->step_count && status == IDM_OK; i++) {
    char tooltip[120];
    if (w->action[i] != action) continue;
    const int length = snprintf(tooltip, sizeof tooltip, "step %zu: %.80s", i + 1, name);
    points->column[IDM_FIGURE_X][k] = w->belief[3 * i];
    points->column[IDM_FIGURE_Y][k] = w->belief[3 * i + 1];
    status = idm_labels_set(&points->label, k++, tooltip, (size_t)length, opt_error);
  }
  return status;
}

static idm_status add_belief_path(idm_panel *panel, const idm_setting *setting,
                                  const belief_path *w, idm_error *opt_error)
{
  idm_status status = add_arrows(panel, w, opt_error);
  for (size_t u = 0; u < setting->actions.count && status == IDM_OK; u++)
    status = add_points(panel, w, (int32_t)u, setting->actions.name[u], (int)(u % IDM_COLOURS),
                        opt_error);
  if (status == IDM_OK)
    status = add_points(panel, w, IDM_MISSING, "not recorded", IDM_COLOUR_NEUTRAL, opt_error);
  if (status == IDM_OK)
    status = add_points(panel, w, after, "final belief", text_colour, opt_error);
  return status;
}

/* --- sources of paths ------------------------------------------------------------------------ */

static idm_status follow_path(const idm_plot_agent *agent, const char *path, belief_path *w,
                              idm_error *opt_error)
{
  idm_path_trace *f = NULL;
  idm_status status =
      idm_path_trace_create(agent->problem->setting, agent->workspace, path, &f, opt_error);
  if (status == IDM_OK) status = belief_path_open(w, f->step_count, opt_error);
  if (status == IDM_OK) {
    memcpy(w->belief, f->belief, f->step_count * 3 * sizeof *w->belief);
    memcpy(w->action, f->action, f->step_count * sizeof *w->action);
    w->action[f->step_count - 1] = after;
  }
  idm_path_trace_destroy(f);
  return status;
}

static const double *belief_at(const idm_trials *trials, size_t row)
{
  return trials->mean + trials->node[row] * trials->width;
}

/* Belief after the last row; false if the episode ends there or if the row is incomplete. */
static bool find_last(const idm_plot_agent *agent, const idm_data *data, const idm_trials *trials,
                      size_t trajectory, double *z)
{
  const size_t row = data->first[trajectory + 1] - 1;
  const int32_t action = data->action[row], seen = data->observation[row];
  if (action == IDM_MISSING || seen == IDM_MISSING || agent->problem->setting->ends[action])
    return false;
  return idm_plan_recognise(agent->workspace, data->variant[trajectory],
                            (int)(row - data->first[trajectory]), belief_at(trials, row),
                            (size_t)action, (size_t)seen, z) > 0;
}

static idm_status follow_trajectory(const idm_plot_agent *agent, const idm_data *data,
                                    const idm_trials *trials, size_t trajectory, belief_path *w,
                                    idm_error *opt_error)
{
  const size_t first = data->first[trajectory], rows = data->first[trajectory + 1] - first;
  double last[3];
  const bool more = find_last(agent, data, trials, trajectory, last);
  const idm_status status = belief_path_open(w, rows + more, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < rows; i++) {
    memcpy(w->belief + 3 * i, belief_at(trials, first + i), 3 * sizeof *w->belief);
    w->action[i] = data->action[first + i];
  }
  if (more) memcpy(w->belief + 3 * rows, last, sizeof last);
  if (more) w->action[rows] = after;
  return IDM_OK;
}

/* Mean belief at a step, and counts of the actions taken; returns the number of trajectories. */
static size_t average(const idm_data *data, const idm_trials *trials, size_t step, size_t *taken,
                      double *z)
{
  const size_t actions = data->sizes.actions;
  size_t count = 0;
  memset(taken, 0, actions * sizeof *taken);
  for (int s = 0; s < 3; s++) z[s] = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    const size_t row = data->first[t] + step;
    if (row >= data->first[t + 1]) continue;
    for (int s = 0; s < 3; s++) z[s] += belief_at(trials, row)[s];
    if (data->action[row] != IDM_MISSING) taken[data->action[row]]++;
    count++;
  }
  for (int s = 0; s < 3; s++) z[s] /= (double)count;
  return count;
}

/* Path of the mean belief over all trajectories, as long as one in twenty continues. */
static idm_status mean_beliefs(const idm_data *data, const idm_trials *trials, belief_path *w,
                               idm_error *opt_error)
{
  const size_t actions = data->sizes.actions;
  size_t longest = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    const size_t rows = data->first[t + 1] - data->first[t];
    if (rows > longest) longest = rows;
  }
  size_t *taken = idm_new(actions, sizeof *taken);
  idm_status status = belief_path_open(w, longest, opt_error);
  if (status == IDM_OK && !taken) status = idm_fail_memory(opt_error);
  for (size_t i = 0; i < longest && status == IDM_OK; i++) {
    const size_t count = average(data, trials, i, taken, w->belief + 3 * i);
    size_t most = 0;
    for (size_t u = 1; u < actions; u++)
      if (taken[u] > taken[most]) most = u;
    w->action[i] = taken[most] ? (int32_t)most : IDM_MISSING;
    if (20 * count < data->trajectories) w->step_count = longest = i;
  }
  free(taken);
  return status;
}

/* --- figure ---------------------------------------------------------------------------------- */

typedef struct log_selection {
  const char *path;
  const idm_data *data;
  bool one;          /* draw a single trajectory */
  size_t trajectory; /* its index; otherwise the mean of all is drawn */
  int32_t due;       /* if not IDM_MISSING, three cases by this action are drawn */
  idm_notes *notes;
} log_selection;

static idm_status add_log(const log_selection *selection, const idm_plot_agent *agent,
                          idm_panel *panel, idm_error *opt_error)
{
  idm_trials *trials = NULL;
  belief_path w = {0};
  idm_status status = idm_trials_create(agent->workspace, selection->data, &trials, opt_error);
  if (status == IDM_OK)
    status = selection->one ? follow_trajectory(agent, selection->data, trials,
                                                selection->trajectory, &w, opt_error)
                            : mean_beliefs(selection->data, trials, &w, opt_error);
  if (status == IDM_OK) status = add_belief_path(panel, agent->problem->setting, &w, opt_error);
  belief_path_close(&w);
  idm_trials_destroy(trials);
  return status;
}

static idm_status add_path(const log_selection *selection, const idm_plot_agent *agent,
                           idm_panel *panel, idm_error *opt_error)
{
  belief_path w = {0};
  idm_status status = follow_path(agent, selection->path, &w, opt_error);
  if (status == IDM_OK) status = add_belief_path(panel, agent->problem->setting, &w, opt_error);
  belief_path_close(&w);
  return status;
}

static idm_status draw_view(const log_selection *selection, const idm_plot_agent *agent,
                            idm_policy_view view, const char *title, idm_figure *figure,
                            idm_error *opt_error)
{
  const idm_setting *setting = agent->problem->setting;
  const size_t actions = setting->actions.count;
  regions r = {0};
  idm_panel *panel;
  double *policy = idm_new(3 * actions, sizeof *policy);
  idm_status status = policy ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_figure_add(figure, title, "", "", &panel, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->states, &panel->corner, opt_error);
  if (status == IDM_OK)
    status = open_regions(&r, agent->workspace, view, policy, actions, opt_error);
  if (status == IDM_OK) status = add_regions(panel, setting, &r, opt_error);
  if (status == IDM_OK)
    status = add_boundary(panel, &r, agent->workspace, view, policy, actions, opt_error);
  if (status == IDM_OK && selection->data) status = add_log(selection, agent, panel, opt_error);
  if (status == IDM_OK && selection->path) status = add_path(selection, agent, panel, opt_error);
  close_regions(&r);
  free(policy);
  return status;
}

static idm_status draw_views(const log_selection *selection, const idm_plot_agent *agent,
                             const char *heading, idm_figure *figure, idm_error *opt_error)
{
  const idm_setting *setting = agent->problem->setting;
  const size_t views = idm_policy_views(setting, agent->workspace);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < views && status == IDM_OK; i++) {
    char title[320];
    const idm_policy_view view =
        idm_policy_view_at(setting, agent->workspace, i, heading, title, sizeof title);
    status = draw_view(selection, agent, view, title, figure, opt_error);
  }
  return status;
}

static const char *const missing_case[IDM_CASES] = {
    "no trajectory has the actions of the rational policy alone: that case is not drawn",
    "no trajectory lacks the action at a time when it was due: that case is not drawn",
    "no trajectory has the action later than it was due: that case is not drawn",
};

/* Draw one panel for each case in the log. */
static idm_status draw_cases(const log_selection *selection, const idm_plot_agent *agent,
                             idm_figure *figure, idm_error *opt_error)
{
  idm_case found[IDM_CASES];
  idm_status status = idm_cases_choose(agent->problem, selection->data, selection->due, found,
                                       selection->notes, opt_error);
  for (int kind = 0; kind < IDM_CASES && status == IDM_OK; kind++) {
    char title[280];
    log_selection one = *selection;
    if (!found[kind].found) {
      idm_notes_add(selection->notes, "%s", missing_case[kind]);
      continue;
    }
    one.one = true;
    one.trajectory = found[kind].trajectory;
    snprintf(title, sizeof title, "%.100s%s%s", agent->title, agent->title[0] ? ", " : "",
             found[kind].title);
    status = draw_views(&one, agent, title, figure, opt_error);
  }
  return status;
}

static idm_status draw(const void *context, const idm_plot_agent *agent, idm_figure *figure,
                       idm_error *opt_error)
{
  const log_selection *selection = context;
  return selection->due == IDM_MISSING
             ? draw_views(selection, agent, agent->title, figure, opt_error)
             : draw_cases(selection, agent, figure, opt_error);
}

static idm_status check(const idm_problem *problem, idm_error *opt_error)
{
  const size_t states = problem->setting->states.count;
  const idm_status status = idm_plot_agent_has_beliefs(problem, opt_error);
  if (status != IDM_OK || (states == 3 && !problem->setting->fully_observed)) return status;
  return idm_fail(opt_error, IDM_USAGE,
                  "a simplex is of beliefs over three states, and the problem has %zu%s; see the "
                  "kind 'policy'",
                  states, problem->setting->fully_observed ? ", which are observed" : "");
}

/* Select the part of the log that is drawn. */
static idm_status select_log(const idm_plot_subject *subject, const idm_plot_settings *settings,
                             log_selection *selection, idm_error *opt_error)
{
  const char *name = settings->trajectory, *due = settings->due;
  const idm_labels *actions = &subject->problem->setting->actions;
  if (name && due)
    return idm_fail(opt_error, IDM_USAGE,
                    "an action that is due chooses trajectories by itself; give it or trajectory "
                    "'%s'",
                    name);
  if ((name || due) && !selection->data)
    return idm_fail(opt_error, IDM_USAGE, "%s '%s' is of a log, and there is none",
                    name ? "trajectory" : "a case of action", name ? name : due);
  if (name)
    return idm_data_find_trajectory(selection->data, name, &selection->trajectory, opt_error);
  if (!due) return IDM_OK;
  selection->due = (int32_t)idm_labels_find(actions, due, strlen(due));
  if (selection->due >= 0) return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE,
                  "the action that is due is '%s', which is none of the problem; the first is '%s'",
                  due, actions->name[0]);
}

static idm_status make_simplex(const idm_plot_subject *subject, const idm_plot_settings *settings,
                               idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  log_selection selection = {.path = settings->path,
                             .data = subject->data,
                             .one = settings->trajectory,
                             .due = IDM_MISSING,
                             .notes = notes};
  const idm_plot_drawer drawer = {check, draw, &selection};
  idm_status status = select_log(subject, settings, &selection, opt_error);
  if (status == IDM_OK)
    status = idm_figure_create("",
                               "The most probable action at each belief over three states, the "
                               "boundaries between actions, and beliefs from step to step.",
                               idm_plot_agents_columns(settings), ret_figure, opt_error);
  if (status == IDM_OK)
    status = idm_plot_agents(subject, settings, &drawer, *ret_figure, notes, opt_error);
  if (status == IDM_OK && !(*ret_figure)->panels)
    status = idm_fail(opt_error, IDM_USAGE,
                      "the log has no case of action '%s': no trajectory is late with it, and none "
                      "has the rational policy's actions alone",
                      settings->due);
  if (status == IDM_OK) (*ret_figure)->columns = idm_policy_columns((*ret_figure)->panels);
  return status;
}

const idm_plot idm_plot_simplex = {
    .name = "simplex",
    .summary = "what an agent does at every belief over three states, and where beliefs go: of a "
               "trajectory, of a log on average, along a path, or of three cases by an action that "
               "is due",
    .needs = IDM_PLOT_PROBLEM,
    .due = true,
    .dynamics = IDM_DYNAMICS_CENTRAL,
    .make = make_simplex,
};
