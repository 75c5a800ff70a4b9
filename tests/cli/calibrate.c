/* Tests the common part of recover and sbc: settings from options, free parameters from the file or
 * --free, and the exit codes of refusals. */
#include "cli/cli.h"
#include "cli/cli_support.h"
#include "cli/common.h"

#include <string.h>

static void defaults(cli_settings *settings)
{
  idm_calibration_settings_default(&settings->calibration);
}

static const cli_command command = {.name = "recover",
                                    .arguments = "PROBLEM|RUN",
                                    .min_arguments = 1,
                                    .max_arguments = 1,
                                    .options = cli_calibration_options,
                                    .keys = idm_calibration_keys,
                                    .defaults = defaults};

/* The study that the last report received. */
static struct {
  int calls;
  size_t replications, done, trajectories;
  uint64_t seed;
  char quantity[64];
} reported;

static idm_status report(cli_call *call, const idm_calibration *c)
{
  (void)call;
  reported.calls++;
  reported.replications = c->settings.replications;
  reported.done = idm_calibration_done(c);
  reported.trajectories = c->settings.trajectories;
  reported.seed = c->settings.seed;
  snprintf(reported.quantity, sizeof reported.quantity, "%s", c->quantity.name[0]);
  return IDM_OK;
}

/* Options for speed precede: a coarse lattice and Laplace approximations. */
#define WORDS(...)                                                                                 \
  (char *[])                                                                                       \
  {                                                                                                \
    "--set", "agent.resolution=9", "--inverse", "laplace", "--threads", "1", __VA_ARGS__           \
  }
#define CALIBRATE(call, ...)                                                                       \
  calibrate((call), sizeof(WORDS(__VA_ARGS__)) / sizeof(char *), WORDS(__VA_ARGS__))

static idm_status calibrate(cli_call *call, size_t count, char **words)
{
  memset(&reported, 0, sizeof reported);
  check(cli_parse(call, &command, (int)count, words));
  return cli_calibrate(call, report);
}

static void test_settings(void **state)
{
  (void)state;
  cli_call call;
  check(CALIBRATE(&call, "example:diag", "-n5", "--replications", "3", "--seed", "9"));
  assert_int_equal(reported.calls, 1);
  assert_int_equal(reported.replications, 3);
  assert_int_equal(reported.done, 3);
  assert_int_equal(reported.trajectories, 5);
  assert_int_equal(reported.seed, 9);
  assert_string_equal(reported.quantity, "log_alpha");
  assert_int_equal(call.settings.calibration.threads, 1);
  cli_call_free(&call);
}

static void test_other_numbers(void **state)
{
  (void)state;
  cli_call call;
  check(CALIBRATE(&call, "example:diag", "-n5", "--replications=2", "--free", "eta"));
  assert_string_equal(reported.quantity, "eta");
  cli_call_free(&call);
}

static void expect_refusal(cli_call *call, idm_status status, idm_status expected,
                           const char *words)
{
  assert_int_equal(status, expected);
  assert_int_equal(reported.calls, 0);
  if (!strstr(call->error.message, words))
    fail_msg("'%s' is not in '%s'", words, call->error.message);
  cli_call_free(call);
}

/* A prior that cannot be sampled is an input error in a file and a usage error in --free. */
static void test_refusals(void **state)
{
  (void)state;
  char path[SUPPORT_PATH];
  cli_call call;
  idm_problem *problem = support_diag(0.5, 1, 0);
  support_path(path);
  check(idm_problem_set_free(problem, "{alpha: {prior: flat}}", &support_error));
  check(idm_problem_write_yaml(problem, path, NULL, &support_error));
  idm_problem_destroy(problem);
  expect_refusal(&call, CALIBRATE(&call, path), IDM_INPUT, "prior");
  expect_refusal(&call, CALIBRATE(&call, path, "--free", "{alpha: {prior: flat}}"), IDM_USAGE,
                 "prior");
  remove(path);
  expect_refusal(&call, CALIBRATE(&call, "example:diag", "--free", "alhpa"), IDM_USAGE, "alhpa");
  expect_refusal(&call, CALIBRATE(&call, "example:beads"), IDM_USAGE, "draw_cost");
  expect_refusal(&call, CALIBRATE(&call, "no/such.yaml"), IDM_INPUT, "no/such.yaml");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_settings),
                                     cmocka_unit_test(test_other_numbers),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
