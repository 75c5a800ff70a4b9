/* Runs of the core API: fitted from files, loaded with their verdict; and the log of a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "idm/extension/inverse.h"
#include "idm/run.h"
#include "invert/people.h"
#include "io/log_file.h"
#include "io/run.h"
#include "study/study.h"

/* --- logs of runs --------------------------------------------------------------------------- */

const char *idm_request_people(const idm_request *opt_request)
{
  if (!opt_request) return "";
  return opt_request->by[0] ? opt_request->by : opt_request->each;
}

idm_status idm_run_read_log(idm_request *request, idm_problem *problem, idm_data **ret_data,
                            idm_notes *opt_notes, idm_error *opt_error)
{
  idm_labels keep = {0};
  idm_status status = idm_request_set_log(request, NULL, opt_error);
  if (status == IDM_OK && idm_request_people(request)[0]) {
    const idm_design_request people = {.by = idm_request_people(request)};
    status = idm_design_columns(problem, &people, &keep, opt_error);
  }
  if (status == IDM_OK)
    status = idm_log_read(
        idm_data_read_files, request->data, request->where, problem,
        (idm_csv_options){.keep = (const char *const *)keep.name, .keep_count = keep.count},
        ret_data, opt_notes, opt_error);
  idm_labels_destroy(&keep);
  return status;
}

/* --- create --------------------------------------------------------------------------------- */

/* The request of a new run: the settings, and the files. */
static idm_status make_request(const char *problem_path, const char *const *data_path, size_t count,
                               const idm_settings *settings, idm_problem **ret_problem,
                               idm_request *r, idm_notes *opt_notes, idm_error *opt_error)
{
  char paths[sizeof r->data] = "";
  *r = settings->audit.request;
  if (!problem_path || !count)
    return idm_fail(opt_error, IDM_USAGE, "a new run needs a problem and at least one log");
  idm_status status = idm_problem_read(problem_path, ret_problem, opt_notes, opt_error);
  for (size_t i = 0; i < count && status == IDM_OK; i++)
    status = data_path && data_path[i]
                 ? idm_texts_add(paths, sizeof paths, data_path[i], opt_error)
                 : idm_fail(opt_error, IDM_USAGE, "path %zu of the log is NULL", i);
  if (status == IDM_OK) status = idm_request_set_inputs(r, problem_path, paths, opt_error);
  if (status == IDM_OK) status = idm_request_complete(r, *ret_problem, opt_error);
  return status;
}

/* The log of a request, with the columns of its people and the evidence of its inverse planner. */
static idm_status read_inputs(const idm_request *r, idm_problem *problem, idm_data **ret_data,
                              idm_notes *opt_notes, idm_error *opt_error)
{
  idm_labels keep = {0};
  size_t models = 0;
  char **model = idm_texts_split(r->model, &models);
  idm_status status = model ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK && idm_request_people(r)[0]) {
    const idm_design_request design = {idm_request_people(r), (const char *const *)model, models};
    status = idm_design_columns(problem, &design, &keep, opt_error);
  }
  free(model);
  const idm_inverse *inverse = idm_inverse_find(r->inverse);
  const idm_csv_options options = {.columns = inverse ? inverse->columns : 0,
                                   .keep = (const char *const *)keep.name,
                                   .keep_count = keep.count};
  if (status == IDM_OK)
    status = idm_log_read(idm_data_read_files, r->data, r->where, problem, options, ret_data,
                          opt_notes, opt_error);
  idm_labels_destroy(&keep);
  if (status == IDM_OK && r->preferences[0])
    status = idm_preferences_read_csv(r->preferences, *ret_data, opt_notes, opt_error);
  if (status == IDM_OK && r->by[0])
    status = idm_population_set_priors(problem, opt_notes, opt_error);
  return status;
}

idm_status idm_run_create(const char *folder, idm_run_mode mode, const char *problem_path,
                          const char *const *data_path, size_t count, const idm_settings *settings,
                          idm_posterior **ret_posterior, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(folder, settings, ret_posterior);
  *ret_posterior = NULL;
  idm_problem *problem = NULL;
  idm_data *data = NULL;
  idm_run run = {0};
  idm_watcher watcher = settings->watcher;
  idm_request *request = idm_new(1, sizeof *request);
  if (!request) return idm_fail_memory(opt_error);
  idm_status status = mode == IDM_RUN_RESUME
                          ? idm_run_read_unfinished(folder, &problem, request, opt_notes, opt_error)
                          : make_request(problem_path, data_path, count, settings, &problem,
                                         request, opt_notes, opt_error);
  if (status == IDM_OK && mode == IDM_RUN_RESUME) {
    request->settings.threads = settings->audit.request.settings.threads;
    status = idm_request_set_log(request, NULL, opt_error);
  }
  if (status == IDM_OK) status = read_inputs(request, problem, &data, opt_notes, opt_error);
  if (status == IDM_OK)
    status = idm_run_fit(folder, mode, problem, data, request, idm_watcher_progress, &watcher, &run,
                         opt_notes, opt_error);
  if (status == IDM_OK)
    status = idm_run_take_answer(&run, &problem, request, ret_posterior, opt_error);
  idm_run_clear(&run);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  free(request);
  return status;
}

/* --- load ----------------------------------------------------------------------------------- */

idm_status idm_run_load(const char *folder, idm_problem **opt_problem,
                        idm_posterior **opt_posterior, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(folder);
  if (opt_problem) *opt_problem = NULL;
  if (opt_posterior) *opt_posterior = NULL;
  idm_problem *problem = NULL;
  idm_posterior *posterior = NULL;
  idm_assessment *assessment = NULL;
  idm_request *request = malloc(sizeof *request);
  if (!request) return idm_fail_memory(opt_error);
  idm_status status = idm_run_read(folder, &problem, request, &posterior, opt_notes, opt_error);
  if (status == IDM_OK) status = idm_run_assess(folder, posterior, &assessment, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_attach(posterior, assessment, request->dynamics[0] ? request : NULL,
                                  opt_error);
  if (status == IDM_OK) status = idm_posterior_adopt_copy(posterior, problem, opt_error);
  free(request);
  if (status == IDM_OK && opt_problem) {
    *opt_problem = problem;
    problem = NULL;
  }
  if (status == IDM_OK && opt_posterior) {
    *opt_posterior = posterior;
    posterior = NULL;
  }
  idm_posterior_destroy(posterior);
  idm_problem_destroy(problem);
  return status;
}
