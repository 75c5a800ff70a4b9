/* Occupancy matching by conjugate regularisers: where the conjugate is a divergence, against the
 * interior-point projection. */
#include "invert/utility/soft_plan.h"

#include <math.h>

#include "invert/utility/mdp.h"
#include "invert/utility/mdp_support.h"

enum { STATES = 4, ACTIONS = 3, ALL = STATES * ACTIONS };

static const double alpha = 0.4;

/* The conjugate is `times` the divergence plus `shift`. */
static void equals(const idm_regulariser *zeta, idm_divergence divergence, double times,
                   double shift, int units)
{
  idm_problem *problem = support_mdp(STATES, ACTIONS, 2, alpha, 21);
  idm_mdp *mdp = support_create_mdp(problem);
  double policy[ALL], p[ALL];
  idm_random random;
  idm_occupancy_projection *expected;
  idm_conjugate_matching *found;
  idm_random_init(&random, 5, 0);
  support_policy(&random, STATES, ACTIONS, policy);
  check(idm_mdp_occupancy(mdp, policy, p, &support_error));
  check(idm_occupancy_projection_create(mdp, problem->setting, p, policy, NULL, divergence,
                                        zeta->scale, alpha / times, NULL, &expected,
                                        &support_error));
  check(idm_conjugate_match(problem, mdp, zeta, alpha, units, p, &found, &support_error));
  assert_near(found->objective, times * expected->objective + shift, 1e-7);
  assert_true(found->slope <= 1e-6);
  assert_true(found->infeasibility == 0);
  for (size_t e = 0; e < ALL; e++) assert_near(found->occupancy[e], expected->occupancy[e], 1e-6);
  idm_conjugate_matching_destroy(found);
  idm_occupancy_projection_destroy(expected);
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

static void test_divergences(void **state)
{
  (void)state;
  const idm_regulariser squared = {IDM_ZETA_SQUARED, 40}, gail = {IDM_ZETA_GAIL, 1},
                        box = {IDM_ZETA_BOX, 0.3};
  for (int units = 0; units <= 8; units += 8) {
    equals(&squared, IDM_DIVERGENCE_SQUARED, 1, 0, units);
    equals(&gail, IDM_DIVERGENCE_JS, 2, -log(4), units);
    equals(&box, IDM_DIVERGENCE_TV, 2 * box.scale, 0, units);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_divergences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
