/* idm sbc: simulation-based calibration by a chi-square test of the ranks of the truth. */
#include <math.h>

#include "cli/cli.h"
#include "cli/common.h"

enum { bins = 20 };

static void print_ranks(const char *name, const size_t *count, double statistic, double p)
{
  size_t most = 1;
  for (size_t b = 0; b < bins; b++) most = count[b] > most ? count[b] : most;
  cli_print_left(stdout, 24, name);
  putchar(' ');
  static const char *const levels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  for (size_t b = 0; b < bins; b++) fputs(levels[8 * count[b] / most], stdout);
  printf("  chi-square %6.1f  p = %.4f\n", statistic, p);
}

static idm_status report(cli_call *call, const idm_calibration *c)
{
  const bool json = cli_given(call, "json");
  json_t *object = json_object();
  double worst = 1;
  if (!json)
    printf("ranks of the truth among %d draws, %zu replications, %d bins\n\n", IDM_RANKS,
           c->settings.replications, bins);
  for (size_t q = 0; q < c->quantity.count; q++) {
    size_t count[bins];
    const double statistic = idm_calibration_uniformity(c, q, bins, count);
    const double p = idm_chi_square_tail(statistic, bins - 1);
    worst = fmin(worst, p);
    json_t *one = json_object();
    json_t *counts = json_array();
    for (size_t b = 0; b < bins; b++) idm_json_append(&counts, json_integer((json_int_t)count[b]));
    idm_json_set(&one, "counts", counts);
    idm_json_set(&one, "chi_square", idm_json_number(statistic));
    idm_json_set(&one, "p", idm_json_number(p));
    idm_json_set(&object, c->quantity.name[q], one);
    if (!json) print_ranks(c->quantity.name[q], count, statistic, p);
  }
  if (!json) printf("\nlargest R-hat %.4f; least p %.4f\n", idm_calibration_rhat(c), worst);
  idm_status status = IDM_OK;
  if (json)
    status = cli_print_json(call, object);
  else
    json_decref(object);
  if (status == IDM_OK && worst < 0.001)
    status = idm_fail(&call->error, IDM_UNTRUSTED,
                      "ranks are not uniform (p %.2g): posterior and simulation are inconsistent",
                      worst);
  return status;
}

static idm_status run(cli_call *call)
{
  return cli_calibrate(call, report);
}

static void defaults(cli_settings *settings)
{
  idm_calibration_settings_default(&settings->calibration);
  settings->calibration.replications = 500;
}

const cli_command cli_sbc = {
    .name = "sbc",
    .arguments = "PROBLEM|RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .summary = "Simulation-based calibration of the whole program",
    .description =
        "As recover, but reports the ranks of the truth among the draws: for a correct program "
        "the\n"
        "ranks are uniform. Exit code 1 if a chi-square test over 20 bins rejects uniformity\n"
        "(p < .001). For a RUN: its problem, its settings and, without -n, the design of its log.",
    .options = cli_calibration_options,
    .run = run,
    .keys = idm_calibration_keys,
    .defaults = defaults,
};
