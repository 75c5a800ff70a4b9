/* Tests the coordinates u of effects: their inverse, independence of the population under a normal
 * likelihood, and limits. */
#include "invert/hierarchy/hierarchy.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "support.h"

enum { q = 3 };

static const double curvature[q * q] = {4, 1, 0.5, 1, 3, -1, 0.5, -1, 2};
static const double linear_term[q] = {1, -2, 0.5};

/* A random factor and mean. */
static void draw(idm_random *random, double scale, double *factor, double *mean)
{
  for (size_t i = 0; i < q; i++) {
    mean[i] = idm_random_normal(random);
    for (size_t j = 0; j < q; j++)
      factor[i * q + j] = j > i    ? 0
                          : j == i ? scale * (0.2 + idm_random_uniform(random))
                                   : scale * idm_random_normal(random);
  }
}

static void u_and_z_go_back_and_forth(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 1, 2);
  double factor[q * q], mean[q], t[q * q], v[q], scratch[q * q], u[q], z[q], again[q];
  for (double scale = 1e-9; scale < 1e4; scale *= 10) {
    draw(&random, scale, factor, mean);
    normal_frame frame = {.effects = q, .t = t, .v = v};
    idm_normal_frame(&frame, factor, mean, curvature, linear_term, scratch);
    for (size_t i = 0; i < q; i++) u[i] = idm_random_normal(&random);
    idm_normal_u_to_z(&frame, u, z);
    idm_normal_z_to_u(&frame, z, again);
    for (size_t i = 0; i < q; i++) assert_near(again[i], u[i], 1e-9);
  }
}

/* log L(e) - |z|^2/2 - log det T is -|u|^2/2 plus a constant that depends on the population only.
 */
static void normal_likelihoods_make_u_independent(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 1, 3);
  double factor[q * q], mean[q], t[q * q], v[q], scratch[q * q], u[q], z[q], e[q];
  for (int trial = 0; trial < 10; trial++) {
    draw(&random, 1, factor, mean);
    normal_frame frame = {.effects = q, .t = t, .v = v};
    idm_normal_frame(&frame, factor, mean, curvature, linear_term, scratch);
    double of_population = 0;
    for (int k = 0; k < 3; k++) {
      double found = 0;
      for (size_t i = 0; i < q; i++) u[i] = 2 * idm_random_normal(&random);
      idm_normal_u_to_z(&frame, u, z);
      idm_normal_effects(q, factor, mean, z, e);
      for (size_t i = 0; i < q; i++) {
        found += linear_term[i] * e[i] - 0.5 * z[i] * z[i] + 0.5 * u[i] * u[i];
        for (size_t j = 0; j < q; j++) found -= 0.5 * e[i] * curvature[i * q + j] * e[j];
      }
      if (k) assert_near(found, of_population, 1e-11);
      of_population = found;
    }
  }
}

/* Without data u = z (non-centred); with much data e does not change with the population (centred).
 */
static void each_is_as_centred_as_its_data(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 1, 4);
  double factor[q * q], mean[q], t[q * q], v[q], scratch[q * q], z[q], e[q], moved[q];
  const double nothing[q * q] = {0}, u[q] = {0.3, -1, 2};
  const double much[q * q] = {1e12, 0, 0, 0, 1e12, 0, 0, 0, 1e12};
  const double there[q] = {1e12, 2e12, 3e12};
  normal_frame frame = {.effects = q, .t = t, .v = v};
  draw(&random, 1, factor, mean);
  idm_normal_frame(&frame, factor, mean, nothing, nothing, scratch);
  idm_normal_u_to_z(&frame, u, z);
  for (size_t i = 0; i < q; i++) assert_near(z[i], u[i], 1e-15);
  for (int k = 0; k < 2; k++) {
    idm_normal_frame(&frame, factor, mean, much, there, scratch);
    idm_normal_u_to_z(&frame, u, z);
    idm_normal_effects(q, factor, mean, z, k ? moved : e);
    draw(&random, 1, factor, mean);
  }
  for (size_t i = 0; i < q; i++) {
    assert_near(e[i], (double)i + 1, 1e-5);
    assert_near(e[i], moved[i], 1e-5);
  }
}

/* If the computation overflows, u is z. */
static void what_overflows_is_not_centred(void **state)
{
  (void)state;
  const double huge[q * q] = {1e308, 0, 0, 0, 1e308, 0, 0, 0, 1e308}, zero[q] = {0};
  const double factor[q * q] = {1e200, 0, 0, 0, 1e200, 0, 0, 0, 1e200}, u[q] = {1, 2, 3};
  double t[q * q], v[q], scratch[q * q], z[q];
  normal_frame frame = {.effects = q, .t = t, .v = v};
  idm_normal_frame(&frame, factor, zero, huge, zero, scratch);
  idm_normal_u_to_z(&frame, u, z);
  for (size_t i = 0; i < q; i++) assert_near(z[i], u[i], 0);
}

/* `information` is the inverse of Sigma + H^-1, and the right side is its product with the mode
 * H^-1 h. */
static void information_is_that_of_the_sum(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 3, 2);
  const double told[q] = {0.4, -1.3, 2.2};
  double factor[q * q], mean[q], half[q * q], inverse[q * q], information[q * q], right[q], mode[q];
  draw(&random, 0.7, factor, mean);
  memcpy(half, curvature, sizeof half);
  assert_true(idm_cholesky(q, half));
  idm_cholesky_inverse(q, half, inverse);
  idm_normal_information(q, factor, curvature, told, information, right);
  memcpy(mode, told, sizeof mode); /* H^-1 h */
  idm_lower_solve(q, half, mode);
  idm_lower_solve_transposed(q, half, mode);
  for (size_t i = 0; i < q; i++)
    for (size_t j = 0; j < q; j++)
      for (size_t k = 0; k < q; k++) inverse[i * q + j] += factor[i * q + k] * factor[j * q + k];
  for (size_t i = 0; i < q; i++)
    for (size_t j = 0; j < q; j++) {
      double sum = 0;
      for (size_t k = 0; k < q; k++) sum += inverse[i * q + k] * information[k * q + j];
      assert_near(sum, i == j, 1e-12);
    }
  for (size_t i = 0; i < q; i++) {
    double sum = 0;
    for (size_t k = 0; k < q; k++) sum += information[i * q + k] * mode[k];
    assert_near(right[i], sum, 1e-12);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(u_and_z_go_back_and_forth),
                                     cmocka_unit_test(normal_likelihoods_make_u_independent),
                                     cmocka_unit_test(each_is_as_centred_as_its_data),
                                     cmocka_unit_test(what_overflows_is_not_centred),
                                     cmocka_unit_test(information_is_that_of_the_sum)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
