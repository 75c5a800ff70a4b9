/* Tests small terminal drawings against expected characters: one character per column, and no write
 * past the buffer. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "cli/common.h"
#include "support.h"

static void test_bars(void **state)
{
  (void)state;
  char drawn[CLI_SPARKLINE];
  const double height[] = {0, 1, 4, 8, NAN, -3, 1e-9};
  assert_string_equal(cli_sparkline(height, 7, drawn), " ▂▅█   ");
  assert_string_equal(cli_sparkline(height, 1, drawn), " ");
  assert_string_equal(cli_sparkline(height, 0, drawn), "");
  double many[400];
  for (size_t i = 0; i < 400; i++) many[i] = 1;
  cli_sparkline(many, 400, drawn);
  assert_true(idm_utf8_valid(drawn, strlen(drawn)) && strlen(drawn) < CLI_SPARKLINE);
}

static void test_histograms(void **state)
{
  (void)state;
  char drawn[CLI_SPARKLINE];
  const double x[] = {0, 0, 0, 0, 1, 1, 3, INFINITY, NAN};
  assert_string_equal(cli_histogram(x, 9, 4, drawn), "█▅ ▃");
  /* One number, or none. */
  assert_string_equal(cli_histogram(x, 3, 4, drawn), "  █ ");
  assert_string_equal(cli_histogram(x + 7, 2, 4, drawn), "    ");
}

static void test_intervals(void **state)
{
  (void)state;
  char drawn[CLI_SPARKLINE];
  assert_string_equal(cli_interval(&(cli_span){1, 2, 3}, 0, 4, 5, drawn), " ├●┤ ");
  assert_string_equal(cli_interval(&(cli_span){1, 3, 4}, -1, 4, 11, drawn), "  ┊ ├───●─┤");
  /* Beyond the scale, and without a position. */
  assert_string_equal(cli_interval(&(cli_span){-9, 2, 9}, 0, 4, 5, drawn), "├─●─┤");
  assert_string_equal(cli_interval(&(cli_span){NAN, 2, 9}, 0, 4, 5, drawn), "     ");
  assert_string_equal(cli_interval(&(cli_span){1, 1, 1}, 1, 1, 3, drawn), " ● ");
}

/* Standard output of a test is not a terminal, so there are no colour codes. */
static void test_no_terminal(void **state)
{
  (void)state;
  assert_string_equal(cli_colour(CLI_NEGATIVE_COLOUR), "");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bars),
      cmocka_unit_test(test_histograms),
      cmocka_unit_test(test_intervals),
      cmocka_unit_test(test_no_terminal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
