/* Mean and variance of numbers, far from 0 too. */
#include "base/moments.h"

#include <math.h>

#include "support.h"

static void moments_do_not_lose_digits(void **state)
{
  (void)state;
  const double far = 1e9;
  const double x[] = {far + 4, far + 7, far + 13, far + 16};
  const idm_moments m = idm_moments_of(x, 4);
  assert_near(m.mean, far + 10, 1e-15);
  assert_near(m.variance, 30, 1e-12);
  assert_true(isnan(idm_moments_of(x, 1).variance));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(moments_do_not_lose_digits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
