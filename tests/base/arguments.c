/* Tests that the argument check of a public function (idm_require) reports the first argument that
 * is NULL. */
#include "base/arguments.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static idm_status enter(const int *first, const char *second, const void *third,
                        idm_error *opt_error)
{
  idm_require(first, second, third);
  return IDM_NUMERICAL;
}

static void a_refusal_names_the_first_that_is_missing(void **state)
{
  (void)state;
  const int one = 1;
  idm_error error = {0};
  assert_int_equal(enter(&one, "", &one, &error), IDM_NUMERICAL);
  assert_int_equal(enter(NULL, NULL, &one, &error), IDM_USAGE);
  assert_string_equal(error.message, "enter was called with NULL for 'first'");
  assert_int_equal(enter(&one, NULL, NULL, &error), IDM_USAGE);
  assert_string_equal(error.message, "enter was called with NULL for 'second'");
  assert_int_equal(enter(&one, "", NULL, NULL), IDM_USAGE);
}

/* A struct of a caller in three versions. */
typedef struct version_1 {
  size_t size;
  int64_t one;
} version_1;
typedef struct version_2 {
  size_t size;
  int64_t one;
  int64_t flag;
  double two;
} version_2;

static idm_status read_struct(void *to, size_t known, const void *from, idm_error *error)
{
  return idm_struct_read(to, known, IDM_SIZE_UP_TO(version_1, one), from, "version_1", error);
}

static void structs_of_other_versions(void **state)
{
  (void)state;
  idm_error error = {0};
  version_1 first = {.size = sizeof first, .one = 7}, known;
  version_2 second = {.size = sizeof second, .one = 8}, later;
  /* A library of the same, of a later and of an earlier version. */
  check(read_struct(&known, sizeof known, &first, &support_error));
  assert_int_equal(known.one, 7);
  memset(&later, 0xff, sizeof later);
  check(read_struct(&later, sizeof later, &first, &support_error));
  assert_int_equal(later.one, 7);
  assert_true(later.flag == 0 && later.two == 0);
  check(read_struct(&known, sizeof known, &second, &support_error));
  assert_int_equal(known.one, 8);
  second.two = 1;
  assert_int_equal(read_struct(&known, sizeof known, &second, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "fields of a later version"));
  /* No size, one that is too small, and one that is no size. */
  static const size_t bad[] = {0, 1, sizeof(size_t), 4097, SIZE_MAX};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char expected[80];
    snprintf(expected, sizeof expected, "version_1.size is %zu; expected sizeof(version_1), %zu",
             bad[i], sizeof first);
    first.size = bad[i];
    assert_int_equal(read_struct(&known, sizeof known, &first, &error), IDM_USAGE);
    assert_string_equal(error.message, expected);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_refusal_names_the_first_that_is_missing),
      cmocka_unit_test(structs_of_other_versions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
