/* Tests the mean of the worst share (conditional value at risk) against the minimum over all
 * vertices of its polytope. */
#include "base/statistics.h"

#include <math.h>

#include "base/soft.h"
#include "support.h"

enum { MOST = 5 };

/* The value of the vertex that fills alternatives in a given order. */
static double fill(double level, size_t count, const double *w, const double *x,
                   const size_t *order)
{
  double left = 1, value = 0;
  for (size_t i = 0; i < count; i++) {
    const double room = level > 0 ? w[order[i]] / level : w[order[i]] > 0 ? 1 : 0;
    const double p = fmin(left, room);
    value += p * x[order[i]];
    left -= p;
  }
  return left > 1e-9 ? INFINITY : value;
}

/* The minimum over all vertices, by all orders. */
static double least(double level, size_t count, const double *w, const double *x, size_t *order,
                    size_t at)
{
  if (at == count) return fill(level, count, w, x, order);
  double best = INFINITY;
  for (size_t i = at; i < count; i++) {
    const size_t a = order[at], b = order[i];
    order[at] = b;
    order[i] = a;
    best = fmin(best, least(level, count, w, x, order, at + 1));
    order[at] = a;
    order[i] = b;
  }
  return best;
}

static void test_vertices(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 8, 0);
  static const double levels[] = {1, 0.9, 0.5, 0.2, 0.05, 1e-3, 0};
  for (int draw = 0; draw < 2000; draw++) {
    const size_t count = 1 + (size_t)(idm_random_uniform(&random) * MOST);
    double w[MOST], x[MOST], p[MOST];
    support_distribution(&random, w, count);
    if (count > 2 && draw % 3 == 0) { /* an alternative of probability 0 */
      w[0] = 0;
      assert_true(idm_normalise(w, count) < 0);
      double sum = 0;
      for (size_t j = 0; j < count; j++) sum += w[j];
      for (size_t j = 0; j < count; j++) w[j] /= sum;
    }
    for (size_t j = 0; j < count; j++) x[j] = 20 * idm_random_uniform(&random) - 10;
    if (count > 1 && draw % 4 == 0) x[1] = x[0]; /* a tie */
    const double level = levels[(size_t)draw % (sizeof levels / sizeof levels[0])];
    size_t order[] = {0, 1, 2, 3, 4};
    const double value = idm_cvar(level, count, w, x, p);
    assert_near(value, least(level, count, w, x, order, 0), 1e-12);
    assert_true(idm_cvar(level, count, w, x, NULL) == value);
    double sum = 0, mean = 0;
    for (size_t j = 0; j < count; j++) {
      assert_true(p[j] >= 0 && (level == 0 || p[j] <= w[j] / level * (1 + 1e-12)));
      assert_true(w[j] > 0 || p[j] == 0);
      sum += p[j];
      mean += p[j] * x[j];
    }
    assert_near(sum, 1, 1e-12);
    assert_near(mean, value, 1e-12);
  }
}

/* The value changes by at most the largest change of an alternative, also next to ties, so it is
 * continuous. */
static void test_no_jumps(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 9, 0);
  for (int draw = 0; draw < 5000; draw++) {
    double w[MOST], x[MOST], moved[MOST], most = 0;
    support_distribution(&random, w, MOST);
    const double level = idm_random_uniform(&random);
    const double size = pow(10, -11 - 4 * idm_random_uniform(&random));
    for (size_t j = 0; j < MOST; j++) {
      x[j] = 3 + size * idm_random_uniform(&random);
      moved[j] = x[j] + 1e-2 * size * (idm_random_uniform(&random) - 0.5);
      most = fmax(most, fabs(moved[j] - x[j]));
    }
    const double change = idm_cvar(level, MOST, w, moved, NULL) - idm_cvar(level, MOST, w, x, NULL);
    assert_true(fabs(change) <= most + 1e-14);
  }
}

/* The limits equal those of the soft value, and the value increases with the level. */
static void test_limits(void **state)
{
  (void)state;
  const double w[] = {0.2, 0.3, 0, 0.5}, x[] = {3, -1, -7, -1};
  double p[4], q[4];
  assert_near(idm_cvar(1, 4, w, x, p), idm_soft(INFINITY, 4, w, x, q), 1e-15);
  for (size_t j = 0; j < 4; j++) assert_near(p[j], q[j], 1e-15);
  assert_near(idm_cvar(0, 4, w, x, p), idm_soft(-0.0, 4, w, x, q), 1e-15);
  for (size_t j = 0; j < 4; j++) assert_near(p[j], q[j], 1e-15);
  double last = -INFINITY;
  for (int i = 0; i <= 100; i++) {
    const double value = idm_cvar(i / 100.0, 4, w, x, NULL);
    assert_true(value >= last - 1e-12);
    last = value;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_vertices),
                                     cmocka_unit_test(test_no_jumps),
                                     cmocka_unit_test(test_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
