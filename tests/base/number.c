/* Numbers as text: the shortest that reads back, and when two count as the same. */
#include "base/number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static void test_text(void **state)
{
  (void)state;
  const struct {
    double value;
    const char *text;
  } rows[] = {{0.1, "0.1"},      {-0.0, "-0.0"},      {0, "0"},
              {INFINITY, "inf"}, {-INFINITY, "-inf"}, {1e300, "1e+300"}};
  char buffer[40];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    idm_number_text(rows[i].value, buffer, sizeof buffer);
    assert_string_equal(buffer, rows[i].text);
  }
  idm_random random;
  idm_random_init(&random, 1, 0);
  for (int i = 0; i < 10000; i++) {
    const double x = idm_random_normal(&random) * pow(10, 600 * idm_random_uniform(&random) - 300);
    idm_number_text(x, buffer, sizeof buffer);
    assert_true(strtod(buffer, NULL) == x);
  }
}

static void test_decimal(void **state)
{
  (void)state;
  static const char *const numbers[] = {"0",  "-1.5", "+2",      ".5",
                                        "5.", "1e3",  "-2.5E-3", "123456789012345678901234567890"};
  static const char *const others[] = {"",    "-",   ".",   "1e", "1e+", "0x10",
                                       "nan", "inf", "1,5", " 1", "1 ",  "1e999"};
  double number;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    assert_true(idm_number_decimal(numbers[i], strlen(numbers[i]), &number));
    assert_true(number == strtod(numbers[i], NULL));
  }
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    assert_false(idm_number_decimal(others[i], strlen(others[i]), &number));
}

static void test_same(void **state)
{
  (void)state;
  assert_true(idm_number_same(NAN, NAN, 0));
  assert_false(idm_number_same(NAN, 1, 1));
  assert_false(idm_number_same(0.0, -0.0, 0));
  assert_true(idm_number_same(0.0, -0.0, 1e-9));
  assert_false(idm_number_same(INFINITY, DBL_MAX, 1));
  assert_true(idm_number_same(1e9, 1e9 + 1, 1e-8));
  assert_false(idm_number_same(1e9, 1e9 + 100, 1e-8));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_decimal),
                                     cmocka_unit_test(test_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
