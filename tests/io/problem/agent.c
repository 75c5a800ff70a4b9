/* The agent of a problem file: its planner, its choices, and the blocks that stand with it. */
#include "io/problem/reader.h"

#include "idm/extension/planner.h"
#include "io/problem/problem_support.h"
#include "plan/learner_support.h"

/* Every planner is found by its name, wherever that stands among the keys. */
static void planners_are_named(void **state)
{
  (void)state;
  for (size_t i = 0; idm_planner_at(i); i++) {
    const idm_planner *planner = idm_planner_at(i);
    for (int last = 0; last < 2; last++) {
      char line[200];
      snprintf(line, sizeof line, "agent: {%splanner: %s%s}", last ? "alpha: 2, beta: -1, " : "",
               planner->name, last ? "" : ", weights: {go: [1, 2]}");
      idm_problem *problem = parse(with(line), NULL);
      assert_ptr_equal(idm_agent_planner(&problem->agent), planner);
      assert_int_equal(problem->theta->blocks, IDM_BLOCK_COUNT + planner->own_count);
      idm_problem_destroy(problem);
    }
  }
}

/* What may stand under `agent`: the planner, blocks of agents, choices; each once. */
static void keys_are_known_once(void **state)
{
  (void)state;
  idm_problem *problem = parse(with(NULL), NULL);
  const char *known[IDM_YAML_AGENT_KEYS];
  const size_t count = idm_yaml_agent_keys(problem, known);
  assert_true(count < IDM_YAML_AGENT_KEYS);
  for (size_t i = 0; i < count; i++) {
    const int id = idm_block_find(known[i]);
    if (id >= 0) assert_true(idm_block_describe((idm_block_id)id)->of_agent);
    if (id < 0 && i) assert_non_null(idm_key_find(idm_agent_option_keys(), known[i]));
    for (size_t j = 0; j < i; j++) assert_string_not_equal(known[i], known[j]);
  }
  assert_string_equal(known[0], "planner");
  idm_problem_destroy(problem);
}

/* Blocks that a planner brings are keys of its agent, and of no other. */
static void own_blocks_are_keys(void **state)
{
  (void)state;
  idm_problem *problem = support_reversal(&idm_learner);
  support_assign(problem, "learning_rate=0.75");
  support_assign(problem, "inverse_temperature=8");
  assert_true(idm_theta_scalar(problem->theta, IDM_BLOCK_COUNT) == 0.75);
  assert_true(idm_theta_scalar(problem->theta, IDM_BLOCK_COUNT + 1) == 8);
  static const char *const wrong[] = {"learning_rate=1.5", "learning_rate=-0.1",
                                      "inverse_temperature=-1", "inverse_temperature=inf",
                                      "learning_rate=fast"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_int_equal(idm_problem_set(problem, wrong[i], &support_error), IDM_USAGE);
  assert_true(idm_theta_scalar(problem->theta, IDM_BLOCK_COUNT) == 0.75);
  check(idm_problem_set_planner(problem, idm_planner_at(0), &support_error));
  assert_int_equal(idm_problem_set(problem, "learning_rate=0.5", &support_error), IDM_USAGE);
  idm_problem_destroy(problem);
}

static void choices_are_read(void **state)
{
  (void)state;
  idm_problem *problem = parse(with("agent: {resolution: 7, evaluate: interpolate, surprise: "
                                    "observation, recognition: sampled}"),
                               NULL);
  assert_int_equal(problem->agent.resolution, 7);
  assert_int_equal(problem->agent.evaluate, IDM_INTERPOLATE);
  assert_int_equal(problem->agent.surprise, IDM_SURPRISE_OBSERVATION);
  assert_int_equal(problem->agent.recognition, IDM_RECOGNITION_SAMPLED);
  idm_problem_destroy(problem);
}

static void wrong_agents_are_refused(void **state)
{
  (void)state;
  expect_error(with("agent: 3"), 11, 8, "agent");
  expect_error(with("agent: {planner: nobody}"), 11, 18, "idm list planners");
  expect_error(with("agent: {planner: [rational]}"), 11, 18, "planner");
  expect_error(with("agent: {alfa: 1}"), 11, 9, "alpha");
  expect_error(with("agent: {utility: 1}"), 11, 9, "utility"); /* stands at the top */
  expect_error(with("agent: {resolution: 0.5}"), 11, 21, "resolution");
  expect_error(with("agent: {resolution: automatic}"), 11, 21, "or auto");
  expect_error(with("agent: {evaluate: roughly}"), 11, 19, "evaluate");
}

static void bad_lines_are_refused(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"agent: [alpha]", 11, 8, "agent is a list of 1; expected a mapping"},
      {"agent: {aplha: 1}", 11, 9, "in agent, the key 'aplha' is unknown; did you mean 'alpha'?"},
      {"agent: {alpha: nan}", 11, 16, "alpha is 'nan'; expected a number, inf or -inf"},
      {"agent: {alpha: 0x1p3}", 11, 16, "alpha is '0x1p3'"},
      {"agent: {alpha: 1e400}", 11, 16, "alpha is '1e400'"},
      {"agent: {beta: high}", 11, 15, "beta is 'high'; expected a number"},
      {"agent: {eta: inf}", 11, 14, "eta is 'inf'; expected a finite number"},
      {"agent: {temperature: -1}", 11, 22,
       "temperature is '-1'; expected a finite number of at least 0"},
      {"agent: {tolerance: 0}", 11, 20, "tolerance is '0'; expected a finite number above 0"},
      {"agent: {decision_capacity: -1}", 11, 28, "decision_capacity is '-1'"},
      {"agent: {resolution: 0}", 11, 21,
       "resolution is '0'; expected a whole number from 1 to 1000000000, or auto"},
      {"agent: {evaluate: guess}", 11, 19,
       "evaluate is 'guess'; expected lookahead or interpolate"},
      {"agent: {surprise: none}", 11, 19, "surprise is 'none'; expected belief or observation"},
      {"agent: {recognition: [mean]}", 11, 22,
       "recognition is a list of 1; expected mean or sampled"},
      {"agent: {planner: }", 11, 18, "planner is empty; expected the name of a planner"},
      {"agent: {planner: abcdefghijklmnopqrstuvwxyz-abcdef}", 11, 18,
       "expected the name of a planner"},
  };
  EXPECT_BAD(cases);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planners_are_named),       cmocka_unit_test(keys_are_known_once),
      cmocka_unit_test(own_blocks_are_keys),      cmocka_unit_test(choices_are_read),
      cmocka_unit_test(wrong_agents_are_refused), cmocka_unit_test(bad_lines_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
