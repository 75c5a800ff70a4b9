/* Tests the Bayes filter of one model against hand computations, against its laws, and under
 * permuted labels. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "belief/belief.h"
#include "idm/extension/random.h"

enum { STATES = 4, OBSERVATIONS = 5 };

static void check(const double *found, const double *expected, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!(fabs(found[i] - expected[i]) <= 1e-15))
      fail_msg("entry %zu: found %.17g, expected %.17g", i, found[i], expected[i]);
}

/* Draws a random distribution in which about a third of the entries are zero. */
static void draw_row(double *row, size_t count, idm_random *random)
{
  double total = 0;
  for (size_t i = 0; i < count; i++) {
    const bool zero = i + 1 < count && idm_random_uniform(random) < 1.0 / 3;
    total += row[i] = zero ? 0 : idm_random_uniform(random);
  }
  for (size_t i = 0; i < count; i++) row[i] /= total;
}

/* Corrects by the emission array of one action. */
static double correct(size_t states, size_t observations, const double *emission,
                      const double *emitter, size_t x, double *posterior)
{
  const idm_action_model w = {.states = states, .observations = observations, .emission = emission};
  return idm_filter_correct(&w, emitter, x, posterior);
}

typedef struct action_model {
  double z[STATES];
  double transition[STATES * STATES];
  double emission[STATES * OBSERVATIONS];
} action_model;

static idm_action_model world_is(const action_model *w, bool before)
{
  return (idm_action_model){.states = STATES,
                            .observations = OBSERVATIONS,
                            .transition = w->transition,
                            .emission = w->emission,
                            .before = before};
}

static action_model draw_world(uint64_t stream)
{
  action_model w;
  idm_random random;
  idm_random_init(&random, 41, stream);
  draw_row(w.z, STATES, &random);
  for (size_t s = 0; s < STATES; s++) {
    draw_row(w.transition + s * STATES, STATES, &random);
    draw_row(w.emission + s * OBSERVATIONS, OBSERVATIONS, &random);
  }
  return w;
}

/* A diagnosis: the state does not change, and a test of accuracy 70 % is "positive" twice. */
static void test_diagnosis_by_hand(void **state)
{
  (void)state;
  const double stay[] = {1, 0, 0, 1};
  const double test[] = {0.7, 0.3, 0.3, 0.7};
  double next[2], posterior[2];
  idm_filter_predict(2, stay, (const double[]){0.5, 0.5}, next);
  check(next, (const double[]){0.5, 0.5}, 2);
  check((double[]){correct(2, 2, test, next, 1, posterior)}, (const double[]){0.5}, 1);
  check(posterior, (const double[]){0.3, 0.7}, 2);
  idm_filter_predict(2, stay, posterior, next);
  check((double[]){correct(2, 2, test, next, 1, posterior)}, (const double[]){0.58}, 1);
  check(posterior, (const double[]){0.09 / 0.58, 0.49 / 0.58}, 2);
}

/* States with transitions, and a non-square emission matrix, so that a transposed index is
 * detected. */
static void test_moving_states_by_hand(void **state)
{
  (void)state;
  const double transition[] = {0.9, 0.1, 0.4, 0.6};
  const double emission[] = {0.5, 0.25, 0.25, 0.1, 0.2, 0.7};
  double next[2], posterior[2];
  idm_filter_predict(2, transition, (const double[]){0.2, 0.8}, next);
  check(next, (const double[]){0.2 * 0.9 + 0.8 * 0.4, 0.2 * 0.1 + 0.8 * 0.6}, 2);
  const double p = correct(2, 3, emission, next, 2, posterior);
  check(&p, (const double[]){0.5 * 0.25 + 0.5 * 0.7}, 1);
  check(posterior, (const double[]){0.125 / 0.475, 0.35 / 0.475}, 2);
}

static void test_impossible_observation(void **state)
{
  (void)state;
  const double emission[] = {1, 0, 0.5, 0.5};
  double posterior[] = {-1, -2};
  /* The observation is impossible from this belief: its only emitting state has probability 0. */
  assert_true(correct(2, 2, emission, (const double[]){1, 0}, 1, posterior) == 0);
  assert_true(posterior[0] == -1 && posterior[1] == -2);
  assert_true(correct(2, 2, emission, (const double[]){0.5, 0.5}, 1, posterior) == 0.25);
  assert_true(posterior[0] == 0 && posterior[1] == 1);
  /* The observation is impossible in every state. */
  const double never[] = {1, 0, 1, 0};
  assert_true(correct(2, 2, never, (const double[]){0.5, 0.5}, 1, posterior) == 0);
  assert_true(posterior[0] == 0 && posterior[1] == 1);
}

static void test_rare_observations_are_normalised(void **state)
{
  (void)state;
  const double emission[] = {1e-150, 1, 3e-150, 1};
  double posterior[2];
  const double p = correct(2, 2, emission, (const double[]){0.5, 0.5}, 0, posterior);
  assert_true(fabs(p / 2e-150 - 1) <= 1e-15);
  check(posterior, (const double[]){0.25, 0.75}, 2);
}

/* Probabilities sum to 1, and the mean of the posteriors is the prediction. */
static void test_laws(void **state)
{
  (void)state;
  for (uint64_t stream = 0; stream < 200; stream++) {
    const action_model w = draw_world(stream);
    double next[STATES], mean[STATES] = {0}, total = 0, mass = 0;
    idm_filter_predict(STATES, w.transition, w.z, next);
    for (size_t s = 0; s < STATES; s++) mass += next[s];
    assert_true(fabs(mass - 1) <= 1e-15);
    for (size_t x = 0; x < OBSERVATIONS; x++) {
      double posterior[STATES] = {0}, sum = 0;
      const double p = correct(STATES, OBSERVATIONS, w.emission, next, x, posterior);
      assert_true(p >= 0);
      total += p;
      for (size_t s = 0; s < STATES; s++) {
        assert_true(posterior[s] >= 0);
        sum += posterior[s];
        mean[s] += p * posterior[s];
      }
      if (p > 0) assert_true(fabs(sum - 1) <= 1e-15);
    }
    assert_true(fabs(total - 1) <= 1e-15);
    for (size_t s = 0; s < STATES; s++) assert_true(fabs(mean[s] - next[s]) <= 1e-15);
  }
}

/* The joint step equals prediction followed by correction. */
static void test_joint(void **state)
{
  (void)state;
  for (uint64_t stream = 0; stream < 200; stream++) {
    const action_model w = draw_world(stream);
    double next[STATES];
    idm_filter_predict(STATES, w.transition, w.z, next);
    for (size_t x = 0; x < OBSERVATIONS; x++) {
      double two[STATES], one[STATES];
      const double p = correct(STATES, OBSERVATIONS, w.emission, next, x, two);
      const idm_action_model is = world_is(&w, false);
      const double q = idm_filter_joint(&is, w.z, x, one);
      check(&q, &p, 1);
      for (size_t s = 0; s < STATES; s++) one[s] /= q;
      if (p > 0) check(one, two, STATES);
    }
  }
}

/* Observations emitted by the state before the transition: p(s', x) = sum_s z_s omega(x|s)
 * tau(s'|s), term by term. */
static void test_seen_before_the_move(void **state)
{
  (void)state;
  for (uint64_t stream = 0; stream < 200; stream++) {
    const action_model w = draw_world(stream);
    const idm_action_model is = world_is(&w, true);
    double emitter[STATES], total = 0;
    idm_filter_emitter(&is, w.z, emitter);
    for (size_t x = 0; x < OBSERVATIONS; x++) {
      double expected[STATES] = {0}, joint[STATES] = {0}, posterior[STATES], p = 0;
      for (size_t s = 0; s < STATES; s++)
        for (size_t t = 0; t < STATES; t++) {
          const double each =
              w.z[s] * w.emission[s * OBSERVATIONS + x] * w.transition[s * STATES + t];
          expected[t] += each;
          p += each;
        }
      const double q = idm_filter_joint(&is, w.z, x, joint);
      check(&q, &p, 1);
      check(joint, expected, STATES);
      const double r = idm_filter_correct(&is, emitter, x, posterior);
      check(&r, &p, 1);
      for (size_t s = 0; s < STATES; s++) expected[s] /= p;
      if (p > 0) check(posterior, expected, STATES);
      total += p;
    }
    assert_true(fabs(total - 1) <= 1e-15);
  }
}

/* The special case of two states equals a model with a third state that is never reached. */
static void test_two_states(void **state)
{
  (void)state;
  for (int before = 0; before <= 1; before++) {
    const double two[] = {0.9, 0.1, 0.4, 0.6}, seen[] = {0.84, 0.16, 0.15, 0.85};
    const double three[] = {0.9, 0.1, 0, 0.4, 0.6, 0, 0, 0, 1};
    const double also[] = {0.84, 0.16, 0.15, 0.85, 0.5, 0.5};
    const idm_action_model small = {2, 2, two, seen, before, {0}};
    const idm_action_model large = {3, 2, three, also, before, {0}};
    for (size_t x = 0; x < 2; x++) {
      double a[2], b[3], back_a[2] = {0}, back_b[3] = {0};
      const double p = idm_filter_joint(&small, (const double[]){0.3, 0.7}, x, a);
      const double q = idm_filter_joint(&large, (const double[]){0.3, 0.7, 0}, x, b);
      check(&p, &q, 1);
      check(a, b, 2);
      idm_filter_joint_backward(&small, x, (const double[]){2, -3}, 0.5, 1.5, back_a);
      idm_filter_joint_backward(&large, x, (const double[]){2, -3, 9}, 0.5, 1.5, back_b);
      check(back_a, back_b, 2);
    }
  }
}

/* The backward derivative is the transpose of a linear map, so unit vectors check it exactly. */
static void test_recall(void **state)
{
  (void)state;
  for (int before = 0; before <= 1; before++) {
    const action_model w = draw_world(7);
    const idm_action_model is = world_is(&w, before);
    const double derivative[STATES] = {0.5, -1, 2, 3};
    for (size_t x = 0; x < OBSERVATIONS; x++) {
      double back[STATES] = {0};
      idm_filter_joint_backward(&is, x, derivative, 0.25, 2, back);
      for (size_t s = 0; s < STATES; s++) {
        double unit[STATES] = {0}, joint[STATES] = {0}, expected = 0;
        unit[s] = 1;
        idm_filter_joint(&is, unit, x, joint);
        for (size_t t = 0; t < STATES; t++) expected += 2 * (derivative[t] - 0.25) * joint[t];
        check(&back[s], &expected, 1);
      }
    }
  }
}

/* Permuting the labels of a model permutes its beliefs. */
static void test_relabelling(void **state)
{
  (void)state;
  const size_t to[STATES] = {2, 0, 3, 1};
  const size_t seen[OBSERVATIONS] = {4, 2, 0, 1, 3};
  for (uint64_t stream = 0; stream < 200; stream++) {
    const action_model a = draw_world(stream);
    action_model b;
    for (size_t s = 0; s < STATES; s++) {
      b.z[to[s]] = a.z[s];
      for (size_t t = 0; t < STATES; t++)
        b.transition[to[s] * STATES + to[t]] = a.transition[s * STATES + t];
      for (size_t x = 0; x < OBSERVATIONS; x++)
        b.emission[to[s] * OBSERVATIONS + seen[x]] = a.emission[s * OBSERVATIONS + x];
    }
    double next_a[STATES], next_b[STATES];
    idm_filter_predict(STATES, a.transition, a.z, next_a);
    idm_filter_predict(STATES, b.transition, b.z, next_b);
    for (size_t s = 0; s < STATES; s++) check(&next_b[to[s]], &next_a[s], 1);
    for (size_t x = 0; x < OBSERVATIONS; x++) {
      double post_a[STATES] = {0}, post_b[STATES] = {0};
      const double p_a = correct(STATES, OBSERVATIONS, a.emission, next_a, x, post_a);
      const double p_b = correct(STATES, OBSERVATIONS, b.emission, next_b, seen[x], post_b);
      check(&p_b, &p_a, 1);
      for (size_t s = 0; s < STATES; s++) check(&post_b[to[s]], &post_a[s], 1);
    }
  }
}

/* Powers of prior and likelihood against their definition; predictions are unchanged and zeros stay
 * zeros. */
static void test_bent(void **state)
{
  (void)state;
  static const double powers[][2] = {{1, 1}, {0.5, 1}, {1, 0.3}, {2, 1.5}, {1, 0}, {0, 1}, {0, 0}};
  for (uint64_t trial = 0; trial < 70; trial++) {
    const action_model w = draw_world(trial);
    const double a = powers[trial % 7][0], b = powers[trial % 7][1];
    idm_action_model bayes = world_is(&w, trial % 2);
    idm_action_model distorted = bayes;
    double emitter[STATES], expected[STATES], found[STATES], joint[STATES];
    distorted.update = (idm_update){true, a, b};
    idm_filter_emitter(&distorted, w.z, emitter);
    for (size_t x = 0; x < OBSERVATIONS; x++) {
      double weight[STATES], total = 0;
      for (size_t s = 0; s < STATES; s++) {
        const double seen = w.emission[s * OBSERVATIONS + x];
        weight[s] = emitter[s] > 0 && seen > 0 ? pow(emitter[s], a) * pow(seen, b) : 0;
        total += weight[s];
      }
      for (size_t t = 0; t < STATES; t++) {
        expected[t] = distorted.before ? 0 : weight[t] / total;
        for (size_t s = 0; distorted.before && s < STATES; s++)
          expected[t] += weight[s] / total * w.transition[s * STATES + t];
      }
      const double p = idm_filter_correct(&bayes, emitter, x, found);
      assert_true(idm_filter_correct(&distorted, emitter, x, found) == p);
      assert_true(fabs(idm_filter_joint(&distorted, w.z, x, joint) - p) <= 1e-15);
      for (size_t t = 0; p > 0 && t < STATES; t++) {
        assert_true(fabs(found[t] - expected[t]) <= 1e-14);
        assert_true(fabs(joint[t] - p * expected[t]) <= 1e-14);
        assert_int_equal(found[t] == 0, expected[t] == 0);
      }
    }
  }
}

/* Unlikely states keep their accuracy: two states with log-odds of 100. */
static void test_bent_is_not_lost(void **state)
{
  (void)state;
  const double identity[4] = {1, 0, 0, 1}, omega[4] = {exp(-50), 0.5, 1, 0.5}, z[2] = {0.5, 0.5};
  double joint[2];
  const idm_action_model w = {.states = 2,
                              .observations = 2,
                              .transition = identity,
                              .emission = omega,
                              .update = {true, 1, 2}};
  const double p = idm_filter_joint(&w, z, 0, joint);
  assert_true(fabs(joint[0] / p / exp(-100) - 1) < 1e-12);
  assert_true(joint[1] / p == 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_diagnosis_by_hand),
      cmocka_unit_test(test_moving_states_by_hand),
      cmocka_unit_test(test_impossible_observation),
      cmocka_unit_test(test_rare_observations_are_normalised),
      cmocka_unit_test(test_laws),
      cmocka_unit_test(test_joint),
      cmocka_unit_test(test_relabelling),
      cmocka_unit_test(test_seen_before_the_move),
      cmocka_unit_test(test_two_states),
      cmocka_unit_test(test_recall),
      cmocka_unit_test(test_bent),
      cmocka_unit_test(test_bent_is_not_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
