/* Tests that the version is that of the project and consists of three integers. */
#include <stdio.h>

#include "support.h"

static void test_version(void **state)
{
  (void)state;
  unsigned part[3];
  char again[40];
  assert_int_equal(sscanf(idm_version(), "%u.%u.%u", &part[0], &part[1], &part[2]), 3);
  snprintf(again, sizeof again, "%u.%u.%u", part[0], part[1], part[2]);
  assert_string_equal(again, idm_version());
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_version)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
