/* Families of environments in problem files and logs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/problem_file.h"
#include "support.h"

#define SPACES                                                                                     \
  "states: [a, b]\nactions: [u, v]\nobservations: states\ndiscount: 0.9\nstart: a\n"               \
  "utility: {u: 1, v: [0, 2]}\nagent: {planner: maximum-entropy, alpha: 1}\n"
#define OWN "transition: {u: [[1, 0], [0, 1]], v: [[0.5, 0.5], [0.25, 0.75]]}\n"
#define TWO                                                                                        \
  "environments:\n  calm: {transition: {\"*\": identity}}\n"                                       \
  "  windy: {transition: {v: [[0, 1], [1, 0]]}, start: b}\n"

/* What an environment does not give is the problem's own. */
static void test_family(void **state)
{
  (void)state;
  idm_problem *p = support_yaml(SPACES OWN TWO);
  assert_int_equal(p->environments, 2);
  assert_int_equal(p->current_environment, 0);
  assert_string_equal(p->environment[1].name, "windy");
  const double windy[] = {1, 0, 0, 1, 0, 1, 1, 0};
  for (size_t i = 0; i < 8; i++) assert_near(p->environment[1].setting->transition[i], windy[i], 0);
  assert_near(p->environment[0].setting->start[0], 1, 0);
  assert_near(p->environment[1].setting->start[1], 1, 0);
  assert_near(p->setting->transition[4], 0.5, 0);
  idm_problem_destroy(p);
}

/* Where the problem itself says nothing it is in the first; `environment` and --set choose. */
static void test_entering(void **state)
{
  (void)state;
  idm_problem *p =
      support_yaml(SPACES "environments:\n  calm: {transition: {\"*\": identity}}\n"
                          "  windy: {transition: {u: identity, v: [[0, 1], [1, 0]]}, start: b}\n");
  assert_int_equal(p->current_environment, 1);
  assert_near(p->theta->block[IDM_TRANSITION].value[5], 0, 0);
  support_assign(p, "environment=windy");
  assert_int_equal(p->current_environment, 2);
  assert_near(p->setting->start[1], 1, 0);
  assert_near(p->setting->transition[5], 1, 0);
  assert_near(p->theta->block[IDM_TRANSITION].value[5], 1, 0); /* the agent knows */
  idm_problem_destroy(p);
  p = support_yaml(SPACES OWN TWO "environment: windy\n");
  assert_int_equal(p->current_environment, 2);
  assert_near(p->setting->transition[5], 1, 0);
  idm_problem_destroy(p);
}

/* An agent with models of its own keeps them; models by a rule follow the environment. */
static void test_models(void **state)
{
  (void)state;
  idm_problem *p =
      support_yaml(SPACES OWN TWO "models: [{weight: 1, transition: {\"*\": uniform}}]\n");
  support_assign(p, "environment=windy");
  assert_near(p->theta->block[IDM_TRANSITION].value[0], 0.5, 0);
  idm_problem_destroy(p);
  p = support_yaml(SPACES OWN TWO "models: {uniform: 0.5}\n");
  support_assign(p, "environment=windy");
  assert_near(p->theta->block[IDM_TRANSITION].value[5], 1, 0);
  idm_problem_destroy(p);
}

static void test_round_trip(void **state)
{
  (void)state;
  char path[SUPPORT_PATH];
  char difference[256] = "";
  idm_problem *again;
  idm_problem *p = support_yaml(SPACES OWN TWO "environment: windy\n");
  support_path(path);
  check(idm_problem_write_yaml(p, path, NULL, &support_error));
  check(idm_problem_read(path, &again, NULL, &support_error));
  if (!idm_problem_compare(p, again, 0, difference, sizeof difference)) fail_msg("%s", difference);
  remove(path);
  support_assign(again, "environment=calm");
  assert_false(idm_problem_compare(p, again, 0, difference, sizeof difference));
  idm_problem_destroy(p);
  idm_problem_destroy(again);
}

static void refuse(const char *text, long line, const char *words)
{
  idm_problem *p = NULL;
  idm_error error = {0};
  assert_int_equal(idm_problem_parse_yaml(text, strlen(text), "f.yaml", &p, NULL, &error),
                   IDM_INPUT);
  assert_null(p);
  if (!strstr(error.message, words)) fail_msg("%s", error.message);
  assert_int_equal(error.line, line);
}

static void test_refusals(void **state)
{
  (void)state;
  refuse(SPACES OWN "environments: [calm]\n", 9, "a mapping of names to environments");
  refuse(SPACES OWN "environments: {calm: 3}\n", 9, "transition, observation and start");
  refuse(SPACES OWN "environments: {calm: {utility: 3}}\n", 9, "the key 'utility' is unknown");
  refuse(SPACES OWN "environments: {calm: {observation: identity}}\n", 9, "no matrices here");
  refuse(SPACES OWN TWO "environment: storm\n", 12, "expected one of calm, windy");
  refuse(SPACES OWN "environment: storm\n", 9, "the problem names none");
  refuse(SPACES "environments: {calm: {start: a}}\n", 8, "has no transition");
  refuse(SPACES OWN "environments: {calm: {transition: {u: {a: {a: 1}, b: {b: 1}}}}}\n", 9,
         "expected one form for all");
}

static idm_status score(const idm_problem *p, const char *log, idm_error *error)
{
  idm_prefix_tree *tree = NULL;
  idm_data *data = support_data(p, log);
  const idm_status status = idm_evidence_tree(p, data, &tree, error);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  return status;
}

static void test_logs(void **state)
{
  (void)state;
  idm_error error = {0};
  idm_problem *p = support_yaml(SPACES OWN TWO "environment: windy\n");
  assert_int_equal(score(p, "trajectory,action,observation,environment\n1,u,a,windy\n", &error),
                   IDM_OK);
  assert_int_equal(score(p, "trajectory,action,observation\n1,u,a\n", &error), IDM_OK);
  assert_int_equal(score(p, "trajectory,action,observation,environment\n1,u,a,calm\n", &error),
                   IDM_INPUT);
  assert_non_null(
      strstr(error.message, "of the environment 'calm', but the problem is in 'windy'"));
  assert_int_equal(
      score(p, "trajectory,action,observation,environment\n1,u,a,calm\n2,u,a,windy\n", &error),
      IDM_INPUT);
  assert_non_null(strstr(error.message, "several environments ('calm', 'windy')"));
  static const char unknown[] = "trajectory,action,observation,environment\n1,u,a,storm\n";
  idm_data *data = NULL;
  assert_int_equal(
      idm_data_parse_csv(unknown, strlen(unknown), "l.csv", p, NULL, &data, NULL, &error),
      IDM_INPUT);
  support_expect_place(&error, 2, 7, "'storm' is no environment of the problem");
  idm_problem_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_family),   cmocka_unit_test(test_entering),
      cmocka_unit_test(test_models),   cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_refusals), cmocka_unit_test(test_logs)};
  return cmocka_run_group_tests(tests, support_set_up, support_tear_down);
}
