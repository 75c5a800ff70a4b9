/* idm summary: posterior summaries of runs. */
#include "cli/cli.h"
#include "cli/common.h"

static idm_status print(cli_call *call, const idm_posterior *posterior,
                        const idm_assessment *assessment)
{
  if (cli_given(call, "json"))
    return idm_posterior_write_summary(posterior, assessment, NULL, "-", &call->error);
  cli_print_posterior(call, stdout, posterior, assessment);
  return IDM_OK;
}

static idm_status run(cli_call *call)
{
  return cli_each_run(call, print, NULL);
}

static const cli_option options[] = {CLI_PLAIN_OPTION, CLI_PLUGIN_OPTION, CLI_JSON_OPTION, CLI_END};

const cli_command cli_summary = {
    .name = "summary",
    .arguments = "RUN...",
    .min_arguments = 1,
    .max_arguments = CLI_ANY_NUMBER,
    .summary = "Print the posterior of runs",
    .description =
        "Mean, standard deviation, Monte Carlo error, quantiles, bulk and tail effective sample "
        "size\n"
        "and R-hat of every free parameter, computed from run.nc as ArviZ and posterior do.\n"
        "Several runs are printed with their names as headings, or as keys of one JSON object.",
    .options = options,
    .run = run,
};
