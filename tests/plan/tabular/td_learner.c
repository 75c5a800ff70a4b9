/* td-learner against a plain loop over agents, trajectories and rows; who shares a memory. */
#include <math.h>

#include "plan/tabular/td_support.h"

/* The log-likelihood as TABLES writes it. */
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

/* One agent's trajectories share a memory; given to two agents, they do not. */
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
      cmocka_unit_test(memories_are_of_agents),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
