/* Whole files: read at once, and written so that they appear whole or not at all. */
#ifndef IDM_FILE_H
#define IDM_FILE_H

#include <stddef.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read a file into a NUL-terminated buffer; files above `limit` bytes are refused. "-" is standard
 * input. */
IDM_API idm_status idm_file_read(const char *path, size_t limit, char **ret_text,
                                 size_t *ret_length, idm_error *opt_error);

/* A file that appears whole or not at all: written under a temporary name, renamed at commit.
 * "-" is standard output. */
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
enum { IDM_HASH = 65 };
IDM_API idm_status idm_file_hash(const char *path, char hash[IDM_HASH], idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
