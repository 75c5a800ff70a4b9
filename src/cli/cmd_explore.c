/* idm explore: interactive HTML page of an agent. */
#include <string.h>

#include "cli/cli.h"
#include "cli/common.h"

static idm_status run(cli_call *call)
{
  const char *path = cli_text(call, "output");
  cli_input input = {0};
  idm_workspace *workspace = NULL;
  idm_plan_report report;
  idm_status status = cli_check_target(call, path);
  if (status == IDM_OK) status = cli_input_open(call, call->argument[0], &input);
  if (status == IDM_OK) status = cli_check_utilities(call, input.problem);
  if (status == IDM_OK && input.posterior) status = cli_set_to_draw(call, &input, "centre");
  /* Problems that cannot be planned are refused here, not in the page; capacities are converted to
   * multipliers. */
  if (status == IDM_OK) status = cli_plan(call, input.problem, NULL, &workspace, &report);
  if (status == IDM_OK) status = idm_explorer_write(input.problem, path, &call->error);
  if (status == IDM_OK && strcmp(path, "-") != 0) status = cli_report_file(call, path);
  idm_workspace_destroy(workspace);
  cli_input_close(&input);
  return status;
}

static const cli_option options[] = {CLI_OUTPUT_OPTION("page to write, as HTML"), CLI_SET_OPTION,
                                     CLI_JSON_OPTION, CLI_END};

const cli_command cli_explore = {
    .name = "explore",
    .arguments = "PROBLEM|RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "Write an interactive page of an agent",
    .description =
        "Writes one HTML file with a slider for every parameter of the agent, which updates\n"
        "policy, value and beliefs, an episode step by step, and the log-likelihood of a CSV "
        "file.\n"
        "The page contains the library as WebAssembly: it opens from the file system and sends no\n"
        "data. A RUN is shown at the centre of its posterior.",
    .options = options,
    .run = run,
};
