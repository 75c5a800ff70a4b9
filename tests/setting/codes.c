/* Tests codes of cells against expected lists: the parts of joined labels, each once, in the order
 * of the labels. */
#include <string.h>

#include "support.h"

static void expect_level(const idm_labels *labels, size_t parts, size_t part,
                         const char *const *expected, size_t count)
{
  idm_labels levels;
  check(idm_labels_level(labels, parts, part, &levels, &support_error));
  assert_int_equal(levels.count, count);
  for (size_t i = 0; i < count; i++) assert_string_equal(levels.name[i], expected[i]);
  idm_labels_destroy(&levels);
}

static void test_levels(void **state)
{
  (void)state;
  idm_labels labels = {0};
  SUPPORT_NAMES(&labels, "no/low/a", "no/high/a", "yes/low/a", "no/lo/a");
  expect_level(&labels, 3, 0, (const char *const[]){"no", "yes"}, 2);
  expect_level(&labels, 3, 1, (const char *const[]){"low", "high", "lo"}, 3);
  expect_level(&labels, 3, 2, (const char *const[]){"a"}, 1);
  idm_labels_destroy(&labels);
  SUPPORT_NAMES(&labels, "b", "a");
  expect_level(&labels, 1, 0, (const char *const[]){"b", "a"}, 2);
  idm_labels_destroy(&labels);
  /* Empty parts count as parts. */
  SUPPORT_NAMES(&labels, "/x", "y/");
  expect_level(&labels, 2, 0, (const char *const[]){"", "y"}, 2);
  expect_level(&labels, 2, 1, (const char *const[]){"x", ""}, 2);
  idm_labels_destroy(&labels);
}

static void test_parts(void **state)
{
  (void)state;
  idm_labels labels = {0}, levels;
  SUPPORT_NAMES(&labels, "no/low", "yes");
  for (size_t parts = 1; parts < 4; parts++) {
    idm_error error = {0};
    assert_int_equal(idm_labels_level(&labels, parts, 0, &levels, &error), IDM_INPUT);
    assert_non_null(strstr(error.message,
                           parts == 2 ? "'yes' does not have 2 parts" : "'no/low' does not have"));
    assert_int_equal(levels.count, 0);
    assert_null(levels.name);
  }
  idm_labels_destroy(&labels);
}

static void test_codes(void **state)
{
  (void)state;
  idm_codes codes;
  check(idm_codes_create(&codes, 2, &support_error));
  assert_int_equal(codes.count, 2);
  for (size_t i = 0; i < 2; i++)
    assert_true(!codes.code[i].index && !codes.code[i].text.count &&
                !codes.code[i].target_label.count);
  SUPPORT_NAMES(&codes.code[1].text, "0", "1");
  SUPPORT_NAMES(&codes.code[1].target_label, "no", "yes");
  idm_codes_destroy(&codes);
  assert_int_equal(codes.count, 0);
  assert_null(codes.code);
  idm_codes_destroy(&codes); /* destroying twice is safe */
  idm_codes_destroy(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels), cmocka_unit_test(test_parts),
                                     cmocka_unit_test(test_codes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
