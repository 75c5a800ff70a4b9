/* Tests the likelihood of a controller against sums over all paths through its nodes, and rejected
 * logs. */
#include "plan/tabular/learner.h"

#include <math.h>
#include <string.h>

#include "idm/extension/data.h"
#include "plan/tabular/controller_support.h"

/* --- likelihood ----------------------------------------------------------------------------- */

/* The probability of a node's choice with perseverance and lapse, by the formula. */
static double choice(const idm_problem *p, const controller *c, size_t node, int last, size_t u)
{
  const double kappa = idm_theta_scalar(p->theta, IDM_PERSEVERANCE);
  const double lapse = idm_theta_scalar(p->theta, IDM_LAPSE);
  const double *pi = c->learnt[0].choice + node * c->sizes.actions;
  double total = 0;
  for (size_t v = 0; v < c->sizes.actions; v++) total += pi[v] * exp(kappa * (last == (int)v));
  return (1 - lapse) * pi[u] * exp(kappa * (last == (int)u)) / total +
         lapse / (double)c->sizes.actions;
}

/* The probability of all actions from a row on: a sum over every path through the nodes. */
static double ways(const idm_problem *p, const controller *c, const idm_data *data, size_t row,
                   size_t end, size_t node, int last)
{
  if (row == end) return 1;
  const size_t u = (size_t)data->action[row];
  const double chosen = choice(p, c, node, last, u);
  if (row + 1 == end) return chosen;
  const size_t x = (size_t)data->observation[row];
  const double *node_transition =
      c->learnt[0].node_transition +
      ((node * c->sizes.actions + u) * c->sizes.observations + x) * c->nodes;
  double total = 0;
  for (size_t n = 0; n < c->nodes; n++)
    total += node_transition[n] * ways(p, c, data, row + 1, end, n, (int)u);
  return chosen * total;
}

static void the_likelihood_sums_over_all_ways(void **state)
{
  (void)state;
  idm_problem *problem = controller_read("example:tiger", "budget=300000");
  support_assign(problem, "nodes=4");
  idm_theta_set_scalar(problem->theta, IDM_PERSEVERANCE, 0.7);
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0.2);
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_behavior b = idm_workspace_behavior(workspace);
  const idm_simulation simulation = {.trajectories = 20, .steps = 6, .seed = 5};
  idm_data *data;
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  check(idm_simulate(problem->setting, b, &simulation, &data, &support_error));
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  check(idm_scorer_run(scorer, b, &score, &support_error));
  double expected = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    expected += log(ways(problem, controller_of(workspace), data, data->first[t],
                         data->first[t + 1], 0, IDM_MISSING));
  assert_near(score.log_likelihood, expected, 1e-11);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* --- rejected input ------------------------------------------------------------------------- */

static void gaps_are_refused(void **state)
{
  (void)state;
  idm_problem *problem = controller_read("example:tiger", "budget=1000");
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_behavior b = idm_workspace_behavior(workspace);
  void *memory;
  double p[3];
  check(b.ops->memory_create(b.content, &memory, &support_error));
  check(b.ops->begin_agent(b.content, memory, &support_error));
  check(b.ops->begin_trajectory(b.content, memory, memory, 0, NULL, &support_error));
  check(b.ops->act(b.content, memory, NULL, p, &support_error));
  idm_event event = {.action = IDM_MISSING, .observation = 0};
  assert_int_equal(b.ops->observe(b.content, memory, memory, &event, NULL, NULL, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "an action was not recorded"));
  event = (idm_event){.action = 0, .observation = IDM_MISSING};
  assert_int_equal(b.ops->observe(b.content, memory, memory, &event, NULL, NULL, &support_error),
                   IDM_INPUT);
  event.last = true;
  check(b.ops->observe(b.content, memory, memory, &event, NULL, NULL, &support_error));
  assert_int_equal(b.ops->begin_trajectory(b.content, memory, memory, 1, NULL, &support_error),
                   IDM_USAGE);
  b.ops->memory_destroy(memory);
  idm_workspace_destroy(workspace);
  support_assign(problem, "horizon=3");
  assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                        &workspace, &support_error),
                   IDM_INPUT);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_likelihood_sums_over_all_ways),
      cmocka_unit_test(gaps_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
