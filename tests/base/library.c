/* Tests the loading of shared libraries: loaded functions can be called, and missing ones are
 * reported. */
#include "base/system.h"

#include <math.h>

#include "support.h"

static struct {
  IDM_LIBRARY_POINTER(cos)
  IDM_LIBRARY_POINTER(sin)
} mathematics;

static const idm_symbol symbols[] = {IDM_LIBRARY_SYMBOL(mathematics, cos)
                                         IDM_LIBRARY_SYMBOL(mathematics, sin)};

static void test_functions(void **state)
{
  (void)state;
  volatile double x = 0.5;
  assert_true(idm_library_load("libm.so.6", symbols, 2));
  assert_true(mathematics.cos(x) == cos(x));
  assert_true(mathematics.sin(x) == sin(x));
}

static void test_missing(void **state)
{
  (void)state;
  void *address = NULL;
  const idm_symbol none = {"idm_no_such_function", &address};
  assert_false(idm_library_load("libidm-no-such-library.so.0", symbols, 2));
  assert_false(idm_library_load("libm.so.6", &none, 1));
  assert_null(address);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_missing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
