/* Projection of an occupancy on those of policies: occupancies of a policy are met exactly,
 * including zeros, and total variation agrees between two methods. */
#include "invert/utility/mdp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/mdp_support.h"

enum { STATES = 6, ACTIONS = 3, ALL = STATES * ACTIONS };

static idm_occupancy_projection *closest(const idm_problem *problem, const idm_mdp *mdp,
                                         const double *target, const double *fallback,
                                         idm_divergence divergence, double entropy)
{
  idm_occupancy_projection *found;
  check(idm_occupancy_projection_create(mdp, problem->setting, target, fallback, NULL, divergence,
                                        50, entropy, NULL, &found, &support_error));
  return found;
}

/* Random policies; the second of each pair has actions with probability 0. */
static void realisable_occupancies_are_met(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 2, 0);
  for (int d = IDM_DIVERGENCE_KL; d <= IDM_DIVERGENCE_SQUARED; d++)
    for (int zeros = 0; zeros < 2; zeros++) {
      idm_problem *problem = support_mdp(STATES, ACTIONS, 2, 0.5, 51);
      idm_mdp *mdp = support_create_mdp(problem);
      double policy[ALL], target[ALL], fallback[ALL];
      support_policy(&random, STATES, ACTIONS, policy);
      support_policy(&random, STATES, ACTIONS, fallback);
      for (size_t s = 0; s < STATES && zeros; s += 2) {
        if (s % ACTIONS == 1) continue;
        policy[s * ACTIONS + 1] += policy[s * ACTIONS + s % ACTIONS];
        policy[s * ACTIONS + s % ACTIONS] = 0;
      }
      check(idm_mdp_occupancy(mdp, policy, target, &support_error));
      idm_occupancy_projection *found =
          closest(problem, mdp, target, fallback, (idm_divergence)d, 0);
      assert_true(fabs(found->objective) <= 1e-10);
      assert_true(found->gap <= 1e-9);
      size_t count = 0;
      for (size_t e = 0; e < ALL; e++) {
        /* The square root of the tolerance, for quadratic divergences. */
        assert_near(found->occupancy[e], target[e], 1e-5);
        /* A squared difference has derivative 0 at 0 and cannot distinguish 0 from a small number.
         */
        if (policy[e] == 0)
          assert_true(found->policy[e] <= (d == IDM_DIVERGENCE_SQUARED ? 1e-5 : 0));
        count += found->policy[e] == 0;
      }
      assert_int_equal(found->zeros, count);
      idm_occupancy_projection_destroy(found);
      idm_mdp_destroy(mdp);
      idm_problem_destroy(problem);
    }
}

/* A small entropy changes the solution of the linear program slightly: two methods agree. */
static void tv_by_two_methods(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 3, 0);
  idm_problem *problem = support_mdp(STATES, ACTIONS, 3, 0.5, 52);
  idm_mdp *mdp = support_create_mdp(problem);
  double target[ALL], fallback[ALL];
  support_distribution(&random, target, ALL);
  support_policy(&random, STATES, ACTIONS, fallback);
  idm_occupancy_projection *linear = closest(problem, mdp, target, fallback, IDM_DIVERGENCE_TV, 0);
  idm_occupancy_projection *smooth =
      closest(problem, mdp, target, fallback, IDM_DIVERGENCE_TV, 1e-7);
  assert_true(linear->objective > 1e-3);
  assert_true(linear->gap <= 1e-9 && smooth->gap <= 1e-9);
  /* The entropy of a policy over three actions is at most log 3. */
  assert_near(linear->objective, smooth->objective, 1.2e-7);
  idm_occupancy_projection_destroy(linear);
  idm_occupancy_projection_destroy(smooth);
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

/* Entropy alone: uniform policies in all reachable states; elsewhere the fallback. */
static void entropy_alone(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 4, 0);
  idm_problem *problem = support_mdp(STATES, ACTIONS, 2, 0.5, 53);
  double *tau = problem->setting->transition;
  for (size_t r = 0; r < STATES * ACTIONS; r++) {
    tau[r * STATES] += tau[r * STATES + 4];
    tau[r * STATES + 4] = 0;
  }
  problem->setting->start[0] += problem->setting->start[4];
  problem->setting->start[4] = 0;
  idm_mdp *mdp = support_create_mdp(problem);
  double target[ALL], fallback[ALL], policy[ALL];
  support_policy(&random, STATES, ACTIONS, fallback);
  support_policy(&random, STATES, ACTIONS, policy);
  check(idm_mdp_occupancy(mdp, policy, target, &support_error));
  idm_occupancy_projection *found = closest(problem, mdp, target, fallback, IDM_DIVERGENCE_KL, 1e9);
  for (size_t e = 0; e < ALL; e++)
    assert_near(found->policy[e], e / ACTIONS == 4 ? fallback[e] : 1.0 / 3, 1e-7);
  idm_occupancy_projection_destroy(found);
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(realisable_occupancies_are_met),
      cmocka_unit_test(tv_by_two_methods),
      cmocka_unit_test(entropy_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
