/* idm report: what a run found, as one page. */
#include <string.h>

#include "cli/common.h"
#include "cli/options.h"

/* The log, where it still is what it was; a note where it is not. */
static void read_log(cli_call *call, cli_subject *subject, idm_data **ret_data)
{
  *ret_data = NULL;
  if (cli_read_run_data(call, subject, ret_data) == IDM_OK) return;
  idm_notes_add(&call->notes, "the report is made without the log: %s", call->error.message);
  call->error = (idm_error){0};
}

static idm_status run(cli_call *call)
{
  cli_shown s;
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
  status = cli_open_shown(call, folder, &s);
  if (status == IDM_OK && s.subject.posterior) read_log(call, &s.subject, &s.data);
  if (status == IDM_OK)
    status = idm_report_write(&(idm_plot_subject){.folder = folder,
                                                  .problem = s.subject.problem,
                                                  .posterior = s.subject.posterior,
                                                  .assessment = s.assessment,
                                                  .data = s.data,
                                                  .fitted = s.data != NULL,
                                                  .study = s.study},
                              path, &call->notes, &call->error);
  cli_close_shown(&s);
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
