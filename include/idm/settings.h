/* Settings of fits, audits, learning and calibration, by name. */
#ifndef IDM_SETTINGS_H
#define IDM_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Settings. Each has a name, a range and a default, as the options of the command line. */
typedef struct idm_settings idm_settings;

/* Create settings with their defaults. */
IDM_API idm_status idm_settings_create(idm_settings **ret_settings, idm_error *opt_error);
/* Free settings; NULL is allowed. */
IDM_API void idm_settings_destroy(idm_settings *settings);

/* Set a value from its text. Names are those of config.yaml: "chains", "draws", "warmup", "seed",
 * "inverse", "sampler", "checks", "by", "each", "model", "where", ... of fits; "audit.by",
 * "audit.group", "audit.pool", "audit.people" of audits, which read the settings of fits as well;
 * "learn.NAME" of idm_learn_dynamics; "calibration.NAME" of idm_calibrate; and "threads" (0: all
 * processors). idm_settings_name lists them, and idm_settings_get returns defaults. "by" and "each"
 * are a covariate of the log, or "agent" or "trajectory". Lists
 * ("where", "model", "audit.group") have one entry per line. IDM_USAGE where the name is not known
 * or the value is out of range. */
IDM_API idm_status idm_settings_set(idm_settings *settings, const char *name, const char *value,
                                    idm_error *opt_error);

/* Write the value of a setting as text into buffer, cut to `size` bytes with the terminating 0.
 * Returns buffer; NULL where the name is not known. */
IDM_API const char *idm_settings_get(const idm_settings *settings, const char *name, char *buffer,
                                     size_t size);

/* Write the name of setting `index` into buffer. Returns buffer; NULL past the last. */
IDM_API const char *idm_settings_name(const idm_settings *settings, size_t index, char *buffer,
                                      size_t size);

/* Called several times per second, on the calling thread, with the share of the current stage
 * (the choice of the lattice, the draws, the checks) that is done, 0 to 1. Return true to stop: the
 * function returns IDM_UNTRUSTED, unless its result is complete by then. A fit is complete with its
 * last draw: stopped later, it returns the answer, whose verdict states which checks were not run.
 * A watch must return normally (no longjmp), and not use the objects of the call. */
typedef bool (*idm_watch)(void *context, double done);

/* Watch the work that is done with these settings. NULL: no longer. */
IDM_API void idm_settings_watch(idm_settings *settings, idm_watch opt_watch, void *context);

#ifdef __cplusplus
}
#endif
#endif
