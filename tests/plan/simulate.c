/* Tests simulation: frequencies against the policy and the environment, reproducibility, ends of
 * trajectories. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static idm_data *simulate(const idm_problem *problem, const idm_workspace *workspace, size_t count,
                          int steps, uint64_t seed)
{
  const idm_simulation simulation = {.trajectories = count, .steps = steps, .seed = seed};
  idm_data *data;
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                     &support_error));
  return data;
}

/* Upper tail of chi-square by the cube root approximation of Wilson and Hilferty, accurate to a few
 * percent of the level. */
static double chi_square_p(double statistic, double freedom)
{
  const double h = 2 / (9 * freedom);
  const double normal = (cbrt(statistic / freedom) - (1 - h)) / sqrt(h);
  return 0.5 * erfc(normal / sqrt(2));
}

/* At every history that occurs at least 100 times, counts of actions are compared with pi. Level
 * 1e-3: one seed in a thousand would fail; the seed is fixed. */
static void actions_follow_the_policy(void **state)
{
  (void)state;
  for (int recognition = 0; recognition < 2; recognition++) {
    idm_problem *problem = support_diag(3, 1.25, 0.001);
    problem->agent.recognition = (idm_recognition)recognition;
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_data *data = simulate(problem, workspace, 40000, 6, 7);
    idm_prefix_tree *tree;
    check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
    const idm_behavior b = idm_workspace_behavior(workspace);
    /* Count (node, action) pairs, then compute expected numbers from the behaviour at the node. */
    double *count = calloc(tree->nodes * 3, sizeof *count);
    for (size_t i = 0; i < tree->nodes; i++)
      if (tree->node[i].parent >= 0)
        count[3 * (size_t)tree->node[i].parent + (size_t)tree->node[i].action] +=
            (double)tree->node[i].count;
    void *memory[8];
    for (int d = 0; d < 8; d++) check(b.ops->memory_create(b.content, &memory[d], &support_error));
    double statistic = 0, freedom = 0, p[3];
    for (size_t i = 0; i < tree->nodes; i++) {
      const idm_prefix_node *node = &tree->node[i];
      if (node->parent < 0) {
        check(b.ops->begin_trajectory(b.content, memory[0], memory[0], 0, NULL, &support_error));
      } else if (!node->leaf) {
        check(b.ops->act(b.content, memory[node->depth - 1], NULL, p, &support_error));
        support_observe(b, memory[node->depth - 1], memory[node->depth],
                        (idm_event){.action = node->action, .observation = node->observation});
      }
      const double seen = count[3 * i] + count[3 * i + 1] + count[3 * i + 2];
      if (node->leaf || seen < 100) continue;
      check(b.ops->act(b.content, memory[node->depth], NULL, p, &support_error));
      for (int u = 0; u < 3; u++) {
        const double expected = seen * p[u];
        if (expected < 5) continue;
        statistic += pow(count[3 * i + (size_t)u] - expected, 2) / expected;
        freedom += 1;
      }
      freedom -= 1;
    }
    print_message("chi-square %.1f with %.0f degrees of freedom: p = %.3f\n", statistic, freedom,
                  chi_square_p(statistic, freedom));
    assert_true(freedom > 20);
    assert_true(chi_square_p(statistic, freedom) > 1e-3);
    for (int d = 0; d < 8; d++) b.ops->memory_destroy(memory[d]);
    free(count);
    idm_prefix_tree_destroy(tree);
    idm_data_destroy(data);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* The agent believes in an accuracy of .9, the environment has .7. Pairs of first observations
 * follow the environment: P(same) = .7^2 + .3^2 = .58. For 20,000 pairs 4 standard errors are .014
 * (6e-5 of seeds would fail). */
static void observations_come_from_the_environment(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(INFINITY, INFINITY, 0);
  for (size_t u = 0; u < 3; u++) {
    problem->setting->ends[u] = false;
    problem->theta->block[IDM_ACTION_PRIOR].value[u] = u == 2;
  }
  double *emission = problem->theta->block[IDM_EMISSION].value;
  for (size_t i = 0; i < problem->theta->block[IDM_EMISSION].size; i++)
    emission[i] = emission[i] > 0.5 ? 0.9 : 0.1;
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = simulate(problem, workspace, 20000, 2, 8);
  double same = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    const size_t row = data->first[t];
    assert_int_equal(data->first[t + 1] - row, 2);
    assert_int_equal(data->action[row], 2);
    same += data->observation[row] == data->observation[row + 1];
  }
  assert_true(fabs(same / 20000 - 0.58) < 0.014);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void seeds_and_streams(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *a = simulate(problem, workspace, 200, 0, 1);
  idm_data *b = simulate(problem, workspace, 200, 0, 1);
  idm_data *more = simulate(problem, workspace, 300, 0, 1);
  idm_data *other = simulate(problem, workspace, 200, 0, 2);
  assert_int_equal(a->rows, b->rows);
  assert_memory_equal(a->action, b->action, a->rows * sizeof *a->action);
  assert_memory_equal(a->observation, b->observation, a->rows * sizeof *a->observation);
  /* Trajectory i is a function of (seed, i), so a longer simulation begins with the same
   * trajectories. */
  assert_memory_equal(a->action, more->action, a->rows * sizeof *a->action);
  assert_true(a->rows != other->rows ||
              memcmp(a->action, other->action, a->rows * sizeof *a->action) != 0);
  idm_data_destroy(a);
  idm_data_destroy(b);
  idm_data_destroy(more);
  idm_data_destroy(other);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void trajectories_stop_where_they_must(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = simulate(problem, workspace, 500, 4, 1);
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const bool last = row + 1 == data->first[t + 1];
      const bool ends = problem->setting->ends[data->action[row]];
      assert_true(row - data->first[t] < 4);
      assert_true(last || !ends);
      assert_true((data->observation[row] == IDM_MISSING) == ends);
    }
  check(idm_data_validate(data, problem->setting, &support_error));
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* In an MDP the first state is drawn and recorded in the log. */
static void an_mdp_records_its_starts(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("golden/mdp.yaml", &problem, NULL, &support_error));
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = simulate(problem, workspace, 5000, 3, 9);
  double count[5] = {0};
  for (size_t t = 0; t < data->trajectories; t++) {
    const int32_t first = data->state[data->first[t]];
    assert_true(data->start[t] >= 0 && first >= 0 && first < 5);
    assert_true(data->start_belief[(size_t)data->start[t] * 5 + (size_t)first] == 1);
    count[first]++;
  }
  double statistic = 0;
  for (size_t s = 0; s < 5; s++) {
    const double expected = 5000 * problem->setting->start[s];
    statistic += pow(count[s] - expected, 2) / expected;
  }
  assert_true(chi_square_p(statistic, 4) > 1e-3);
  assert_true(isfinite(support_score(workspace, data)));
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

typedef struct before {
  const idm_problem *problem;
  idm_workspace *workspace;
  size_t calls;
  size_t fails_at; /* SIZE_MAX: never */
} before;

/* Plans with alpha = 0.01 before even trajectories and with alpha infinite before odd ones, and
 * fails before trajectory `fails_at`. */
static idm_status plan_before(void *context, size_t trajectory, size_t agent, idm_error *opt_error)
{
  before *b = context;
  assert_int_equal(agent, 0);
  assert_int_equal(trajectory, b->calls);
  b->calls++;
  if (trajectory == b->fails_at) return idm_fail(opt_error, IDM_NUMERICAL, "no plan for this one");
  idm_theta_set_scalar(b->problem->theta, IDM_ALPHA, trajectory % 2 ? INFINITY : 0.01);
  return idm_plan(b->problem->theta, NULL, b->workspace, NULL, opt_error);
}

static void an_agent_for_each_trajectory(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.01, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *even = simulate(problem, workspace, 20, 6, 5);
  idm_theta_set_scalar(problem->theta, IDM_ALPHA, INFINITY);
  check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
  idm_data *odd = simulate(problem, workspace, 20, 6, 5);
  before b = {problem, workspace, 0, SIZE_MAX};
  idm_simulation simulation = {
      .trajectories = 20, .steps = 6, .seed = 5, .opt_before = plan_before, .context = &b};
  idm_data *both;
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &both,
                     &support_error));
  assert_int_equal(b.calls, 20);
  for (size_t t = 0; t < 20; t++) {
    const idm_data *from = t % 2 ? odd : even;
    const size_t rows = both->first[t + 1] - both->first[t];
    assert_int_equal(rows, from->first[t + 1] - from->first[t]);
    assert_memory_equal(both->action + both->first[t], from->action + from->first[t],
                        rows * sizeof *both->action);
    assert_memory_equal(both->observation + both->first[t], from->observation + from->first[t],
                        rows * sizeof *both->observation);
  }
  /* An error of the callback ends the simulation and is returned. */
  for (size_t at = 0; at < 20; at += 19) {
    idm_data *none = both;
    idm_error error = {0};
    b.calls = 0;
    b.fails_at = at;
    assert_int_equal(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation,
                                  &none, &error),
                     IDM_NUMERICAL);
    assert_null(none);
    assert_int_equal(b.calls, at + 1);
    assert_string_equal(error.message, "no plan for this one");
  }
  idm_data_destroy(both);
  idm_data_destroy(odd);
  idm_data_destroy(even);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void unknown_dynamics_cannot_be_simulated(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  free(problem->setting->emission);
  problem->setting->emission = NULL;
  const idm_simulation simulation = {.trajectories = 1, .seed = 1};
  idm_data *data;
  assert_int_equal(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation,
                                &data, &support_error),
                   IDM_INPUT);
  assert_null(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Missed responses are taken from the design; their transition is by the problem's action, or there
 * is none with a single state. */
static void missed_responses_are_kept(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *like = simulate(problem, workspace, 200, 6, 3);
  idm_random random;
  idm_random_init(&random, 4, 0);
  support_miss(like, problem->setting, 2, 0.3, &random);
  const idm_simulation simulation = {.opt_design_log = like, .seed = 9};
  idm_data *data;
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                     &support_error));
  check(idm_data_validate(data, problem->setting, &support_error));
  size_t missed = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t i = 0; data->first[t] + i < data->first[t + 1]; i++) {
      const size_t row = data->first[t] + i, of = like->first[t] + i;
      assert_int_equal(idm_data_missed(data, row),
                       of < like->first[t + 1] && idm_data_missed(like, of));
      if (!idm_data_missed(data, row)) continue;
      assert_int_equal(data->action[row], 2);
      missed++;
    }
  assert_true(missed > 50);
  support_scored scored = support_open_score(workspace, data);
  assert_int_equal(scored.score.missed, missed);
  support_close_score(&scored);
  idm_data_destroy(data);
  for (size_t row = 0; row < like->rows; row++)
    if (idm_data_missed(like, row)) like->action[row] = IDM_MISSING;
  assert_int_equal(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation,
                                &data, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "the transition of the state is not defined"));
  idm_data_destroy(like);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* A learner with a single state: a missed response has no action, observation or reward. */
static void learners_miss_without_an_action(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: 1\nactions: [left, right]\ndiscount: 0\nutility: {left: 1, right: 2}\n"
                   "agent: {planner: td-learner}\ndata: {missed: late}\n");
  idm_data *like = support_data(problem, "agent,action,reward\na,left,0\na,late,\na,right,1\n");
  idm_simulation simulation = {.opt_design_log = like, .seed = 2};
  idm_simulation_adapt(&simulation, problem);
  idm_data *data = support_simulate(problem, simulation);
  assert_int_equal(data->rows, 3);
  for (size_t row = 0; row < 3; row++) {
    assert_int_equal(idm_data_missed(data, row), row == 1);
    assert_int_equal(data->action[row] == IDM_MISSING, row == 1);
    assert_int_equal(data->number[IDM_COLUMN_REWARD][row] == 0, row == 1);
  }
  idm_data_destroy(data);
  idm_data_destroy(like);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(actions_follow_the_policy),
      cmocka_unit_test(observations_come_from_the_environment),
      cmocka_unit_test(seeds_and_streams),
      cmocka_unit_test(trajectories_stop_where_they_must),
      cmocka_unit_test(an_mdp_records_its_starts),
      cmocka_unit_test(an_agent_for_each_trajectory),
      cmocka_unit_test(unknown_dynamics_cannot_be_simulated),
      cmocka_unit_test(missed_responses_are_kept),
      cmocka_unit_test(learners_miss_without_an_action),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
