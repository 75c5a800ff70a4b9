/* Decisions beside what was predicted of them: see the header. */
#include "report/decisions.h"

#include <math.h>

#include "base/memory.h"
#include "idm/capacity.h"
#include "idm/explain.h"
#include "idm/request.h"
#include "idm/trials.h"

void idm_decisions_close(idm_decisions *decisions)
{
  free(decisions->taken);
  free(decisions->probability);
  free(decisions->open);
  *decisions = (idm_decisions){0};
}

const char *idm_decisions_people(const idm_plot_subject *subject)
{
  const idm_request *request = subject->request;
  const char *by = !request ? "" : request->by[0] ? request->by : request->each;
  return by[0] ? by : NULL;
}

/* --- predictions ---------------------------------------------------------------------------- */

static idm_status predict_by_point(const idm_problem *problem, const idm_data *data,
                                   idm_trials **ret_trials, idm_notes *notes, idm_error *opt_error)
{
  idm_workspace *workspace = NULL;
  idm_theta *theta = NULL;
  idm_status status = idm_theta_copy(problem->theta, &theta, opt_error);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, opt_error);
  if (status == IDM_OK)
    status = idm_plan_capacity(theta, &problem->agent, NULL, workspace, NULL, notes, opt_error);
  if (status == IDM_OK) status = idm_trials_create(workspace, data, ret_trials, opt_error);
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  return status;
}

/* An explanation takes everybody's own draws; its trials are what is wanted of it. */
static idm_status predict_people(const idm_plot_subject *subject, idm_trials **ret_trials,
                                 idm_error *opt_error)
{
  idm_explanation *e = NULL;
  idm_explain_settings settings;
  idm_explain_settings_default(&settings);
  settings.by = idm_decisions_people(subject);
  const idm_status status = idm_explain(subject->problem, subject->posterior, subject->data,
                                        &settings, &e, NULL, opt_error);
  if (status != IDM_OK) return status;
  *ret_trials = e->trials;
  e->trials = NULL;
  idm_explanation_destroy(e);
  return IDM_OK;
}

static idm_status predict(const idm_plot_subject *subject, idm_trials **ret_trials,
                          idm_notes *notes, idm_error *opt_error)
{
  const idm_posterior *posterior = subject->posterior;
  if (!posterior)
    return predict_by_point(subject->problem, subject->data, ret_trials, notes, opt_error);
  if (idm_posterior_axis(posterior, "person") < posterior->axes)
    return predict_people(subject, ret_trials, opt_error);
  return idm_posterior_trials(subject->problem, posterior, subject->data, ret_trials, opt_error);
}

/* --- decisions ------------------------------------------------------------------------------ */

static bool is_decision(const idm_data *data, size_t row)
{
  return data->action[row] != IDM_MISSING && idm_data_open(data, data->available[row]) > 1;
}

static idm_status make_room(const idm_data *data, idm_decisions *d, idm_error *opt_error)
{
  d->actions = data->sizes.actions;
  for (size_t row = 0; row < data->rows; row++) d->count += is_decision(data, row);
  if (!d->count)
    return idm_fail(opt_error, IDM_INPUT,
                    "the log has no decision: no recorded action of which more than one was open");
  d->taken = idm_new(d->count, sizeof *d->taken);
  d->probability = idm_new(idm_times(d->count, d->actions), sizeof *d->probability);
  d->open = idm_new(idm_times(d->count, d->actions), sizeof *d->open);
  return d->taken && d->probability && d->open ? IDM_OK : idm_fail_memory(opt_error);
}

static void fill(const idm_data *data, const idm_trials *trials, idm_decisions *d)
{
  const size_t n = d->actions;
  size_t at = 0;
  for (size_t row = 0; row < data->rows; row++) {
    if (!is_decision(data, row)) continue;
    const double *numbers = trials->mean + trials->node[row] * trials->width;
    d->taken[at] = (size_t)data->action[row];
    memcpy(d->probability + at * n, numbers + trials->sizes.states, n * sizeof *numbers);
    memcpy(d->open + at * n, data->available_set + data->available[row] * n, n * sizeof *d->open);
    at++;
  }
}

/* Of somebody whom the run does not know, say. */
static void remark(const idm_decisions *d, idm_notes *notes)
{
  size_t unknown = 0;
  for (size_t i = 0; i < d->count; i++)
    unknown += 0 != isnan(d->probability[i * d->actions + d->taken[i]]);
  if (unknown)
    idm_notes_add(notes, "%zu of %zu decisions are not predicted, and left out", unknown, d->count);
}

idm_status idm_decisions_open(const idm_plot_subject *subject, idm_decisions *decisions,
                              idm_notes *notes, idm_error *opt_error)
{
  idm_trials *own = NULL;
  const idm_trials *trials = subject->explained ? subject->explained->trials : NULL;
  *decisions = (idm_decisions){0};
  idm_status status = make_room(subject->data, decisions, opt_error);
  if (status == IDM_OK && !trials) status = predict(subject, &own, notes, opt_error);
  if (status == IDM_OK) fill(subject->data, trials ? trials : own, decisions);
  if (status == IDM_OK) remark(decisions, notes);
  if (status == IDM_OK && subject->fitted)
    idm_notes_add(notes, "these are the decisions that the run was fitted to: of others it may "
                         "predict less well");
  idm_trials_destroy(own);
  if (status != IDM_OK) idm_decisions_close(decisions);
  return status;
}
