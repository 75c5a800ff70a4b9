/* Whole files: bounded reads, and writes that appear whole or not at all.
 *
 * Contents: reading · temporary names · what may be written · writing */
#define _XOPEN_SOURCE   700 /* realpath: POSIX has had it since 2008, glibc shows it only so */
#define _DEFAULT_SOURCE     /* flock */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/memory.h"
#include "base/number.h"
#include "idm/file.h"

struct idm_file {
  FILE *stream;
  char *path;      /* NULL for standard output */
  char *temporary; /* name written under until commit */
  int error;       /* first errno of a failed write */
};

/* --- reading -------------------------------------------------------------------------------- */

idm_status idm_file_read(const char *path, size_t limit, char **ret_text, size_t *ret_length,
                         idm_error *opt_error)
{
  idm_require(path, ret_text, ret_length);
  *ret_text = NULL;
  *ret_length = 0;
  const bool standard = strcmp(path, "-") == 0;
  FILE *stream = standard ? stdin : fopen(path, "rb");
  if (!stream) return idm_fail(opt_error, IDM_INPUT, "cannot open '%s': %s", path, strerror(errno));

  idm_status status = IDM_OK;
  size_t length = 0;
  size_t capacity = 1 << 16;
  char *text = malloc(capacity);
  if (!text) status = idm_fail_memory(opt_error);
  while (status == IDM_OK) {
    length += fread(text + length, 1, capacity - length - 1, stream);
    if (ferror(stream)) {
      status = idm_fail(opt_error, IDM_INPUT, "cannot read '%s': %s", path, strerror(errno));
    } else if (length > limit) {
      status = idm_fail(opt_error, IDM_INPUT, "'%s' is larger than %zu bytes", path, limit);
    } else if (length < capacity - 1) {
      break;
    } else {
      char *larger = realloc(text, 2 * capacity);
      if (larger) {
        text = larger;
        capacity *= 2;
      } else {
        status = idm_fail_memory(opt_error);
      }
    }
  }
  if (!standard) fclose(stream);
  if (status != IDM_OK) {
    free(text);
    return status;
  }
  text[length] = '\0';
  *ret_text = text;
  *ret_length = length;
  return IDM_OK;
}

/* --- temporary names ------------------------------------------------------------------------ */

/* While it is written a file is called PATH.PROCESS-NUMBER.tmp, and whoever writes it holds a lock
 * on it: one that can be locked belongs to nobody any more. (A process number alone would not say,
 * since they are used again, and other machines have their own.) */
static const char suffix[] = ".tmp";

/* Whether a name is `base` with what a temporary one has behind it. */
static bool is_temporary(const char *name, const char *base, size_t length)
{
  static const char digits[] = "0123456789";
  if (strncmp(name, base, length) != 0 || name[length] != '.') return false;
  const char *process = name + length + 1;
  const size_t first = strspn(process, digits);
  if (!first || process[first] != '-') return false;
  const char *number = process + first + 1;
  const size_t second = strspn(number, digits);
  return second && strcmp(number + second, suffix) == 0;
}

/* Remove a temporary file, unless somebody writes it. */
static void remove_dead(int folder, const char *name)
{
  const int descriptor = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) unlinkat(folder, name, 0);
  close(descriptor);
}

void idm_file_sweep(const char *path)
{
  if (!path) return;
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  const size_t length = strlen(base);
  char folder[4200] = "."; /* longer ones are refused by the system as they are */
  if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(base - path), path);
  DIR *directory = length ? opendir(folder) : NULL;
  for (const struct dirent *entry; directory && (entry = readdir(directory));)
    if (is_temporary(entry->d_name, base, length)) remove_dead(dirfd(directory), entry->d_name);
  if (directory) closedir(directory);
}

/* A new file of that name, locked; -1 and errno where there is none, which with EEXIST is worth
 * another try: somebody else has it, or swept it away before it was locked. */
static int open_locked(const char *name)
{
  const int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  struct stat info;
  if (descriptor < 0) return -1;
  /* Where there are no locks nobody can sweep either. */
  (void)flock(descriptor, LOCK_EX | LOCK_NB);
  if (fstat(descriptor, &info) == 0 && info.st_nlink) return descriptor;
  close(descriptor);
  errno = EEXIST;
  return -1;
}

/* Open a fresh file beside `path`, so that the rename stays within one file system. Not mkstemp:
 * the file must have the mode of an ordinary new one, and asking for the umask would change it for
 * other threads. */
static idm_status open_temporary(idm_file *file, const struct stat *opt_old, idm_error *opt_error)
{
  enum { attempts = 1000 };
  const size_t size = strlen(file->path) + 48;
  idm_file_sweep(file->path);
  file->temporary = malloc(size);
  if (!file->temporary) return idm_fail_memory(opt_error);
  int descriptor = -1;
  for (int i = 0; i < attempts && descriptor < 0; i++) {
    snprintf(file->temporary, size, "%s.%ld-%d%s", file->path, (long)getpid(), i, suffix);
    descriptor = open_locked(file->temporary);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor < 0) {
    const int reason = errno;
    free(file->temporary);
    file->temporary = NULL;
    return idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s", file->path, strerror(reason));
  }
  if (opt_old)
    (void)fchmod(descriptor, opt_old->st_mode & 07777); /* what is replaced keeps its mode */
  file->stream = fdopen(descriptor, "wb");
  if (file->stream) return IDM_OK;
  const int reason = errno;
  close(descriptor);
  return idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s", file->path, strerror(reason));
}

/* --- what may be written -------------------------------------------------------------------- */

bool idm_file_same(const char *a, const char *b)
{
  struct stat x;
  struct stat y;
  return a && b && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

/* The rename at the end needs no leave of the file that it replaces, and root needs none of any: a
 * file that nobody may write to was closed by its owner, who is to open it. */
idm_status idm_file_check_output(const char *path, const char *const *opt_inputs, size_t count,
                                 idm_error *opt_error)
{
  struct stat info;
  idm_require(path);
  if (strcmp(path, "-") == 0) return IDM_OK;
  for (size_t i = 0; opt_inputs && i < count; i++)
    if (idm_file_same(path, opt_inputs[i]))
      return idm_fail(opt_error, IDM_USAGE,
                      "'%s' is read ('%s') and cannot be written at the same time; write to "
                      "another file",
                      path, opt_inputs[i]);
  if (stat(path, &info) != 0 || S_ISCHR(info.st_mode)) return IDM_OK;
  if ((info.st_mode & 0222) && access(path, W_OK) == 0) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM,
                  "cannot write '%s': it is read-only; write to another place, or allow it by "
                  "chmod u+w",
                  path);
}

/* --- writing -------------------------------------------------------------------------------- */

/* Where a path leads: a link stays, and what it points to is replaced. */
static idm_status follow(idm_file *file, const char *path, idm_error *opt_error)
{
  struct stat info;
  const bool link = lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
  file->path = link ? realpath(path, NULL) : idm_text_copy(path, strlen(path));
  if (file->path) return IDM_OK;
  if (link)
    return idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': the link leads nowhere: %s", path,
                    strerror(errno));
  return idm_fail_memory(opt_error);
}

idm_status idm_file_create(const char *path, idm_file **ret_file, idm_error *opt_error)
{
  idm_require(path, ret_file);
  *ret_file = NULL;
  idm_file *file = idm_new(1, sizeof *file);
  if (!file) return idm_fail_memory(opt_error);
  const bool standard = strcmp(path, "-") == 0;
  idm_status status = standard ? IDM_OK : idm_file_check_output(path, NULL, 0, opt_error);
  struct stat info;
  bool exists = false;
  if (status == IDM_OK && !standard) status = follow(file, path, opt_error);
  if (standard) {
    file->stream = stdout;
  } else if (status == IDM_OK && (exists = stat(file->path, &info) == 0) &&
             !S_ISREG(info.st_mode)) {
    /* A device or a pipe cannot be replaced by a rename: write to it directly. */
    file->stream = fopen(path, "wb");
    if (!file->stream)
      status = idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
  } else if (status == IDM_OK) {
    status = open_temporary(file, exists ? &info : NULL, opt_error);
  }
  if (status != IDM_OK) {
    idm_file_abandon(file);
    return status;
  }
  *ret_file = file;
  return IDM_OK;
}

static void note_failure(idm_file *file)
{
  if (!file->error) file->error = errno ? errno : EIO;
}

void idm_file_write(idm_file *file, const char *bytes, size_t length)
{
  if (!file || !bytes) return;
  errno = 0;
  if (fwrite(bytes, 1, length, file->stream) != length) note_failure(file);
}

void idm_file_printf(idm_file *file, const char *format, ...)
{
  if (!file || !format) return;
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = idm_print_list(line, sizeof line, format, arguments);
  va_end(arguments);
  const size_t room = length < 0 ? 0 : (size_t)length + 1;
  char *text = room <= sizeof line ? line : malloc(room);
  errno = 0;
  if (!text || length < 0) {
    note_failure(file);
    return;
  }
  if (text != line) {
    va_start(arguments, format);
    idm_print_list(text, room, format, arguments);
    va_end(arguments);
  }
  idm_file_write(file, text, room - 1);
  if (text != line) free(text);
}

idm_status idm_file_commit(idm_file *file, idm_error *opt_error)
{
  idm_require(file);
  errno = 0;
  if (fflush(file->stream) != 0) note_failure(file);
  if (file->temporary && fsync(fileno(file->stream)) != 0) note_failure(file);
  /* Renamed while its lock is held: between the two it could be swept away. */
  const bool renamed = !file->error && file->temporary && rename(file->temporary, file->path) == 0;
  if (!file->error && file->temporary && !renamed) note_failure(file);
  if (file->stream != stdout && fclose(file->stream) != 0 && !renamed) note_failure(file);
  file->stream = NULL;
  idm_status status = IDM_OK;
  if (file->error) {
    status = idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s",
                      file->path ? file->path : "standard output", strerror(file->error));
  } else {
    free(file->temporary);
    file->temporary = NULL;
  }
  idm_file_abandon(file);
  return status;
}

void idm_file_abandon(idm_file *file)
{
  if (!file) return;
  if (file->stream && file->stream != stdout) fclose(file->stream);
  if (file->temporary) remove(file->temporary);
  free(file->temporary);
  free(file->path);
  free(file);
}
