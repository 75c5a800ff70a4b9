/* The Laplace approximation: mode and covariance against MCMC, and the note on its distance from
 * the posterior. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static idm_data *simulate(const idm_problem *problem, size_t trajectories)
{
  const idm_simulation simulation = {.trajectories = trajectories, .steps = 20, .seed = 5};
  return support_simulate(problem, simulation);
}

/* Effective share of the draws in the note, in per cent. */
static double noted_share(const idm_notes *notes)
{
  double share = -1;
  assert_int_equal(notes->count, 1);
  const char *at = strstr(notes->text[0], "weights leave ");
  assert_non_null(at);
  assert_int_equal(sscanf(at, "weights leave %lf %%", &share), 1);
  return share;
}

static idm_posterior *approximate(const idm_problem *problem, const idm_data *data,
                                  const char *inverse, idm_notes *notes)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 2;
  settings.draws = 2000;
  settings.keep = IDM_KEEP_NOTHING;
  idm_posterior *p;
  check(idm_inverse_fit(idm_inverse_find(inverse), problem, data, &settings, NULL, &p, notes,
                        &support_error));
  return p;
}

/* With much data the posterior is nearly normal: mean and sd equal those of the chains, within four
 * Monte Carlo errors of 4,000 draws and 10 % of the sd. */
static void test_near_the_posterior(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  check(idm_problem_set_free(problem, "{alpha: {scale: log}}", &support_error));
  idm_data *data = simulate(problem, 400);
  idm_notes notes = {0};
  idm_posterior *quick = approximate(problem, data, "laplace", &notes);
  idm_posterior *chains = approximate(problem, data, "bayes", NULL);
  idm_diagnosis a;
  idm_diagnosis b;
  check(idm_diagnose(quick->unconstrained, 2, 2000, 2000, 1, &a, &support_error));
  check(idm_diagnose(chains->unconstrained, 2, 2000, 2000, 1, &b, &support_error));
  assert_true(fabs(a.mean - b.mean) < 4 * (a.mcse_mean + b.mcse_mean) + 0.1 * b.sd);
  assert_near(a.sd / b.sd, 1, 0.1);
  assert_true(a.ess_bulk > 3000); /* independent draws */
  assert_true(noted_share(&notes) > 80);
  assert_null(strstr(notes.text[0], "use --inverse bayes"));
  idm_notes_clear(&notes);
  idm_posterior_destroy(quick);
  idm_posterior_destroy(chains);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* With two patients the posterior is far from normal, and a note reports it; a flat posterior is an
 * error. */
static void test_says_how_far(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0.3);
  check(idm_problem_set_free(problem, "{alpha: {scale: log, prior: {normal: [0, 20]}}}",
                             &support_error));
  idm_data *data = simulate(problem, 2);
  idm_notes notes = {0};
  idm_posterior *p = approximate(problem, data, "laplace", &notes);
  assert_true(noted_share(&notes) < 50);
  assert_non_null(strstr(notes.text[0], "use --inverse bayes"));
  idm_posterior_destroy(p);
  idm_notes_clear(&notes);
  check(idm_problem_set_free(problem, "{alpha: {scale: log, prior: flat}}", &support_error));
  idm_data_destroy(data);
  /* One decision with a single available action has probability 1 for every alpha: the likelihood
   * is flat. */
  data = support_data(problem, "trajectory,action,observation,available\n1,monitor,,monitor\n");
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  assert_int_equal(idm_inverse_fit(idm_inverse_find("laplace"), problem, data, &settings, NULL, &p,
                                   NULL, &support_error),
                   IDM_NUMERICAL);
  assert_non_null(strstr(support_error.message, "not a peak"));
  assert_null(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_near_the_posterior),
      cmocka_unit_test(test_says_how_far),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
