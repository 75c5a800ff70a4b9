/* Runs: the folders of `idm fit`, `idm audit` and `idm learn`.
 *
 * netCDF and HDF5 are not safe to use from several threads: no two calls of functions that read or
 * write run.nc may run at the same time, whatever the folder. */
#ifndef IDM_RUN_H
#define IDM_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "idm/fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happens to a run that is in the folder. */
typedef enum idm_run_mode {
  IDM_RUN_NEW,      /* a folder that holds no run */
  IDM_RUN_RESUME,   /* continue the run in the folder */
  IDM_RUN_OVERWRITE /* replace the run in the folder, if there is one */
} idm_run_mode;

/* Fit files into a folder, as `idm fit` does: config.yaml, run.nc, summary.json, and a checkpoint
 * every few seconds until the fit is done. With IDM_RUN_RESUME the inputs are those of config.yaml,
 * and the draws are bit for bit those of a run that was never stopped; problem_path and data_path
 * are not read. The watch of the settings may stop the fit: IDM_UNTRUSTED, and what was drawn is
 * kept. The run that is replaced stays until the new one is complete. IDM_USAGE where the folder
 * holds something else, IDM_SYSTEM where another process writes into it. */
IDM_API idm_status idm_run_create(const char *folder, idm_run_mode mode, const char *problem_path,
                                  const char *const *data_path, size_t count,
                                  const idm_settings *settings, idm_posterior **ret_posterior,
                                  idm_notes *opt_notes, idm_error *opt_error);

/* Load a run of a fit: its problem and its answer with the verdict; results that are not needed are
 * NULL. A folder may come from a stranger: its files must be regular files, and nothing in it
 * changes. */
IDM_API idm_status idm_run_load(const char *folder, idm_problem **opt_problem,
                                idm_posterior **opt_posterior, idm_notes *opt_notes,
                                idm_error *opt_error);

/* True if a path is a folder that may hold a run. */
IDM_API bool idm_run_is(const char *path);
/* True if the run is complete: nothing is left to resume. */
IDM_API bool idm_run_complete(const char *run);

#ifdef __cplusplus
}
#endif
#endif
