/* Tests that the argument check of a public function (idm_require) reports the first argument that
 * is NULL. */
#include "base/arguments.h"

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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_refusal_names_the_first_that_is_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
