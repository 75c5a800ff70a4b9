/* Tests the division of a log of observed states into pieces: the same decisions with the same
 * likelihood, and few histories. */
#include "data/log.h"

#include <math.h>
#include <stdio.h>

#include "idm/extension/prefix.h"
#include "support.h"

static const char world[] =
    "states: [a, b, c]\nactions: [stay, go]\nobservations: states\nstart: [0.5, 0.3, 0.2]\n"
    "discount: 0.8\n"
    "transition: {stay: [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]],\n"
    "  go: [[0.1, 0.6, 0.3], [0.5, 0.1, 0.4], [0.4, 0.5, 0.1]]}\n"
    "utility: {stay: [1, 0, -1], go: [-0.5, 0.5, 0.2]}\n"
    "agent: {planner: maximum-entropy, alpha: 0.7}\n"
    "data: {missed: {values: late, action: stay}}\n";

/* Known and unknown starts, gaps of every kind, a forced action, missed responses. */
static const char gaps[] = "trajectory,action,observation,available\n"
                           "1,stay,b,\n1,go,a,\n1,,c,\n1,go,,\n1,stay,b,\n1,go,c,\n"
                           "2,go,,\n2,stay,,\n2,go,a,\n2,stay,a,stay\n"
                           "3,,b,\n3,stay,b,\n3,go,,\n"
                           "4,stay,,\n"
                           "5,late,b,\n5,go,,\n5,late,,\n5,go,c,\n";

static size_t histories(const idm_data *data)
{
  idm_prefix_tree *tree;
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
  const size_t nodes = tree->nodes;
  idm_prefix_tree_destroy(tree);
  return nodes;
}

static void compare(idm_problem *problem, const idm_data *data)
{
  idm_data *cut;
  check(idm_data_split(data, problem->setting, &cut, &support_error));
  assert_non_null(cut);
  check(idm_data_validate(cut, problem->setting, &support_error));
  assert_int_equal(cut->rows, data->rows);
  for (int k = 0; k < 5; k++) {
    char alpha[32];
    snprintf(alpha, sizeof alpha, "alpha=%g", 0.2 + 0.3 * k);
    support_assign(problem, alpha);
    idm_workspace *workspace = support_plan(problem, NULL);
    const double whole = support_score(workspace, data);
    assert_true(isfinite(whole));
    assert_near(support_score(workspace, cut), whole, 1e-11 * fabs(whole));
    idm_workspace_destroy(workspace);
  }
  idm_data_split_destroy(cut);
}

static void test_likelihoods(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(world);
  idm_data *data = support_data(problem, gaps);
  compare(problem, data);
  idm_data_destroy(data);
  data = support_data(problem, "trajectory,state,action\n1,a,stay\n1,b,go\n1,a,go\n1,c,\n"
                               "2,c,go\n2,c,stay\n");
  compare(problem, data);
  idm_data_destroy(data);
  data = support_simulate(problem, (idm_simulation){.trajectories = 200, .steps = 20, .seed = 3});
  compare(problem, data);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* An unrecorded action that is followed by further rows cannot be terminal; on the last row it can
 * be. */
static void test_ends(void **state)
{
  (void)state;
  static const char *const word[] = {"ends", "terminal"};
  for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
    char text[sizeof world + 32];
    snprintf(text, sizeof text, "%s%s: [go]\n", world, word[i]);
    idm_problem *problem = support_yaml(text);
    idm_data *data = support_data(problem, "trajectory,action,observation\n"
                                           "1,stay,b\n1,,c\n1,,a\n1,stay,\n1,,b\n1,go,\n"
                                           "2,,a\n2,stay,c\n2,,\n2,,c\n");
    compare(problem, data);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* The number of histories is bounded by states and actions, whatever the length of the log. */
static void test_pieces(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(world);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 300, .steps = 30, .seed = 4});
  idm_data *cut;
  check(idm_data_split(data, problem->setting, &cut, &support_error));
  assert_int_equal(cut->trajectories, data->rows);
  assert_true(histories(data) > 5000);
  /* Three states, their beginnings and two actions; doubled, as starts given by the log are
   * separate. */
  assert_true(histories(cut) <= 2 * 3 * (1 + 2));
  for (size_t t = 0, i = 0; t < data->trajectories; t++)
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++, i++) {
      assert_int_equal(cut->first[i], row);
      assert_int_equal(cut->agent[i], data->agent[t]);
      const double *z = cut->start_belief + (size_t)cut->start[i] * 3;
      if (row > data->first[t]) assert_true(z[data->observation[row - 1]] == 1);
    }
  idm_data_split_destroy(cut);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Rows after a gap stay in the piece of the gap, and observations stay where they carry
 * information. */
static void test_gaps(void **state)
{
  (void)state;
  static const size_t first[] = {0, 1, 2, 3, 5, 6, 9, 10, 11, 12, 13, 14, 15, 18};
  idm_problem *problem = support_yaml(world);
  idm_data *data = support_data(problem, gaps);
  idm_data *cut;
  check(idm_data_split(data, problem->setting, &cut, &support_error));
  assert_int_equal(cut->trajectories, sizeof first / sizeof *first - 1);
  assert_memory_equal(cut->first, first, sizeof first);
  assert_int_equal(cut->observation[0], 1);  /* the first state is unknown */
  assert_int_equal(cut->observation[1], -1); /* b, go: its outcome does not affect a decision */
  assert_int_equal(cut->observation[2], 2);  /* the action is unknown */
  assert_int_equal(cut->observation[4], 1);  /* the state in between is unknown */
  assert_int_equal(cut->observation[8], 0);
  idm_data_split_destroy(cut);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void test_too_many_states(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(world);
  idm_data *data = support_data(problem, gaps);
  idm_data *cut;
  data->sizes.states = 3000;
  check(idm_data_split(data, problem->setting, &cut, &support_error));
  assert_null(cut);
  data->sizes.states = 3;
  idm_data_split_destroy(NULL);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_likelihoods),     cmocka_unit_test(test_ends),
      cmocka_unit_test(test_pieces),          cmocka_unit_test(test_gaps),
      cmocka_unit_test(test_too_many_states),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
