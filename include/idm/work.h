/* Work under way: watched, stopped, and gone on with from a checkpoint. */
#ifndef IDM_WORK_H
#define IDM_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Work under way, as whoever does it shows it. Valid during a call of idm_progress. */
typedef struct idm_progress_state {
  double done; /* share of it, 0 to 1 */
  const void *content;
  /* A few words on how it goes. May take a while: asked for when they are shown. */
  void (*describe)(const void *content, char *buffer, size_t size);
  /* All of it so far as bytes for the caller, to go on from; NULL where there is no such thing. */
  idm_status (*save)(const void *content, char **ret_bytes, size_t *ret_length,
                     idm_error *opt_error);
} idm_progress_state;
/* Returns buffer. */
IDM_API const char *idm_progress_describe(const idm_progress_state *work, char *buffer,
                                          size_t size);
/* A checkpoint. IDM_USAGE where the work has none. */
IDM_API idm_status idm_progress_save(const idm_progress_state *work, char **ret_bytes,
                                     size_t *ret_length, idm_error *opt_error);

/* Watches work, on the thread that asked for it, several times a second and once at the end. Return
 * true to stop soon, with what is there. */
typedef bool (*idm_progress)(void *context, const idm_progress_state *work);

/* Someone who watches a fit. All may be NULL. */
typedef struct idm_fit_monitor {
  idm_progress progress;
  void *context;
  const char *checkpoint; /* of idm_progress_save, to go on from */
  size_t checkpoint_length;
  const char *checkpoint_file; /* its name in messages */
  uint64_t label;              /* of the request, in checkpoints */
  double check_seconds; /* time limit of the checks that read the log; 0: none; below 0: these
                           checks are left out */
} idm_fit_monitor;

#ifdef __cplusplus
}
#endif
#endif
