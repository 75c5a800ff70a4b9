/* Best responses of small POMDPs against value iteration over all reachable beliefs. */
#include "invert/utility/belief_mdp.h"

#include <math.h>

#include "invert/utility/hidden_support.h"

static void compare(const hidden *h, const double *utility, double gap)
{
  static hidden_beliefs b;
  size_t action[HIDDEN_MOST];
  double count[HIDDEN_ACTIONS * HIDDEN_STATES], worth = 0;
  idm_problem *problem = hidden_problem(h, NULL, NULL, NULL);
  idm_data data = {.sizes = problem->theta->sizes};
  idm_pomdp *pomdp;
  idm_best_response best_response = {.count = count};
  hidden_reach(h, &b);
  const double best = hidden_best(h, &b, utility, action);
  check(idm_pomdp_create(problem, &data, "somebody", &pomdp, &support_error));
  check(idm_best_response_find(pomdp, utility, gap, 300, &best_response, NULL, &support_error));
  assert_true(best_response.upper >= best - 1e-7 && best_response.upper <= best + gap + 1e-7);
  assert_true(best_response.value <= best + 1e-7 && best_response.value >= best - gap - 1e-7);
  for (size_t e = 0; e < h->actions * h->states; e++) worth += count[e] * utility[e];
  assert_near(worth, best_response.value, 1e-11);
  idm_pomdp_destroy(pomdp);
  idm_problem_destroy(problem);
}

/* The value of Tiger is known: 19.3713 (published bounds 19.37125 and 19.37158). */
static void test_tiger(void **state)
{
  (void)state;
  static hidden_beliefs b;
  const hidden h = hidden_tiger();
  size_t action[HIDDEN_MOST];
  hidden_reach(&h, &b);
  const double best = hidden_best(&h, &b, (const double[]){-1, -1, -100, 10, 10, -100}, action);
  assert_true(best > 19.37125 && best < 19.37158);
  compare(&h, (const double[]){-1, -1, -100, 10, 10, -100}, 1e-4);
  compare(&h, (const double[]){0.3, -0.2, -1, 0.5, 1, -0.7}, 1e-6);
  compare(&h, (const double[]){1, 1, 1, 1, 1, 1}, 1e-6);
}

static void test_maze(void **state)
{
  (void)state;
  const hidden h = hidden_maze();
  compare(&h, (const double[]){0, 0, 1, 0, 0, 1, 0, 0}, 1e-6);
  compare(&h, (const double[]){-0.4, 0.1, 0.6, 0.2, 0.3, -1, 0.9, -0.2}, 1e-6);
}

/* With too few beliefs the policy is valid and has a value below the optimum. */
static void test_few(void **state)
{
  (void)state;
  const hidden h = hidden_tiger();
  const double utility[] = {-1, -1, -100, 10, 10, -100};
  double count[6];
  idm_problem *problem = hidden_problem(&h, NULL, NULL, NULL);
  idm_data data = {.sizes = problem->theta->sizes};
  idm_pomdp *pomdp;
  idm_best_response best_response = {.count = count};
  check(idm_pomdp_create(problem, &data, "somebody", &pomdp, &support_error));
  for (size_t most = 1; most < 5; most++) {
    check(idm_best_response_find(pomdp, utility, 1e-3, most, &best_response, NULL, &support_error));
    assert_true(best_response.value < 19.371 && best_response.upper > 19.371);
  }
  idm_pomdp_destroy(pomdp);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tiger), cmocka_unit_test(test_maze),
                                     cmocka_unit_test(test_few)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
