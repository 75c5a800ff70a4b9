/* Tests vector levels: names, rejected names, and results at every level of this machine against
 * the C library and long double. */
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dense.h"
#include "support.h"

enum { COUNT = 1001 };

/* Calls a function at every level of this machine. */
static void at_every_level(void (*call)(idm_level))
{
  for (idm_level level = IDM_LEVEL_DEFAULT; level <= idm_level_highest(); level++) {
    atomic_store(&idm_level_chosen, (int)level);
    assert_int_equal(idm_level_now(), level);
    call(level);
  }
  atomic_store(&idm_level_chosen, 0);
}

/* Logarithms differ from the C library by at most two units in the last place. */
static void compare_logarithms(idm_level level)
{
  (void)level;
  double x[COUNT], y[COUNT];
  for (size_t i = 0; i < COUNT; i++) x[i] = exp(0.7 * ((double)i - 500));
  idm_vector_log(COUNT, x, y);
  for (size_t i = 0; i < COUNT; i++)
    assert_true(fabs(y[i] - log(x[i])) <= 2 * 0x1p-52 * fmax(1, fabs(log(x[i]))));
}

/* Compares a matrix product with sums in long double. */
static void compare_products(idm_level level)
{
  (void)level;
  enum { N = 13, M = 9, K = 37 };
  double a[N * K], b[K * M], c[N * M] = {0};
  for (size_t i = 0; i < N * K; i++) a[i] = sin((double)i);
  for (size_t i = 0; i < K * M; i++) b[i] = cos((double)i);
  idm_product(N, M, K, a, K, 1, b, c);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < M; j++) {
      long double sum = 0;
      for (size_t k = 0; k < K; k++) sum += (long double)a[i * K + k] * b[k * M + j];
      assert_near(c[i * M + j], (double)sum, 1e-13);
    }
}

static void test_numbers(void **state)
{
  (void)state;
  at_every_level(compare_logarithms);
  at_every_level(compare_products);
}

static void test_names(void **state)
{
  (void)state;
  idm_level level;
  const idm_level highest = idm_level_highest();
  for (idm_level i = IDM_LEVEL_DEFAULT; i <= IDM_LEVEL_V4; i++) {
    const idm_status status = idm_level_parse(idm_level_name(i), &level, &support_error);
    assert_int_equal(status, i <= highest ? IDM_OK : IDM_USAGE);
    assert_int_equal(level, i <= highest ? i : highest);
  }
  check(idm_level_parse(NULL, &level, &support_error));
  assert_int_equal(level, highest);
  check(idm_level_parse("", &level, &support_error));
  assert_int_equal(level, highest);
  assert_int_equal(idm_level_parse("v9", &level, &support_error), IDM_USAGE);
  assert_non_null(strstr(support_error.message, "IDM_LEVEL is 'v9'"));
  assert_non_null(strstr(support_error.message, "default"));
}

static void test_environment(void **state)
{
  (void)state;
  assert_int_equal(setenv("IDM_LEVEL", "default", 1), 0);
  assert_int_equal(idm_level_choose(), IDM_LEVEL_DEFAULT);
  assert_int_equal(setenv("IDM_LEVEL", "fastest", 1), 0);
  assert_int_equal(idm_level_choose(), idm_level_highest());
  assert_int_equal(unsetenv("IDM_LEVEL"), 0);
  assert_int_equal(idm_level_choose(), idm_level_highest());
  atomic_store(&idm_level_chosen, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_environment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
