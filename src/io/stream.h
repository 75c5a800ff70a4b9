/* Bytes of a file, plain or compressed by gzip: its first two bytes tell. */
#ifndef IDM_IO_LOG_STREAM_H
#define IDM_IO_LOG_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include "idm/status.h"

typedef struct idm_stream idm_stream;

/* Read from a file that stays the caller's; `name` is borrowed for messages. */
idm_status idm_stream_open(FILE *file, const char *name, idm_stream **ret_stream,
                           idm_error *opt_error);
/* Up to `size` bytes; fewer are the last. A file that is compressed and cut short, damaged, or
 * followed by something else is an error. */
idm_status idm_stream_read(idm_stream *stream, char *to, size_t size, size_t *ret_got,
                           idm_error *opt_error);
bool idm_stream_compressed(const idm_stream *stream);
/* Takes NULL. */
void idm_stream_close(idm_stream *stream);

#endif
