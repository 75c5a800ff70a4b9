/* idm check: verdict and checks of runs. */
#include <math.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "io/run/folder.h"

static idm_status print_json(cli_call *call, const idm_assessment *a)
{
  json_t *object = json_object();
  idm_checks_put_trust(&object, &a->checks, a->trusted);
  idm_json_set(&object, "failures", idm_json_texts(&a->failures));
  idm_json_set(&object, "misfits", idm_json_texts(&a->misfits));
  idm_json_set(&object, "remarks", idm_json_texts(&a->remarks));
  idm_json_set(&object, "checks", idm_checks_array(&a->checks));
  return cli_print_json(call, object);
}

/* A value and its threshold, as in "1.003 (<= 1.01)"; parts that are NaN are omitted. */
static const char *compare(idm_check_id id, const idm_check_result *r, char *buffer, size_t size)
{
  const char *sign = idm_check_at(id)->below ? ">=" : "<=";
  buffer[0] = '\0';
  if (!isnan(r->value) && !isnan(r->threshold))
    snprintf(buffer, size, "%.4g (%s %.4g)", r->value, sign, r->threshold);
  else if (!isnan(r->value))
    snprintf(buffer, size, "%.4g", r->value);
  return buffer;
}

/* Print the checks that ran, then those that did not run, with the reason. */
static void print_checks(const idm_checks *checks)
{
  char buffer[80];
  for (int ran = 1; ran >= 0; ran--)
    for (int i = 0; i < IDM_CHECK_COUNT; i++) {
      const idm_check_id id = (idm_check_id)i;
      const idm_check_result *r = &checks->of[i];
      if (!idm_check_applies(checks, id) || (r->outcome >= IDM_CHECK_PASSED) != ran) continue;
      printf("%-17s %-12s %s%s%s\n", idm_check_at(id)->name, idm_check_outcome_name(r->outcome),
             compare(id, r, buffer, sizeof buffer), ran && r->why[0] ? "; " : "", r->why);
    }
}

static idm_status print(cli_call *call, const idm_posterior *posterior,
                        const idm_assessment *assessment)
{
  (void)posterior;
  if (cli_given(call, "json")) return print_json(call, assessment);
  print_checks(&assessment->checks);
  cli_print_verdict(stdout, assessment);
  return IDM_OK;
}

static idm_status run(cli_call *call)
{
  int untrusted = 0;
  const idm_status status = cli_each_run(call, print, &untrusted);
  if (status != IDM_OK || !untrusted) return status;
  if (call->arguments == 1)
    return idm_fail(&call->error, IDM_UNTRUSTED, "the answer is not to be trusted, or unchecked");
  return idm_fail(&call->error, IDM_UNTRUSTED,
                  "%d of %d answers are not to be trusted, or unchecked", untrusted,
                  call->arguments);
}

static const cli_option options[] = {CLI_PLUGIN_OPTION, CLI_JSON_OPTION, CLI_END};

const cli_command cli_check = {
    .name = "check",
    .arguments = "RUN...",
    .min_arguments = 1,
    .max_arguments = CLI_ANY_NUMBER,
    .summary = "Check whether runs can be trusted",
    .description =
        "Prints every check that applies to the run (`idm list checks`): its outcome, value and "
        "threshold,\n"
        "or why it was not run. Exit code 1 when a check fails the draws (FAILS) or the model "
        "(MODEL), or\n"
        "was left out (--checks). A correct model fails in about one fit in a hundred. Remarks: "
        "which\n"
        "parameters the data identify and which only the prior determines, which parameters\n"
        "cannot be distinguished, and remedies. For several runs, exit code 1 means that at\n"
        "least one cannot be trusted.",
    .options = options,
    .run = run,
};
