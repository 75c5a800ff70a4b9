/* Policies by state: against soft value iteration, and which planners have none. */
#include "invert/predict.h"

#include <math.h>
#include <stdio.h>

#include "support.h"

#define SPACES  "states: [a, b]\nactions: [u, v]\ndiscount: 0.5\nstart: [1, 0]\n"
#define WORLD   "transition: {u: [[0.9, 0.1], [0.2, 0.8]], v: [[0, 1], [1, 0]]}\n"
#define UTILITY "utility: {u: [1, 0], v: [0, 2]}\n"
#define SOFT    "agent: {planner: maximum-entropy, alpha: 0.7}\n"

/* A soft policy is pi(u|s) ~ exp(Q/alpha), with Q by value iteration here. */
static void test_soft(void **state)
{
  (void)state;
  static const double p[2][2][2] = {{{0.9, 0.1}, {0.2, 0.8}}, {{0, 1}, {1, 0}}}; /* [action] */
  static const double utility[2][2] = {{1, 0}, {0, 2}};                          /* [action] */
  const double alpha = 0.7;
  double v[2] = {0}, q[2][2] = {{0}};
  for (int sweep = 0; sweep < 200; sweep++) {
    for (size_t u = 0; u < 2; u++)
      for (size_t s = 0; s < 2; s++)
        q[s][u] = utility[u][s] + 0.5 * (p[u][s][0] * v[0] + p[u][s][1] * v[1]);
    for (size_t s = 0; s < 2; s++)
      v[s] = alpha * log(0.5 * exp(q[s][0] / alpha) + 0.5 * exp(q[s][1] / alpha));
  }
  idm_problem *problem = support_yaml(SPACES "observations: states\n" WORLD UTILITY SOFT);
  idm_optimality *optimality;
  assert_true(idm_policy_by_state(problem));
  check(idm_optimality_create(0, &optimality, &support_error));
  check(idm_policy_put(problem, problem->theta, optimality, &support_error));
  for (size_t s = 0; s < 2; s++) {
    const double odds = exp((q[s][0] - q[s][1]) / alpha);
    assert_near(optimality->policy[2 * s], odds / (1 + odds), 1e-9);
    assert_near(optimality->policy[2 * s + 1], 1 / (1 + odds), 1e-9);
  }
  assert_string_equal(optimality->state.name[1], "b");
  assert_string_equal(optimality->action.name[1], "v");
  idm_optimality_destroy(optimality);
  idm_problem_destroy(problem);
}

/* Planners of hidden states and learners with memory have no policy by state. */
static void test_none(void **state)
{
  (void)state;
  idm_problem *hidden = support_yaml(SPACES "observations: [x, y]\n"
                                            "observation: {\"*\": uniform}\n" WORLD UTILITY SOFT);
  assert_false(idm_policy_by_state(hidden));
  assert_true(idm_policy_by_belief(hidden));
  idm_problem *learner =
      support_yaml(SPACES "observations: states\n" WORLD UTILITY "agent: {planner: td-learner}\n");
  assert_false(idm_policy_by_state(learner));
  assert_false(idm_policy_by_belief(learner));
  idm_problem_destroy(hidden);
  idm_problem_destroy(learner);
}

/* Deterministic best actions are discontinuous in the parameters, whether the planner fixes alpha
 * at 0 or the file sets it. */
static void test_leaps(void **state)
{
  (void)state;
  static const struct {
    const char *agent;
    bool leaps;
  } cases[] = {{"agent: {planner: rational}\n", true},
               {"agent: {planner: bounded-rational, alpha: 0}\n", true},
               {"agent: {planner: bounded-rational, alpha: 0.1}\n", false},
               {"agent: {planner: boltzmann-exploratory, temperature: 0.5}\n", false},
               {"agent: {planner: boltzmann-exploratory, temperature: 0}\n", true},
               {"agent: {planner: decision-network, hidden: 2}\n", false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[600];
    snprintf(text, sizeof text, SPACES "observations: states\n" WORLD UTILITY "%s", cases[i].agent);
    idm_problem *problem = support_yaml(text);
    assert_int_equal(idm_policy_is_discontinuous(problem), cases[i].leaps);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_soft), cmocka_unit_test(test_none),
                                     cmocka_unit_test(test_leaps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
