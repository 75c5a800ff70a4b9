/* Files: places, whole files, hashes and compressed streams.
 *
 * Contents: place · file · hash · stream */
#ifndef IDM_IO_FILE_H
#define IDM_IO_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "idm/file.h"
#include "idm/status.h"

/* === place ================================================================================== */

/* Where a file lies: at a path, or in a folder that is open.
 *
 * A path is the caller's own, and its links are followed. A folder may come from a stranger: a name
 * in it must be a regular file. It is opened relative to the folder's descriptor and without
 * following links, so that nothing outside the folder is read or changed, and opening it never
 * waits for the other end of a pipe. */

typedef struct idm_location {
  int folder;       /* descriptor, borrowed; AT_FDCWD for a path */
  const char *name; /* relative to the folder; borrowed */
  const char *path; /* the file's name in messages; borrowed */
} idm_location;

/* A path as it was given. */
idm_location idm_location_of(const char *path);
/* Whether a place is in a folder, so that only a regular file is accepted there. */
bool idm_location_in_folder(const idm_location *location);
/* Whether something has that name, a dangling link included. */
bool idm_location_exists(const idm_location *location);
/* IDM_INPUT, with the name and the kind, where a place in a folder is neither free nor a regular
 * file. Any path is accepted. */
idm_status idm_location_check(const idm_location *location, idm_error *opt_error);
/* IDM_INPUT where a path leads to a pipe or a socket, for a file that is read more than once. */
idm_status idm_location_check_reread(const idm_location *location, idm_error *opt_error);
/* Open a file for reading. */
idm_status idm_location_open(const idm_location *location, int *ret_descriptor,
                             idm_error *opt_error);
/* Open a file that another file names: a path too must lead to a regular file. */
idm_status idm_location_open_named(const idm_location *location, int *ret_descriptor,
                                   idm_error *opt_error);
/* What a mode describes: "a folder", "a symbolic link", ... */
const char *idm_file_kind_name(mode_t mode);

/* === file =================================================================================== */

/* Whole files at places: the functions of idm/file.h, for files in folders as well. */

/* As idm_file_read. */
idm_status idm_file_read_at(const idm_location *location, size_t limit, char **ret_text,
                            size_t *ret_length, idm_error *opt_error);
/* As idm_file_create. In a folder only a regular file is replaced: anything else is IDM_INPUT. The
 * folder's descriptor is borrowed until the file is committed or abandoned. */
idm_status idm_file_create_at(const idm_location *location, idm_file **ret_file,
                              idm_error *opt_error);
/* As idm_file_sweep. */
void idm_file_remove_stale_at(int folder, const char *name);

/* === hash =================================================================================== */

/* SHA-256 of a file at a place: see idm/file.h. */

idm_status idm_file_hash_at(const idm_location *location, char hash[IDM_HASH_SIZE],
                            idm_error *opt_error);

/* === stream ================================================================================= */

/* Bytes of a file, plain or compressed by gzip: its first two bytes tell. */

typedef struct idm_stream idm_stream;

/* Read from a file that stays the caller's; `name` is borrowed for messages. */
idm_status idm_stream_open(FILE *file, const char *name, idm_stream **ret_stream,
                           idm_error *opt_error);
/* Up to `size` bytes; fewer are the last. A file that is compressed and cut short, damaged, or
 * followed by something else is an error. */
idm_status idm_stream_read(idm_stream *stream, char *to, size_t size, size_t *ret_received,
                           idm_error *opt_error);
/* Takes NULL. */
void idm_stream_close(idm_stream *stream);

#endif
