/* Tests that functions of an answer use the problem that was fitted: on its lattice, with the
 * planner of its class, in the dynamics that were learnt. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idm/explain.h"
#include "idm/figure.h"
#include "idm/learn.h"
#include "idm/run.h"
#include "study/host_support.h"
#include "study/study.h"

static idm_posterior *fit(const host *h)
{
  idm_posterior *p;
  check(idm_fit(h->problem, h->data, h->settings, &p, NULL, &support_error));
  return p;
}

/* The distance of an answer is the score of the log by the problem at its centre. */
static void expect_distance(const idm_posterior *p, const idm_data *data)
{
  idm_projection projection;
  idm_score score;
  idm_problem *centre;
  check(idm_projection_centre(p, data, &projection, &support_error));
  check(idm_problem_from_posterior(p, IDM_CENTRE, &centre, &support_error));
  check(idm_score_log(centre, data, &score, NULL, &support_error));
  assert_near(projection.log_loss, -score.log_likelihood / (double)score.decisions, 1e-9);
  assert_near(projection.brier, score.brier / (double)score.decisions, 1e-9);
  idm_problem_destroy(centre);
}

/* The same checks with the same values, but for those that depend on time or on the run. */
static void expect_same_checks(const idm_assessment *a, const idm_assessment *b)
{
  size_t compared = 0;
  for (size_t i = 0; idm_assessment_check_name(a, i); i++) {
    const char *name = idm_assessment_check_name(a, i);
    if (strcmp(name, "complete") == 0) continue;
    if (strcmp(idm_assessment_check_outcome(a, i), idm_assessment_check_outcome(b, i)) != 0)
      fail_msg("%s: '%s' and '%s'", name, idm_assessment_check_outcome(a, i),
               idm_assessment_check_outcome(b, i));
    if (isnan(idm_assessment_check_value(a, i))) continue;
    assert_near(idm_assessment_check_value(a, i), idm_assessment_check_value(b, i), 1e-12);
    compared++;
  }
  assert_true(compared > 8);
}

static void expect_same_verdict(const idm_posterior *p, const idm_data *data)
{
  idm_assessment *again;
  check(idm_assess(p, data, 2, &again, &support_error));
  expect_same_checks(idm_posterior_assessment(p), again);
  idm_assessment_destroy(again);
}

/* --- lattices ------------------------------------------------------------------------------- */

/* A log that needs a finer lattice than the default. */
static host open_fine(const folder *f)
{
  host h = open_host(f);
  idm_data_destroy(h.data);
  check(idm_problem_set(h.problem, "resolution=auto", &support_error));
  check(idm_problem_set(h.problem, "evaluate=interpolate", &support_error));
  check(idm_problem_set_free(h.problem, "{beta: {scale: inverse}, eta: }", &support_error));
  check(idm_simulate_log(h.problem, 6000, 0, 4, &h.data, &support_error));
  set(&h, "checks", "full");
  set(&h, "draws", "100");
  set(&h, "threads", "2");
  return h;
}

static void refined_lattices(void **state)
{
  host h = open_fine(*state);
  idm_posterior *p = fit(&h);
  const idm_problem *fitted = idm_posterior_problem(p);
  assert_int_equal(h.problem->agent.resolution, 0);
  assert_true(fitted->agent.resolution > 99);
  assert_int_equal(fitted->agent.resolution, p->resolution);
  expect_distance(p, h.data);
  expect_same_verdict(p, h.data);
  /* On the default lattice the distance differs. */
  idm_projection fine, coarse;
  check(idm_projection_centre(p, h.data, &fine, &support_error));
  check(idm_projection_measure_centre(h.problem, p, h.data, &coarse, &support_error));
  assert_true(fine.log_loss != coarse.log_loss);
  /* An explanation by the answer is that by the problem on its lattice. */
  idm_explanation *by_answer, *by_problem, *by_default;
  check(idm_explain(NULL, p, h.data, NULL, &by_answer, NULL, &support_error));
  check(idm_explain_log(fitted, p, h.data, NULL, &by_problem, NULL, &support_error));
  check(idm_explain_log(h.problem, p, h.data, NULL, &by_default, NULL, &support_error));
  const double mean = idm_explanation_person(by_answer, 0)->surprise;
  assert_near(mean, idm_explanation_person(by_problem, 0)->surprise, 0);
  assert_true(mean != idm_explanation_person(by_default, 0)->surprise);
  idm_explanation_destroy(by_answer);
  idm_explanation_destroy(by_problem);
  idm_explanation_destroy(by_default);
  idm_posterior_destroy(p);
  close_host(&h);
}

/* The curve of a policy follows the answer, not the numbers of the caller's problem. */
static void figures_of_answers(void **state)
{
  host h = open_host(*state);
  idm_posterior *p = fit(&h);
  idm_problem *centre;
  idm_figure *of_answer, *of_centre, *of_problem;
  const idm_figure_options options = {.width = IDM_FIGURE_WIDE};
  char *text[3];
  check(idm_problem_from_posterior(p, IDM_CENTRE, &centre, &support_error));
  check(idm_figure_make("policy", NULL, p, NULL, NULL, &of_answer, NULL, &support_error));
  check(idm_figure_make("policy", centre, NULL, NULL, NULL, &of_centre, NULL, &support_error));
  check(idm_figure_make("policy", h.problem, NULL, NULL, NULL, &of_problem, NULL, &support_error));
  check(idm_figure_svg(of_answer, &options, &text[0], &support_error));
  check(idm_figure_svg(of_centre, &options, &text[1], &support_error));
  check(idm_figure_svg(of_problem, &options, &text[2], &support_error));
  assert_string_equal(text[0], text[1]);
  assert_string_not_equal(text[0], text[2]);
  for (size_t i = 0; i < 3; i++) free(text[i]);
  idm_figure_destroy(of_answer);
  idm_figure_destroy(of_centre);
  idm_figure_destroy(of_problem);
  idm_problem_destroy(centre);
  idm_posterior_destroy(p);
  close_host(&h);
}

/* --- classes and draws ---------------------------------------------------------------------- */

/* A class has a planner and free parameters of its own. */
static void planners_of_classes(void **state)
{
  host h = open_host(*state);
  set(&h, "class", "ibrc");
  idm_posterior *p;
  idm_error error = {0};
  check(idm_problem_set(h.problem, "planner=rational", &support_error));
  if (idm_fit(h.problem, h.data, h.settings, &p, NULL, &error) != IDM_OK)
    fail_msg("%s", error.message);
  assert_string_equal(idm_agent_planner(&h.problem->agent)->name, "rational");
  assert_string_equal(idm_agent_planner(&idm_posterior_problem(p)->agent)->name,
                      "bounded-rational");
  expect_distance(p, h.data);
  idm_posterior_destroy(p);
  close_host(&h);
}

static void problems_of_draws(void **state)
{
  host h = open_host(*state);
  idm_posterior *p = fit(&h);
  const double *alpha = idm_posterior_values(p, 0, NULL), *value;
  size_t length;
  double logs = 0;
  idm_problem *problem;
  idm_error error = {0};
  for (size_t i = 0; i < 100; i++) {
    check(idm_problem_from_posterior(p, i, &problem, &support_error));
    check(idm_problem_numbers(problem, "alpha", &value, &length, &support_error));
    assert_near(*value, alpha[i], 1e-12 * alpha[i]);
    logs += log(alpha[i]) / 100;
    idm_problem_destroy(problem);
  }
  check(idm_problem_from_posterior(p, IDM_CENTRE, &problem, &support_error));
  check(idm_problem_numbers(problem, "alpha", &value, &length, &support_error));
  assert_near(log(*value), logs, 1e-12);
  idm_problem_destroy(problem);
  assert_int_equal(idm_problem_from_posterior(p, 100, &problem, &error), IDM_USAGE);
  assert_null(problem);
  assert_int_equal(idm_problem_from_posterior(NULL, 0, &problem, &error), IDM_USAGE);
  idm_posterior_destroy(p);
  close_host(&h);
}

/* --- dynamics ------------------------------------------------------------------------------- */

/* A run of learnt dynamics in the folder, and the log. */
static host open_learnt(const folder *f)
{
  host h = {.problem = support_diag(2, INFINITY, 0)};
  idm_request *request = calloc(1, sizeof *request);
  idm_problem *learnt;
  idm_posterior *draws;
  idm_assessment *assessment;
  double log_likelihood;
  assert_non_null(request);
  snprintf(h.run, sizeof h.run, "%s/learnt", f->path);
  check(idm_problem_set(h.problem, "resolution=12", &support_error));
  check(idm_problem_apply_rule(h.problem, &(idm_model_rule){.perturb = {0, 0.1}}, &support_error));
  check(idm_simulate_log(h.problem, 60, 8, 3, &h.data, &support_error));
  check(idm_settings_create(&h.settings, &support_error));
  set(&h, "learn.draws", "20");
  set(&h, "learn.warmup", "20");
  set(&h, "learn.chains", "2");
  check(idm_problem_copy(h.problem, &learnt, &support_error));
  check(idm_learn_dynamics(learnt, h.data, h.settings, &log_likelihood, &draws, NULL,
                           &support_error));
  idm_request_default(request);
  check(idm_dynamics_write_run(h.run, IDM_RUN_NEW, learnt, h.data, request, draws, &assessment,
                               &support_error));
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(draws);
  idm_problem_destroy(learnt);
  free(request);
  set(&h, "dynamics", h.run);
  set(&h, "dynamics_draws", "2");
  set(&h, "chains", "2");
  set(&h, "draws", "50");
  set(&h, "warmup", "50");
  set(&h, "checks", "full");
  check(idm_problem_set_free(h.problem, "alpha", &support_error));
  return h;
}

static void learnt_dynamics(void **state)
{
  const folder *f = *state;
  host h = open_learnt(f);
  idm_posterior *p = fit(&h);
  const double *given, *learnt;
  size_t length;
  assert_non_null(p->drawn);
  check(idm_problem_numbers(h.problem, "environment.observation", &given, &length, &support_error));
  check(idm_problem_numbers(idm_posterior_problem(p), "environment.observation", &learnt, &length,
                            &support_error));
  assert_memory_not_equal(given, learnt, length * sizeof *given);
  expect_distance(p, h.data);
  expect_same_verdict(p, h.data);
  /* In another environment, they are replaced. */
  idm_problem *other = support_diag(2, INFINITY, 0);
  idm_error error = {0};
  check(idm_problem_apply_rule(other, &(idm_model_rule){.perturb = {0, 0.1}}, &support_error));
  check(idm_posterior_transfer(p, other, &support_error));
  check(idm_problem_numbers(idm_posterior_problem(p), "environment.observation", &learnt, &length,
                            &support_error));
  assert_memory_equal(given, learnt, length * sizeof *given);
  expect_distance(p, h.data);
  assert_int_equal(idm_posterior_transfer(p, NULL, &error), IDM_USAGE);
  idm_problem_destroy(other);
  idm_posterior_destroy(p);
  close_host(&h);
}

/* --- notes ---------------------------------------------------------------------------------- */

static bool has_note(const idm_notes *notes, const char *words)
{
  for (size_t i = 0; i < notes->count; i++)
    if (strstr(notes->text[i], words)) return true;
  return false;
}

/* The notes of `idm fit` and `idm learn`. */
static void notes_of_fits_and_learning(void **state)
{
  host h = open_host(*state);
  idm_notes notes = {0};
  idm_posterior *p;
  double log_likelihood;
  set(&h, "by", "site");
  read_log(&h);
  check(idm_problem_set_free(h.problem, "{alpha: {scale: log, prior: {uniform: [-3, 3]}}}",
                             &support_error));
  h.problem->theta->block[IDM_ALPHA].population = (idm_population){1, 1};
  check(idm_fit(h.problem, h.data, h.settings, &p, &notes, &support_error));
  assert_true(has_note(&notes, "the intercept of alpha is normal"));
  idm_notes_clear(&notes);
  idm_posterior_destroy(p);
  check(
      idm_problem_apply_rule(h.problem, &(idm_model_rule){.perturb = {0, 0.001}}, &support_error));
  set(&h, "learn.iterations", "1");
  set(&h, "learn.prior", "1");
  check(idm_learn_dynamics(h.problem, h.data, h.settings, &log_likelihood, NULL, &notes,
                           &support_error));
  assert_true(has_note(&notes, "learning stopped after 1 iterations"));
  assert_true(has_note(&notes, "models are nearly equal"));
  idm_notes_clear(&notes);
  close_host(&h);
}

/* --- answers without a problem -------------------------------------------------------------- */

static void answers_of_files(void **state)
{
  host h = open_host(*state);
  idm_posterior *p = fit(&h), *bare, *whole;
  idm_projection projection, again;
  idm_assessment *assessment;
  idm_explanation *e;
  idm_problem *problem;
  idm_error error = {0};
  char path[120];
  snprintf(path, sizeof path, "%s/out", ((folder *)*state)->path);
  check(idm_posterior_write_netcdf(p, h.data, path, &support_error));
  check(idm_posterior_read_netcdf(path, NULL, &bare, &support_error));
  assert_null(idm_posterior_problem(bare));
  assert_null(idm_posterior_problem(NULL));
  assert_int_equal(idm_projection_centre(bare, h.data, &projection, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "no problem"));
  assert_int_equal(idm_assess(bare, h.data, 1, &assessment, &error), IDM_USAGE);
  assert_int_equal(idm_explain(NULL, bare, h.data, NULL, &e, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_problem_from_posterior(bare, 0, &problem, &error), IDM_USAGE);
  assert_int_equal(idm_posterior_transfer(bare, h.problem, &error), IDM_USAGE);
  assert_int_equal(idm_posterior_write_netcdf(bare, NULL, path, &error), IDM_USAGE);
  assert_true(!assessment && !e && !problem);
  check(idm_problem_set(h.problem, "resolution=auto", &support_error));
  check(idm_posterior_read_netcdf(path, h.problem, &whole, &support_error));
  assert_int_equal(idm_posterior_problem(whole)->agent.resolution, 12);
  check(idm_projection_centre(p, h.data, &projection, &support_error));
  check(idm_projection_centre(whole, h.data, &again, &support_error));
  assert_near(projection.log_loss, again.log_loss, 1e-12);
  idm_posterior_destroy(bare);
  idm_posterior_destroy(whole);
  idm_posterior_destroy(p);
  close_host(&h);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(refined_lattices),
      IN_FOLDER(figures_of_answers),
      IN_FOLDER(planners_of_classes),
      IN_FOLDER(problems_of_draws),
      IN_FOLDER(learnt_dynamics),
      IN_FOLDER(answers_of_files),
      IN_FOLDER(notes_of_fits_and_learning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
