/* Manages folders of runs: files, locks, trailers and checkpoints.
 *
 * Contents: folder · files · lock · seal · checkpoint */
#define _DEFAULT_SOURCE     /* flock */
#define _XOPEN_SOURCE   700 /* openat, O_NOFOLLOW */
#define _XOPEN_SOURCE   700 /* openat, fdopendir, O_NOFOLLOW */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/record.h"
#include "base/system.h"
#include "io/file.h"
#include "io/run/folder.h"

/* === folder ================================================================================= */

/* Open folders.
 *
 * Contents: opening · names · checking and changing */

/* --- opening -------------------------------------------------------------------------------- */

bool idm_folder_is(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

idm_status idm_folder_make(const char *path, bool *ret_created, idm_error *opt_error)
{
  *ret_created = false;
  if (idm_folder_is(path)) return IDM_OK;
  *ret_created = mkdir(path, 0777) == 0;
  if (*ret_created) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot make the folder '%s': %s", path, strerror(errno));
}

idm_status idm_folder_open(idm_folder *folder, const char *path, idm_error *opt_error)
{
  snprintf(folder->path, sizeof folder->path, "%s", path);
  folder->descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder->descriptor >= 0) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "cannot open the folder '%s': %s", path, strerror(errno));
}

static void set_path(const idm_folder *folder, const char *name, char path[IDM_PATH_SIZE])
{
  /* A path that does not fit is longer than any system allows, and is used in messages only. */
  if (snprintf(path, IDM_PATH_SIZE, "%s/%s", folder->path, name) < 0) path[0] = '\0';
}

static idm_status fail_inner(const char *path, mode_t mode, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  "'%s' is %s; a run has a folder of that name, and nothing "
                  "else is read or replaced",
                  path, idm_file_kind_name(mode));
}

idm_status idm_folder_open_inner(const idm_folder *outer, const char *name, idm_folder *inner,
                                 idm_error *opt_error)
{
  struct stat info;
  inner->descriptor = -1;
  set_path(outer, name, inner->path);
  if (!idm_folder_has(outer, name)) return IDM_OK;
  inner->descriptor =
      openat(outer->descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (inner->descriptor >= 0) return IDM_OK;
  const int reason = errno;
  if (fstatat(outer->descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(info.st_mode))
    return fail_inner(inner->path, info.st_mode, opt_error);
  /* A writer has moved its files up in the meantime. */
  if (reason == ENOENT) return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "cannot open the folder '%s': %s", inner->path,
                  strerror(reason));
}

void idm_folder_close(idm_folder *folder)
{
  if (folder->descriptor >= 0) close(folder->descriptor);
  folder->descriptor = -1;
}

/* --- names ---------------------------------------------------------------------------------- */

idm_location idm_folder_location(const idm_folder *folder, const char *name,
                                 char path[IDM_PATH_SIZE])
{
  set_path(folder, name, path);
  return (idm_location){.folder = folder->descriptor, .name = name, .path = path};
}

bool idm_folder_has(const idm_folder *folder, const char *name)
{
  struct stat info;
  return folder->descriptor >= 0 &&
         fstatat(folder->descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

const char *idm_chain_name(size_t chain, char name[IDM_CHAIN_NAME])
{
  snprintf(name, IDM_CHAIN_NAME, IDM_FILE_CHAIN, chain + 1);
  return name;
}

bool idm_chain_name_is(const char *name)
{
  size_t number = 0;
  char again[IDM_CHAIN_NAME];
  if (sscanf(name, IDM_FILE_CHAIN, &number) != 1) return false;
  snprintf(again, sizeof again, IDM_FILE_CHAIN, number);
  return strcmp(name, again) == 0;
}

void idm_folder_each(const idm_folder *folder, bool (*visit)(void *context, const char *name),
                     void *context)
{
  /* Open a separate descriptor: reading a folder moves its offset. */
  const int own = openat(folder->descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = own >= 0 ? fdopendir(own) : NULL;
  if (!directory) {
    if (own >= 0) close(own);
    return;
  }
  for (const struct dirent *entry; (entry = readdir(directory));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
        !visit(context, entry->d_name))
      break;
  closedir(directory);
}

/* Temporary names are NAME.PROCESS-NUMBER.tmp; see src/io/file.h. */
bool idm_folder_remove_stale(const idm_folder *folder, const char *name)
{
  char base[256];
  snprintf(base, sizeof base, "%s", name);
  char *end = strrchr(base, '.');
  if (!end || strcmp(end, ".tmp") != 0) return false;
  *end = '\0';
  char *numbers = strrchr(base, '.');
  if (!numbers || !numbers[1] || numbers[1 + strspn(numbers + 1, "0123456789-")]) return false;
  *numbers = '\0';
  idm_file_remove_stale_at(folder->descriptor, base);
  return true;
}

typedef struct search {
  const idm_folder *folder;
  char *name;
} search;

static bool find_content(void *context, const char *name)
{
  const search *s = context;
  if (name[0] == '.' || idm_folder_remove_stale(s->folder, name)) return true;
  snprintf(s->name, 256, "%s", name);
  return false;
}

void idm_folder_first_name(const idm_folder *folder, char name[256])
{
  name[0] = '\0';
  idm_folder_each(folder, find_content, &(search){folder, name});
}

/* --- checking and changing ------------------------------------------------------------------ */

typedef struct checking {
  const idm_folder *folder;
  idm_status status;
  idm_error *opt_error;
} checking;

static bool is_in_list(const char *name, const char *const *list)
{
  while (*list && strcmp(*list, name) != 0) list++;
  return *list;
}

static bool check_name(void *context, const char *name)
{
  static const char *const files[] = {
      IDM_FILE_CONFIG, IDM_FILE_POSTERIOR,    IDM_FILE_SUMMARY, IDM_FILE_CHECKPOINT,
      IDM_FILE_REPORT, IDM_FILE_REPLICATIONS, IDM_FILE_LOCK,    NULL};
  static const char *const folders[] = {IDM_FOLDER_NEXT, IDM_FOLDER_READY, NULL};
  checking *c = context;
  struct stat info;
  char path[IDM_PATH_SIZE];
  const idm_location location = idm_folder_location(c->folder, name, path);
  if (is_in_list(name, files) || idm_chain_name_is(name))
    c->status = idm_location_check(&location, c->opt_error);
  else if (is_in_list(name, folders) &&
           fstatat(location.folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           !S_ISDIR(info.st_mode))
    c->status = fail_inner(path, info.st_mode, c->opt_error);
  return c->status == IDM_OK;
}

idm_status idm_folder_check(const idm_folder *folder, idm_error *opt_error)
{
  checking c = {folder, IDM_OK, opt_error};
  if (folder->descriptor >= 0) idm_folder_each(folder, check_name, &c);
  return c.status;
}

idm_status idm_folder_move(const idm_folder *from, const char *name, const idm_folder *to,
                           idm_error *opt_error)
{
  char path[IDM_PATH_SIZE];
  const idm_location location = idm_folder_location(to, name, path);
  const idm_status status = idm_location_check(&location, opt_error);
  if (status != IDM_OK || !idm_folder_has(from, name)) return status;
  if (renameat(from->descriptor, name, to->descriptor, name) == 0) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot replace '%s': %s; the new run is in '%s'", path,
                  strerror(errno), from->path);
}

void idm_folder_remove(const idm_folder *folder, const char *name)
{
  if (folder->descriptor >= 0) unlinkat(folder->descriptor, name, 0);
}

void idm_folder_remove_inner(const idm_folder *folder, const char *name)
{
  if (folder->descriptor >= 0) unlinkat(folder->descriptor, name, AT_REMOVEDIR);
}

/* === files ================================================================================== */

/* Files of a run, for reading. */

/* Open the inner folders; all folders are closed on failure. */
static idm_status open_inner(idm_run_files *files, idm_error *opt_error)
{
  files->ready.descriptor = -1;
  idm_status status = idm_folder_open_inner(&files->run, IDM_FOLDER_NEXT, &files->next, opt_error);
  if (status == IDM_OK)
    status = idm_folder_open_inner(&files->run, IDM_FOLDER_READY, &files->ready, opt_error);
  if (status != IDM_OK) idm_run_files_close(files);
  return status;
}

idm_status idm_run_files_open(idm_run_files *files, const char *run, idm_error *opt_error)
{
  const idm_status status = idm_folder_open(&files->run, run, opt_error);
  return status == IDM_OK ? open_inner(files, opt_error) : status;
}

idm_status idm_run_files_of(idm_run_files *files, const idm_folder *run, idm_error *opt_error)
{
  const idm_status status = idm_folder_open_inner(run, ".", &files->run, opt_error);
  snprintf(files->run.path, sizeof files->run.path, "%s", run->path);
  return status == IDM_OK ? open_inner(files, opt_error) : status;
}

void idm_run_files_close(idm_run_files *files)
{
  idm_folder_close(&files->ready);
  idm_folder_close(&files->next);
  idm_folder_close(&files->run);
}

idm_location idm_run_files_location(const idm_run_files *files, const char *name,
                                    char path[IDM_PATH_SIZE])
{
  const bool is_pending = idm_folder_has(&files->ready, name);
  return idm_folder_location(is_pending ? &files->ready : &files->run, name, path);
}

bool idm_run_files_exist(const idm_run_files *files, const char *name)
{
  return idm_folder_has(&files->ready, name) || idm_folder_has(&files->run, name);
}

bool idm_folder_is_complete(const idm_folder *folder)
{
  return idm_folder_has(folder, IDM_FILE_CONFIG) && idm_folder_has(folder, IDM_FILE_POSTERIOR) &&
         idm_folder_has(folder, IDM_FILE_SUMMARY) && !idm_folder_has(folder, IDM_FILE_CHECKPOINT);
}

bool idm_run_files_is_pending(const idm_run_files *files)
{
  return idm_folder_has(&files->ready, IDM_FILE_CONFIG) ||
         idm_folder_has(&files->ready, IDM_FILE_POSTERIOR) ||
         idm_folder_has(&files->ready, IDM_FILE_SUMMARY) || idm_folder_is_complete(&files->next);
}

const idm_folder *idm_run_files_unfinished(const idm_run_files *files)
{
  return idm_folder_has(&files->next, IDM_FILE_CONFIG) ? &files->next : &files->run;
}

idm_location idm_folder_output(const idm_folder *folder, const char *path)
{
  char parent[IDM_PATH_SIZE] = ".";
  struct stat own;
  struct stat of_path;
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  if (slash) snprintf(parent, sizeof parent, "%.*s", (int)(name - path), path);
  if (folder->descriptor < 0 || !*name || strcmp(path, "-") == 0 ||
      fstat(folder->descriptor, &own) != 0 || stat(parent, &of_path) != 0 ||
      own.st_dev != of_path.st_dev || own.st_ino != of_path.st_ino)
    return idm_location_of(path);
  return (idm_location){.folder = folder->descriptor, .name = name, .path = path};
}

/* === lock =================================================================================== */

/* Lock for a single writer. */

/* Process number in the lock file, as text; empty if it cannot be read. */
static void read_holder(int descriptor, char holder[24])
{
  const ssize_t length = pread(descriptor, holder, 23, 0);
  holder[length > 0 ? length : 0] = '\0';
  holder[strspn(holder, "0123456789")] = '\0';
}

static idm_status fail_locked(const idm_lock *lock, idm_error *opt_error)
{
  char holder[24];
  read_holder(lock->descriptor, holder);
  return idm_fail(opt_error, IDM_SYSTEM,
                  "another process%s%s writes there and holds the lock '%s'; wait for it, or take "
                  "another folder",
                  holder[0] ? " of number " : "", holder, lock->path);
}

/* Returns true if the locked file still has its name: its last holder may have removed it. */
static bool is_current(const idm_lock *lock)
{
  struct stat own;
  struct stat named;
  return fstat(lock->descriptor, &own) == 0 &&
         fstatat(lock->folder, lock->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

static void close_lock(idm_lock *lock)
{
  if (lock->descriptor >= 0) close(lock->descriptor);
  free(lock->path);
  free(lock->name);
  *lock = (idm_lock){0};
}

/* Create the lock file; if it exists, open it. */
static idm_status open_file(idm_lock *lock, const idm_location *location, bool *ret_created,
                            idm_error *opt_error)
{
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  struct stat info;
  if (lock->descriptor >= 0) close(lock->descriptor);
  lock->descriptor = openat(lock->folder, lock->name, flags | O_CREAT | O_EXCL, 0666);
  *ret_created = lock->descriptor >= 0;
  if (*ret_created) return IDM_OK;
  if (errno == EEXIST) {
    const idm_status status = idm_location_check(location, opt_error);
    if (status != IDM_OK) return status;
    lock->descriptor = openat(lock->folder, lock->name, flags);
    if (lock->descriptor < 0 && errno == ENOENT) return IDM_OK; /* released in between */
  }
  if (lock->descriptor >= 0 && fstat(lock->descriptor, &info) == 0 && S_ISREG(info.st_mode))
    return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s", location->path, strerror(errno));
}

/* Lock the file. One that a killed process left is removed, so that the next attempt creates a new
 * one. */
static idm_status lock_file(const idm_lock *lock, bool created, bool *ret_locked,
                            idm_error *opt_error)
{
  *ret_locked = false;
  if (lock->descriptor < 0) return IDM_OK;
  if (flock(lock->descriptor, LOCK_EX | LOCK_NB) == 0) {
    const bool current = is_current(lock);
    *ret_locked = created && current;
    if (created || !current || unlinkat(lock->folder, lock->name, 0) == 0 || errno == ENOENT)
      return IDM_OK;
    return idm_fail(opt_error, IDM_SYSTEM, "cannot remove '%s': %s", lock->path, strerror(errno));
  }
  if (errno == EWOULDBLOCK) return fail_locked(lock, opt_error);
  if (errno == EINTR) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM,
                  "cannot lock '%s': %s; take a folder of another file system", lock->path,
                  strerror(errno));
}

idm_status idm_lock_take(idm_lock *lock, const idm_location *location, idm_error *opt_error)
{
  *lock = (idm_lock){.path = idm_text_copy(location->path, strlen(location->path)),
                     .name = idm_text_copy(location->name, strlen(location->name)),
                     .folder = location->folder,
                     .descriptor = -1};
  idm_status status = lock->path && lock->name ? IDM_OK : idm_fail_memory(opt_error);
  for (bool held = false; status == IDM_OK && !held;) {
    bool created = false;
    status = open_file(lock, location, &created, opt_error);
    if (status == IDM_OK) status = lock_file(lock, created, &held, opt_error);
  }
  if (status != IDM_OK) {
    close_lock(lock);
    return status;
  }
  /* The process number is for messages only; the lock itself is decisive. */
  char holder[24];
  const int length = snprintf(holder, sizeof holder, "%ld\n", (long)getpid());
  if (pwrite(lock->descriptor, holder, (size_t)length, 0) != length) errno = 0;
  return IDM_OK;
}

void idm_lock_release(idm_lock *lock)
{
  if (!lock->path) return;
  unlinkat(lock->folder, lock->name,
           0); /* while the lock is held: no other process has this file then */
  close_lock(lock);
}

/* === seal =================================================================================== */

/* Trailer of run.nc: a checksum of the image. */

void idm_trailer(const void *image, size_t length, char trailer[IDM_TRAILER_LENGTH + 1])
{
  const size_t prefix = sizeof IDM_TRAILER_PREFIX - 1;
  memcpy(trailer, IDM_TRAILER_PREFIX, prefix);
  SHA256Data(image, length, trailer + prefix);
  memcpy(trailer + IDM_TRAILER_LENGTH - 1, "\n", 2);
}

idm_status idm_trailer_write(const void *image, size_t length, const idm_location *location,
                             idm_error *opt_error)
{
  idm_file *file;
  const idm_status status = idm_file_create_at(location, &file, opt_error);
  if (status != IDM_OK) return status;
  char trailer[IDM_TRAILER_LENGTH + 1];
  idm_trailer(image, length, trailer);
  idm_file_write(file, image, length);
  idm_file_write(file, trailer, IDM_TRAILER_LENGTH);
  return idm_file_commit(file, opt_error);
}

/* === checkpoint ============================================================================= */

/* Checkpoints of work in a run folder. */

/* Seconds between checkpoints. */
static const double checkpoint_seconds = 3;
/* Reject checkpoints larger than this, in bytes. */
static const size_t max_bytes = (size_t)1 << 36;

static idm_location checkpoint_location(idm_checkpointer *k)
{
  return idm_folder_location(k->folder, IDM_FILE_CHECKPOINT, k->path);
}

idm_status idm_checkpointer_begin(idm_checkpointer *k, const idm_folder *folder, idm_run_mode mode,
                                  idm_progress opt_progress, void *context, idm_error *opt_error)
{
  *k = (idm_checkpointer){
      .folder = folder, .progress = opt_progress, .context = context, .saved = idm_seconds()};
  const idm_location location = checkpoint_location(k);
  if (mode != IDM_RUN_RESUME || !idm_location_exists(&location)) return IDM_OK;
  return idm_file_read_at(&location, max_bytes, &k->bytes, &k->length, opt_error);
}

void idm_checkpointer_end(idm_checkpointer *k)
{
  free(k->bytes);
  k->bytes = NULL;
}

static idm_status write_checkpoint(idm_checkpointer *k, const idm_progress_state *work)
{
  char *bytes = NULL;
  size_t length = 0;
  idm_file *file = NULL;
  const double begun = idm_seconds();
  idm_status status = idm_progress_save(work, &bytes, &length, &k->error);
  const idm_location location = checkpoint_location(k);
  if (status == IDM_OK) status = idm_file_create_at(&location, &file, &k->error);
  if (status == IDM_OK) {
    idm_file_write(file, bytes, length);
    status = idm_file_commit(file, &k->error);
  }
  free(bytes);
  k->saved = idm_seconds();
  k->cost = k->saved - begun;
  k->done = work->done;
  return status;
}

static bool is_due(const idm_checkpointer *k, const idm_progress_state *work, bool stop)
{
  const bool over = work->done >= 1 && k->done < 1;
  return work->save &&
         (stop || over || idm_seconds() - k->saved > fmax(checkpoint_seconds, 20 * k->cost));
}

static bool watch(void *context, const idm_progress_state *work)
{
  idm_checkpointer *k = context;
  const bool stop = k->progress && k->progress(k->context, work);
  k->stop_requested = k->stop_requested || stop;
  if (k->status == IDM_OK && is_due(k, work, stop)) k->status = write_checkpoint(k, work);
  return stop || k->status != IDM_OK;
}

idm_fit_monitor idm_checkpointer_watch(idm_checkpointer *k, uint64_t label)
{
  return (idm_fit_monitor){.progress = watch,
                           .context = k,
                           .checkpoint = k->bytes,
                           .checkpoint_length = k->length,
                           .checkpoint_file = k->path,
                           .label = label};
}
