/* Tests calibration of predicted probabilities: pools against a hand computation, the gain of the
 * isotonic regression, and replicates of a correct model. */
#include "invert/assess/residual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess/context_support.h"

/* Decision points with one decision each between two actions, the first of probability p[i]; the
 * one free parameter has no effect. */
enum { DECISIONS = 8 };
typedef struct by_hand {
  decision_residuals r;
  decision_point decision_point[DECISIONS];
  double probability[2 * DECISIONS];
  double derivative[2 * DECISIONS];
  double taken[2 * DECISIONS];
} by_hand;

static void lay_out(by_hand *h, const double *p, const int *first)
{
  *h = (by_hand){.r = {.seen = true, .actions = 2, .dimension = 1, .decision_points = DECISIONS}};
  for (uint32_t i = 0; i < DECISIONS; i++) {
    h->decision_point[i] = (decision_point){.node = i, .decisions = 1};
    h->probability[2 * i] = p[i];
    h->probability[2 * i + 1] = 1 - p[i];
    h->taken[2 * i + !first[i]] = 1;
  }
  h->r.decision_point = h->decision_point;
  h->r.probability = h->probability;
  h->r.derivative = h->derivative;
}

/* Outcomes by probability, of both actions: 0 0 (.1), 1 (.2), 0 0 (.3), 1 1 (.4), 0 (.45), 1 (.55),
 * 0 0 (.6), 1 1 (.7), 0 (.8), 1 1 (.9). */
static void test_pools(void **state)
{
  (void)state;
  static const double p[DECISIONS] = {0.1, 0.1, 0.2, 0.3, 0.3, 0.4, 0.4, 0.45};
  static const int first[DECISIONS] = {0, 0, 1, 0, 0, 1, 1, 0};
  static const double none = 0;
  by_hand h;
  reliability c;
  lay_out(&h, p, first);
  check(idm_reliability_open(&c, &h.r, &support_error));
  assert_int_equal(c.points, 2 * DECISIONS);
  const double gain = idm_reliability_gain(&c, h.taken, &none);
  static const double trials[5] = {2, 3, 6, 3, 2}, taken[5] = {0, 1, 3, 2, 2};
  assert_int_equal(c.bins, 5);
  double expected = 0, total = 0;
  for (size_t i = 0; i < 5; i++) {
    assert_near(c.bin[i].trials, trials[i], 0);
    assert_near(c.bin[i].taken, taken[i], 0);
  }
  for (size_t i = 0; i < DECISIONS; i++) total -= 2 * log(first[i] ? p[i] : 1 - p[i]);
  for (size_t i = 0; i < c.bins; i++) {
    const double s = c.bin[i].taken / c.bin[i].trials, n = c.bin[i].trials;
    if (s > 0 && s < 1) expected += n * (s * log(s) + (1 - s) * log(1 - s));
    if (i) assert_true(s > c.bin[i - 1].taken / c.bin[i - 1].trials);
  }
  assert_near(gain, expected + total, 1e-9);
  idm_reliability_close(&c);
}

/* Predicted .9, observed .75: reported at a tolerance of .1, not at .2. */
static void test_worst(void **state)
{
  (void)state;
  static const double p[DECISIONS] = {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9};
  static const int first[DECISIONS] = {1, 1, 0, 0, 1, 1, 1, 1};
  static const double none = 0;
  by_hand h;
  reliability c;
  lay_out(&h, p, first);
  check(idm_reliability_open(&c, &h.r, &support_error));
  const double gain = idm_reliability_gain(&c, h.taken, &none);
  assert_near(gain, 2 * (6 * log(0.75 / 0.9) + 2 * log(0.25 / 0.1)), 1e-9);
  const reliability_bin *worst = idm_reliability_worst(&c, 0.1);
  assert_non_null(worst);
  assert_near(fabs(worst->taken - worst->expected) / worst->trials, 0.15, 1e-12);
  assert_null(idm_reliability_worst(&c, 0.2));
  idm_reliability_close(&c);
}

/* All outcomes are the predicted one, and the projection moves their count beyond the number of
 * decisions: the gain is that of a share of 1, and no deviation exceeds 1 - p. */
static void test_projection(void **state)
{
  (void)state;
  static const double p[DECISIONS] = {0.98, 0.98, 0.98, 0.98, 0.98, 0.98, 0.98, 0.98},
                      shift = -0.05;
  static const int first[DECISIONS] = {1, 1, 1, 1, 1, 1, 1, 1};
  by_hand h;
  reliability c;
  lay_out(&h, p, first);
  for (size_t i = 0; i < DECISIONS; i++) {
    h.derivative[2 * i] = 1;
    h.derivative[2 * i + 1] = -0.98 / 0.02;
  }
  check(idm_reliability_open(&c, &h.r, &support_error));
  assert_near(idm_reliability_gain(&c, h.taken, &shift), -16 * log(0.98), 1e-12);
  assert_int_equal(c.bins, 2);
  assert_near(c.bin[1].taken, 8 * 1.049, 1e-12);
  assert_near(idm_reliability_count(&c.bin[0]), 0, 0);
  assert_near(idm_reliability_count(&c.bin[1]), 8, 0);
  assert_null(idm_reliability_worst(&c, 0.02 + 1e-9));
  idm_reliability_close(&c);
}

/* Recalibration gains a little on its own sample: the log of a correct model gains no more than the
 * largest of the replicates (one seed of 400 fails this). */
static void test_replicates(void **state)
{
  (void)state;
  enum { RUNS = 400 };
  static const double alpha = 0.3;
  idm_problem *problem = make_reversal(alpha);
  assessed_fit a;
  decision_residuals r;
  reliability c;
  assessed_fit_open(&a, problem, simulate_agents(problem, &alpha, 1, 2, 100, 3), "alpha");
  check(idm_residual_open(&r, &a.q, &support_error));
  check(idm_reliability_open(&c, &r, &support_error));
  double *taken = calloc(r.decision_points * r.actions, sizeof *taken), shift[1], sum = 0, most = 0;
  assert_non_null(taken);
  for (uint64_t k = 0; k < RUNS; k++) {
    idm_random random;
    idm_random_init(&random, 9, k);
    idm_residual_draw(&r, &random, taken);
    idm_residual_shift(&r, taken, shift);
    const double gain = idm_reliability_gain(&c, taken, shift);
    assert_true(gain > -1e-6);
    sum += gain / RUNS;
    most = fmax(most, gain);
  }
  idm_residual_shift(&r, r.taken, shift);
  assert_true(idm_reliability_gain(&c, r.taken, shift) < most);
  assert_true(sum > 0.5 && sum < 20);
  free(taken);
  idm_reliability_close(&c);
  idm_residual_close(&r);
  assessed_fit_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pools),
      cmocka_unit_test(test_worst),
      cmocka_unit_test(test_projection),
      cmocka_unit_test(test_replicates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
