/* A run: the folder that `idm fit` leaves behind, from its first file to its last.
 *
 * netCDF and HDF5 are not safe to use from several threads: no two calls of the netCDF functions
 * below may run at the same time, whatever the files. */
#ifndef IDM_RUN_H
#define IDM_RUN_H

#include "idm/cut.h"
#include "idm/request.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- the life of a run ---------------------------------------------------------------------- */

typedef enum idm_run_mode {
  IDM_RUN_NEW,      /* a folder that holds no run */
  IDM_RUN_RESUME,   /* go on with the run that is there */
  IDM_RUN_OVERWRITE /* in place of the run that may be there */
} idm_run_mode;

/* A folder may come from a stranger. Its files are opened relative to the folder and must be
 * regular files: links, pipes, sockets, devices and folders of their names are IDM_INPUT. The path
 * of the folder itself may lead through links. Functions that only read (idm_run_is, _complete,
 * _has, _read, _read_config, _assess) change nothing in it. */

/* Whether a path may be a run: a folder; and whether nothing is left to be done in it, nor in one
 * that was to take its place. */
IDM_API bool idm_run_is(const char *path);
IDM_API bool idm_run_complete(const char *run);
/* Whether a run may be written to a folder: the checks that idm_run_fit, idm_run_audit and
 * idm_dynamics_write_run begin with. Nothing is changed, but for temporary files of processes that
 * have ended. */
IDM_API idm_status idm_run_check(const char *folder, idm_run_mode mode, const idm_request *request,
                                 idm_error *opt_error);
/* Whether a path leads to one of the files that make a run. */
IDM_API bool idm_run_has(const char *run, const char *path);

/* The problem, the request, the posterior of a run; what is not wanted is NULL. With the posterior
 * of a fit over learnt dynamics, the problem has those that its answer is planned in
 * (idm_dynamics_sets.central). All three files must belong together, those that are not wanted as
 * well. Of a run that was killed while it replaced another, the one that counts is read, and a note
 * names the command that repairs the folder. */
IDM_API idm_status idm_run_read(const char *folder, idm_problem **opt_problem,
                                idm_request *opt_request, idm_posterior **opt_posterior,
                                idm_notes *opt_notes, idm_error *opt_error);
/* config.yaml of a run, an audit or a study as text; IDM_INPUT above `limit` bytes. */
IDM_API idm_status idm_run_read_config(const char *folder, size_t limit, char **ret_text,
                                       idm_error *opt_error);
/* What there is to resume: problem and request of a run that was to overwrite this one and was
 * stopped, or else of this one. A complete run that was killed on the way to its place is moved
 * there first. */
IDM_API idm_status idm_run_read_unfinished(const char *folder, idm_problem **ret_problem,
                                           idm_request *request, idm_notes *opt_notes,
                                           idm_error *opt_error);
/* Diagnostics of its draws, computed anew, and the verdict of its summary. */
IDM_API idm_status idm_run_assess(const char *folder, const idm_posterior *posterior,
                                  idm_assessment **ret_assessment, idm_error *opt_error);

/* --- runs of dynamics ----------------------------------------------------------------------- */

/* Read draws of dynamics, with the problem that they were learnt for. idm_dynamics_of_draw gives
 * the dynamics of a draw, and idm_problem_set_dynamics puts them into a problem. */
IDM_API idm_status idm_dynamics_read_run(const char *folder, idm_problem **ret_problem,
                                         idm_dynamics_draws *draws, idm_notes *opt_notes,
                                         idm_error *opt_error);

/* --- its files ------------------------------------------------------------------------------ */

/* Write a posterior as netCDF-4 in the layout of ArviZ's InferenceData: groups posterior,
 * unconstrained_posterior, sample_stats, log_likelihood (variable `choice`), prior, observed_data,
 * constant_data (blocks of theta that are clamped; NaN where one is inferred in part). The file
 * appears whole or not at all, holds no date (the same posterior gives the same bytes) and ends in
 * a checksum. It is made in memory first. opt_data NULL: no observed_data.
 *
 * A variable's attribute `long_name` is the exact name of its quantity; the variable has the same
 * name as far as netCDF allows ('/' is written %2F). */
IDM_API idm_status idm_posterior_write_netcdf(const idm_posterior *posterior,
                                              const idm_problem *problem, const idm_data *opt_data,
                                              const char *path, idm_error *opt_error);
/* Read back what the program itself needs: posterior, unconstrained_posterior, sample_stats and
 * attributes; log_likelihood, prior and data stay in the file. A file that is damaged, cut short,
 * or was changed by another program is IDM_INPUT. */
IDM_API idm_status idm_posterior_read_netcdf(const char *path, idm_posterior **ret_posterior,
                                             idm_error *opt_error);
/* One chain in CmdStan's CSV layout: lp__, accept_stat__, of stepsize__, treedepth__, n_leapfrog__
 * (evaluations of the target), divergent__ and energy__ those that the sampler has, then the
 * quantities. Indices are numbers from 1, as readers of the format expect
 * (utility[declare_healthy,healthy] is utility.1.1); comments say which is which. */
IDM_API idm_status idm_posterior_write_stan(const idm_posterior *posterior, size_t chain,
                                            const char *path, idm_error *opt_error);

#ifdef __cplusplus
}
#endif
#endif
