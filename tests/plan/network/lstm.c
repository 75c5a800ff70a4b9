/* Tests a long short-term memory against direct loops, and its backward pass against differences.
 */
#include "plan/network/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/network/lstm_support.h"
#include "support.h"

enum { N = 13, UNITS = 5, LAYER = 9, ACTIONS = 3, OBSERVATIONS = 2 };

typedef struct batch {
  lstm net;
  lstm_input input[N];
  double h[N * UNITS], c[N * UNITS];
  double gates[N * 4 * UNITS], next_c[N * UNITS], next_h[N * UNITS];
  double layer[N * LAYER], score[N * ACTIONS];
} batch;

static void set_up(batch *b, uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  b->net.plan = idm_lstm_layout(ACTIONS, OBSERVATIONS, UNITS, LAYER);
  b->net.weights = calloc(b->net.plan.count, sizeof(double));
  b->net.transposed = calloc(b->net.plan.count, sizeof(double));
  assert_true(b->net.weights && b->net.transposed);
  for (size_t i = 0; i < b->net.plan.count; i++) b->net.weights[i] = idm_random_normal(&random);
  for (size_t i = 0; i < N * UNITS; i++) {
    b->h[i] = 2 * idm_random_uniform(&random) - 1;
    b->c[i] = idm_random_normal(&random);
  }
  for (size_t i = 0; i < N; i++)
    b->input[i] = (lstm_input){(int32_t)(i % (ACTIONS + 1)) - 1, (int32_t)(i % 3) - 1};
}

static void tear_down(batch *b)
{
  free(b->net.weights);
  free(b->net.transposed);
}

static void forward(batch *b)
{
  idm_lstm_transpose(&b->net);
  idm_lstm_step(&b->net, N, b->input, b->h, b->c, b->gates, b->next_c, b->next_h);
  idm_lstm_score(&b->net, N, b->next_h, b->layer, b->score);
}

static void steps_are_those_of_plain_loops(void **state)
{
  (void)state;
  batch b;
  set_up(&b, 1);
  forward(&b);
  for (size_t i = 0; i < N; i++) {
    plain_lstm plain = {.actions = ACTIONS,
                        .observations = OBSERVATIONS,
                        .units = UNITS,
                        .layer = LAYER,
                        .weights = b.net.weights};
    double score[ACTIONS];
    memcpy(plain.h, b.h + i * UNITS, UNITS * sizeof(double));
    memcpy(plain.c, b.c + i * UNITS, UNITS * sizeof(double));
    plain_read(&plain, b.input[i].action, b.input[i].observation);
    plain_score(&plain, score);
    for (size_t k = 0; k < UNITS; k++) {
      assert_near(b.next_h[i * UNITS + k], plain.h[k], 1e-13);
      assert_near(b.next_c[i * UNITS + k], plain.c[k], 1e-13);
    }
    for (size_t u = 0; u < ACTIONS; u++) assert_near(b.score[i * ACTIONS + u], score[u], 1e-12);
  }
  tear_down(&b);
}

/* A linear function of all outputs of a step. */
static double total(batch *b, const double *weight)
{
  double sum = 0;
  forward(b);
  for (size_t i = 0; i < N * ACTIONS; i++) sum += weight[i] * b->score[i];
  for (size_t i = 0; i < N * UNITS; i++)
    sum +=
        weight[N * ACTIONS + i] * b->next_h[i] + weight[N * (ACTIONS + UNITS) + i] * b->next_c[i];
  return sum;
}

static double difference(batch *b, double *number, const double *weight)
{
  const double kept = *number, h = 1e-5;
  *number = kept + h;
  const double up = total(b, weight);
  *number = kept - h;
  const double down = total(b, weight);
  *number = kept;
  return (up - down) / (2 * h);
}

static void ways_back_are_those_of_differences(void **state)
{
  (void)state;
  batch b;
  static double weight[N * (ACTIONS + 2 * UNITS)], by_layer[N * LAYER];
  double by_h[N * UNITS], by_h_before[N * UNITS], by_c_before[N * UNITS];
  idm_random random;
  set_up(&b, 2);
  idm_random_init(&random, 3, 0);
  for (size_t i = 0; i < N * (ACTIONS + 2 * UNITS); i++) weight[i] = idm_random_normal(&random);
  double *by_weights = calloc(b.net.plan.count, sizeof *by_weights);
  assert_non_null(by_weights);
  total(&b, weight);
  memcpy(by_h, weight + N * ACTIONS, sizeof by_h);
  idm_lstm_score_backward(&b.net, N, b.next_h, b.layer, weight, by_layer, by_weights, by_h);
  idm_lstm_step_backward(&b.net, N, b.input, b.h, b.c, b.next_c, b.gates, by_h,
                         weight + N * (ACTIONS + UNITS), by_weights, by_h_before, by_c_before);
  for (size_t i = 0; i < b.net.plan.count; i++)
    assert_near(by_weights[i], difference(&b, &b.net.weights[i], weight), 1e-8);
  for (size_t i = 0; i < N * UNITS; i++) {
    assert_near(by_h_before[i], difference(&b, &b.h[i], weight), 1e-8);
    assert_near(by_c_before[i], difference(&b, &b.c[i], weight), 1e-8);
  }
  free(by_weights);
  tear_down(&b);
}

/* Gates saturate for large inputs, and NaN propagates. */
static void ends_of_the_range(void **state)
{
  (void)state;
  batch b;
  set_up(&b, 4);
  for (size_t i = 0; i < b.net.plan.count; i++) b.net.weights[i] *= 1e6;
  forward(&b);
  for (size_t i = 0; i < N * UNITS; i++) assert_true(fabs(b.next_h[i]) <= 1);
  for (size_t i = 0; i < N * ACTIONS; i++) assert_true(isfinite(b.score[i]));
  b.net.weights[0] = NAN;
  forward(&b);
  assert_true(isnan(b.next_h[0]) && isnan(b.score[0]));
  tear_down(&b);
}

static void it_starts_as_documented(void **state)
{
  (void)state;
  enum { UNITS_HERE = 64 };
  const lstm_layout p = idm_lstm_layout(4, 6, UNITS_HERE, 32);
  idm_random random;
  idm_random_init(&random, 5, 0);
  double *w = calloc(p.count, sizeof *w);
  assert_non_null(w);
  assert_int_equal(p.count, 256 * (1 + 4 + 6 + 64) + 32 * 65 + 4 * 33);
  idm_lstm_init(&p, &random, w);
  double squares = 0;
  for (size_t i = 0; i < 256; i++) assert_true(w[i] == (i / UNITS_HERE == 1 ? 1 : 0));
  for (size_t i = p.recurrent; i < p.first; i++) squares += w[i] * w[i];
  assert_true(fabs(squares / UNITS_HERE / 4 - 1) < 0.05);
  for (size_t i = 0; i < 32; i++) assert_true(w[p.first + i] == 0);
  free(w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_are_those_of_plain_loops),
      cmocka_unit_test(ways_back_are_those_of_differences),
      cmocka_unit_test(ends_of_the_range),
      cmocka_unit_test(it_starts_as_documented),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
