/* Runs: folders written by `idm fit` and `idm learn`.
 *
 * netCDF and HDF5 are not thread-safe: no two calls of the netCDF functions below may run
 * concurrently, even for different files. */
#ifndef IDM_IO_RUN_H
#define IDM_IO_RUN_H

#include "base/door.h"
#include "idm/run.h"
#include "invert/cut.h"
#include "io/request.h"

/* --- state of a run -------------------------------------------------------------------------- */

/* A folder may come from an untrusted source. Its files are opened relative to the folder and must
 * be regular files: symbolic links, pipes, sockets, devices and folders of these names are
 * IDM_INPUT. The path of the folder itself may contain links. Functions that only read (idm_run_is,
 * _complete, _has, _read, _read_config, _assess) change nothing in it. */

/* Check that a run can be written to a folder: the first checks of idm_run_fit, idm_run_audit and
 * idm_dynamics_write_run. Changes nothing except that temporary files of processes that have ended
 * are removed. */
IDM_CHECKED idm_status idm_run_check(const char *folder, idm_run_mode mode,
                                     const idm_request *request, idm_error *opt_error);
/* True if a path leads to one of the files of a run. */
IDM_CHECKED bool idm_run_has(const char *run, const char *path);

/* Read problem, request and posterior of a run; arguments that are NULL are not returned. If the
 * posterior is requested and the fit used learnt dynamics, the problem has the central ones
 * (idm_dynamics_sets.central). All three files must belong together, including those that are not
 * requested. If a run was killed while it replaced another, the valid one is read, and a note names
 * the command that repairs the folder. Objects are owned by the caller. IDM_INPUT for damaged or
 * inconsistent files. */
IDM_CHECKED idm_status idm_run_read(const char *folder, idm_problem **opt_problem,
                                    idm_request *opt_request, idm_posterior **opt_posterior,
                                    idm_notes *opt_notes, idm_error *opt_error);
/* Read config.yaml of a run, an audit or a study as text, freed by the caller with free().
 * IDM_INPUT above `limit` bytes. */
IDM_CHECKED idm_status idm_run_read_config(const char *folder, size_t limit, char **ret_text,
                                           idm_error *opt_error);
/* Read problem and request of the unfinished run in a folder: one that was to overwrite the run
 * there and was stopped, else the run itself. A complete run that was killed before it was moved to
 * its place is moved first. */
IDM_CHECKED idm_status idm_run_read_unfinished(const char *folder, idm_problem **ret_problem,
                                               idm_request *request, idm_notes *opt_notes,
                                               idm_error *opt_error);
/* Assess a run: diagnostics recomputed from its draws, and the verdict of its summary.
 * *ret_assessment is owned by the caller. */
IDM_CHECKED idm_status idm_run_assess(const char *folder, const idm_posterior *posterior,
                                      idm_assessment **ret_assessment, idm_error *opt_error);

/* --- runs of dynamics ------------------------------------------------------------------------ */

/* Read draws of dynamics and the problem they were learnt for. idm_dynamics_of_draw returns the
 * dynamics of a draw; idm_problem_set_dynamics puts them into a problem. */
IDM_CHECKED idm_status idm_dynamics_read_run(const char *folder, idm_problem **ret_problem,
                                             idm_dynamics_draws *draws, idm_notes *opt_notes,
                                             idm_error *opt_error);

/* --- files of a run -------------------------------------------------------------------------- */

/* Write one chain in CmdStan's CSV layout: lp__, accept_stat__, those of stepsize__, treedepth__,
 * n_leapfrog__ (evaluations of the target), divergent__ and energy__ that the sampler provides,
 * then the quantities. Indices are numbers from 1, as required by the format
 * (utility[declare_healthy,healthy] is utility.1.1); comments in the file list the labels. */
IDM_CHECKED idm_status idm_posterior_write_stan(const idm_posterior *posterior, size_t chain,
                                                const char *path, idm_error *opt_error);

#endif
