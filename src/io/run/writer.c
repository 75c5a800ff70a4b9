/* Writes runs.
 *
 * A run replaces another by one rename of the folder that it was written to, `.idm-next`. Readers
 * use the renamed folder until its files have been moved up, so that a process killed at any time
 * leaves the old run or the new one.
 *
 * Contents: own files · replacement · checks · beginning and ending */
#define _XOPEN_SOURCE 700 /* mkdirat, renameat */
#include "io/run/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/text.h"
#include "io/file.h"

static const char *const run_files[] = {IDM_FILE_CONFIG, IDM_FILE_POSTERIOR, IDM_FILE_SUMMARY,
                                        IDM_FILE_CHECKPOINT};
enum { run_file_count = sizeof run_files / sizeof *run_files };

idm_status idm_folder_lock(const idm_folder *folder, idm_lock *lock, idm_error *opt_error)
{
  char path[IDM_PATH_SIZE];
  const idm_location location = idm_folder_location(folder, IDM_FILE_LOCK, path);
  return idm_lock_take(lock, &location, opt_error);
}

/* --- own files ------------------------------------------------------------------------------ */

/* Returns true if the program wrote a file, by text near its beginning; others use such names as
 * well. */
static bool has_words(const idm_location *location, const char *words)
{
  char start[256] = "";
  int descriptor;
  if (idm_location_open(location, &descriptor, NULL) != IDM_OK) return false;
  const ssize_t length = read(descriptor, start, sizeof start - 1);
  close(descriptor);
  return length > 0 && strstr(start, words);
}

/* Returns true for a file in CmdStan's layout, or a report. */
static bool is_extra_file(const idm_location *location)
{
  if (idm_chain_name_is(location->name)) return has_words(location, "# idm_version");
  return strcmp(location->name, IDM_FILE_REPORT) == 0 && has_words(location, IDM_REPORT_SIGNATURE);
}

/* Remove a result that a run may have in addition to its three files. */
static bool remove_extra(void *context, const char *name)
{
  const idm_folder *folder = context;
  char path[IDM_PATH_SIZE];
  const idm_location location = idm_folder_location(folder, name, path);
  if (strcmp(name, IDM_FILE_CHECKPOINT) == 0 || is_extra_file(&location))
    idm_folder_remove(folder, name);
  idm_folder_remove_stale(folder, name);
  return true;
}

static void remove_extras(const idm_folder *folder)
{
  idm_folder own = *folder; /* the context is not const */
  idm_folder_each(folder, remove_extra, &own);
}

/* Remove everything that the program wrote. */
static void remove_files(const idm_folder *folder)
{
  if (folder->descriptor < 0) return;
  remove_extras(folder);
  for (size_t i = 0; i < run_file_count; i++) idm_folder_remove(folder, run_files[i]);
}

/* --- replacement ----------------------------------------------------------------------------- */

/* Make a complete run in `next` the valid one. */
static idm_status mark_ready(const idm_folder *run, const idm_folder *next, idm_error *opt_error)
{
  if (!idm_folder_is_complete(next) ||
      renameat(run->descriptor, IDM_FOLDER_NEXT, run->descriptor, IDM_FOLDER_READY) == 0)
    return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot rename '%s' to '%s': %s", next->path,
                  IDM_FOLDER_READY, strerror(errno));
}

typedef struct move_job {
  const idm_folder *ready;
  const idm_folder *run;
  idm_status status;
  idm_error *opt_error;
} move_job;

static void move_file(move_job *m, const char *name)
{
  if (m->status == IDM_OK) m->status = idm_folder_move(m->ready, name, m->run, m->opt_error);
}

static bool move_chain(void *context, const char *name)
{
  move_job *m = context;
  if (idm_chain_name_is(name)) move_file(m, name);
  return m->status == IDM_OK;
}

/* Move files up. Files of the old run that the new one does not replace are removed before
 * config.yaml is moved: if it is gone from `ready`, they are gone as well, and a chain-1.csv is one
 * that has been moved. */
static idm_status finish_move(const idm_folder *run, idm_error *opt_error)
{
  idm_folder ready;
  const idm_status status = idm_folder_open_inner(run, IDM_FOLDER_READY, &ready, opt_error);
  if (status != IDM_OK || ready.descriptor < 0) return status;
  move_job m = {&ready, run, IDM_OK, opt_error};
  move_file(&m, IDM_FILE_POSTERIOR);
  if (m.status == IDM_OK && idm_folder_has(&ready, IDM_FILE_CONFIG)) remove_extras(run);
  move_file(&m, IDM_FILE_CONFIG);
  move_file(&m, IDM_FILE_SUMMARY);
  if (m.status == IDM_OK) idm_folder_each(&ready, move_chain, &m);
  if (m.status == IDM_OK) idm_folder_remove_inner(run, IDM_FOLDER_READY);
  /* The folder would prevent the next replacement. */
  if (m.status == IDM_OK && idm_folder_has(run, IDM_FOLDER_READY))
    m.status = idm_fail(opt_error, IDM_INPUT,
                        "'%s' holds files that are of no run; remove the folder", ready.path);
  idm_folder_close(&ready);
  return m.status;
}

/* Check the kinds of everything in a run's folder and in its inner folders. */
static idm_status check_kinds(const idm_run_files *files, idm_error *opt_error)
{
  idm_status status = idm_folder_check(&files->run, opt_error);
  if (status == IDM_OK) status = idm_folder_check(&files->next, opt_error);
  return status == IDM_OK ? idm_folder_check(&files->ready, opt_error) : status;
}

idm_status idm_run_finish_move(const char *run, idm_error *opt_error)
{
  idm_lock lock = {0};
  idm_run_files files;
  idm_status status = idm_run_files_open(&files, run, opt_error);
  if (status != IDM_OK) return status;
  const bool is_pending = idm_run_files_is_pending(&files) || files.ready.descriptor >= 0;
  if (is_pending) status = check_kinds(&files, opt_error);
  if (is_pending && status == IDM_OK) status = idm_folder_lock(&files.run, &lock, opt_error);
  if (is_pending && status == IDM_OK) {
    status = finish_move(&files.run, opt_error);
    if (status == IDM_OK) status = mark_ready(&files.run, &files.next, opt_error);
    if (status == IDM_OK) status = finish_move(&files.run, opt_error);
  }
  idm_lock_release(&lock);
  idm_run_files_close(&files);
  return status;
}

bool idm_run_is(const char *path)
{
  return path && idm_folder_is(path);
}

bool idm_run_complete(const char *run)
{
  idm_run_files files;
  if (!run || idm_run_files_open(&files, run, NULL) != IDM_OK) return false;
  const bool complete = idm_folder_is_complete(&files.run) && !idm_run_files_is_pending(&files) &&
                        idm_run_files_unfinished(&files) == &files.run;
  idm_run_files_close(&files);
  return complete;
}

bool idm_run_has(const char *run, const char *path)
{
  char own[IDM_PATH_SIZE];
  idm_run_files files;
  bool found = false;
  if (!run || !path || !idm_folder_is(run) || idm_run_files_open(&files, run, NULL) != IDM_OK)
    return false;
  for (size_t i = 0; i < run_file_count && !found; i++)
    found = idm_file_same(idm_run_files_location(&files, run_files[i], own).path, path);
  idm_run_files_close(&files);
  return found;
}

/* --- checks ---------------------------------------------------------------------------------- */

/* IDM_USAGE if a folder contains anything but a run; *ret_run is false if it is empty. */
static idm_status check_content(const idm_run_files *files, idm_run_mode mode, bool *ret_run,
                                idm_error *opt_error)
{
  char path[IDM_PATH_SIZE];
  char name[256];
  const idm_folder *run = &files->run;
  const idm_location config = idm_folder_location(run, IDM_FILE_CONFIG, path);
  idm_folder_first_name(run, name);
  *ret_run = idm_request_is_at(&config) || idm_run_files_unfinished(files) != run;
  if (idm_folder_has(run, IDM_FILE_REPLICATIONS))
    return idm_fail(
        opt_error, IDM_USAGE,
        "'%s' holds the replications of `idm recover` or `idm sbc`; take another folder",
        run->path);
  if (*ret_run && mode == IDM_RUN_NEW)
    return idm_fail(opt_error, IDM_USAGE,
                    "'%s' holds a run already; add --overwrite, or --resume to go on with a fit",
                    run->path);
  if (!*ret_run && name[0])
    return idm_fail(opt_error, IDM_USAGE,
                    "'%s' holds '%s', and no config.yaml of a run: it is left as it is; take "
                    "another folder",
                    run->path, name);
  return IDM_OK;
}

/* IDM_USAGE if a file that a run may have in addition to its three cannot be replaced. */
static idm_status check_extra(const idm_folder *run, const char *name, const char *const *inputs,
                              size_t count, idm_error *opt_error)
{
  char path[IDM_PATH_SIZE];
  const idm_location location = idm_folder_location(run, name, path);
  const idm_status status = idm_file_check_output(path, inputs, count, opt_error);
  if (status != IDM_OK || !idm_location_exists(&location) || is_extra_file(&location))
    return status;
  return idm_fail(opt_error, IDM_USAGE,
                  "'%s' is not of a run: it is left as it is; take another folder", path);
}

/* Check that every file that a run will have can be written. */
static idm_status check_names(const idm_folder *run, const idm_request *request,
                              const char *const *inputs, size_t count, idm_error *opt_error)
{
  char path[IDM_PATH_SIZE];
  char name[IDM_CHAIN_NAME];
  idm_status status = idm_file_check_output(run->path, NULL, 0, opt_error);
  for (size_t i = 0; i < run_file_count && status == IDM_OK; i++) {
    idm_folder_location(run, run_files[i], path);
    status = idm_file_check_output(path, inputs, count, opt_error);
  }
  if (status == IDM_OK) status = check_extra(run, IDM_FILE_REPORT, inputs, count, opt_error);
  for (size_t i = 0; request->stan && i < request->settings.chains && status == IDM_OK; i++)
    status = check_extra(run, idm_chain_name(i, name), inputs, count, opt_error);
  return status;
}

/* Check that none of them is the problem or a file of the log. */
static idm_status check_files(const idm_folder *run, const idm_request *request,
                              idm_error *opt_error)
{
  const size_t size = sizeof request->data + sizeof request->problem + 1;
  char *joined = malloc(size);
  size_t count = 0;
  if (!joined) return idm_fail_memory(opt_error);
  snprintf(joined, size, "%s%s%s", request->problem, request->problem[0] ? "\n" : "",
           request->data);
  char **inputs = idm_texts_split(joined, &count);
  const idm_status status =
      inputs ? check_names(run, request, (const char *const *)inputs, count, opt_error)
             : idm_fail_memory(opt_error);
  free(inputs);
  free(joined);
  return status;
}

/* --- beginning and ending ------------------------------------------------------------------- */

/* Make an empty folder for a run that replaces another; files of an earlier attempt are removed. */
static idm_status make_next(idm_run_writer *w, idm_error *opt_error)
{
  idm_status status = idm_folder_open_inner(&w->run, IDM_FOLDER_NEXT, &w->next, opt_error);
  if (status != IDM_OK) return status;
  remove_files(&w->next);
  idm_folder_close(&w->next);
  idm_folder_remove_inner(&w->run, IDM_FOLDER_NEXT);
  if (mkdirat(w->run.descriptor, IDM_FOLDER_NEXT, 0777) != 0 && errno != EEXIST)
    return idm_fail(opt_error, IDM_SYSTEM, "cannot make the folder '%s': %s", w->next.path,
                    strerror(errno));
  status = idm_folder_open_inner(&w->run, IDM_FOLDER_NEXT, &w->next, opt_error);
  w->work = &w->next;
  return status;
}

/* All checks before the first change. */
static idm_status check(const idm_run_files *files, const idm_request *request,
                        idm_error *opt_error)
{
  const idm_status status = check_kinds(files, opt_error);
  return status == IDM_OK ? check_files(&files->run, request, opt_error) : status;
}

static idm_status check_open(const idm_run_writer *w, const idm_request *request,
                             idm_error *opt_error)
{
  idm_run_files files;
  idm_status status = idm_run_files_of(&files, &w->run, opt_error);
  if (status != IDM_OK) return status;
  status = check(&files, request, opt_error);
  idm_run_files_close(&files);
  return status;
}

/* Select the folder for the files of a run that is locked. */
static idm_status choose_folder(idm_run_writer *w, idm_run_mode mode, idm_error *opt_error)
{
  idm_run_files files;
  bool is_run = false;
  idm_status status = idm_run_files_of(&files, &w->run, opt_error);
  if (status != IDM_OK) return status;
  if (mode != IDM_RUN_RESUME) status = check_content(&files, mode, &is_run, opt_error);
  const bool in_next = idm_run_files_unfinished(&files) == &files.next;
  idm_run_files_close(&files);
  if (status != IDM_OK) return status;
  if (is_run) return make_next(w, opt_error);
  if (mode != IDM_RUN_RESUME || !in_next) return IDM_OK;
  w->work = &w->next;
  return idm_folder_open_inner(&w->run, IDM_FOLDER_NEXT, &w->next, opt_error);
}

static void close_folders(idm_run_writer *w)
{
  char path[IDM_PATH_SIZE];
  snprintf(path, sizeof path, "%s", w->run.path);
  idm_lock_release(&w->lock);
  idm_folder_close(&w->next);
  idm_folder_close(&w->run);
  if (w->created) rmdir(path);
}

idm_status idm_run_begin(idm_run_writer *w, const char *run, idm_run_mode mode,
                         const idm_request *request, idm_error *opt_error)
{
  *w = (idm_run_writer){.run = {.descriptor = -1}, .next = {.descriptor = -1}};
  w->work = &w->run;
  snprintf(w->run.path, sizeof w->run.path, "%s", run);
  if (mode == IDM_RUN_RESUME && !idm_folder_is(run))
    return idm_fail(opt_error, IDM_USAGE, "there is no run at '%s' to resume", run);
  idm_status status = idm_folder_make(run, &w->created, opt_error);
  if (status == IDM_OK) status = idm_folder_open(&w->run, run, opt_error);
  if (status == IDM_OK && !w->created) status = check_open(w, request, opt_error);
  if (status == IDM_OK) status = idm_folder_lock(&w->run, &w->lock, opt_error);
  if (status == IDM_OK) status = finish_move(&w->run, opt_error);
  if (status == IDM_OK) status = choose_folder(w, mode, opt_error);
  if (status != IDM_OK) close_folders(w);
  return status;
}

idm_status idm_run_check(const char *run, idm_run_mode mode, const idm_request *request,
                         idm_error *opt_error)
{
  idm_require(run, request);
  idm_run_files files;
  bool is_run = false;
  if (!idm_folder_is(run)) return IDM_OK;
  idm_status status = idm_run_files_open(&files, run, opt_error);
  if (status != IDM_OK) return status;
  status = check(&files, request, opt_error);
  if (status == IDM_OK && mode != IDM_RUN_RESUME)
    status = check_content(&files, mode, &is_run, opt_error);
  idm_run_files_close(&files);
  return status;
}

idm_status idm_run_commit(idm_run_writer *w, idm_error *opt_error)
{
  if (w->work == &w->run) return IDM_OK;
  idm_status status = mark_ready(&w->run, &w->next, opt_error);
  if (status == IDM_OK) status = finish_move(&w->run, opt_error);
  /* Nothing has been moved: the old run stays the valid one. */
  if (status != IDM_OK && idm_folder_has(&w->next, IDM_FILE_POSTERIOR))
    renameat(w->run.descriptor, IDM_FOLDER_READY, w->run.descriptor, IDM_FOLDER_NEXT);
  return status;
}

void idm_run_end(idm_run_writer *w, bool keep)
{
  if (!keep && !idm_folder_has(w->work, IDM_FILE_CHECKPOINT)) {
    remove_files(w->work);
    if (w->work != &w->run) idm_folder_remove_inner(&w->run, IDM_FOLDER_NEXT);
  } else {
    w->created = false;
  }
  close_folders(w);
}
