/* Tests the derivative of one step of the filter against central differences of the step. */
#include "belief/belief.h"

#include <math.h>
#include <string.h>

#include "support.h"

enum { STATES = 3, SEEN = 3 };

/* z, tau and omega, stored contiguously. */
typedef struct numbers {
  double z[STATES];
  double transition[STATES * STATES];
  double emission[STATES * SEEN];
} numbers;

/* The variant of the step: time of emission, distortion of the update, observation. */
typedef struct way {
  bool before;
  idm_update update;
  size_t x;
} way;

static idm_action_model world_of(const numbers *n, const way *w)
{
  return (idm_action_model){.states = STATES,
                            .observations = SEEN,
                            .transition = n->transition,
                            .emission = n->emission,
                            .before = w->before,
                            .update = w->update};
}

static const double after[STATES] = {0.7, -1.2, 2.1};
static const double scale = 1.3, by_seen = -0.6;

/* The function to differentiate: scale sum after[s'] z'[s'] + by_seen p(x). */
static double value(const numbers *n, const way *w)
{
  const idm_action_model action_model = world_of(n, w);
  double emitter[STATES], posterior[STATES];
  idm_filter_emitter(&action_model, n->z, emitter);
  double sum = by_seen * idm_filter_correct(&action_model, emitter, w->x, posterior);
  for (size_t s = 0; s < STATES; s++) sum += scale * after[s] * posterior[s];
  return sum;
}

/* The value with number i of a row increased by h and its neighbour decreased by h. */
static double moved(const numbers *n, const way *w, size_t offset, size_t i, double h)
{
  numbers other = *n;
  double *row = (double *)(void *)&other + offset + i / 3 * 3;
  row[i % 3] += h;
  row[(i + 1) % 3] -= h;
  return value(&other, w);
}

static void compare(const numbers *n, const way *w, size_t offset, size_t count,
                    const double *derivative)
{
  const double h = 1e-6;
  for (size_t i = 0; i < count; i++)
    assert_near(derivative[i] - derivative[i / 3 * 3 + (i + 1) % 3],
                (moved(n, w, offset, i, h) - moved(n, w, offset, i, -h)) / (2 * h), 1e-7);
}

/* Compares the derivatives by the two powers, also at Bayes' rule. */
static void compare_powers(const numbers *n, const way *w, double prior, double evidence)
{
  const double h = 1e-6;
  const double derivative[2] = {prior, evidence};
  for (int i = 0; i < 2; i++) {
    double at[2];
    for (int side = 0; side < 2; side++) {
      way other = *w;
      if (!other.update.distorted) other.update = (idm_update){true, 1, 1};
      *(i ? &other.update.evidence : &other.update.prior) += side ? h : -h;
      at[side] = value(n, &other);
    }
    assert_near(derivative[i], (at[1] - at[0]) / (2 * h), 1e-7);
  }
}

static void test_differences(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 4, 2);
  for (int trial = 0; trial < 80; trial++) {
    const way w = {.before = trial % 2,
                   .update = {trial % 4 > 1, 0.4 + idm_random_uniform(&random),
                              0.4 + idm_random_uniform(&random)},
                   .x = (size_t)trial % SEEN};
    numbers n;
    double belief[STATES] = {0}, transition[STATES * STATES] = {0}, emission[STATES * SEEN] = {0};
    double prior = 0, evidence = 0, scratch[16];
    assert_true(idm_filter_backward_scratch(STATES) <= 16);
    support_distribution(&random, n.z, STATES);
    for (size_t s = 0; s < STATES; s++) {
      support_distribution(&random, n.transition + s * STATES, STATES);
      support_distribution(&random, n.emission + s * SEEN, SEEN);
    }
    const idm_action_model action_model = world_of(&n, &w);
    const idm_filter_gradient sink = {belief, transition, emission, &prior, &evidence};
    idm_filter_backward(&action_model, n.z, w.x, after, scale, by_seen, &sink, scratch);
    compare(&n, &w, 0, STATES, belief);
    compare(&n, &w, STATES, STATES * STATES, transition);
    compare(&n, &w, STATES + STATES * STATES, STATES * SEEN, emission);
    compare_powers(&n, &w, prior, evidence);
    /* Outputs that are not requested are not written, and requested ones are added to. */
    double twice[STATES];
    memcpy(twice, belief, sizeof twice);
    idm_filter_backward(&action_model, n.z, w.x, after, scale, by_seen,
                        &(idm_filter_gradient){.belief = twice}, scratch);
    for (size_t s = 0; s < STATES; s++) assert_near(twice[s], 2 * belief[s], 1e-14);
  }
}

/* A state of belief 0. Under Bayes' rule the derivative by its probability is not zero. Under other
 * powers a zero stays zero, and the derivative is finite. */
static void test_zeros(void **state)
{
  (void)state;
  const double z[2] = {1, 0}, identity[4] = {1, 0, 0, 1}, omega[4] = {0.7, 0.3, 0.2, 0.8};
  const double up[2] = {0, 1};
  for (int distorted = 0; distorted < 2; distorted++) {
    double belief[2] = {0}, transition[4] = {0}, emission[4] = {0}, prior = 0, evidence = 0;
    double scratch[6];
    const idm_action_model action_model = {.states = 2,
                                           .observations = 2,
                                           .transition = identity,
                                           .emission = omega,
                                           .update = {distorted, 0.5, 0.5}};
    const idm_filter_gradient sink = {belief, transition, emission, &prior, &evidence};
    idm_filter_backward(&action_model, z, 0, up, 1, 0, &sink, scratch);
    /* z' = .2 e / (.7 (1 - e) + .2 e). */
    assert_near(belief[1] - belief[0], distorted ? 0 : 0.2 / 0.7, 1e-14);
    assert_true(emission[0] == 0 && emission[2] == 0 && prior == 0 && evidence == 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_differences),
                                     cmocka_unit_test(test_zeros)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
