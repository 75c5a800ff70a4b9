/* idm count: prints the numbers of trajectories and steps of a log. */
#include "cli/cli.h"
#include "cli/common.h"

static idm_status run(cli_call *call)
{
  idm_problem *problem = NULL;
  idm_data *data = NULL;
  idm_status status = cli_read_problem(call, call->argument[0], &problem);
  if (status == IDM_OK) status = cli_read_data(call, call->argument[1], problem, 0, &data);
  if (status == IDM_OK)
    printf("%zu trajectories, %zu steps\n", data->trajectories, data->first[data->trajectories]);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return status;
}

static const cli_option options[] = {CLI_SET_OPTION, CLI_WHERE_OPTION, CLI_PLUGIN_OPTION, CLI_END};

const cli_command cli_count = {
    .name = "count",
    .arguments = "PROBLEM LOG",
    .min_arguments = 2,
    .max_arguments = 2,
    .summary = "Count trajectories and steps of a log",
    .description = "The log is read as by `idm fit`.",
    .options = options,
    .run = run,
};
