/* Tests an agent whose memory spans trajectories: scored by the tree against a direct loop,
 * simulated, written, read and recovered by a fit. */
#include "plan/learner_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AGENTS = 6, TRAJECTORIES = 30, STEPS = 40 };

static idm_data *simulate(const idm_problem *problem, const idm_workspace *workspace, uint64_t seed)
{
  idm_simulation simulation = {
      .trajectories = TRAJECTORIES, .steps = STEPS, .seed = seed, .agents = AGENTS};
  idm_data *data;
  idm_simulation_adapt(&simulation, problem);
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                     &support_error));
  check(idm_data_validate(data, problem->setting, &support_error));
  return data;
}

/* The log-likelihood by its definition, agent by agent; with `forgetful` the memory is reset in
 * every trajectory. */
static double plain_score(const idm_problem *problem, const idm_data *data, bool forgetful,
                          double *opt_agents)
{
  const double rate = idm_theta_scalar(problem->theta, IDM_BLOCK_COUNT);
  const double sharpness = idm_theta_scalar(problem->theta, IDM_BLOCK_COUNT + 1);
  double total = 0;
  for (size_t a = 0; a < data->agent_name.count; a++) {
    double value[2] = {0, 0};
    double own = 0;
    for (size_t t = 0; t < data->trajectories; t++) {
      if (data->agent[t] != a) continue;
      if (forgetful) value[0] = value[1] = 0;
      for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
        const int u = data->action[r];
        own -= log1p(exp(sharpness * (value[1 - u] - value[u])));
        value[u] += rate * (data->number[IDM_COLUMN_REWARD][r] - value[u]);
      }
    }
    if (opt_agents) opt_agents[a] = own;
    total += own;
  }
  return total;
}

static void test_the_tree_scores_as_a_plain_loop(void **state)
{
  (void)state;
  idm_problem *problem = support_reversal(&idm_learner);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = simulate(problem, workspace, 1);
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  double agents[AGENTS];
  double plain[AGENTS];
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  check(idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &support_error));
  assert_near(score.log_likelihood, plain_score(problem, data, false, plain), 1e-12);
  assert_int_equal(score.decisions, (uint64_t)TRAJECTORIES * STEPS);
  /* Memories do span trajectories: the score differs if they are reset. */
  assert_true(fabs(score.log_likelihood - plain_score(problem, data, true, NULL)) > 1);
  idm_scorer_agents(scorer, agents);
  for (size_t a = 0; a < AGENTS; a++) assert_near(agents[a], plain[a], 1e-12);
  double sum = 0;
  for (size_t t = 0; t < TRAJECTORIES; t++) {
    double rows[STEPS];
    double own = 0;
    idm_scorer_decisions(scorer, t, rows);
    for (size_t i = 0; i < STEPS; i++) own += rows[i];
    assert_near(own, idm_scorer_trajectory(scorer, t), 1e-12);
    sum += own;
  }
  assert_near(sum, score.log_likelihood, 1e-12);
  /* A tree of trajectories is rejected where a tree of agents is needed. */
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  assert_int_equal(
      idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &support_error), IDM_USAGE);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Agents share the nodes of equal histories until they diverge; different rewards separate
 * histories. */
static void test_agents_share_histories(void **state)
{
  (void)state;
  idm_problem *problem = support_reversal(&idm_learner);
  static const char csv[] = "agent,trajectory,action,observation,reward\n"
                            "a,1,left,win,1\na,1,right,loss,-1\na,2,left,win,1\n"
                            "b,1,left,win,1\nb,1,right,loss,-1\nb,2,left,win,0.5\n"
                            "c,1,left,win,0.25\n";
  idm_data *data = support_data(problem, csv);
  idm_prefix_tree *tree;
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  /* begin, (left 1), (right -1), begin, (left 1), (left .5); (left .25) */
  assert_int_equal(tree->nodes, 7);
  assert_int_equal(tree->begins, 2);
  assert_int_equal(tree->node[0].count, 3);
  assert_int_equal(tree->node[3].begin, 1);
  assert_int_equal(tree->node[3].count, 2);
  assert_near(tree->reward[4], 1, 0);
  assert_near(tree->reward[5], 0.5, 0);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_scorer *scorer;
  idm_score score;
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  check(idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &support_error));
  assert_near(score.log_likelihood, plain_score(problem, data, false, NULL), 1e-12);
  idm_scorer_destroy(scorer);
  idm_workspace_destroy(workspace);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* After writing as CSV and reading, the log has the same score, rewards and agents. */
static void test_written_and_read(void **state)
{
  (void)state;
  idm_problem *problem = support_reversal(&idm_learner);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = simulate(problem, workspace, 3);
  char path[SUPPORT_PATH];
  support_path(path);
  check(idm_data_write_csv(data, problem, path, &support_error));
  idm_data *again;
  check(idm_data_read_csv(path, problem, NULL, &again, NULL, &support_error));
  unlink(path);
  assert_int_equal(again->rows, data->rows);
  assert_int_equal(again->agent_name.count, AGENTS);
  assert_memory_equal(again->number[IDM_COLUMN_REWARD], data->number[IDM_COLUMN_REWARD],
                      data->rows * sizeof(double));
  assert_near(plain_score(problem, again, false, NULL), plain_score(problem, data, false, NULL), 0);
  idm_data_destroy(again);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Parameters are recovered: every central 99.8 % interval of the posterior contains the truth. A
 * correct program fails for one seed in 250; the seed is fixed. */
static void test_fitted_back(void **state)
{
  (void)state;
  const double truth[2] = {0.35, 2.5};
  idm_problem *problem = support_reversal(&idm_learner);
  idm_theta_set_scalar(problem->theta, IDM_BLOCK_COUNT, truth[0]);
  idm_theta_set_scalar(problem->theta, IDM_BLOCK_COUNT + 1, truth[1]);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = simulate(problem, workspace, 5);
  check(idm_problem_set_free(problem, "learning_rate, inverse_temperature", &support_error));
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.draws = 500;
  settings.warmup = 300;
  idm_posterior *posterior = NULL;
  idm_projection projection;
  idm_assessment *assessment = NULL;
  check(idm_project(problem, data, idm_inverse_find("bayes"), &settings, NULL, &posterior,
                    &projection, NULL, &support_error));
  const size_t count = posterior->chains * posterior->draws;
  for (size_t q = 0; q < 2; q++) {
    size_t below = 0;
    for (size_t i = 0; i < count; i++) below += posterior->value[q * count + i] < truth[q];
    assert_true(below > count / 1000 && below < count - count / 1000);
  }
  assert_string_equal(posterior->quantity.name[0], "learning_rate");
  check(idm_assess_monitored(problem, data, posterior, 1, NULL, &assessment, &support_error));
  assert_true(assessment->trusted);
  assert_int_equal(assessment->parameters, 2);
  /* Predicted data, one draw per agent. */
  idm_data *predicted;
  const idm_simulation simulation = {
      .trajectories = TRAJECTORIES, .steps = 5, .seed = 1, .agents = AGENTS};
  check(idm_posterior_simulate(problem, posterior, &simulation, &predicted, &support_error));
  assert_non_null(predicted->number[IDM_COLUMN_REWARD]);
  idm_data_destroy(predicted);
  idm_assessment_destroy(assessment);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Recovery and calibration require only a behaviour from a planner. */
static void test_recovered(void **state)
{
  (void)state;
  idm_problem *problem = support_reversal(&idm_learner);
  check(idm_problem_set_free(problem, "learning_rate", &support_error));
  idm_calibration_settings settings;
  idm_calibration_settings_default(&settings);
  settings.replications = 4;
  settings.trajectories = 5;
  settings.steps = 30;
  settings.fit.draws = 300;
  settings.fit.warmup = 100;
  idm_calibration *calibration;
  check(idm_calibration_create(problem, &settings, &calibration, &support_error));
  check(idm_calibration_run(calibration, NULL, NULL, &support_error));
  for (size_t i = 0; i < settings.replications; i++) {
    assert_true(calibration->done[i]);
    assert_true(calibration->recovery[2 * i].truth > 0 && calibration->recovery[2 * i].truth < 1);
  }
  idm_calibration_destroy(calibration);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_tree_scores_as_a_plain_loop),
      cmocka_unit_test(test_agents_share_histories),
      cmocka_unit_test(test_written_and_read),
      cmocka_unit_test(test_fitted_back),
      cmocka_unit_test(test_recovered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
