/* Run a fit in a folder: begin, stop, resume and finish it.
 *
 * Contents: drawing · assessment · fitting */
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text.h"
#include "idm/fit.h"
#include "invert/assess.h"
#include "invert/clone.h"
#include "invert/joint/joint.h"
#include "invert/people.h"
#include "invert/people/people.h"
#include "invert/posterior.h"
#include "io/file.h"
#include "io/run/folder.h"
#include "io/run/netcdf.h"

void idm_run_clear(idm_run *run)
{
  if (!run) return;
  idm_posterior_destroy(run->posterior);
  idm_assessment_destroy(run->assessment);
  *run = (idm_run){0};
}

/* A fit under way. */
typedef struct fit_job {
  idm_run_writer folder;
  const idm_problem *problem;
  const idm_data *data;
  const idm_request *request;
  idm_refinement refinement; /* of the lattice */
  idm_problem refined;       /* the problem with that lattice */
  idm_problem
      *clone; /* the same with the dynamics at the centre of the learnt ones; NULL without them */
  idm_checkpointer checkpointer;
  uint64_t label;
  idm_timestamp began; /* time at which the current answer was begun */
  bool incomplete;     /* the draws were stopped */
} fit_job;

/* --- drawing -------------------------------------------------------------------------------- */

/* The monitor of the work: with checkpoints in the folder, or of a fit in memory without. */
static bool watch_in_memory(void *context, const idm_progress_state *work)
{
  fit_job *f = context;
  if (idm_watcher_progress(f->checkpointer.context, work)) f->checkpointer.stop_requested = true;
  return f->checkpointer.stop_requested;
}

static idm_fit_monitor watch_of(fit_job *f)
{
  if (f->folder.work) return idm_checkpointer_watch(&f->checkpointer, f->label);
  return (idm_fit_monitor){.progress = watch_in_memory, .context = f, .label = f->label};
}

static idm_status write_config(const fit_job *f, idm_error *opt_error)
{
  char path[IDM_PATH_SIZE];
  idm_request *kept = malloc(sizeof *kept);
  if (!kept) return idm_fail_memory(opt_error);
  *kept = *f->request;
  idm_request_make_absolute(kept);
  const idm_location location = idm_folder_location(f->folder.work, IDM_FILE_CONFIG, path);
  const idm_status status = idm_request_write_at(f->problem, kept, &location, opt_error);
  free(kept);
  return status;
}

/* Whether the request has people with their own numbers. */
static bool is_of_people(const idm_request *request)
{
  return request->by[0] || request->each[0];
}

/* Time limit of the checks, in seconds, given the time that the answer took. */
static double check_seconds(const fit_job *f)
{
  return idm_check_effort_seconds(f->request->settings.checks, idm_seconds_worked(f->began));
}

/* Store log-likelihoods that are integrated over people. */
static idm_status integrate(const fit_job *f, const idm_design *design, const idm_people *people,
                            const idm_fit_monitor *watcher, idm_posterior *p, idm_notes *opt_notes,
                            idm_error *opt_error)
{
  const idm_fit_settings *settings = &f->request->settings;
  idm_integrated *integrated = NULL;
  if (settings->keep == IDM_KEEP_NOTHING) return IDM_OK;
  const idm_status status =
      idm_people_integrate(f->problem, f->data, design, people, settings, watcher, check_seconds(f),
                           &integrated, opt_notes, opt_error);
  if (!integrated) return status;
  p->integrated = integrated->log_likelihood;
  p->integrated_error = integrated->error;
  free(integrated);
  return IDM_OK;
}

/* Draw a population. */
static idm_status draw_population(const fit_job *f, const idm_fit_monitor *watcher, idm_run *run,
                                  idm_notes *opt_notes, idm_error *opt_error)
{
  const idm_fit_settings *settings = &f->request->settings;
  size_t models = 0;
  char **model = idm_texts_split(f->request->model, &models);
  const idm_design_request stop_requested = {f->request->by, (const char *const *)model, models};
  idm_design *design = NULL;
  idm_people *people = NULL;
  idm_status status =
      model ? idm_design_create(f->problem, f->data, &stop_requested, &design, opt_notes, opt_error)
            : idm_fail_memory(opt_error);
  if (status == IDM_OK)
    status = idm_people_fit(f->problem, f->data, design, settings, watcher, &people, opt_notes,
                            opt_error);
  if (status == IDM_OK)
    status = idm_people_posterior(f->problem, design, people, settings, &run->posterior, opt_error);
  if (status == IDM_OK)
    status = integrate(f, design, people, watcher, run->posterior, opt_notes, opt_error);
  if (status == IDM_OK)
    status =
        idm_people_assess(f->problem, f->data, design, people, run->posterior, settings->threads,
                          check_seconds(f), &run->assessment, &run->projection, opt_error);
  idm_people_destroy(people);
  idm_design_destroy(design);
  free(model);
  return status;
}

/* Draw people, with their assessment, which needs results that are not kept. */
static idm_status draw_people(const fit_job *f, const idm_fit_monitor *watcher, idm_run *run,
                              idm_notes *opt_notes, idm_error *opt_error)
{
  const idm_request *r = f->request;
  return r->by[0] ? draw_population(f, watcher, run, opt_notes, opt_error)
                  : idm_individuals_fit(f->problem, f->data, r->each, idm_inverse_find(r->inverse),
                                        &r->settings, watcher, &run->posterior, &run->assessment,
                                        &run->projection, opt_error);
}

/* An interrupted fit of people is not trusted. */
static void fail_interrupted(idm_run *run)
{
  run->assessment->trusted = false;
  idm_check_test(&run->assessment->checks, IDM_CHECK_COMPLETE, 1);
  idm_notes_add(&run->assessment->failures, "%s",
                "the fit was interrupted; continue with `idm fit --resume`");
}

/* Draw over learnt dynamics: jointly with them where possible, else given each of several draws. */
static idm_status draw_over_dynamics(fit_job *f, const idm_inverse *inverse,
                                     const idm_fit_monitor *watcher, idm_run *run,
                                     idm_notes *opt_notes, idm_error *opt_error)
{
  idm_problem *learnt = NULL;
  idm_dynamics_draws draws;
  idm_status status =
      idm_dynamics_read_for(f->request->dynamics, f->problem, &learnt, &draws, opt_error);
  if (status != IDM_OK) return status;
  const idm_cut_draws cut = {learnt, &draws, f->request->dynamics_draws};
  if (inverse == idm_inverse_find("bayes"))
    status = idm_joint_fit(f->problem, f->data, &f->request->settings, &cut, watcher,
                           &run->posterior, opt_notes, opt_error);
  if (status == IDM_OK && !run->posterior)
    status = idm_cut_fit(f->problem, f->data, inverse, &f->request->settings, &cut, watcher,
                         &run->posterior, opt_notes, opt_error);
  if (status == IDM_OK) status = idm_problem_clone(f->problem, &f->clone, opt_error);
  if (status == IDM_OK) status = idm_dynamics_apply_central(run->posterior, f->clone, opt_error);
  idm_dynamics_draws_clear(&draws);
  idm_problem_destroy(learnt);
  return status;
}

/* Draw, and record whether it was stopped. */
static idm_status draw(fit_job *f, long again, idm_run *run, idm_notes *opt_notes,
                       idm_error *opt_error)
{
  idm_fit_settings settings = f->request->settings;
  const idm_inverse *inverse = idm_inverse_find(f->request->inverse);
  idm_fit_monitor watcher = watch_of(f);
  idm_status status = IDM_OK;
  settings.again = again;
  if (again) watcher.checkpoint = NULL;
  f->began = idm_timestamp_now();
  f->checkpointer.saved = f->began.wall_time;
  if (is_of_people(f->request))
    status = draw_people(f, &watcher, run, opt_notes, opt_error);
  else if (f->request->dynamics[0])
    status = draw_over_dynamics(f, inverse, &watcher, run, opt_notes, opt_error);
  else
    status = idm_inverse_fit(inverse, f->problem, f->data, &settings, &watcher, &run->posterior,
                             opt_notes, opt_error);
  const bool partial = run->posterior && run->posterior->answer == IDM_POSTERIOR &&
                       run->posterior->draws < (size_t)settings.draws;
  const bool without_some = run->assessment && run->assessment->interrupted;
  run->stopped =
      f->checkpointer.stop_requested && (status == IDM_UNTRUSTED || partial || without_some);
  f->incomplete = run->stopped;
  if (run->posterior) run->posterior->request = f->label;
  if (run->posterior && run->assessment)
    run->posterior->resolution = idm_lattice_resolution(f->problem);
  if (run->assessment && run->stopped) fail_interrupted(run);
  if (f->checkpointer.status == IDM_OK) return status;
  if (opt_error) *opt_error = f->checkpointer.error;
  return f->checkpointer.status;
}

/* Write the draws before the assessment, which takes time and may fail. */
static idm_status write_draws(const fit_job *f, const idm_posterior *p, idm_error *opt_error)
{
  char path[IDM_PATH_SIZE];
  char name[IDM_CHAIN_NAME];
  idm_location location = idm_folder_location(f->folder.work, IDM_FILE_POSTERIOR, path);
  idm_status status = idm_posterior_write_netcdf_at(p, f->problem, f->data, &location, opt_error);
  for (size_t i = 0; f->request->stan && i < p->chains && status == IDM_OK; i++) {
    location = idm_folder_location(f->folder.work, idm_chain_name(i, name), path);
    status = idm_posterior_write_stan_at(p, i, &location, opt_error);
  }
  return status;
}

/* --- assessment ------------------------------------------------------------------------------ */

/* Whether a failure would occur again in another attempt. */
static bool is_final(idm_status status)
{
  return status != IDM_OK && status != IDM_UNTRUSTED && status != IDM_MEMORY &&
         status != IDM_SYSTEM;
}

/* Assess the draws alone: without the checks that read the log, the answer is not trusted. */
static idm_status assess_draws(idm_run *run, const char *why, idm_error *opt_error)
{
  const idm_status status = idm_assess_draws(run->posterior, &run->assessment, opt_error);
  if (status != IDM_OK) return status;
  run->assessment->trusted = false;
  idm_checks_skip_log(&run->assessment->checks, "the log was not read");
  idm_check_test(&run->assessment->checks, IDM_CHECK_COMPLETE, 1);
  idm_notes_add(&run->assessment->failures, "%s", why);
  return IDM_OK;
}

/* Assess the draws of learnt dynamics that were used. The variance between few draws of the
 * dynamics adds to the error of a mean. */
static idm_status assess_dynamics(const char *folder, const idm_posterior *p, idm_assessment *a,
                                  idm_error *opt_error)
{
  idm_posterior *learnt = NULL;
  idm_status status = idm_run_read(folder, NULL, NULL, &learnt, NULL, opt_error);
  if (status == IDM_OK) status = idm_dynamics_assess(learnt, folder, p->dynamics, a, opt_error);
  idm_posterior_destroy(learnt);
  if (status != IDM_OK) return status;
  if (p->dynamics) idm_joint_check(p->dynamics, &a->checks, &a->remarks, &a->failures, &a->trusted);
  for (size_t i = 0; i < p->quantity.count && p->cuts > 1; i++)
    if (p->summarised[i]) {
      const bool open =
          idm_check_test_optional(&a->checks, IDM_CHECK_BETWEEN_DYNAMICS, a->between[i]);
      idm_notes_add(
          &a->remarks,
          "%.0f %% of the variance of %s lies between the %zu draws of the dynamics: with so few, "
          "its mean has a standard error of %.2f of its sd (see --dynamics-draws)%s",
          100 * a->between[i], p->quantity.name[i], p->cuts,
          sqrt(fmax(a->between[i], 0) / (double)p->cuts),
          open ? "; it depends on dynamics, and has no interval" : "");
    }
  return IDM_OK;
}

/* Assess the answer in the problem itself or, over learnt dynamics, in the problem with the central
 * ones. */
static idm_status assess_log(fit_job *f, idm_run *run, idm_error *opt_error)
{
  const idm_fit_monitor watch = {.progress = f->checkpointer.progress,
                                 .context = f->checkpointer.context,
                                 .check_seconds = check_seconds(f)};
  const idm_fit_settings *settings = &f->request->settings;
  if (!f->clone)
    return idm_assess_monitored(f->problem, f->data, run->posterior, settings->threads, &watch,
                                &run->assessment, opt_error);
  return idm_joint_assess(f->clone, f->data, idm_inverse_find(f->request->inverse), settings,
                          run->posterior, &watch, &run->assessment, opt_error);
}

static idm_status assess(fit_job *f, idm_run *run, idm_error *opt_error)
{
  idm_error error = {0};
  char why[sizeof error.message + 80];
  snprintf(why, sizeof why, "%s",
           f->folder.work ? "the fit was interrupted; continue with `idm fit --resume`, which also "
                            "runs the checks that read the log"
                          : "the checks that read the log were stopped; idm_assess runs them");
  idm_status status = idm_projection_measure_centre(
      f->clone ? f->clone : f->problem, run->posterior, f->data, &run->projection, &error);
  if (status == IDM_OK && !run->stopped) status = assess_log(f, run, &error);
  if (status == IDM_UNTRUSTED) run->stopped = true;
  if (is_final(status))
    snprintf(why, sizeof why, "the checks that read the log failed: %s", error.message);
  if (run->stopped || is_final(status))
    status = assess_draws(run, why, opt_error);
  else if (status != IDM_OK && opt_error)
    *opt_error = error;
  return status == IDM_OK && f->clone
             ? assess_dynamics(f->request->dynamics, run->posterior, run->assessment, opt_error)
             : status;
}

/* --- fitting -------------------------------------------------------------------------------- */

static idm_status fail_stopped(const fit_job *f, bool kept, idm_error *opt_error)
{
  const bool beside = f->folder.work != &f->folder.run;
  if (!kept && !idm_folder_has(f->folder.work, IDM_FILE_CHECKPOINT))
    return idm_fail(opt_error, IDM_UNTRUSTED,
                    "interrupted before there was anything to keep: nothing is written%s",
                    beside ? ", and the run to be replaced is unchanged" : "");
  return idm_fail(
      opt_error, IDM_UNTRUSTED,
      "interrupted; the draws made so far are saved%s: continue with `idm fit --resume -o %s`",
      beside ? ", and the run to be replaced is unchanged" : "", f->folder.run.path);
}

/* Choose the lattice by the likelihood of actions and continue with the problem on it. Fits to
 * preferences, and inverse planners without a likelihood, keep the given lattice. */
static idm_status refine(fit_job *f, idm_error *opt_error)
{
  idm_fit_monitor watcher = watch_of(f);
  watcher.checkpoint = NULL;
  const idm_inverse *inverse = idm_inverse_find(f->request->inverse);
  const idm_status status = f->data->preferences || (inverse && !idm_inverse_by_likelihood(inverse))
                                ? IDM_OK
                                : idm_refine(f->problem, f->data, &f->request->settings, &watcher,
                                             &f->refinement, opt_error);
  f->refined = *f->problem;
  if (f->refinement.resolution) f->refined.agent.resolution = f->refinement.resolution;
  f->problem = &f->refined;
  return status;
}

/* Draw (with `again` steps per draw unless that is 0), write and assess. *ret_retry_steps: steps
 * per draw of a further attempt; 0: none is needed. */
static idm_status attempt(fit_job *f, long again, idm_run *run, bool *ret_kept,
                          long *ret_retry_steps, idm_notes *notes, idm_error *opt_error)
{
  idm_status status = draw(f, again, run, notes, opt_error);
  if (status == IDM_OK && f->folder.work) status = write_draws(f, run->posterior, opt_error);
  *ret_kept = *ret_kept || status == IDM_OK;
  const bool is_assessed = run->assessment; /* people are assessed with their draws */
  if (status == IDM_OK && !is_assessed) status = assess(f, run, opt_error);
  /* A fit in a folder can be resumed; in memory the answer that is complete is returned. */
  const bool stopped_in_memory = !f->folder.work && f->checkpointer.stop_requested;
  *ret_retry_steps =
      status == IDM_OK && !is_assessed && !f->clone && !run->stopped && !stopped_in_memory
          ? idm_assess_redraw_thin(&f->request->settings, run->posterior, run->assessment)
          : 0;
  return status;
}

/* Repeat attempts until none is needed; the notes are those of the last attempt. */
static idm_status find_posterior(fit_job *f, idm_run *run, bool *ret_kept, idm_notes *opt_notes,
                                 idm_error *opt_error)
{
  idm_notes notes = {0};
  long again = 0;
  idm_status status = IDM_OK;
  do {
    idm_notes_clear(&notes);
    idm_run_clear(run);
    status = attempt(f, again, run, ret_kept, &again, &notes, opt_error);
  } while (again);
  for (size_t i = 0; i < notes.count; i++) idm_notes_add(opt_notes, "%s", notes.text[i]);
  idm_notes_clear(&notes);
  return status;
}

/* Run the fit in a folder that exists. *ret_kept: the folder contains draws. */
static idm_status fit(fit_job *f, idm_run_mode mode, idm_run *run, bool *ret_kept,
                      idm_notes *opt_notes, idm_error *opt_error)
{
  char path[IDM_PATH_SIZE];
  idm_status status = mode == IDM_RUN_RESUME ? IDM_OK : write_config(f, opt_error);
  if (status == IDM_OK) status = refine(f, opt_error);
  if (status == IDM_OK) status = find_posterior(f, run, ret_kept, opt_notes, opt_error);
  if (status == IDM_OK) {
    idm_check_record(&run->assessment->checks, IDM_CHECK_COMPLETE, IDM_CHECK_PASSED, 0);
    run->assessment->refinement = f->refinement;
    if (f->refinement.steps) idm_refinement_note(&f->refinement, &run->assessment->remarks);
  }
  const idm_location summary = idm_folder_location(f->folder.work, IDM_FILE_SUMMARY, path);
  if (status == IDM_OK)
    status = idm_summary_write_at(run->posterior, run->assessment, &run->projection, &summary,
                                  opt_error);
  if (status == IDM_OK && !run->stopped) {
    idm_folder_remove(f->folder.work, IDM_FILE_CHECKPOINT);
    status = idm_run_commit(&f->folder, opt_error);
  }
  if (status == IDM_UNTRUSTED) run->stopped = true; /* while the lattice was chosen */
  if (run->stopped && (status == IDM_OK || status == IDM_UNTRUSTED))
    status = fail_stopped(f, *ret_kept || mode == IDM_RUN_RESUME, opt_error);
  return status;
}

idm_status idm_run_fit(const char *folder, idm_run_mode mode, const idm_problem *problem,
                       const idm_data *data, const idm_request *request, idm_progress opt_progress,
                       void *context, idm_run *run, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(folder, problem, data, request, run);
  fit_job f = {.problem = problem,
               .data = data,
               .request = request,
               .label = idm_request_label(problem, request)};
  bool kept = false;
  *run = (idm_run){0};
  idm_status status = idm_request_check(problem, request, opt_error);
  /* Check the inverse planner before any file is changed. */
  if (status == IDM_OK)
    status = idm_inverse_check(idm_inverse_find(request->inverse), problem, data, opt_error);
  if (status == IDM_OK) status = idm_run_begin(&f.folder, folder, mode, request, opt_error);
  if (status != IDM_OK) return status;
  status = idm_checkpointer_begin(&f.checkpointer, f.folder.work, mode, opt_progress, context,
                                  opt_error);
  if (status == IDM_OK) status = fit(&f, mode, run, &kept, opt_notes, opt_error);
  idm_checkpointer_end(&f.checkpointer);
  idm_clone_destroy(f.clone);
  idm_run_end(&f.folder, kept || mode == IDM_RUN_RESUME);
  return status;
}

/* --- verdicts of answers -------------------------------------------------------------------- */

/* The request of a fit over learnt dynamics; the settings of one that is unknown are those of its
 * draws. */
static idm_status request_of(const idm_posterior *p, int threads, idm_request *r,
                             idm_error *opt_error)
{
  const idm_answer_verdict *verdict = p->verdict;
  if (!verdict || !verdict->opt_request)
    return idm_fail(opt_error, IDM_USAGE,
                    "the answer is over learnt dynamics, and was not fitted or loaded from a run: "
                    "its request is unknown");
  *r = *verdict->opt_request;
  r->settings.threads = threads;
  return IDM_OK;
}

/* Check an answer over learnt dynamics: its problem has the central ones. */
static idm_status assess_over_dynamics(const idm_posterior *p, const idm_data *data, int threads,
                                       idm_assessment **ret_assessment, idm_error *opt_error)
{
  idm_request *r = malloc(sizeof *r);
  if (!r) return idm_fail_memory(opt_error);
  idm_status status = request_of(p, threads, r, opt_error);
  if (status == IDM_OK)
    status = idm_joint_assess(p->problem, data, idm_inverse_find(r->inverse), &r->settings, p, NULL,
                              ret_assessment, opt_error);
  if (status == IDM_OK) status = assess_dynamics(r->dynamics, p, *ret_assessment, opt_error);
  free(r);
  if (status == IDM_OK) return IDM_OK;
  idm_assessment_destroy(*ret_assessment);
  *ret_assessment = NULL;
  return status;
}

idm_status idm_assess(const idm_posterior *posterior, const idm_data *data, int threads,
                      idm_assessment **ret_assessment, idm_error *opt_error)
{
  idm_require(posterior, data, ret_assessment);
  *ret_assessment = NULL;
  const idm_status status = idm_posterior_require_problem(posterior, opt_error);
  if (status != IDM_OK) return status;
  if (posterior->drawn)
    return assess_over_dynamics(posterior, data, threads, ret_assessment, opt_error);
  return idm_assess_monitored(posterior->problem, data, posterior, threads, NULL, ret_assessment,
                              opt_error);
}

/* --- in memory ------------------------------------------------------------------------------ */

/* Fit `problem`, which the class and the priors of a population change. */
static idm_status fit_in_memory(fit_job *f, const idm_settings *settings, idm_problem *problem,
                                idm_request *request, idm_run *run, idm_notes *opt_notes,
                                idm_error *opt_error)
{
  bool kept = false;
  *request = settings->audit.request;
  idm_status status = idm_request_complete(request, problem, opt_error);
  if (status == IDM_OK && request->by[0])
    status = idm_population_set_priors(problem, opt_notes, opt_error);
  f->problem = problem;
  f->request = request;
  f->label = idm_request_label(problem, request);
  if (status == IDM_OK)
    status = idm_inverse_check(idm_inverse_find(request->inverse), problem, f->data, opt_error);
  if (status == IDM_OK) status = refine(f, opt_error);
  if (status == IDM_OK) status = find_posterior(f, run, &kept, opt_notes, opt_error);
  if (status == IDM_UNTRUSTED || (status == IDM_OK && f->incomplete))
    return idm_fail(opt_error, IDM_UNTRUSTED, "the fit was stopped by the watch of its settings");
  if (status == IDM_OK) {
    /* `stopped`: in the checks, after the last draw; the verdict contains it. */
    if (!run->stopped)
      idm_check_record(&run->assessment->checks, IDM_CHECK_COMPLETE, IDM_CHECK_PASSED, 0);
    run->assessment->refinement = f->refinement;
    if (f->refinement.steps) idm_refinement_note(&f->refinement, &run->assessment->remarks);
  }
  return status;
}

idm_status idm_run_take_answer(idm_run *run, idm_problem **problem, const idm_request *request,
                               idm_posterior **ret_posterior, idm_error *opt_error)
{
  idm_status status = idm_posterior_attach(run->posterior, run->assessment,
                                           request->dynamics[0] ? request : NULL, opt_error);
  run->assessment = NULL;
  if (status != IDM_OK) return status;
  status = idm_posterior_adopt(run->posterior, *problem, opt_error);
  *problem = NULL;
  if (status != IDM_OK) return status;
  *ret_posterior = run->posterior;
  run->posterior = NULL;
  return IDM_OK;
}

idm_status idm_fit(const idm_problem *problem, const idm_data *data, const idm_settings *settings,
                   idm_posterior **ret_posterior, idm_notes *opt_notes, idm_error *opt_error)
{
  idm_require(problem, data, settings, ret_posterior);
  *ret_posterior = NULL;
  idm_watcher watcher = settings->watcher;
  fit_job f = {.data = data,
               .checkpointer = {.progress = idm_watcher_progress, .context = &watcher}};
  idm_run run = {0};
  idm_problem *own = NULL;
  idm_request *request = malloc(sizeof *request);
  idm_status status = request ? IDM_OK : idm_fail_memory(opt_error);
  if (status == IDM_OK) status = idm_problem_copy(problem, &own, opt_error);
  if (status == IDM_OK)
    status = fit_in_memory(&f, settings, own, request, &run, opt_notes, opt_error);
  if (status == IDM_OK) status = idm_run_take_answer(&run, &own, request, ret_posterior, opt_error);
  idm_run_clear(&run);
  idm_clone_destroy(f.clone);
  idm_problem_destroy(own);
  free(request);
  return status;
}
