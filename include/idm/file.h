/* Whole files: read at once, and written so that they appear whole or not at all. */
#ifndef IDM_FILE_H
#define IDM_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read a file into a NUL-terminated buffer; files above `limit` bytes are refused. "-" is standard
 * input. */
IDM_API idm_status idm_file_read(const char *path, size_t limit, char **ret_text,
                                 size_t *ret_length, idm_error *opt_error);

/* Whether two paths lead to one file, by links or otherwise. */
IDM_API bool idm_file_same(const char *a, const char *b);
/* Whether a file may be written to: IDM_USAGE where it is one of the inputs, IDM_SYSTEM where it,
 * or a folder, is there and read-only. */
IDM_API idm_status idm_file_check_output(const char *path, const char *const *opt_inputs,
                                         size_t count, idm_error *opt_error);
/* Remove what processes that are no more left behind when they were writing `path`. */
IDM_API void idm_file_sweep(const char *path);

/* A file that appears whole or not at all: written under a temporary name, renamed at commit. A
 * link stays, and what it leads to is replaced. "-" is standard output. */
typedef struct idm_file idm_file;
IDM_API idm_status idm_file_create(const char *path, idm_file **ret_file, idm_error *opt_error);
/* Errors are sticky and come out at commit. */
IDM_API void idm_file_printf(idm_file *file, const char *format, ...) IDM_PRINTF(2, 3);
IDM_API void idm_file_write(idm_file *file, const char *bytes, size_t length);
/* Flush, rename, free. On failure nothing is left behind. */
IDM_API idm_status idm_file_commit(idm_file *file, idm_error *opt_error);
/* Drop what was written. Takes NULL. */
IDM_API void idm_file_abandon(idm_file *file);

/* A file's SHA-256 in hexadecimal. */
enum { IDM_HASH_SIZE = 65 };
IDM_API idm_status idm_file_hash(const char *path, char hash[IDM_HASH_SIZE], idm_error *opt_error);
/* The same for files whose paths stand one a line: of one its own, of several that of their hashes,
 * one after another. */
IDM_API idm_status idm_files_hash(const char *paths, char hash[IDM_HASH_SIZE],
                                  idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
