/* Reads runs: problem, request, posterior and dynamics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "invert/assess.h"
#include "invert/assess/environment.h"
#include "invert/posterior.h"
#include "io/file.h"
#include "io/run.h"
#include "io/run/folder.h"
#include "io/run/netcdf.h"
#include "setting/model.h"

idm_status idm_request_hash_dynamics(idm_request *request, idm_error *opt_error)
{
  idm_require(request);
  char path[IDM_PATH_SIZE];
  idm_run_files files;
  request->dynamics_hash[0] = '\0';
  if (!request->dynamics[0]) return IDM_OK;
  if (!idm_folder_is(request->dynamics))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' is no run; expected the folder that `idm learn --draws -o` made",
                    request->dynamics);
  if (!request->dynamics_draws) request->dynamics_draws = IDM_DYNAMICS_DRAWS;
  idm_status status = idm_run_files_open(&files, request->dynamics, opt_error);
  if (status != IDM_OK) return status;
  const idm_location draws = idm_run_files_location(&files, IDM_FILE_POSTERIOR, path);
  status = idm_file_hash_at(&draws, request->dynamics_hash, opt_error);
  idm_run_files_close(&files);
  return status;
}

/* === read =================================================================================== */

/* Runs, audits and learnt dynamics, read from their folders without changing them.
 *
 * Contents: errors and remarks · contents · reading · unfinished runs */

/* --- errors and remarks ---------------------------------------------------------------------- */

/* Fail because a folder has no config.yaml. */
static idm_status fail_not_begun(const idm_run_files *files, idm_error *opt_error)
{
  const char *folder = files->run.path;
  return idm_fail(opt_error, IDM_INPUT,
                  "there is no '%s/config.yaml': the folder holds no run, or one that was killed "
                  "before its first file; `idm fit PROBLEM DATA... -o %s` starts it again",
                  folder, folder);
}

/* IDM_INPUT if a run is not complete, or was not begun. */
static idm_status check_finished(const idm_run_files *files, idm_error *opt_error)
{
  static const char *const names[] = {IDM_FILE_POSTERIOR, IDM_FILE_SUMMARY};
  char path[IDM_PATH_SIZE];
  const char *folder = files->run.path;
  const idm_location config = idm_run_files_location(files, IDM_FILE_CONFIG, path);
  if (idm_folder_has(&files->run, IDM_FILE_REPLICATIONS)) return IDM_OK;
  if (!idm_run_files_exist(files, IDM_FILE_CONFIG)) return fail_not_begun(files, opt_error);
  const bool audit = idm_audit_is_at(&config);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (idm_run_files_exist(files, names[i])) continue;
    if (audit)
      return idm_fail(
          opt_error, IDM_INPUT,
          "the audit in '%s' is not complete ('%s/%s' is missing); restart it with --overwrite",
          folder, folder, names[i]);
    return idm_fail(opt_error, IDM_INPUT,
                    "the run in '%s' is not finished: `idm fit --resume -o %s` continues it "
                    "('%s/%s' is missing)",
                    folder, folder, folder, names[i]);
  }
  return IDM_OK;
}

/* Reading changes nothing; the remark names the command that completes the move. */
static void note_pending(const idm_run_files *files, idm_notes *opt_notes)
{
  if (!idm_run_files_is_pending(files)) return;
  const bool ready = files->ready.descriptor >= 0;
  idm_notes_add(opt_notes,
                "a process was killed while it replaced the run in '%.300s', and the new run is in "
                "'%s': %s; `idm fit --resume -o %.300s` moves it to its place",
                files->run.path, ready ? IDM_FOLDER_READY : IDM_FOLDER_NEXT,
                ready ? "it is the one that is read" : "the old run is read", files->run.path);
}

/* Runs of earlier versions lack the learnt dynamics of their draws. */
static void note_without_dynamics(const idm_run_files *files, const idm_request *request,
                                  idm_notes *opt_notes)
{
  if (!request->dynamics[0]) return;
  idm_notes_add(opt_notes,
                "'%.300s/run.nc' lacks the learnt dynamics of its draws: policies and predictions "
                "are those of the problem file's dynamics; `idm fit` makes the run again",
                files->run.path);
}

/* IDM_INPUT if config.yaml was changed after the fit, since its numbers would not be those of the
 * draws. */
static idm_status check_label(const char *folder, uint64_t label, const idm_posterior *posterior,
                              idm_error *opt_error)
{
  if (!posterior->request || label == posterior->request) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s/run.nc' and '%s/config.yaml' do not belong together: config.yaml was "
                  "changed after the fit, or one of them comes from another run",
                  folder, folder);
}

/* Fail because an audit has no draws of one agent's parameters, so that nothing can be planned. */
static idm_status fail_audit(const char *folder, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' is an audit, which has one posterior per group; its summary.json contains "
                  "them, and `idm audit %s/config.yaml -o RUN` repeats it",
                  folder, folder);
}

static idm_status open_files(const char *folder, idm_run_files *files, idm_error *opt_error)
{
  if (idm_folder_is(folder)) return idm_run_files_open(files, folder, opt_error);
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' is no run; expected the folder that `idm fit -o` made", folder);
}

/* --- contents ------------------------------------------------------------------------------- */

/* Read the request of a run or of an audit, and its label. */
static idm_status read_config(const idm_location *location, bool audit, idm_problem **ret_problem,
                              idm_audit_request *request, uint64_t *ret_label, idm_notes *opt_notes,
                              idm_error *opt_error)
{
  idm_status status =
      audit ? idm_audit_request_read_at(location, ret_problem, request, opt_notes, opt_error)
            : idm_request_read_at(location, ret_problem, &request->request, opt_notes, opt_error);
  if (status == IDM_OK)
    *ret_label = audit ? idm_audit_request_label(*ret_problem, request)
                       : idm_request_label(*ret_problem, &request->request);
  return status;
}

/* Contents of a run or an audit, including those that the caller did not request. */
typedef struct contents {
  idm_problem *problem;
  idm_audit_request request; /* for a run, only its request of a fit */
  idm_posterior *posterior;  /* NULL unless requested */
  bool audit;
} contents;

static idm_status read_contents(const idm_run_files *files, bool draws, contents *c,
                                idm_notes *opt_notes, idm_error *opt_error)
{
  char path[2][IDM_PATH_SIZE];
  uint64_t label = 0;
  const idm_location config = idm_run_files_location(files, IDM_FILE_CONFIG, path[0]);
  const idm_location posterior = idm_run_files_location(files, IDM_FILE_POSTERIOR, path[1]);
  idm_status status = draws ? check_finished(files, opt_error) : IDM_OK;
  if (status == IDM_OK && draws)
    status = idm_posterior_read_netcdf_at(&posterior, &c->posterior, opt_error);
  if (status == IDM_OK)
    status = read_config(&config, c->audit, &c->problem, &c->request, &label, opt_notes, opt_error);
  if (status == IDM_OK && c->posterior)
    status = check_label(files->run.path, label, c->posterior, opt_error);
  /* Plan on the lattice of the inference. */
  if (status == IDM_OK && c->posterior && !c->problem->agent.resolution)
    c->problem->agent.resolution = c->posterior->resolution;
  /* Plan in the learnt dynamics of the draws. */
  if (status == IDM_OK && c->posterior)
    status = idm_dynamics_apply_central(c->posterior, c->problem, opt_error);
  if (status == IDM_OK && c->posterior && !c->audit && !c->posterior->drawn)
    note_without_dynamics(files, &c->request.request, opt_notes);
  if (status == IDM_OK) note_pending(files, opt_notes);
  return status;
}

/* Return the requested contents, and destroy the rest. */
static void give_contents(contents *c, idm_status status, idm_problem **opt_problem,
                          idm_posterior **opt_posterior)
{
  if (status == IDM_OK && opt_problem) {
    *opt_problem = c->problem;
    c->problem = NULL;
  }
  if (status == IDM_OK && opt_posterior) {
    *opt_posterior = c->posterior;
    c->posterior = NULL;
  }
  idm_posterior_destroy(c->posterior);
  idm_problem_destroy(c->problem);
  free(c);
}

/* Read a folder; IDM_INPUT if it is an audit and `planned` is true. */
static idm_status read_folder(const char *folder, bool planned, bool draws, contents *c,
                              idm_notes *opt_notes, idm_error *opt_error)
{
  char path[IDM_PATH_SIZE];
  idm_run_files files;
  idm_status status = open_files(folder, &files, opt_error);
  if (status != IDM_OK) return status;
  const idm_location config = idm_run_files_location(&files, IDM_FILE_CONFIG, path);
  c->audit = idm_audit_is_at(&config);
  if (planned && c->audit) status = fail_audit(folder, opt_error);
  if (status == IDM_OK) status = read_contents(&files, draws, c, opt_notes, opt_error);
  idm_run_files_close(&files);
  return status;
}

/* --- reading -------------------------------------------------------------------------------- */

idm_status idm_run_read(const char *folder, idm_problem **opt_problem, idm_request *opt_request,
                        idm_posterior **opt_posterior, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(folder);
  if (opt_problem) *opt_problem = NULL;
  if (opt_posterior) *opt_posterior = NULL;
  contents *c = idm_new(1, sizeof *c);
  if (!c) return idm_fail_memory(opt_error);
  const idm_status status = read_folder(folder, opt_problem || opt_request, opt_posterior != NULL,
                                        c, opt_notes, opt_error);
  if (status == IDM_OK && opt_request) *opt_request = c->request.request;
  give_contents(c, status, opt_problem, opt_posterior);
  return status;
}

idm_status idm_audit_read_run(const char *folder, idm_problem **ret_problem,
                              idm_audit_request *request, idm_posterior **opt_posterior,
                              idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(folder, ret_problem, request);
  *ret_problem = NULL;
  if (opt_posterior) *opt_posterior = NULL;
  contents *c = idm_new(1, sizeof *c);
  if (!c) return idm_fail_memory(opt_error);
  idm_status status = read_folder(folder, false, opt_posterior != NULL, c, opt_notes, opt_error);
  if (status == IDM_OK && !c->audit)
    status = idm_fail(opt_error, IDM_INPUT, "'%s' is no audit", folder);
  if (status == IDM_OK) *request = c->request;
  give_contents(c, status, ret_problem, opt_posterior);
  return status;
}

idm_status idm_run_read_config(const char *folder, size_t limit, char **ret_text,
                               idm_error *opt_error)
{
  idm_require(folder, ret_text);
  *ret_text = NULL;
  char path[IDM_PATH_SIZE];
  size_t length;
  idm_run_files files;
  idm_status status = open_files(folder, &files, opt_error);
  if (status != IDM_OK) return status;
  const idm_location config = idm_run_files_location(&files, IDM_FILE_CONFIG, path);
  status = idm_file_read_at(&config, limit, ret_text, &length, opt_error);
  idm_run_files_close(&files);
  return status;
}

/* Read draws of dynamics and the problem they were learnt for. */
static idm_status read_dynamics(const char *folder, idm_problem **ret_problem,
                                idm_dynamics_draws *draws, idm_error *opt_error)
{
  idm_posterior *posterior = NULL;
  *draws = (idm_dynamics_draws){0};
  idm_status status = idm_run_read(folder, ret_problem, NULL, &posterior, NULL, opt_error);
  if (status == IDM_OK) status = idm_posterior_dynamics(posterior, *ret_problem, draws, opt_error);
  if (status == IDM_INPUT && opt_error && posterior && !opt_error->file[0])
    snprintf(opt_error->file, sizeof opt_error->file, "%s", folder);
  idm_posterior_destroy(posterior);
  if (status == IDM_OK) return IDM_OK;
  idm_problem_destroy(*ret_problem);
  *ret_problem = NULL;
  return status;
}

idm_status idm_dynamics_read_for(const char *folder, const idm_problem *problem,
                                 idm_problem **ret_learnt, idm_dynamics_draws *draws,
                                 idm_error *opt_error)
{
  const idm_setting *setting = problem->setting;
  const idm_status status = read_dynamics(folder, ret_learnt, draws, opt_error);
  if (status != IDM_OK) return status;
  const idm_setting *learnt = (*ret_learnt)->setting;
  if (idm_labels_same(&learnt->states, &setting->states) &&
      idm_labels_same(&learnt->actions, &setting->actions) &&
      idm_labels_same(&learnt->observations, &setting->observations))
    return IDM_OK;
  idm_dynamics_draws_clear(draws);
  idm_problem_destroy(*ret_learnt);
  *ret_learnt = NULL;
  return idm_fail(opt_error, IDM_INPUT,
                  "the dynamics in '%s' are of other states, actions or observations than the "
                  "problem's; expected those of the same problem",
                  folder);
}

idm_status idm_run_assess(const char *folder, const idm_posterior *posterior,
                          idm_assessment **ret_assessment, idm_error *opt_error)
{
  idm_require(folder, posterior, ret_assessment);
  char path[IDM_PATH_SIZE];
  idm_run_files files;
  *ret_assessment = NULL;
  idm_status status = open_files(folder, &files, opt_error);
  if (status != IDM_OK) return status;
  const idm_location summary = idm_run_files_location(&files, IDM_FILE_SUMMARY, path);
  status = idm_assess_draws(posterior, ret_assessment, opt_error);
  if (status == IDM_OK)
    status = idm_summary_read_at(&summary, posterior, *ret_assessment, opt_error);
  idm_run_files_close(&files);
  if (status != IDM_OK) {
    idm_assessment_destroy(*ret_assessment);
    *ret_assessment = NULL;
  }
  return status;
}

/* --- unfinished runs ------------------------------------------------------------------------- */

/* Move a complete run to its place, open the folder and find config.yaml of the unfinished run. On
 * success the caller closes the files. */
static idm_status find_unfinished(const char *folder, idm_run_files *files, char *path,
                                  idm_location *config, idm_error *opt_error)
{
  idm_status status = idm_folder_is(folder) ? idm_run_finish_move(folder, opt_error) : IDM_OK;
  if (status == IDM_OK) status = open_files(folder, files, opt_error);
  if (status != IDM_OK) return status;
  *config = idm_folder_location(idm_run_files_unfinished(files), IDM_FILE_CONFIG, path);
  if (idm_location_exists(config)) return IDM_OK;
  status = fail_not_begun(files, opt_error);
  idm_run_files_close(files);
  return status;
}

idm_status idm_run_read_unfinished(const char *folder, idm_problem **ret_problem,
                                   idm_request *request, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(folder, ret_problem, request);
  char path[IDM_PATH_SIZE];
  idm_run_files files;
  idm_location config;
  *ret_problem = NULL;
  idm_status status = find_unfinished(folder, &files, path, &config, opt_error);
  if (status != IDM_OK) return status;
  status =
      idm_audit_is_at(&config)
          ? idm_fail(opt_error, IDM_INPUT,
                     "'%s' is an audit: `idm audit --resume -o %s` continues it", folder, folder)
          : idm_request_read_at(&config, ret_problem, request, opt_notes, opt_error);
  idm_run_files_close(&files);
  return status;
}

idm_status idm_audit_read_unfinished(const char *folder, idm_problem **ret_problem,
                                     idm_audit_request *request, idm_notes *opt_notes,
                                     idm_error *opt_error)
{
  idm_require(folder, ret_problem, request);
  char path[IDM_PATH_SIZE];
  idm_run_files files;
  idm_location config;
  *ret_problem = NULL;
  idm_status status = find_unfinished(folder, &files, path, &config, opt_error);
  if (status != IDM_OK) return status;
  status =
      idm_audit_is_at(&config)
          ? idm_audit_request_read_at(&config, ret_problem, request, opt_notes, opt_error)
          : idm_fail(opt_error, IDM_INPUT,
                     "'%s' is no audit: `idm fit --resume -o %s` continues it", folder, folder);
  idm_run_files_close(&files);
  return status;
}
