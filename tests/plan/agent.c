/* Agents that act step by step, against the functions of the plan, Bayes' rule and the likelihood;
 * simulated logs against the plan and the environment. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "idm/plan.h"
#include "support.h"

/* An agent on a new plan of a problem. */
typedef struct acting {
  idm_workspace *workspace;
  idm_agent *agent;
} acting;

static acting open_agent(const idm_problem *problem, uint64_t seed)
{
  acting a;
  check(idm_solve(problem, &a.workspace, &support_error));
  check(idm_agent_create(a.workspace, seed, &a.agent, &support_error));
  return a;
}

static void close_agent(acting *a)
{
  idm_agent_destroy(a->agent);
  idm_workspace_destroy(a->workspace);
}

static const double *probabilities(const acting *a, size_t actions)
{
  const double *p;
  size_t length;
  check(idm_agent_probabilities(a->agent, &p, &length, &support_error));
  assert_int_equal(length, actions);
  return p;
}

static const double *belief(const acting *a, size_t states)
{
  const double *z;
  size_t length;
  check(idm_agent_belief(a->agent, &z, &length, &support_error));
  assert_int_equal(length, states);
  return z;
}

/* --- the plan ------------------------------------------------------------------------------- */

/* Biased choices, three models and a horizon: the policy depends on belief, step and last action.
 */
static const char ward[] =
    "states: [well, ill]\nactions: [test, treat, wait]\nobservations: [negative, positive]\n"
    "start: [0.6, 0.4]\ndiscount: 0.9\nhorizon: 6\n"
    "transition: {test: identity, treat: [[1, 0], [0.7, 0.3]], wait: [[0.8, 0.2], [0.1, 0.9]]}\n"
    "observation: {test: [[0.8, 0.2], [0.3, 0.7]], treat: uniform, wait: [[0.6, 0.4], [0.4, "
    "0.6]]}\n"
    "utility: {test: -1, treat: [-2, 5], wait: [0, -1]}\n"
    "models:\n  - {weight: 1}\n"
    "  - {weight: 2, observation: {test: [[0.9, 0.1], [0.1, 0.9]], treat: uniform, wait: "
    "uniform}}\n"
    "agent: {alpha: 0.7, beta: 2, eta: 0.4, perseverance: 0.9, lapse: 0.1, resolution: 30}\n";

/* Choice and belief of the agent are those of the plan at the belief that it recognises. */
static void probabilities_are_those_of_the_plan(void **state)
{
  (void)state;
  static const size_t path[][2] = {{0, 1}, {0, 1}, {2, 0}, {1, 1}, {0, 0}, {2, 1}};
  idm_problem *problem = support_yaml(ward);
  acting a = open_agent(problem, 1);
  for (int trajectory = 0; trajectory < 2; trajectory++) {
    const double start[] = {trajectory ? 0.2 : 0.6, trajectory ? 0.8 : 0.4};
    double z[2] = {start[0], start[1]}, next[2], choice[3];
    int last = IDM_MISSING;
    check(idm_agent_begin(a.agent, trajectory ? start : NULL, &support_error));
    for (int step = 0; step < 6; step++) {
      const size_t u = path[step][0], x = path[step][1];
      idm_plan_choice(a.workspace, 0, step, z, last, choice);
      const double *p = probabilities(&a, 3);
      double sum = 0;
      for (size_t v = 0; v < 3; v++) assert_near(p[v], choice[v], 1e-12);
      for (size_t v = 0; v < 3; v++) sum += p[v];
      assert_near(sum, 1, 1e-12);
      for (size_t s = 0; s < 2; s++) assert_near(belief(&a, 2)[s], z[s], 1e-12);
      assert_true(idm_plan_recognise(a.workspace, 0, step, z, u, x, next) > 0);
      check(idm_agent_observe(a.agent, u, x, 0, &support_error));
      memcpy(z, next, sizeof z);
      last = (int)u;
    }
  }
  close_agent(&a);
  idm_problem_destroy(problem);
}

/* A rational agent with one model, the environment: its belief is a Bayes filter's. */
static void belief_is_bayes_rule(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 11, 0);
  for (int again = 0; again < 5; again++) {
    idm_problem *problem = support_problem(
        (support_shape){.states = 3, .actions = 2, .observations = 4, .models = 1, .resolution = 8},
        &random);
    support_assign(problem, "alpha=0");
    support_assign(problem, "beta=inf");
    support_assign(problem, "eta=0");
    acting a = open_agent(problem, 1);
    const double *start, *transition, *emission;
    size_t length;
    double z[3];
    check(idm_problem_numbers(problem, "start", &start, &length, &support_error));
    check(idm_problem_numbers(problem, "environment.transition", &transition, &length,
                              &support_error));
    check(idm_problem_numbers(problem, "environment.observation", &emission, &length,
                              &support_error));
    memcpy(z, start, sizeof z);
    check(idm_agent_begin(a.agent, NULL, &support_error));
    for (int step = 0; step < 8; step++) {
      const size_t u = (size_t)(idm_random_uniform(&random) * 2);
      const size_t x = (size_t)(idm_random_uniform(&random) * 4);
      double next[3] = {0}, sum = 0;
      for (size_t s = 0; s < 3; s++) assert_near(belief(&a, 3)[s], z[s], 1e-12);
      for (size_t to = 0; to < 3; to++) {
        for (size_t from = 0; from < 3; from++)
          next[to] += z[from] * transition[(u * 3 + from) * 3 + to];
        sum += next[to] *= emission[(u * 3 + to) * 4 + x];
      }
      for (size_t s = 0; s < 3; s++) z[s] = next[s] / sum;
      check(idm_agent_observe(a.agent, u, x, 0, &support_error));
    }
    close_agent(&a);
    idm_problem_destroy(problem);
  }
}

/* Draws have the agent's probabilities, up to 4.5 standard errors (seven in a million per action),
 * and a seed fixes them. */
static void actions_are_drawn_from_the_probabilities(void **state)
{
  (void)state;
  enum { DRAWS = 20000 };
  idm_problem *problem = support_yaml(ward);
  acting a = open_agent(problem, 5), b = open_agent(problem, 5), c = open_agent(problem, 6);
  size_t count[3] = {0}, same = 0;
  double p[3];
  check(idm_agent_begin(a.agent, NULL, &support_error));
  check(idm_agent_begin(b.agent, NULL, &support_error));
  check(idm_agent_begin(c.agent, NULL, &support_error));
  memcpy(p, probabilities(&a, 3), sizeof p);
  for (int i = 0; i < DRAWS; i++) {
    size_t u, of_b, of_c;
    check(idm_agent_act(a.agent, &u, &support_error));
    check(idm_agent_act(b.agent, &of_b, &support_error));
    check(idm_agent_act(c.agent, &of_c, &support_error));
    assert_int_equal(u, of_b);
    same += u == of_c;
    count[u]++;
  }
  for (size_t u = 0; u < 3; u++)
    assert_true(fabs((double)count[u] / DRAWS - p[u]) < 4.5 * sqrt(p[u] * (1 - p[u]) / DRAWS));
  assert_true(same < DRAWS);
  close_agent(&a);
  close_agent(&b);
  close_agent(&c);
  idm_problem_destroy(problem);
}

/* --- the likelihood ------------------------------------------------------------------------- */

/* Log-likelihood of a log by stepping one agent per agent of the log, into by_agent[agents], and
 * the Brier score. */
static double step_through(const idm_problem *problem, const idm_data *data, const double *reward,
                           double *by_agent, double *brier)
{
  size_t rows, actions = idm_problem_actions(problem);
  const int32_t *action = idm_data_actions(data, &rows);
  const int32_t *observation = idm_data_observations(data, NULL);
  const size_t *first = idm_data_first_rows(data, NULL);
  const uint32_t *of = idm_data_trajectory_agents(data, NULL);
  double total = 0;
  *brier = 0;
  for (size_t agent = 0; agent < idm_data_agents(data); agent++) {
    acting a = open_agent(problem, 1);
    by_agent[agent] = 0;
    for (size_t t = 0; t < idm_data_trajectories(data); t++) {
      if (of[t] != agent) continue;
      check(idm_agent_begin(a.agent, NULL, &support_error));
      for (size_t row = first[t]; row < first[t + 1]; row++) {
        const double *p = probabilities(&a, actions);
        const size_t u = (size_t)action[row];
        by_agent[agent] += log(p[u]);
        for (size_t v = 0; v < actions; v++) *brier += (p[v] - (v == u)) * (p[v] - (v == u));
        if (observation[row] != IDM_MISSING)
          check(idm_agent_observe(a.agent, u, (size_t)observation[row], reward ? reward[row] : 0,
                                  &support_error));
      }
    }
    total += by_agent[agent];
    close_agent(&a);
  }
  return total;
}

static void check_score(const idm_problem *problem, const idm_data *data, const double *reward)
{
  double agents[8], stepped[8], brier;
  idm_score score;
  assert_true(idm_data_agents(data) <= 8);
  const double total = step_through(problem, data, reward, stepped, &brier);
  check(idm_score_log(problem, data, &score, agents, &support_error));
  assert_near(score.log_likelihood, total, 1e-11);
  for (size_t i = 0; i < idm_data_agents(data); i++) assert_near(agents[i], stepped[i], 1e-11);
  assert_near(score.brier, brier, 1e-11);
  assert_int_equal(score.decisions, idm_data_rows(data));
  assert_int_equal(score.forced + score.missed + score.unrecorded, 0);
  assert_int_equal(score.impossible_line, 0);
  idm_score without;
  check(idm_score_log(problem, data, &without, NULL, &support_error));
  assert_true(without.log_likelihood == score.log_likelihood);
}

/* Agents that plan forget between trajectories. */
static void score_is_the_sum_over_steps(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(ward);
  idm_data *data;
  check(idm_simulate_log(problem, 8, 0, 3, &data, &support_error));
  check_score(problem, data, NULL);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Learners keep their values: the trajectories of two people, who learn from rewards. */
static void score_of_a_learner(void **state)
{
  (void)state;
  enum { ROWS = 24 };
  idm_problem *problem = support_yaml(
      "states: [left, right]\nactions: [l, r]\nobservations: states\nstart: [1, 0]\ndiscount: 0.9\n"
      "transition: {l: uniform, r: uniform}\nutility: {l: [1, 0], r: [0, 1]}\n"
      "agent: {planner: td-learner}\n");
  int32_t action[ROWS], observation[ROWS];
  int64_t trajectory[ROWS], person[ROWS];
  double reward[ROWS];
  idm_random random;
  idm_random_init(&random, 2, 0);
  for (size_t row = 0; row < ROWS; row++) {
    action[row] = idm_random_uniform(&random) < 0.5;
    observation[row] = idm_random_uniform(&random) < 0.5;
    reward[row] = idm_random_uniform(&random);
    trajectory[row] = (int64_t)(row / 6);
    person[row] = (int64_t)(row / 6 % 2);
  }
  idm_data *data;
  check(idm_data_from_arrays(problem,
                             &(idm_data_arrays){.size = sizeof(idm_data_arrays),
                                                .rows = ROWS,
                                                .action = action,
                                                .observation = observation,
                                                .trajectory = trajectory,
                                                .opt_agent = person,
                                                .opt_reward = reward},
                             &data, &support_error));
  check_score(problem, data, reward);
  acting a = open_agent(problem, 1);
  const double *z;
  size_t length;
  idm_error error = {0};
  check(idm_agent_begin(a.agent, NULL, &support_error));
  assert_int_equal(idm_agent_belief(a.agent, &z, &length, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "no belief"));
  assert_true(!z && !length);
  close_agent(&a);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* A decision of probability 0 has its line; an observation that no model allows is an error. */
static void score_of_what_is_impossible(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0, INFINITY, 0);
  static const char rows[] = "trajectory,action,observation\n1,monitor,negative\n"
                             "1,declare_diseased,negative\n";
  idm_data *data;
  idm_score score;
  check(idm_data_parse(problem, rows, strlen(rows), NULL, &data, NULL, &support_error));
  check(idm_score_log(problem, data, &score, NULL, &support_error));
  assert_true(score.log_likelihood == -INFINITY);
  assert_int_equal(score.impossible_line, 3);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- simulated logs ------------------------------------------------------------------------- */

static bool same_log(const idm_data *a, const idm_data *b)
{
  const size_t rows = idm_data_rows(a);
  return rows == idm_data_rows(b) &&
         !memcmp(idm_data_actions(a, NULL), idm_data_actions(b, NULL), rows * sizeof(int32_t)) &&
         !memcmp(idm_data_observations(a, NULL), idm_data_observations(b, NULL),
                 rows * sizeof(int32_t));
}

/* First actions have the plan's probabilities, up to 4.5 standard errors; trajectories end with a
 * declaration or at the limit; trajectory i does not depend on how many there are. */
static void simulated_logs(void **state)
{
  (void)state;
  enum { TRAJECTORIES = 4000, STEPS = 3 };
  idm_problem *problem = support_diag(2, 1.25, 0.1);
  idm_data *data, *again, *other, *few;
  check(idm_simulate_log(problem, TRAJECTORIES, STEPS, 4, &data, &support_error));
  check(idm_simulate_log(problem, TRAJECTORIES, STEPS, 4, &again, &support_error));
  check(idm_simulate_log(problem, TRAJECTORIES, STEPS, 5, &other, &support_error));
  check(idm_simulate_log(problem, 10, STEPS, 4, &few, &support_error));
  assert_true(same_log(data, again));
  assert_false(same_log(data, other));
  assert_int_equal(idm_data_trajectories(data), TRAJECTORIES);
  const int32_t *action = idm_data_actions(data, NULL);
  const size_t *first = idm_data_first_rows(data, NULL);
  assert_memory_equal(action, idm_data_actions(few, NULL), idm_data_rows(few) * sizeof *action);
  assert_int_equal(first[10], idm_data_rows(few));
  acting a = open_agent(problem, 1);
  check(idm_agent_begin(a.agent, NULL, &support_error));
  const double *p = probabilities(&a, 3);
  size_t count[3] = {0};
  for (size_t t = 0; t < TRAJECTORIES; t++) {
    const size_t steps = first[t + 1] - first[t];
    count[action[first[t]]]++;
    assert_true(steps >= 1 && steps <= STEPS);
    for (size_t row = first[t]; row + 1 < first[t + 1]; row++) assert_int_equal(action[row], 2);
    if (steps < STEPS) assert_int_not_equal(action[first[t + 1] - 1], 2);
  }
  for (size_t u = 0; u < 3; u++)
    assert_true(fabs((double)count[u] / TRAJECTORIES - p[u]) <
                4.5 * sqrt(p[u] * (1 - p[u]) / TRAJECTORIES) + 1e-9);
  close_agent(&a);
  idm_data_destroy(data);
  idm_data_destroy(again);
  idm_data_destroy(other);
  idm_data_destroy(few);
  idm_problem_destroy(problem);
}

/* With 0 steps, a trajectory that nothing ends is as long as the horizon, or has 1000 steps. */
static void steps_of_simulated_logs(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(ward), *endless;
  idm_data *data;
  idm_error error = {0};
  check(idm_simulate_log(problem, 2, 0, 1, &data, &support_error));
  assert_int_equal(idm_data_rows(data), 12);
  idm_data_destroy(data);
  /* Nothing ends a trajectory. */
  endless = support_yaml("states: [a, b]\nactions: [u]\nobservations: states\ndiscount: 0.9\n"
                         "transition: {u: uniform}\nutility: {u: 0}\nagent: {alpha: 1}\n");
  check(idm_simulate_log(endless, 2, 0, 1, &data, &support_error));
  assert_int_equal(idm_data_rows(data), 2000);
  idm_data_destroy(data);
  idm_problem_destroy(endless);
  assert_int_equal(idm_simulate_log(problem, 0, 3, 1, &data, &error), IDM_USAGE);
  assert_null(data);
  assert_int_equal(idm_simulate_log(problem, 3, -1, 1, &data, &error), IDM_USAGE);
  assert_null(data);
  support_assign(problem, "utility.wait=fee");
  assert_int_equal(idm_simulate_log(problem, 3, 3, 1, &data, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "utilities from columns"));
  assert_null(data);
  idm_problem_destroy(problem);
}

/* --- refusals ------------------------------------------------------------------------------- */

static void expect_no_begin(const acting *a, const double *start)
{
  idm_error error = {0};
  assert_int_equal(idm_agent_begin(a->agent, start, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "start belief"));
}

static void bad_arguments_are_refused(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(ward);
  acting a = open_agent(problem, 1);
  idm_error error = {0};
  const double *p;
  size_t length = 7, u;
  /* Before the first trajectory. */
  assert_int_equal(idm_agent_probabilities(a.agent, &p, &length, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "idm_agent_begin"));
  assert_true(!p && !length);
  assert_int_equal(idm_agent_belief(a.agent, &p, &length, &error), IDM_USAGE);
  assert_true(!p && !length);
  assert_int_equal(idm_agent_act(a.agent, &u, &error), IDM_USAGE);
  assert_int_equal(idm_agent_observe(a.agent, 0, 0, 0, &error), IDM_USAGE);
  expect_no_begin(&a, (const double[]){0.5, 0.6});
  expect_no_begin(&a, (const double[]){-0.5, 1.5});
  expect_no_begin(&a, (const double[]){NAN, 1});
  expect_no_begin(&a, (const double[]){0, INFINITY});
  check(idm_agent_begin(a.agent, NULL, &support_error));
  assert_int_equal(idm_agent_observe(a.agent, 3, 0, 0, &error), IDM_USAGE);
  assert_int_equal(idm_agent_observe(a.agent, 0, 2, 0, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "out of range"));
  /* What was refused changed nothing. */
  assert_near(belief(&a, 2)[0], 0.6, 1e-12);

  idm_workspace *workspace;
  idm_agent *agent;
  idm_data *data;
  idm_score score;
  assert_int_equal(idm_solve(NULL, &workspace, &error), IDM_USAGE);
  assert_int_equal(idm_solve(problem, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_agent_create(NULL, 1, &agent, &error), IDM_USAGE);
  assert_int_equal(idm_agent_create(a.workspace, 1, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_agent_begin(NULL, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_agent_probabilities(NULL, &p, &length, &error), IDM_USAGE);
  assert_int_equal(idm_agent_act(a.agent, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_agent_observe(NULL, 0, 0, 0, &error), IDM_USAGE);
  assert_int_equal(idm_agent_belief(a.agent, &p, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_simulate_log(NULL, 1, 1, 1, &data, &error), IDM_USAGE);
  assert_int_equal(idm_score_log(problem, NULL, &score, NULL, &error), IDM_USAGE);
  idm_agent_destroy(NULL);
  idm_workspace_destroy(NULL);
  assert_int_equal(idm_workspace_points(NULL), 0);
  assert_true(idm_workspace_points(a.workspace) > 0);
  close_agent(&a);
  problem->setting->start[0] = 2;
  assert_int_equal(idm_solve(problem, &workspace, &error), IDM_INPUT);
  assert_null(workspace);
  idm_problem_destroy(problem);
}

/* An observation that no model of the agent allows; the agent stays where it was. */
static void excluded_observations(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [a, b]\nactions: [look]\nobservations: [x, y, z]\ndiscount: 0.9\n"
                   "transition: {look: identity}\n"
                   "observation: {look: [[0.5, 0.5, 0], [0.2, 0.8, 0]]}\nutility: {look: 0}\n"
                   "agent: {alpha: 1}\n");
  acting a = open_agent(problem, 1);
  idm_error error = {0};
  check(idm_agent_begin(a.agent, NULL, &support_error));
  check(idm_agent_observe(a.agent, 0, 0, 0, &support_error));
  assert_near(belief(&a, 2)[0], 5. / 7, 1e-12);
  assert_int_equal(idm_agent_observe(a.agent, 0, 2, 0, &error), IDM_INPUT);
  assert_near(belief(&a, 2)[0], 5. / 7, 1e-12);
  check(idm_agent_observe(a.agent, 0, 0, 0, &support_error));
  assert_near(belief(&a, 2)[0], 25. / 29, 1e-12);
  close_agent(&a);
  idm_problem_destroy(problem);
}

/* A capacity determines its multiplier, as `idm solve` does: the plan has the complexity of the
 * capacity. Evaluations out of range are NaN. */
static void capacities_are_met(void **state)
{
  (void)state;
  idm_problem *problem = NULL;
  idm_workspace *workspace = NULL;
  idm_forward forward;
  double quality[3] = {0, 0, 0};
  check(idm_problem_read("example:diag", &problem, NULL, &support_error));
  check(idm_problem_set(problem, "decision_capacity=0.3", &support_error));
  check(idm_solve(problem, &workspace, &support_error));
  check(idm_plan_forward(workspace, 0, &forward, NULL, &support_error));
  assert_near(forward.decision, 0.3, 1e-4);
  idm_plan_quality(workspace, 1, 0, (const double[]){0.5, 0.5}, quality);
  for (size_t u = 0; u < 3; u++) assert_true(isnan(quality[u]));
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(capacities_are_met),
      cmocka_unit_test(probabilities_are_those_of_the_plan),
      cmocka_unit_test(belief_is_bayes_rule),
      cmocka_unit_test(actions_are_drawn_from_the_probabilities),
      cmocka_unit_test(score_is_the_sum_over_steps),
      cmocka_unit_test(score_of_a_learner),
      cmocka_unit_test(score_of_what_is_impossible),
      cmocka_unit_test(simulated_logs),
      cmocka_unit_test(steps_of_simulated_logs),
      cmocka_unit_test(bad_arguments_are_refused),
      cmocka_unit_test(excluded_observations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
