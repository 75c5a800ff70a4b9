/* Settings of a fit: keys and defaults, and the paper's sampling scheme. */
#include <string.h>

#include "support.h"

/* Every default is valid and parses back to itself; `threads` is not a key. */
static void test_keys(void **state)
{
  (void)state;
  idm_fit_settings usual, read;
  idm_fit_settings_default(&usual);
  memset(&read, 0, sizeof read);
  for (const idm_key *key = idm_fit_keys(); key->name; key++) {
    char text[64];
    check(
        idm_key_set_text(key, &read, idm_key_text(key, &usual, text, sizeof text), &support_error));
    assert_true(idm_key_same(key, &usual, &read, 0));
    assert_int_equal(key->place, strcmp(key->name, "checks") == 0); /* no effect on draws */
    assert_true(key->help && key->value);
  }
  assert_null(idm_key_find(idm_fit_keys(), "threads"));
  assert_int_equal(read.keep, IDM_KEEP_TRAJECTORY);
}

static void test_plain(void **state)
{
  (void)state;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  idm_fit_settings_plain(&settings);
  assert_int_equal(settings.chains, 1);
  assert_int_equal(settings.thin * settings.draws, 10000);
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  check(idm_problem_set_free(problem, "{beta: , utility: {entries: [monitor]}}", &support_error));
  idm_problem_set_flat_priors(problem);
  const idm_theta *theta = problem->theta;
  assert_int_equal(theta->block[IDM_BETA].scale, IDM_SCALE_LOG);
  assert_int_equal(theta->block[IDM_BETA].prior.kind, IDM_PRIOR_FLAT);
  assert_int_equal(theta->block[IDM_UTILITY].scale, IDM_SCALE_IDENTITY);
  assert_int_equal(theta->block[IDM_UTILITY].prior.kind, IDM_PRIOR_FLAT);
  assert_int_equal(theta->block[IDM_ALPHA].role, IDM_NORMATIVE);
  check(idm_problem_validate(problem, &support_error));
  idm_problem_destroy(problem);
  size_t plain = 0;
  for (size_t i = 0; idm_sampler_at(i); i++) plain += idm_sampler_at(i)->plain;
  assert_int_equal(plain, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_plain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
