/* Recovery and simulation-based calibration: coverage and rank statistics of small studies against
 * their binomial and uniform distributions, and resumed studies against uninterrupted ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* --- fixtures ------------------------------------------------------------------------------- */

static idm_problem *make_problem(const char *free_blocks)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 5;
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  return problem;
}

static const char one_number[] = "{beta: {scale: inverse, prior: {normal: [0.5, 0.5]}}}";

static idm_calibration_settings make_settings(size_t replications, size_t trajectories)
{
  idm_calibration_settings settings;
  idm_calibration_settings_default(&settings);
  settings.replications = replications;
  settings.trajectories = trajectories;
  settings.seed = 5;
  settings.threads = 2;
  settings.fit.draws = 400;
  settings.fit.warmup = 100;
  return settings;
}

static idm_calibration *make(const idm_problem *problem, const idm_calibration_settings *settings)
{
  idm_calibration *c;
  check(idm_calibration_create(problem, settings, &c, &support_error));
  return c;
}

/* --- campaigns ------------------------------------------------------------------------------ */

/* The 90 % interval covers the truth in 11 of 12 fits on average, and in fewer than 6 at one seed
 * in 20,000 (binomial). */
static void test_recovery(void **state)
{
  (void)state;
  enum { REPLICATIONS = 12 };
  idm_problem *problem = make_problem(one_number);
  const idm_calibration_settings settings = make_settings(REPLICATIONS, 20);
  idm_calibration *c = make(problem, &settings);
  assert_int_equal(c->quantity.count, 2);
  assert_string_equal(c->quantity.name[0], "inverse_beta");
  assert_string_equal(c->quantity.name[1], "log_likelihood");
  check(idm_calibration_run(c, NULL, NULL, &support_error));
  size_t covered = 0, count[10];
  double truth = 0;
  for (size_t i = 0; i < REPLICATIONS; i++) {
    const idm_recovery *r = &c->recovery[i * 2], *likelihood = r + 1;
    assert_true(c->done[i]);
    assert_true(c->rhat[i] <= idm_check_threshold(IDM_CHECK_RHAT));
    assert_true(c->draws[i] >= 400);
    assert_true(r->rank >= 0 && r->rank <= IDM_RANKS);
    assert_true(r->low < r->mean && r->mean < r->high && r->sd > 0);
    assert_true(likelihood->rank >= 0 && likelihood->rank <= IDM_RANKS);
    assert_true(isfinite(likelihood->truth) && isfinite(likelihood->mean));
    covered += r->truth > r->low && r->truth < r->high;
    truth += r->truth / REPLICATIONS;
    /* An extreme rank implies the same order of truth and posterior mean. */
    if (r->rank == 0) assert_true(r->truth < r->mean);
    if (r->rank == IDM_RANKS) assert_true(r->truth > r->mean);
  }
  assert_true(covered >= 6);
  assert_true(fabs(truth - 0.5) < 4.5 * 0.5 / sqrt(REPLICATIONS));
  size_t total = 0;
  idm_calibration_uniformity(c, 0, 10, count);
  for (size_t b = 0; b < 10; b++) total += count[b];
  assert_int_equal(total, REPLICATIONS);
  idm_calibration_destroy(c);
  idm_problem_destroy(problem);
}

static const char walk[] = "states: [a, b]\nactions: [stay, go]\nobservations: states\n"
                           "discount: 0.9\nstart: [1, 0]\n"
                           "transition: {stay: [[0.9, 0.1], [0.2, 0.8]], go: uniform}\n"
                           "utility: {stay: 0, go: 0}\n"
                           "agent: {planner: maximum-entropy, alpha: 1}\n"
                           "free: {utility: {entries: [stay.b, go.a], prior: {normal: [0, 1]}}}\n";

/* With preferences as the only data, the truth is drawn from the prior; same bounds as above. */
static void test_preferences(void **state)
{
  (void)state;
  enum { REPLICATIONS = 12 };
  idm_problem *problem = support_yaml(walk);
  idm_calibration_settings settings = make_settings(REPLICATIONS, 10);
  settings.steps = 5;
  settings.pairs = 60;
  strcpy(settings.inverse, "preference-bayes");
  idm_calibration *c = make(problem, &settings);
  check(idm_calibration_run(c, NULL, NULL, &support_error));
  for (size_t q = 0; q < 2; q++) {
    size_t covered = 0;
    double spread = 0, error = 0;
    for (size_t i = 0; i < REPLICATIONS; i++) {
      const idm_recovery *r = &c->recovery[i * c->quantity.count + q];
      covered += r->truth > r->low && r->truth < r->high;
      error += (r->truth - r->mean) * (r->truth - r->mean);
      spread += r->truth * r->truth;
    }
    assert_true(covered >= 6);
    assert_true(error < 0.7 * spread); /* preferences reduce the error below the prior's */
  }
  for (size_t i = 0; i < REPLICATIONS; i++) {
    const idm_recovery *likelihood = &c->recovery[i * c->quantity.count + 2];
    /* 60 preferences, each with log probability about log 1/2. */
    assert_true(likelihood->truth < 0 && likelihood->truth > -60);
    assert_true(fabs(likelihood->truth - likelihood->mean) < 10);
  }
  idm_calibration_destroy(c);
  /* Inverse planners that do not read preferences reject --pairs. */
  idm_error error = {0};
  settings.pairs = 3;
  strcpy(settings.inverse, "bayes");
  assert_int_equal(idm_calibration_create(problem, &settings, &c, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "--pairs has no effect with 'bayes'"));
  idm_problem_destroy(problem);
}

static void same_results(const idm_calibration *a, const idm_calibration *b)
{
  for (size_t i = 0; i < a->settings.replications; i++) {
    assert_true(a->done[i] && b->done[i]);
    assert_true(a->rhat[i] == b->rhat[i]);
    assert_int_equal(a->draws[i], b->draws[i]);
    for (size_t q = 0; q < a->quantity.count; q++) {
      const idm_recovery *x = &a->recovery[i * a->quantity.count + q];
      const idm_recovery *y = &b->recovery[i * a->quantity.count + q];
      assert_true(x->truth == y->truth && x->mean == y->mean);
      assert_int_equal(x->rank, y->rank);
    }
  }
}

typedef struct watcher {
  int calls;
  bool stop;
} watcher;

static bool watch(void *context, const idm_calibration *calibration)
{
  (void)calibration;
  watcher *w = context;
  w->calls++;
  return w->stop;
}

/* Results do not depend on the number of threads; finished replications are kept; a stopped study
 * resumes. */
static void test_threads_and_resuming(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(one_number);
  idm_calibration_settings settings = make_settings(4, 10);
  idm_calibration *two = make(problem, &settings);
  settings.threads = 1;
  idm_calibration *one = make(problem, &settings), *resumed = make(problem, &settings);
  check(idm_calibration_run(two, NULL, NULL, &support_error));
  check(idm_calibration_run(one, NULL, NULL, &support_error));
  same_results(one, two);

  /* Replications marked as done are not recomputed: a value changed by hand is kept. */
  for (size_t i = 0; i < 4; i += 2) {
    memcpy(&resumed->recovery[2 * i], &one->recovery[2 * i], 2 * sizeof(idm_recovery));
    resumed->rhat[i] = one->rhat[i];
    resumed->draws[i] = one->draws[i];
    resumed->done[i] = true;
  }
  resumed->recovery[0].rank = 77;
  watcher w = {0};
  check(idm_calibration_run(resumed, watch, &w, &support_error));
  assert_true(w.calls >= 1);
  assert_int_equal(resumed->recovery[0].rank, 77);
  resumed->recovery[0].rank = one->recovery[0].rank;
  same_results(one, resumed);

  /* Stopped at the first callback, then resumed. */
  for (size_t i = 0; i < 4; i++) resumed->done[i] = false;
  w = (watcher){.stop = true};
  check(idm_calibration_run(resumed, watch, &w, &support_error));
  check(idm_calibration_run(resumed, NULL, NULL, &support_error));
  same_results(one, resumed);
  idm_calibration_destroy(one);
  idm_calibration_destroy(two);
  idm_calibration_destroy(resumed);
  idm_problem_destroy(problem);
}

static void test_errors(void **state)
{
  (void)state;
  const idm_calibration_settings settings = make_settings(2, 10);
  const char *const refused[] = {"{beta: {prior: flat}}", "[]", "temperature"};
  const char *const words[] = {"a prior is flat", "nothing is free", "does not read it"};
  for (size_t i = 0; i < 3; i++) {
    idm_problem *problem = make_problem(refused[i]);
    idm_calibration *c = (idm_calibration *)problem;
    idm_error error = {0};
    assert_int_equal(idm_calibration_create(problem, &settings, &c, &error), IDM_INPUT);
    assert_null(c);
    assert_non_null(strstr(error.message, words[i]));
    idm_problem_destroy(problem);
  }
  /* Only inverse planners that return a posterior are accepted. */
  static const char *const strangers[] = {"map", "nobody"};
  static const char *const why[] = {"returns a point estimate", "is not known"};
  idm_problem *problem = make_problem(one_number);
  for (size_t i = 0; i < 2; i++) {
    idm_calibration_settings other = settings;
    idm_calibration *c;
    idm_error error = {0};
    snprintf(other.inverse, sizeof other.inverse, "%s", strangers[i]);
    assert_int_equal(idm_calibration_create(problem, &other, &c, &error), IDM_USAGE);
    assert_null(c);
    assert_non_null(strstr(error.message, why[i]));
  }
  /* A fit that fails ends the study with its error. */
  idm_calibration *c = make(problem, &settings);
  snprintf(c->settings.fit.sampler, sizeof c->settings.fit.sampler, "nobody");
  idm_error error = {0};
  assert_int_equal(idm_calibration_run(c, NULL, NULL, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "'nobody' is not known"));
  assert_false(c->done[0]);
  idm_calibration_destroy(c);
  idm_calibration_destroy(NULL);
  idm_problem_destroy(problem);
}

/* Every inverse planner that returns a posterior is accepted. */
static void test_other_inverse(void **state)
{
  (void)state;
  idm_problem *problem = make_problem(one_number);
  idm_calibration_settings settings = make_settings(2, 10);
  idm_calibration *bayes = make(problem, &settings), *laplace;
  snprintf(settings.inverse, sizeof settings.inverse, "laplace");
  laplace = make(problem, &settings);
  check(idm_calibration_run(bayes, NULL, NULL, &support_error));
  check(idm_calibration_run(laplace, NULL, NULL, &support_error));
  for (size_t i = 0; i < 2; i++) {
    assert_true(laplace->recovery[2 * i].truth == bayes->recovery[2 * i].truth);
    assert_true(laplace->recovery[2 * i].mean != bayes->recovery[2 * i].mean);
  }
  idm_calibration_destroy(laplace);
  idm_calibration_destroy(bayes);
  idm_problem_destroy(problem);
}

/* Defaults are valid values of the keys; the number of replications is not part of the request. */
static void test_keys(void **state)
{
  (void)state;
  idm_calibration_settings usual, read;
  idm_calibration_settings_default(&usual);
  memset(&read, 0, sizeof read);
  for (const idm_key *key = idm_calibration_keys(); key->name; key++) {
    char text[64];
    check(
        idm_key_set_text(key, &read, idm_key_text(key, &usual, text, sizeof text), &support_error));
    assert_true(idm_key_same(key, &usual, &read, 0));
    assert_int_equal(key->place, strcmp(key->name, "replications") == 0);
  }
}

/* --- simulation-based calibration ----------------------------------------------------------- */

/* Ranks of the truth are uniform if and only if prior, Jacobian, likelihood and sampler agree. The
 * prior is on (0, inf), so that the Jacobian has an effect, and the log is short, so that the prior
 * has one. p > 1e-3 for two quantities: a correct program fails at one seed in 500. */
static void test_calibrated(void **state)
{
  (void)state;
  enum { REPLICATIONS = 60, BINS = 10 };
  idm_problem *problem = make_problem("{alpha: {scale: identity, prior: {exponential: 1}}}");
  const idm_calibration_settings settings = make_settings(REPLICATIONS, 3);
  idm_calibration *c = make(problem, &settings);
  check(idm_calibration_run(c, NULL, NULL, &support_error));
  for (size_t q = 0; q < 2; q++) {
    size_t count[BINS];
    const double statistic = idm_calibration_uniformity(c, q, BINS, count);
    const double p = idm_chi_square_tail(statistic, BINS - 1);
    if (p < 1e-3) fail_msg("%s: chi-square %g, p = %g", c->quantity.name[q], statistic, p);
  }
  idm_calibration_destroy(c);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_recovery),
      cmocka_unit_test(test_preferences),
      cmocka_unit_test(test_threads_and_resuming),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_other_inverse),
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_calibrated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
