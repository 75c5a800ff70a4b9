/* Functions of progress reports. */
#ifndef IDM_BASE_PROGRESS_H
#define IDM_BASE_PROGRESS_H

#include "base/arguments.h"
#include "idm/extension/progress.h"

/* --- progress ------------------------------------------------------------------------------ */

/* Status text of a computation; empty if it has none. Returns buffer. */
IDM_CHECKED const char *idm_progress_describe(const idm_progress_state *work, char *buffer,
                                              size_t size);
/* Create a checkpoint of *ret_length bytes; the caller frees *ret_bytes with free(). IDM_USAGE if
 * the computation has no checkpoints. */
IDM_CHECKED idm_status idm_progress_save(const idm_progress_state *work, char **ret_bytes,
                                         size_t *ret_length, idm_error *opt_error);

#endif
