/* Tests dense matrix products against three nested loops, for sizes that are not multiples of the
 * tiles. */
#include "base/dense.h"

#include "support.h"

enum { MOST = 40, DEEP = 600 };

static void test_product(void **state)
{
  (void)state;
  static double a[MOST * DEEP], b[DEEP * MOST], c[MOST * MOST + 1], plain[MOST * MOST];
  idm_random random;
  idm_random_init(&random, 1, 0);
  for (int round = 0; round < 300; round++) {
    const size_t n = 1 + (size_t)(idm_random_uniform(&random) * (MOST - 1));
    const size_t m = 1 + (size_t)(idm_random_uniform(&random) * (MOST - 1));
    const size_t k = (size_t)(idm_random_uniform(&random) * (round % 10 ? MOST : DEEP));
    const bool transposed = round % 2;
    for (size_t i = 0; i < n * k; i++) a[i] = idm_random_normal(&random);
    for (size_t i = 0; i < k * m; i++) b[i] = idm_random_normal(&random);
    for (size_t i = 0; i < n * m; i++) c[i] = plain[i] = idm_random_normal(&random);
    c[n * m] = 77;
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < m; j++)
        for (size_t p = 0; p < k; p++)
          plain[i * m + j] += (transposed ? a[p * n + i] : a[i * k + p]) * b[p * m + j];
    idm_product(n, m, k, a, transposed ? 1 : k, transposed ? n : 1, b, c);
    for (size_t i = 0; i < n * m; i++) assert_near(c[i], plain[i], 1e-12);
    assert_true(c[n * m] == 77);
  }
}

static void test_transpose(void **state)
{
  (void)state;
  const double from[6] = {1, 2, 3, 4, 5, 6}, expected[6] = {1, 4, 2, 5, 3, 6};
  double to[6];
  idm_transpose(2, 3, from, to);
  assert_memory_equal(to, expected, sizeof to);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_product),
                                     cmocka_unit_test(test_transpose)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
