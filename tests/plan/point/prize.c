/* Tests the utility of a belief by maximum over all pieces, and rejected forms that are not a
 * maximum of pieces. */
#include "plan/point/bounds.h"

#include <math.h>

#include "plan/guess_support.h"

enum { STATES = 4, ACTIONS = 2 };

/* A problem with pieces, a guess, or both. */
static idm_problem *belief_reward(size_t pieces, double guess, idm_random *random)
{
  idm_problem *problem = support_problem((support_shape){STATES, ACTIONS, 2, 1, 5}, random);
  support_pieces(problem, pieces, random);
  for (size_t u = 0; u < ACTIONS; u++)
    problem->theta->block[IDM_BELIEF_UTILITY].value[ACTIONS + u] = guess * (1 + (double)u);
  return problem;
}

/* By the definition: max_i a_i.z + guess max z. */
static double plainly(const idm_problem *problem, size_t u, const double *z)
{
  const idm_block *block = &problem->theta->block[IDM_BELIEF_UTILITY];
  double best = block->size > 2 * ACTIONS ? -INFINITY : 0, most = 0;
  for (size_t i = 2 * ACTIONS + u * STATES; i < block->size; i += ACTIONS * STATES) {
    double sum = 0;
    for (size_t s = 0; s < STATES; s++) sum += block->value[i + s] * z[s];
    best = fmax(best, sum);
  }
  for (size_t s = 0; s < STATES; s++) most = fmax(most, z[s]);
  return best + block->value[ACTIONS + u] * most;
}

/* A random belief in which a state may have probability 0. */
static sparse_belief draw(idm_random *random, double *z, uint32_t *state, double *mass)
{
  sparse_belief b = {.state = state, .mass = mass};
  support_distribution(random, z, STATES);
  const size_t without = (size_t)(idm_random_uniform(random) * 2 * STATES);
  if (without < STATES) {
    for (size_t s = 0; s < STATES; s++) z[s] /= s == without ? 1 : 1 - z[without];
    z[without] = 0;
  }
  for (size_t s = 0; s < STATES; s++)
    if (z[s] > 0) {
      state[b.count] = (uint32_t)s;
      mass[b.count++] = z[s];
    }
  return b;
}

static void it_is_the_best_of_its_pieces(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 31, 0);
  for (int k = 0; k < 60; k++) {
    idm_problem *problem = belief_reward((size_t)k % 4, k % 3, &random);
    piecewise_reward p;
    assert_true(idm_piecewise_reward_of(problem->theta, &p));
    for (int i = 0; i < 20; i++) {
      double z[STATES], other[STATES], mass[STATES], vector[STATES] = {0};
      uint32_t states[STATES];
      const sparse_belief b = draw(&random, z, states, mass);
      const size_t u = (size_t)i % ACTIONS;
      assert_near(idm_piecewise_reward_at(&p, u, &b), plainly(problem, u, z), 1e-14);
      idm_piecewise_reward_add(&p, u, &b, vector);
      /* The tangent equals the utility at its belief, and is nowhere above it. */
      double here = 0, there = 0, corners = 0;
      support_distribution(&random, other, STATES);
      for (size_t s = 0; s < STATES; s++) {
        here += z[s] * vector[s];
        there += other[s] * vector[s];
        corners += other[s] * idm_piecewise_reward_corner(&p, u, s);
      }
      assert_near(here, plainly(problem, u, z), 1e-14);
      assert_true(there <= plainly(problem, u, other) + 1e-14);
      assert_true(corners >= plainly(problem, u, other) - 1e-14);
    }
    for (size_t s = 0; s < STATES; s++) {
      double z[STATES] = {0};
      z[s] = 1;
      assert_near(idm_piecewise_reward_corner(&p, s % ACTIONS, s), plainly(problem, s % ACTIONS, z),
                  1e-14);
    }
    idm_problem_destroy(problem);
  }
}

static void others_are_told_apart(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 32, 0);
  static const struct {
    idm_block_id block;
    size_t at;
    double value;
  } cases[] = {{IDM_BELIEF_UTILITY, 0, 0.5},          {IDM_BELIEF_UTILITY, 0, -0.5},
               {IDM_BELIEF_UTILITY, 1, 0.5},          {IDM_BELIEF_UTILITY, ACTIONS, -2},
               {IDM_BELIEF_UTILITY, ACTIONS + 1, -2}, {IDM_CERTAINTY, 1, 2.5}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = belief_reward(2, 1, &random);
    piecewise_reward p;
    assert_true(idm_piecewise_reward_of(problem->theta, &p));
    problem->theta->block[cases[i].block].value[cases[i].at] = cases[i].value;
    assert_false(idm_piecewise_reward_of(problem->theta, &p));
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_the_best_of_its_pieces),
      cmocka_unit_test(others_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
