/* Runs of learnt dynamics: draws in a folder, their assessment, and their effect on the verdict of
 * answers that use them. */
#include "study/study.h"

#include "base/arguments.h"
#include "data/log.h"
#include "idm/learn.h"
#include "invert/assess.h"
#include "invert/assess/environment.h"
#include "invert/posterior.h"
#include "io/run/folder.h"
#include "io/run/netcdf.h"
#include "setting/model.h"

/* Label of a checkpoint of draws. */
static uint64_t label_of(const idm_problem *problem, const idm_request *request,
                         const idm_modes *modes, const idm_learn_settings *settings)
{
  uint64_t label =
      idm_fingerprint_fields(idm_request_label(problem, request), idm_learn_keys(), settings);
  for (size_t m = 0; m < modes->count; m++)
    label = idm_fingerprint_numbers(label, modes->mode[m]->start, modes->mode[m]->numbers);
  return label;
}

idm_status idm_dynamics_draw_run(const char *folder, idm_run_mode mode, const idm_iohmm *learner,
                                 const idm_problem *problem, const idm_modes *modes,
                                 const idm_request *request, const idm_learn_settings *settings,
                                 idm_progress opt_progress, void *context,
                                 idm_dynamics_draws *draws, idm_error *opt_error)
{
  idm_require(folder, learner, problem, modes, request, settings, draws);
  idm_run_writer run_writer;
  idm_checkpointer checkpointer;
  char path[IDM_PATH_SIZE];
  idm_status status = idm_run_begin(&run_writer, folder, mode, request, opt_error);
  if (status != IDM_OK) return status;
  const idm_location config = idm_folder_location(run_writer.work, IDM_FILE_CONFIG, path);
  status = idm_checkpointer_begin(&checkpointer, run_writer.work, mode, opt_progress, context,
                                  opt_error);
  if (status == IDM_OK) status = idm_request_write_at(problem, request, &config, opt_error);
  if (status == IDM_OK) {
    const idm_fit_monitor watch =
        idm_checkpointer_watch(&checkpointer, label_of(problem, request, modes, settings));
    status = idm_learn_draw_monitored(learner, problem, modes, settings, &watch, draws, opt_error);
  }
  if (checkpointer.status != IDM_OK) {
    status = checkpointer.status;
    if (opt_error) *opt_error = checkpointer.error;
  } else if (status == IDM_UNTRUSTED) {
    status = idm_fail(opt_error, IDM_UNTRUSTED,
                      "interrupted; the draws made so far are saved: continue with the same "
                      "command and --resume");
  }
  idm_checkpointer_end(&checkpointer);
  idm_run_end(&run_writer, mode == IDM_RUN_RESUME);
  return status;
}

/* Assess the draws, and whether the dynamics of the problem, which are a mode, describe the log. */
static idm_status assess(const idm_problem *problem, const idm_data *data,
                         const idm_posterior *posterior, idm_assessment **ret_assessment,
                         idm_error *opt_error)
{
  idm_status status = idm_data_validate(data, problem->setting, opt_error);
  if (status == IDM_OK) status = idm_assess_draws(posterior, ret_assessment, opt_error);
  if (status == IDM_OK)
    status = idm_environment_assess(problem, data, true, false, IDM_CHECK_LEVEL, *ret_assessment,
                                    opt_error);
  if (status == IDM_OK) idm_assessment_conclude(*ret_assessment);
  return status;
}

idm_status idm_dynamics_write_run(const char *folder, idm_run_mode mode, const idm_problem *problem,
                                  const idm_data *data, const idm_request *request,
                                  idm_posterior *posterior, idm_assessment **ret_assessment,
                                  idm_error *opt_error)
{
  idm_require(folder, problem, data, request, posterior, ret_assessment);
  *ret_assessment = NULL;
  idm_run_writer run_writer;
  posterior->request = idm_request_label(problem, request);
  idm_status status = assess(problem, data, posterior, ret_assessment, opt_error);
  if (status != IDM_OK) return status;
  status = idm_run_begin(&run_writer, folder, mode, request, opt_error);
  if (status != IDM_OK) return status;
  char path[3][IDM_PATH_SIZE];
  const idm_location config = idm_folder_location(run_writer.work, IDM_FILE_CONFIG, path[0]);
  const idm_location draws = idm_folder_location(run_writer.work, IDM_FILE_POSTERIOR, path[1]);
  const idm_location summary = idm_folder_location(run_writer.work, IDM_FILE_SUMMARY, path[2]);
  status = idm_request_write_at(problem, request, &config, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_write_netcdf_at(posterior, problem, data, &draws, opt_error);
  if (status == IDM_OK)
    status = idm_summary_write_at(posterior, *ret_assessment, NULL, &summary, opt_error);
  if (status == IDM_OK) idm_folder_remove(run_writer.work, IDM_FILE_CHECKPOINT);
  if (status == IDM_OK) status = idm_run_commit(&run_writer, opt_error);
  idm_run_end(&run_writer, status == IDM_OK);
  return status;
}

idm_status idm_dynamics_assess(const idm_posterior *learnt, const char *folder, bool joint,
                               idm_assessment *a, idm_error *opt_error)
{
  idm_assessment *of = NULL;
  const idm_status status = idm_assess_draws(learnt, &of, opt_error);
  const bool lower =
      status == IDM_OK && of->checks.of[IDM_CHECK_HIGHER_MODE].outcome == IDM_CHECK_FAILED;
  if (joint && !lower) {
    if (status == IDM_OK) idm_check_test(&a->checks, IDM_CHECK_DYNAMICS_DRAWS, 0);
    idm_assessment_destroy(of);
    return status;
  }
  if (status == IDM_OK)
    idm_check_test(&a->checks, IDM_CHECK_DYNAMICS_DRAWS, (double)of->failures.count);
  if (status == IDM_OK && !of->trusted) {
    a->trusted = false;
    idm_notes_add(&a->failures,
                  "the draws of the dynamics are not trusted, for %zu failures (`idm check "
                  "%.200s`); the first is: %s",
                  of->failures.count, folder, of->failures.text[0]);
  }
  idm_assessment_destroy(of);
  return status;
}

/* --- notes ---------------------------------------------------------------------------------- */

void idm_learn_note(const idm_learn_result *learnt, const idm_learn_settings *settings,
                    idm_notes *opt_notes)
{
  if (learnt->unvisited)
    idm_notes_add(opt_notes,
                  "%zu row%s of the dynamics %s never visited in this log and taken from the prior "
                  "or the file",
                  learnt->unvisited, learnt->unvisited == 1 ? "" : "s",
                  learnt->unvisited == 1 ? "is" : "are");
  if (!learnt->converged)
    idm_notes_add(opt_notes,
                  "learning stopped after %ld iterations before convergence; raise --iterations",
                  settings->iterations);
}

/* Models are reported as nearly equal below this mean total variation distance between a row of a
 * model and the mean of the models. The paper's perturbation by 0.1 gives 0.044 to 0.067. */
static const double nearly_equal = 0.02;

void idm_models_note(const idm_problem *problem, const double spread[2], idm_notes *opt_notes)
{
  if (problem->theta->models > 1 && spread[0] < nearly_equal)
    idm_notes_add(opt_notes,
                  "the %zu models are nearly equal (mean total variation distance %.4f, at most "
                  "%.4f): beta, which weights them, has almost no effect and will not be "
                  "identified; --models perturb spreads them by .1",
                  problem->theta->models, spread[0], spread[1]);
}

/* --- in memory ------------------------------------------------------------------------------ */

idm_status idm_learn_dynamics(idm_problem *problem, const idm_data *data,
                              const idm_settings *settings, double *log_likelihood,
                              idm_posterior **opt_posterior, idm_notes *opt_notes,
                              idm_error *opt_error)
{
  idm_require(problem, data, settings, log_likelihood);
  if (opt_posterior) *opt_posterior = NULL;
  const idm_learn_settings *s = &settings->learn;
  idm_watcher watcher = settings->watcher;
  idm_iohmm *learner = NULL;
  idm_learn_result learnt = {0};
  idm_dynamics_draws draws = {0};
  idm_status status = idm_iohmm_create(problem, data, 0, s->hold, &learner, opt_error);
  if (status == IDM_OK)
    status = idm_learn(learner, problem, s, idm_watcher_call, &watcher, &learnt, opt_error);
  if (status == IDM_OK && opt_posterior && s->draws)
    status = idm_learn_draw(learner, problem, &learnt.modes, s, idm_watcher_call, &watcher, &draws,
                            opt_error);
  if (status == IDM_OK && opt_posterior && s->draws) {
    draws.highest = fmax(draws.highest, learnt.log_likelihood);
    status = idm_dynamics_posterior(&draws, s, opt_posterior, opt_error);
  }
  if (status == IDM_OK) status = idm_problem_set_dynamics(problem, learnt.dynamics, opt_error);
  if (status == IDM_OK && opt_posterior && *opt_posterior)
    status = idm_posterior_adopt_copy(*opt_posterior, problem, opt_error);
  if (status == IDM_OK) {
    double spread[2];
    *log_likelihood = learnt.log_likelihood;
    idm_learn_note(&learnt, s, opt_notes);
    idm_theta_models_distance(problem, &spread[0], &spread[1]);
    idm_models_note(problem, spread, opt_notes);
  }
  if (status != IDM_OK && opt_posterior) {
    idm_posterior_destroy(*opt_posterior);
    *opt_posterior = NULL;
  }
  idm_dynamics_draws_clear(&draws);
  idm_learn_result_clear(&learnt);
  idm_iohmm_destroy(learner);
  return status;
}
