/* Tests the upper bound: never below a convex function, tight where it was lowered, incremental
 * updates and pruning. */
#include "plan/point/bounds.h"

#include <math.h>
#include <stdlib.h>

#include "support.h"

enum { STATES = 8, POINTS = 60 };

/* A convex function of a belief. */
static double convex(const double *z)
{
  double first = 0, second = 0;
  for (size_t s = 0; s < STATES; s++) {
    first += (s % 3 ? 1.0 : -2.0) * z[s];
    second += (s % 2 ? 1.5 : -1.0) * z[s];
  }
  return fmax(first, second);
}

/* A random belief over `count` states. */
typedef struct drawn {
  uint32_t state[STATES];
  double mass[STATES];
  double dense[STATES];
  sparse_belief belief;
} drawn;

static void draw(idm_random *random, size_t count, drawn *d)
{
  *d = (drawn){0};
  support_distribution(random, d->mass, count);
  for (size_t k = 0; k < count; k++) {
    d->state[k] = (uint32_t)(k + (STATES - count));
    d->dense[d->state[k]] = d->mass[k];
    d->belief.support_mask |= belief_bit(d->state[k]);
  }
  d->belief.state = d->state;
  d->belief.mass = d->mass;
  d->belief.count = count;
}

static sawtooth make(void)
{
  sawtooth t;
  double corner[STATES];
  for (size_t s = 0; s < STATES; s++) {
    double z[STATES] = {0};
    z[s] = 1;
    corner[s] = convex(z);
  }
  check(idm_sawtooth_create(&t, corner, STATES, &support_error));
  return t;
}

static uint32_t moved_to[POINTS];

static void note_move(void *context, uint32_t owner, uint32_t point)
{
  (void)context;
  moved_to[owner] = point;
}

static bool halt_at_once(void *context)
{
  (void)context;
  return true;
}

/* With beliefs over few states, which use the hull, and over many, which do not. */
static void bounds_a_convex_function(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 93, 0);
  for (size_t count = 2; count <= STATES; count += 3) {
    sawtooth t = make();
    double dense[STATES] = {0}, multiplier[STATES];
    drawn query, put;
    draw(&random, count, &query);
    double known = INFINITY;
    size_t seen_updates = 0;
    for (uint32_t i = 0; i < POINTS; i++) {
      uint32_t point = SAWTOOTH_NONE;
      draw(&random, count, &put);
      /* The first point is above the plane of the corners, and has no effect. */
      const double value = convex(put.dense) + (i ? 0 : 100);
      check(idm_sawtooth_lower(&t, &put.belief, value, i, &point, &support_error));
      assert_int_equal(point, i);
      /* Evaluating only the updates gives the same bound as evaluating every point. */
      known = idm_sawtooth_at(&t, &query.belief, seen_updates, known, multiplier, dense);
      seen_updates = t.update_count;
      double other[STATES];
      const double anew = idm_sawtooth_at(&t, &query.belief, 0, INFINITY, other, dense);
      assert_near(known, anew, 1e-12);
      assert_true(known >= convex(query.dense) - 1e-12);
      const double at_point = idm_sawtooth_at(&t, &put.belief, 0, INFINITY, other, dense);
      if (i) assert_true(fabs(at_point - convex(put.dense)) < 1e-12);
    }
    /* An interrupted pruning keeps every point. */
    idm_sawtooth_prune(&t, dense, note_move, NULL, halt_at_once, NULL);
    assert_int_equal(t.count, POINTS);
    for (uint32_t i = 0; i < POINTS; i++) assert_int_equal(moved_to[i], i);
    /* Points without effect are removed, and the bound does not change. */
    idm_sawtooth_prune(&t, dense, note_move, NULL, NULL, NULL);
    assert_true(t.count < POINTS && moved_to[0] == SAWTOOTH_NONE);
    if (count == 2) assert_true(t.count <= 3); /* two planes that intersect inside */
    size_t left = 0;
    for (uint32_t i = 0; i < POINTS; i++) {
      if (moved_to[i] == SAWTOOTH_NONE) continue;
      assert_int_equal(t.point[moved_to[i]].owner, i);
      left++;
    }
    assert_int_equal(left, t.count);
    assert_near(idm_sawtooth_at(&t, &query.belief, 0, INFINITY, multiplier, dense), known, 1e-12);
    for (size_t s = 0; s < STATES; s++) assert_true(dense[s] == 0);
    idm_sawtooth_free(&t);
  }
}

/* A lowered corner updates every belief. */
static void corners_come_down(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 94, 0);
  for (size_t count = 2; count <= STATES; count += 6) {
    sawtooth t = make();
    double dense[STATES] = {0}, multiplier[STATES];
    drawn d;
    draw(&random, count, &d);
    const double first = idm_sawtooth_at(&t, &d.belief, 0, INFINITY, multiplier, dense);
    const sparse_belief corner = {d.state, (const double[]){1}, 1, belief_bit(d.state[0])};
    const double before = t.corner[d.state[0]];
    uint32_t none = SAWTOOTH_NONE;
    const size_t seen_updates = t.update_count;
    check(idm_sawtooth_lower(&t, &corner, before - 1, 0, &none, &support_error));
    assert_int_equal(none, SAWTOOTH_NONE);
    assert_near(idm_sawtooth_at(&t, &d.belief, seen_updates, first, multiplier, dense),
                first - d.mass[0], 1e-12);
    idm_sawtooth_free(&t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_a_convex_function),
      cmocka_unit_test(corners_come_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
