/* idm check: whether to believe a run. */
#include "cli/common.h"
#include "cli/options.h"
#include "cli/posterior.h"

static idm_status print_json(cli_call *call, const idm_assessment *a)
{
  json_t *object = json_object();
  idm_json_set(&object, "trusted", json_boolean(a->trusted));
  idm_json_set(&object, "failures", idm_json_texts(&a->failures));
  idm_json_set(&object, "misfits", idm_json_texts(&a->misfits));
  idm_json_set(&object, "remarks", idm_json_texts(&a->remarks));
  return cli_print_json(call, object);
}

static idm_status print(cli_call *call, const idm_posterior *posterior,
                        const idm_assessment *assessment)
{
  (void)posterior;
  if (cli_given(call, "json")) return print_json(call, assessment);
  cli_print_verdict(stdout, assessment);
  return IDM_OK;
}

static idm_status run(cli_call *call)
{
  int untrusted = 0;
  const idm_status status = cli_each_run(call, print, &untrusted);
  if (status != IDM_OK || !untrusted) return status;
  if (call->arguments == 1)
    return idm_fail(&call->error, IDM_UNTRUSTED, "the answer is not to be trusted");
  return idm_fail(&call->error, IDM_UNTRUSTED, "%d of %d answers are not to be trusted", untrusted,
                  call->arguments);
}

static const cli_option options[] = {CLI_PLUGIN_OPTION, CLI_JSON_OPTION, CLI_END};

const cli_command cli_check = {
    .name = "check",
    .arguments = "RUN...",
    .least = 1,
    .most = CLI_ANY_NUMBER,
    .summary = "Say whether runs can be trusted",
    .description =
        "Exit code 1 when the draws are not to be trusted (R-hat above 1.01, an effective sample "
        "size\n"
        "below 400, a draw that diverged, a tail that an improper prior and the data leave open), "
        "or when\n"
        "the model is not: no better than chance, a free number that cannot matter, agents too "
        "unlike to\n"
        "share numbers, or summaries of the log that it does not predict. A right model fails in "
        "about one\n"
        "fit of a hundred. Says what the data bound and what only the prior does, which parameters "
        "cannot\n"
        "be told apart, and what to do next. Of several runs, exit code 1 says that one at least "
        "cannot be\n"
        "trusted.",
    .options = options,
    .run = run,
};
