/* idm report: what a run found, as one page. */
#include <string.h>

#include "cli/cli.h"

/* The log, where it still is what it was; a note where it is not. */
static void read_log(cli_call *call, cli_subject *subject, idm_data **ret_data)
{
  *ret_data = NULL;
  if (cli_read_run_data(call, subject, ret_data) == IDM_OK) return;
  idm_notes_add(&call->notes, "the report is made without the log: %s", call->error.message);
  call->error = (idm_error){0};
}

/* What is reported of: a run, an audit or a study. */
typedef struct source {
  cli_subject subject;
  idm_assessment *assessment;
  idm_data *data;
  idm_calibration *study;
} source;

static void close_source(source *s)
{
  idm_data_destroy(s->data);
  idm_assessment_destroy(s->assessment);
  idm_calibration_destroy(s->study);
  cli_close_subject(&s->subject);
}

/* An audit's problem and posterior. */
static idm_status open_audit(cli_call *call, const char *folder, cli_subject *subject)
{
  idm_audit_request request;
  char path[IDM_PATH + 32];
  snprintf(path, sizeof path, "%s/config.yaml", folder);
  idm_status status =
      idm_audit_request_read(path, &subject->problem, &request, &call->notes, &call->error);
  if (status == IDM_OK) subject->request = request.request;
  if (status == IDM_OK)
    status = idm_run_read(folder, NULL, NULL, &subject->posterior, &call->notes, &call->error);
  return status;
}

static idm_status open_source(cli_call *call, const char *folder, source *s)
{
  if (idm_campaign_is(folder)) return idm_campaign_read(folder, &s->study, &call->error);
  idm_status status = idm_audit_is(folder) ? open_audit(call, folder, &s->subject)
                                           : cli_open_subject(call, folder, &s->subject);
  if (status == IDM_OK)
    status = idm_run_assess(folder, s->subject.posterior, &s->assessment, &call->error);
  if (status == IDM_OK) read_log(call, &s->subject, &s->data);
  return status;
}

static idm_status run(cli_call *call)
{
  source s = {0};
  char usual[IDM_PATH + 32];
  const char *folder = call->argument[0];
  const char *path = cli_text(call, "output");
  if (!idm_run_is(folder))
    return idm_fail(&call->error, IDM_INPUT, "'%s' is not the folder of a run", folder);
  if (!path) {
    snprintf(usual, sizeof usual, "%s/report.html", folder);
    path = usual;
  }
  idm_status status = cli_check_target(call, path);
  if (status != IDM_OK) return status;
  status = open_source(call, folder, &s);
  if (status == IDM_OK)
    status = idm_report_write(&(idm_plot_subject){.folder = folder,
                                                  .problem = s.subject.problem,
                                                  .posterior = s.subject.posterior,
                                                  .assessment = s.assessment,
                                                  .data = s.data,
                                                  .fitted = s.data != NULL,
                                                  .study = s.study},
                              path, &call->notes, &call->error);
  close_source(&s);
  if (status == IDM_OK && strcmp(path, "-") != 0) return cli_report_file(call, path);
  return status;
}

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "where to (default: report.html in the run's folder)"},
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_report_command = {
    .name = "report",
    .arguments = "RUN|AUDIT|STUDY",
    .least = 1,
    .most = 1,
    .summary = "Write what a run, an audit or a study found as one page",
    .description =
        "One HTML file that needs nothing else: the answer in two sentences, the verdict, figures, "
        "checks,\n"
        "the most surprising decisions, what the data fix and what the answer hangs on, a "
        "paragraph for the\n"
        "methods of a paper, and the complete request. It works without a network and without "
        "scripts, which\n"
        "only show values under the pointer and save figures.",
    .options = options,
    .run = run,
};
