/* Tests the vectors of a lower bound: the best vector, dominated vectors, compaction. */
#include "plan/point/bounds.h"

#include <math.h>
#include <stdlib.h>

#include "support.h"

enum { STATES = 5 };

static double value_of(const alphas *a, size_t vector, const sparse_belief *b)
{
  double sum = 0;
  for (size_t k = 0; k < b->count; k++) sum += b->mass[k] * alpha_at(a, vector, b->state[k]);
  return sum;
}

static void the_best_is_the_largest(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 92, 0);
  alphas a = {.states = STATES};
  static const uint32_t states[] = {0, 2, 3};
  double mass[3];
  for (size_t n = 0; n < 200; n++) {
    double vector[STATES];
    for (size_t s = 0; s < STATES; s++) vector[s] = 2 * idm_random_uniform(&random) - 1;
    check(idm_alphas_add(&a, vector, n % 7, &support_error));
    support_distribution(&random, mass, 3);
    const sparse_belief b = {states, mass, 3, 13};
    const alpha_choice best = idm_alphas_best(&a, &b, 0, (alpha_choice){0, -INFINITY});
    double most = -INFINITY;
    for (size_t i = 0; i < a.count; i++)
      if (a.replacement[i] == i) most = fmax(most, value_of(&a, i, &b));
    assert_near(best.value, most, 1e-14);
    assert_near(value_of(&a, best.vector, &b), most, 1e-14);
    /* The given choice is kept if no vector is better. */
    const alpha_choice kept = idm_alphas_best(&a, &b, a.count, (alpha_choice){3, 10});
    assert_true(kept.vector == 3 && kept.value == 10);
  }
  idm_alphas_free(&a);
}

static void covered_vectors_die(void **state)
{
  (void)state;
  alphas a = {.states = 2};
  check(idm_alphas_add(&a, (const double[]){0, 0}, 0, &support_error));
  check(idm_alphas_add(&a, (const double[]){2, -1}, 1, &support_error));
  check(idm_alphas_add(&a, (const double[]){0, 1}, 2, &support_error)); /* dominates the first */
  assert_int_equal(a.dominated, 1);
  check(idm_alphas_add(&a, (const double[]){3, 1}, 3, &support_error)); /* dominates all */
  assert_int_equal(a.dominated, 3);
  assert_int_equal(alpha_current(&a, 0), 3);
  uint32_t map[4], before[5];
  idm_alphas_compact(&a, map, before);
  assert_true(a.count == 1 && a.dominated == 0 && a.action[0] == 3);
  for (size_t i = 0; i < 4; i++) assert_int_equal(map[i], 0);
  assert_true(before[3] == 0 && before[4] == 1);
  assert_true(alpha_at(&a, 0, 0) == 3 && alpha_at(&a, 0, 1) == 1);
  /* Lanes after the last vector are empty again. */
  const sparse_belief b = {(const uint32_t[]){0}, (const double[]){1}, 1, 1};
  assert_true(idm_alphas_best(&a, &b, 0, (alpha_choice){9, -INFINITY}).value == 3);
  idm_alphas_free(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_best_is_the_largest),
      cmocka_unit_test(covered_vectors_die),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
