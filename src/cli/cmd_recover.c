/* idm recover: parameter recovery from simulated logs. */
#include <math.h>

#include "cli/cli.h"
#include "cli/common.h"

static idm_status report(cli_call *call, const idm_calibration *c)
{
  const bool json = cli_given(call, "json");
  const size_t n = c->settings.replications;
  json_t *object = json_object();
  if (!json) {
    printf("%zu logs of %zu trajectories, each of an agent drawn from the prior\n\n", n,
           c->settings.trajectories);
    printf("%-24s %10s %10s %12s %12s\n", "", "90% covers", "bias (sd)", "rms error",
           "correlation");
  }
  for (size_t q = 0; q + 1 < c->quantity.count; q++) {
    const idm_recovery_accuracy r = idm_calibration_accuracy(c, q);
    json_t *one = json_object();
    idm_json_set(&one, "coverage_90", idm_json_number(r.coverage));
    idm_json_set(&one, "bias_in_sd", idm_json_number(r.bias));
    idm_json_set(&one, "rms_error", idm_json_number(r.error));
    idm_json_set(&one, "correlation", idm_json_number(r.correlation));
    idm_json_set(&object, c->quantity.name[q], one);
    char name[128];
    if (json) continue;
    cli_print_left(stdout, 24, idm_quantity_label(c->quantity.name[q], name, sizeof name));
    printf(" %9.0f%% %10.2f %12.4g %12.3f\n", 100 * r.coverage, r.bias, r.error, r.correlation);
  }
  if (json) return cli_print_json(call, object);
  json_decref(object);
  printf("\n"
         "of %zu intervals of 90 %%, %.0f +- %.0f are expected to cover the truth\n",
         n, 0.9 * (double)n, 1.645 * sqrt(0.09 * (double)n));
  return IDM_OK;
}

static idm_status run(cli_call *call)
{
  return cli_calibrate(call, report);
}

static void defaults(cli_settings *settings)
{
  idm_calibration_settings_default(&settings->calibration);
}

const cli_command cli_recover = {
    .name = "recover",
    .arguments = "PROBLEM|RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "Test how well parameters are recovered from a log of this size",
    .description =
        "Draws agents from the prior, simulates a log of each, fits it, and reports the coverage\n"
        "of the 90 % interval, the bias, the error, and the correlation with the truth, in the\n"
        "coordinate of each prior (log alpha if alpha is inferred on the scale log). For a RUN:\n"
        "its problem and settings, and without -n logs with the design of its own log (agents,\n"
        "trajectories, lengths, utilities, available actions, start beliefs). With\n"
        "--inverse preference-bayes each drawn agent states preferences between trajectories of\n"
        "the problem's own agent (--pairs).",
    .options = cli_calibration_options,
    .run = run,
    .keys = idm_calibration_keys,
    .defaults = defaults,
};
