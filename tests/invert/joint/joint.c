/* Chains over dynamics and decisions: the same at any thread count, and samplers that cannot.
 * Moments are tested with the fits (fit.c). */
#include "invert/joint/joint.h"

#include <math.h>
#include <string.h>

#include "invert/joint/joint_support.h"

static void test_threads(void **state)
{
  (void)state;
  joint_scene s = joint_open(30);
  idm_posterior *found[2];
  idm_fit_settings settings;
  const idm_cuts cut = {s.problem, &s.draws, 10};
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
  const idm_cuts cut = {s.problem, &s.draws, 10};
  idm_fit_settings_default(&settings);
  settings.chains = 1;
  settings.draws = settings.warmup = 30;
  static const char *const names[] = {"metropolis", "pcn", "nuts"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    strcpy(settings.sampler, names[i]);
    check(idm_joint_fit(s.problem, s.data, &settings, &cut, NULL, &found, NULL, &support_error));
    assert_string_equal(found->sampler, names[i]);
    idm_posterior_destroy(found);
  }
  joint_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_samplers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
