/* Whole-file input and atomic output. */
#ifndef IDM_IO_FILE_H
#define IDM_IO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/arguments.h"
#include "idm/status.h"

/* Read a file into a NUL-terminated buffer, which the caller frees with free(). *ret_length
 * excludes the NUL. IDM_INPUT for files larger than `limit` bytes. Path "-" is standard input. */
IDM_CHECKED idm_status idm_file_read(const char *path, size_t limit, char **ret_text,
                                     size_t *ret_length, idm_error *opt_error);

/* True if two paths lead to the same file, also through links. */
IDM_CHECKED bool idm_file_same(const char *a, const char *b);
/* Check that a file may be written. IDM_USAGE if it is one of the `count` inputs; IDM_SYSTEM if the
 * file or its folder is read-only. Path "-" is always accepted. */
IDM_CHECKED idm_status idm_file_check_output(const char *path, const char *const *opt_inputs,
                                             size_t count, idm_error *opt_error);
/* Remove temporary files of `path` that were left by processes that have ended. */
IDM_CHECKED void idm_file_sweep(const char *path);

/* A file that is written atomically: first under a temporary name, then renamed by idm_file_commit.
 * If the path is a symbolic link, the link stays and its target is replaced. Path "-" is standard
 * output. */
typedef struct idm_file idm_file;
/* Open a file for writing. IDM_SYSTEM if the temporary file cannot be created. */
IDM_CHECKED idm_status idm_file_create(const char *path, idm_file **ret_file, idm_error *opt_error);
/* Write to the file. Errors are stored and returned by idm_file_commit. */
IDM_CHECKED void idm_file_printf(idm_file *file, const char *format, ...) IDM_PRINTF(2, 3);
/* Write `length` bytes to the file. Errors are stored and returned by idm_file_commit. */
IDM_CHECKED void idm_file_write(idm_file *file, const char *bytes, size_t length);
/* Flush, rename and free the file. IDM_SYSTEM if any write failed; the temporary file is then
 * removed. */
IDM_CHECKED idm_status idm_file_commit(idm_file *file, idm_error *opt_error);
/* Discard the file and free it. Accepts NULL. */
IDM_CHECKED void idm_file_abandon(idm_file *file);

/* SHA-256 of a file in hexadecimal, NUL-terminated. IDM_SYSTEM or IDM_INPUT if the file cannot be
 * read. */
enum { IDM_HASH_SIZE = 65 };
IDM_CHECKED idm_status idm_file_hash(const char *path, char hash[IDM_HASH_SIZE],
                                     idm_error *opt_error);
/* SHA-256 of a list of paths, separated by line ends. One path: hash of the file. Several paths:
 * hash of the concatenated hashes of the files. */
IDM_CHECKED idm_status idm_files_hash(const char *paths, char hash[IDM_HASH_SIZE],
                                      idm_error *opt_error);

/* --- within the library ----------------------------------------------------------------------- */

/* === place ================================================================================== */

/* Location of a file: a path, or a name in an open folder.
 *
 * A path is given by the user, and its links are followed. A folder may come from an untrusted
 * source: a name in it must be a regular file. The file is opened relative to the folder's
 * descriptor, without following links, so that nothing outside the folder is read or changed, and
 * without waiting for the other end of a pipe. */

typedef struct idm_location {
  int folder;       /* descriptor, borrowed; AT_FDCWD for a path */
  const char *name; /* relative to the folder; borrowed */
  const char *path; /* the file's name in messages; borrowed */
} idm_location;

/* Location of a path. */
idm_location idm_location_of(const char *path);
/* Returns true if a location is in a folder, where only regular files are accepted. */
bool idm_location_in_folder(const idm_location *location);
/* Returns true if a file of any kind has that name, a dangling link included. */
bool idm_location_exists(const idm_location *location);
/* IDM_INPUT, with the name and the kind, if a location in a folder is neither free nor a regular
 * file. Every path is accepted. */
idm_status idm_location_check(const idm_location *location, idm_error *opt_error);
/* IDM_INPUT if a path is a pipe or a socket; for a file that is read more than once. */
idm_status idm_location_check_reread(const idm_location *location, idm_error *opt_error);
/* Open a file for reading. */
idm_status idm_location_open(const idm_location *location, int *ret_descriptor,
                             idm_error *opt_error);
/* Open a file that is named in another file: it must be a regular file, also at a path. */
idm_status idm_location_open_named(const idm_location *location, int *ret_descriptor,
                                   idm_error *opt_error);
/* Kind of file of a mode: "a folder", "a symbolic link", ... */
const char *idm_file_kind_name(mode_t mode);

/* === file =================================================================================== */

/* Whole files at locations: the functions above, also for files in folders. */

/* As idm_file_read. */
idm_status idm_file_read_at(const idm_location *location, size_t limit, char **ret_text,
                            size_t *ret_length, idm_error *opt_error);
/* As idm_file_create. In a folder only a regular file is replaced; any other kind is IDM_INPUT. The
 * folder's descriptor is borrowed until the file is committed or abandoned. */
idm_status idm_file_create_at(const idm_location *location, idm_file **ret_file,
                              idm_error *opt_error);
/* As idm_file_sweep. */
void idm_file_remove_stale_at(int folder, const char *name);

/* === hash =================================================================================== */

/* SHA-256 of a file at a location; see idm_file_hash. */

idm_status idm_file_hash_at(const idm_location *location, char hash[IDM_HASH_SIZE],
                            idm_error *opt_error);

/* === stream ================================================================================= */

/* Bytes of a file, plain or compressed by gzip, as its first two bytes determine. */

typedef struct idm_stream idm_stream;

/* Read from a file, which the caller closes; `name` is borrowed for messages. */
idm_status idm_stream_open(FILE *file, const char *name, idm_stream **ret_stream,
                           idm_error *opt_error);
/* Read up to `size` bytes; fewer only at the end. IDM_INPUT if a compressed file is truncated,
 * damaged, or followed by other bytes. */
idm_status idm_stream_read(idm_stream *stream, char *to, size_t size, size_t *ret_received,
                           idm_error *opt_error);
/* NULL is allowed. */
void idm_stream_close(idm_stream *stream);

#endif
