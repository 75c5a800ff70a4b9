/* idm summary and idm check: what a run found, and whether to believe it. */
#include <stdlib.h>

#include "cli/cli.h"

/* The posterior of a run and its assessment, with what the fit noted about the data. */
static idm_status open_run(cli_call *call, idm_posterior **ret_posterior,
                           idm_assessment **ret_assessment)
{
  const char *run = call->argument[0];
  *ret_assessment = NULL;
  idm_status status = cli_read_run(call, run, NULL, NULL, ret_posterior);
  if (status != IDM_OK) return status;
  status = idm_assess_draws(*ret_posterior, ret_assessment, &call->error);
  char *path = status == IDM_OK ? cli_run_path(run, "summary.json") : NULL;
  if (status == IDM_OK && !path) status = idm_fail_memory(&call->error);
  if (status == IDM_OK) status = idm_summary_read(path, *ret_assessment, &call->error);
  free(path);
  if (status == IDM_OK) return IDM_OK;
  idm_assessment_destroy(*ret_assessment);
  idm_posterior_destroy(*ret_posterior);
  return status;
}

static idm_status run_summary(cli_call *call)
{
  idm_posterior *posterior;
  idm_assessment *assessment;
  idm_status status = open_run(call, &posterior, &assessment);
  if (status != IDM_OK) return status;
  if (cli_given(call, "json"))
    status = idm_summary_write(posterior, assessment, NULL, "-", &call->error);
  else
    cli_print_posterior(stdout, posterior, assessment);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  return status;
}

static idm_status print_check_json(cli_call *call, const idm_assessment *a)
{
  json_t *object = json_object();
  json_object_set_new(object, "trusted", json_boolean(a->trusted));
  const struct {
    const char *key;
    const idm_notes *notes;
  } lists[] = {{"failures", &a->failures}, {"remarks", &a->remarks}};
  for (size_t k = 0; k < 2; k++) {
    json_t *array = json_array();
    for (size_t i = 0; i < lists[k].notes->count; i++)
      json_array_append_new(array, json_string(lists[k].notes->text[i]));
    json_object_set_new(object, lists[k].key, array);
  }
  return cli_print_json(call, object);
}

static idm_status run_check(cli_call *call)
{
  idm_posterior *posterior;
  idm_assessment *assessment;
  idm_status status = open_run(call, &posterior, &assessment);
  if (status != IDM_OK) return status;
  if (cli_given(call, "json"))
    status = print_check_json(call, assessment);
  else
    cli_print_verdict(stdout, assessment);
  if (status == IDM_OK && !assessment->trusted)
    status = idm_fail(&call->error, IDM_UNTRUSTED, "the answer is not to be trusted");
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  return status;
}

static const cli_option options[] = {CLI_JSON_OPTION, CLI_END};

const cli_command cli_summary = {
    "summary",
    "RUN",
    1,
    1,
    "Print the posterior of a run",
    "Mean, standard deviation, Monte Carlo error, quantiles, bulk and tail effective sample size\n"
    "and R-hat of every free parameter, computed from run.nc as ArviZ and posterior do.",
    options,
    run_summary,
};

const cli_command cli_check = {
    "check",
    "RUN",
    1,
    1,
    "Say whether a run can be trusted",
    "Exit code 1 when R-hat is above 1.01, an effective sample size below 400, a draw diverged, "
    "or\n"
    "under an improper prior the data leave a tail open. Says what the data bound and what only "
    "the\n"
    "prior does, which parameters cannot be told apart, and what to do next.",
    options,
    run_check,
};
