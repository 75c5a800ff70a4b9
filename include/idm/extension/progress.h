/* Progress, interruption and checkpoints of long computations. */
#ifndef IDM_EXTENSION_PROGRESS_H
#define IDM_EXTENSION_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* State of a computation, as passed to the progress callback. Valid during the call. */
typedef struct idm_progress_state {
  double done; /* fraction done, 0 to 1 */
  const void *content;
  /* Write a short status text. May be slow: call it only if the text is displayed. */
  void (*describe)(const void *content, char *buffer, size_t size);
  /* Serialise the complete state as a checkpoint, owned by the caller; NULL if there are no
   * checkpoints. */
  idm_status (*save)(const void *content, char **ret_bytes, size_t *ret_length,
                     idm_error *opt_error);
} idm_progress_state;

/* Progress callback, called on the caller's thread several times per second and once at the end.
 * Return true to stop soon with the results so far. */
typedef bool (*idm_progress)(void *context, const idm_progress_state *work);

/* Callbacks and checkpoint of a fit. All fields are optional. */
typedef struct idm_fit_monitor {
  idm_progress progress;
  void *context;
  const char *checkpoint; /* from idm_progress_save, to continue from; NULL: start anew */
  size_t checkpoint_length;
  const char *checkpoint_file; /* file name used in messages */
  uint64_t label;              /* label of the request, stored in checkpoints */
  double check_seconds; /* time limit of the checks that evaluate the log, in seconds; 0: none;
                           below 0: these checks are omitted */
} idm_fit_monitor;

#ifdef __cplusplus
}
#endif
#endif
