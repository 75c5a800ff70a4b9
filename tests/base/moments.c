/* Tests moments against direct sums in long double, also far from 0, and the edge cases documented
 * in the header. */
#include "base/statistics.h"

#include <float.h>
#include <math.h>

#include "support.h"

static void moments_do_not_lose_digits(void **state)
{
  (void)state;
  const double far = 1e9;
  const double x[] = {far + 4, far + 7, far + 13, far + 16};
  const idm_moments m = idm_moments_of(x, 4);
  assert_near(m.mean, far + 10, 1e-15);
  assert_near(m.variance, 30, 1e-12);
  assert_true(isnan(idm_moments_of(x, 1).variance) && idm_moments_of(x, 1).mean == x[0]);
  assert_true(isnan(idm_moments_of(x, 0).variance) && isnan(idm_moments_of(x, 0).mean));
  assert_true(isnan(idm_moments_of((const double[]){1, NAN, 2}, 3).mean));
}

static void running_moments_equal_those_of_the_array(void **state)
{
  (void)state;
  const double x[] = {3, -1, 4, 1, -5, 9, 2, 6};
  idm_welford w = {0};
  assert_true(isnan(idm_welford_variance(&w)));
  for (size_t i = 0; i < 8; i++) {
    idm_welford_add(&w, x[i]);
    assert_int_equal(w.count, i + 1);
    assert_near(w.mean, idm_mean(x, i + 1), 1e-15);
    assert_near(w.squares, idm_squares_about(x, i + 1, idm_mean(x, i + 1)), 1e-14);
    assert_near(w.mean, idm_moments_of(x, i + 1).mean, 0);
    if (i) assert_near(idm_welford_variance(&w), w.squares / (double)i, 0);
  }
}

static void means_of_equal_numbers_are_exact(void **state)
{
  (void)state;
  double x[1000];
  for (int i = 0; i < 1000; i++) x[i] = 0.1;
  assert_true(idm_mean(x, 1000) == 0.1);
  assert_true(idm_squares_about(x, 1000, 0.1) == 0);
  assert_true(isnan(idm_mean(x, 0)));
  x[0] = -INFINITY;
  assert_true(idm_mean(x, 1000) == -INFINITY);
  x[500] = INFINITY;
  assert_true(isnan(idm_mean(x, 1000)));
  x[0] = 0.1;
  assert_true(idm_mean(x, 1000) == INFINITY);
  x[0] = NAN;
  assert_true(isnan(idm_mean(x, 1000)));
  assert_near(idm_mean((const double[]){1, 2, 6}, 3), 3, 1e-15);
  assert_near(idm_squares_about((const double[]){1, 2, 6}, 3, 3), 14, 1e-15);
  assert_true(idm_squares_about(x, 0, 3) == 0);
}

static void weighted_means_ignore_the_scale(void **state)
{
  (void)state;
  const double x[] = {1, 2, 6};
  const double weight[] = {3, 0, 1};
  const double tiny[] = {3e-300, 0, 1e-300};
  const double none[] = {0, 0, 0};
  assert_true(idm_weighted_mean(x, weight, 3) == 2.25);
  assert_near(idm_weighted_mean(x, tiny, 3), 2.25, 1e-15);
  assert_true(isnan(idm_weighted_mean(x, none, 3)));
  assert_true(isnan(idm_weighted_mean(x, weight, 0)));
  assert_true(isnan(idm_weighted_mean((const double[]){1, NAN}, x, 2)));
  assert_true(isnan(idm_weighted_mean(x, (const double[]){1, NAN}, 2)));
}

static void equal_weights_are_all_effective(void **state)
{
  (void)state;
  const double equal[] = {0.2, 0.2, 0.2, 0.2, 0.2};
  const double uneven[] = {3, 0, 1};
  const double tiny[] = {3e-200, 0, 1e-200};
  assert_near(idm_effective_size(equal, 5), 5, 1e-15);
  assert_near(idm_effective_size(uneven, 3), 1.6, 1e-15);
  assert_near(idm_effective_size(tiny, 3), 1.6, 1e-15);
  assert_true(idm_effective_size((const double[]){0, 7}, 2) == 1);
  assert_true(idm_effective_size((const double[]){0, 0}, 2) == 0);
  assert_true(idm_effective_size((const double[]){1, INFINITY}, 2) == 0);
  assert_true(idm_effective_size((const double[]){1, NAN}, 2) == 0);
  assert_true(idm_effective_size(NULL, 0) == 0);
}

enum { points = 50, dimension = 3 };

/* Covariance (k, j) of x[point][dimension] by its definition, in long double. */
static double plain_covariance(const double *x, const double *weight, double lost, size_t k,
                               size_t j, double *ret_mean)
{
  long double total = 0, mean[2] = {0}, sum = 0;
  for (size_t i = 0; i < points; i++) {
    total += weight[i];
    mean[0] += (long double)weight[i] * x[i * dimension + k];
    mean[1] += (long double)weight[i] * x[i * dimension + j];
  }
  for (size_t i = 0; i < points; i++)
    sum += weight[i] * (x[i * dimension + k] - mean[0] / total) *
           (x[i * dimension + j] - mean[1] / total);
  *ret_mean = (double)(mean[0] / total);
  return (double)(sum / (total - lost));
}

static void covariances_equal_plain_sums(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 25, 3);
  for (int round = 0; round < 200; round++) {
    double x[points * dimension], across[dimension * points], weight[points];
    const double far = support_signed(&random, 1, 1e6);
    const bool weighted = round % 2;
    for (size_t i = 0; i < points; i++) {
      weight[i] = !weighted                           ? 1
                  : idm_random_uniform(&random) < 0.2 ? 0
                                                      : idm_random_uniform(&random);
      for (size_t k = 0; k < dimension; k++)
        across[k * points + i] = x[i * dimension + k] =
            far + idm_random_normal(&random) + (k ? x[i * dimension] : 0);
    }
    const idm_points layout[] = {
        {x, points, dimension, dimension, 1, weighted ? weight : NULL},
        {across, points, dimension, 1, points, weighted ? weight : NULL},
    };
    for (int l = 0; l < 2; l++) {
      double mean[dimension], covariance[dimension * dimension];
      idm_covariance(&layout[l], !weighted, mean, covariance);
      for (size_t k = 0; k < dimension; k++)
        for (size_t j = 0; j < dimension; j++) {
          double centre;
          const double plain = plain_covariance(x, weight, !weighted, k, j, &centre);
          assert_near(mean[k], centre, 64 * DBL_EPSILON);
          assert_near(covariance[k * dimension + j], plain, 1e-9);
          assert_true(covariance[k * dimension + j] == covariance[j * dimension + k]);
        }
    }
  }
}

static void covariances_ignore_points_of_weight_0(void **state)
{
  (void)state;
  const double x[] = {1, NAN, 2, 5};
  double mean[1], covariance[1];
  idm_covariance(&(idm_points){x, 4, 1, 1, 0, (const double[]){2, 0, 1, 1}}, 0, mean, covariance);
  assert_true(mean[0] == 2.25 && covariance[0] == 2.6875);
  idm_covariance(&(idm_points){x, 4, 1, 1, 0, (const double[]){2, 1, 1, 1}}, 0, mean, covariance);
  assert_true(isnan(mean[0]) && isnan(covariance[0]));
  idm_covariance(&(idm_points){x, 4, 1, 1, 0, (const double[]){0, 0, 0, 0}}, 0, mean, covariance);
  assert_true(isnan(mean[0]) && isnan(covariance[0]));
  idm_covariance(&(idm_points){x, 0, 1, 1, 0, NULL}, 0, mean, covariance);
  assert_true(isnan(mean[0]) && isnan(covariance[0]));
  idm_covariance(&(idm_points){x, 1, 1, 1, 0, NULL}, 0, mean, covariance);
  assert_true(mean[0] == 1 && covariance[0] == 0);
  idm_covariance(&(idm_points){x, 1, 1, 1, 0, NULL}, 1, mean, covariance);
  assert_true(mean[0] == 1 && isnan(covariance[0]));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moments_do_not_lose_digits),
      cmocka_unit_test(running_moments_equal_those_of_the_array),
      cmocka_unit_test(means_of_equal_numbers_are_exact),
      cmocka_unit_test(covariances_equal_plain_sums),
      cmocka_unit_test(covariances_ignore_points_of_weight_0),
      cmocka_unit_test(weighted_means_ignore_the_scale),
      cmocka_unit_test(equal_weights_are_all_effective),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
