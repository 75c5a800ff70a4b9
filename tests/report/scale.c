/* Tests the scales of axes: ends, ticks, labels and positions. */
#include "report/markup.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "support.h"

/* The ends include the numbers; the ticks are inside the ends, increasing, and have different
 * labels. */
static void expect_ticks(double low, double high, bool logarithmic, double about, size_t least)
{
  idm_scale_of_axis s = {.logarithmic = logarithmic, .low = low, .high = high, .to = 1};
  idm_scale_ends(logarithmic, 0.04, &s.low, &s.high);
  assert_true(isfinite(s.low) && isfinite(s.high) && s.low < s.high);
  if (low <= high && fabs(high) < DBL_MAX / 4 && (!logarithmic || low > DBL_MIN))
    assert_true(s.low <= low && s.high >= high);
  idm_scale_tick(&s, about, false);
  if (s.ticks < least || s.ticks > IDM_TICKS)
    fail_msg("%zu ticks from %g to %g, about %g", s.ticks, s.low, s.high, about);
  for (size_t i = 0; i < s.ticks; i++) {
    const double place = idm_scale_position(&s, s.tick[i]);
    if (!(place > -1e-6 && place < 1 + 1e-6))
      fail_msg("tick %g is not between %g and %g", s.tick[i], s.low, s.high);
    if (i == 0) continue;
    assert_true(s.tick[i] > s.tick[i - 1]);
    assert_string_not_equal(s.text[i], s.text[i - 1]);
  }
}

static void odd_ranges(void **state)
{
  (void)state;
  static const double ends[][2] = {{0, 1},          {-3, 7},          {1e-300, 1e300},
                                   {5, 5},          {0, 0},           {2, 1},
                                   {-1e308, 1e308}, {1e308, 1.7e308}, {1000000, 1000010},
                                   {1e-9, 3e-9},    {-0.5, -0.4999},  {1, 1 + 1e-9},
                                   {0.2, 0.7},      {1e-320, 1e-310}, {12, 13000}};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
    for (int about = 1; about <= 15; about += 2) {
      expect_ticks(ends[i][0], ends[i][1], false, about, about > 2 ? 2 : 1);
      expect_ticks(ends[i][0], ends[i][1], true, about, about > 4 ? 2 : 0);
    }
  expect_ticks(NAN, NAN, false, 5, 2);
  expect_ticks(-INFINITY, INFINITY, false, 5, 2);
  expect_ticks(INFINITY, -INFINITY, true, 5, 0);
}

/* The step is 1, 2 or 5 times a power of ten, and there are at most max(about + 1, 5) ticks. */
static void even_ticks(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 3, 0);
  for (int trial = 0; trial < 500; trial++) {
    const double about = 2 + 8 * idm_random_uniform(&random);
    idm_scale_of_axis s = {.low = support_signed(&random, 1e-3, 1e3)};
    s.high = s.low + exp(20 * idm_random_uniform(&random) - 10);
    idm_scale_tick(&s, about, false);
    assert_true((double)s.ticks <= fmax(about + 1, 5) + 1e-9);
    for (size_t i = 2; i < s.ticks; i++) {
      const double step = s.tick[1] - s.tick[0];
      const double mantissa = step / pow(10, floor(log10(step) + 1e-6));
      assert_near(s.tick[i] - s.tick[i - 1], step, 1e-6 * step);
      assert_true(fabs(mantissa - 1) < 1e-3 || fabs(mantissa - 2) < 1e-3 ||
                  fabs(mantissa - 5) < 1e-3);
    }
  }
}

static void words(void **state)
{
  (void)state;
  idm_scale_of_axis s = {.low = -1, .high = 1};
  idm_scale_tick(&s, 4, false);
  assert_int_equal(s.ticks, 5);
  assert_string_equal(s.text[0], "\xE2\x88\x92"
                                 "1.0");
  assert_string_equal(s.text[2], "0.0");
  s = (idm_scale_of_axis){.low = 0, .high = 3};
  idm_scale_tick(&s, 12, true);
  assert_int_equal(s.ticks, 4);
  assert_string_equal(s.text[3], "3");
  s = (idm_scale_of_axis){.logarithmic = true, .low = 0.01, .high = 100};
  idm_scale_tick(&s, 6, false);
  assert_int_equal(s.ticks, 5);
  assert_string_equal(s.text[0], "0.01");
  assert_string_equal(s.text[4], "100");
}

/* Very small and very large numbers: no long rows of zeros, and powers of ten in short form. */
static void far_words(void **state)
{
  (void)state;
  idm_scale_of_axis s = {.low = 0, .high = 3e-9};
  idm_scale_tick(&s, 4, false);
  assert_int_equal(s.ticks, 4);
  assert_string_equal(s.text[0], "0");
  assert_string_equal(s.text[1], "1e-9");
  s = (idm_scale_of_axis){.low = 1e9, .high = 1.02e9};
  idm_scale_tick(&s, 2, false);
  assert_string_equal(s.text[0], "1e9");
  assert_string_equal(s.text[1], "1.01e9");
  s = (idm_scale_of_axis){.low = 1e10, .high = 3e100, .logarithmic = true};
  idm_scale_tick(&s, 2, false);
  assert_string_equal(s.text[0], "1e46");
  s = (idm_scale_of_axis){.low = 0, .high = 1e-3};
  idm_scale_tick(&s, 4, false);
  assert_string_equal(s.text[0], "0.0000");
}

/* The remaining ticks have at least the required distance, evenly, starting with the first. */
static void thinning(void **state)
{
  (void)state;
  idm_scale_of_axis s = {.low = 0, .high = 10};
  idm_scale_tick(&s, 10, true); /* 0 to 10 */
  idm_scale_thin_ticks(&s, 100, 9.99);
  assert_int_equal(s.ticks, 11);
  idm_scale_thin_ticks(&s, 100, 21);
  assert_int_equal(s.ticks, 4);
  for (size_t i = 0; i < 4; i++) assert_near(s.tick[i], 3 * (double)i, 1e-12);
  assert_string_equal(s.text[3], "9");
  idm_scale_thin_ticks(&s, 100, 1e9);
  assert_int_equal(s.ticks, 1);
  idm_scale_thin_ticks(&s, 100, 1e9);
  assert_int_equal(s.ticks, 1);
  s = (idm_scale_of_axis){.low = 1, .high = 100, .logarithmic = true};
  idm_scale_tick(&s, 8, false); /* 1, 2, 5, 10, ...: 2 is nearest to 1 */
  assert_int_equal(s.ticks, 7);
  idm_scale_thin_ticks(&s, 200, 30);
  assert_int_equal(s.ticks, 7);
  idm_scale_thin_ticks(&s, 200, 31);
  assert_int_equal(s.ticks, 4);
}

static void places(void **state)
{
  (void)state;
  const idm_scale_of_axis linear = {.low = 2, .high = 4, .from = 100, .to = 50};
  const idm_scale_of_axis powers = {
      .logarithmic = true, .low = 1e-300, .high = 1e300, .from = 0, .to = 600};
  assert_near(idm_scale_position(&linear, 2), 100, 0);
  assert_near(idm_scale_position(&linear, 3.5), 62.5, 1e-12);
  assert_near(idm_scale_position(&powers, 1e-300), 0, 1e-9);
  assert_near(idm_scale_position(&powers, 1e100), 400, 1e-9);
  assert_true(!isfinite(idm_scale_position(&powers, 0)));
  assert_true(!isfinite(idm_scale_position(&powers, -1)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(odd_ranges), cmocka_unit_test(even_ticks),
                                     cmocka_unit_test(words),      cmocka_unit_test(far_words),
                                     cmocka_unit_test(thinning),   cmocka_unit_test(places)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
