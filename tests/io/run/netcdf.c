/* netCDF as it is loaded: every function is there, and it is the library that the tests link. */
#include "io/run/netcdf.h"

#include "support.h"

static void test_functions(void **state)
{
  (void)state;
  check(idm_netcdf_load(&support_error));
  check(idm_netcdf_load(&support_error));
#define SAME(name) assert_true(idm_netcdf.name == (name));
  IDM_NETCDF_FUNCTIONS(SAME)
#undef SAME
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
