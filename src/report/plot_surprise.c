/* Plot of one trajectory step by step: beliefs, probabilities of the actions taken, and surprise.
 */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "invert/explain.h"
#include "report/panels.h"
#include "report/report.h"

extern const idm_plot idm_plot_surprise; /* registered in plots.c */

typedef struct one_case {
  const idm_setting *setting;
  const idm_data *data;
  const idm_explanation *e;
  size_t first; /* row of the first step */
  size_t rows;
  double *step; /* [row]: from 1 */
} one_case;

/* Returns true with draws, which have intervals in addition to the mean. */
static bool has_band(const one_case *c)
{
  return c->e->trials->low != NULL;
}

/* --- beliefs -------------------------------------------------------------------------------- */

static idm_status add_belief(const one_case *c, size_t state, idm_panel *panel,
                             idm_error *opt_error)
{
  const int colour = (int)(state % IDM_COLOURS);
  const char *name = c->setting->states.name[state];
  idm_mark *band = NULL, *line;
  idm_status status = IDM_OK;
  if (has_band(c))
    status = idm_panel_add(panel, IDM_MARK_BAND, name, colour, c->rows, &band, opt_error);
  if (status == IDM_OK)
    status = idm_panel_add(panel, IDM_MARK_LINE, name, colour, c->rows, &line, opt_error);
  if (status == IDM_OK) line->dashed = state >= IDM_COLOURS;
  for (size_t i = 0; i < c->rows && status == IDM_OK; i++) {
    const idm_interval z = idm_explanation_interval(c->e, c->first + i, IDM_EXPLAIN_BELIEF, state);
    line->column[IDM_FIGURE_X][i] = c->step[i];
    line->column[IDM_FIGURE_Y][i] = z.mean;
    if (!band) continue;
    band->column[IDM_FIGURE_X][i] = c->step[i];
    band->column[IDM_FIGURE_LOW][i] = z.low;
    band->column[IDM_FIGURE_HIGH][i] = z.high;
  }
  return status;
}

static idm_status add_beliefs(const one_case *c, idm_figure *figure, idm_error *opt_error)
{
  idm_panel *panel;
  if (isnan(idm_explanation_interval(c->e, c->first, IDM_EXPLAIN_BELIEF, 0).mean)) return IDM_OK;
  idm_status status =
      idm_figure_add(figure, "belief before the step", "step", "probability", &panel, opt_error);
  for (size_t s = 0; s < c->setting->states.count && status == IDM_OK; s++)
    status = add_belief(c, s, panel, opt_error);
  return status;
}

/* --- actions --------------------------------------------------------------------------------- */

/* Returns true if row i is a decision; a row with one available action has no prediction. */
static bool is_decision(const one_case *c, size_t i)
{
  return !idm_data_missed(c->data, c->first + i) &&
         idm_data_available_count(c->data, c->data->available[c->first + i]) > 1;
}

static bool is_taken(const one_case *c, size_t i, size_t action)
{
  return is_decision(c, i) && c->data->action[c->first + i] == (int32_t)action;
}

/* Add the probability of an action at the steps at which it was taken. Colours continue after those
 * of the states. */
static idm_status add_taken(const one_case *c, size_t action, idm_panel *panel,
                            idm_error *opt_error)
{
  size_t count = 0;
  idm_mark *mark;
  for (size_t i = 0; i < c->rows; i++) count += is_taken(c, i, action);
  if (!count) return IDM_OK;
  const int colour = (int)((c->setting->states.count + action) % IDM_COLOURS);
  const idm_status status =
      idm_panel_add(panel, has_band(c) ? IDM_MARK_RANGES : IDM_MARK_POINTS,
                    c->setting->actions.name[action], colour, count, &mark, opt_error);
  for (size_t i = 0, k = 0; i < c->rows && status == IDM_OK; i++) {
    if (!is_taken(c, i, action)) continue;
    const idm_interval p =
        idm_explanation_interval(c->e, c->first + i, IDM_EXPLAIN_PROBABILITY, action);
    mark->column[IDM_FIGURE_X][k] = c->step[i];
    mark->column[IDM_FIGURE_Y][k] = p.mean;
    if (has_band(c)) mark->column[IDM_FIGURE_LOW][k] = p.low;
    if (has_band(c)) mark->column[IDM_FIGURE_HIGH][k] = p.high;
    k++;
  }
  return status;
}

static idm_status add_probabilities(const one_case *c, idm_figure *figure, idm_error *opt_error)
{
  idm_panel *panel;
  idm_status status = idm_figure_add(figure, "probability of what was done", "step", "probability",
                                     &panel, opt_error);
  for (size_t u = 0; u < c->setting->actions.count && status == IDM_OK; u++)
    status = add_taken(c, u, panel, opt_error);
  return status;
}

/* --- surprise ------------------------------------------------------------------------------- */

static idm_status add_bars(const one_case *c, bool seen, idm_panel *panel, idm_error *opt_error)
{
  idm_mark *bars;
  const idm_status status = idm_panel_add(
      panel, IDM_MARK_BARS, seen ? "of what was seen, to the agent" : "of what was done, to us",
      seen ? IDM_COLOUR_NEUTRAL : IDM_COLOURS - 1, c->rows, &bars, opt_error);
  for (size_t i = 0; i < c->rows && status == IDM_OK; i++) {
    const size_t row = c->first + i;
    bars->column[IDM_FIGURE_X][i] = c->step[i] - (seen ? 0 : 0.36);
    bars->column[IDM_FIGURE_RIGHT][i] = c->step[i] + (seen ? 0.36 : 0);
    bars->column[IDM_FIGURE_Y][i] =
        seen                ? idm_explanation_interval(c->e, row, IDM_EXPLAIN_OBS_SURPRISE, 0).mean
        : is_decision(c, i) ? idm_explanation_surprise(c->e, c->data, row).mean
                            : NAN;
  }
  return status;
}

static idm_status add_surprises(const one_case *c, idm_figure *figure, idm_error *opt_error)
{
  idm_panel *panel;
  idm_status status = idm_figure_add(figure, "surprise: \xE2\x88\x92log of the probability", "step",
                                     "nats", &panel, opt_error);
  if (status == IDM_OK) status = add_bars(c, false, panel, opt_error);
  if (status == IDM_OK) status = add_bars(c, true, panel, opt_error);
  return status;
}

/* --- figure ---------------------------------------------------------------------------------- */

static idm_status draw(const one_case *c, const char *name, idm_figure **ret_figure,
                       idm_error *opt_error)
{
  char title[120];
  snprintf(title, sizeof title, "Trajectory %.80s", name);
  idm_status status = idm_figure_create(
      title,
      "A trajectory step by step: beliefs, probabilities of the actions taken, and surprise.", 1,
      ret_figure, opt_error);
  if (status == IDM_OK) status = add_beliefs(c, *ret_figure, opt_error);
  if (status == IDM_OK) status = add_probabilities(c, *ret_figure, opt_error);
  if (status == IDM_OK) status = add_surprises(c, *ret_figure, opt_error);
  for (size_t p = 0; p < (*ret_figure ? (*ret_figure)->panels : 0); p++) {
    idm_panel *panel = (*ret_figure)->panel[p];
    panel->aspect = 0.24;
    panel->x.whole = true;
    panel->x.low = 0.5;
    panel->x.high = (double)c->rows + 0.5;
    if (p + 1 == (*ret_figure)->panels) continue;
    panel->y.low = -0.04; /* so that marks at the ends are not clipped */
    panel->y.high = 1.04;
  }
  return status;
}

static idm_status make_surprise(const idm_plot_subject *subject, const idm_plot_settings *settings,
                                idm_figure **ret_figure, idm_notes *notes, idm_error *opt_error)
{
  (void)notes; /* those of an explanation are about the rational agent, which is not drawn */
  const idm_data *data = subject->data;
  one_case c = {.setting = subject->problem->setting, .data = data};
  idm_explain_settings wanted;
  idm_explanation *e = NULL;
  size_t trajectory = 0;
  if (!settings->trajectory)
    return idm_fail(opt_error, IDM_USAGE,
                    "a plot of kind 'surprise' needs a trajectory: name one with --trajectory");
  idm_explain_settings_default(&wanted);
  wanted.by = idm_decisions_people(subject);
  idm_status status = idm_data_find_trajectory(data, settings->trajectory, &trajectory, opt_error);
  if (status == IDM_OK) {
    wanted.trajectory = (int64_t)trajectory;
    c.first = data->first[trajectory];
    c.rows = data->first[trajectory + 1] - c.first;
    c.step = idm_new(c.rows, sizeof *c.step);
    if (!c.step) status = idm_fail_memory(opt_error);
  }
  for (size_t i = 0; i < c.rows && status == IDM_OK; i++) c.step[i] = (double)i + 1;
  if (status == IDM_OK)
    status =
        idm_explain_log(subject->problem, subject->posterior, data, &wanted, &e, NULL, opt_error);
  c.e = e;
  if (status == IDM_OK) status = draw(&c, settings->trajectory, ret_figure, opt_error);
  idm_explanation_destroy(e);
  free(c.step);
  return status;
}

const idm_plot idm_plot_surprise = {
    .name = "surprise",
    .summary = "one trajectory of a log step by step: beliefs, probabilities of the actions taken, "
               "and surprise",
    .needs = IDM_PLOT_PROBLEM | IDM_PLOT_DATA,
    .dynamics = IDM_DYNAMICS_PER_DRAW,
    .make = make_surprise,
};
