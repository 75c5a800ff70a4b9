/* The derivative of one step of the filter against central differences of the step itself. */
#include "belief/filter_slope.h"

#include <math.h>
#include <string.h>

#include "support.h"

enum { STATES = 3, SEEN = 3 };

/* z, tau and omega side by side. */
typedef struct numbers {
  double z[STATES];
  double transition[STATES * STATES];
  double emission[STATES * SEEN];
} numbers;

static idm_world world_of(const numbers *n, bool before)
{
  return (idm_world){.states = STATES,
                     .observations = SEEN,
                     .transition = n->transition,
                     .emission = n->emission,
                     .before = before};
}

static const double after[STATES] = {0.7, -1.2, 2.1};
static const double scale = 1.3, by_seen = -0.6;

/* scale sum after[s'] z'[s'] + by_seen p(x). */
static double value(const numbers *n, bool before, size_t x)
{
  const idm_world world = world_of(n, before);
  double emitter[STATES], posterior[STATES];
  idm_filter_emitter(&world, n->z, emitter);
  double sum = by_seen * idm_filter_correct(&world, emitter, x, posterior);
  for (size_t s = 0; s < STATES; s++) sum += scale * after[s] * posterior[s];
  return sum;
}

/* Number i of a row up by h, its neighbour down. */
static double moved(const numbers *n, bool before, size_t x, size_t offset, size_t i, double h)
{
  numbers other = *n;
  double *row = (double *)(void *)&other + offset + i / 3 * 3;
  row[i % 3] += h;
  row[(i + 1) % 3] -= h;
  return value(&other, before, x);
}

static void compare(const numbers *n, bool before, size_t x, size_t offset, size_t count,
                    const double *slope)
{
  const double h = 1e-5;
  for (size_t i = 0; i < count; i++)
    assert_near(slope[i] - slope[i / 3 * 3 + (i + 1) % 3],
                (moved(n, before, x, offset, i, h) - moved(n, before, x, offset, i, -h)) / (2 * h),
                1e-8);
}

static void test_differences(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 4, 2);
  for (int trial = 0; trial < 40; trial++) {
    const bool before = trial % 2;
    const size_t x = (size_t)trial % SEEN;
    numbers n;
    double belief[STATES] = {0}, transition[STATES * STATES] = {0}, emission[STATES * SEEN] = {0};
    double scratch[16];
    assert_true(idm_filter_slope_scratch(STATES) <= 16);
    support_distribution(&random, n.z, STATES);
    for (size_t s = 0; s < STATES; s++) {
      support_distribution(&random, n.transition + s * STATES, STATES);
      support_distribution(&random, n.emission + s * SEEN, SEEN);
    }
    const idm_world world = world_of(&n, before);
    const idm_filter_sink sink = {belief, transition, emission};
    idm_filter_slope(&world, n.z, x, after, scale, by_seen, &sink, scratch);
    compare(&n, before, x, 0, STATES, belief);
    compare(&n, before, x, STATES, STATES * STATES, transition);
    compare(&n, before, x, STATES + STATES * STATES, STATES * SEEN, emission);
    /* What is not wanted is left alone, and what is wanted is added. */
    double twice[STATES];
    memcpy(twice, belief, sizeof twice);
    idm_filter_slope(&world, n.z, x, after, scale, by_seen, &(idm_filter_sink){.belief = twice},
                     scratch);
    for (size_t s = 0; s < STATES; s++) assert_near(twice[s], 2 * belief[s], 1e-14);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_differences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
