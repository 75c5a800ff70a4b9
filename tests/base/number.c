/* Tests the shortest text of a number that reads back exactly, against the C library, and the
 * comparison of numbers. */
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
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

/* Checks that both readers return the value, and that no rounding to fewer digits does. */
static void expect_shortest(double value)
{
  char text[40], shorter[320];
  double back = NAN;
  const int length = idm_number_text(value, text, sizeof text);
  assert_int_equal(length, strlen(text));
  assert_true(idm_number_decimal(text, strlen(text), &back) && back == value);
  assert_true(strtod(text, NULL) == value);
  int digits = 0;
  for (const char *c = text; *c && *c != 'e'; c++) digits += *c >= '0' && *c <= '9';
  for (int fewer = 1; fewer < digits; fewer++) {
    snprintf(shorter, sizeof shorter, "%.*g", fewer, value);
    if (strtod(shorter, NULL) == value) fail_msg("%s could be %s", text, shorter);
  }
}

/* Below the smallest normal number precision decreases to one digit. */
static void test_subnormal(void **state)
{
  (void)state;
  static const struct {
    double value;
    const char *text;
  } rows[] = {{5e-324, "5e-324"}, {-5e-324, "-5e-324"},     {1e-323, "1e-323"},
              {1e-310, "1e-310"}, {1.25e-320, "1.25e-320"}, {DBL_MIN, "2.2250738585072014e-308"}};
  char text[40];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    idm_number_text(rows[i].value, text, sizeof text);
    assert_string_equal(text, rows[i].text);
  }
  expect_shortest(nextafter(DBL_MIN, 0));
  expect_shortest(DBL_MIN);
  idm_random random;
  idm_random_init(&random, 2, 0);
  for (int i = 0; i < 10000; i++) {
    /* An integer multiple of the smallest subnormal, with any number of significant bits. */
    const double steps = floor(exp2(52 * idm_random_uniform(&random)));
    expect_shortest((i % 2 ? -1 : 1) * ldexp(steps, -1074));
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_subnormal),
                                     cmocka_unit_test(test_decimal), cmocka_unit_test(test_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
