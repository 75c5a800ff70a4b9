/* Tests td-learner against a direct loop over agents, trajectories and rows, and which trajectories
 * share a memory. */
#include <math.h>

#include "plan/tabular/td_support.h"

/* The log-likelihood by a direct loop. */
static double plain_score(const idm_problem *p, const idm_data *data)
{
  double b[TD_OWNS], total = 0;
  const double kappa = idm_theta_scalar(p->theta, IDM_PERSEVERANCE);
  const double lapse = idm_theta_scalar(p->theta, IDM_LAPSE);
  const double discount = idm_theta_scalar(p->theta, IDM_DISCOUNT);
  for (size_t i = 0; i < TD_OWNS; i++) b[i] = idm_theta_scalar(p->theta, IDM_BLOCK_COUNT + i);
  for (size_t a = 0; a < data->agent_name.count; a++) {
    double q[TD_STATES][TD_ACTIONS];
    for (size_t i = 0; i < (size_t)TD_STATES * TD_ACTIONS; i++)
      q[i / TD_ACTIONS][i % TD_ACTIONS] = b[TD_INITIAL];
    for (size_t t = 0; t < data->trajectories; t++) {
      size_t s = p->setting->fully_observed ? 1 : 0;
      int last = -1;
      for (size_t r = data->first[t]; data->agent[t] == a && r < data->first[t + 1]; r++) {
        const int u = data->action[r];
        double sum = 0, best = -INFINITY;
        if (idm_data_missed(data, r)) { /* values decay, and the last response is kept */
          for (int v = 0; v < TD_ACTIONS; v++) q[s][v] *= p->agent.fictive ? 1 : 1 - b[TD_DECAY];
          if (p->setting->fully_observed) s = (size_t)data->observation[r];
          continue;
        }
        for (int v = 0; v < TD_ACTIONS; v++) sum += exp(b[0] * q[s][v] + kappa * (v == last));
        total +=
            log((1 - lapse) * exp(b[0] * q[s][u] + kappa * (u == last)) / sum + lapse / TD_ACTIONS);
        const bool ends = p->setting->ends[u];
        const size_t next = p->setting->fully_observed && !ends ? (size_t)data->observation[r] : 0;
        for (int v = 0; v < TD_ACTIONS; v++) best = fmax(best, q[next][v]);
        const double reward = data->number[IDM_COLUMN_REWARD][r];
        const double error = reward + (ends ? 0 : discount * best) - q[s][u];
        const bool gain = p->agent.asymmetry == IDM_ASYMMETRY_OUTCOME ? reward > 0 : error >= 0;
        const double rate = b[gain ? TD_GAIN : TD_LOSS];
        for (int v = 0; v < TD_ACTIONS; v++)
          if (v != u)
            q[s][v] = p->agent.fictive ? q[s][v] + rate * (-reward - q[s][v])
                                       : (1 - b[TD_DECAY]) * q[s][v];
        q[s][u] += rate * error;
        s = next;
        last = u;
      }
    }
  }
  return total;
}

static void likelihoods_are_those_of_a_plain_loop(void **state)
{
  (void)state;
  for (unsigned kind = 0; kind < TD_KINDS; kind++)
    for (uint64_t seed = 1; seed < 4; seed++) {
      td_bench b = td_open(kind, seed);
      assert_near(td_score(&b, b.problem->theta), plain_score(b.problem, b.data), 1e-12);
      td_close(&b);
    }
}

/* Missed responses have no likelihood. */
static void missed_responses_are_those_of_a_plain_loop(void **state)
{
  (void)state;
  for (unsigned kind = 0; kind < TD_KINDS; kind++) {
    td_bench b = td_open_missed(kind, 11, 0.3), whole = td_open(kind, 11);
    size_t missed = 0;
    for (size_t row = 0; row < b.data->rows; row++) missed += idm_data_missed(b.data, row);
    assert_true(missed > 10);
    const double found = td_score(&b, b.problem->theta);
    assert_near(found, plain_score(b.problem, b.data), 1e-12);
    assert_true(fabs(found - td_score(&whole, whole.problem->theta)) > 0.1);
    td_close(&b);
    td_close(&whole);
  }
}

static const char bandit[] =
    "states: 1\nactions: [left, right]\ndiscount: 0\nutility: {\"*\": 0}\n"
    "agent: {planner: td-learner, inverse_temperature: 2, learning_rate_gain: 0.4, "
    "learning_rate_loss: 0.2, initial_value: 0.5, perseverance: 0.8, lapse: 0.05}\n"
    "data: {missed: [late, NA], missing: NA}\n";

static double score_of(const idm_problem *problem, const char *csv)
{
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = support_data(problem, csv);
  const double found = support_score(workspace, data);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  return found;
}

/* Without decay a missed trial has no effect: the learner ignores its reward and perseverates on
 * the response before it. With decay it has an effect. */
static void missed_trials_without_decay_change_nothing(void **state)
{
  (void)state;
  static const char with[] = "agent,action,reward\n"
                             "a,left,1\na,late,\na,left,0\na,NA,-3\na,late,NA\na,right,1\n"
                             "b,late,\nb,right,0\nb,left,1\nb,late,2\n";
  static const char without[] = "agent,action,reward\n"
                                "a,left,1\na,left,0\na,right,1\nb,right,0\nb,left,1\n";
  idm_problem *problem = support_yaml(bandit);
  assert_near(score_of(problem, with), score_of(problem, without), 1e-14);
  idm_theta_set_scalar(problem->theta, IDM_BLOCK_COUNT + TD_DECAY, 0.3);
  assert_true(fabs(score_of(problem, with) - score_of(problem, without)) > 1e-3);
  /* One trial, then a missed one: .5 + .4 (1 - .5) and .5 (1 - .3), both times 1 - .3. */
  static const char three[] = "agent,action,reward\na,left,1\na,late,\na,right,0\n";
  const double left = 0.7 * 0.7, right = 0.7 * 0.35;
  const double odds = exp(2 * (left - right) + 0.8);
  assert_near(score_of(problem, three), log(0.5) + log(0.95 / (1 + odds) + 0.025), 1e-13);
  idm_problem_destroy(problem);
}

/* Trajectories of one agent share a memory; trajectories of two agents do not. */
static void memories_are_of_agents(void **state)
{
  (void)state;
  td_bench b = td_open(1, 7);
  const double together = td_score(&b, b.problem->theta);
  for (size_t t = 0; t < b.data->trajectories; t++) b.data->agent[t] = 0;
  idm_scorer_destroy(b.scorer);
  idm_prefix_tree_destroy(b.tree);
  check(idm_evidence_tree(b.problem, b.data, &b.tree, &support_error));
  check(idm_scorer_create(b.data, b.tree, &b.scorer, &support_error));
  const double as_one = td_score(&b, b.problem->theta);
  assert_true(fabs(together - as_one) > 0.1);
  assert_near(as_one, plain_score(b.problem, b.data), 1e-12);
  td_close(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(likelihoods_are_those_of_a_plain_loop),
      cmocka_unit_test(missed_responses_are_those_of_a_plain_loop),
      cmocka_unit_test(missed_trials_without_decay_change_nothing),
      cmocka_unit_test(memories_are_of_agents),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
