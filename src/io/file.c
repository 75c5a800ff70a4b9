/* Whole files: bounded reads, and writes that appear whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/memory.h"
#include "idm/file.h"

struct idm_file {
  FILE *stream;
  char *path;      /* NULL for standard output */
  char *temporary; /* name written under until commit */
  int error;       /* first errno of a failed write */
};

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

/* Open a fresh file beside `path`, so that the rename stays within one file system. Not mkstemp:
 * the file must have the mode of an ordinary new one, and asking for the umask would change it for
 * other threads. */
static idm_status open_temporary(idm_file *file, const struct stat *opt_old, idm_error *opt_error)
{
  enum { attempts = 1000 };
  const size_t size = strlen(file->path) + 48;
  file->temporary = malloc(size);
  if (!file->temporary) return idm_fail_memory(opt_error);
  int descriptor = -1;
  for (int i = 0; i < attempts && descriptor < 0; i++) {
    snprintf(file->temporary, size, "%s.%ld-%d.tmp", file->path, (long)getpid(), i);
    descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
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

idm_status idm_file_create(const char *path, idm_file **ret_file, idm_error *opt_error)
{
  idm_require(path, ret_file);
  *ret_file = NULL;
  idm_file *file = idm_new(1, sizeof *file);
  if (!file) return idm_fail_memory(opt_error);
  idm_status status = IDM_OK;
  struct stat info;
  bool exists = false;
  if (strcmp(path, "-") == 0) {
    file->stream = stdout;
  } else if (!(file->path = idm_text_copy(path, strlen(path)))) {
    status = idm_fail_memory(opt_error);
  } else if ((exists = stat(path, &info) == 0) && !S_ISREG(info.st_mode)) {
    /* A device or a pipe cannot be replaced by a rename: write to it directly. */
    file->stream = fopen(path, "wb");
    if (!file->stream)
      status = idm_fail(opt_error, IDM_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
  } else {
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
  va_list arguments;
  va_start(arguments, format);
  errno = 0;
  if (vfprintf(file->stream, format, arguments) < 0) note_failure(file);
  va_end(arguments);
}

idm_status idm_file_commit(idm_file *file, idm_error *opt_error)
{
  idm_require(file);
  errno = 0;
  if (fflush(file->stream) != 0) note_failure(file);
  if (file->temporary && fsync(fileno(file->stream)) != 0) note_failure(file);
  if (file->stream != stdout && fclose(file->stream) != 0) note_failure(file);
  file->stream = NULL;
  if (!file->error && file->temporary && rename(file->temporary, file->path) != 0)
    note_failure(file);
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
