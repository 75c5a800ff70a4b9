/* The likelihood over the prefix tree against a plain, tree-free one; availability, variants,
 * starts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Trajectory by trajectory, through the behaviour, with no sharing. */
static double plain_score(const idm_workspace *workspace, const idm_data *data, double *by_agent)
{
  const idm_behavior b = idm_workspace_behavior(workspace);
  double p[8], total = 0;
  void *memory;
  check(b.ops->memory_create(b.content, &memory, &support_error));
  memset(by_agent, 0, data->agent_name.count * sizeof *by_agent);
  for (size_t t = 0; t < data->trajectories; t++) {
    const double *start = data->start[t] < 0
                              ? NULL
                              : data->start_belief + (size_t)data->start[t] * data->sizes.states;
    check(b.ops->begin_agent(b.content, memory, &support_error));
    check(b.ops->begin_trajectory(b.content, memory, memory, data->variant[t], start,
                                  &support_error));
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const bool *open = data->available_set + data->available[row] * data->sizes.actions;
      check(b.ops->act(b.content, memory, open, p, &support_error));
      if (data->action[row] != IDM_MISSING) {
        total += log(p[data->action[row]]);
        by_agent[data->agent[t]] += log(p[data->action[row]]);
      }
      if (row + 1 < data->first[t + 1] || data->observation[row] != IDM_MISSING) {
        const double said = support_observe(b, memory, memory, support_event(data, t, row));
        total += said;
        by_agent[data->agent[t]] += said;
      }
    }
  }
  b.ops->memory_destroy(memory);
  return total;
}

static void tree_equals_plain_on_simulated_patients(void **state)
{
  (void)state;
  for (int recognition = 0; recognition < 2; recognition++) {
    idm_problem *problem = support_diag(0.5, 1.25, 0.001);
    problem->agent.recognition = (idm_recognition)recognition;
    idm_workspace *workspace = support_plan(problem, NULL);
    const idm_simulation simulation = {.trajectories = 1000, .steps = 12, .seed = 3};
    idm_data *data;
    check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                       &support_error));
    double agent;
    const double plain = plain_score(workspace, data, &agent);
    assert_near(support_score(workspace, data), plain, 1e-10);
    assert_near(agent, plain, 1e-12);
    idm_data_destroy(data);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

static const char *const hard_csv =
    "doctor,case,action,observation,available,belief.healthy,belief.diseased,fee\n"
    "a,1,monitor,positive,,0.9,0.1,-1\n"
    "a,1,monitor,,monitor|declare_healthy,,,-1\n"
    "a,1,declare_diseased,,declare_diseased,,,-1\n"
    "b,1,monitor,negative,,,,-2\n"
    "b,1,,positive,,,,-2\n"
    "b,1,monitor,negative,,,,-2\n"
    "b,2,monitor,positive,,,,-1\n"
    "b,2,declare_diseased,,,,,-1\n"
    "a,3,declare_healthy,,declare_healthy|declare_diseased,,,-2\n";

/* Availability, a forced action, both kinds of missing, start beliefs and variants in one log. */
static void everything_at_once(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  support_assign(problem, "utility.monitor=fee");
  check(idm_labels_create(&problem->columns.role[IDM_COLUMN_AGENT], 1, &support_error));
  check(idm_labels_set(&problem->columns.role[IDM_COLUMN_AGENT], 0, "doctor", 6, &support_error));
  check(idm_labels_create(&problem->columns.role[IDM_COLUMN_TRAJECTORY], 1, &support_error));
  check(
      idm_labels_set(&problem->columns.role[IDM_COLUMN_TRAJECTORY], 0, "case", 4, &support_error));
  idm_data *data = support_data(problem, hard_csv);
  check(idm_problem_bind(problem, data->variants, data->variant_value, &support_error));
  assert_int_equal(data->variants, 2);
  idm_workspace *workspace = support_plan(problem, NULL);

  support_scored scored = support_open_score(workspace, data);
  assert_int_equal(scored.score.decisions, 7);
  assert_int_equal(scored.score.forced, 1);
  assert_int_equal(scored.score.unrecorded, 1);
  double plain_agents[2], agents[2];
  const double plain = plain_score(workspace, data, plain_agents);
  idm_scorer_agents(scored.scorer, agents);
  assert_near(scored.score.log_likelihood, plain, 1e-12);
  assert_near(agents[0], plain_agents[0], 1e-12);
  assert_near(agents[1], plain_agents[1], 1e-12);
  double sum = 0;
  for (size_t t = 0; t < data->trajectories; t++) sum += idm_scorer_trajectory(scored.scorer, t);
  assert_near(sum, plain, 1e-12);
  support_close_score(&scored);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Row by row through the behaviour: log-probability of each decision, 0 where nothing was decided,
 * and what the row says beside it; returns the sum of squared distances of the policy from the
 * decision. */
static double plain_decisions(const idm_workspace *workspace, const idm_data *data,
                              double *log_probability, double *evidence)
{
  const idm_behavior b = idm_workspace_behavior(workspace);
  const size_t actions = data->sizes.actions;
  double p[8], brier = 0;
  void *memory;
  check(b.ops->memory_create(b.content, &memory, &support_error));
  for (size_t t = 0; t < data->trajectories; t++) {
    const double *start = data->start[t] < 0
                              ? NULL
                              : data->start_belief + (size_t)data->start[t] * data->sizes.states;
    check(b.ops->begin_agent(b.content, memory, &support_error));
    check(b.ops->begin_trajectory(b.content, memory, memory, data->variant[t], start,
                                  &support_error));
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
      const bool *set = data->available_set + data->available[row] * actions;
      size_t open = 0;
      for (size_t u = 0; u < actions; u++) open += set[u];
      check(b.ops->act(b.content, memory, set, p, &support_error));
      log_probability[row] = 0;
      if (data->action[row] != IDM_MISSING && open > 1) {
        log_probability[row] = log(p[data->action[row]]);
        for (size_t u = 0; u < actions; u++) {
          const double distance = p[u] - ((int32_t)u == data->action[row]);
          brier += distance * distance;
        }
      }
      evidence[row] = 0;
      if (row + 1 < data->first[t + 1] || data->observation[row] != IDM_MISSING)
        evidence[row] = support_observe(b, memory, memory, support_event(data, t, row));
    }
  }
  b.ops->memory_destroy(memory);
  return brier;
}

static void check_decisions(const idm_workspace *workspace, const idm_data *data)
{
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  double *plain = calloc(2 * data->rows, sizeof *plain);
  double *found = calloc(2 * data->rows, sizeof *found);
  assert_true(plain && found);
  double *const evidence = found + data->rows;
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  const double brier = plain_decisions(workspace, data, plain, plain + data->rows);
  /* A scorer is used again and again: the second run must not add to the first. */
  for (int again = 0; again < 2; again++) {
    check(idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &support_error));
    assert_near(score.brier, brier, 1e-10);
    memset(found, 'x', 2 * data->rows * sizeof *found);
    for (size_t t = 0; t < data->trajectories; t++) {
      double sum = 0;
      idm_scorer_decisions(scorer, t, found + data->first[t]);
      idm_scorer_evidence(scorer, t, evidence + data->first[t]);
      for (size_t row = data->first[t]; row < data->first[t + 1]; row++) {
        assert_near(found[row], plain[row], 1e-12);
        assert_near(evidence[row], plain[data->rows + row], 1e-12);
        sum += found[row] + evidence[row];
      }
      assert_near(sum, idm_scorer_trajectory(scorer, t), 1e-12);
    }
  }
  free(plain);
  free(found);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
}

static void decisions_one_by_one(void **state)
{
  (void)state;
  for (int recognition = 0; recognition < 2; recognition++) {
    idm_problem *problem = support_diag(0.5, 1.25, 0.001);
    problem->agent.recognition = (idm_recognition)recognition;
    idm_workspace *workspace = support_plan(problem, NULL);
    const idm_simulation simulation = {.trajectories = 300, .steps = 12, .seed = 4};
    idm_data *data;
    check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                       &support_error));
    check_decisions(workspace, data);
    idm_data_destroy(data);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  support_assign(problem, "utility.monitor=fee");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_AGENT], "doctor");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_TRAJECTORY], "case");
  idm_data *data = support_data(problem, hard_csv);
  check(idm_problem_bind(problem, data->variants, data->variant_value, &support_error));
  idm_workspace *workspace = support_plan(problem, NULL);
  check_decisions(workspace, data);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* A uniform agent over two open actions of three is (1/2)^2 + (1/2)^2 away; over three, 2/3. */
static void brier_by_hand(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(INFINITY, INFINITY, 0);
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = support_data(problem, "agent,trajectory,action,observation,available\n"
                                         "a,1,monitor,positive,monitor|declare_healthy\n"
                                         "a,1,monitor,positive,\n"
                                         "a,1,monitor,positive,monitor\n"
                                         "a,1,,positive,\n"
                                         "a,1,declare_healthy,,\n");
  support_scored scored = support_open_score(workspace, data);
  assert_int_equal(scored.score.decisions, 3);
  assert_near(scored.score.brier, 0.5 + 2 * 2.0 / 3, 1e-12);
  double row[5];
  idm_scorer_decisions(scored.scorer, 0, row);
  const double expected[5] = {-log(2), -log(3), 0, 0, -log(3)};
  for (size_t i = 0; i < 5; i++) assert_near(row[i], expected[i], 1e-12);
  support_close_score(&scored);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* A nearly deterministic agent: what it would never do has a finite, tiny probability, not -inf. */
static void rare_actions_stay_finite(void **state)
{
  (void)state;
  for (int evaluate = 0; evaluate < 2; evaluate++) {
    idm_problem *problem = support_diag(1e-3, 1000, 0.001);
    problem->agent.evaluate = (idm_evaluate)evaluate;
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_data *data = support_data(problem, "agent,action,observation\n1,declare_healthy,\n");
    const double score = support_score(workspace, data);
    /* Q(declare) - V at 1/2 is about -13.3: divided by alpha. */
    assert_true(isfinite(score) && score < -1e4 && score > -1e5);
    support_set(problem, 0, 1000, 0.001);
    check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
    assert_true(support_score(workspace, data) == -INFINITY);
    idm_data_destroy(data);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* The log does not say where an MDP started: its first decision is scored over the start's law, and
 * where it led says more of where it began. */
static void an_mdp_with_an_unknown_start(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("golden/mdp.yaml", &problem, NULL, &support_error));
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = support_data(problem, "agent,action,observation\n1,left,hill\n1,right,\n");
  double together = 0, seen = 0, pi[3];
  for (size_t s = 0; s < 5; s++) {
    double z[5] = {0};
    z[s] = 1;
    idm_plan_policy(workspace, 0, z, pi, NULL);
    const double p = problem->setting->start[s] * problem->setting->transition[s * 5 + 1];
    together += p * pi[0];
    seen += p;
  }
  const double hill[5] = {0, 1, 0, 0, 0};
  idm_plan_policy(workspace, 0, hill, pi, NULL);
  assert_near(support_score(workspace, data), log(together / seen) + log(pi[1]), 1e-10);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tree_equals_plain_on_simulated_patients),
      cmocka_unit_test(everything_at_once),
      cmocka_unit_test(decisions_one_by_one),
      cmocka_unit_test(brier_by_hand),
      cmocka_unit_test(rare_actions_stay_finite),
      cmocka_unit_test(an_mdp_with_an_unknown_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
