/* Tests the reading, writing, comparison and rejection of every kind of field against expected
 * texts. */
#include "base/key.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/key_support.h"
#include "base/text.h"

/* Accepted text is written back unchanged. */
static void test_round_trip(void **state)
{
  (void)state;
  static const char *const said[][2] = {{"number", "0.1"},
                                        {"whole", "9"},
                                        {"length", "1000000000"},
                                        {"count", "0"},
                                        {"seed", "18446744073709551615"},
                                        {"flag", "true"},
                                        {"word", "high"},
                                        {"text", "seven.."}};
  fields a = {0};
  fields b = {0};
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
    const idm_key *key = idm_key_find(keys, said[i][0]);
    char buffer[64];
    check(idm_key_set_text(key, &a, said[i][1], &support_error));
    assert_string_equal(idm_key_text(key, &a, buffer, sizeof buffer), said[i][1]);
    if (strcmp(said[i][1], "0") != 0) assert_false(idm_key_same(key, &a, &b, 0));
    check(idm_key_set_text(key, &b, buffer, &support_error));
    assert_true(idm_key_same(key, &a, &b, 0));
  }
  const idm_key *whole = idm_key_find(keys, "whole");
  char buffer[64];
  check(idm_key_set_text(whole, &a, "auto", &support_error));
  assert_int_equal(a.whole, 0);
  assert_string_equal(idm_key_text(whole, &a, buffer, sizeof buffer), "auto");
  assert_null(idm_key_find(keys, "nothing"));
}

/* A rejected value leaves the field unchanged, and the error contains the expected form. */
static void test_refusals(void **state)
{
  (void)state;
  static const char *const said[][3] = {{"number", "0", "above 0"},
                                        {"number", "inf", "finite"},
                                        {"number", "0x1", "finite"},
                                        {"number", "", "finite"},
                                        {"whole", "10", "from 1 to 9, or auto"},
                                        {"whole", "0", "from 1 to 9, or auto"},
                                        {"whole", "automatic", "or auto"},
                                        {"whole", "1.5", "whole number"},
                                        {"seed", "-1", "below 2^64"},
                                        {"seed", "18446744073709551616", "below 2^64"},
                                        {"flag", "yes", "true or false"},
                                        {"word", "middle", "low or high"},
                                        {"text", "eight...", "fewer than 8 bytes"}};
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
    fields a = {0};
    const fields before = a;
    idm_error error = {0};
    assert_int_equal(idm_key_set_text(idm_key_find(keys, said[i][0]), &a, said[i][1], &error),
                     IDM_USAGE);
    assert_non_null(strstr(error.message, said[i][2]));
    assert_memory_equal(&a, &before, sizeof a);
  }
}

/* A capacity that is not set has an empty text. */
static void test_unset(void **state)
{
  (void)state;
  char buffer[16];
  const fields a = {.number = NAN};
  assert_string_equal(idm_key_text(&keys[0], &a, buffer, sizeof buffer), "");
  assert_true(idm_key_same(&keys[0], &a, &a, 0));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                     cmocka_unit_test(test_refusals), cmocka_unit_test(test_unset)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
