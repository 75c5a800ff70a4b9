/* The zero-sum game of policies against utilities: neither player can improve, against all
 * deterministic policies and all corners of the box. */
#include "invert/utility/bellman.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/grid_support.h"
#include "invert/utility/mdp.h"

enum { STATES = 3, ACTIONS = 2, ENTRIES = STATES * ACTIONS };

/* Some entries are held, so that the value of the game is not 0. */
static void test_saddle(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    idm_problem *problem = grid_random(STATES, ACTIONS, 0.8, seed, NULL, NULL);
    const size_t action[] = {0, 1, seed % 2};
    idm_data *data = grid_log(problem, action);
    check(idm_problem_set_free(
        problem, "{utility: {entries: {x: [u0.s0, u1.s2], y: [u0.s1, u1.s0]}}}", &support_error));
    idm_mdp *mdp;
    idm_free_utility *free_utility;
    idm_demonstrator *d;
    check(idm_mdp_create(problem, problem->setting, "test", &mdp, &support_error));
    check(idm_free_utility_create(problem, &free_utility, &support_error));
    check(idm_demonstrator_create(mdp, data, problem->setting, NULL, &d, &support_error));
    double mu[ENTRIES], other[ENTRIES], utility[ENTRIES], weight[2] = {2, 2}, key[2] = {0.6, 1.2};
    check(idm_mdp_occupancy(mdp, d->policy, mu, &support_error));
    idm_cancel cancel;
    idm_cancel_init(&cancel, NULL, "testing");
    idm_face face = {.count = 2, .weight = weight, .key = key};
    idm_game game = {.bound = 1, .face = &face};
    check(idm_game_solve(mdp, free_utility, mu, d->policy, &game, &cancel, &support_error));
    assert_true(face.attained <= 1e-9 && game.attained <= 1e-9 && game.policy_nearest);
    idm_free_utility_fill(free_utility, face.x, utility);

    /* Against the utility found, the best deterministic policy attains the value and no more. */
    double most = -INFINITY;
    for (unsigned set = 0; set < 1u << STATES; set++) {
      double gain = 0;
      double policy[ENTRIES] = {0};
      for (size_t s = 0; s < STATES; s++) policy[s * ACTIONS + (set >> s & 1)] = 1;
      check(idm_mdp_occupancy(mdp, policy, other, &support_error));
      for (size_t e = 0; e < ENTRIES; e++)
        gain += (other[e % STATES * ACTIONS + e / STATES] - mu[e % STATES * ACTIONS + e / STATES]) *
                utility[e] / 0.2;
      most = fmax(most, gain);
    }
    assert_near(most, game.objective, 1e-8);

    /* Against the policy found, no corner of the box gives less than the value. */
    double least = INFINITY;
    check(idm_mdp_occupancy(mdp, game.policy, other, &support_error));
    for (unsigned corner = 0; corner < 4; corner++) {
      const double x[] = {corner & 1 ? 1 : -1, corner & 2 ? 1 : -1};
      double gain = 0;
      idm_free_utility_fill(free_utility, x, utility);
      for (size_t e = 0; e < ENTRIES; e++)
        gain += (other[e % STATES * ACTIONS + e / STATES] - mu[e % STATES * ACTIONS + e / STATES]) *
                utility[e] / 0.2;
      least = fmin(least, gain);
    }
    assert_near(least, game.objective, 1e-7);
    free(face.x);
    free(game.policy);
    idm_demonstrator_destroy(d);
    idm_free_utility_destroy(free_utility);
    idm_mdp_destroy(mdp);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_saddle)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
