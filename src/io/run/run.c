/* The life of a run: begun, stopped, gone on with, finished, read.
 *
 * Contents: checkpoints · results · fitting · reading */
#define _XOPEN_SOURCE 700 /* realpath: POSIX has had it since 2008, glibc shows it only so */
#include "idm/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/door.h"
#include "io/run/folder.h"

/* Seconds between checkpoints. */
static const double checkpoint_seconds = 3;
/* Larger checkpoints are none of ours. */
static const size_t most_bytes = (size_t)1 << 36;

void idm_run_clear(idm_run *run)
{
  if (!run) return;
  idm_posterior_destroy(run->posterior);
  idm_assessment_destroy(run->assessment);
  *run = (idm_run){0};
}

/* --- checkpoints ---------------------------------------------------------------------------- */

/* A fit under way. */
typedef struct fitting {
  const char *folder;
  const idm_problem *problem;
  const idm_data *data;
  const idm_request *request;
  idm_progress progress;
  void *context;
  uint64_t label;
  char checkpoint[IDM_PATH]; /* path */
  double saved;              /* when the last checkpoint was written */
  bool asked;                /* to stop */
  idm_status status;         /* of writing checkpoints */
  idm_error error;
} fitting;

static idm_status write_checkpoint(fitting *f, const idm_work *work)
{
  char *bytes = NULL;
  size_t length = 0;
  idm_file *file = NULL;
  idm_status status = idm_work_save(work, &bytes, &length, &f->error);
  if (status == IDM_OK) status = idm_file_create(f->checkpoint, &file, &f->error);
  if (status == IDM_OK) {
    idm_file_write(file, bytes, length);
    status = idm_file_commit(file, &f->error);
  }
  free(bytes);
  f->saved = idm_seconds();
  return status;
}

static bool watch(void *context, const idm_work *work)
{
  fitting *f = context;
  const bool stop = f->progress && f->progress(f->context, work);
  f->asked = f->asked || stop;
  if (f->status == IDM_OK && (stop || idm_seconds() - f->saved > checkpoint_seconds))
    f->status = write_checkpoint(f, work);
  return stop || f->status != IDM_OK;
}

/* The checkpoint of a run that goes on; none is a beginning from the start. */
static idm_status load_checkpoint(const fitting *f, idm_run_mode mode, char **ret_bytes,
                                  size_t *ret_length, idm_error *opt_error)
{
  *ret_bytes = NULL;
  if (mode != IDM_RUN_RESUME || !idm_folder_has(f->folder, IDM_FILE_CHECKPOINT)) return IDM_OK;
  return idm_file_read(f->checkpoint, most_bytes, ret_bytes, ret_length, opt_error);
}

/* --- results -------------------------------------------------------------------------------- */

static idm_status write_results(const fitting *f, const idm_run *run, idm_error *opt_error)
{
  const idm_posterior *p = run->posterior;
  char path[IDM_PATH];
  idm_folder_path(f->folder, IDM_FILE_POSTERIOR, path);
  idm_status status = idm_posterior_write_netcdf(p, f->problem, f->data, path, opt_error);
  idm_folder_path(f->folder, IDM_FILE_SUMMARY, path);
  if (status == IDM_OK)
    status = idm_summary_write(p, run->assessment, &run->projection, path, opt_error);
  for (size_t i = 0; f->request->stan && i < p->chains && status == IDM_OK; i++)
    status = idm_posterior_write_stan(p, i, idm_folder_chain(f->folder, i, path), opt_error);
  return status;
}

/* Diagnostics and verdict. What the data say takes time, which a fit that was stopped is not given:
 * without it nothing can be trusted. */
static idm_status assess(const fitting *f, idm_run *run, idm_error *opt_error)
{
  if (!run->stopped)
    return idm_assess(f->problem, f->data, run->posterior, f->request->settings.threads,
                      &run->assessment, opt_error);
  const idm_status status = idm_assess_draws(run->posterior, &run->assessment, opt_error);
  if (status != IDM_OK) return status;
  run->assessment->trusted = false;
  idm_notes_add(&run->assessment->failures,
                "the fit was interrupted; `idm fit --resume` goes on, and then sees what the data "
                "bound");
  return IDM_OK;
}

/* --- fitting -------------------------------------------------------------------------------- */

/* A path that is good from every folder; as given where it is too long or cannot be had. */
static void make_absolute(char *path, size_t size)
{
  char *absolute = realpath(path, NULL);
  if (absolute && strlen(absolute) < size) snprintf(path, size, "%s", absolute);
  free(absolute);
}

static idm_status write_config(const fitting *f, idm_error *opt_error)
{
  idm_request kept = *f->request;
  char path[IDM_PATH];
  make_absolute(kept.data, sizeof kept.data);
  if (kept.problem_hash[0]) make_absolute(kept.problem, sizeof kept.problem);
  idm_folder_clear(f->folder);
  idm_folder_path(f->folder, IDM_FILE_CONFIG, path);
  return idm_request_write(f->problem, &kept, path, opt_error);
}

/* The draws, their distance from the log, and whether they were stopped. */
static idm_status draw(fitting *f, idm_run_mode mode, idm_run *run, idm_notes *opt_notes,
                       idm_error *opt_error)
{
  const idm_fit_settings *settings = &f->request->settings;
  char *bytes = NULL;
  size_t length = 0;
  idm_status status = load_checkpoint(f, mode, &bytes, &length, opt_error);
  const idm_fit_watch watcher = {.progress = watch,
                                 .context = f,
                                 .checkpoint = bytes,
                                 .checkpoint_length = length,
                                 .checkpoint_file = f->checkpoint,
                                 .label = f->label};
  f->saved = idm_seconds();
  if (status == IDM_OK)
    status = idm_project(f->problem, f->data, idm_inverse_find(f->request->inverse), settings,
                         &watcher, &run->posterior, &run->projection, opt_notes, opt_error);
  free(bytes);
  const bool partial = run->posterior && run->posterior->answer == IDM_POSTERIOR &&
                       run->posterior->draws < (size_t)settings->draws;
  run->stopped = f->asked && (status == IDM_UNTRUSTED || partial);
  if (f->status == IDM_OK) return status;
  if (opt_error) *opt_error = f->error;
  return f->status;
}

/* Everything once the folder is there. *ret_written: its results are. */
static idm_status fit(fitting *f, idm_run_mode mode, idm_run *run, bool *ret_written,
                      idm_notes *opt_notes, idm_error *opt_error)
{
  idm_status status = mode == IDM_RUN_RESUME ? IDM_OK : write_config(f, opt_error);
  if (status == IDM_OK) status = draw(f, mode, run, opt_notes, opt_error);
  if (status == IDM_OK) status = assess(f, run, opt_error);
  if (status == IDM_OK) {
    run->posterior->request = f->label;
    status = write_results(f, run, opt_error);
  }
  *ret_written = status == IDM_OK;
  if (status == IDM_OK && !run->stopped) remove(f->checkpoint);
  if (run->stopped && (status == IDM_OK || status == IDM_UNTRUSTED))
    status =
        idm_fail(opt_error, IDM_UNTRUSTED,
                 "interrupted; the draws made so far are saved: `idm fit --resume -o %s` goes on",
                 f->folder);
  /* The scorer knows the line; the file is ours. */
  if (status == IDM_INPUT && opt_error && opt_error->line > 0 && !opt_error->file[0])
    snprintf(opt_error->file, sizeof opt_error->file, "%s", f->request->data);
  return status;
}

idm_status idm_run_fit(const char *folder, idm_run_mode mode, const idm_problem *problem,
                       const idm_data *data, const idm_request *request, idm_progress opt_progress,
                       void *context, idm_run *run, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(folder, problem, data, request, run);
  fitting f = {.folder = folder,
               .problem = problem,
               .data = data,
               .request = request,
               .progress = opt_progress,
               .context = context,
               .label = idm_request_label(problem, request)};
  bool made = false;
  bool written = false;
  idm_folder_path(folder, IDM_FILE_CHECKPOINT, f.checkpoint);
  *run = (idm_run){0};
  idm_status status = idm_request_check(problem, request, opt_error);
  /* What is missing is said before anything that is there is touched. */
  if (status == IDM_OK)
    status = idm_inverse_check(idm_inverse_find(request->inverse), problem, data, opt_error);
  if (status == IDM_OK) status = idm_folder_open(folder, mode, &made, opt_error);
  if (status != IDM_OK) return status;
  status = fit(&f, mode, run, &written, opt_notes, opt_error);
  if (!written && mode != IDM_RUN_RESUME) idm_folder_abandon(folder, made);
  return status;
}

/* --- reading -------------------------------------------------------------------------------- */

static idm_status read_posterior(const char *folder, idm_posterior **ret_posterior,
                                 idm_error *opt_error)
{
  char path[IDM_PATH];
  if (idm_folder_unfinished(folder))
    return idm_fail(opt_error, IDM_INPUT,
                    "the run in '%s' is not finished: `idm fit --resume -o %s` goes on", folder,
                    folder);
  idm_folder_path(folder, IDM_FILE_POSTERIOR, path);
  return idm_posterior_read_netcdf(path, ret_posterior, opt_error);
}

/* A config.yaml that was changed after the fit would lend its numbers to draws of another request.
 */
static idm_status check_label(const char *folder, const idm_problem *problem,
                              const idm_request *request, const idm_posterior *posterior,
                              idm_error *opt_error)
{
  if (!posterior->request || idm_request_label(problem, request) == posterior->request)
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s/run.nc' and '%s/config.yaml' do not belong together: config.yaml was "
                  "changed after the fit, or one of them comes from another run",
                  folder, folder);
}

idm_status idm_run_read(const char *folder, idm_problem **opt_problem, idm_request *opt_request,
                        idm_posterior **opt_posterior, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(folder);
  idm_request request;
  char path[IDM_PATH];
  idm_request_default(&request);
  if (opt_problem) *opt_problem = NULL;
  if (opt_posterior) *opt_posterior = NULL;
  if (!idm_folder_is(folder))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' is no run; expected the folder that `idm fit -o` made", folder);
  idm_status status = IDM_OK;
  if (opt_posterior) status = read_posterior(folder, opt_posterior, opt_error);
  idm_folder_path(folder, IDM_FILE_CONFIG, path);
  if (status == IDM_OK && opt_problem)
    status = idm_request_read(path, opt_problem, &request, opt_notes, opt_error);
  if (status == IDM_OK && opt_problem && opt_posterior)
    status = check_label(folder, *opt_problem, &request, *opt_posterior, opt_error);
  if (status == IDM_OK && opt_problem && opt_request) *opt_request = request;
  if (status != IDM_OK && opt_posterior) {
    idm_posterior_destroy(*opt_posterior);
    *opt_posterior = NULL;
  }
  if (status != IDM_OK && opt_problem) {
    idm_problem_destroy(*opt_problem);
    *opt_problem = NULL;
  }
  return status;
}

idm_status idm_run_assess(const char *folder, const idm_posterior *posterior,
                          idm_assessment **ret_assessment, idm_error *opt_error)
{
  idm_require(folder, posterior, ret_assessment);
  char path[IDM_PATH];
  idm_status status = idm_assess_draws(posterior, ret_assessment, opt_error);
  idm_folder_path(folder, IDM_FILE_SUMMARY, path);
  if (status == IDM_OK) status = idm_summary_read(path, *ret_assessment, opt_error);
  if (status != IDM_OK) {
    idm_assessment_destroy(*ret_assessment);
    *ret_assessment = NULL;
  }
  return status;
}
