/* idm init: a first problem file from a data table. */
#include "cli/cli.h"
#include "cli/common.h"

static idm_status run(cli_call *call)
{
  const char *target = cli_text(call, "output");
  idm_status status = cli_check_target(call, target);
  if (status == IDM_OK)
    status = idm_init_write(call->argument[0], target, &call->notes, &call->error);
  return status == IDM_OK ? cli_report_file(call, target) : status;
}

static const cli_option options[] = {CLI_OUTPUT_OPTION("problem file to write"), CLI_JSON_OPTION,
                                     CLI_END};

const cli_command cli_init = {
    .name = "init",
    .arguments = "DATA",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "Start a problem file from a table of decisions",
    .description =
        "Determines the columns, actions and observations of a CSV file and writes a problem "
        "file.\n"
        "FILL_IN marks each value that the table does not provide, under a comment that describes\n"
        "it. Commands that read the file list the lines of the marks that are left.",
    .options = options,
    .run = run,
};
