/* Tests soft extrema of a block of lanes against the scalar function, lane by lane. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/soft.h"
#include "idm/extension/random.h"

enum { MOST = 9 };

/* IDM_LANES cases with the same weights. */
typedef struct block {
  size_t count;
  double weight[MOST];
  double x[MOST * IDM_LANES];
} block;

/* Distributions of the numbers of a block. */
typedef enum kind { EVEN, MIXED_SCALES, TIED, SHIFTED, CONSTANT, KINDS } kind;

static double draw(kind k, size_t lane, double scale, idm_random *random)
{
  const double u = 2 * idm_random_uniform(random) - 1;
  switch (k) {
  case MIXED_SCALES:
    return u * scale * pow(10, -(double)lane / 8);
  case TIED:
    return scale * floor(3 * u);
  case SHIFTED:
    return scale * (1e3 + (double)lane + u);
  case CONSTANT:
    return scale * (double)lane;
  default:
    return u * scale;
  }
}

static void fill(block *b, kind k, size_t count, bool zeros, double scale, idm_random *random)
{
  b->count = count;
  double total = 0;
  for (size_t j = 0; j < count; j++) {
    b->weight[j] = zeros && j % 3 == 1 ? 0 : idm_random_uniform(random);
    total += b->weight[j];
    for (size_t l = 0; l < IDM_LANES; l++)
      b->x[j * IDM_LANES + l] = draw(k, l, scale, random) * (zeros && j % 3 == 1 ? 100 : 1);
  }
  for (size_t j = 0; j < count; j++) b->weight[j] /= total;
}

static double largest(const block *b)
{
  double most = 0;
  for (size_t i = 0; i < b->count * IDM_LANES; i++)
    if (b->weight[i / IDM_LANES] > 0) most = fmax(most, fabs(b->x[i]));
  return most;
}

/* The reference point is chosen once per block, so the error of a lane is relative to the block's
 * largest number. */
static void check_lane(const block *b, double temperature, size_t lane, const double *value,
                       const double *opt_p)
{
  double x[MOST], p[MOST];
  for (size_t j = 0; j < b->count; j++) x[j] = b->x[j * IDM_LANES + lane];
  const double expected = idm_soft(temperature, b->count, b->weight, x, p);
  if (!(fabs(value[lane] - expected) <= 1e-14 * largest(b)))
    fail_msg("T = %g, lane %zu: value %.17g, expected %.17g", temperature, lane, value[lane],
             expected);
  double sum = 0;
  for (size_t j = 0; opt_p && j < b->count; j++) {
    const double found = opt_p[j * IDM_LANES + lane];
    if (!(fabs(found - p[j]) <= 1e-13) || (b->weight[j] == 0 && found != 0))
      fail_msg("T = %g, lane %zu: p[%zu] = %.17g, expected %.17g", temperature, lane, j, found,
               p[j]);
    sum += found;
  }
  if (opt_p) assert_true(fabs(sum - 1) <= 1e-14);
}

/* Compares all lanes, with p and without it. The input is not modified. */
static void check(const block *b, double temperature)
{
  const block before = *b;
  double value[IDM_LANES], alone[IDM_LANES], p[MOST * IDM_LANES];
  memset(value, 0x7f, sizeof value);
  memset(p, 0x7f, sizeof p);
  idm_soft_block(temperature, b->count, b->weight, b->x, value, p);
  idm_soft_block(temperature, b->count, b->weight, b->x, alone, NULL);
  for (size_t l = 0; l < IDM_LANES; l++) {
    check_lane(b, temperature, l, value, p);
    check_lane(b, temperature, l, alone, NULL);
  }
  assert_memory_equal(b, &before, sizeof before);
}

static void check_limits(const block *b)
{
  check(b, 0.0);
  check(b, -0.0);
  check(b, INFINITY);
  check(b, -INFINITY);
}

static void test_every_kind_at_every_temperature(void **state)
{
  (void)state;
  static block b;
  idm_random random;
  idm_random_init(&random, 21, 0);
  for (int k = 0; k < KINDS; k++)
    for (size_t count = 1; count <= MOST; count++)
      for (int zeros = 0; zeros <= (count > 1); zeros++) {
        fill(&b, (kind)k, count, zeros, pow(10, (double)(count % 4) - 1), &random);
        for (double e = -8; e <= 12; e += 0.5) {
          check(&b, pow(10, e));
          check(&b, -pow(10, e));
        }
        check_limits(&b);
      }
}

/* A prior that assigns almost no probability to the best alternative. */
static void test_small_weights(void **state)
{
  (void)state;
  static block b;
  idm_random random;
  idm_random_init(&random, 22, 0);
  fill(&b, EVEN, 3, false, 10, &random);
  for (double e = -10; e >= -200; e -= 10) {
    b.weight[0] = pow(10, e);
    b.weight[1] = 0.25;
    b.weight[2] = 0.75 - b.weight[0];
    for (size_t l = 0; l < IDM_LANES; l++) b.x[l] = 1000 + (double)l;
    for (int t = -3; t <= 6; t++) {
      check(&b, pow(10, t));
      check(&b, -pow(10, t));
    }
    check_limits(&b);
  }
}

/* Spreads on both sides of the threshold at which the reference point changes. */
static void test_where_the_reference_changes(void **state)
{
  (void)state;
  static block b = {.count = 2, .weight = {0.5, 0.5}};
  for (int i = -20; i <= 20; i++) {
    for (size_t l = 0; l < IDM_LANES; l++) {
      b.x[l] = 0.5 + 1e-3 * i;
      b.x[IDM_LANES + l] = -b.x[l];
    }
    check(&b, 1);
    check(&b, -1);
  }
}

/* Every real temperature is valid, including those whose inverse overflows. */
static void test_the_smallest_temperatures(void **state)
{
  (void)state;
  static block b;
  idm_random random;
  idm_random_init(&random, 23, 0);
  fill(&b, EVEN, 4, true, 10, &random);
  const double tiny[] = {1e-20, 1e-100, 1e-300, 1e-307, 1e-310, 5e-324};
  for (size_t i = 0; i < sizeof tiny / sizeof tiny[0]; i++) {
    check(&b, tiny[i]);
    check(&b, -tiny[i]);
  }
}

static void test_the_largest_temperatures(void **state)
{
  (void)state;
  static block b;
  idm_random random;
  idm_random_init(&random, 24, 0);
  fill(&b, EVEN, 4, true, 10, &random);
  const double huge[] = {1e20, 1e100, 1e300, 1.7e308};
  for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
    check(&b, huge[i]);
    check(&b, -huge[i]);
  }
}

/* Ties in some lanes only; probability is divided in proportion to the weights. */
static void test_ties_lane_by_lane(void **state)
{
  (void)state;
  static block b = {.count = 4, .weight = {0.1, 0.2, 0, 0.7}};
  for (size_t l = 0; l < IDM_LANES; l++)
    for (size_t j = 0; j < 4; j++) b.x[j * IDM_LANES + l] = (double)((l >> j) % 2);
  check(&b, 0.0);
  check(&b, -0.0);
  double value[IDM_LANES], p[4 * IDM_LANES];
  idm_soft_block(0.0, 4, b.weight, b.x, value, p);
  /* Lane 3 = 0b0011: the first two alternatives are best, the third has weight 0. */
  assert_true(value[3] == 1);
  assert_true(fabs(p[3] - 1.0 / 3) < 1e-15 && fabs(p[IDM_LANES + 3] - 2.0 / 3) < 1e-15);
  assert_true(p[2 * IDM_LANES + 3] == 0 && p[3 * IDM_LANES + 3] == 0);
  /* Lane 4 = 0b0100: the best alternative is outside the support. */
  assert_true(value[4] == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_kind_at_every_temperature),
      cmocka_unit_test(test_small_weights),
      cmocka_unit_test(test_where_the_reference_changes),
      cmocka_unit_test(test_the_smallest_temperatures),
      cmocka_unit_test(test_the_largest_temperatures),
      cmocka_unit_test(test_ties_lane_by_lane),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
