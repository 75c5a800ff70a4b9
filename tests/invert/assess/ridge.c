/* Tests the ridge check on draws of known correlation, and on DIAG with alpha, beta and eta free.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context.h"
#include "invert/assess/context_support.h"
#include "invert/matching/fit.h"

/* --- made-up draws -------------------------------------------------------------------------- */

enum { DRAWS = 400 };

/* Draws of (log alpha, 1/beta) with the given sds and exact correlation: combinations of a sine and
 * a cosine. */
static idm_posterior *make_draws(const fit_context *f, double correlation, const double *sd)
{
  idm_posterior *p;
  check(idm_posterior_create(f, idm_inverse_find("bayes"), "metropolis", 2, DRAWS / 2, &p,
                             &support_error));
  for (size_t i = 0; i < DRAWS; i++) {
    const double angle = 2 * 3.14159265358979323846 * (double)i / DRAWS;
    const double a = sqrt(2) * sin(angle), b = sqrt(2) * cos(angle);
    const double y[2] = {1 + sd[0] * a,
                         -3 + sd[1] * (correlation * a + sqrt(1 - correlation * correlation) * b)};
    const idm_statistics none = {.energy = NAN};
    idm_posterior_store_draw(f, p, i / (DRAWS / 2), i % (DRAWS / 2), y, &none);
  }
  return p;
}

static void check_ridge(const fit_context *f, double correlation, const double *sd,
                        const char *words)
{
  idm_assessment assessment = {.ridge = 1};
  idm_posterior *p = make_draws(f, correlation, sd);
  const check_context q = {.f = f, .posterior = p, .assessment = &assessment, .among = 1};
  check(idm_check_ridge(&q, &support_error));
  assert_near(assessment.ridge, 1 - fabs(correlation), 1e-9);
  if (!words)
    assert_null(assessment.ridge_sentence);
  else if (!assessment.ridge_sentence || !strstr(assessment.ridge_sentence, words))
    fail_msg("'%s' is not in '%s'", words, assessment.ridge_sentence);
  idm_notes_clear(&assessment.remarks);
  free(assessment.ridge_sentence);
  idm_posterior_destroy(p);
}

static void test_made_up(void **state)
{
  (void)state;
  described_fit a;
  described_fit_open(&a);
  const double sd[2] = {0.5, 20};
  check_ridge(&a.f, 0, sd, NULL);
  check_ridge(&a.f, 0.85, sd, NULL);
  check_ridge(&a.f, -0.89, sd, NULL);
  /* The principal axis of two parameters is the diagonal: each moves by sd sqrt((1 + r) / 2). */
  check_ridge(&a.f, 0.92, sd, "log alpha, 1/beta are not separately identified");
  check_ridge(&a.f, 0.92, sd, "move log alpha by +0.49, 1/beta by +19.6 together");
  check_ridge(&a.f, -0.92, sd, "move log alpha by +0.49, 1/beta by -19.6 together");
  /* A constant parameter has no correlation. */
  const double still[2] = {0, 1};
  idm_assessment assessment = {.ridge = 1};
  idm_posterior *p = make_draws(&a.f, 0.99, still);
  const check_context q = {.f = &a.f, .posterior = p, .assessment = &assessment, .among = 1};
  check(idm_check_ridge(&q, &support_error));
  assert_near(assessment.ridge, 1, 1e-9);
  assert_null(assessment.ridge_sentence);
  idm_posterior_destroy(p);
  described_fit_close(&a);
}

/* --- DIAG ----------------------------------------------------------------------------------- */

static idm_assessment *ask(const idm_problem *from, const idm_data *data, const char *free_blocks)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent = from->agent;
  check(idm_problem_set_free(problem, free_blocks, &support_error));
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 2;
  settings.draws = 1000;
  settings.warmup = 500;
  settings.keep = IDM_KEEP_NOTHING;
  idm_posterior *posterior;
  idm_assessment *assessment;
  check(idm_inverse_fit(idm_inverse_find("bayes"), problem, data, &settings, NULL, &posterior, NULL,
                        &support_error));
  check(idm_assess_monitored(problem, data, posterior, 1, NULL, &assessment, &support_error));
  idm_posterior_destroy(posterior);
  idm_problem_destroy(problem);
  return assessment;
}

static void test_diag(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 30;
  const idm_simulation simulation = {.trajectories = 1000, .seed = 1};
  idm_data *data = support_simulate(problem, simulation);

  idm_assessment *all = ask(problem, data, "{alpha: , beta: {scale: inverse}, eta: }");
  assert_true(all->ridge < 0.1);
  assert_non_null(all->ridge_sentence);
  assert_non_null(
      strstr(all->ridge_sentence, "log alpha, 1/beta, eta are not separately identified"));
  /* Lower 1/beta and higher eta have similar effects: the two are negatively correlated. */
  assert_non_null(strstr(all->ridge_sentence, "1/beta by -"));
  assert_non_null(strstr(all->ridge_sentence, "eta by +"));
  bool noted = false;
  for (size_t i = 0; i < all->remarks.count; i++)
    noted = noted || strcmp(all->remarks.text[i], all->ridge_sentence) == 0;
  assert_true(noted);
  idm_assessment_destroy(all);

  idm_assessment *held = ask(problem, data, "{beta: {scale: inverse}, eta: }");
  assert_true(held->ridge > 0.1 && held->ridge < 1);
  assert_null(held->ridge_sentence);
  idm_assessment_destroy(held);

  idm_assessment *one = ask(problem, data, "{beta: {scale: inverse}}");
  assert_true(one->ridge == 1);
  assert_null(one->ridge_sentence);
  idm_assessment_destroy(one);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_made_up),
      cmocka_unit_test(test_diag),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
