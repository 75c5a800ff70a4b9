/* Runs of `idm learn`: draws of dynamics in the folder that any run has. */
#include "io/run/dynamics.h"

#include <stdio.h>
#include <string.h>

#include "base/door.h"
#include "invert/assess/environment.h"
#include "invert/check.h"
#include "invert/label.h"
#include "io/hash.h"
#include "io/run/checkpoint.h"
#include "io/run/netcdf_write.h"
#include "io/run/request.h"
#include "io/run/summary.h"
#include "io/run/writer.h"

/* What a checkpoint of draws belongs to. */
static uint64_t label_of(const idm_problem *problem, const idm_request *request,
                         const idm_modes *modes, const idm_learn_settings *settings)
{
  uint64_t label =
      idm_label_fields(idm_request_label(problem, request), idm_learn_keys(), settings);
  for (size_t m = 0; m < modes->count; m++)
    label = idm_label_numbers(label, modes->mode[m]->start, modes->mode[m]->numbers);
  return label;
}

idm_status idm_dynamics_draw_run(const char *folder, idm_run_mode mode, const idm_iohmm *learner,
                                 const idm_problem *problem, const idm_modes *modes,
                                 const idm_request *request, const idm_learn_settings *settings,
                                 idm_progress opt_progress, void *context,
                                 idm_dynamics_draws *draws, idm_error *opt_error)
{
  idm_require(folder, learner, problem, modes, request, settings, draws);
  idm_run_writer made;
  idm_keeper keeper;
  char path[IDM_PATH];
  idm_status status = idm_run_begin(&made, folder, mode, request, opt_error);
  if (status != IDM_OK) return status;
  const idm_place config = idm_folder_place(made.work, IDM_FILE_CONFIG, path);
  status = idm_keeper_begin(&keeper, made.work, mode, opt_progress, context, opt_error);
  if (status == IDM_OK) status = idm_request_write_at(problem, request, &config, opt_error);
  if (status == IDM_OK) {
    const idm_fit_watch watch =
        idm_keeper_watch(&keeper, label_of(problem, request, modes, settings));
    status = idm_learn_draw_watched(learner, problem, modes, settings, &watch, draws, opt_error);
  }
  if (keeper.status != IDM_OK) {
    status = keeper.status;
    if (opt_error) *opt_error = keeper.error;
  } else if (status == IDM_UNTRUSTED) {
    status = idm_fail(
        opt_error, IDM_UNTRUSTED,
        "interrupted; the draws made so far are saved: the same command with --resume goes on");
  }
  idm_keeper_end(&keeper);
  idm_run_end(&made, mode == IDM_RUN_RESUME);
  return status;
}

/* The draws, and whether the dynamics of the problem, which are a mode, describe the log. */
static idm_status assess(const idm_problem *problem, const idm_data *data,
                         const idm_posterior *posterior, idm_assessment **ret_assessment,
                         idm_error *opt_error)
{
  idm_status status = idm_data_validate(data, problem->setting, opt_error);
  if (status == IDM_OK) status = idm_assess_draws(posterior, ret_assessment, opt_error);
  if (status == IDM_OK)
    status = idm_environment_assess(problem, data, true, false, IDM_CHECK_LEVEL, *ret_assessment,
                                    opt_error);
  if (status == IDM_OK && (*ret_assessment)->misfits.count) (*ret_assessment)->trusted = false;
  return status;
}

idm_status idm_dynamics_write_run(const char *folder, idm_run_mode mode, const idm_problem *problem,
                                  const idm_data *data, const idm_request *request,
                                  idm_posterior *posterior, idm_assessment **ret_assessment,
                                  idm_error *opt_error)
{
  idm_require(folder, problem, data, request, posterior, ret_assessment);
  *ret_assessment = NULL;
  idm_run_writer made;
  posterior->request = idm_request_label(problem, request);
  idm_status status = assess(problem, data, posterior, ret_assessment, opt_error);
  if (status != IDM_OK) return status;
  status = idm_run_begin(&made, folder, mode, request, opt_error);
  if (status != IDM_OK) return status;
  char path[3][IDM_PATH];
  const idm_place config = idm_folder_place(made.work, IDM_FILE_CONFIG, path[0]);
  const idm_place draws = idm_folder_place(made.work, IDM_FILE_POSTERIOR, path[1]);
  const idm_place summary = idm_folder_place(made.work, IDM_FILE_SUMMARY, path[2]);
  status = idm_request_write_at(problem, request, &config, opt_error);
  if (status == IDM_OK)
    status = idm_posterior_write_netcdf_at(posterior, problem, data, &draws, opt_error);
  if (status == IDM_OK)
    status = idm_summary_write_at(posterior, *ret_assessment, NULL, &summary, opt_error);
  if (status == IDM_OK) idm_folder_remove(made.work, IDM_FILE_CHECKPOINT);
  if (status == IDM_OK) status = idm_run_commit(&made, opt_error);
  idm_run_end(&made, status == IDM_OK);
  return status;
}

idm_status idm_dynamics_judge(const idm_posterior *learnt, const char *folder, bool joint,
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
                  "the draws of the dynamics are not to be trusted in %zu respects (`idm check "
                  "%.200s`), the first being: %s",
                  of->failures.count, folder, of->failures.text[0]);
  }
  idm_assessment_destroy(of);
  return status;
}

idm_status idm_request_locate_dynamics(idm_request *request, idm_error *opt_error)
{
  idm_require(request);
  char path[IDM_PATH];
  idm_run_files files;
  request->dynamics_hash[0] = '\0';
  if (!request->dynamics[0]) return IDM_OK;
  if (!idm_folder_is(request->dynamics))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' is no run; expected the folder that `idm learn --draws -o` made",
                    request->dynamics);
  if (!request->dynamics_draws) request->dynamics_draws = IDM_DYNAMICS_DRAWS;
  idm_status status = idm_run_files_open(&files, request->dynamics, opt_error);
  if (status != IDM_OK) return status;
  const idm_place draws = idm_run_files_place(&files, IDM_FILE_POSTERIOR, path);
  status = idm_file_hash_at(&draws, request->dynamics_hash, opt_error);
  idm_run_files_close(&files);
  return status;
}
