/* Tests contour lines on a grid against a circle, separate peaks, a plane that meets the edge of
 * the grid, and saddle cells. */
#include <math.h>

#include "report/markup.h"
#include "support.h"

enum { GRID = 81 };
static double axis[GRID], plane[GRID * GRID];
static const idm_heights heights = {GRID, GRID, axis, axis, plane};

static void fill(double (*f)(double x, double y))
{
  for (size_t i = 0; i < GRID; i++) axis[i] = -2 + 4 * (double)i / (GRID - 1);
  for (size_t b = 0; b < GRID; b++)
    for (size_t a = 0; a < GRID; a++) plane[b * GRID + a] = f(axis[a], axis[b]);
}

static double bowl(double x, double y)
{
  return -x * x - y * y;
}

static double two(double x, double y)
{
  return exp(-8 * ((x - 1) * (x - 1) + y * y)) + exp(-8 * ((x + 1) * (x + 1) + y * y));
}

static double slope(double x, double y)
{
  (void)y;
  return x;
}

static size_t lines_of(const idm_contour *c)
{
  size_t lines = 0;
  for (size_t i = 0; i < c->count; i++) lines += isnan(c->x[i]) != 0;
  return lines;
}

/* One closed line on the circle of radius 1.1, with its area. */
static void test_circle(void **state)
{
  (void)state;
  idm_contour c;
  double area = 0;
  fill(bowl);
  check(idm_contour_find(&heights, -1.21, &c, &support_error));
  assert_int_equal(lines_of(&c), 1);
  for (size_t i = 0; i + 1 < c.count; i++) {
    assert_near(hypot(c.x[i], c.y[i]), 1.1, 1e-3);
    if (i + 2 < c.count) area += (c.x[i] * c.y[i + 1] - c.x[i + 1] * c.y[i]) / 2;
  }
  assert_true(c.x[0] == c.x[c.count - 2] && c.y[0] == c.y[c.count - 2]);
  assert_near(fabs(area), acos(-1) * 1.21, 2e-3);
  idm_contour_clear(&c);
}

static void test_several(void **state)
{
  (void)state;
  idm_contour c;
  fill(two);
  check(idm_contour_find(&heights, 0.5, &c, &support_error));
  assert_int_equal(lines_of(&c), 2);
  idm_contour_clear(&c);
  /* Levels above the maximum and below the minimum have no contour. */
  check(idm_contour_find(&heights, 2, &c, &support_error));
  assert_int_equal(c.count, 0);
  idm_contour_clear(&c);
  check(idm_contour_find(&heights, -1, &c, &support_error));
  assert_int_equal(c.count, 0);
  idm_contour_clear(&c);
}

/* A contour that reaches the edge of the grid is one line from edge to edge. */
static void test_open(void **state)
{
  (void)state;
  idm_contour c;
  fill(slope);
  check(idm_contour_find(&heights, 0.51, &c, &support_error));
  assert_int_equal(lines_of(&c), 1);
  assert_int_equal(c.count, GRID + 1);
  for (size_t i = 0; i < GRID; i++) assert_near(c.x[i], 0.51, 1e-12);
  assert_near(fabs(c.y[0] - c.y[GRID - 1]), 4, 1e-12);
  idm_contour_clear(&c);
}

/* In a saddle cell, the corners above the level are connected if the centre is above the level. */
static void test_saddle(void **state)
{
  (void)state;
  const double at[] = {0, 1};
  for (int up = 0; up < 2; up++)
    for (int turned = 0; turned < 2; turned++) {
      const double high = up ? 3 : 1.5;
      const double z[] = {turned ? 0 : high, turned ? high : 0, turned ? high : 0,
                          turned ? 0 : high};
      idm_contour c;
      check(idm_contour_find(&(idm_heights){2, 2, at, at, z}, 1, &c, &support_error));
      assert_int_equal(c.count, 6);
      for (size_t k = 0; k < 2; k++) {
        /* Each line separates one corner: its ends are on the two sides that meet in that corner.
         */
        const double x = (c.x[3 * k] + c.x[3 * k + 1]) / 2, y = (c.y[3 * k] + c.y[3 * k + 1]) / 2;
        const size_t corner = (y > 0.5 ? 2u : 0u) + (x > 0.5 ? 1u : 0u);
        assert_int_equal(z[corner] < 1, up);
      }
      idm_contour_clear(&c);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_circle), cmocka_unit_test(test_several),
                                     cmocka_unit_test(test_open), cmocka_unit_test(test_saddle)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
