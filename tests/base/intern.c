/* Tests string interning against expected numbers: order of appearance, arbitrary bytes, growth of
 * the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static void test_numbers_in_order(void **state)
{
  (void)state;
  idm_intern intern = {0};
  const char *const words[] = {"b", "a", "b", "", "abcdefgh", "abcdefghi", "", "a"};
  const uint32_t numbers[] = {0, 1, 0, 2, 3, 4, 2, 1};
  for (size_t i = 0; i < 8; i++) {
    uint32_t index = 99;
    assert_true(idm_intern_add(&intern, words[i], strlen(words[i]), &index));
    assert_int_equal(index, numbers[i]);
  }
  assert_int_equal(intern.count, 5);
  assert_int_equal(idm_intern_find(&intern, "abcdefghi", 9), 4);
  assert_int_equal(idm_intern_find(&intern, "abcdefghj", 9), IDM_INTERN_NONE);
  assert_true(idm_intern_is(&intern, 1, "a", 1));
  assert_false(idm_intern_is(&intern, 1, "b", 1));
  assert_false(idm_intern_is(&intern, IDM_INTERN_NONE, "a", 1));
  idm_intern_clear(&intern);
  assert_int_equal(intern.count, 0);
  assert_int_equal(idm_intern_find(&intern, "a", 1), IDM_INTERN_NONE);
  idm_intern_clear(&intern);
}

static void test_bytes(void **state)
{
  (void)state;
  idm_intern intern = {0};
  uint32_t a;
  uint32_t b;
  assert_true(idm_intern_add(&intern, "x\0y", 3, &a));
  assert_true(idm_intern_add(&intern, "x\0z", 3, &b));
  assert_int_not_equal(a, b);
  assert_int_equal(idm_intern_find(&intern, "x", 1), IDM_INTERN_NONE);
  assert_true(idm_intern_add(&intern, NULL, 0, &a));
  assert_true(idm_intern_add(&intern, NULL, 0, &b));
  assert_int_equal(a, b);
  size_t length;
  const char *text = idm_intern_text(&intern, 1, &length);
  assert_int_equal(length, 3);
  assert_memory_equal(text, "x\0z", 3);
  idm_intern_clear(&intern);
}

static void test_many(void **state)
{
  (void)state;
  enum { count = 100000 };
  idm_intern intern = {0};
  char text[32];
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < count; i++) {
      const int length = snprintf(text, sizeof text, "patient-%lu", (unsigned long)i);
      uint32_t index;
      assert_true(idm_intern_add(&intern, text, (size_t)length, &index));
      assert_int_equal(index, i);
    }
  assert_int_equal(intern.count, count);
  size_t length;
  const char *last = idm_intern_text(&intern, count - 1, &length);
  assert_int_equal(length, strlen("patient-99999"));
  assert_memory_equal(last, "patient-99999", length);
  idm_intern_clear(&intern);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_in_order),
      cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
