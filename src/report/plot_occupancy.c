/* Plot of the occupancy of an agent's beliefs, or of its states if they are observed, by the
 * forward recursion mu = (1 - gamma) rho_0 + gamma M mu (docs/method/control.md, 9). */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"
#include "belief/belief.h"
#include "report/markup.h"
#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_occupancy; /* registered in plots.c */

/* Largest number of bars, and of cells per side; several points of finer lattices are combined. */
enum { max_bars = 101, max_side = 33 };

static const char of_time[] = "share of time";

/* Points of a lattice and the share of time at each; the shares sum to 1. */
typedef struct occupancy {
  idm_lattice *lattice;
  double *share;
} occupancy;

static void close_occupancy(occupancy *o)
{
  idm_lattice_destroy(o->lattice);
  free(o->share);
}

static idm_status open_occupancy(const idm_plot_agent *agent, occupancy *o, idm_error *opt_error)
{
  const idm_setting *setting = agent->problem->setting;
  const size_t points = idm_workspace_points(agent->workspace);
  const size_t states = setting->states.count;
  const int resolution = agent->problem->agent.resolution;
  idm_forward forward;
  double sum = 0;
  idm_status status =
      idm_lattice_create(states, resolution > 0 ? resolution : idm_lattice_default(states),
                         setting->fully_observed, &o->lattice, opt_error);
  if (status != IDM_OK) return status;
  o->share = idm_new(points, sizeof *o->share);
  if (!o->share) return idm_fail_memory(opt_error);
  if (o->lattice->points != points)
    return idm_fail(opt_error, IDM_USAGE, "'%s' plans on another lattice than the problem's",
                    idm_agent_planner(&agent->problem->agent)->name);
  status = idm_plan_forward(agent->workspace, 0, &forward, o->share, opt_error);
  /* If episodes end, or are discounted over a horizon, the shares sum to less than 1. */
  for (size_t i = 0; i < points; i++) sum += o->share[i];
  for (size_t i = 0; i < points && sum > 0; i++) o->share[i] /= sum;
  return status;
}

/* --- two states ----------------------------------------------------------------------------- */

/* One bar per point of the lattice, between the midpoints to its neighbours. */
static idm_status draw_beliefs(const idm_setting *setting, const occupancy *o, idm_panel *panel,
                               idm_error *opt_error)
{
  (void)setting;
  const size_t points = o->lattice->points, r = points - 1;
  const size_t each = (points + max_bars - 1) / max_bars;
  const size_t bars = (points + each - 1) / each;
  idm_mark *mark;
  const idm_status status = idm_panel_add(panel, IDM_MARK_BARS, "", 0, bars, &mark, opt_error);
  if (status != IDM_OK) return status;
  for (size_t i = 0; i < points; i++) {
    /* The order of points is internal to the lattice; the belief identifies the point. */
    const size_t point = (size_t)lround(o->lattice->belief[2 * i + 1] * (double)r);
    mark->column[IDM_FIGURE_Y][point / each] += o->share[i];
  }
  for (size_t i = 0; i < bars; i++) {
    const double last = fmin((double)((i + 1) * each) - 0.5, (double)r);
    mark->column[IDM_FIGURE_X][i] = fmax((double)(i * each) - 0.5, 0) / (double)r;
    mark->column[IDM_FIGURE_RIGHT][i] = last / (double)r;
  }
  panel->x.low = panel->y.low = 0;
  panel->x.high = 1;
  return IDM_OK;
}

/* --- three states --------------------------------------------------------------------------- */

static size_t side_of(int resolution)
{
  const size_t each = ((size_t)resolution + max_side - 1) / max_side;
  return ((size_t)resolution + each - 1) / each;
}

/* Shade cells by the root of their share of time relative to the largest, so that small shares are
 * visible. Labels give the share itself. */
static idm_status draw_cells(const idm_triangle *triangle, const double *share, size_t count,
                             idm_panel *panel, idm_error *opt_error)
{
  double max_share = 0;
  size_t used = 0;
  char name[80];
  idm_mark *cells;
  for (size_t i = 0; i < count; i++) max_share = fmax(max_share, share[i]);
  for (size_t i = 0; i < count; i++) used += share[i] > 0;
  snprintf(name, sizeof name, "%s (darkest: %.2g)", of_time, max_share);
  idm_status status = idm_panel_add(panel, IDM_MARK_CELLS, name, 0, used, &cells, opt_error);
  if (status == IDM_OK) status = idm_labels_create(&cells->label, used, opt_error);
  for (size_t i = 0, k = 0; i < count && status == IDM_OK; i++) {
    char text[32];
    if (!(share[i] > 0)) continue;
    const int length = snprintf(text, sizeof text, "%.3g", share[i]);
    idm_triangle_set(&triangle[i], cells, k, sqrt(share[i] / max_share));
    status = idm_labels_set(&cells->label, k++, text, (size_t)length, opt_error);
  }
  return status;
}

static idm_status draw_simplex(const idm_setting *setting, const occupancy *o, idm_panel *panel,
                               idm_error *opt_error)
{
  const size_t side = side_of(o->lattice->resolution);
  const size_t count = idm_triangles_count(side);
  idm_triangle *triangle = idm_new(count, sizeof *triangle);
  double *share = idm_new(count, sizeof *share);
  idm_status status = triangle && share ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->states, &panel->corner, opt_error);
  if (status == IDM_OK) {
    idm_triangles_make(side, triangle);
    for (size_t i = 0; i < o->lattice->points; i++)
      idm_triangles_add_mass(side, o->lattice->belief + 3 * i, o->share[i], share);
    status = draw_cells(triangle, share, count, panel, opt_error);
  }
  free(triangle);
  free(share);
  return status;
}

/* --- states --------------------------------------------------------------------------------- */

/* One bar per state: the share of time in it or, for beliefs over more than three states, the mean
 * belief in it. */
static idm_status draw_states(const idm_setting *setting, const occupancy *o, idm_panel *panel,
                              idm_error *opt_error)
{
  const size_t states = setting->states.count;
  idm_mark *mark;
  idm_status status = idm_panel_add(panel, IDM_MARK_BARS, "", 0, states, &mark, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->states, &panel->x.category, opt_error);
  if (status == IDM_OK) status = idm_labels_copy(&setting->states, &mark->label, opt_error);
  if (status != IDM_OK) return status;
  for (size_t s = 0; s < states; s++) {
    mark->column[IDM_FIGURE_X][s] = (double)s - 0.4;
    mark->column[IDM_FIGURE_RIGHT][s] = (double)s + 0.4;
  }
  for (size_t i = 0; i < o->lattice->points; i++)
    for (size_t s = 0; s < states; s++)
      mark->column[IDM_FIGURE_Y][s] +=
          o->share[i] * (o->lattice->corners ? i == s : o->lattice->belief[i * states + s]);
  panel->y.low = 0;
  return IDM_OK;
}

/* --- figure ---------------------------------------------------------------------------------- */

static idm_status draw(const void *context, const idm_plot_agent *agent, idm_figure *figure,
                       idm_error *opt_error)
{
  (void)context;
  const idm_setting *setting = agent->problem->setting;
  const size_t states = setting->fully_observed ? 0 : setting->states.count;
  idm_panel *panel;
  occupancy o = {0};
  char belief[160] = "", title[320];
  /* The recursion is the agent's own forecast, which does not include perseverance and lapse. */
  const char *of = idm_workspace_has_bias(agent->workspace) ? "of the planned policy" : "";
  idm_print(title, sizeof title, "%.200s%s%s", agent->title, of[0] && agent->title[0] ? ", " : "",
            of);
  if (states == 2) snprintf(belief, sizeof belief, "belief in %s", setting->states.name[1]);
  idm_status status = idm_figure_add(figure, title, belief, states > 3 ? "mean belief" : of_time,
                                     &panel, opt_error);
  if (status == IDM_OK) status = open_occupancy(agent, &o, opt_error);
  if (status == IDM_OK)
    status = (states == 2   ? draw_beliefs
              : states == 3 ? draw_simplex
                            : draw_states)(setting, &o, panel, opt_error);
  close_occupancy(&o);
  return status;
}

static idm_status check(const idm_problem *problem, idm_error *opt_error)
{
  const idm_planner *planner = idm_agent_planner(&problem->agent);
  if (planner->lattice) return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE,
                  "'%s' does not plan on a lattice of beliefs: its occupancy is not known",
                  planner->name);
}

static idm_status make_occupancy(const idm_plot_subject *subject, const idm_plot_settings *settings,
                                 idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  const idm_plot_drawer drawer = {check, draw, NULL};
  const idm_status status = idm_figure_create(
      "", "Occupancy that the agent expects: the discounted share of time at each belief.",
      idm_plot_agents_columns(settings), ret_figure, opt_error);
  if (status != IDM_OK) return status;
  return idm_plot_agents(subject, settings, &drawer, *ret_figure, notes, opt_error);
}

const idm_plot idm_plot_occupancy = {
    .name = "occupancy",
    .summary = "occupancy of the beliefs of an agent, or of the states if these are observed, as "
               "the agent expects it",
    .needs = IDM_PLOT_PROBLEM,
    .dynamics = IDM_DYNAMICS_CENTRAL,
    .make = make_occupancy,
};
