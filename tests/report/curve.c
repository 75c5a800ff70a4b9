/* Tests kernel densities along linear and logarithmic axes against the exact normal density and a
 * unit integral. */
#include <math.h>

#include "report/panels.h"
#include "support.h"

enum { DRAWS = 2000, POINTS = 400 };
static double draw[DRAWS];

static double integral(const idm_curve *c)
{
  double sum = 0;
  for (size_t i = 0; i + 1 < c->points; i++)
    sum += (c->height[i] + c->height[i + 1]) / 2 * (c->along[i + 1] - c->along[i]);
  return sum;
}

static idm_plot_quantity normal(double mean, double sd, bool ratio)
{
  idm_random random;
  idm_random_init(&random, 2, 1);
  for (size_t i = 0; i < DRAWS; i++) {
    draw[i] = mean + sd * idm_random_normal(&random);
    if (ratio) draw[i] = exp(draw[i]);
  }
  return (idm_plot_quantity){.count = DRAWS,
                             .draw = draw,
                             .support = {ratio ? 0 : -INFINITY, INFINITY},
                             .by_ratio = ratio};
}

static void test_even(void **state)
{
  (void)state;
  const idm_plot_quantity one = normal(3, 2, false);
  idm_curve c;
  double mean = 0;
  for (size_t i = 0; i < DRAWS; i++) mean += draw[i] / DRAWS;
  check(idm_curve_create(&one, POINTS, 1, &c, &support_error));
  assert_true(c.varies && !c.logarithmic);
  assert_near(integral(&c), 1, 1e-3);
  assert_near(c.mean, mean, 1e-12);
  assert_near(c.mode, 3, 0.8);
  for (size_t i = 0; i < POINTS; i++) assert_true(c.at[i] == c.along[i]);
  /* Compares with the exact density. */
  for (size_t i = 0; i < POINTS; i++) {
    const double z = (c.at[i] - 3) / 2;
    assert_near(c.height[i], exp(-z * z / 2) / (2 * sqrt(2 * acos(-1))), 0.03);
  }
  double height[POINTS];
  check(idm_curve_compare(&c, draw, DRAWS, height, &support_error));
  for (size_t i = 0; i < POINTS; i++) assert_near(height[i], c.height[i], 1e-14);
  const double alike[] = {1, 1};
  check(idm_curve_compare(&c, alike, 2, height, &support_error));
  for (size_t i = 0; i < POINTS; i++) assert_true(height[i] == 0);
  idm_curve_clear(&c);
}

/* Draws that span powers of ten have the density of their logarithm; draws of a narrower range have
 * the density of the number itself, bounded by its support. */
static void test_ratio(void **state)
{
  (void)state;
  idm_plot_quantity one = normal(-3, 1.5, true);
  idm_curve c;
  check(idm_curve_create(&one, POINTS, 1, &c, &support_error));
  assert_true(c.logarithmic);
  assert_near(integral(&c), 1, 1e-3);
  for (size_t i = 0; i < POINTS; i++) {
    const double z = (c.along[i] + 3) / 1.5;
    assert_near(c.at[i], exp(c.along[i]), 1e-12);
    assert_near(c.height[i], exp(-z * z / 2) / (1.5 * sqrt(2 * acos(-1))), 0.04);
  }
  idm_curve_clear(&c);
  one = normal(-3, 0.1, true);
  check(idm_curve_create(&one, POINTS, 1, &c, &support_error));
  assert_false(c.logarithmic);
  assert_near(integral(&c), 1, 1e-3);
  idm_curve_clear(&c);
}

static void test_odd(void **state)
{
  (void)state;
  const double odd[] = {2, 2, INFINITY, NAN};
  idm_plot_quantity one = {.count = 4, .draw = odd, .support = {-INFINITY, INFINITY}};
  idm_curve c;
  check(idm_curve_create(&one, POINTS, 1, &c, &support_error));
  assert_true(!c.varies && c.points == 0 && c.mean == 2);
  idm_curve_clear(&c);
  one.draw = odd + 2;
  one.count = 2;
  check(idm_curve_create(&one, POINTS, 1, &c, &support_error));
  assert_true(!c.varies && isnan(c.mean));
  idm_curve_clear(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_even), cmocka_unit_test(test_ratio),
                                     cmocka_unit_test(test_odd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
