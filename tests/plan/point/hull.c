/* Tests the lower hull at a belief against all pairs of points on a line, including nearly equal
 * points. */
#include "plan/point/bounds.h"

#include <math.h>

#include "support.h"

static const uint32_t both[] = {0, 1};

static void put(sawtooth *t, double x, double value)
{
  uint32_t point = SAWTOOTH_NONE;
  const double mass[] = {x, 1 - x};
  const sparse_belief b = {both, mass, 2, 3};
  check(idm_sawtooth_lower(t, &b, value, 0, &point, &support_error));
}

/* Position and value of number i: a point, or a corner after the points. */
static void place(const sawtooth *t, size_t i, double *x, double *value)
{
  *x = i < t->count ? t->mass[t->point[i].at] : (double)(i == t->count);
  *value = i < t->count ? t->point[i].value : t->corner[i == t->count ? 0 : 1];
}

static double brute(const sawtooth *t, double x)
{
  double best = INFINITY;
  for (size_t i = 0; i < t->count + 2; i++)
    for (size_t j = 0; j < t->count + 2; j++) {
      double a, at_a, b, at_b;
      place(t, i, &a, &at_a);
      place(t, j, &b, &at_b);
      if (a > x || b < x) continue;
      best = fmin(best, a == b ? fmin(at_a, at_b) : at_a + (at_b - at_a) * (x - a) / (b - a));
    }
  return best;
}

/* Every third point nearly equals another, so that a basis of both is singular. */
static void is_the_best_of_all_pairs(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 95, 0);
  for (int k = 0; k < 200; k++) {
    sawtooth t;
    check(idm_sawtooth_create(&t, (const double[]){2, 1}, 2, &support_error));
    for (int n = 0; n < 25; n++) {
      double x = 0.01 + 0.98 * idm_random_uniform(&random);
      if (n % 3 == 1) x = t.mass[t.point[n - 1].at] * (1 + 4e-16 * n);
      put(&t, x, (x - 0.4) * (x - 0.4) + 0.01 * idm_random_uniform(&random));
      const double probability = n % 4 ? idm_random_uniform(&random) : x;
      const double mass[] = {probability, 1 - probability};
      const sparse_belief b = {both, mass, 2, 3};
      double multiplier[HULL_MOST], dense[3] = {0};
      const double found = idm_hull_at(&t, &b, SAWTOOTH_NONE, multiplier, dense);
      assert_near(found, brute(&t, probability), 1e-9);
      /* The multipliers are the plane through the hull at the belief, and no point lies below it.
       */
      assert_near(multiplier[0] * probability + multiplier[1] * (1 - probability), found, 1e-9);
      for (uint32_t i = 0; i < t.count; i++)
        assert_false(idm_hull_is_violated(&t, &b, i, multiplier));
    }
    idm_sawtooth_free(&t);
  }
}

/* A point that was lowered violates the multipliers computed without it. */
static void moves_with_a_point(void **state)
{
  (void)state;
  sawtooth t;
  check(idm_sawtooth_create(&t, (const double[]){2, 1}, 2, &support_error));
  put(&t, 0.5, 1);
  put(&t, 0.25, 1);
  const double mass[] = {0.5, 0.5};
  const sparse_belief b = {both, mass, 2, 3};
  double multiplier[HULL_MOST], dense[3] = {0};
  assert_near(idm_hull_at(&t, &b, SAWTOOTH_NONE, multiplier, dense), 1, 1e-15);
  assert_near(idm_hull_at(&t, &b, 0, multiplier, dense), 4.0 / 3, 1e-12);
  assert_true(idm_hull_is_violated(&t, &b, 0, multiplier));
  assert_false(idm_hull_is_violated(&t, &b, 1, multiplier));
  idm_sawtooth_free(&t);
}

/* Points with states outside the support of the belief cannot be part of its hull. */
static void needs_the_belief_s_own_states(void **state)
{
  (void)state;
  sawtooth t;
  check(idm_sawtooth_create(&t, (const double[]){2, 1, 3}, 3, &support_error));
  uint32_t point = SAWTOOTH_NONE;
  const sparse_belief wide = {(const uint32_t[]){0, 1, 2}, (const double[]){0.5, 0.25, 0.25}, 3, 7};
  check(idm_sawtooth_lower(&t, &wide, -5, 0, &point, &support_error));
  const double mass[] = {0.5, 0.5};
  const sparse_belief b = {both, mass, 2, 3};
  double multiplier[HULL_MOST], dense[3] = {0};
  assert_near(idm_hull_at(&t, &b, SAWTOOTH_NONE, multiplier, dense), 1.5, 1e-15);
  assert_false(idm_hull_is_violated(&t, &b, point, multiplier));
  idm_sawtooth_free(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(is_the_best_of_all_pairs),
      cmocka_unit_test(moves_with_a_point),
      cmocka_unit_test(needs_the_belief_s_own_states),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
