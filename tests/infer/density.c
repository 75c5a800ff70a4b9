/* Kernel density estimates against plain sums, exact integrals and known distributions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "idm/extension/random.h"
#include "infer/distribution.h"
#include "support.h"

enum { DRAWS = 500, POINTS = 2001 };
static const idm_density_support open_span = {-INFINITY, INFINITY};
static double draw[DRAWS], second[DRAWS], at[POINTS], density[POINTS];

static void fill(double low, double high)
{
  for (size_t i = 0; i < POINTS; i++) at[i] = low + (high - low) * (double)i / (POINTS - 1);
}

static double integral(void)
{
  double sum = 0;
  for (size_t i = 0; i + 1 < POINTS; i++)
    sum += (at[i + 1] - at[i]) * (density[i] + density[i + 1]) / 2;
  return sum;
}

static void draw_normal(double mean, double sd)
{
  idm_random random;
  idm_random_init(&random, 3, 1);
  for (size_t i = 0; i < DRAWS; i++) draw[i] = mean + sd * idm_random_normal(&random);
}

static double plain(double x, size_t count, double h)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const double z = (x - draw[i]) / h;
    sum += exp(-z * z / 2) / (h * sqrt(2 * acos(-1)));
  }
  return sum / (double)count;
}

static void test_sum(void **state)
{
  (void)state;
  draw_normal(2, 3);
  fill(-20, 24);
  idm_density_at(draw, DRAWS, 0.8, open_span, at, POINTS, density);
  for (size_t i = 0; i < POINTS; i++) assert_near(density[i], plain(at[i], DRAWS, 0.8), 1e-14);
  assert_near(integral(), 1, 1e-6);
  /* Values that are not finite are ignored. */
  double before[POINTS];
  idm_density_at(draw, DRAWS - 3, 0.8, open_span, at, POINTS, before);
  draw[DRAWS - 1] = NAN;
  draw[DRAWS - 2] = INFINITY;
  draw[DRAWS - 3] = -INFINITY;
  idm_density_at(draw, DRAWS, 0.8, open_span, at, POINTS, density);
  for (size_t i = 0; i < POINTS; i++) assert_near(density[i], before[i], 1e-15);
}

/* Reflection adds the density at the mirror images of a point. */
static void test_reflection(void **state)
{
  (void)state;
  draw_normal(0, 1);
  for (size_t i = 0; i < DRAWS; i++) draw[i] = fabs(draw[i]);
  fill(0, 12);
  idm_density_at(draw, DRAWS, 0.4, (idm_density_support){0, INFINITY}, at, POINTS, density);
  assert_near(integral(), 1, 1e-5);
  for (size_t i = 0; i < POINTS; i++)
    assert_near(density[i], plain(at[i], DRAWS, 0.4) + plain(-at[i], DRAWS, 0.4), 1e-13);
  /* A half-normal density does not decrease towards its end. */
  assert_true(density[0] > 0.6 && density[0] < 1);
  for (size_t i = 0; i < DRAWS; i++) draw[i] = -draw[i];
  const double zero[] = {-1, 1e-9};
  double there[2];
  idm_density_at(draw, DRAWS, 0.4, (idm_density_support){-INFINITY, 0}, zero, 2, there);
  assert_true(there[0] > 0);
  assert_true(there[1] == 0);
}

/* Between two ends, for kernels wider than the support too: uniform draws have a constant density.
 */
static void test_two_ends(void **state)
{
  (void)state;
  for (size_t i = 0; i < DRAWS; i++) draw[i] = 2 + ((double)i + 0.5) / DRAWS;
  fill(2, 3);
  for (double h = 0.02; h < 10; h *= 5) {
    idm_density_at(draw, DRAWS, h, (idm_density_support){2, 3}, at, POINTS, density);
    assert_near(integral(), 1, 1e-6);
    for (size_t i = 0; i < POINTS; i++) assert_near(density[i], 1, 1e-4);
  }
}

static void test_bandwidth(void **state)
{
  (void)state;
  double h;
  draw_normal(0, 2);
  check(idm_density_bandwidth(draw, DRAWS, 1, &h, &support_error));
  double mean = 0, square = 0;
  for (size_t i = 0; i < DRAWS; i++) mean += draw[i] / DRAWS;
  for (size_t i = 0; i < DRAWS; i++) square += (draw[i] - mean) * (draw[i] - mean) / (DRAWS - 1);
  assert_true(h <= 0.9 * sqrt(square) * pow(DRAWS, -0.2) * (1 + 1e-12));
  assert_true(h > 0.9 * 0.85 * sqrt(square) * pow(DRAWS, -0.2));
  /* Eight draws by hand: the quartiles of 1 ... 8 are 2.75 and 6.25, the sd is sqrt(6). */
  for (int i = 0; i < 8; i++) draw[i] = i + 1;
  check(idm_density_bandwidth(draw, 8, 1, &h, &support_error));
  assert_near(h, 0.9 * sqrt(6) * pow(8, -0.2), 1e-13);
  check(idm_density_bandwidth(draw, 8, 2, &h, &support_error));
  assert_near(h, sqrt(6) * pow(8, -1.0 / 6), 1e-13);
  /* An outlier changes the sd but not the quartiles. */
  draw[7] = 1000;
  check(idm_density_bandwidth(draw, 8, 1, &h, &support_error));
  assert_near(h, 0.9 * 3.5 / 1.34 * pow(8, -0.2), 1e-13);
  /* With most draws equal the quartiles are equal. With all draws equal, one draw or none there is
   * no density. */
  for (int i = 0; i < 7; i++) draw[i] = 1;
  check(idm_density_bandwidth(draw, 8, 1, &h, &support_error));
  assert_true(h > 0);
  check(idm_density_bandwidth(draw, 7, 1, &h, &support_error));
  assert_true(h == 0);
  check(idm_density_bandwidth(draw, 1, 1, &h, &support_error));
  assert_true(h == 0);
  draw[0] = NAN;
  check(idm_density_bandwidth(draw, 1, 1, &h, &support_error));
  assert_true(h == 0);
}

enum { GRID = 121 };
static double plane[GRID * GRID];

static idm_joint_draws joint_of(idm_density_support first)
{
  static double x[GRID], y[GRID];
  idm_random random;
  idm_random_init(&random, 4, 1);
  for (size_t i = 0; i < DRAWS; i++) {
    draw[i] = idm_random_normal(&random);
    second[i] = 0.6 * draw[i] + 0.8 * idm_random_normal(&random);
    if (isfinite(first.low)) draw[i] = fabs(draw[i]);
  }
  for (size_t i = 0; i < GRID; i++) {
    y[i] = -6 + 12.0 * (double)i / (GRID - 1);
    x[i] = isfinite(first.low) ? 6.0 * (double)i / (GRID - 1) : y[i];
  }
  return (idm_joint_draws){.draw = {draw, second},
                           .count = DRAWS,
                           .bandwidth = {0.3, 0.4},
                           .support = {first, open_span},
                           .points = {GRID, GRID},
                           .at = {x, y}};
}

static void test_joint(void **state)
{
  (void)state;
  for (int half = 0; half < 2; half++) {
    const idm_joint_draws j = joint_of(half ? (idm_density_support){0, INFINITY} : open_span);
    check(idm_joint_density(&j, plane, &support_error));
    double sum = 0;
    for (size_t b = 0; b < GRID; b++)
      for (size_t a = 0; a < GRID; a++) {
        const bool edge_a = a == 0 || a == GRID - 1, edge_b = b == 0 || b == GRID - 1;
        sum += plane[b * GRID + a] * (edge_a ? 0.5 : 1) * (edge_b ? 0.5 : 1);
      }
    assert_near(sum * (j.at[0][1] - j.at[0][0]) * (j.at[1][1] - j.at[1][0]), 1, 1e-3);
    /* One point by definition. */
    double there = 0;
    for (size_t i = 0; i < DRAWS; i++) {
      const double u = (j.at[0][20] - draw[i]) / 0.3, v = (j.at[1][60] - second[i]) / 0.4;
      const double w = (j.at[0][20] + draw[i]) / 0.3;
      there += (exp(-u * u / 2) + (half ? exp(-w * w / 2) : 0)) * exp(-v * v / 2);
    }
    assert_near(plane[60 * GRID + 20], there / DRAWS / (2 * acos(-1) * 0.3 * 0.4), 1e-13);
  }
}

/* The level encloses its share of the draws, by densities computed at each draw. */
static void test_level(void **state)
{
  (void)state;
  const idm_joint_draws j = joint_of(open_span);
  check(idm_joint_density(&j, plane, &support_error));
  for (int k = 1; k < 10; k += 2) {
    double level;
    size_t above = 0;
    check(idm_joint_level(&j, plane, k / 10.0, &level, &support_error));
    for (size_t i = 0; i < DRAWS; i++) {
      double here = 0;
      for (size_t l = 0; l < DRAWS; l++) {
        const double u = (draw[i] - draw[l]) / 0.3, v = (second[i] - second[l]) / 0.4;
        here += exp(-(u * u + v * v) / 2) / DRAWS / (2 * acos(-1) * 0.3 * 0.4);
      }
      above += here >= level;
    }
    assert_near((double)above / DRAWS, k / 10.0, 0.02);
  }
  double level;
  const double nowhere[] = {NAN};
  const idm_joint_draws none = {.draw = {nowhere, nowhere},
                                .count = 1,
                                .bandwidth = {1, 1},
                                .support = {open_span, open_span},
                                .points = {GRID, GRID},
                                .at = {j.at[0], j.at[1]}};
  check(idm_joint_density(&none, plane, &support_error));
  check(idm_joint_level(&none, plane, 0.5, &level, &support_error));
  assert_true(isnan(level));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sum),      cmocka_unit_test(test_reflection),
      cmocka_unit_test(test_two_ends), cmocka_unit_test(test_bandwidth),
      cmocka_unit_test(test_joint),    cmocka_unit_test(test_level)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
