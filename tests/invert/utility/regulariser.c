/* Regularisers: conjugates against suprema over a grid, derivatives against differences. */
#include "invert/utility/soft_plan.h"

#include <math.h>

#include "support.h"

static const idm_regulariser all[IDM_ZETA_COUNT] = {{IDM_ZETA_SQUARED, 7},
                                                    {IDM_ZETA_ABSOLUTE, 0.2},
                                                    {IDM_ZETA_ENTROPY, 0.3},
                                                    {IDM_ZETA_GAIL, 1},
                                                    {IDM_ZETA_BOX, 1.5}};
static const double pairs[][2] = {{0.3, 0.25}, {0.1, 0.4}, {0.5, 0.1}, {0.2, 0.2}};

/* sup_v v (p - q) - zeta(v) - prox_weight/2 (v - held)^2 over a fine grid. */
static double slow_supremum(const idm_regulariser *r, double p, double q, double held,
                            double prox_weight)
{
  double most = -INFINITY;
  for (int i = -262144; i <= 262144; i++) {
    const double v = i * 0x1p-15; /* exact in binary, so that the ends of a box are grid points */
    const double off = v - held;
    most = fmax(most, v * (p - q) - idm_regulariser_value(r, p, v) - 0.5 * prox_weight * off * off);
  }
  return most;
}

static void test_conjugates(void **state)
{
  (void)state;
  for (size_t z = 0; z < IDM_ZETA_COUNT; z++)
    for (size_t i = 0; i < 4; i++) {
      const double p = pairs[i][0], q = pairs[i][1];
      const double found = idm_regulariser_conjugate(&all[z], p, q);
      if (isinf(found)) /* the supremum grows with the grid */
        assert_true(z == IDM_ZETA_ABSOLUTE && slow_supremum(&all[z], p, q, 0, 0) > 0.5);
      else
        assert_near(found, slow_supremum(&all[z], p, q, 0, 0), 1e-8);
    }
}

/* The proximal form around a utility, for conjugates with kinks or a bounded domain; v is minus the
 * derivative by q. */
static void test_near(void **state)
{
  (void)state;
  for (size_t z = 0; z < IDM_ZETA_COUNT; z++)
    for (size_t i = 0; i < 4; i++) {
      const double p = pairs[i][0], q = pairs[i][1], prox_weight = 0.1, h = 1e-6;
      const bool held = idm_regulariser_is_nonsmooth(&all[z]);
      double v, other;
      const double found = idm_regulariser_proximal(&all[z], p, q, 0.4, prox_weight, &v);
      assert_near(found, slow_supremum(&all[z], p, q, held ? 0.4 : 0, held ? prox_weight : 0),
                  1e-8);
      const double up = idm_regulariser_proximal(&all[z], p, q + h, 0.4, prox_weight, &other);
      const double down = idm_regulariser_proximal(&all[z], p, q - h, 0.4, prox_weight, &other);
      assert_near(v, -(up - down) / (2 * h), 1e-6);
    }
}

/* Barrier forms: derivatives by differences; with weight 1e-12 the value is zeta. */
static void test_barriers(void **state)
{
  (void)state;
  static const double places[] = {0.01, 0.4, 1.3}, h = 1e-5;
  for (size_t z = 0; z < IDM_ZETA_COUNT; z++)
    for (size_t i = 0; i < 3; i++) {
      const double v = places[i], p = 0.3, mu = 1e-2;
      double value, derivative, curvature, up, down, slope_up, slope_down, rest;
      assert_true(idm_regulariser_barrier(&all[z], p, v, mu, &value, &derivative, &curvature));
      assert_true(idm_regulariser_barrier(&all[z], p, v + h * v, mu, &up, &slope_up, &rest));
      assert_true(idm_regulariser_barrier(&all[z], p, v - h * v, mu, &down, &slope_down, &rest));
      assert_near(derivative, (up - down) / (2 * h * v), 1e-6);
      assert_near(curvature, (slope_up - slope_down) / (2 * h * v), 1e-5);
      assert_true(idm_regulariser_barrier(&all[z], p, v, 1e-12, &value, &derivative, &curvature));
      assert_near(value, idm_regulariser_value(&all[z], p, v), 1e-9);
    }
  double value, derivative, curvature;
  assert_false(
      idm_regulariser_barrier(&all[IDM_ZETA_BOX], 0.3, 1.6, 1e-2, &value, &derivative, &curvature));
  assert_false(
      idm_regulariser_barrier(&all[IDM_ZETA_GAIL], 0.3, 0, 1e-2, &value, &derivative, &curvature));
  for (size_t z = 0; z < IDM_ZETA_COUNT; z++)
    assert_true(isfinite(idm_regulariser_value(&all[z], 0.3, idm_regulariser_interior(&all[z]))));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_conjugates), cmocka_unit_test(test_near),
                                     cmocka_unit_test(test_barriers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
