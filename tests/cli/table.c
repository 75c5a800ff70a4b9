/* Tests the width of table cells in terminal columns, for multi-byte, double-width and combining
 * characters. */
#include "cli/cli.h"
#include "cli/cli_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Three letters of five bytes; two characters of two columns each; a letter with a combining
 * accent. */
#define ETE  "\xc3\xa9t\xc3\xa9"
#define WIDE "\xe6\xbc\xa2\xe5\xad\x97"
#define OVER "e\xcc\x81"

static void test_width(void **state)
{
  (void)state;
  assert_int_equal(cli_width(""), 0);
  assert_int_equal(cli_width("abc"), 3);
  assert_int_equal(cli_width(ETE), 3);
  assert_int_equal(cli_width(WIDE), 4);
  assert_int_equal(cli_width(OVER), 1);
}

static void test_cells(void **state)
{
  (void)state;
  printed p;
  printed_open(&p);
  cli_print_left(p.out, 5, ETE);
  cli_print_right(p.out, 6, WIDE);
  cli_print_left(p.out, 2, "over");
  cli_print_right(p.out, 2, "over");
  cli_print_left(p.out, 0, "");
  printed_expect(&p, ETE "    " WIDE "overover");
}

/* A character is never cut in half: the rest of the cell is blank. */
static void test_cut(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    int width;
    const char *cell;
  } rows[] = {{"abcdef", 4, "abcd"},      {"ab", 4, "ab  "}, {ETE, 2, "\xc3\xa9t"},
              {WIDE, 3, "\xe6\xbc\xa2 "}, {WIDE, 4, WIDE},   {WIDE, 1, " "}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    printed p;
    printed_open(&p);
    cli_print_truncated(p.out, rows[i].width, rows[i].text);
    printed_expect(&p, rows[i].cell);
  }
}

static const idm_diagnosis quantity = {.mean = 1.25,
                                       .sd = 0.5,
                                       .mcse_mean = 0.012,
                                       .q05 = 0.5,
                                       .q50 = 1.2,
                                       .q95 = 2,
                                       .ess_bulk = 1234.4,
                                       .ess_tail = 999.6,
                                       .rhat = 1.0004};

/* Checks the row of `quantity` with a tail of shape k: `moments` is the text of mean, sd and mcse.
 */
static void expect_row(double k, const char *moments)
{
  idm_diagnosis d = quantity;
  char row[200];
  printed p;
  d.tail = k;
  snprintf(row, sizeof row,
           ETE "   %s        0.5        1.2          2      1234      1000  1.000   0.93\n",
           moments);
  printed_open(&p);
  cli_print_quantity(p.out, 6, ETE, &d, "0.93");
  printed_expect(&p, row);
}

/* Numbers are aligned with their headings. */
static void test_quantity(void **state)
{
  (void)state;
  printed p;
  printed_open(&p);
  cli_print_quantity_heading(p.out, 6, "contr.");
  printed_expect(
      &p, "             mean         sd       mcse         5%        50%        95%  ess_bulk"
          "  ess_tail  r_hat contr.\n");
  expect_row(NAN, "       1.25        0.5      0.012");
}

/* With a heavy tail, the median and the interval are printed without mean and sd. */
static void test_heavy_tail(void **state)
{
  (void)state;
  expect_row(0.69, "          -          -          -");
  expect_row(0.49, "       1.25        0.5      0.012");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_width), cmocka_unit_test(test_cells),
                                     cmocka_unit_test(test_cut), cmocka_unit_test(test_quantity),
                                     cmocka_unit_test(test_heavy_tail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
