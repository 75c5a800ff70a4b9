/* Tests the likelihood over the tree of histories against a computation without the tree:
 * availability, variants, starts, missed responses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Trajectory by trajectory, through the behaviour, without shared histories. */
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

/* Availability, a forced action, both kinds of missing cells, start beliefs and variants in one
 * log. */
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

/* --- missed responses ----------------------------------------------------------------------- */

static const char ward[] =
    "states: [well, ill]\nactions: [test, treat, wait]\nobservations: [negative, positive]\n"
    "start: [0.6, 0.4]\ndiscount: 0.9\n"
    "transition: {test: identity, treat: [[1, 0], [0.7, 0.3]], wait: [[0.8, 0.2], [0.1, 0.9]]}\n"
    "observation: {test: [[0.8, 0.2], [0.3, 0.7]], treat: uniform, wait: [[0.6, 0.4], [0.4, "
    "0.6]]}\n"
    "utility: {test: -1, treat: [-2, 5], wait: [0, -1]}\n"
    "agent: {alpha: 0.7, perseverance: 0.9, lapse: 0.1, resolution: 30}\n"
    "data: {missing: NA, missed: {values: [late, NA], action: wait}}\n";

/* The likelihood of a log by its definition. */
typedef struct enumeration {
  const idm_problem *problem;
  idm_workspace *workspace;
  const idm_data *data;
  bool with; /* include the decisions, not the observations alone */
} enumeration;

/* Probability of the action of a row at belief z: perseverance on `last`, then lapse. */
static double chosen(const enumeration *e, size_t row, const double *z, int last)
{
  double pi[3], sum = 0;
  if (!e->with || idm_data_missed(e->data, row)) return 1;
  idm_plan_policy(e->workspace, 0, z, pi, NULL);
  const double kappa = idm_theta_scalar(e->problem->theta, IDM_PERSEVERANCE);
  const double lapse = idm_theta_scalar(e->problem->theta, IDM_LAPSE);
  for (int u = 0; u < 3; u++) sum += pi[u] *= u == last ? exp(kappa) : 1;
  return (1 - lapse) * pi[e->data->action[row]] / sum + lapse / 3;
}

/* Probability of a row and of all rows after it, summed over missing observations. */
static double enumerate(const enumeration *e, size_t row, size_t end, const double *z, int last)
{
  const idm_setting *s = e->problem->setting;
  if (row == end) return 1;
  const size_t u = (size_t)e->data->action[row];
  const int next = idm_data_missed(e->data, row) ? last : (int)u;
  double sum = 0;
  for (int x = 0; x < 2; x++) {
    double joint[2];
    if (e->data->observation[row] != IDM_MISSING && e->data->observation[row] != x) continue;
    for (size_t to = 0; to < 2; to++) {
      joint[to] = 0;
      for (size_t from = 0; from < 2; from++)
        joint[to] += z[from] * s->transition[(u * 2 + from) * 2 + to];
      joint[to] *= s->emission[(u * 2 + to) * 2 + (size_t)x];
    }
    const double p = joint[0] + joint[1];
    const double after[2] = {joint[0] / p, joint[1] / p};
    sum += p * enumerate(e, row + 1, end, after, next);
  }
  return chosen(e, row, z, last) * sum;
}

static double enumerate_log(enumeration *e)
{
  double total = 0;
  for (size_t t = 0; t < e->data->trajectories; t++)
    for (int with = 0; with < 2; with++) {
      e->with = with;
      const double p = enumerate(e, e->data->first[t], e->data->first[t + 1],
                                 e->problem->setting->start, IDM_MISSING);
      total += with ? log(p) : -log(p);
    }
  return total;
}

static double score_ward(const char *rows, size_t missed, bool enumerated)
{
  idm_problem *problem = support_yaml(ward);
  char text[400] = "trajectory,action,observation\n";
  strcat(text, rows);
  idm_data *data = support_data(problem, text);
  enumeration e = {problem, support_plan(problem, NULL), data, false};
  support_scored scored = support_open_score(e.workspace, data);
  assert_int_equal(scored.score.missed, missed);
  assert_int_equal(scored.score.forced + scored.score.unrecorded, enumerated ? 0 : 1);
  assert_int_equal(scored.score.decisions + missed, data->rows - (enumerated ? 0 : 1));
  if (enumerated) assert_near(scored.score.log_likelihood, enumerate_log(&e), 1e-12);
  support_close_score(&scored);
  idm_data_destroy(data);
  idm_workspace_destroy(e.workspace);
  idm_problem_destroy(problem);
  return scored.score.log_likelihood;
}

/* After a missed response the belief is updated by the problem's action and the observation after
 * it, and there is no decision. A missing observation after it is summed over. Perseverance repeats
 * the response before it. */
static void missed_responses_move_beliefs(void **state)
{
  (void)state;
  score_ward("1,test,positive\n1,late,negative\n1,test,negative\n1,NA,positive\n1,treat,\n"
             "2,late,positive\n2,treat,negative\n2,test,positive\n2,late,positive\n",
             4, true);
  score_ward("3,test,positive\n3,late,\n3,treat,negative\n3,test,positive\n3,test,\n", 1, true);
  score_ward("3,test,positive\n3,NA,\n3,late,\n3,treat,positive\n3,test,negative\n", 2, true);
  /* A missed response is neither a decision to wait nor an unrecorded decision. */
  const double missed = score_ward("1,test,positive\n1,late,negative\n1,test,\n", 1, true);
  const double decided = score_ward("1,test,positive\n1,wait,negative\n1,test,\n", 0, true);
  const double blank = score_ward("1,test,positive\n1,,negative\n1,test,\n", 0, false);
  assert_true(fabs(missed - decided) > 0.01 && fabs(missed - blank) > 0.01);
}

/* Row by row through the behaviour: log-probability of each decision, 0 where there was none, and
 * the other evidence of the row. Returns the sum of squared distances between policy and decision.
 */
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
  /* A scorer can be reused: the second run must not add to the first. */
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

/* The squared distance of a uniform policy is (1/2)^2 + (1/2)^2 over two available actions of
 * three, and 2/3 over three. */
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

/* A nearly deterministic agent: an action it practically never takes has a finite, tiny
 * probability, not -inf. */
static void rare_actions_stay_finite(void **state)
{
  (void)state;
  for (int evaluate = 0; evaluate < 2; evaluate++) {
    idm_problem *problem = support_diag(1e-3, 1000, 0.001);
    problem->agent.evaluate = (idm_evaluate)evaluate;
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_data *data = support_data(problem, "agent,action,observation\n1,declare_healthy,\n");
    const double score = support_score(workspace, data);
    /* Q(declare) - V at 1/2 is about -13.3, to be divided by alpha. */
    assert_true(isfinite(score) && score < -1e4 && score > -1e5);
    support_set(problem, 0, 1000, 0.001);
    check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
    assert_true(support_score(workspace, data) == -INFINITY);
    idm_data_destroy(data);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* The first state of an MDP is not in the log. Its first decision is averaged over the start
 * distribution, and the next state is informative about the first. */
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
      cmocka_unit_test(missed_responses_move_beliefs),
      cmocka_unit_test(decisions_one_by_one),
      cmocka_unit_test(brier_by_hand),
      cmocka_unit_test(rare_actions_stay_finite),
      cmocka_unit_test(an_mdp_with_an_unknown_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
