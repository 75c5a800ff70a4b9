/* Studies: fits, audits and learnt dynamics, with all files in a folder. */
#ifndef IDM_STUDY_H
#define IDM_STUDY_H

#include "idm/audit_run.h"
#include "idm/classes.h"
#include "idm/learn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- fits ----------------------------------------------------------------------------------- */

/* Result of a fit. Zero-initialise. */
typedef struct idm_run {
  idm_posterior *posterior; /* NULL if stopped before the first draw */
  idm_assessment *assessment;
  idm_projection projection;
  bool stopped; /* stopped before completion */
} idm_run;
/* Free the content of a result. Accepts NULL. */
IDM_API void idm_run_clear(idm_run *run);

/* Fit a problem to data and write the results to a folder: config.yaml, run.nc, summary.json,
 * optionally chain-N.csv, and during the fit a checkpoint every few seconds. The problem must be
 * bound to the data. With IDM_RUN_RESUME, problem and request must be those of
 * idm_run_read_unfinished; the draws are then bitwise equal to those of an uninterrupted run. If
 * opt_progress returns true, the results so far are written, `stopped` is set and the status is
 * IDM_UNTRUSTED. A failed fit removes its files, unless there are draws or a checkpoint, or it was
 * resumed.
 *
 * Draws are written before they are assessed. If the assessment is stopped, the run can be resumed;
 * if it fails numerically, the summary records this, and the result is not trusted.
 *
 * With IDM_RUN_OVERWRITE the new run is written to a subfolder and replaces the old one when it is
 * complete: at every time, also after a crash, `folder` contains a complete run, old or new. Other
 * files in the folder are kept. IDM_USAGE if the folder contains other files but no run, or an
 * output is an input of the request. Only one process may write to a folder at a time: IDM_SYSTEM
 * for others. */
IDM_API idm_status idm_run_fit(const char *folder, idm_run_mode mode, const idm_problem *problem,
                               const idm_data *data, const idm_request *request,
                               idm_progress opt_progress, void *context, idm_run *run,
                               idm_notes *opt_notes, idm_error *opt_error);
/* --- dynamics ------------------------------------------------------------------------------- */

/* Draw dynamics (idm_learn_draw_monitored) in a folder, with a checkpoint every few seconds. After
 * IDM_UNTRUSTED (stopped) or a crash, the same call with IDM_RUN_RESUME continues.
 * idm_dynamics_write_run, with IDM_RUN_RESUME, then converts the folder into a run. */
IDM_API idm_status idm_dynamics_draw_run(const char *folder, idm_run_mode mode,
                                         const idm_iohmm *learner, const idm_problem *problem,
                                         const idm_modes *modes, const idm_request *request,
                                         const idm_learn_settings *settings,
                                         idm_progress opt_progress, void *context,
                                         idm_dynamics_draws *draws, idm_error *opt_error);
/* Write draws of dynamics (idm_dynamics_posterior) as a run. config.yaml contains the problem with
 * the learnt dynamics, and is a valid problem file. The assessment covers the draws, and the fit of
 * `problem`, which has a mode of the dynamics, to the observations. *ret_assessment is owned by the
 * caller. */
IDM_API idm_status idm_dynamics_write_run(const char *folder, idm_run_mode mode,
                                          const idm_problem *problem, const idm_data *data,
                                          const idm_request *request, idm_posterior *posterior,
                                          idm_assessment **ret_assessment, idm_error *opt_error);
/* --- audits --------------------------------------------------------------------------------- */

/* Audit groups and write the results to a folder, as idm_run_fit. An audit that is stopped returns
 * IDM_UNTRUSTED and leaves a checkpoint, from which IDM_RUN_RESUME continues. An audit that fails
 * removes its files. *ret_audit is owned by the caller. */
IDM_API idm_status idm_run_audit(const char *folder, idm_run_mode mode, const idm_problem *problem,
                                 const idm_data *data, const idm_audit_request *request,
                                 idm_progress opt_progress, void *context, idm_audit **ret_audit,
                                 idm_notes *opt_notes, idm_error *opt_error);
/* Write summary.json of an audit; path "-" is standard output. */
IDM_API idm_status idm_audit_write(const idm_audit *audit, const char *path, idm_error *opt_error);

/* --- classes -------------------------------------------------------------------------------- */

/* Change a problem to a class: its planner, and its free blocks. A problem that already frees the
 * same blocks keeps its entries and priors; otherwise the defaults apply, and if dynamics are free
 * the agent gets one model of them, which is initialised with the environment. IDM_INPUT if the
 * class requires observed states, and the states of the problem are hidden. */
IDM_API idm_status idm_class_apply(const idm_class *of, idm_problem *problem, idm_error *opt_error);

#ifdef __cplusplus
}
#endif

#endif
