/* Hamiltonian Monte Carlo beyond the conformance suite: more dimensions, energies, depth,
 * divergences, step sizes, and the same draws of nuts as a plain implementation. Tolerances of five
 * standard errors, as in samplers.c.
 */
#include "infer/chains.h"

#include <limits.h>

#include "infer/sampler_support.h"

enum { DRAWS = 3000 };

/* Mean of x[DRAWS] within five standard errors of `expected`, with a standard error below
 * `most_error`. */
static void compare_mean(const double *x, double expected, double most_error)
{
  double error;
  const double mean = mean_and_error(x, DRAWS, &error);
  if (!(fabs(mean - expected) < 5 * error) || !(error < most_error))
    fail_msg("mean %g, expected %g, standard error %g", mean, expected, error);
}

/* Means, variances and energies of a normal density in n dimensions with scales over four orders of
 * magnitude. */
static void run_normal(const idm_sampler *sampler, size_t n, double aim)
{
  static double z[MOST_DIMENSION][DRAWS], square[MOST_DIMENSION][DRAWS], energy[DRAWS];
  normal_target t = {.n = n};
  double x[MOST_DIMENSION] = {0};
  for (size_t i = 0; i < n; i++) {
    t.sd[i] = pow(10, -2 + 4 * (double)i / (double)(n - 1));
    t.mean[i] = (double)i;
  }
  idm_sampler_settings settings = sampler_defaults();
  settings.acceptance = aim;
  chain c;
  chain_start(&c, sampler, &settings, normal_as_target(&t), x, 17);
  chain_warm_up(&c);
  double acceptance = 0;
  for (size_t k = 0; k < DRAWS; k++) {
    chain_step(&c);
    for (size_t i = 0; i < n; i++) {
      z[i][k] = (c.x[i] - t.mean[i]) / t.sd[i];
      square[i][k] = z[i][k] * z[i][k];
    }
    energy[k] = c.statistics.energy;
    acceptance += c.statistics.acceptance / DRAWS;
    assert_true(c.statistics.energy >= -c.statistics.log_density);
    assert_false(c.statistics.diverging);
  }
  chain_stop(&c);
  for (size_t i = 0; i < n; i++) {
    compare_mean(z[i], 0, 0.05);
    compare_mean(square[i], 1, 0.1);
  }
  /* Half of a sum of 2n squared standard normals has mean n. */
  compare_mean(energy, (double)n, 0.3);
  assert_true(acceptance > aim - 0.05 && acceptance < aim + 0.5 * (1 - aim) + 0.05);
}

static void test_many_dimensions(void **state)
{
  (void)state;
  run_normal(&idm_sampler_nuts, 10, 0.8);
  run_normal(&idm_sampler_nuts, 10, 0.95);
  run_normal(&idm_sampler_nuts, 24, 0.8); /* a diagonal metric */
  run_normal(&idm_sampler_hmc, 10, 0.8);
}

/* Neal's funnel: v ~ normal(0, 3), eight x_i ~ normal(0, exp(v / 2)), as in a centred hierarchy. */
static idm_status funnel_evaluate(void *context, const double *x, double *log_density,
                                  double *opt_gradient, idm_error *opt_error)
{
  (void)context;
  (void)opt_error;
  const double precision = exp(-x[0]);
  double square = 0;
  for (size_t i = 1; i < 9; i++) square += x[i] * x[i];
  *log_density = -x[0] * x[0] / 18 - 4 * x[0] - 0.5 * precision * square;
  if (!opt_gradient) return IDM_OK;
  opt_gradient[0] = -x[0] / 9 - 4 + 0.5 * precision * square;
  for (size_t i = 1; i < 9; i++) opt_gradient[i] = -precision * x[i];
  return IDM_OK;
}

static void test_funnel_diverges(void **state)
{
  (void)state;
  const idm_sampler_settings settings = sampler_defaults();
  const double x[9] = {1, 1, -1, 1, -1, 1, -1, 1, -1};
  long diverging = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    chain c;
    chain_start(&c, &idm_sampler_nuts, &settings, (idm_target){9, true, NULL, funnel_evaluate}, x,
                seed);
    chain_warm_up(&c);
    for (long k = 0; k < 1000; k++) {
      chain_step(&c);
      diverging += c.statistics.diverging;
    }
    chain_stop(&c);
  }
  assert_true(diverging > 10);
}

/* Depth d takes at most 2^d - 1 evaluations; a narrow target reaches the limit. */
static void test_depth(void **state)
{
  (void)state;
  normal_target pair = {.n = 2, .sd = {1, 1}, .correlation = 0.9999};
  const double x[2] = {0};
  for (int depth = 1; depth <= 6; depth++) {
    idm_sampler_settings settings = sampler_defaults();
    settings.warmup = 19; /* too short to learn a metric */
    settings.depth = depth;
    int deepest = 0;
    chain c;
    chain_start(&c, &idm_sampler_nuts, &settings, normal_as_target(&pair), x, 13);
    for (long k = 0; k < 200; k++) {
      chain_step(&c);
      assert_true(c.statistics.tree_depth >= 0 && c.statistics.tree_depth <= depth);
      assert_true(c.statistics.evaluations < 1L << depth);
      assert_true(c.statistics.evaluations >= (1L << c.statistics.tree_depth) - 1);
      if (c.statistics.tree_depth > deepest) deepest = c.statistics.tree_depth;
    }
    chain_stop(&c);
    assert_int_equal(deepest, depth);
  }
}

/* Trajectories of hmc take at most 2^d - 1 steps, a number that varies. */
static void test_random_length(void **state)
{
  (void)state;
  normal_target pair = {.n = 2, .sd = {1, 1}, .correlation = 0.9999};
  const double x[2] = {0};
  for (int depth = 1; depth <= 10; depth += 3) {
    idm_sampler_settings settings = sampler_defaults();
    settings.warmup = 19; /* too short to learn a metric */
    settings.depth = depth;
    long fewest = LONG_MAX, most = 0;
    chain c;
    chain_start(&c, &idm_sampler_hmc, &settings, normal_as_target(&pair), x, 13);
    chain_warm_up(&c);
    for (long k = 0; k < 200; k++) {
      chain_step(&c);
      assert_int_equal(c.statistics.tree_depth, -1);
      fewest = c.statistics.evaluations < fewest ? c.statistics.evaluations : fewest;
      most = c.statistics.evaluations > most ? c.statistics.evaluations : most;
    }
    chain_stop(&c);
    assert_true(depth == 10 ? most < 1023 && most > 2 * fewest : most == (1L << depth) - 1);
  }
}

/* --- a plain NUTS --------------------------------------------------------------------------- */

/* The same algorithm with the whole trajectory in a list and all sums recomputed, for a unit metric
 * in two dimensions; it draws random numbers in the same order. */
typedef struct leaf {
  double x[2];
  double p[2];
  double gradient[2];
  double density;
  double weight; /* log, relative to the start */
} leaf;

enum { MOST_LEAVES = 1 << 11 };

typedef struct plain {
  skewed_target *target;
  idm_random *random;
  double step;
  double energy;
  double accepted;
  long leaps;
  size_t count;
  leaf line[MOST_LEAVES];  /* the trajectory, ordered in time */
  leaf fresh[MOST_LEAVES]; /* new leaves, after the end of the trajectory at index 0 */
} plain;

static double plain_energy(const leaf *l)
{
  return 0.5 * (l->p[0] * l->p[0] + l->p[1] * l->p[1]) - l->density;
}

static void plain_leap(plain *t, const leaf *from, leaf *to)
{
  *to = *from;
  for (size_t i = 0; i < 2; i++) to->p[i] += t->step / 2 * to->gradient[i];
  for (size_t i = 0; i < 2; i++) to->x[i] += t->step * to->p[i];
  check(skewed_evaluate(t->target, to->x, &to->density, to->gradient, &support_error));
  for (size_t i = 0; i < 2; i++) to->p[i] += t->step / 2 * to->gradient[i];
  to->weight = t->energy - plain_energy(to);
  t->accepted += fmin(1, exp(to->weight));
  t->leaps++;
}

/* Both end momenta have positive products with the sum of the momenta from first to last. */
static bool plain_straight(const leaf *first, const leaf *last)
{
  double sum[2] = {0};
  for (const leaf *l = first; l <= last; l++)
    for (size_t i = 0; i < 2; i++) sum[i] += l->p[i];
  return first->p[0] * sum[0] + first->p[1] * sum[1] > 0 &&
         last->p[0] * sum[0] + last->p[1] * sum[1] > 0;
}

/* The three U-turn checks of a subtree of 2 * half leaves. */
static bool plain_whole(const leaf *l, size_t half)
{
  return plain_straight(l, l + 2 * half - 1) && plain_straight(l, l + half) &&
         plain_straight(l + half - 1, l + 2 * half - 1);
}

static double plain_weight(const leaf *l, size_t count)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += exp(l[i].weight);
  return log(sum);
}

/* Adds 2^depth leaves at fresh[at ..]; stores the sampled leaf in *choice. */
static bool plain_grow(plain *t, size_t at, int depth, leaf *choice)
{
  if (depth == 0) {
    plain_leap(t, &t->fresh[at - 1], &t->fresh[at]);
    *choice = t->fresh[at];
    return t->fresh[at].weight >= -1000;
  }
  const size_t half = (size_t)1 << (depth - 1);
  leaf other;
  if (!plain_grow(t, at, depth - 1, choice)) return false;
  if (!plain_grow(t, at + half, depth - 1, &other)) return false;
  const leaf *l = &t->fresh[at];
  if (idm_random_uniform(t->random) < exp(plain_weight(l + half, half) - plain_weight(l, 2 * half)))
    *choice = other;
  return plain_whole(l, half);
}

static void plain_reverse(leaf *l, size_t count)
{
  for (size_t i = 0; i < count / 2; i++) {
    const leaf swap = l[i];
    l[i] = l[count - 1 - i];
    l[count - 1 - i] = swap;
  }
}

/* One doubling; false if the trajectory ends. */
static bool plain_double(plain *t, double step, int *depth, leaf *choice)
{
  const bool forward = idm_random_uniform(t->random) > 0.5;
  leaf other;
  /* Backward growth reverses the trajectory, so that leaves are always added at the end. */
  if (!forward) plain_reverse(t->line, t->count);
  t->step = forward ? step : -step;
  t->fresh[0] = t->line[t->count - 1];
  if (!plain_grow(t, 1, *depth, &other)) return false;
  memcpy(t->line + t->count, t->fresh + 1, t->count * sizeof(leaf));
  const double ratio =
      exp(plain_weight(t->line + t->count, t->count) - plain_weight(t->line, t->count));
  if (idm_random_uniform(t->random) < ratio) *choice = other;
  const bool going = plain_whole(t->line, t->count);
  t->count *= 2;
  ++*depth;
  if (!forward) plain_reverse(t->line, t->count);
  return going;
}

static void test_same_as_plain(void **state)
{
  (void)state;
  static plain t;
  skewed_target target = {.beta = {2, 5}, .gamma = {3, 1}};
  idm_sampler_settings settings = sampler_defaults();
  settings.warmup = 0;
  leaf at = {.x = {0.3, 0.8}};
  chain c;
  chain_start(&c, &idm_sampler_nuts, &settings, (idm_target){2, true, &target, skewed_evaluate},
              at.x, 23);
  for (size_t k = 0; k < 400; k++) {
    const double steps[] = {0.05, 0.3, 1, 1.9};
    const double step = c.state[0] =
        steps[k % 4]; /* the step size is the first number of the state */
    idm_random random = c.random;
    t.target = &target;
    t.random = &random;
    t.accepted = 0;
    t.leaps = 0;
    t.count = 1;
    for (size_t i = 0; i < 2; i++) at.p[i] = idm_random_normal(&random);
    check(skewed_evaluate(&target, at.x, &at.density, at.gradient, &support_error));
    at.weight = 0;
    t.energy = plain_energy(&at);
    t.line[0] = at;
    int depth = 0;
    while (depth < settings.depth && plain_double(&t, step, &depth, &at)) continue;
    chain_step(&c);
    for (size_t i = 0; i < 2; i++) assert_near(c.x[i], at.x[i], 1e-9);
    assert_int_equal(c.statistics.tree_depth, depth);
    assert_int_equal(c.statistics.evaluations, t.leaps);
    assert_near(c.statistics.acceptance, t.accepted / (double)t.leaps, 1e-9);
    assert_near(c.statistics.energy, plain_energy(&at), 1e-9);
    memcpy(at.x, c.x, sizeof at.x);
  }
  chain_stop(&c);
}

/* --- metric and refusals -------------------------------------------------------------------- */

/* With a correct guess of the covariance the metric is white: trajectories are short even without
 * warm-up. */
static void test_guess_is_used(void **state)
{
  (void)state;
  normal_target pair = {.n = 2, .sd = {1, 1}, .correlation = 0.999};
  const double covariance[4] = {1, 0.999, 0.999, 1}, x[2] = {0};
  long evaluations[2] = {0};
  for (int guessed = 0; guessed < 2; guessed++) {
    idm_sampler_settings settings = sampler_defaults();
    settings.warmup = 0;
    settings.covariance = guessed ? covariance : NULL;
    chain c;
    chain_start(&c, &idm_sampler_nuts, &settings, normal_as_target(&pair), x, 13);
    for (long k = 0; k < 300; k++) {
      chain_step(&c);
      evaluations[guessed] += c.statistics.evaluations;
    }
    chain_stop(&c);
  }
  assert_true(evaluations[1] * 5 < evaluations[0]);
}

static void test_refusals(void **state)
{
  (void)state;
  normal_target single = {.n = 1, .sd = {1}};
  const idm_sampler *nuts = &idm_sampler_nuts;
  double *numbers = malloc(nuts->numbers(1) * sizeof *numbers);
  assert_non_null(numbers);
  const double x[1] = {0};
  idm_random random;
  idm_random_init(&random, 1, 0);
  idm_sampler_settings settings = sampler_defaults();
  idm_target target = normal_as_target(&single);
  target.gradient = false;
  assert_true(nuts->gradient);
  assert_int_equal(nuts->start(numbers, &settings, &target, x, &random, &support_error), IDM_USAGE);
  target.gradient = true;
  const int depths[] = {0, -3, 17, 16, 1};
  for (size_t i = 0; i < 5; i++) {
    settings.depth = depths[i];
    assert_int_equal(nuts->start(numbers, &settings, &target, x, &random, &support_error),
                     i < 3 ? IDM_USAGE : IDM_OK);
  }
  free(numbers);
}

static void test_wide(void **state)
{
  (void)state;
  check_wide(&idm_sampler_nuts);
}

/* Step size with its averages, metric with its factor, and collected moments are unchanged. */
static void test_frozen_after_warm_up(void **state)
{
  (void)state;
  const size_t n = 2, learnt = 5 + 2 * n * n + 1 + n + n * n;
  assert_true(count_moving(&idm_sampler_nuts) <= idm_sampler_nuts.numbers(n) - learnt);
}

static void test_bad_guess(void **state)
{
  (void)state;
  check_bad_guess(&idm_sampler_nuts);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_dimensions),
      cmocka_unit_test(test_funnel_diverges),
      cmocka_unit_test(test_depth),
      cmocka_unit_test(test_random_length),
      cmocka_unit_test(test_guess_is_used),
      cmocka_unit_test(test_same_as_plain),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_wide),
      cmocka_unit_test(test_frozen_after_warm_up),
      cmocka_unit_test(test_bad_guess),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
