/* Whole-file input and atomic output. */
#ifndef IDM_FILE_H
#define IDM_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read a file into a NUL-terminated buffer, which the caller frees with free(). *ret_length
 * excludes the NUL. IDM_INPUT for files larger than `limit` bytes. Path "-" is standard input. */
IDM_API idm_status idm_file_read(const char *path, size_t limit, char **ret_text,
                                 size_t *ret_length, idm_error *opt_error);

/* True if two paths lead to the same file, also through links. */
IDM_API bool idm_file_same(const char *a, const char *b);
/* Check that a file may be written. IDM_USAGE if it is one of the `count` inputs; IDM_SYSTEM if the
 * file or its folder is read-only. Path "-" is always accepted. */
IDM_API idm_status idm_file_check_output(const char *path, const char *const *opt_inputs,
                                         size_t count, idm_error *opt_error);
/* Remove temporary files of `path` that were left by processes that have ended. */
IDM_API void idm_file_sweep(const char *path);

/* A file that is written atomically: first under a temporary name, then renamed by idm_file_commit.
 * If the path is a symbolic link, the link stays and its target is replaced. Path "-" is standard
 * output. */
typedef struct idm_file idm_file;
/* Open a file for writing. IDM_SYSTEM if the temporary file cannot be created. */
IDM_API idm_status idm_file_create(const char *path, idm_file **ret_file, idm_error *opt_error);
/* Write to the file. Errors are stored and returned by idm_file_commit. */
IDM_API void idm_file_printf(idm_file *file, const char *format, ...) IDM_PRINTF(2, 3);
/* Write `length` bytes to the file. Errors are stored and returned by idm_file_commit. */
IDM_API void idm_file_write(idm_file *file, const char *bytes, size_t length);
/* Flush, rename and free the file. IDM_SYSTEM if any write failed; the temporary file is then
 * removed. */
IDM_API idm_status idm_file_commit(idm_file *file, idm_error *opt_error);
/* Discard the file and free it. Accepts NULL. */
IDM_API void idm_file_abandon(idm_file *file);

/* SHA-256 of a file in hexadecimal, NUL-terminated. IDM_SYSTEM or IDM_INPUT if the file cannot be
 * read. */
enum { IDM_HASH_SIZE = 65 };
IDM_API idm_status idm_file_hash(const char *path, char hash[IDM_HASH_SIZE], idm_error *opt_error);
/* SHA-256 of a list of paths, separated by line ends. One path: hash of the file. Several paths:
 * hash of the concatenated hashes of the files. */
IDM_API idm_status idm_files_hash(const char *paths, char hash[IDM_HASH_SIZE],
                                  idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
