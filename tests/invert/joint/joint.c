/* Tests chains over dynamics and decisions: independence of threads, samplers, and separate modes.
 * Moments are tested in fit.c. */
#include "invert/joint/joint.h"

#include <math.h>
#include <string.h>

#include "infer/chains.h"
#include "invert/joint/joint_support.h"

static void test_threads(void **state)
{
  (void)state;
  joint_scene s = joint_open(30);
  idm_posterior *found[2];
  idm_fit_settings settings;
  const idm_cut_draws cut = {s.problem, &s.draws, 10};
  idm_fit_settings_default(&settings);
  settings.chains = 3;
  settings.draws = 100;
  settings.warmup = 100;
  for (int i = 0; i < 2; i++) {
    settings.threads = 1 + 2 * i;
    check(idm_joint_fit(s.problem, s.data, &settings, &cut, NULL, &found[i], NULL, &support_error));
  }
  assert_memory_equal(found[0]->value, found[1]->value,
                      idm_posterior_numbers(found[0]) * 300 * sizeof(double));
  assert_memory_equal(found[0]->dynamics->sd, found[1]->dynamics->sd, 2 * sizeof(double));
  for (int i = 0; i < 2; i++) idm_posterior_destroy(found[i]);
  joint_close(&s);
}

static void test_samplers(void **state)
{
  (void)state;
  joint_scene s = joint_open(30);
  idm_posterior *found;
  idm_fit_settings settings;
  const idm_cut_draws cut = {s.problem, &s.draws, 10};
  idm_fit_settings_default(&settings);
  settings.chains = 1;
  settings.draws = settings.warmup = 30;
  static const char *const names[] = {"metropolis", "pcn", "nuts", "hmc"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    strcpy(settings.sampler, names[i]);
    check(idm_joint_fit(s.problem, s.data, &settings, &cut, NULL, &found, NULL, &support_error));
    assert_string_equal(found->sampler, names[i]);
    idm_posterior_destroy(found);
  }
  joint_close(&s);
}

/* log alpha = w^2 - 1, which has two modes in w, one of which contains the start. */
static void place_square(const void *context, size_t cell, const double *w, double *x)
{
  (void)context;
  (void)cell;
  x[0] = w[0] * w[0] - 1;
}

/* Chains find both of two mirrored modes of a parameter and disagree in every pass, which R-hat
 * detects; chains from a common start would pass. */
static void test_two_modes(void **state)
{
  (void)state;
  static const double start[] = {1.5}, unit[] = {1};
  joint_scene s = joint_open(60);
  const idm_cut_draws cut = {s.problem, &s.draws, 10};
  idm_fit_settings settings;
  fit_context f;
  idm_iohmm *learner;
  idm_fit_settings_default(&settings);
  settings.draws = IDM_LONG ? 400 : 150; /* 400 are enough for passes with more steps per draw */
  settings.warmup = 150;
  check(idm_fit_open(&f, NULL, s.problem, s.data, &settings, 1, &support_error));
  check(idm_joint_learner(s.problem, &cut, s.data, &learner, &support_error));
  const joint_parameters numbers = {.count = 1,
                                    .log_prior = joint_prior,
                                    .cell_parameters = place_square,
                                    .start = start,
                                    .unit = unit};
  joint_target j = {.problem = s.problem,
                    .cut = &cut,
                    .numbers = &numbers,
                    .learner = learner,
                    .cells = 1,
                    .cell = &f};
  idm_chains *chains;
  idm_joint_dynamics *dynamics;
  check(idm_joint_draw(&j, &settings, 3, NULL, &chains, &dynamics, &support_error));
  const size_t draws = (size_t)settings.draws, d = chains->dimension;
  idm_diagnosis w;
  check(idm_diagnose(chains->draw + j.ratios, settings.chains, draws, draws * d, d, &w,
                     &support_error));
  assert_true(w.rhat > 1.5);
  assert_int_equal(chains->statistics[0].evaluations, IDM_LONG ? 3 * 64 : 3); /* of the last pass */
  /* Both modes are square roots of the same value: draws of |w| agree. */
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < settings.chains * draws; i++) {
    low = fmin(low, fabs(chains->draw[i * d + j.ratios]));
    high = fmax(high, fabs(chains->draw[i * d + j.ratios]));
  }
  assert_true(low > 1.3 && high < 1.9);
  idm_joint_dynamics_destroy(dynamics);
  idm_chains_destroy(chains);
  idm_iohmm_destroy(learner);
  idm_fit_close(&f);
  joint_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_samplers),
                                     cmocka_unit_test(test_two_modes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
