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

static void weighted_means_ignore_the_scale(void **state)
{
  (void)state;
  const double x[] = {1, 2, 6};
  const double weight[] = {3, 0, 1};
  const double tiny[] = {3e-300, 0, 1e-300};
  const double none[] = {0, 0, 0};
  assert_true(idm_weighted_mean(x, weight, 3) == 2.25);
  assert_near(idm_weighted_mean(x, tiny, 3), 2.25, 1e-15);
  assert_true(isnan(idm_weighted_mean(x, none, 3)));
  assert_true(isnan(idm_weighted_mean(x, weight, 0)));
  assert_true(isnan(idm_weighted_mean((const double[]){1, NAN}, x, 2)));
  assert_true(isnan(idm_weighted_mean(x, (const double[]){1, NAN}, 2)));
}

static void equal_weights_are_all_effective(void **state)
{
  (void)state;
  const double equal[] = {0.2, 0.2, 0.2, 0.2, 0.2};
  const double uneven[] = {3, 0, 1};
  const double tiny[] = {3e-200, 0, 1e-200};
  assert_near(idm_effective_size(equal, 5), 5, 1e-15);
  assert_near(idm_effective_size(uneven, 3), 1.6, 1e-15);
  assert_near(idm_effective_size(tiny, 3), 1.6, 1e-15);
  assert_true(idm_effective_size((const double[]){0, 7}, 2) == 1);
  assert_true(idm_effective_size((const double[]){0, 0}, 2) == 0);
  assert_true(idm_effective_size((const double[]){1, INFINITY}, 2) == 0);
  assert_true(idm_effective_size((const double[]){1, NAN}, 2) == 0);
  assert_true(idm_effective_size(NULL, 0) == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moments_do_not_lose_digits),
      cmocka_unit_test(weighted_means_ignore_the_scale),
      cmocka_unit_test(equal_weights_are_all_effective),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
