/* Figures by the name of their kind, and the report of a folder. */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "idm/figure.h"
#include "io/log_file.h"
#include "io/run.h"
#include "report/report.h"
#include "study/study.h"

/* The problem of a figure: the one given, or of an answer the fitted one, at the centre if the
 * answer has one. *ret_own is to be destroyed. */
static idm_status problem_of(const idm_problem *opt_problem, const idm_posterior *opt_posterior,
                             const idm_problem **ret_problem, idm_problem **ret_own,
                             idm_error *opt_error)
{
  *ret_own = NULL;
  *ret_problem = opt_posterior ? idm_posterior_problem(opt_posterior) : opt_problem;
  if (!opt_posterior || !*ret_problem || opt_posterior->series_count ||
      strcmp(opt_posterior->inverse, "learn") == 0)
    return IDM_OK;
  const idm_status status =
      idm_problem_from_posterior(opt_posterior, IDM_CENTRE, ret_own, opt_error);
  *ret_problem = *ret_own;
  return status;
}

idm_status idm_figure_make(const char *kind, const idm_problem *opt_problem,
                           const idm_posterior *opt_posterior, const idm_data *opt_data,
                           const char *opt_folder, idm_figure **ret_figure, idm_notes *opt_notes,
                           idm_error *opt_error)
{
  idm_require(kind, ret_figure);
  *ret_figure = NULL;
  const idm_plot *plot = idm_plot_find(kind);
  if (!plot)
    return idm_fail(opt_error, IDM_USAGE, "there is no plot '%.60s'; see `idm list plots`", kind);
  if (opt_problem && opt_posterior)
    return idm_fail(opt_error, IDM_USAGE,
                    "the figure '%s' needs a problem or an answer, which has its own: not both",
                    kind);
  idm_calibration *calibration = NULL;
  if (plot->needs & IDM_PLOT_CALIBRATION && opt_folder && idm_replications_is(opt_folder)) {
    const idm_status status = idm_replications_read(opt_folder, &calibration, opt_error);
    if (status != IDM_OK) return status;
  }
  idm_problem *own = NULL;
  idm_plot_subject subject = {.folder = opt_folder,
                              .posterior = opt_posterior,
                              .assessment = idm_posterior_assessment(opt_posterior),
                              .data = opt_data,
                              .fitted = opt_posterior && opt_data,
                              .calibration = calibration};
  idm_status status = problem_of(opt_problem, opt_posterior, &subject.problem, &own, opt_error);
  if (status == IDM_OK)
    status = idm_plot_make(plot, &subject, NULL, ret_figure, opt_notes, opt_error);
  idm_problem_destroy(own);
  idm_calibration_destroy(calibration);
  return status;
}

/* What a folder holds. */
typedef struct folder_contents {
  idm_audit_request *request; /* of a fit: its first part */
  idm_problem *problem;
  idm_posterior *posterior;
  idm_assessment *assessment;
  idm_data *data;
  idm_calibration *calibration;
} folder_contents;

static void close_folder(folder_contents *c)
{
  idm_calibration_destroy(c->calibration);
  idm_data_destroy(c->data);
  idm_assessment_destroy(c->assessment);
  idm_posterior_destroy(c->posterior);
  idm_problem_destroy(c->problem);
  free(c->request);
}

static idm_status read_folder(const char *folder, folder_contents *c, idm_notes *opt_notes,
                              idm_error *opt_error)
{
  c->request = idm_new(1, sizeof *c->request);
  if (!c->request) return idm_fail_memory(opt_error);
  if (idm_replications_is(folder)) return idm_replications_read(folder, &c->calibration, opt_error);
  idm_status status = idm_audit_is(folder) ? idm_audit_read_run(folder, &c->problem, c->request,
                                                                &c->posterior, opt_notes, opt_error)
                                           : idm_run_read(folder, &c->problem, &c->request->request,
                                                          &c->posterior, opt_notes, opt_error);
  if (status == IDM_OK) status = idm_run_assess(folder, c->posterior, &c->assessment, opt_error);
  return status;
}

/* The log and the preferences, if they are unchanged; else a note. */
static void read_log(folder_contents *c, idm_notes *opt_notes)
{
  idm_error error = {0};
  idm_request *request = &c->request->request;
  if (idm_run_read_log(request, c->problem, &c->data, opt_notes, &error) != IDM_OK) {
    c->data = NULL;
    idm_notes_add(opt_notes, "the report is made without the log: %s", error.message);
    return;
  }
  if (!request->preferences[0]) return;
  idm_status status = idm_request_hash_preferences(request, &error);
  if (status == IDM_OK)
    status = idm_preferences_read_csv(request->preferences, c->data, NULL, &error);
  if (status != IDM_OK)
    idm_notes_add(opt_notes, "the report is made without the preferences: %s", error.message);
}

idm_status idm_report(const char *folder, const char *path, idm_notes *opt_notes,
                      idm_error *opt_error)
{
  idm_require(folder, path);
  folder_contents c = {0};
  idm_status status = read_folder(folder, &c, opt_notes, opt_error);
  if (status == IDM_OK && c.posterior && strcmp(c.posterior->inverse, "learn") == 0)
    status = idm_fail(opt_error, IDM_INPUT,
                      "'%s' is a run of `idm learn`: it has dynamics, no agent to report on; see "
                      "`idm summary`, `idm check` and `idm plot trace`, or fit an agent with "
                      "`idm fit --dynamics`",
                      folder);
  if (status == IDM_OK && c.posterior) read_log(&c, opt_notes);
  if (status == IDM_OK)
    status = idm_report_write(&(idm_plot_subject){.folder = folder,
                                                  .problem = c.problem,
                                                  .posterior = c.posterior,
                                                  .assessment = c.assessment,
                                                  .data = c.data,
                                                  .fitted = c.data != NULL,
                                                  .calibration = c.calibration,
                                                  .request = &c.request->request},
                              path, opt_notes, opt_error);
  close_folder(&c);
  return status;
}
