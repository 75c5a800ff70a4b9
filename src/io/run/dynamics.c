/* Runs of `idm learn`: draws of dynamics in the folder that any run has. */
#include "io/run/dynamics.h"

#include <stdio.h>
#include <string.h>

#include "base/door.h"
#include "io/run/folder.h"

idm_status idm_dynamics_write_run(const char *folder, idm_run_mode mode, const idm_problem *problem,
                                  const idm_data *data, const idm_request *request,
                                  idm_posterior *posterior, idm_assessment **ret_assessment,
                                  idm_error *opt_error)
{
  idm_require(folder, problem, data, request, posterior, ret_assessment);
  *ret_assessment = NULL;
  idm_folder made;
  char path[IDM_PATH];
  posterior->request = idm_request_label(problem, request);
  idm_status status = idm_assess_draws(posterior, ret_assessment, opt_error);
  if (status != IDM_OK) return status;
  status = idm_folder_begin(&made, folder, mode, request, opt_error);
  if (status != IDM_OK) return status;
  status = idm_request_write(problem, request, idm_folder_path(made.work, IDM_FILE_CONFIG, path),
                             opt_error);
  if (status == IDM_OK)
    status = idm_posterior_write_netcdf(
        posterior, problem, data, idm_folder_path(made.work, IDM_FILE_POSTERIOR, path), opt_error);
  if (status == IDM_OK)
    status = idm_summary_write(posterior, *ret_assessment, NULL,
                               idm_folder_path(made.work, IDM_FILE_SUMMARY, path), opt_error);
  if (status == IDM_OK) status = idm_folder_commit(&made, opt_error);
  idm_folder_end(&made, status == IDM_OK);
  return status;
}

idm_status idm_dynamics_judge(const idm_posterior *learnt, const char *folder, idm_assessment *a,
                              idm_error *opt_error)
{
  idm_assessment *of = NULL;
  const idm_status status = idm_assess_draws(learnt, &of, opt_error);
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
  request->dynamics_hash[0] = '\0';
  if (!request->dynamics[0]) return IDM_OK;
  if (!idm_folder_is(request->dynamics))
    return idm_fail(opt_error, IDM_INPUT,
                    "'%s' is no run; expected the folder that `idm learn --draws -o` made",
                    request->dynamics);
  if (!request->dynamics_draws) request->dynamics_draws = IDM_DYNAMICS_DRAWS;
  return idm_file_hash(idm_folder_find(request->dynamics, IDM_FILE_POSTERIOR, path),
                       request->dynamics_hash, opt_error);
}
