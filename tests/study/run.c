/* Fits in memory against runs of the same files; answers against recomputed numbers.
 *
 * Contents: fits · answers · stopping · runs */
#include "idm/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/host_support.h"

/* --- support -------------------------------------------------------------------------------- */

static idm_posterior *fit(const host *h)
{
  idm_posterior *posterior;
  check(idm_fit(h->problem, h->data, h->settings, &posterior, NULL, &support_error));
  return posterior;
}

static idm_status create_run(const host *h, idm_run_mode mode, idm_posterior **ret_posterior,
                             idm_error *error)
{
  return idm_run_create(h->run, mode, h->problem_path, (const char *const[]){h->log}, 1,
                        h->settings, ret_posterior, NULL, error);
}

/* The same quantities and draws, bit for bit. */
static void expect_same_draws(const idm_posterior *a, const idm_posterior *b)
{
  const size_t quantities = idm_posterior_quantities(a);
  assert_int_equal(idm_posterior_kind(a), idm_posterior_kind(b));
  assert_int_equal(idm_posterior_chains(a), idm_posterior_chains(b));
  assert_int_equal(idm_posterior_draws(a), idm_posterior_draws(b));
  assert_int_equal(quantities, idm_posterior_quantities(b));
  for (size_t i = 0; i < quantities; i++) {
    size_t length, other;
    const double *x = idm_posterior_values(a, i, &length);
    const double *y = idm_posterior_values(b, i, &other);
    assert_string_equal(idm_posterior_quantity_name(a, i), idm_posterior_quantity_name(b, i));
    assert_int_equal(length, other);
    assert_memory_equal(x, y, length * sizeof *x);
  }
}

static void expect_same_verdict(const idm_posterior *a, const idm_posterior *b)
{
  const idm_assessment *x = idm_posterior_assessment(a), *y = idm_posterior_assessment(b);
  assert_true(x && y);
  assert_string_equal(idm_assessment_verdict(x), idm_assessment_verdict(y));
  assert_int_equal(idm_assessment_trusted(x), idm_assessment_trusted(y));
  for (size_t i = 0; idm_assessment_check_name(x, i); i++)
    assert_string_equal(idm_assessment_check_outcome(x, i), idm_assessment_check_outcome(y, i));
  for (size_t i = 0; idm_assessment_failure(x, i); i++)
    assert_string_equal(idm_assessment_failure(x, i), idm_assessment_failure(y, i));
}

/* --- fits ----------------------------------------------------------------------------------- */

/* In memory, into a folder and loaded from there: one answer with one verdict, for one agent, for a
 * population and for people alone. */
static void memory_equals_folder(void **state)
{
  static const char *const kinds[][2] = {
      {"inverse", "bayes"}, {"inverse", "map"}, {"checks", "fast"}, {"by", "agent"},
      {"each", "agent"},    {"by", "site"},     {"each", "site"}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    host h = open_host(*state);
    idm_posterior *run, *loaded;
    idm_problem *problem;
    char difference[400];
    size_t length;
    set(&h, kinds[i][0], kinds[i][1]);
    read_log(&h);
    idm_posterior *memory = fit(&h);
    check(create_run(&h, IDM_RUN_NEW, &run, &support_error));
    assert_true(idm_run_is(h.run) && idm_run_complete(h.run));
    check(idm_run_load(h.run, &problem, &loaded, NULL, &support_error));
    expect_same_draws(memory, run);
    expect_same_draws(memory, loaded);
    expect_same_verdict(memory, run);
    expect_same_verdict(run, loaded);
    if (strcmp(kinds[i][0], "by") != 0) /* a population sets priors */
      assert_true(idm_problem_compare(problem, h.problem, 0, difference, sizeof difference));
    assert_null(idm_posterior_log_likelihood(loaded, &length));
    assert_int_equal(length, 0);
    idm_posterior_destroy(memory);
    idm_posterior_destroy(run);
    idm_posterior_destroy(loaded);
    idm_problem_destroy(problem);
    close_host(&h);
  }
}

/* The problem of a fit is not changed, and draws depend on the seed, not on the threads. */
static void fits_leave_their_inputs(void **state)
{
  host h = open_host(*state);
  idm_problem *before;
  char difference[400];
  check(idm_problem_read(h.problem_path, &before, NULL, &support_error));
  idm_posterior *one = fit(&h);
  set(&h, "threads", "2");
  idm_posterior *two = fit(&h);
  expect_same_draws(one, two);
  idm_posterior_destroy(two);
  set(&h, "seed", "9");
  two = fit(&h);
  assert_memory_not_equal(idm_posterior_values(one, 0, NULL), idm_posterior_values(two, 0, NULL),
                          100 * sizeof(double));
  idm_posterior_destroy(two);
  idm_posterior_destroy(one);
  set(&h, "class", "inverse-soft-q-learning");
  if (idm_fit(h.problem, h.data, h.settings, &one, NULL, NULL) == IDM_OK)
    idm_posterior_destroy(one);
  set(&h, "class", "");
  set(&h, "by", "agent");
  idm_posterior_destroy(fit(&h));
  assert_true(idm_problem_compare(h.problem, before, 0, difference, sizeof difference));
  idm_problem_destroy(before);
  close_host(&h);
}

static void expect_no_fit(const host *h, idm_status status)
{
  idm_error error = {0};
  idm_posterior *posterior;
  const idm_status found = idm_fit(h->problem, h->data, h->settings, &posterior, NULL, &error);
  if (found != status)
    fail_msg("%s '%s', expected %s", idm_status_name(found), error.message,
             idm_status_name(status));
  assert_true(error.message[0] != '\0');
  assert_null(posterior);
}

static void fits_that_are_refused(void **state)
{
  host h = open_host(*state);
  idm_error error = {0};
  idm_posterior *posterior;
  assert_int_equal(idm_fit(NULL, h.data, h.settings, &posterior, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_fit(h.problem, NULL, h.settings, &posterior, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_fit(h.problem, h.data, NULL, &posterior, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_fit(h.problem, h.data, h.settings, NULL, NULL, &error), IDM_USAGE);
  /* A column that the log was read without. */
  set(&h, "by", "nobody");
  expect_no_fit(&h, IDM_USAGE);
  set(&h, "by", "");
  set(&h, "each", "nobody");
  expect_no_fit(&h, IDM_USAGE);
  set(&h, "each", "");
  set(&h, "inverse", "none");
  expect_no_fit(&h, IDM_USAGE);
  set(&h, "inverse", "bayes");
  set(&h, "class", "none");
  expect_no_fit(&h, IDM_USAGE);
  set(&h, "class", "");
  set(&h, "sampler", "none");
  expect_no_fit(&h, IDM_USAGE);
  set(&h, "sampler", "");
  check(idm_problem_set_free(h.problem, "[]", &support_error));
  expect_no_fit(&h, IDM_INPUT);
  close_host(&h);
}

/* --- answers -------------------------------------------------------------------------------- */

/* The log-likelihood of a draw is the score of the log by its parameter. */
static void draws_and_their_likelihood(void **state)
{
  host h = open_host(*state);
  idm_posterior *p = fit(&h);
  size_t length, units;
  const double *alpha = idm_posterior_values(p, 0, &length);
  assert_int_equal(idm_posterior_kind(p), IDM_POSTERIOR);
  assert_int_equal(idm_posterior_chains(p), 2);
  assert_int_equal(idm_posterior_draws(p), 50);
  assert_int_equal(idm_posterior_quantities(p), 1);
  assert_string_equal(idm_posterior_quantity_name(p, 0), "alpha");
  assert_null(idm_posterior_quantity_name(p, 1));
  assert_int_equal(idm_posterior_find(p, "alpha"), 0);
  assert_int_equal(idm_posterior_find(p, "beta"), 1);
  assert_int_equal(idm_posterior_find(p, NULL), 1);
  assert_int_equal(length, 100);
  const double *log_likelihood = idm_posterior_log_likelihood(p, &units);
  assert_int_equal(units, 100 * 36);
  for (size_t draw = 0; draw < 100; draw += 33) {
    char text[60];
    double sum = 0;
    idm_score score;
    snprintf(text, sizeof text, "alpha=%.17g", alpha[draw]);
    check(idm_problem_set(h.problem, text, &support_error));
    check(idm_score_log(h.problem, h.data, &score, NULL, &support_error));
    for (size_t t = 0; t < 36; t++) sum += log_likelihood[draw * 36 + t];
    assert_near(sum, score.log_likelihood, 1e-7);
  }
  assert_null(idm_posterior_values(p, 1, &length));
  assert_int_equal(length, 0);
  idm_posterior_destroy(p);
  /* By decision, and not at all. */
  set(&h, "log_likelihood", "decision");
  p = fit(&h);
  assert_non_null(idm_posterior_log_likelihood(p, &units));
  assert_int_equal(units, 100 * idm_data_rows(h.data));
  idm_posterior_destroy(p);
  set(&h, "log_likelihood", "none");
  p = fit(&h);
  assert_null(idm_posterior_log_likelihood(p, &units));
  assert_int_equal(units, 0);
  idm_posterior_destroy(p);
  close_host(&h);
}

static void summaries_of_draws(void **state)
{
  host h = open_host(*state);
  idm_posterior *p = fit(&h);
  idm_diagnosis d;
  idm_error error = {0};
  const double *alpha = idm_posterior_values(p, 0, NULL);
  double sum = 0, squares = 0, logs = 0;
  for (size_t i = 0; i < 100; i++) sum += alpha[i];
  for (size_t i = 0; i < 100; i++) squares += pow(alpha[i] - sum / 100, 2);
  for (size_t i = 0; i < 100; i++) logs += log(alpha[i]);
  check(idm_posterior_diagnose(p, 0, &d, &support_error));
  assert_near(d.mean, sum / 100, 1e-12);
  assert_near(d.sd, sqrt(squares / 99), 1e-12);
  assert_true(d.q05 < d.q50 && d.q50 < d.q95 && d.rhat > 0.9 && d.ess_bulk > 0);
  assert_int_equal(idm_posterior_diagnose(p, 1, &d, &error), IDM_USAGE);
  assert_int_equal(idm_posterior_diagnose(NULL, 0, &d, &error), IDM_USAGE);
  assert_int_equal(idm_posterior_diagnose(p, 0, NULL, &error), IDM_USAGE);

  /* The distance at the centre: the mean of log alpha. */
  idm_projection projection;
  idm_score score;
  char text[60];
  check(idm_projection_centre(p, h.data, &projection, &support_error));
  snprintf(text, sizeof text, "alpha=%.17g", exp(logs / 100));
  check(idm_problem_set(h.problem, text, &support_error));
  check(idm_score_log(h.problem, h.data, &score, NULL, &support_error));
  assert_int_equal(projection.decisions, score.decisions);
  assert_near(projection.log_loss, -score.log_likelihood / (double)score.decisions, 1e-9);
  assert_near(projection.brier, score.brier / (double)score.decisions, 1e-9);
  assert_near(projection.uniform_log_loss, log(3), 1e-12);
  assert_near(projection.pseudo_r2, 1 - projection.log_loss / log(3), 1e-12);
  idm_posterior_destroy(p);
  close_host(&h);
}

static void verdicts(void **state)
{
  host h = open_host(*state);
  idm_posterior *p = fit(&h), *read;
  idm_assessment *assessment;
  idm_error error = {0};
  char path[120];
  size_t applicable = 0, count = 0;
  check(idm_assess(p, h.data, 1, &assessment, &support_error));
  const char *verdict = idm_assessment_verdict(assessment);
  assert_true(verdict && verdict[0]);
  /* Two chains of 50 draws are too few. */
  assert_false(idm_assessment_trusted(assessment));
  assert_non_null(idm_assessment_failure(assessment, 0));
  for (; idm_assessment_check_name(assessment, count); count++) {
    const char *outcome = idm_assessment_check_outcome(assessment, count);
    applicable += outcome[0] != '\0';
    if (strcmp(idm_assessment_check_name(assessment, count), "effective-draws") == 0) {
      assert_string_equal(outcome, "failed");
      assert_true(idm_assessment_check_value(assessment, count) < 400);
    }
    if (!outcome[0]) assert_true(isnan(idm_assessment_check_value(assessment, count)));
  }
  assert_true(applicable > 10 && count > applicable);
  assert_null(idm_assessment_check_outcome(assessment, count));
  assert_true(isnan(idm_assessment_check_value(assessment, count)));
  for (size_t i = 0; i < 100; i++) {
    if (!idm_assessment_failure(assessment, i))
      assert_null(idm_assessment_failure(assessment, i + 1));
    if (!idm_assessment_misfit(assessment, i))
      assert_null(idm_assessment_misfit(assessment, i + 1));
    if (!idm_assessment_remark(assessment, i))
      assert_null(idm_assessment_remark(assessment, i + 1));
  }
  /* The files of an answer. */
  snprintf(path, sizeof path, "%s/out", ((folder *)*state)->path);
  check(idm_posterior_write_summary(p, assessment, NULL, path, &support_error));
  char *text;
  size_t length;
  check(idm_file_read(path, 1 << 20, &text, &length, &support_error));
  assert_non_null(strstr(text, "\"effective-draws\""));
  free(text);
  check(idm_posterior_write_netcdf(p, h.data, path, &support_error));
  check(idm_posterior_read_netcdf(path, h.problem, &read, &support_error));
  expect_same_draws(p, read);
  assert_null(idm_posterior_assessment(read));
  idm_posterior_destroy(read);
  assert_int_equal(idm_posterior_read_netcdf(h.log, NULL, &read, &error), IDM_INPUT);
  assert_null(read);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(p);
  close_host(&h);
}

/* Accessors without an object. */
static void nothing_of_nothing(void **state)
{
  (void)state;
  size_t length = 7;
  assert_int_equal(idm_posterior_kind(NULL), IDM_POINT);
  assert_int_equal(idm_posterior_chains(NULL) + idm_posterior_draws(NULL), 0);
  assert_int_equal(idm_posterior_quantities(NULL) + idm_posterior_find(NULL, "alpha"), 0);
  assert_null(idm_posterior_quantity_name(NULL, 0));
  assert_null(idm_posterior_values(NULL, 0, &length));
  assert_int_equal(length, 0);
  length = 7;
  assert_null(idm_posterior_log_likelihood(NULL, &length));
  assert_int_equal(length, 0);
  assert_null(idm_posterior_assessment(NULL));
  assert_false(idm_assessment_trusted(NULL));
  assert_null(idm_assessment_failure(NULL, 0));
  assert_null(idm_assessment_misfit(NULL, 0));
  assert_null(idm_assessment_remark(NULL, 0));
  assert_null(idm_assessment_check_name(NULL, 0));
  assert_null(idm_assessment_check_outcome(NULL, 0));
  assert_true(isnan(idm_assessment_check_value(NULL, 0)));
  idm_posterior_destroy(NULL);
  idm_assessment_destroy(NULL);
}

/* --- stopping ------------------------------------------------------------------------------- */

/* Stopped at any call before the last draw, a fit gives no answer; later, the whole answer. The
 * settings are as good as new afterwards. */
static void stopped_fits(void **state)
{
  static const char *const kinds[][2] = {{"", ""}, {"by", "site"}, {"each", "site"}};
  for (size_t i = 0; i < 3; i++) {
    host h = open_host(*state);
    set(&h, "checks", i ? "none" : "full");
    if (i) set(&h, kinds[i][0], kinds[i][1]);
    if (i) set(&h, "draws", "300");
    read_log(&h);
    idm_posterior *whole = fit(&h);
    stopper s = {0};
    idm_settings_watch(h.settings, stop, &s);
    idm_posterior *watched = fit(&h);
    expect_same_draws(whole, watched);
    idm_posterior_destroy(watched);
    if (!i) assert_true(s.calls > 0); /* calls follow the clock: very short work may have none */
    const int calls = s.calls;
    for (int at = 1; at <= calls; at += 1 + calls / 3) {
      s = (stopper){.at = at};
      idm_error error = {0};
      const idm_status status = idm_fit(h.problem, h.data, h.settings, &watched, NULL, &error);
      if (s.calls < at) {
        idm_posterior_destroy(watched);
        continue;
      }
      if (status != IDM_OK && (status != IDM_UNTRUSTED || watched))
        fail_msg("%s stopped at call %d of %d: %s '%s'", kinds[i][0], at, calls,
                 idm_status_name(status), error.message);
      if (status == IDM_OK) expect_same_draws(whole, watched);
      idm_posterior_destroy(watched);
    }
    idm_settings_watch(h.settings, NULL, NULL);
    watched = fit(&h);
    expect_same_draws(whole, watched);
    idm_posterior_destroy(watched);
    idm_posterior_destroy(whole);
    close_host(&h);
  }
}

/* A watch that stops at the first check: its share begins below that of the last draw. */
typedef struct late_stopper {
  double last;
  bool stopped;
} late_stopper;

static bool stop_late(void *context, double done)
{
  late_stopper *s = context;
  s->stopped = s->stopped || done < s->last;
  s->last = done;
  return s->stopped;
}

/* Stopped in the checks, a fit has all draws, and a verdict that is not trusted and states why. */
static void stopped_after_the_last_draw(void **state)
{
  host h = open_host(*state);
  set(&h, "checks", "full");
  set(&h, "draws", "1000");
  set(&h, "thin", "20");
  idm_posterior *whole = fit(&h), *stopped;
  idm_assessment *checked;
  late_stopper s = {0};
  idm_settings_watch(h.settings, stop_late, &s);
  check(idm_fit(h.problem, h.data, h.settings, &stopped, NULL, &support_error));
  assert_true(s.stopped);
  expect_same_draws(whole, stopped);
  const idm_assessment *a = idm_posterior_assessment(stopped);
  assert_false(idm_assessment_trusted(a));
  bool stated = false;
  for (size_t n = 0; idm_assessment_failure(a, n); n++)
    stated = stated || strstr(idm_assessment_failure(a, n), "idm_assess runs them");
  assert_true(stated);
  for (size_t n = 0; idm_assessment_check_name(a, n); n++)
    if (strcmp(idm_assessment_check_name(a, n), "complete") == 0)
      assert_string_equal(idm_assessment_check_outcome(a, n), "failed");
  check(idm_assess(stopped, h.data, 1, &checked, &support_error));
  idm_assessment_destroy(checked);
  idm_posterior_destroy(stopped);
  idm_posterior_destroy(whole);
  close_host(&h);
}

/* A run that is stopped goes on to the draws of one that was not; its inputs are those of its
 * config.yaml. */
static void stopped_runs(void **state)
{
  host h = open_host(*state);
  set(&h, "thin", "40");
  idm_posterior *whole = fit(&h), *run;
  idm_error error = {0};
  stopper s = {.at = 1};
  idm_settings_watch(h.settings, stop, &s);
  assert_int_equal(create_run(&h, IDM_RUN_NEW, &run, &error), IDM_UNTRUSTED);
  assert_null(run);
  idm_settings_watch(h.settings, NULL, NULL);
  set(&h, "draws", "7"); /* not read */
  if (idm_run_is(h.run)) {
    assert_false(idm_run_complete(h.run));
    check(idm_run_create(h.run, IDM_RUN_RESUME, NULL, NULL, 0, h.settings, &run, NULL,
                         &support_error));
    expect_same_draws(whole, run);
    assert_true(idm_run_complete(h.run));
    idm_posterior_destroy(run);
  }
  idm_posterior_destroy(whole);
  close_host(&h);
}

/* --- runs ----------------------------------------------------------------------------------- */

static void runs_that_are_refused(void **state)
{
  host h = open_host(*state);
  idm_error error = {0};
  idm_posterior *run;
  idm_problem *problem;
  const char *const paths[] = {h.log, NULL};
#define REFUSED(folder, mode, problem, paths, count, status)                                       \
  do {                                                                                             \
    assert_int_equal(                                                                              \
        idm_run_create(folder, mode, problem, paths, count, h.settings, &run, NULL, &error),       \
        status);                                                                                   \
    assert_null(run);                                                                              \
  } while (0)
  REFUSED(h.run, IDM_RUN_NEW, NULL, paths, 1, IDM_USAGE);
  REFUSED(h.run, IDM_RUN_NEW, h.problem_path, paths, 0, IDM_USAGE);
  REFUSED(h.run, IDM_RUN_NEW, h.problem_path, paths, 2, IDM_USAGE);
  REFUSED(h.run, IDM_RUN_NEW, h.problem_path, NULL, 1, IDM_USAGE);
  REFUSED(((folder *)*state)->path, IDM_RUN_NEW, h.problem_path, paths, 1, IDM_USAGE);
  assert_int_not_equal(
      idm_run_create(h.run, IDM_RUN_RESUME, NULL, NULL, 0, h.settings, &run, NULL, &error), IDM_OK);
  assert_int_equal(
      idm_run_create(NULL, IDM_RUN_NEW, h.problem_path, paths, 1, h.settings, &run, NULL, &error),
      IDM_USAGE);
  assert_int_equal(
      idm_run_create(h.run, IDM_RUN_NEW, h.problem_path, paths, 1, NULL, &run, NULL, &error),
      IDM_USAGE);
  assert_int_equal(
      idm_run_create(h.run, IDM_RUN_NEW, h.problem_path, paths, 1, h.settings, NULL, NULL, &error),
      IDM_USAGE);
  assert_false(idm_run_is(h.run));
  assert_int_equal(idm_run_load(h.run, &problem, &run, NULL, &error), IDM_INPUT);
  assert_true(!problem && !run);
  assert_int_equal(idm_run_load(NULL, &problem, &run, NULL, &error), IDM_USAGE);
  /* A run is replaced only with leave. */
  check(create_run(&h, IDM_RUN_NEW, &run, &support_error));
  idm_posterior *first = run;
  REFUSED(h.run, IDM_RUN_NEW, h.problem_path, paths, 1, IDM_USAGE);
  check(create_run(&h, IDM_RUN_OVERWRITE, &run, &support_error));
  expect_same_draws(first, run);
  idm_posterior_destroy(run);
  idm_posterior_destroy(first);
  check(idm_run_load(h.run, NULL, NULL, NULL, &support_error));
  check(idm_run_load(h.run, &problem, NULL, NULL, &support_error));
  idm_problem_destroy(problem);
  close_host(&h);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(memory_equals_folder),        IN_FOLDER(fits_leave_their_inputs),
      IN_FOLDER(fits_that_are_refused),       IN_FOLDER(draws_and_their_likelihood),
      IN_FOLDER(summaries_of_draws),          IN_FOLDER(verdicts),
      cmocka_unit_test(nothing_of_nothing),   IN_FOLDER(stopped_fits),
      IN_FOLDER(stopped_after_the_last_draw), IN_FOLDER(stopped_runs),
      IN_FOLDER(runs_that_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
