/* Tests failing allocations in chains, fits, their verdict, and results derived from them. */
#include <stdio.h>
#include <string.h>

#include "allocation/heap_support.h"
#include "allocation/setup_support.h"
#include "invert/utility/hidden_support.h"
#include "invert/utility/preference_support.h"

static idm_status normal(void *context, const double *x, double *log_density, double *opt_gradient,
                         idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  *log_density = -0.5 * (x[0] * x[0] + x[1] * x[1]);
  for (size_t i = 0; opt_gradient && i < 2; i++) opt_gradient[i] = -x[i];
  return IDM_OK;
}

static idm_status run_chains(const void *argument, idm_error *error)
{
  const idm_target target[] = {{2, true, NULL, normal}, {2, true, NULL, normal}};
  idm_chains_settings settings = {.sampler = argument, .chains = 2, .draws = 4, .threads = 1};
  idm_sampler_settings_default(&settings.kernel);
  settings.kernel.warmup = 4;
  idm_chains *chains = GARBAGE;
  char *bytes = NULL;
  size_t length;
  idm_status status = idm_chains_create(&settings, 2, &chains, error);
  assert_result(status, chains);
  for (size_t i = 0; i < 2 && status == IDM_OK; i++)
    status = idm_chains_start(chains, i, &target[i], (double[]){0.1, 0.2}, NULL, NULL, error);
  if (status == IDM_OK) status = idm_chains_run(chains, target, NULL, NULL, error);
  if (status == IDM_OK) {
    bytes = GARBAGE;
    status = idm_chains_save(chains, 1, &bytes, &length, error);
    assert_result(status, bytes);
  }
  if (status == IDM_OK) status = idm_chains_load(chains, 1, bytes, length, error);
  free(bytes);
  idm_chains_destroy(chains);
  return status;
}

static void test_chains(void **state)
{
  (void)state;
  for (size_t i = 0; idm_sampler_at(i); i++)
    every_failure(idm_sampler_at(i)->name, run_chains, idm_sampler_at(i), succeeds);
}

static idm_status parameters(const void *argument, idm_error *error)
{
  idm_parameters *p = GARBAGE;
  const idm_status status = idm_parameters_create(argument, &p, error);
  assert_result(status, p);
  idm_parameters_destroy(p);
  return status;
}

static void test_parameters(void **state)
{
  (void)state;
  static const char *const free_texts[] = {
      "alpha, beta, eta", "{utility: {entries: {cost: [monitor], d: [declare_healthy.healthy]}}}",
      "model_prior, action_prior, discount", "utility"};
  for (size_t i = 0; i < sizeof free_texts / sizeof free_texts[0]; i++) {
    idm_problem *problem = support_diag(0.5, 1.25, 0.001);
    check(idm_problem_set_free(problem, free_texts[i], &support_error));
    every_failure(free_texts[i], parameters, problem, succeeds);
    idm_problem_destroy(problem);
  }
}

static idm_status free_blocks(const void *argument, idm_error *error)
{
  idm_problem *problem = NULL;
  idm_status status = idm_problem_read("example:diag", &problem, NULL, error);
  if (status == IDM_OK) status = idm_problem_set_free(problem, argument, error);
  idm_problem_destroy(problem);
  return status;
}

static void test_free_blocks(void **state)
{
  (void)state;
  every_failure("--free alpha,eta", free_blocks, "alpha,eta", succeeds);
  every_failure("--free, entries", free_blocks,
                "{utility: {entries: {cost: [monitor], d: [declare_healthy.healthy]}}}", succeeds);
}

static idm_status fit(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  const idm_fit_settings settings = few("");
  idm_posterior *posterior = GARBAGE;
  const idm_status status =
      idm_inverse_fit(f->inverse, f->problem, f->data, &settings, NULL, &posterior, NULL, error);
  assert_result(status, posterior);
  idm_posterior_destroy(posterior);
  return status;
}

static idm_status assess(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  idm_assessment *assessment = GARBAGE;
  const idm_status status =
      idm_assess_monitored(f->problem, f->data, f->posterior, 1, NULL, &assessment, error);
  assert_result(status, assessment);
  idm_assessment_destroy(assessment);
  return status;
}

static void test_fit(void **state)
{
  (void)state;
  fitted f = open_fit();
  for (size_t i = 0; idm_inverse_at(i); i++) {
    f.inverse = idm_inverse_at(i);
    /* Inverse planners whose data this log lacks are tested below and in files of their own. */
    if (idm_inverse_check(f.inverse, f.problem, f.data, NULL) != IDM_OK) continue;
    every_failure(f.inverse->name, fit, &f, succeeds);
  }
  /* The profile of every number runs the same code, so only every fifth or fourth allocation fails.
   */
  fail_one_by_one("assess", assess, &f, true, recovers, 5);
  fail_one_by_one("assess", assess, &f, false, recovers, 4);
  close_fit(&f);
}

/* Inverse planners based on soft plans and on occupancies, each with a log of its own. */
typedef struct sought_for {
  const char *inverse;
  idm_problem *problem;
  idm_data *data;
} sought_for;

static idm_status seek(const void *argument, idm_error *error)
{
  const sought_for *s = argument;
  idm_fit_settings settings;
  idm_posterior *posterior = GARBAGE;
  idm_fit_settings_default(&settings);
  settings.entropy = 0.2;
  const idm_status status = idm_inverse_fit(idm_inverse_find(s->inverse), s->problem, s->data,
                                            &settings, NULL, &posterior, NULL, error);
  assert_result(status, posterior);
  idm_posterior_destroy(posterior);
  return status;
}

static void test_soft(void **state)
{
  (void)state;
  static const char *const rule = "agent: {planner: decision-rule, weights: {right: [0, 0, 0]}}\n";
  static const char *const soft = "agent: {planner: maximum-entropy, alpha: 1}\n";
  static const char *const inverses[] = {"regularised-margin", "policy-inversion",
                                         "distribution-matching"};
  for (size_t i = 0; i < 3; i++) {
    char text[400];
    snprintf(text, sizeof text,
             "states: [a, b]\nactions: [left, right]\nobservations: states\ndiscount: 0.9\n"
             "start: a\ntransition: {left: [[1, 0], [0.8, 0.2]], right: [[0.2, 0.8], [0, 1]]}\n%s",
             i == 2 ? rule : soft);
    sought_for s = {inverses[i], support_yaml(text), NULL};
    s.data =
        support_data(s.problem, "trajectory,action,observation\n1,left,a\n1,right,b\n1,left,a\n"
                                "2,right,b\n2,right,b\n2,left,a\n");
    double *batch = s.data->number[IDM_COLUMN_BATCH] = calloc(2, sizeof *batch);
    for (size_t t = 0; t < 2; t++) batch[t] = 1 + (double)t;
    check(idm_problem_set_free(s.problem, i == 2 ? "weights" : "utility", &support_error));
    every_failure(s.inverse, seek, &s, recovers);
    idm_data_destroy(s.data);
    idm_problem_destroy(s.problem);
  }
}

/* Hidden states, where the constraints of one plan are not sufficient, so further ones are
 * generated. */
static void test_beliefs(void **state)
{
  (void)state;
  static hidden_beliefs b;
  const hidden h = hidden_home();
  size_t action[HIDDEN_MOST] = {0};
  hidden_reach(&h, &b);
  sought_for s = {"maximum-margin", hidden_problem(&h, NULL, NULL, NULL), NULL};
  s.data = hidden_log(&h, &b, action, s.problem, 2, 3, 1);
  check(idm_problem_set_free(s.problem, "utility", &support_error));
  fail_one_by_one(s.inverse, seek, &s, true, recovers, 1);
  fail_one_by_one(s.inverse, seek, &s, false, recovers, 3);
  idm_data_destroy(s.data);
  idm_problem_destroy(s.problem);
}

/* Notes may be lost; the written file is complete. */
static idm_status explain(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  idm_notes notes = {0};
  idm_explanation *explanation = GARBAGE;
  idm_status status =
      idm_explain_log(f->problem, f->posterior, f->data, NULL, &explanation, &notes, error);
  assert_result(status, explanation);
  if (status == IDM_OK)
    status = idm_explanation_write_csv(explanation, f->data, f->problem->setting, -1,
                                       in_folder("out"), error);
  idm_explanation_destroy(explanation);
  idm_notes_clear(&notes);
  return status;
}

static idm_status explain_by_problem(const void *argument, idm_error *error)
{
  fitted f = *(const fitted *)argument;
  f.posterior = NULL;
  return explain(&f, error);
}

static void test_explain(void **state)
{
  (void)state;
  fitted f = open_fit();
  every_failure("explain by draws", explain, &f, recovers);
  fail_one_by_one("explain by the problem", explain_by_problem, &f, true, recovers, 3);
  close_fit(&f);
}

static idm_status calibrate(const void *argument, idm_error *error)
{
  const fitted *f = argument;
  idm_calibration_settings settings;
  idm_calibration_settings_default(&settings);
  settings.replications = 1;
  settings.trajectories = 2;
  settings.steps = 3;
  settings.threads = 1;
  settings.fit = few("");
  settings.fit.draws = 500; /* enough draws at the first attempt */
  settings.fit.warmup = 100;
  idm_calibration *calibration = GARBAGE;
  idm_status status = idm_calibration_create(f->problem, &settings, &calibration, error);
  assert_result(status, calibration);
  if (status == IDM_OK) status = idm_calibration_run(calibration, NULL, NULL, error);
  idm_calibration_destroy(calibration);
  return status;
}

static void test_calibration(void **state)
{
  (void)state;
  fitted f = open_fit();
  /* Each run is slow, and its parts are tested above, so only every seventh or fifth allocation
   * fails. */
  fail_one_by_one("calibration", calibrate, &f, true, recovers, 7);
  fail_one_by_one("calibration", calibrate, &f, false, recovers, 5);
  close_fit(&f);
}

/* Utilities from preferences: the mode, the posterior, and their verdict. */
typedef struct preferring {
  const char *inverse;
  const idm_problem *problem;
  const idm_data *data;
} preferring;

static idm_status fit_preferences(const void *argument, idm_error *error)
{
  const preferring *p = argument;
  idm_fit_settings settings;
  idm_posterior *posterior = GARBAGE;
  idm_assessment *assessment = NULL;
  idm_fit_settings_default(&settings);
  settings.chains = 2;
  settings.draws = settings.warmup = 4;
  settings.threads = 1;
  settings.prior_draws = 3;
  idm_status status = idm_inverse_fit(idm_inverse_find(p->inverse), p->problem, p->data, &settings,
                                      NULL, &posterior, NULL, error);
  assert_result(status, posterior);
  if (status == IDM_OK) {
    assessment = GARBAGE;
    status = idm_assess_monitored(p->problem, p->data, posterior, 1, NULL, &assessment, error);
    assert_result(status, assessment);
  }
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  return status;
}

/* Every allocation fails where states are observed. Where they are hidden, a plan is included, and
 * only every seventh allocation fails. */
static void test_preferences(void **state)
{
  (void)state;
  static const char *const inverses[] = {"preference", "preference-bayes"};
  static const char *const texts[] = {walk_text, tiger_text};
  for (size_t i = 0; i < 4; i++) {
    idm_problem *problem = make_problem(texts[i / 2], "utility");
    idm_data *data = make_preferred(problem, 5, 8, false, 2);
    const preferring p = {inverses[i % 2], problem, data};
    if (i < 2)
      every_failure(p.inverse, fit_preferences, &p, recovers);
    else
      fail_one_by_one(p.inverse, fit_preferences, &p, false, recovers, 7);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrappers_are_linked),
      cmocka_unit_test(test_chains),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_free_blocks),
      cmocka_unit_test(test_fit),
      cmocka_unit_test(test_soft),
      cmocka_unit_test(test_beliefs),
      cmocka_unit_test(test_preferences),
      cmocka_unit_test(test_explain),
      cmocka_unit_test(test_calibration),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
