/* Cells take the columns of a terminal that they are given, whatever their bytes are. */
#include "cli/table.h"
#include "cli/cli_support.h"

#include <stdlib.h>
#include <string.h>

/* Three letters of five bytes; two signs that are two columns wide each; a letter and an accent
 * that stands over it. */
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

/* Never a sign in half: what is left of the cell is blank. */
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
    cli_print_cut(p.out, rows[i].width, rows[i].text);
    printed_expect(&p, rows[i].cell);
  }
}

/* Numbers stand under their headings. */
static void test_quantity(void **state)
{
  (void)state;
  const idm_diagnosis d = {.mean = 1.25,
                           .sd = 0.5,
                           .mcse_mean = 0.012,
                           .q05 = 0.5,
                           .q50 = 1.2,
                           .q95 = 2,
                           .ess_bulk = 1234.4,
                           .ess_tail = 999.6,
                           .rhat = 1.0004};
  printed p;
  printed_open(&p);
  cli_print_quantity_heading(p.out, 6, "contr.");
  cli_print_quantity(p.out, 6, ETE, &d, "0.93");
  printed_expect(
      &p, "             mean         sd       mcse         5%        50%        95%  ess_bulk"
          "  ess_tail  r_hat contr.\n" ETE
          "          1.25        0.5      0.012        0.5        1.2          2      1234"
          "      1000  1.000   0.93\n");
}

/* A heavy tail: the median and the interval, without mean and sd. */
static void test_heavy_tail(void **state)
{
  (void)state;
  idm_diagnosis d = {.mean = 24.58,
                     .sd = 1450,
                     .q05 = 1.019,
                     .q50 = 1.273,
                     .q95 = 3.344,
                     .ess_bulk = 3207,
                     .ess_tail = 3343,
                     .rhat = 1,
                     .tail = 0.69};
  printed p;
  printed_open(&p);
  cli_print_quantity(p.out, 6, "alpha", &d, "-");
  printed_expect(&p, "alpha           -          -          -      1.019      1.273      3.344"
                     "      3207      3343  1.000      -\n");
  d.tail = 0.49;
  printed_open(&p);
  cli_print_quantity(p.out, 6, "alpha", &d, "-");
  printed_expect(&p, "alpha       24.58   1.45e+03          0      1.019      1.273      3.344"
                     "      3207      3343  1.000      -\n");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_width), cmocka_unit_test(test_cells),
                                     cmocka_unit_test(test_cut), cmocka_unit_test(test_quantity),
                                     cmocka_unit_test(test_heavy_tail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
