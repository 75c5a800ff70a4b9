/* Audits, learnt dynamics and calibration in memory, against recomputed numbers.
 *
 * Contents: audits · learning · calibration */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "idm/audit.h"
#include "idm/calibrate.h"
#include "idm/learn.h"
#include "study/host_support.h"

/* --- audits --------------------------------------------------------------------------------- */

static double mean_of(const idm_posterior *p, const char *name)
{
  size_t length;
  const double *value = idm_posterior_values(p, idm_posterior_find(p, name), &length);
  double sum = 0;
  if (!value) fail_msg("no quantity '%s'", name);
  for (size_t i = 0; i < length; i++) sum += value[i];
  return sum / (double)length;
}

static void audits(void **state)
{
  host h = open_host(*state);
  idm_audit *audit;
  idm_posterior *p;
  idm_audit_estimate south, north, contrast;
  idm_error error = {0};
  char path[120];
  set(&h, "audit.by", "site");
  read_log(&h);
  check(idm_audit_create(h.problem, h.data, h.settings, &audit, NULL, &support_error));
  assert_int_equal(idm_audit_groups(audit), 3);
  assert_int_equal(idm_audit_contrasts(audit), 1);
  assert_int_equal(idm_audit_numbers(audit), 1);
  assert_string_equal(idm_audit_number_name(audit, 0), "log_alpha");
  assert_null(idm_audit_number_name(audit, 1));
  assert_string_equal(idm_audit_group_name(audit, 0), "north");
  assert_string_equal(idm_audit_group_name(audit, 1), "south");
  assert_string_equal(idm_audit_group_name(audit, 2), "all");
  assert_null(idm_audit_group_name(audit, 3));
  const bool north_first = strcmp(idm_audit_side_name(audit, 0, 0), "north") == 0;
  assert_string_equal(idm_audit_side_name(audit, 0, north_first), "south");
  assert_string_equal(idm_audit_side_name(audit, 0, !north_first), "north");
  assert_null(idm_audit_side_name(audit, 0, 2));
  assert_null(idm_audit_side_name(audit, 0, -1));
  assert_null(idm_audit_side_name(audit, 1, 0));
  for (size_t i = 0; i < 3; i++) assert_non_null(idm_audit_group_verdict(audit, i));
  assert_null(idm_audit_group_verdict(audit, 3));
  assert_non_null(idm_audit_contrast_verdict(audit, 0));
  assert_null(idm_audit_contrast_verdict(audit, 1));
  bool failed = false;
  for (size_t i = 0; i < 3; i++)
    failed = failed || strcmp(idm_audit_group_verdict(audit, i), "failed") == 0;
  if (failed) assert_false(idm_audit_trusted(audit));

  /* Estimates summarise the draws; a contrast is a difference of groups. */
  check(idm_audit_group_estimate(audit, 0, 0, &north, &support_error));
  check(idm_audit_group_estimate(audit, 1, 0, &south, &support_error));
  check(idm_audit_contrast_estimate(audit, 0, 0, &contrast, &support_error));
  check(idm_audit_posterior(audit, &p, &support_error));
  assert_near(north.diagnosis.mean, mean_of(p, "log_alpha[north]"), 1e-12);
  assert_near(south.diagnosis.mean, mean_of(p, "log_alpha[south]"), 1e-12);
  assert_near(contrast.diagnosis.mean,
              (north_first ? 1 : -1) * (north.diagnosis.mean - south.diagnosis.mean), 1e-9);
  assert_true(contrast.low < contrast.high && contrast.positive >= 0 && contrast.positive <= 1);
  assert_int_equal(idm_audit_group_estimate(audit, 3, 0, &north, &error), IDM_USAGE);
  assert_int_equal(idm_audit_group_estimate(audit, 0, 1, &north, &error), IDM_USAGE);
  assert_int_equal(idm_audit_contrast_estimate(audit, 1, 0, &north, &error), IDM_USAGE);
  assert_int_equal(idm_audit_group_estimate(NULL, 0, 0, &north, &error), IDM_USAGE);
  assert_int_equal(idm_audit_contrast_estimate(audit, 0, 0, NULL, &error), IDM_USAGE);
  snprintf(path, sizeof path, "%s/out", ((folder *)*state)->path);
  check(idm_audit_write_summary(audit, path, &support_error));
  idm_posterior_destroy(p);
  idm_audit_destroy(audit);
  close_host(&h);
}

static void expect_no_audit(const host *h, idm_status status)
{
  idm_error error = {0};
  idm_audit *audit;
  const idm_status found = idm_audit_create(h->problem, h->data, h->settings, &audit, NULL, &error);
  if (found != status)
    fail_msg("%s '%s', expected %s", idm_status_name(found), error.message,
             idm_status_name(status));
  assert_null(audit);
}

static void audits_that_are_refused(void **state)
{
  host h = open_host(*state);
  idm_error error = {0};
  idm_audit *audit;
  expect_no_audit(&h, IDM_USAGE); /* no groups */
  set(&h, "audit.by", "site");
  expect_no_audit(&h, IDM_INPUT); /* the log was read without the column */
  read_log(&h);
  /* An audit that is complete before the next call is returned. */
  stopper s = {.at = 1};
  idm_settings_watch(h.settings, stop, &s);
  const idm_status stopped = idm_audit_create(h.problem, h.data, h.settings, &audit, NULL, &error);
  assert_true(s.calls >= 1 && (stopped == IDM_UNTRUSTED ? !audit : stopped == IDM_OK && audit));
  idm_audit_destroy(audit);
  idm_settings_watch(h.settings, NULL, NULL);
  check(idm_problem_set_free(h.problem, "{alpha: {scale: log, prior: {uniform: [-3, 3]}}}",
                             &support_error));
  expect_no_audit(&h, IDM_INPUT);
  check(idm_problem_set_free(h.problem, "alpha", &support_error));
  set(&h, "where", "site=north");
  read_log(&h);
  expect_no_audit(&h, IDM_INPUT); /* one group */
  assert_int_equal(idm_audit_create(NULL, h.data, h.settings, &audit, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_audit_create(h.problem, h.data, NULL, &audit, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_audit_create(h.problem, h.data, h.settings, NULL, NULL, &error), IDM_USAGE);
  close_host(&h);
}

/* --- learning ------------------------------------------------------------------------------- */

static const double *numbers(const idm_problem *problem, const char *name)
{
  const double *values;
  size_t length;
  check(idm_problem_numbers(problem, name, &values, &length, &support_error));
  return values;
}

/* Log-likelihood of the observations given the actions, by the forward recursion. */
static double forward(const idm_problem *problem, const idm_data *data)
{
  const double *transition = numbers(problem, "environment.transition");
  const double *emission = numbers(problem, "environment.observation");
  const size_t *first = idm_data_first_rows(data, NULL);
  double total = 0;
  for (size_t t = 0; t < idm_data_trajectories(data); t++) {
    double z[2] = {numbers(problem, "start")[0], numbers(problem, "start")[1]};
    for (size_t row = first[t]; row < first[t + 1]; row++) {
      const size_t u = (size_t)idm_data_actions(data, NULL)[row];
      const int32_t x = idm_data_observations(data, NULL)[row];
      double next[2], sum = 0;
      if (u != 2 || x < 0) break; /* a declaration ends it */
      for (size_t to = 0; to < 2; to++)
        sum += next[to] = (z[0] * transition[u * 4 + to] + z[1] * transition[u * 4 + 2 + to]) *
                          emission[(u * 2 + to) * 2 + (size_t)x];
      for (size_t s = 0; s < 2; s++) z[s] = next[s] / sum;
      total += log(sum);
    }
  }
  return total;
}

static void learnt_dynamics(void **state)
{
  host h = open_host(*state);
  idm_posterior *p = NULL;
  idm_error error = {0};
  double log_likelihood = 7;
  /* Models of the agent that are its own do not follow what is learnt. */
  assert_int_equal(
      idm_learn_dynamics(h.problem, h.data, h.settings, &log_likelihood, &p, NULL, &error),
      IDM_INPUT);
  assert_null(p);
  idm_data_destroy(h.data);
  idm_problem_destroy(h.problem);
  h.problem = support_yaml(
      "states: [healthy, diseased]\nactions: [declare_healthy, declare_diseased, monitor]\n"
      "observations: [negative, positive]\ndiscount: 0.95\n"
      "ends: [declare_healthy, declare_diseased]\n"
      "transition: {monitor: [[0.95, 0.05], [0.1, 0.9]], declare_healthy: uniform, "
      "declare_diseased: uniform}\nobservation: {\"*\": [[0.7, 0.3], [0.3, 0.7]]}\n"
      "utility: {monitor: -1, declare_healthy: [10, -36], declare_diseased: [-36, 10]}\n"
      "agent: {alpha: 8, resolution: 12}\n");
  check(idm_simulate_log(h.problem, 150, 10, 2, &h.data, &support_error));
  const double given = forward(h.problem, h.data);
  const double first_entry = numbers(h.problem, "environment.observation")[8];
  /* Stopped: the problem stays as it was. */
  stopper s = {.at = 1};
  idm_settings_watch(h.settings, stop, &s);
  const idm_status status =
      idm_learn_dynamics(h.problem, h.data, h.settings, &log_likelihood, NULL, NULL, &error);
  if (s.calls) {
    assert_int_equal(status, IDM_UNTRUSTED);
    assert_true(numbers(h.problem, "environment.observation")[8] == first_entry);
  }
  idm_settings_watch(h.settings, NULL, NULL);
  set(&h, "learn.prior", "1");
  check(
      idm_learn_dynamics(h.problem, h.data, h.settings, &log_likelihood, &p, NULL, &support_error));
  assert_null(p); /* no draws were requested */
  assert_near(log_likelihood, forward(h.problem, h.data), 1e-8);
  assert_true(log_likelihood > given);
  assert_true(numbers(h.problem, "environment.observation")[8] != first_entry);
  /* The model of the agent is the environment. */
  assert_memory_equal(numbers(h.problem, "emission"), numbers(h.problem, "environment.observation"),
                      12 * sizeof(double));
  check(idm_problem_validate(h.problem, &support_error));
  /* It is a maximum: learning from there gains nothing. */
  double again;
  check(idm_learn_dynamics(h.problem, h.data, h.settings, &again, NULL, NULL, &support_error));
  assert_true(again >= log_likelihood - 1e-9 && again < log_likelihood + 0.01);
  /* Draws of the posterior: every row is a distribution. */
  set(&h, "learn.prior", "1.1");
  set(&h, "learn.draws", "20");
  set(&h, "learn.warmup", "20");
  set(&h, "learn.chains", "2");
  check(idm_learn_dynamics(h.problem, h.data, h.settings, &again, &p, NULL, &support_error));
  assert_int_equal(idm_posterior_chains(p), 2);
  assert_int_equal(idm_posterior_draws(p), 20);
  assert_true(idm_posterior_quantities(p) > 4);
  for (size_t i = 0; i < idm_posterior_quantities(p); i++)
    for (size_t k = 0; k < 40 && strcmp(idm_posterior_quantity_name(p, i), "lp") != 0; k++)
      assert_true(idm_posterior_values(p, i, NULL)[k] <= 1);
  idm_posterior_destroy(p);
  assert_int_equal(idm_learn_dynamics(NULL, h.data, h.settings, &again, NULL, NULL, &error),
                   IDM_USAGE);
  assert_int_equal(idm_learn_dynamics(h.problem, NULL, h.settings, &again, NULL, NULL, &error),
                   IDM_USAGE);
  assert_int_equal(idm_learn_dynamics(h.problem, h.data, NULL, &again, NULL, NULL, &error),
                   IDM_USAGE);
  assert_int_equal(idm_learn_dynamics(h.problem, h.data, h.settings, NULL, NULL, NULL, &error),
                   IDM_USAGE);
  close_host(&h);
}

/* --- calibration ---------------------------------------------------------------------------- */

static void calibration(void **state)
{
  host h = open_host(*state);
  idm_calibration *c;
  idm_error error = {0};
  size_t count[10], sum = 0;
  set(&h, "calibration.replications", "2");
  set(&h, "calibration.number", "20");
  set(&h, "calibration.steps", "8");
  set(&h, "calibration.draws", "60");
  set(&h, "calibration.warmup", "50");
  check(idm_calibrate(h.problem, h.settings, &c, &support_error));
  assert_int_equal(idm_calibration_done(c), 2);
  assert_int_equal(idm_calibration_quantities(c), 2);
  assert_string_equal(idm_calibration_quantity_name(c, 0), "log_alpha");
  assert_string_equal(idm_calibration_quantity_name(c, 1), "log_likelihood");
  assert_null(idm_calibration_quantity_name(c, 2));
  /* Two replications: numbers by hand. */
  double covered = 0, bias = 0, square = 0;
  for (size_t i = 0; i < 2; i++) {
    const idm_recovery *r = &c->recovery[i * 2];
    covered += r->truth >= r->low && r->truth <= r->high;
    bias += (r->mean - r->truth) / r->sd;
    square += (r->mean - r->truth) * (r->mean - r->truth);
  }
  const idm_recovery_accuracy accuracy = idm_calibration_accuracy(c, 0);
  assert_near(accuracy.coverage, covered / 2, 1e-12);
  assert_near(accuracy.bias, bias / 2, 1e-12);
  assert_near(accuracy.error, sqrt(square / 2), 1e-12);
  assert_near(fabs(accuracy.correlation), 1, 1e-9);
  assert_true(idm_calibration_uniformity(c, 0, 10, count) >= 0);
  for (size_t i = 0; i < 10; i++) sum += count[i];
  assert_int_equal(sum, 2);
  assert_near(idm_calibration_rhat(c), fmax(c->rhat[0], c->rhat[1]), 0);
  idm_calibration_destroy(c);

  /* Stopped: no object. */
  stopper s = {.at = 1};
  idm_settings_watch(h.settings, stop, &s);
  set(&h, "calibration.replications", "200");
  const idm_status status = idm_calibrate(h.problem, h.settings, &c, &error);
  assert_true(s.calls > 0);
  assert_int_equal(status, IDM_UNTRUSTED);
  assert_null(c);
  idm_settings_watch(h.settings, NULL, NULL);
  set(&h, "calibration.inverse", "map");
  assert_int_equal(idm_calibrate(h.problem, h.settings, &c, &error), IDM_USAGE);
  set(&h, "calibration.inverse", "bayes");
  check(idm_problem_set_free(h.problem, "{alpha: {scale: log, prior: flat}}", &support_error));
  assert_int_equal(idm_calibrate(h.problem, h.settings, &c, &error), IDM_INPUT);
  assert_null(c);
  assert_int_equal(idm_calibrate(NULL, h.settings, &c, &error), IDM_USAGE);
  assert_int_equal(idm_calibrate(h.problem, NULL, &c, &error), IDM_USAGE);
  assert_int_equal(idm_calibrate(h.problem, h.settings, NULL, &error), IDM_USAGE);
  close_host(&h);
}

static void nothing_of_nothing(void **state)
{
  (void)state;
  assert_int_equal(idm_audit_groups(NULL) + idm_audit_contrasts(NULL), 0);
  assert_int_equal(idm_audit_numbers(NULL), 0);
  assert_null(idm_audit_number_name(NULL, 0));
  assert_null(idm_audit_group_name(NULL, 0));
  assert_null(idm_audit_side_name(NULL, 0, 0));
  assert_null(idm_audit_group_verdict(NULL, 0));
  assert_null(idm_audit_contrast_verdict(NULL, 0));
  assert_false(idm_audit_trusted(NULL));
  assert_int_equal(idm_calibration_done(NULL) + idm_calibration_quantities(NULL), 0);
  assert_null(idm_calibration_quantity_name(NULL, 0));
  idm_audit_destroy(NULL);
  idm_calibration_destroy(NULL);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(audits),      IN_FOLDER(audits_that_are_refused),   IN_FOLDER(learnt_dynamics),
      IN_FOLDER(calibration), cmocka_unit_test(nothing_of_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
