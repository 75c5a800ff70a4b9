/* Folders of runs and campaigns.
 *
 * A run takes another's place by one rename of the folder that it was made in, `.idm-next`; readers
 * look there first until its files have moved up, so that a kill at any instant leaves the old run
 * or the new one.
 *
 * Contents: any folder · what is ours · taking a place · beginning and ending */
#include "io/run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/texts.h"
#include "idm/file.h"

/* --- any folder ----------------------------------------------------------------------------- */

bool idm_folder_is(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

const char *idm_folder_path(const char *folder, const char *file, char path[IDM_PATH])
{
  if (snprintf(path, IDM_PATH, "%s/%s", folder, file) < 0) path[0] = '\0';
  return path;
}

const char *idm_folder_chain(const char *folder, size_t chain, char path[IDM_PATH])
{
  char name[40];
  snprintf(name, sizeof name, "chain-%zu.csv", chain + 1);
  return idm_folder_path(folder, name, path);
}

bool idm_folder_has(const char *folder, const char *file)
{
  struct stat info;
  char path[IDM_PATH];
  return lstat(idm_folder_path(folder, file, path), &info) == 0;
}

idm_status idm_folder_make(const char *folder, bool *ret_made, idm_error *opt_error)
{
  *ret_made = false;
  if (idm_folder_is(folder)) return IDM_OK;
  *ret_made = mkdir(folder, 0777) == 0;
  if (*ret_made) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot make the folder '%s': %s", folder,
                  strerror(errno));
}

idm_status idm_folder_lock(const char *folder, idm_lock *lock, idm_error *opt_error)
{
  char path[IDM_PATH];
  return idm_lock_take(lock, idm_folder_path(folder, IDM_FILE_LOCK, path), opt_error);
}

/* Call a function with every name in a folder that is not hidden, until it says that it is enough.
 */
static void each_name(const char *folder, bool (*enough)(void *context, const char *name),
                      void *context)
{
  DIR *directory = opendir(folder);
  if (!directory) return;
  for (const struct dirent *entry; (entry = readdir(directory));)
    if (entry->d_name[0] != '.' && enough(context, entry->d_name)) break;
  closedir(directory);
}

/* --- what is ours --------------------------------------------------------------------------- */

static const char *const own_files[] = {IDM_FILE_CONFIG, IDM_FILE_POSTERIOR, IDM_FILE_SUMMARY,
                                        IDM_FILE_CHECKPOINT};
enum { own_count = sizeof own_files / sizeof *own_files };

/* chain-1.csv and so on. */
static bool is_chain_name(const char *name)
{
  size_t number = 0;
  char again[64];
  if (sscanf(name, "chain-%zu.csv", &number) != 1) return false;
  snprintf(again, sizeof again, "chain-%zu.csv", number);
  return strcmp(name, again) == 0;
}

/* Whether a file was written by us, by words near its beginning: others use such names as well. */
static bool says_so(const char *path, const char *words)
{
  char start[256] = "";
  FILE *stream = fopen(path, "rb");
  if (!stream) return false;
  const size_t length = fread(start, 1, sizeof start - 1, stream);
  fclose(stream);
  return length && strstr(start, words);
}

/* A file in CmdStan's layout, or a report. */
static bool is_own_extra(const char *name, const char *path)
{
  if (is_chain_name(name)) return says_so(path, "# idm_version");
  return strcmp(name, IDM_FILE_REPORT) == 0 && says_so(path, IDM_REPORT_MARK);
}

/* NAME.PROCESS-NUMBER.tmp, as files are called that are being written: sweep what is dead of them.
 */
static bool sweep(const char *folder, const char *name)
{
  char path[IDM_PATH];
  idm_folder_path(folder, name, path);
  char *end = strrchr(path, '.');
  if (!end || strcmp(end, ".tmp") != 0) return false;
  *end = '\0';
  char *numbers = strrchr(path, '.');
  if (!numbers || !numbers[1] || numbers[1 + strspn(numbers + 1, "0123456789-")]) return false;
  *numbers = '\0';
  idm_file_sweep(path);
  return true;
}

typedef struct content {
  const char *folder;
  char *name;
} content;

static bool find_content(void *context, const char *name)
{
  const content *c = context;
  if (sweep(c->folder, name)) return false;
  snprintf(c->name, 256, "%s", name);
  return true;
}

void idm_folder_content(const char *folder, char name[256])
{
  name[0] = '\0';
  each_name(folder, find_content, &(content){folder, name});
}

/* Results that the run in a folder may have beside its three files. */
static bool remove_extra(void *context, const char *name)
{
  const char *folder = context;
  char path[IDM_PATH];
  idm_folder_path(folder, name, path);
  if (strcmp(name, IDM_FILE_CHECKPOINT) == 0 || is_own_extra(name, path)) remove(path);
  sweep(folder, name);
  return false;
}

/* Remove all that is ours. */
static void clear(const char *folder)
{
  char path[IDM_PATH];
  char own[IDM_PATH];
  snprintf(own, sizeof own, "%s", folder);
  each_name(folder, remove_extra, own);
  for (size_t i = 0; i < own_count; i++) remove(idm_folder_path(folder, own_files[i], path));
}

/* --- taking a place ------------------------------------------------------------------------- */

static idm_status move_up(const char *ready, const char *run, const char *file,
                          idm_error *opt_error)
{
  char from[IDM_PATH];
  char to[IDM_PATH];
  idm_folder_path(ready, file, from);
  idm_folder_path(run, file, to);
  if (!idm_folder_has(ready, file) || rename(from, to) == 0) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot replace '%s': %s; the new run is in '%s'", to,
                  strerror(errno), ready);
}

typedef struct moving {
  const char *ready;
  const char *run;
  idm_status status;
  idm_error *opt_error;
} moving;

static bool move_chain(void *context, const char *name)
{
  moving *m = context;
  if (is_chain_name(name)) m->status = move_up(m->ready, m->run, name, m->opt_error);
  return m->status != IDM_OK;
}

/* A run in which nothing is left to be done. */
static bool is_whole(const char *run)
{
  return idm_folder_has(run, IDM_FILE_CONFIG) && idm_folder_has(run, IDM_FILE_POSTERIOR) &&
         idm_folder_has(run, IDM_FILE_SUMMARY) && !idm_folder_has(run, IDM_FILE_CHECKPOINT);
}

/* A run that is whole is the one that counts from now on. */
static idm_status promote(const char *run, idm_error *opt_error)
{
  char next[IDM_PATH];
  char ready[IDM_PATH];
  idm_folder_path(run, IDM_FOLDER_NEXT, next);
  idm_folder_path(run, IDM_FOLDER_READY, ready);
  if (!is_whole(next) || rename(next, ready) == 0) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot rename '%s' to '%s': %s", next, ready,
                  strerror(errno));
}

/* Files move up. Those of the old run that the new one has no name for go before config.yaml does:
 * where it is gone from `ready`, they are gone as well, and a chain-1.csv is one that has moved. */
static idm_status settle(const char *run, idm_error *opt_error)
{
  char ready[IDM_PATH];
  char own[IDM_PATH];
  idm_folder_path(run, IDM_FOLDER_READY, ready);
  snprintf(own, sizeof own, "%s", run);
  if (!idm_folder_is(ready)) return IDM_OK;
  moving m = {ready, run, IDM_OK, opt_error};
  m.status = move_up(ready, run, IDM_FILE_POSTERIOR, opt_error);
  if (m.status == IDM_OK && idm_folder_has(ready, IDM_FILE_CONFIG))
    each_name(run, remove_extra, own);
  if (m.status == IDM_OK) m.status = move_up(ready, run, IDM_FILE_CONFIG, opt_error);
  if (m.status == IDM_OK) m.status = move_up(ready, run, IDM_FILE_SUMMARY, opt_error);
  if (m.status == IDM_OK) each_name(ready, move_chain, &m);
  if (m.status == IDM_OK) rmdir(ready);
  return m.status;
}

void idm_folder_settle(const char *run)
{
  idm_lock lock = {0};
  char next[IDM_PATH];
  idm_folder_path(run, IDM_FOLDER_NEXT, next);
  if (!idm_folder_has(run, IDM_FOLDER_READY) && !is_whole(next)) return;
  if (idm_folder_lock(run, &lock, NULL) != IDM_OK) return;
  if (settle(run, NULL) == IDM_OK && promote(run, NULL) == IDM_OK) (void)settle(run, NULL);
  idm_lock_release(&lock);
}

const char *idm_folder_find(const char *run, const char *file, char path[IDM_PATH])
{
  char ready[IDM_PATH];
  idm_folder_path(run, IDM_FOLDER_READY, ready);
  return idm_folder_path(idm_folder_has(ready, file) ? ready : run, file, path);
}

const char *idm_folder_unfinished(const char *run, char path[IDM_PATH])
{
  idm_folder_path(run, IDM_FOLDER_NEXT, path);
  if (!idm_folder_has(path, IDM_FILE_CONFIG)) snprintf(path, IDM_PATH, "%s", run);
  return path;
}

/* --- beginning and ending ------------------------------------------------------------------- */

bool idm_run_is(const char *path)
{
  if (!path) return false;
  return idm_folder_is(path);
}

bool idm_run_complete(const char *run)
{
  char next[IDM_PATH];
  if (!run) return false;
  idm_folder_settle(run);
  return is_whole(run) && strcmp(idm_folder_unfinished(run, next), run) == 0;
}

bool idm_run_has(const char *run, const char *path)
{
  char own[IDM_PATH];
  for (size_t i = 0; run && path && i < own_count; i++)
    if (idm_file_same(idm_folder_find(run, own_files[i], own), path)) return true;
  return false;
}

/* What a folder is to a fit: one of a run, one without anything, or neither. */
static idm_status check_content(const idm_folder *f, idm_run_mode mode, bool *ret_run,
                                idm_error *opt_error)
{
  char config[IDM_PATH];
  char name[256];
  char next[IDM_PATH];
  idm_folder_content(f->path, name);
  *ret_run = idm_request_is(idm_folder_path(f->path, IDM_FILE_CONFIG, config)) ||
             strcmp(idm_folder_unfinished(f->path, next), f->path) != 0;
  if (idm_folder_has(f->path, IDM_FILE_REPLICATIONS))
    return idm_fail(
        opt_error, IDM_USAGE,
        "'%s' holds the replications of `idm recover` or `idm sbc`; take another folder", f->path);
  if (*ret_run && mode == IDM_RUN_NEW)
    return idm_fail(opt_error, IDM_USAGE,
                    "'%s' holds a run already; add --overwrite, or --resume to go on with a fit",
                    f->path);
  if (!*ret_run && name[0])
    return idm_fail(opt_error, IDM_USAGE,
                    "'%s' holds '%s', and no config.yaml of a run: it is left as it is; take "
                    "another folder",
                    f->path, name);
  return IDM_OK;
}

/* Whether a file that a run may have beside its three can take its place. */
static idm_status check_extra(const char *name, const char *path, const char *const *inputs,
                              size_t count, idm_error *opt_error)
{
  const idm_status status = idm_file_check_output(path, inputs, count, opt_error);
  if (status != IDM_OK || access(path, F_OK) != 0 || is_own_extra(name, path)) return status;
  return idm_fail(opt_error, IDM_USAGE,
                  "'%s' is not of a run: it is left as it is; take another folder", path);
}

/* Whether every file that a run will have can take its place. */
static idm_status check_names(const idm_folder *f, const idm_request *request,
                              const char *const *inputs, size_t count, idm_error *opt_error)
{
  char path[IDM_PATH];
  idm_status status = idm_file_check_output(f->path, NULL, 0, opt_error);
  for (size_t i = 0; i < own_count && status == IDM_OK; i++) {
    idm_folder_path(f->path, own_files[i], path);
    status = idm_file_check_output(path, inputs, count, opt_error);
    if (status == IDM_OK && idm_folder_is(path))
      status =
          idm_fail(opt_error, IDM_USAGE, "'%s' is a folder; a run has a file of that name", path);
  }
  if (status == IDM_OK)
    status = check_extra(IDM_FILE_REPORT, idm_folder_path(f->path, IDM_FILE_REPORT, path), inputs,
                         count, opt_error);
  for (size_t i = 0; request->stan && i < request->settings.chains && status == IDM_OK; i++) {
    idm_folder_chain(f->path, i, path);
    status = check_extra(strrchr(path, '/') + 1, path, inputs, count, opt_error);
  }
  return status;
}

/* None of them may be the problem, or a file of the log. */
static idm_status check_files(const idm_folder *f, const idm_request *request, idm_error *opt_error)
{
  char joined[sizeof request->data + sizeof request->problem + 1];
  size_t count = 0;
  snprintf(joined, sizeof joined, "%s%s%s", request->problem, request->problem[0] ? "\n" : "",
           request->data);
  char **inputs = idm_texts_split(joined, &count);
  const idm_status status =
      inputs ? check_names(f, request, (const char *const *)inputs, count, opt_error)
             : idm_fail_memory(opt_error);
  free(inputs);
  return status;
}

/* A folder of its own for a run that replaces another, without what one before it left. */
static idm_status make_next(idm_folder *f, idm_error *opt_error)
{
  bool made;
  idm_folder_path(f->path, IDM_FOLDER_NEXT, f->work);
  clear(f->work);
  rmdir(f->work);
  return idm_folder_make(f->work, &made, opt_error);
}

idm_status idm_folder_begin(idm_folder *f, const char *run, idm_run_mode mode,
                            const idm_request *request, idm_error *opt_error)
{
  *f = (idm_folder){.path = run};
  snprintf(f->work, sizeof f->work, "%s", run);
  if (mode == IDM_RUN_RESUME && !idm_folder_is(run))
    return idm_fail(opt_error, IDM_USAGE, "there is no run at '%s' to resume", run);
  bool is_run = false;
  idm_status status = idm_folder_make(run, &f->made, opt_error);
  if (status == IDM_OK && !f->made) status = check_files(f, request, opt_error);
  if (status == IDM_OK) status = idm_folder_lock(run, &f->lock, opt_error);
  if (status == IDM_OK) status = settle(run, opt_error);
  if (status == IDM_OK && mode != IDM_RUN_RESUME)
    status = check_content(f, mode, &is_run, opt_error);
  if (status == IDM_OK && is_run) status = make_next(f, opt_error);
  if (mode == IDM_RUN_RESUME) idm_folder_unfinished(run, f->work);
  if (status == IDM_OK) return IDM_OK;
  idm_lock_release(&f->lock);
  if (f->made) rmdir(run);
  return status;
}

idm_status idm_folder_commit(idm_folder *f, idm_error *opt_error)
{
  char ready[IDM_PATH];
  if (strcmp(f->work, f->path) == 0) return IDM_OK;
  idm_folder_path(f->path, IDM_FOLDER_READY, ready);
  idm_status status = promote(f->path, opt_error);
  if (status == IDM_OK) status = settle(f->path, opt_error);
  /* Nothing has moved: the old run is the one that counts. */
  if (status != IDM_OK && idm_folder_has(ready, IDM_FILE_POSTERIOR)) rename(ready, f->work);
  return status;
}

void idm_folder_end(idm_folder *f, bool keep)
{
  if (!keep && !idm_folder_has(f->work, IDM_FILE_CHECKPOINT)) {
    clear(f->work);
    if (strcmp(f->work, f->path) != 0) rmdir(f->work);
  } else {
    f->made = false;
  }
  idm_lock_release(&f->lock);
  if (f->made) rmdir(f->path);
}
