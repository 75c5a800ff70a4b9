/* Reads, writes and hashes files at paths and in folders.
 *
 * Contents: place · file · hash */
#define _DEFAULT_SOURCE /* flock */
#define _XOPEN_SOURCE                                                                              \
  700 /* realpath: in POSIX since 2008; glibc declares it only with this macro */
#define _XOPEN_SOURCE 700 /* openat, O_NOFOLLOW, S_ISSOCK */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/file.h"

/* === place ================================================================================== */

/* Files at paths and in folders. */

idm_location idm_location_of(const char *path)
{
  return (idm_location){.folder = AT_FDCWD, .name = path, .path = path};
}

bool idm_location_in_folder(const idm_location *location)
{
  return location->folder != AT_FDCWD;
}

bool idm_location_exists(const idm_location *location)
{
  struct stat info;
  return fstatat(location->folder, location->name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

const char *idm_file_kind_name(mode_t mode)
{
  if (S_ISREG(mode)) return "a file";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

static idm_status fail_kind(const idm_location *location, mode_t mode, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT,
                  idm_location_in_folder(location)
                      ? "'%s' is %s; a run has a regular file of that name, and nothing else is "
                        "read or replaced"
                      : "'%s' is %s; a file that another file names is a regular file",
                  location->path, idm_file_kind_name(mode));
}

static idm_status fail_open(const idm_location *location, idm_error *opt_error)
{
  return idm_fail(opt_error, IDM_INPUT, "cannot open '%s': %s", location->path, strerror(errno));
}

/* IDM_INPUT if a location has a file that is not regular; a free location is accepted. Links of a
 * path are followed. */
static idm_status check_regular(const idm_location *location, idm_error *opt_error)
{
  struct stat info;
  const int flags = idm_location_in_folder(location) ? AT_SYMLINK_NOFOLLOW : 0;
  if (fstatat(location->folder, location->name, &info, flags) != 0) return IDM_OK;
  return S_ISREG(info.st_mode) ? IDM_OK : fail_kind(location, info.st_mode, opt_error);
}

idm_status idm_location_check(const idm_location *location, idm_error *opt_error)
{
  return idm_location_in_folder(location) ? check_regular(location, opt_error) : IDM_OK;
}

idm_status idm_location_check_reread(const idm_location *location, idm_error *opt_error)
{
  struct stat info;
  if (fstatat(location->folder, location->name, &info, 0) != 0 ||
      !(S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)))
    return IDM_OK;
  return idm_fail(opt_error, IDM_INPUT, "'%s' is %s; expected a file that can be read again",
                  location->path, idm_file_kind_name(info.st_mode));
}

/* The kind is checked before opening because opening a device can have effects, and again on the
 * descriptor because the file can be replaced in between. */
static idm_status open_regular(const idm_location *location, int *ret_descriptor,
                               idm_error *opt_error)
{
  struct stat info = {0};
  const idm_status status = check_regular(location, opt_error);
  if (status != IDM_OK) return status;
  const int links = idm_location_in_folder(location) ? O_NOFOLLOW : 0;
  const int descriptor =
      openat(location->folder, location->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | links);
  if (descriptor < 0) return fail_open(location, opt_error);
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(descriptor);
    return fail_kind(location, info.st_mode, opt_error);
  }
  *ret_descriptor = descriptor;
  return IDM_OK;
}

idm_status idm_location_open(const idm_location *location, int *ret_descriptor,
                             idm_error *opt_error)
{
  *ret_descriptor = -1;
  if (idm_location_in_folder(location)) return open_regular(location, ret_descriptor, opt_error);
  *ret_descriptor = open(location->path, O_RDONLY | O_CLOEXEC);
  return *ret_descriptor < 0 ? fail_open(location, opt_error) : IDM_OK;
}

idm_status idm_location_open_named(const idm_location *location, int *ret_descriptor,
                                   idm_error *opt_error)
{
  *ret_descriptor = -1;
  return open_regular(location, ret_descriptor, opt_error);
}

/* === file =================================================================================== */

/* Whole files: bounded reads and atomic writes.
 *
 * Contents: reading · temporary names · permissions · writing */

struct idm_file {
  FILE *stream;
  int folder;      /* descriptor that names are relative to, borrowed; or AT_FDCWD */
  char *name;      /* NULL for standard output */
  char *path;      /* the path in messages */
  char *temporary; /* name until the file is committed */
  int error;       /* first errno of a failed write */
};

/* --- reading -------------------------------------------------------------------------------- */

/* Open a stream for reading. The caller must not close standard input. */
static idm_status open_stream(const idm_location *location, FILE **ret_stream, idm_error *opt_error)
{
  int descriptor;
  *ret_stream = stdin;
  if (!idm_location_in_folder(location) && strcmp(location->path, "-") == 0) return IDM_OK;
  const idm_status status = idm_location_open(location, &descriptor, opt_error);
  if (status != IDM_OK) return status;
  *ret_stream = fdopen(descriptor, "rb");
  if (*ret_stream) return IDM_OK;
  close(descriptor);
  return idm_fail_memory(opt_error);
}

/* Largest size of a file, in bytes: half of the machine's memory. */
static uintmax_t memory_limit(void)
{
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uintmax_t)pages / 2 * (uintmax_t)page : UINTMAX_MAX;
}

/* Read the rest of a stream and append a NUL. */
static idm_status read_stream(FILE *stream, const char *path, size_t limit, char **ret_text,
                              size_t *ret_length, idm_error *opt_error)
{
  struct stat info;
  idm_status status = IDM_OK;
  size_t length = 0;
  size_t capacity = 1 << 16;
  if (fstat(fileno(stream), &info) == 0 && S_ISREG(info.st_mode)) {
    const uintmax_t size = (uintmax_t)info.st_size;
    /* A sparse file takes no disk space, but would fill the memory. */
    if (size > limit || size > memory_limit())
      return idm_fail(opt_error, IDM_INPUT,
                      "'%s' is larger than %zu bytes, or than half the memory", path, limit);
    if (size >= capacity) capacity = (size_t)size + 2;
  }
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
  if (status != IDM_OK) {
    free(text);
    return status;
  }
  text[length] = '\0';
  *ret_text = text;
  *ret_length = length;
  return IDM_OK;
}

idm_status idm_file_read_at(const idm_location *location, size_t limit, char **ret_text,
                            size_t *ret_length, idm_error *opt_error)
{
  FILE *stream;
  *ret_text = NULL;
  *ret_length = 0;
  idm_status status = open_stream(location, &stream, opt_error);
  if (status != IDM_OK) return status;
  status = read_stream(stream, location->path, limit, ret_text, ret_length, opt_error);
  if (stream != stdin) fclose(stream);
  return status;
}

idm_status idm_file_read(const char *path, size_t limit, char **ret_text, size_t *ret_length,
                         idm_error *opt_error)
{
  idm_require(path, ret_text, ret_length);
  const idm_location location = idm_location_of(path);
  return idm_file_read_at(&location, limit, ret_text, ret_length, opt_error);
}

/* --- temporary names ------------------------------------------------------------------------ */

/* While a file is written, its name is PATH.PROCESS-NUMBER.tmp, and the writer holds a lock on it.
 * A temporary file that can be locked is stale. (The number of the process is not sufficient, since
 * numbers are reused and other machines have their own.) */
static const char suffix[] = ".tmp";

/* Returns true if a name is `base` with the suffix of a temporary file. */
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

/* Remove a temporary file unless its writer holds a lock on it. */
static void remove_if_stale(int folder, const char *name)
{
  const int descriptor = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) unlinkat(folder, name, 0);
  close(descriptor);
}

/* Remove the stale temporary files of `base` in a folder; closes the descriptor. */
static void remove_stale(int folder, const char *base)
{
  const size_t length = strlen(base);
  DIR *directory = folder >= 0 && length ? fdopendir(folder) : NULL;
  if (!directory) {
    if (folder >= 0) close(folder);
    return;
  }
  for (const struct dirent *entry; (entry = readdir(directory));)
    if (is_temporary(entry->d_name, base, length)) remove_if_stale(dirfd(directory), entry->d_name);
  closedir(directory);
}

void idm_file_sweep(const char *path)
{
  if (!path) return;
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  char folder[4200] = "."; /* the system rejects longer ones */
  if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(base - path), path);
  remove_stale(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), base);
}

void idm_file_remove_stale_at(int folder, const char *name)
{
  /* Open a separate descriptor: reading a folder moves its offset. */
  remove_stale(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), name);
}

/* Create and lock a new file; returns its descriptor, or -1 with errno. EEXIST means that another
 * attempt may succeed: another writer has the name, or removed the file before it was locked. */
static int open_locked(int folder, const char *name)
{
  const int descriptor = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  struct stat info;
  if (descriptor < 0) return -1;
  /* Without locks, stale files are not removed either. */
  (void)flock(descriptor, LOCK_EX | LOCK_NB);
  if (fstat(descriptor, &info) == 0 && info.st_nlink) return descriptor;
  close(descriptor);
  errno = EEXIST;
  return -1;
}

/* Open a new file in the folder of `path`, so that the rename stays within one file system. mkstemp
 * is not used: the file must have the mode of an ordinary new one, and reading the umask would
 * change it for other threads. */
static idm_status open_temporary(idm_file *file, const struct stat *opt_old, idm_error *opt_error)
{
  enum { attempts = 1000 };
  const size_t size = strlen(file->name) + 48;
  if (file->folder == AT_FDCWD)
    idm_file_sweep(file->name);
  else
    idm_file_remove_stale_at(file->folder, file->name);
  file->temporary = malloc(size);
  if (!file->temporary) return idm_fail_memory(opt_error);
  int descriptor = -1;
  for (int i = 0; i < attempts && descriptor < 0; i++) {
    snprintf(file->temporary, size, "%s.%ld-%d%s", file->name, (long)getpid(), i, suffix);
    descriptor = open_locked(file->folder, file->temporary);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor < 0) {
    const int reason = errno;
    free(file->temporary);
    file->temporary = NULL;
    return idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s", file->path, strerror(reason));
  }
  if (opt_old)
    (void)fchmod(descriptor,
                 opt_old->st_mode & 07777); /* keep the mode of the file that is replaced */
  file->stream = fdopen(descriptor, "wb");
  if (file->stream) return IDM_OK;
  const int reason = errno;
  close(descriptor);
  return idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s", file->path, strerror(reason));
}

/* --- permissions ----------------------------------------------------------------------------- */

bool idm_file_same(const char *a, const char *b)
{
  struct stat x;
  struct stat y;
  return a && b && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

/* IDM_SYSTEM if the file at a location is read-only. The rename at the end needs no permission on
 * the file that it replaces, and root needs none at all, so permission is checked here: the owner
 * of a read-only file must change its mode first. */
static idm_status check_permission(const idm_location *location, idm_error *opt_error)
{
  struct stat info;
  if (fstatat(location->folder, location->name, &info, 0) != 0 || S_ISCHR(info.st_mode))
    return IDM_OK;
  if ((info.st_mode & 0222) && faccessat(location->folder, location->name, W_OK, 0) == 0)
    return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM,
                  "cannot write '%s': it is read-only; write to another place, or allow it by "
                  "chmod u+w",
                  location->path);
}

idm_status idm_file_check_output(const char *path, const char *const *opt_inputs, size_t count,
                                 idm_error *opt_error)
{
  idm_require(path);
  if (strcmp(path, "-") == 0) return IDM_OK;
  for (size_t i = 0; opt_inputs && i < count; i++)
    if (idm_file_same(path, opt_inputs[i]))
      return idm_fail(opt_error, IDM_USAGE,
                      "'%s' is read ('%s') and cannot be written at the same time; write to "
                      "another file",
                      path, opt_inputs[i]);
  const idm_location location = idm_location_of(path);
  return check_permission(&location, opt_error);
}

/* --- writing -------------------------------------------------------------------------------- */

/* Resolve the target of a path: a link is kept, and the file that it points to is replaced. In a
 * folder, links are not followed. */
static idm_status resolve_link(idm_file *file, const idm_location *location, idm_error *opt_error)
{
  struct stat info;
  const bool link = !idm_location_in_folder(location) && lstat(location->path, &info) == 0 &&
                    S_ISLNK(info.st_mode);
  file->folder = location->folder;
  file->name =
      link ? realpath(location->path, NULL) : idm_text_copy(location->name, strlen(location->name));
  if (!file->name && link)
    return idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': the link leads nowhere: %s",
                    location->path, strerror(errno));
  const char *shown = link ? file->name : location->path;
  if (file->name) file->path = idm_text_copy(shown, strlen(shown));
  return file->name && file->path ? IDM_OK : idm_fail_memory(opt_error);
}

/* A device or a pipe cannot be replaced by a rename: write to it directly. */
static idm_status open_device(idm_file *file, const char *path, idm_error *opt_error)
{
  file->stream = fopen(path, "wb");
  if (file->stream) return IDM_OK;
  return idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
}

static idm_status open_target(idm_file *file, const idm_location *location, idm_error *opt_error)
{
  struct stat info;
  idm_status status = idm_location_check(location, opt_error);
  if (status == IDM_OK) status = check_permission(location, opt_error);
  if (status == IDM_OK) status = resolve_link(file, location, opt_error);
  if (status != IDM_OK) return status;
  const bool exists = fstatat(file->folder, file->name, &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !idm_location_in_folder(location) && !S_ISREG(info.st_mode))
    return open_device(file, location->path, opt_error);
  return open_temporary(file, exists ? &info : NULL, opt_error);
}

idm_status idm_file_create_at(const idm_location *location, idm_file **ret_file,
                              idm_error *opt_error)
{
  *ret_file = NULL;
  idm_file *file = idm_new(1, sizeof *file);
  if (!file) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  if (!idm_location_in_folder(location) && strcmp(location->path, "-") == 0)
    file->stream = stdout;
  else
    status = open_target(file, location, opt_error);
  if (status != IDM_OK) {
    idm_file_abandon(file);
    return status;
  }
  *ret_file = file;
  return IDM_OK;
}

idm_status idm_file_create(const char *path, idm_file **ret_file, idm_error *opt_error)
{
  idm_require(path, ret_file);
  const idm_location location = idm_location_of(path);
  return idm_file_create_at(&location, ret_file, opt_error);
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
  const size_t needed = length < 0 ? 0 : (size_t)length + 1;
  char *text = needed <= sizeof line ? line : malloc(needed);
  errno = 0;
  if (!text || length < 0) {
    note_failure(file);
    return;
  }
  if (text != line) {
    va_start(arguments, format);
    idm_print_list(text, needed, format, arguments);
    va_end(arguments);
  }
  idm_file_write(file, text, needed - 1);
  if (text != line) free(text);
}

idm_status idm_file_commit(idm_file *file, idm_error *opt_error)
{
  idm_require(file);
  errno = 0;
  if (fflush(file->stream) != 0) note_failure(file);
  if (file->temporary && fsync(fileno(file->stream)) != 0) note_failure(file);
  /* The file is renamed while its lock is held: otherwise it could be removed as stale before. */
  const bool renamed = !file->error && file->temporary &&
                       renameat(file->folder, file->temporary, file->folder, file->name) == 0;
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
  if (file->temporary) unlinkat(file->folder, file->temporary, 0);
  free(file->temporary);
  free(file->name);
  free(file->path);
  free(file);
}

/* === hash =================================================================================== */

/* SHA-256 of a file, by libmd. */

/* Write the digest in hexadecimal. */
static void finish_digest(SHA2_CTX *context, char hash[IDM_HASH_SIZE])
{
  static const char digits[] = "0123456789abcdef";
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256Final(digest, context);
  for (size_t i = 0; i < sizeof digest; i++) {
    hash[2 * i] = digits[digest[i] >> 4];
    hash[2 * i + 1] = digits[digest[i] & 15];
  }
  hash[IDM_HASH_SIZE - 1] = '\0';
}

idm_status idm_file_hash_at(const idm_location *location, char hash[IDM_HASH_SIZE],
                            idm_error *opt_error)
{
  SHA2_CTX context;
  uint8_t block[1 << 14];
  ssize_t length = 0;
  int descriptor;
  const idm_status status = idm_location_open(location, &descriptor, opt_error);
  if (status != IDM_OK) return status;
  SHA256Init(&context);
  while ((length = read(descriptor, block, sizeof block)) > 0 || (length < 0 && errno == EINTR))
    if (length > 0) SHA256Update(&context, block, (size_t)length);
  close(descriptor);
  if (length < 0) return idm_fail(opt_error, IDM_INPUT, "cannot read '%s'", location->path);
  finish_digest(&context, hash);
  return IDM_OK;
}

idm_status idm_file_hash(const char *path, char hash[IDM_HASH_SIZE], idm_error *opt_error)
{
  idm_require(path, hash);
  const idm_location location = idm_location_of(path);
  return idm_file_hash_at(&location, hash, opt_error);
}

idm_status idm_files_hash(const char *paths, char hash[IDM_HASH_SIZE], idm_error *opt_error)
{
  idm_require(paths, hash);
  if (!strchr(paths, '\n')) return idm_file_hash(paths, hash, opt_error);
  size_t count = 0;
  char **path = idm_texts_split(paths, &count);
  idm_status status = path ? IDM_OK : idm_fail_memory(opt_error);
  SHA2_CTX context;
  SHA256Init(&context);
  for (size_t i = 0; i < count && status == IDM_OK; i++) {
    char one[IDM_HASH_SIZE];
    status = idm_file_hash(path[i], one, opt_error);
    if (status == IDM_OK) SHA256Update(&context, (const uint8_t *)one, IDM_HASH_SIZE - 1);
  }
  if (status == IDM_OK) finish_digest(&context, hash);
  free(path);
  return status;
}
