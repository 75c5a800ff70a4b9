/* Studies: fits, audits and learnt dynamics in folders, from the first file to the last. */
#ifndef IDM_STUDY_H
#define IDM_STUDY_H

#include "idm/audit_run.h"
#include "idm/classes.h"
#include "idm/learn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- fits ----------------------------------------------------------------------------------- */

/* What a fit found. Zero-initialise. */
typedef struct idm_run {
  idm_posterior *posterior; /* NULL where it was stopped before the first draw */
  idm_assessment *assessment;
  idm_projection projection;
  bool stopped; /* before it was done */
} idm_run;
IDM_API void idm_run_clear(idm_run *run);

/* Fit into a folder: config.yaml, run.nc, summary.json, chain-N.csv where asked for, and until it
 * is done a checkpoint every few seconds. The problem is bound to the data. To resume, problem and
 * request are those of idm_run_read_unfinished, and the draws are bit for bit those of a run that
 * was never stopped. Where opt_progress stops it, what is there is written, `stopped` is set and
 * the status is IDM_UNTRUSTED. A fit that fails leaves nothing behind, unless there are draws or a
 * checkpoint, or it was resumed.
 *
 * Draws are written before they are looked at: where that is stopped the run can be resumed, and
 * where it fails by the numbers the summary says so, and that nothing is to be trusted.
 *
 * A run is overwritten once the new one is whole. Until then it is made in a folder within, and
 * whatever becomes of the process, the old run or the new one is whole in `folder`. Whatever else
 * lies there stays; a folder without a run, but with something else in it, is IDM_USAGE, as is an
 * output that the request reads. Only one process at a time writes into a folder: others are
 * IDM_SYSTEM. */
IDM_API idm_status idm_run_fit(const char *folder, idm_run_mode mode, const idm_problem *problem,
                               const idm_data *data, const idm_request *request,
                               idm_progress opt_progress, void *context, idm_run *run,
                               idm_notes *opt_notes, idm_error *opt_error);
/* --- dynamics ------------------------------------------------------------------------------- */

/* Draw dynamics (idm_learn_draw_monitored) in a folder, with a checkpoint every few seconds.
 * Stopped (IDM_UNTRUSTED) or killed, the same call goes on with IDM_RUN_RESUME.
 * idm_dynamics_write_run, with IDM_RUN_RESUME, makes a run of what it leaves. */
IDM_API idm_status idm_dynamics_draw_run(const char *folder, idm_run_mode mode,
                                         const idm_iohmm *learner, const idm_problem *problem,
                                         const idm_modes *modes, const idm_request *request,
                                         const idm_learn_settings *settings,
                                         idm_progress opt_progress, void *context,
                                         idm_dynamics_draws *draws, idm_error *opt_error);
/* Keep draws of dynamics (idm_dynamics_posterior) as a run: config.yaml holds the problem with the
 * dynamics learnt, and is a problem file itself. The assessment is of the draws, and of the fit of
 * `problem`, which has a mode of the dynamics, to the observations. */
IDM_API idm_status idm_dynamics_write_run(const char *folder, idm_run_mode mode,
                                          const idm_problem *problem, const idm_data *data,
                                          const idm_request *request, idm_posterior *posterior,
                                          idm_assessment **ret_assessment, idm_error *opt_error);
/* --- audits --------------------------------------------------------------------------------- */

/* Audit into a folder, as idm_run_fit does. An audit that is stopped or fails leaves nothing
 * behind; it cannot be resumed. */
IDM_API idm_status idm_run_audit(const char *folder, idm_run_mode mode, const idm_problem *problem,
                                 const idm_data *data, const idm_audit_request *request,
                                 idm_progress opt_progress, void *context, idm_audit **ret_audit,
                                 idm_notes *opt_notes, idm_error *opt_error);
/* summary.json; "-": standard output. */
IDM_API idm_status idm_audit_write(const idm_audit *audit, const char *path, idm_error *opt_error);

/* --- classes -------------------------------------------------------------------------------- */

/* Make a problem one of the class: its planner, and what is free. A problem that frees the same
 * blocks keeps its own entries and priors; else they are the default ones, and where dynamics are
 * the agent's own it has one model of them, which begins as the environment. IDM_INPUT where the
 * class is of observed states, and the problem's are not. */
IDM_API idm_status idm_class_apply(const idm_class *of, idm_problem *problem, idm_error *opt_error);

#ifdef __cplusplus
}
#endif

#endif
