/* idm summary: what a run found. */
#include "cli/cli.h"

static idm_status run(cli_call *call)
{
  idm_posterior *posterior;
  idm_assessment *assessment;
  idm_status status = cli_read_verdict(call, &posterior, &assessment);
  if (status != IDM_OK) return status;
  if (cli_given(call, "json"))
    status = idm_summary_write(posterior, assessment, NULL, "-", &call->error);
  else
    cli_print_posterior(stdout, posterior, assessment);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  return status;
}

static const cli_option options[] = {CLI_JSON_OPTION, CLI_END};

const cli_command cli_summary = {
    .name = "summary",
    .arguments = "RUN",
    .least = 1,
    .most = 1,
    .summary = "Print the posterior of a run",
    .description =
        "Mean, standard deviation, Monte Carlo error, quantiles, bulk and tail effective sample "
        "size\n"
        "and R-hat of every free parameter, computed from run.nc as ArviZ and posterior do.",
    .options = options,
    .run = run,
};
