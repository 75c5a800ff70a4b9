/* Tests terminal states: values, trajectories and occupancies against direct recursions that end on
 * arrival. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "setting/model.h"
#include "support.h"

enum { STATES = 4, ACTIONS = 2, GOAL = 3 };

/* The row of the goal in the file is ignored, so its numbers are arbitrary. */
#define SPACES                                                                                     \
  "states: [a, b, c, goal]\nactions: [left, right]\nobservations: states\ndiscount: 0.9\n"         \
  "terminal: [goal]\n"
#define MATRICES                                                                                   \
  "transition:\n"                                                                                  \
  "  left: [[1, 0, 0, 0], [0.9, 0.1, 0, 0], [0, 0.9, 0.1, 0], [0.5, 0.5, 0, 0]]\n"                 \
  "  right: [[0.1, 0.9, 0, 0], [0, 0.1, 0.9, 0], [0, 0, 0.3, 0.7], [1, 0, 0, 0]]\n"
#define ROWS                                                                                       \
  "transition:\n"                                                                                  \
  "  left: {a: a, b: {a: 0.9, b: 0.1}, c: {b: 0.9, c: 0.1}}\n"                                     \
  "  right: {a: {a: 0.1, b: 0.9}, b: {b: 0.1, c: 0.9}, c: {c: 0.3, goal: 0.7}, goal: a}\n"
#define UTILITY "utility: {left: -0.3, right: [-1, -1, -0.5, 9]}\n"

static const double after[ACTIONS][GOAL][GOAL] = {{{1, 0, 0}, {0.9, 0.1, 0}, {0, 0.9, 0.1}},
                                                  {{0.1, 0.9, 0}, {0, 0.1, 0.9}, {0, 0, 0.3}}};
static const double paid[ACTIONS][GOAL] = {{-0.3, -0.3, -0.3}, {-1, -1, -0.5}};

/* Values of the soft plan with `left` steps to go; every decision pays `bonus` in addition. */
static void recur(double alpha, double bonus, int left, double *v, double policy[GOAL][ACTIONS])
{
  memset(v, 0, GOAL * sizeof *v);
  while (left-- > 0) {
    double next[GOAL];
    for (size_t s = 0; s < GOAL; s++) {
      double q[ACTIONS], sum = 0;
      for (size_t u = 0; u < ACTIONS; u++) {
        q[u] = paid[u][s];
        for (size_t t = 0; t < GOAL; t++) q[u] += 0.9 * after[u][s][t] * v[t];
        sum += 0.5 * exp(q[u] / alpha);
      }
      next[s] = alpha * log(sum) + bonus;
      for (size_t u = 0; u < ACTIONS; u++) policy[s][u] = 0.5 * exp(q[u] / alpha) / sum;
    }
    memcpy(v, next, sizeof next);
  }
}

static void expect_plan(const char *text, int left, double bonus, double tolerance)
{
  double v[GOAL], expected[GOAL][ACTIONS], policy[ACTIONS];
  idm_problem *problem = support_yaml(text);
  idm_workspace *workspace = support_plan(problem, NULL);
  recur(0.5, bonus, left, v, expected);
  for (size_t s = 0; s < GOAL; s++) {
    double z[STATES] = {0};
    z[s] = 1;
    assert_near(idm_plan_value_after(workspace, 0, 0, z), v[s], tolerance);
    idm_plan_policy_after(workspace, 0, 0, z, policy);
    for (size_t u = 0; u < ACTIONS; u++) assert_near(policy[u], expected[s][u], tolerance);
  }
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Planners of several kinds, dense and sparse transitions, with and without a horizon. */
static void test_plans(void **state)
{
  (void)state;
  static const char soft[] = SPACES MATRICES UTILITY "agent: {alpha: 0.5, planner: ";
  char text[1500];
  static const char *const planners[] = {"bounded-rational", "maximum-entropy", "cvar-robust"};
  for (size_t i = 0; i < sizeof planners / sizeof *planners; i++) {
    snprintf(text, sizeof text, "%s%s}\n", soft, planners[i]);
    expect_plan(text, 600, 0, 1e-9);
    snprintf(text, sizeof text, "%s%s}\nhorizon: 6\n", soft, planners[i]);
    expect_plan(text, 6, 0, 1e-9);
  }
  expect_plan(SPACES ROWS UTILITY "agent: {alpha: 0.5}\n", 600, 0, 1e-9);
  snprintf(text, sizeof text, "%svalue-iteration-network, sweeps: 12}\n", soft);
  expect_plan(text, 12, 0, 1e-9);
  /* Values with entropy: every decision adds alpha log 2 until arrival. The sampling error is about
   * 0.005 at this budget. */
  snprintf(text, sizeof text, "%ssoft-q-learning, budget: 1000000}\n", soft);
  expect_plan(text, 600, 0.5 * log(2), 0.03);
}

/* The occupancy of the soft plan against forward iteration: terminal states have no mass. */
static void test_occupancy(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(SPACES MATRICES UTILITY "agent: {alpha: 0.5}\n");
  idm_workspace *workspace = support_plan(problem, NULL);
  double v[GOAL], policy[GOAL][ACTIONS], found[STATES], mass[GOAL] = {0};
  idm_forward forward;
  recur(0.5, 0, 600, v, policy);
  for (int t = 0; t < 600; t++) {
    double next[GOAL];
    for (size_t s = 0; s < GOAL; s++) next[s] = 0.1 / 3;
    for (size_t s = 0; s < GOAL; s++)
      for (size_t u = 0; u < ACTIONS; u++)
        for (size_t to = 0; to < GOAL; to++)
          next[to] += 0.9 * mass[s] * policy[s][u] * after[u][s][to];
    memcpy(mass, next, sizeof next);
  }
  check(idm_plan_forward(workspace, 0, &forward, found, &support_error));
  for (size_t s = 0; s < GOAL; s++) assert_near(found[s], mass[s], 1e-8);
  assert_true(found[GOAL] == 0);
  double paid_out = 0;
  for (size_t s = 0; s < GOAL; s++)
    for (size_t u = 0; u < ACTIONS; u++) paid_out += mass[s] * policy[s][u] * paid[u][s];
  assert_near(forward.internal_return, paid_out, 1e-8);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* A discount of 1 is allowed for episodes that end on arrival. */
static void test_undiscounted(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(SPACES MATRICES UTILITY "agent: {planner: rational}\n");
  support_assign(problem, "discount=1");
  idm_workspace *workspace = support_plan(problem, NULL);
  const double z[STATES] = {0, 0, 1, 0};
  assert_near(idm_plan_value_after(workspace, 0, 0, z), -0.5 / 0.7, 1e-9);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Trajectories end on arrival and nowhere else. */
static void test_simulation(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(SPACES MATRICES UTILITY "agent: {alpha: 0.5}\n");
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 200, .seed = 3});
  size_t arrivals = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      const bool last = r + 1 == data->first[t + 1];
      arrivals += data->observation[r] == GOAL;
      if (!last) assert_int_not_equal(data->observation[r], GOAL);
    }
  assert_true(arrivals > 190); /* all but trajectories that reach the limit of 1,000 steps */
  for (size_t s = 0; s < STATES; s++)
    assert_near(problem->setting->start[s], s == GOAL ? 0 : 1.0 / 3, 1e-15);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Values given for the goal in the file or by --set are overwritten. */
static void test_absorbed(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      SPACES MATRICES UTILITY "free: [utility]\nenvironments: {far: {start: a, transition: {left: "
                              "uniform}}}\nmodels: {uniform: 0.5}\n");
  support_assign(problem, "environment=far");
  support_assign(problem, "utility.left=4");
  check(idm_problem_validate(problem, &support_error));
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  assert_true(utility[0] == 4 && utility[GOAL] == 0 && utility[STATES + GOAL] == 0);
  const double *model = problem->theta->block[IDM_TRANSITION].value;
  for (size_t m = 0; m < 2 * ACTIONS; m++)
    assert_true(model[(m * STATES + GOAL) * STATES + GOAL] == 1);
  /* Utilities of the goal are fixed. */
  assert_int_equal(problem->theta->block[IDM_UTILITY].coordinate_name.count, ACTIONS * GOAL);
  assert_int_equal(problem->theta->block[IDM_UTILITY].coordinate[GOAL], -1);
  idm_problem_destroy(problem);
}

static void expect_refusal(const char *text, const char *words)
{
  idm_problem *problem = NULL;
  idm_error error = {0};
  assert_int_equal(idm_problem_parse_yaml(text, strlen(text), "t", &problem, NULL, &error),
                   IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
}

static void test_refusals(void **state)
{
  (void)state;
  expect_refusal(SPACES MATRICES UTILITY "start: goal\n", "'goal', which is terminal");
  expect_refusal(SPACES MATRICES UTILITY "certainty: {above: 0.9, award: 1}\n",
                 "certainty is a utility of beliefs at every step");
  expect_refusal(SPACES MATRICES UTILITY "free: {utility: {entries: [left.goal]}}\n",
                 "the terminal state 'goal', where nothing is done");
  expect_refusal("states: [a, b]\nactions: [b, go]\nobservations: states\nterminal: [b]\n",
                 "'b' is a state and an action");
  expect_refusal("states: [a, b]\nactions: [go]\nobservations: [x, y]\nterminal: [b]\n",
                 "states are hidden");
  expect_refusal("states: [a, b]\nactions: [go]\nobservations: states\nterminal: [a, b]\n",
                 "every state is terminal");
}

/* A log ends on arrival. */
static void test_logs(void **state)
{
  (void)state;
  static const char head[] = "trajectory,state,action\n1,a,right\n1,b,right\n";
  idm_problem *problem = support_yaml(SPACES MATRICES UTILITY);
  static const struct {
    const char *rows;
    const char *words;
  } cases[] = {{"1,c,right\n1,goal,\n", NULL},
               {"1,c,right\n1,goal,left\n", "came to 'goal'"},
               {"2,goal,left\n", "begins in 'goal'"},
               {"1,,right\n1,c,right\n", "is not recorded"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char csv[200];
    idm_data *data = NULL;
    idm_error error = {0};
    snprintf(csv, sizeof csv, "%s%s", head, cases[i].rows);
    const idm_status status =
        idm_data_parse_csv(csv, strlen(csv), "t.csv", problem, NULL, &data, NULL, &error);
    assert_int_equal(status, cases[i].words ? IDM_INPUT : IDM_OK);
    if (cases[i].words && !strstr(error.message, cases[i].words))
      fail_msg("'%s' lacks '%s'", error.message, cases[i].words);
    idm_data_destroy(data);
  }
  idm_problem_destroy(problem);
}

/* The problem is unchanged after writing and reading. */
static void test_written(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(SPACES ROWS UTILITY);
  idm_problem *again = NULL;
  char words[200];
  check(idm_problem_write_yaml(problem, "terminal.yaml", NULL, &support_error));
  check(idm_problem_read("terminal.yaml", &again, NULL, &support_error));
  if (!idm_problem_compare(problem, again, 0, words, sizeof words)) fail_msg("%s", words);
  assert_true(again->setting->terminal_state[GOAL]);
  remove("terminal.yaml");
  idm_problem_destroy(again);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plans),        cmocka_unit_test(test_occupancy),
      cmocka_unit_test(test_undiscounted), cmocka_unit_test(test_simulation),
      cmocka_unit_test(test_absorbed),     cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_logs),         cmocka_unit_test(test_written)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
