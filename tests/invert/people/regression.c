/* Tests least squares over people against known residuals and leverages, and Student's t against
 * Simpson's rule. */
#include "invert/people/people.h"

#include <math.h>

#include "support.h"

/* Against Simpson's rule over the density. */
static void tails_are_those_of_student(void **state)
{
  (void)state;
  enum { STEPS = 2000 };
  static const double at[] = {0.5, 2, 4};
  for (size_t degrees = 1; degrees <= 31; degrees += 3)
    for (size_t k = 0; k < 3; k++) {
      const double n = (double)degrees, h = at[k] / STEPS;
      const double scale = exp(lgamma((n + 1) / 2) - lgamma(n / 2)) / sqrt(acos(-1) * n);
      double sum = 0;
      for (size_t i = 0; i <= STEPS; i++) {
        const double x = h * (double)i, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        sum += weight * scale * pow(1 + x * x / n, -(n + 1) / 2) * h / 3;
      }
      assert_near(idm_student_tails(at[k], degrees), 1 - 2 * sum, 1e-10);
      assert_near(idm_student_tails(-at[k], degrees), 1 - 2 * sum, 1e-10);
    }
}

enum { PEOPLE = 5 };

/* A line through 0, 1, 2, 3, 4, whose residuals and leverages are known; the third regressor is a
 * linear combination of the others. */
static void residuals_are_those_of_a_line(void **state)
{
  (void)state;
  static const double x[2 * PEOPLE] = {1, -1, 0, -1, 4, -1, 0, -1, 5, -1};
  static const double expected[PEOPLE] = {0.6, -1.2, 2, -2.8, 1.4}; /* around 0.4 + 0.8 i */
  double regressor[3 * PEOPLE], residual[PEOPLE], *w = regressor;
  size_t coefficients = 3;
  for (size_t i = 0; i < PEOPLE; i++) {
    regressor[3 * i] = 1;
    regressor[3 * i + 1] = (double)i;
    regressor[3 * i + 2] = 2 - 3 * (double)i;
  }
  const idm_design design = {
      .people = PEOPLE, .effects = 1, .coefficients = &coefficients, .regressor = &w};
  regression r;
  check(idm_regression_open(&r, &design, 0, &support_error));
  assert_int_equal(r.rank, 2);
  assert_near(idm_regression_residuals(&r, x, 2, residual), 15.6, 1e-12);
  for (size_t i = 0; i < PEOPLE; i++) {
    const double far = (double)i - 2;
    assert_near(residual[i], expected[i], 1e-12);
    assert_near(idm_regression_leverage(&r, i), 0.2 + far * far / 10, 1e-12);
  }
  idm_regression_close(&r);
  idm_regression_close(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tails_are_those_of_student),
      cmocka_unit_test(residuals_are_those_of_a_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
