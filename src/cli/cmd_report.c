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

static idm_status write(cli_call *call, cli_subject *subject, const char *path)
{
  idm_assessment *assessment = NULL;
  idm_data *data = NULL;
  idm_status status =
      idm_run_assess(call->argument[0], subject->posterior, &assessment, &call->error);
  if (status == IDM_OK) read_log(call, subject, &data);
  const idm_plot_subject of = {.folder = call->argument[0],
                               .problem = subject->problem,
                               .posterior = subject->posterior,
                               .assessment = assessment,
                               .data = data};
  if (status == IDM_OK) status = idm_report_write(&of, path, &call->notes, &call->error);
  idm_data_destroy(data);
  idm_assessment_destroy(assessment);
  return status;
}

static idm_status run(cli_call *call)
{
  cli_subject subject;
  char usual[IDM_PATH + 32];
  const char *path = cli_text(call, "output");
  if (!idm_run_is(call->argument[0]))
    return idm_fail(&call->error, IDM_INPUT, "'%s' is not the folder of a run", call->argument[0]);
  if (!path) {
    snprintf(usual, sizeof usual, "%s/report.html", call->argument[0]);
    path = usual;
  }
  idm_status status = cli_check_target(call, path);
  if (status != IDM_OK) return status;
  status = cli_open_subject(call, call->argument[0], &subject);
  if (status == IDM_OK) status = write(call, &subject, path);
  cli_close_subject(&subject);
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
    .arguments = "RUN",
    .least = 1,
    .most = 1,
    .summary = "Write what a run found as one page",
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
