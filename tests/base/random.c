/* Tests random streams against published answers and by goodness of fit: independence, uniformity,
 * choice frequencies, and the normal and gamma distributions.
 *
 * Seeds are fixed, so a test either always passes or always fails. Each level is the share of seeds
 * at which a perfect generator would fail. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "idm/extension/random.h"

/* The quantile of the chi-square distribution at level 1e-6 (Wilson and Hilferty 1931). It is
 * slightly too large for few degrees of freedom, which lowers the level. */
static double critical(double freedom)
{
  const double z = 4.753424;
  const double c = 2 / (9 * freedom);
  const double root = 1 - c + z * sqrt(c);
  return freedom * root * root * root;
}

static double chi_square(const long *count, const double *share, size_t cells, double n)
{
  double sum = 0;
  for (size_t i = 0; i < cells; i++) {
    if (!(share[i] > 0)) continue;
    const double expected = n * share[i];
    sum += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
  }
  return sum;
}

/* Checks that two words of Philox form one number, the first word high. The rounding of the last
 * bits is not specified. */
static void check_words(double found, uint32_t high, uint32_t low)
{
  const double expected = (double)high * 0x1p-32 + (double)low * 0x1p-64;
  assert_true(fabs(found - expected) <= 0x1p-52);
}

/* Published answers of Random123 for Philox4x32-10 (kat_vectors): counter words c, key words k. */
static void check_answer(const uint32_t c[4], const uint32_t k[2], const uint32_t answer[4])
{
  idm_random random;
  idm_random_init(&random, k[0] | (uint64_t)k[1] << 32, c[2] | (uint64_t)c[3] << 32);
  random.block = c[0] | (uint64_t)c[1] << 32;
  check_words(idm_random_uniform(&random), answer[0], answer[1]);
  check_words(idm_random_uniform(&random), answer[2], answer[3]);
  for (int i = 0; i < 4; i++) assert_int_equal(random.word[i], answer[i]);
}

static void test_known_answers(void **state)
{
  (void)state;
  check_answer((const uint32_t[]){0, 0, 0, 0}, (const uint32_t[]){0, 0},
               (const uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  check_answer((const uint32_t[]){0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
               (const uint32_t[]){0xffffffff, 0xffffffff},
               (const uint32_t[]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check_answer((const uint32_t[]){0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
               (const uint32_t[]){0xa4093822, 0x299f31d0},
               (const uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

static void test_first_uniform_of_seed_zero(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 0, 0);
  const double first = idm_random_uniform(&random);
  assert_true(fabs(first - 0x6627e8d5 / 4294967296.0) < 1 / 4294967296.0);
}

static void test_same_seed_same_numbers(void **state)
{
  (void)state;
  idm_random a, b;
  idm_random_init(&a, 42, 7);
  idm_random_init(&b, 42, 7);
  for (int i = 0; i < 1000; i++) assert_true(idm_random_uniform(&a) == idm_random_uniform(&b));
  /* A copy continues from the position of the original, also in the middle of a block. */
  idm_random_uniform(&a);
  b = a;
  for (int i = 0; i < 9; i++) assert_true(idm_random_uniform(&a) == idm_random_uniform(&b));
}

static void check_differ(uint64_t seed_a, uint64_t stream_a, uint64_t seed_b, uint64_t stream_b)
{
  idm_random a, b;
  idm_random_init(&a, seed_a, stream_a);
  idm_random_init(&b, seed_b, stream_b);
  /* Level: 1000 pairs of 53-bit numbers, 1e-13. */
  for (int i = 0; i < 1000; i++) assert_true(idm_random_uniform(&a) != idm_random_uniform(&b));
}

static void test_streams_and_seeds_differ(void **state)
{
  (void)state;
  check_differ(1, 0, 1, 1);
  check_differ(1, 0, 2, 0);
  check_differ(1, 0, 0, 1);
  check_differ(1, 0, (uint64_t)1 << 32, 0);
  check_differ(1, 1, 1, (uint64_t)1 << 32 | 1);
  check_differ(1, 0, (uint64_t)1 << 32 | 1, 0);
}

static void test_uniform_is_uniform(void **state)
{
  (void)state;
  enum { CELLS = 100, DRAWS = 1000000 };
  long count[CELLS] = {0};
  double share[CELLS];
  for (int i = 0; i < CELLS; i++) share[i] = 1.0 / CELLS;
  idm_random random;
  idm_random_init(&random, 20240601, 3);
  for (int i = 0; i < DRAWS; i++) {
    const double u = idm_random_uniform(&random);
    assert_true(u > 0 && u < 1);
    count[(int)(u * CELLS)]++;
  }
  /* Level 1e-6. The lower bound rejects excessive agreement: chi-square with 99 degrees of freedom
   * is below 30 with probability 1e-12. */
  const double found = chi_square(count, share, CELLS, DRAWS);
  assert_true(found < critical(CELLS - 1));
  assert_true(found > 30);
}

static void test_consecutive_numbers_are_independent(void **state)
{
  (void)state;
  enum { SIDE = 16, DRAWS = 400000 };
  long count[SIDE * SIDE] = {0};
  double share[SIDE * SIDE];
  for (int i = 0; i < SIDE * SIDE; i++) share[i] = 1.0 / (SIDE * SIDE);
  idm_random random;
  idm_random_init(&random, 5, 0);
  for (int i = 0; i < DRAWS; i++) {
    const int row = (int)(idm_random_uniform(&random) * SIDE);
    count[row * SIDE + (int)(idm_random_uniform(&random) * SIDE)]++;
  }
  assert_true(chi_square(count, share, SIDE * SIDE, DRAWS) < critical(SIDE * SIDE - 1));
}

static void test_streams_are_uncorrelated(void **state)
{
  (void)state;
  enum { DRAWS = 100000 };
  idm_random a, b;
  idm_random_init(&a, 9, 0);
  idm_random_init(&b, 9, 1);
  double sum = 0;
  for (int i = 0; i < DRAWS; i++)
    sum += (idm_random_uniform(&a) - 0.5) * (idm_random_uniform(&b) - 0.5);
  /* The sum has standard deviation sqrt(n)/12; five standard deviations have level 6e-7. */
  assert_true(fabs(sum) < 5 * sqrt(DRAWS) / 12);
}

/* The extreme words, which are practically never drawn. */
static void test_uniform_is_open_at_both_ends(void **state)
{
  (void)state;
  idm_random random = {.left = 4};
  assert_true(idm_random_uniform(&random) > 0);
  for (int i = 0; i < 4; i++) random.word[i] = UINT32_MAX;
  random.left = 4;
  assert_true(idm_random_uniform(&random) < 1);
}

/* Draws from the weights and tests the frequencies at level 1e-6. */
static void check_choice(const double *weight, size_t count, uint64_t seed)
{
  enum { DRAWS = 200000, MOST = 16 };
  long drawn[MOST] = {0};
  double share[MOST];
  double total = 0, freedom = -1;
  assert_true(count <= MOST);
  for (size_t i = 0; i < count; i++) total += weight[i];
  for (size_t i = 0; i < count; i++) {
    share[i] = weight[i] / total;
    freedom += weight[i] > 0;
  }
  idm_random random;
  idm_random_init(&random, seed, 0);
  for (int i = 0; i < DRAWS; i++) {
    const size_t chosen = idm_random_choice(&random, weight, count);
    assert_true(chosen < count);
    assert_true(weight[chosen] > 0);
    drawn[chosen]++;
  }
  if (freedom > 0) assert_true(chi_square(drawn, share, count, DRAWS) < critical(freedom));
}

static void test_choice_frequencies(void **state)
{
  (void)state;
  check_choice((const double[]){0.1, 0.2, 0.3, 0.4}, 4, 1);
  check_choice((const double[]){0, 0.5, 0, 0.25, 0.25, 0}, 6, 2);
  check_choice((const double[]){3, 1}, 2, 3);
  check_choice((const double[]){1e-300, 3e-300, 0, 4e-300}, 4, 4);
  check_choice((const double[]){1e300, 2e300, 5e300}, 3, 5);
  check_choice((const double[]){0.7}, 1, 6);
  check_choice((const double[]){0, 0, 0, 1}, 4, 7);
  check_choice((const double[]){1, 0, 0, 0}, 4, 8);
}

/* At both ends of the unit interval the choice is within the support. */
static void test_choice_at_the_extremes(void **state)
{
  (void)state;
  const double weight[] = {0, 0.1, 0.2, 0.7, 0, 0};
  idm_random random = {.left = 4};
  assert_int_equal(idm_random_choice(&random, weight, 6), 1);
  for (int i = 0; i < 4; i++) random.word[i] = UINT32_MAX;
  random.left = 4;
  assert_int_equal(idm_random_choice(&random, weight, 6), 3);
}

static void test_choice_takes_one_uniform(void **state)
{
  (void)state;
  const double weight[] = {0.5, 0.5};
  idm_random a, b;
  idm_random_init(&a, 3, 3);
  idm_random_init(&b, 3, 3);
  for (int i = 0; i < 100; i++) {
    const double u = idm_random_uniform(&a);
    assert_int_equal(idm_random_choice(&b, weight, 2), u < 0.5 ? 0 : 1);
  }
}

/* Tests u, the distribution function at the draws, for uniformity, with cells of equal probability.
 */
static void check_uniform_shares(const double *u, int draws)
{
  enum { CELLS = 50 };
  long count[CELLS] = {0};
  double share[CELLS];
  for (int i = 0; i < CELLS; i++) share[i] = 1.0 / CELLS;
  for (int i = 0; i < draws; i++) {
    assert_true(u[i] >= 0 && u[i] <= 1);
    count[u[i] < 1 ? (int)(u[i] * CELLS) : CELLS - 1]++;
  }
  assert_true(chi_square(count, share, CELLS, draws) < critical(CELLS - 1));
}

enum { LAW_DRAWS = 100000 };

static void test_normal_law(void **state)
{
  (void)state;
  static double u[LAW_DRAWS];
  idm_random random;
  idm_random_init(&random, 11, 0);
  double before = idm_random_normal(&random), products = 0;
  for (int i = 0; i < LAW_DRAWS; i++) {
    const double z = idm_random_normal(&random);
    u[i] = 0.5 * erfc(-z / sqrt(2));
    products += z * before;
    before = z;
  }
  check_uniform_shares(u, LAW_DRAWS); /* level 1e-6 */
  /* Products of neighbours have variance 1; five standard errors have level 6e-7. */
  assert_true(fabs(products) < 5 * sqrt(LAW_DRAWS));
}

/* A normal draw consumes two uniforms and stores nothing, so a copy of the stream continues
 * identically. */
static void test_normal_takes_two_uniforms(void **state)
{
  (void)state;
  idm_random a, b;
  idm_random_init(&a, 3, 1);
  b = a;
  for (int i = 0; i < 5; i++) idm_random_normal(&a);
  for (int i = 0; i < 10; i++) idm_random_uniform(&b);
  assert_true(idm_random_uniform(&a) == idm_random_uniform(&b));
}

/* The distribution function of a gamma distribution. For an integer shape it is 1 - e^-x (1 + x +
 * x^2/2 + ...). For shape 1/2 it is erf(sqrt x), and each unit of shape subtracts x^a e^-x /
 * Gamma(a + 1). */
static double gamma_share(double shape, double x)
{
  const double first = shape - floor(shape) > 0 ? 0.5 : 1;
  double share = first < 1 ? erf(sqrt(x)) : -expm1(-x);
  for (double a = first; a < shape; a++) share -= exp(a * log(x) - x - lgamma(a + 1));
  return share;
}

static void test_gamma_law(void **state)
{
  (void)state;
  static double u[LAW_DRAWS];
  static const double shapes[] = {0.5, 1, 1.5, 2, 7.5, 30};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    idm_random random;
    idm_random_init(&random, 12, s);
    for (int i = 0; i < LAW_DRAWS; i++) {
      const double x = idm_random_gamma(&random, shapes[s]);
      assert_true(x > 0);
      u[i] = fmax(gamma_share(shapes[s], x), 0);
    }
    check_uniform_shares(u, LAW_DRAWS); /* level 1e-6 */
  }
}

/* Mean and variance of a gamma distribution equal its shape; the variance of the squared deviation
 * is 2 shape^2 + 6 shape. Five standard errors have level 6e-7. */
static void test_gamma_moments(void **state)
{
  (void)state;
  static const double shapes[] = {0.05, 0.3, 3.7, 1000};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    const double shape = shapes[s];
    idm_random random;
    idm_random_init(&random, 13, s);
    double sum = 0, squares = 0;
    for (int i = 0; i < LAW_DRAWS; i++) {
      const double distance = idm_random_gamma(&random, shape) - shape;
      sum += distance;
      squares += distance * distance;
    }
    assert_true(fabs(sum) < 5 * sqrt(shape * LAW_DRAWS));
    assert_true(fabs(squares - shape * LAW_DRAWS) <
                5 * sqrt((2 * shape * shape + 6 * shape) * LAW_DRAWS));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_answers),
      cmocka_unit_test(test_first_uniform_of_seed_zero),
      cmocka_unit_test(test_same_seed_same_numbers),
      cmocka_unit_test(test_streams_and_seeds_differ),
      cmocka_unit_test(test_uniform_is_uniform),
      cmocka_unit_test(test_consecutive_numbers_are_independent),
      cmocka_unit_test(test_streams_are_uncorrelated),
      cmocka_unit_test(test_uniform_is_open_at_both_ends),
      cmocka_unit_test(test_choice_frequencies),
      cmocka_unit_test(test_choice_at_the_extremes),
      cmocka_unit_test(test_choice_takes_one_uniform),
      cmocka_unit_test(test_normal_law),
      cmocka_unit_test(test_normal_takes_two_uniforms),
      cmocka_unit_test(test_gamma_law),
      cmocka_unit_test(test_gamma_moments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
