/* Tests the JSON writer: numbers (infinite, NaN and denormal included) against a round trip through
 * jansson, invalid UTF-8 against expected replacements, and failures of every allocation. */
#include "io/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static size_t calls, fail_at;
static bool forever;

static void *scarce(size_t size)
{
  calls++;
  const bool fails = fail_at && (forever ? calls >= fail_at : calls == fail_at);
  return fails ? NULL : malloc(size);
}

static json_t *make(void)
{
  static const double numbers[] = {0.1, -0.0, INFINITY, -INFINITY, NAN, 5e-324};
  idm_notes notes = {0};
  idm_notes_add(&notes, "one");
  idm_notes_add(&notes, "\xc3\xa9 \xe9");
  json_t *object = json_object();
  for (int i = 0; i < 12; i++) {
    char key[8];
    json_t *inner = json_object();
    snprintf(key, sizeof key, "k%d", i);
    idm_json_set(&inner, "numbers", idm_json_numbers(numbers, 6));
    idm_json_set(&inner, "texts", idm_json_texts(&notes));
    idm_json_set(&object, key, inner);
  }
  idm_notes_clear(&notes);
  return object;
}

/* If any allocation fails, once or from then on, no text is returned, rather than an incomplete
 * one. */
static void test_memory(void **state)
{
  (void)state;
  json_set_alloc_funcs(scarce, free);
  char *whole = idm_json_dump(make(), JSON_INDENT(1));
  assert_non_null(whole);
  const size_t most = calls;
  assert_true(most > 100);
  for (int kind = 0; kind < 2; kind++)
    for (fail_at = 1, forever = kind; fail_at <= most; fail_at++) {
      calls = 0;
      char *text = idm_json_dump(make(), JSON_INDENT(1));
      if (text) fail_msg("allocation %zu of %zu failed, and there is a text", fail_at, most);
    }
  fail_at = 0;
  json_set_alloc_funcs(malloc, free);
  free(whole);
}

static void test_round_trip(void **state)
{
  (void)state;
  static const double numbers[] = {0.1, -0.0, INFINITY, -INFINITY, NAN, 5e-324, 1e308};
  char *text = idm_json_dump(idm_json_numbers(numbers, 7), 0);
  assert_non_null(text);
  json_t *again = json_loads(text, 0, NULL);
  assert_int_equal(json_array_size(again), 7);
  for (size_t i = 0; i < 7; i++) {
    double x;
    assert_true(idm_json_read_number(json_array_get(again, i), &x));
    assert_true(isnan(numbers[i]) ? isnan(x) : x == numbers[i]);
    assert_int_equal(signbit(x) != 0, !isnan(numbers[i]) && signbit(numbers[i]) != 0);
  }
  double x;
  json_t *other = json_pack("[s, b, n]", "infinite", 1);
  assert_false(idm_json_read_number(json_array_get(other, 0), &x));
  assert_false(idm_json_read_number(json_array_get(other, 1), &x));
  assert_false(idm_json_read_number(NULL, &x));
  json_decref(other);
  json_decref(again);
  free(text);
}

static void test_texts(void **state)
{
  (void)state;
  static const char *const texts[][2] = {{"", ""},
                                         {"a\"b\n", "a\"b\n"},
                                         {"caf\xc3\xa9", "caf\xc3\xa9"},
                                         {"caf\xe9.csv", "caf?.csv"},
                                         {"\xc3", "?"},
                                         {"\xf0\x9f", "??"}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    json_t *text = idm_json_text(texts[i][0]);
    assert_string_equal(json_string_value(text), texts[i][1]);
    json_decref(text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
