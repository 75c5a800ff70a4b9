/* Tests which problems have planners whose memory contains more than the state. */
#include "plan/workspace.h"

#include "support.h"

#define WORLD(observations)                                                                        \
  "states: [a, b]\nactions: [u, v]\nobservations: " observations "\ndiscount: 0.5\n"               \
  "transition: {'*': [[0.5, 0.5], [0.2, 0.8]]}\nutility: {u: [1, 0], v: 0}\n"

static bool forgets(const char *text, const char *opt_free)
{
  idm_problem *problem = support_yaml(text);
  if (opt_free) check(idm_problem_set_free(problem, opt_free, &support_error));
  const bool found = idm_agent_is_memoryless(problem);
  idm_problem_destroy(problem);
  return found;
}

static void test_all(void **state)
{
  (void)state;
  assert_true(forgets(WORLD("states"), NULL));
  assert_true(forgets(WORLD("states") "agent: {lapse: 0.1, prior_weight: 0.5}\n", "lapse"));
  assert_false(forgets(WORLD("[x]") "observation: {'*': [[1], [1]]}\n", NULL));
  assert_false(forgets(WORLD("states") "horizon: 5\n", NULL));
  assert_false(
      forgets(WORLD("states") "horizon: 5\nagent: {discounting: naive, delay_rate: 1}\n", NULL));
  assert_false(forgets(WORLD("states") "agent: {perseverance: 0.5}\n", NULL));
  assert_false(forgets(WORLD("states"), "perseverance"));
  assert_false(forgets(WORLD("states") "agent: {planner: td-learner}\n", NULL));
  assert_false(forgets(WORLD("states") "agent: {planner: recurrent}\n", NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
