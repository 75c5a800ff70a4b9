/* Studies in folders: fits, audits, learnt dynamics, and replications of `idm recover` and `idm
 * sbc`.
 *
 * Contents: study · replications */
#ifndef IDM_STUDY_STUDY_H
#define IDM_STUDY_STUDY_H

#include "base/arguments.h"
#include "idm/audit.h"
#include "idm/settings.h"
#include "invert/assess.h"
#include "invert/calibrate.h"
#include "invert/classes.h"
#include "io/log_file.h"
#include "io/run.h"
#include "learn/iohmm.h"

/* === study ================================================================================== */

/* Studies: fits, audits and learnt dynamics, with all files in a folder. */

/* --- fits ----------------------------------------------------------------------------------- */

/* Result of a fit. Zero-initialise. */
typedef struct idm_run {
  idm_posterior *posterior; /* NULL if stopped before the first draw */
  idm_assessment *assessment;
  idm_projection projection;
  bool stopped; /* stopped before completion */
} idm_run;
/* Free the content of a result. Accepts NULL. */
IDM_CHECKED void idm_run_clear(idm_run *run);

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
IDM_CHECKED idm_status idm_run_fit(const char *folder, idm_run_mode mode,
                                   const idm_problem *problem, const idm_data *data,
                                   const idm_request *request, idm_progress opt_progress,
                                   void *context, idm_run *run, idm_notes *opt_notes,
                                   idm_error *opt_error);
/* --- dynamics ------------------------------------------------------------------------------- */

/* Draw dynamics (idm_learn_draw_monitored) in a folder, with a checkpoint every few seconds. After
 * IDM_UNTRUSTED (stopped) or a crash, the same call with IDM_RUN_RESUME continues.
 * idm_dynamics_write_run, with IDM_RUN_RESUME, then converts the folder into a run. */
IDM_CHECKED idm_status idm_dynamics_draw_run(const char *folder, idm_run_mode mode,
                                             const idm_iohmm *learner, const idm_problem *problem,
                                             const idm_modes *modes, const idm_request *request,
                                             const idm_learn_settings *settings,
                                             idm_progress opt_progress, void *context,
                                             idm_dynamics_draws *draws, idm_error *opt_error);
/* Write draws of dynamics (idm_dynamics_posterior) as a run. config.yaml contains the problem with
 * the learnt dynamics, and is a valid problem file. The assessment covers the draws, and the fit of
 * `problem`, which has a mode of the dynamics, to the observations. *ret_assessment is owned by the
 * caller. */
IDM_CHECKED idm_status idm_dynamics_write_run(const char *folder, idm_run_mode mode,
                                              const idm_problem *problem, const idm_data *data,
                                              const idm_request *request, idm_posterior *posterior,
                                              idm_assessment **ret_assessment,
                                              idm_error *opt_error);
/* --- audits --------------------------------------------------------------------------------- */

/* Audit groups and write the results to a folder, as idm_run_fit. An audit that is stopped returns
 * IDM_UNTRUSTED and leaves a checkpoint, from which IDM_RUN_RESUME continues. An audit that fails
 * removes its files. *ret_audit is owned by the caller. */
IDM_CHECKED idm_status idm_run_audit(const char *folder, idm_run_mode mode,
                                     const idm_problem *problem, const idm_data *data,
                                     const idm_audit_request *request, idm_progress opt_progress,
                                     void *context, idm_audit **ret_audit, idm_notes *opt_notes,
                                     idm_error *opt_error);

/* --- classes -------------------------------------------------------------------------------- */

/* Change a problem to a class: its planner, and its free blocks. A problem that already frees the
 * same blocks keeps its entries and priors; otherwise the defaults apply, and if dynamics are free
 * the agent gets one model of them, which is initialised with the environment. IDM_INPUT if the
 * class requires observed states, and the states of the problem are hidden. */
IDM_CHECKED idm_status idm_class_apply(const idm_class *of, idm_problem *problem,
                                       idm_error *opt_error);

/* Notes on learnt dynamics: rows that the log never visits, and learning that did not converge. */
void idm_learn_note(const idm_learn_result *learnt, const idm_learn_settings *settings,
                    idm_notes *opt_notes);
/* A note where the models of an agent are nearly equal; `spread` is that of
 * idm_theta_models_distance. */
void idm_models_note(const idm_problem *problem, const double spread[2], idm_notes *opt_notes);

/* --- within the library ----------------------------------------------------------------------- */

/* Record in an assessment whether the draws of dynamics in a folder are trusted; where they are
 * not, add a failure, since an answer given these draws depends on them. A joint fit draws the
 * dynamics again: there, only a mode that the draws miss is a failure. */
idm_status idm_dynamics_assess(const idm_posterior *learnt, const char *folder, bool joint,
                               idm_assessment *assessment, idm_error *opt_error);

/* --- settings ------------------------------------------------------------------------------- */

/* The watch of settings. */
typedef struct idm_watcher {
  idm_watch watch; /* or NULL */
  void *context;
  bool stopped; /* the watch has returned true */
} idm_watcher;

struct idm_settings {
  idm_audit_request audit; /* the request of fits is its first part */
  idm_learn_settings learn;
  idm_calibration_settings calibration;
  idm_watcher watcher;
};

/* An idm_progress over a watcher, which is its context. */
bool idm_watcher_progress(void *watcher, const idm_progress_state *work);
/* Call the watch, if there is one. Returns true to stop. */
bool idm_watcher_call(void *watcher, double done);

/* --- logs ----------------------------------------------------------------------------------- */

/* idm_data_read_files, or idm_data_read_history. */
typedef idm_status idm_log_reader(const char *const *paths, size_t count,
                                  const idm_problem *problem, const idm_csv_options *options,
                                  idm_data **ret_data, idm_notes *opt_notes, idm_error *opt_error);
/* Read a log, set its cut points and utilities by column in the problem, and check the problem.
 * Paths and conditions on rows have one entry per line, as in a request. */
idm_status idm_log_read(idm_log_reader *read, const char *paths, const char *where,
                        idm_problem *problem, idm_csv_options options, idm_data **ret_data,
                        idm_notes *opt_notes, idm_error *opt_error);
/* The column of the people of a request; "" where there is no request, or it is of no people. */
const char *idm_request_people(const idm_request *opt_request);
/* Read the log that a run was fitted to, which must be unchanged. */
idm_status idm_run_read_log(idm_request *request, idm_problem *problem, idm_data **ret_data,
                            idm_notes *opt_notes, idm_error *opt_error);

/* --- answers -------------------------------------------------------------------------------- */

/* The verdict of an answer, and the request of its fit. */
typedef struct idm_answer_verdict {
  idm_assessment *assessment;
  idm_request *opt_request;
} idm_answer_verdict;

/* Attach the verdict of an answer, which it owns from then on, also on failure. */
idm_status idm_posterior_attach(idm_posterior *posterior, idm_assessment *assessment,
                                const idm_request *opt_request, idm_error *opt_error);
/* Give an answer the problem that was fitted, on its lattice and in the centre of its learnt
 * dynamics. The answer owns it from then on, also on failure. */
idm_status idm_posterior_adopt(idm_posterior *posterior, idm_problem *problem,
                               idm_error *opt_error);
/* The same for a copy of a problem. */
idm_status idm_posterior_adopt_copy(idm_posterior *posterior, const idm_problem *problem,
                                    idm_error *opt_error);
/* Make the answer of a result: its verdict, and the problem, which *problem no longer owns. */
idm_status idm_run_take_answer(idm_run *run, idm_problem **problem, const idm_request *request,
                               idm_posterior **ret_posterior, idm_error *opt_error);
/* IDM_USAGE for an answer without a problem. */
idm_status idm_posterior_require_problem(const idm_posterior *posterior, idm_error *opt_error);

/* --- requests ------------------------------------------------------------------------------- */

/* Make a request ready for a problem: its class, the hashes of the files that it names, and a check
 * of the whole. */
idm_status idm_request_complete(idm_request *request, idm_problem *problem, idm_error *opt_error);

/* === replications =========================================================================== */

/* Studies in folders: the replications of `idm recover -o` and `idm sbc -o`. */

/* Run the replications of a calibration that are not done. With a folder (created where it does not
 * exist), replications that an earlier call for the same request left in replications.jsonl are
 * read first, and results are saved every few seconds; config.yaml in the folder describes the
 * request. IDM_INPUT for replications of another request; IDM_USAGE for a folder with a run or
 * other files; IDM_SYSTEM for a folder that another process writes to. IDM_UNTRUSTED where
 * opt_progress stops it: the same call then continues. */
IDM_CHECKED idm_status idm_replications_run(idm_calibration *calibration, const char *opt_folder,
                                            idm_progress opt_progress, void *context,
                                            idm_error *opt_error);

/* Whether a folder contains replications of a study; false for NULL and where it cannot be read. */
IDM_CHECKED bool idm_replications_is(const char *folder);
/* Read the replications of a folder: the quantities, and the replications that are done. In
 * *ret_calibration, which is the caller's, `problem` is NULL, and of the settings only the number
 * of replications is set. IDM_INPUT where the folder contains no replications or the file is
 * damaged. */
IDM_CHECKED idm_status idm_replications_read(const char *folder, idm_calibration **ret_calibration,
                                             idm_error *opt_error);

#endif
