/* Draws the figures of the interactive page (policy, value and beliefs), and writes its tables.
 *
 * Contents: policies · values · beliefs · figure · tables */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "report/explorer/explorer.h"
#include "report/markup.h"
#include "report/panels.h"

enum {
  beliefs = 101,   /* points at which a value is drawn */
  max_states = 40, /* largest number of states with values and steps drawn */
  side = 24,       /* edge of a simplex, in cells */
  triangles = side * side
};

/* --- policies ------------------------------------------------------------------------------- */

/* Position of a cell of the simplex, and its direction; see IDM_MARK_CELLS. */
typedef struct cell {
  double x;
  double y;
  double step;
  size_t action; /* the most probable at its centre */
  double probability;
} cell;

static void evaluate_cell(idm_workspace *workspace, idm_policy_view view, cell *at, double *policy,
                          size_t actions)
{
  const double x = at->x - 2 * at->step / 3, y = at->y + at->step / 3;
  const double z[3] = {x, y, 1 - x - y};
  idm_policy_evaluate(workspace, view, z, policy);
  at->action = 0;
  for (size_t u = 1; u < actions; u++)
    if (policy[u] > policy[at->action]) at->action = u;
  at->probability = policy[at->action];
}

static size_t make_cells(cell *cells)
{
  const double n = side;
  size_t count = 0;
  for (int c = 0; c < side; c++)
    for (int b = 0; b + c < side; b++) {
      cells[count++] = (cell){.x = (side - b - c) / n, .y = b / n, .step = 1 / n};
      if (b) cells[count++] = (cell){.x = (side - b - c - 1) / n, .y = b / n, .step = -1 / n};
    }
  return count;
}

static idm_status fill_simplex(idm_panel *panel, const idm_setting *setting, const cell *cells,
                               size_t count, idm_error *opt_error)
{
  for (size_t u = 0; u < setting->actions.count; u++) {
    size_t own = 0;
    idm_mark *mark;
    for (size_t i = 0; i < count; i++) own += cells[i].action == u;
    const idm_status status = idm_panel_add(panel, IDM_MARK_CELLS, setting->actions.name[u],
                                            (int)(u % IDM_COLOURS), own, &mark, opt_error);
    if (status != IDM_OK) return status;
    for (size_t i = 0, k = 0; i < count; i++) {
      if (cells[i].action != u) continue;
      mark->column[IDM_FIGURE_X][k] = cells[i].x;
      mark->column[IDM_FIGURE_Y][k] = cells[i].y;
      mark->column[IDM_FIGURE_RIGHT][k] = cells[i].x + cells[i].step;
      mark->column[IDM_FIGURE_TOP][k] = cells[i].y + cells[i].step;
      mark->column[IDM_FIGURE_VALUE][k++] = cells[i].probability;
    }
  }
  return IDM_OK;
}

/* Add the path of a belief over three states: a line through the simplex, and a point at the
 * current belief. */
static idm_status add_belief_path(idm_panel *panel, const idm_path_trace *f, idm_error *opt_error)
{
  idm_mark *line, *now;
  idm_status status = idm_panel_add(panel, IDM_MARK_LINE, "belief", IDM_COLOURS - 1, f->step_count,
                                    &line, opt_error);
  for (size_t i = 0; i < f->step_count && status == IDM_OK; i++) {
    line->column[IDM_FIGURE_X][i] = f->belief[3 * i];
    line->column[IDM_FIGURE_Y][i] = f->belief[3 * i + 1];
  }
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_POINTS, "", IDM_COLOURS - 1, 1, &now, opt_error);
  if (status == IDM_OK) {
    now->column[IDM_FIGURE_X][0] = f->belief[3 * (f->step_count - 1)];
    now->column[IDM_FIGURE_Y][0] = f->belief[3 * (f->step_count - 1) + 1];
  }
  return status;
}

static idm_status add_simplex(idm_figure *figure, const idm_explorer *e, idm_policy_view view,
                              const char *title, idm_error *opt_error)
{
  const idm_setting *setting = e->problem->setting;
  const size_t actions = setting->actions.count;
  cell *cells = idm_new(triangles, sizeof *cells);
  double *policy = idm_new(actions, sizeof *policy);
  idm_panel *panel;
  idm_status status = cells && policy ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_figure_add(figure, title, "", "", &panel, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->states, &panel->corner, opt_error);
  if (status == IDM_OK) {
    const size_t count = make_cells(cells);
    for (size_t i = 0; i < count; i++)
      evaluate_cell(e->workspace, view, &cells[i], policy, actions);
    status = fill_simplex(panel, setting, cells, count, opt_error);
  }
  if (status == IDM_OK) status = add_belief_path(panel, e->trace, opt_error);
  free(cells);
  free(policy);
  return status;
}

/* Add the current policy, one bar per action, if the policy cannot be drawn over beliefs or states.
 */
static idm_status add_present(idm_figure *figure, const idm_explorer *e, idm_error *opt_error)
{
  const idm_setting *setting = e->problem->setting;
  const size_t actions = setting->actions.count;
  const double *policy = e->trace->policy + e->events * actions;
  idm_panel *panel;
  idm_mark *bars;
  idm_status status = idm_figure_add(figure, "Policy now", "", "probability", &panel, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->actions, &panel->x.category, opt_error);
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_BARS, "", 0, actions, &bars, opt_error);
  if (status != IDM_OK) return status;
  panel->y.low = 0;
  panel->y.high = 1;
  for (size_t u = 0; u < actions; u++) {
    bars->column[IDM_FIGURE_X][u] = (double)u - 0.4;
    bars->column[IDM_FIGURE_RIGHT][u] = (double)u + 0.4;
    bars->column[IDM_FIGURE_Y][u] = policy[u];
  }
  return IDM_OK;
}

/* Add a panel of the policy over all beliefs or states. */
static idm_status add_view(idm_figure *figure, const idm_explorer *e, idm_policy_view view,
                           idm_error *opt_error)
{
  const idm_setting *setting = e->problem->setting;
  if (!setting->fully_observed && setting->states.count == 3)
    return add_simplex(figure, e, view,
                       view.planned ? "Most probable action, planned" : "Most probable action",
                       opt_error);
  return idm_policy_add(figure, setting, e->workspace, view,
                        view.planned ? "Planned policy" : "Policy", e->trace, opt_error);
}

/* Add the policy at the current step, after the previous action; with perseverance or lapse, also
 * the planned policy. */
static idm_status add_policy(idm_figure *figure, const idm_explorer *e, idm_error *opt_error)
{
  const idm_setting *setting = e->problem->setting;
  const size_t states = setting->states.count;
  const bool drawn = setting->fully_observed ? states <= max_states : states == 2 || states == 3;
  idm_policy_view view = {.steps = (int)e->events,
                          .last = e->events ? e->event[e->events - 1].action : IDM_MISSING};
  if (!idm_agent_planner(&e->problem->agent)->belief || !drawn)
    return add_present(figure, e, opt_error);
  const idm_status status = add_view(figure, e, view, opt_error);
  if (status != IDM_OK || !idm_workspace_has_bias(e->workspace)) return status;
  view.planned = true;
  return add_view(figure, e, view, opt_error);
}

/* --- values --------------------------------------------------------------------------------- */

static idm_status add_value_line(idm_figure *figure, const idm_explorer *e, idm_error *opt_error)
{
  const idm_setting *setting = e->problem->setting;
  char title[160];
  idm_panel *panel;
  idm_mark *line;
  snprintf(title, sizeof title, "belief in %s", setting->states.name[1]);
  idm_status status = idm_figure_add(figure, "Value", title, "value", &panel, opt_error);
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_LINE, "", IDM_COLOURS - 1, beliefs, &line, opt_error);
  if (status != IDM_OK) return status;
  panel->x.low = 0;
  panel->x.high = 1;
  for (size_t i = 0; i < beliefs; i++) {
    const double p = (double)i / (beliefs - 1);
    const double z[2] = {1 - p, p};
    line->column[IDM_FIGURE_X][i] = p;
    line->column[IDM_FIGURE_Y][i] = idm_plan_value_after(e->workspace, 0, (int)e->events, z);
  }
  return IDM_OK;
}

/* Add the values of observed states, one point each. */
static idm_status add_value_points(idm_figure *figure, const idm_explorer *e, idm_error *opt_error)
{
  const idm_setting *setting = e->problem->setting;
  const size_t states = setting->states.count;
  double *z = idm_new(states, sizeof *z);
  idm_panel *panel;
  idm_mark *points;
  idm_status status = z ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_figure_add(figure, "Value", "value", "", &panel, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->states, &panel->y.category, opt_error);
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_POINTS, "", IDM_COLOURS - 1, states, &points, opt_error);
  for (size_t s = 0; s < states && status == IDM_OK; s++) {
    z[s] = 1;
    points->column[IDM_FIGURE_X][s] = idm_plan_value_after(e->workspace, 0, (int)e->events, z);
    points->column[IDM_FIGURE_Y][s] = (double)s;
    z[s] = 0;
  }
  free(z);
  return status;
}

static idm_status add_value(idm_figure *figure, const idm_explorer *e, idm_error *opt_error)
{
  const idm_setting *setting = e->problem->setting;
  const idm_planner *planner = idm_agent_planner(&e->problem->agent);
  if (!planner->belief || !planner->belief->value) return IDM_OK;
  if (setting->fully_observed && setting->states.count <= max_states)
    return add_value_points(figure, e, opt_error);
  if (!setting->fully_observed && setting->states.count == 2)
    return add_value_line(figure, e, opt_error);
  return IDM_OK;
}

/* --- beliefs -------------------------------------------------------------------------------- */

/* Add the belief in every state at every step; of two states, only that in the second. */
static idm_status add_beliefs(idm_figure *figure, const idm_explorer *e, idm_error *opt_error)
{
  const idm_setting *setting = e->problem->setting;
  const idm_path_trace *f = e->trace;
  const size_t states = setting->states.count;
  idm_panel *panel;
  idm_status status =
      idm_figure_add(figure, "Belief, step by step", "step", "belief", &panel, opt_error);
  if (status != IDM_OK) return status;
  panel->x.whole = true;
  panel->x.low = panel->y.low = 0;
  panel->x.high = f->step_count < 6 ? 5 : (double)f->step_count - 1;
  panel->y.high = 1;
  for (size_t s = states == 2 ? 1 : 0; s < states && s < IDM_COLOURS && status == IDM_OK; s++)
    for (int points = 0; points < 2 && status == IDM_OK; points++) {
      idm_mark *mark;
      status = idm_panel_add(
          panel, points ? IDM_MARK_POINTS : IDM_MARK_LINE, points ? "" : setting->states.name[s],
          states == 2 ? IDM_COLOURS - 1 : (int)s, f->step_count, &mark, opt_error);
      for (size_t i = 0; i < f->step_count && status == IDM_OK; i++) {
        mark->column[IDM_FIGURE_X][i] = (double)i;
        mark->column[IDM_FIGURE_Y][i] = f->belief[i * states + s];
      }
    }
  return status;
}

/* Add the state at every step, if states are observed. */
static idm_status add_states(idm_figure *figure, const idm_explorer *e, idm_error *opt_error)
{
  const idm_setting *setting = e->problem->setting;
  idm_panel *panel;
  idm_mark *line;
  idm_status status = idm_figure_add(figure, "State, step by step", "step", "", &panel, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->states, &panel->y.category, opt_error);
  if (status == IDM_OK)
    status =
        idm_panel_add(panel, IDM_MARK_LINE, "", IDM_COLOURS - 1, e->events + 1, &line, opt_error);
  if (status != IDM_OK) return status;
  panel->x.whole = true;
  panel->x.low = 0;
  panel->x.high = e->events < 5 ? 5 : (double)e->events;
  for (size_t i = 0; i <= e->events; i++) {
    line->column[IDM_FIGURE_X][i] = (double)i;
    line->column[IDM_FIGURE_Y][i] = (double)(i ? (size_t)e->event[i - 1].observation : e->first);
  }
  return idm_panel_plot(panel, IDM_MARK_POINTS, "", IDM_COLOURS - 1, e->events + 1,
                        line->column[IDM_FIGURE_X], line->column[IDM_FIGURE_Y], opt_error);
}

static idm_status add_path(idm_figure *figure, const idm_explorer *e, idm_error *opt_error)
{
  const idm_setting *setting = e->problem->setting;
  if (setting->fully_observed)
    return setting->states.count <= max_states ? add_states(figure, e, opt_error) : IDM_OK;
  if (isnan(e->trace->belief[0])) return IDM_OK;
  return add_beliefs(figure, e, opt_error);
}

/* --- figure ---------------------------------------------------------------------------------- */

/* Return a text, which replaces the last one. */
static const char *set_text(idm_explorer *e, char *text)
{
  free(e->text);
  e->text = text;
  return text;
}

const char *idm_explorer_draw(idm_explorer *e, double width)
{
  const idm_figure_options options = {.width = width, .id = "figure", .without_style = true};
  idm_figure *figure = NULL;
  char *text = NULL;
  idm_status status = idm_figure_create(
      "", "Policy and value of the agent, and the path of its belief.", 3, &figure, &e->error);
  if (status == IDM_OK) status = add_policy(figure, e, &e->error);
  if (status == IDM_OK) status = add_value(figure, e, &e->error);
  if (status == IDM_OK) status = add_path(figure, e, &e->error);
  if (status == IDM_OK) status = idm_figure_svg(figure, &options, &text, &e->error);
  idm_figure_destroy(figure);
  return set_text(e, status == IDM_OK ? text : NULL);
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Append a cell that displays a rounded number and has its full precision as an attribute. */
static void add_number(idm_markup *m, double number, int decimals)
{
  if (isnan(number))
    idm_markup_add(m, "<td></td>");
  else
    idm_markup_add(m, "<td data-number=\"%.17g\">%.*f</td>", number, decimals, number);
}

/* Append the current belief, one row per state; nothing if the agent has no belief. */
static void describe_belief(idm_markup *m, const idm_explorer *e)
{
  const idm_labels *states = &e->problem->setting->states;
  const double *z = e->trace->belief + e->events * states->count;
  if (isnan(z[0]) || states->count > max_states) return;
  idm_markup_add(m, "<table id=\"belief\"><caption>Belief now</caption><thead><tr><th "
                    "scope=\"col\">state</th><th scope=\"col\">belief</th></tr></thead><tbody>");
  for (size_t s = 0; s < states->count; s++) {
    idm_markup_add(m, "<tr><th scope=\"row\">");
    idm_markup_text(m, states->name[s]);
    idm_markup_add(m, "</th>");
    add_number(m, z[s], 4);
    idm_markup_add(m, "</tr>");
  }
  idm_markup_add(m, "</tbody></table>");
}

/* Append the current policy, and the Q value of each action. */
static void describe_policy(idm_markup *m, const idm_explorer *e, double *quality)
{
  const idm_setting *setting = e->problem->setting;
  const size_t actions = setting->actions.count;
  const double *policy = e->trace->policy + e->events * actions;
  const double *z = e->trace->belief + e->events * setting->states.count;
  for (size_t u = 0; u < actions; u++) quality[u] = NAN;
  if (!isnan(z[0])) idm_plan_quality(e->workspace, 0, (int)e->events, z, quality);
  idm_markup_add(m, "<table id=\"policy\"><caption>Policy now</caption><thead><tr><th "
                    "scope=\"col\">action</th><th scope=\"col\">probability</th><th "
                    "scope=\"col\">Q value</th></tr></thead><tbody>");
  for (size_t u = 0; u < actions; u++) {
    idm_markup_add(m, "<tr><th scope=\"row\">");
    idm_markup_text(m, setting->actions.name[u]);
    idm_markup_add(m, "</th>");
    add_number(m, policy[u], 4);
    add_number(m, quality[u], 3);
    idm_markup_add(m, "</tr>");
  }
  idm_markup_add(m, "</tbody></table>");
}

/* Append the actions and observations of the episode. */
static void describe_steps(idm_markup *m, const idm_explorer *e)
{
  const idm_setting *setting = e->problem->setting;
  idm_markup_add(m, "<ol id=\"steps\">");
  for (size_t i = 0; i < e->events; i++) {
    idm_markup_add(m, "<li>");
    idm_markup_text(m, setting->actions.name[e->event[i].action]);
    idm_markup_add(m, " <span aria-label=\"then\">→</span> ");
    idm_markup_text(m, setting->observations.name[e->event[i].observation]);
    idm_markup_add(m, "</li>");
  }
  if (e->last >= 0) {
    idm_markup_add(m, "<li><strong>");
    idm_markup_text(m, setting->actions.name[e->last]);
    idm_markup_add(m, "</strong>, true state ");
    idm_markup_text(m, setting->states.name[e->state]);
    idm_markup_add(m, "</li>");
  }
  idm_markup_add(m, "</ol>");
}

const char *idm_explorer_tell(idm_explorer *e)
{
  const idm_setting *setting = e->problem->setting;
  const double *z = e->trace->belief + e->events * setting->states.count;
  idm_markup m = {0};
  char *text = NULL;
  double *quality = idm_new(setting->actions.count, sizeof *quality);
  if (quality) {
    describe_policy(&m, e, quality);
    describe_belief(&m, e);
    describe_steps(&m, e);
    const double value =
        isnan(z[0]) ? NAN : idm_plan_value_after(e->workspace, 0, (int)e->events, z);
    if (!isnan(value))
      idm_markup_add(&m,
                     "<p>Value now <output id=\"value\" data-number=\"%.17g\">%.4f</output></p>",
                     value, value);
  }
  free(quality);
  m.failed = m.failed || !quality;
  idm_markup_take(&m, &text, &e->error);
  return set_text(e, text);
}
