/* Mixtures of products of Dirichlet densities over rows: densities against the formula and against
 * draws. */
#include "learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* One transition matrix for two actions, and an observation that is impossible in a. */
static const char yaml[] =
    "states: [a, b]\nactions: [look, test]\nobservations: [low, high, clear]\nstart: [0.6, 0.4]\n"
    "discount: 0.9\ntransition: {'*': [[0.7, 0.3], [0.4, 0.6]]}\n"
    "observation: {'*': [[0.7, 0.3, 0], [0.2, 0.3, 0.5]]}\nutility: {look: 0, test: -1}\n";

enum { NUMBERS = 2 + 8 + 12, PARTS = 2, KERNELS = 3 };

typedef struct scene {
  idm_problem *problem;
  structure *structure;
  dirichlet *mixture;
  double numbers[NUMBERS];
  double scratch[NUMBERS];
} scene;

static const double prior = 1.5;

static double count_of(size_t part, size_t kernel, size_t i)
{
  return part ? (double)((i + kernel) % 3) : 7 - (double)((i + kernel) % 4);
}

/* Counts of tied rows and of impossible entries are ignored. */
static scene open_scene(void)
{
  scene s = {.problem = support_yaml(yaml)};
  check(structure_create(s.problem, 0, true, false, &s.structure, &support_error));
  check(dirichlet_create(s.structure, NUMBERS, PARTS, KERNELS, &s.mixture, &support_error));
  for (size_t part = 0; part < PARTS; part++)
    for (size_t k = 0; k <= KERNELS;
         k++) { /* the last kernel exceeds the capacity and is ignored */
      for (size_t i = 0; i < NUMBERS; i++) s.scratch[i] = count_of(part, k, i);
      dirichlet_add(s.mixture, part, prior, s.scratch);
    }
  return s;
}

static void close_scene(scene *s)
{
  dirichlet_destroy(s->mixture);
  structure_destroy(s->structure);
  idm_problem_destroy(s->problem);
}

/* A product of Dirichlet densities over the start, two transition rows (common to both actions) and
 * two emission rows, of which that of a has two entries. */
static const size_t first[] = {0, 2, 4, 10, 13}, width[] = {2, 2, 2, 2, 3};

static double kernel_density(size_t part, size_t kernel, const double *numbers)
{
  double sum = 0;
  for (size_t r = 0; r < 5; r++) {
    double all = 0;
    for (size_t i = first[r]; i < first[r] + width[r]; i++) {
      const double shape = prior + count_of(part, kernel, i);
      all += shape;
      sum += (shape - 1) * log(numbers[i]) - lgamma(shape);
    }
    sum += lgamma(all);
  }
  return exp(sum);
}

static void test_density(void **state)
{
  (void)state;
  scene s = open_scene();
  idm_random random;
  size_t of[PARTS] = {0};
  idm_random_init(&random, 5, 1);
  for (size_t draw = 0; draw < 50; draw++) {
    size_t nearest;
    double part[PARTS] = {0};
    dirichlet_draw(s.mixture, &random, s.numbers, s.scratch);
    assert_memory_equal(s.numbers + 2, s.numbers + 6, 4 * sizeof(double));
    assert_true(s.numbers[12] == 0);
    for (size_t k = 0; k < PARTS * KERNELS; k++)
      part[k / KERNELS] += kernel_density(k / KERNELS, k % KERNELS, s.numbers);
    assert_near(dirichlet_log_density(s.mixture, s.numbers, s.scratch, &nearest),
                log((part[0] + part[1]) / (PARTS * KERNELS)), 1e-10);
    assert_int_equal(nearest, part[1] > part[0]);
    of[nearest]++;
  }
  assert_true(of[0] > 5 && of[1] > 5);
  close_scene(&s);
}

/* The density integrates to 1: its mean over uniform draws equals the density of these draws, the
 * product of Gamma(width) over rows, which is 2. Means of mixture draws are those of all kernels.
 */
static void test_draws(void **state)
{
  (void)state;
  enum { draws = 100000 };
  scene s = open_scene();
  idm_random random;
  double sum = 0, square = 0, start = 0, mean = 0;
  idm_random_init(&random, 6, 1);
  for (size_t k = 0; k < draws; k++) {
    dirichlet_draw(s.mixture, &random, s.numbers, s.scratch);
    start += s.numbers[0] / draws;
    structure_draw(s.structure, 1, NULL, &random, s.numbers);
    const double ratio = exp(dirichlet_log_density(s.mixture, s.numbers, s.scratch, NULL)) / 2;
    sum += ratio / draws;
    square += ratio * ratio / draws;
  }
  const double error = sqrt((square - sum * sum) / draws);
  print_message("  the density integrates to %.4f +- %.4f\n", sum, error);
  assert_true(error < 0.1);
  assert_near(sum, 1, 4 * error);
  for (size_t k = 0; k < PARTS * KERNELS; k++) {
    const double one = prior + count_of(k / KERNELS, k % KERNELS, 0);
    const double other = prior + count_of(k / KERNELS, k % KERNELS, 1);
    mean += one / (one + other) / (PARTS * KERNELS);
  }
  /* The standard deviation of a draw is below 0.25, that of the mean below 0.0008. */
  assert_near(start, mean, 0.004);
  dirichlet_destroy(NULL);
  close_scene(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_density), cmocka_unit_test(test_draws)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
