/* idm report: the results of a run as one HTML page. */
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"

static idm_status run(cli_call *call)
{
  char default_path[CLI_PAGE_PATH];
  const char *folder = call->argument[0];
  const char *path = cli_text(call, "output");
  if (!idm_run_is(folder))
    return idm_fail(&call->error, IDM_INPUT, "'%s' is not the folder of a run", folder);
  if (!path) path = cli_page_path(folder, default_path);
  idm_status status = cli_check_target(call, path);
  if (status == IDM_OK) status = cli_write_page(call, folder, path);
  if (status == IDM_OK && strcmp(path, "-") != 0) return cli_report_file(call, path);
  return status;
}

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "output file (default: report.html in the folder of the run)"},
    CLI_PLUGIN_OPTION,
    CLI_JSON_OPTION,
    CLI_END,
};

const cli_command cli_report_command = {
    .name = "report",
    .arguments = "RUN|AUDIT|STUDY",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "Write the results of a run, an audit or a study as one page",
    .description =
        "Writes one self-contained HTML file: the answer in two sentences, the verdict, figures,\n"
        "checks, the most surprising decisions, identification and sensitivity, a paragraph for\n"
        "the methods section of a paper, and the complete request. It needs no network\n"
        "connection; scripts are optional, they show values under the pointer and save figures.",
    .options = options,
    .run = run,
};
