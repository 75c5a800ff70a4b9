/* idm check: whether to believe a run. */
#include "cli/cli.h"

static idm_status print_json(cli_call *call, const idm_assessment *a)
{
  json_t *object = json_object();
  idm_json_set(&object, "trusted", json_boolean(a->trusted));
  idm_json_set(&object, "failures", idm_json_texts(&a->failures));
  idm_json_set(&object, "misfits", idm_json_texts(&a->misfits));
  idm_json_set(&object, "remarks", idm_json_texts(&a->remarks));
  return cli_print_json(call, object);
}

static idm_status run(cli_call *call)
{
  idm_posterior *posterior;
  idm_assessment *assessment;
  idm_status status = cli_read_verdict(call, &posterior, &assessment);
  if (status != IDM_OK) return status;
  if (cli_given(call, "json"))
    status = print_json(call, assessment);
  else
    cli_print_verdict(stdout, assessment);
  if (status == IDM_OK && !assessment->trusted)
    status = idm_fail(&call->error, IDM_UNTRUSTED, "the answer is not to be trusted");
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  return status;
}

static const cli_option options[] = {CLI_JSON_OPTION, CLI_END};

const cli_command cli_check = {
    .name = "check",
    .arguments = "RUN",
    .least = 1,
    .most = 1,
    .summary = "Say whether a run can be trusted",
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
        "be told apart, and what to do next.",
    .options = options,
    .run = run,
};
