/* Regularised margins: the stationarity condition and moments written out, hidden states, refusals,
 * and invariance under permuted names. */
#include <math.h>
#include <string.h>

#include "invert/utility/belief_occupancy_support.h"
#include "invert/utility/mdp_support.h"
#include "invert/utility/walk.h"

static const char name[] = "regularised-margin";

static idm_fit_settings with_lambda(double lambda)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.lambda = lambda;
  return settings;
}

/* Choice frequencies of a log. */
static void frequencies(const idm_problem *problem, const idm_data *data, double *policy)
{
  const size_t actions = problem->setting->actions.count, states = problem->setting->states.count;
  memset(policy, 0, states * actions * sizeof *policy);
  for (size_t t = 0; t < data->trajectories; t++) {
    size_t now = 0;
    for (size_t r = data->first[t]; r < data->first[t + 1]; r++) {
      policy[now * actions + (size_t)data->action[r]]++;
      now = (size_t)data->observation[r];
    }
  }
  for (size_t s = 0; s < states; s++) {
    double sum = 0;
    for (size_t u = 0; u < actions; u++) sum += policy[s * actions + u];
    for (size_t u = 0; u < actions; u++) policy[s * actions + u] /= sum;
  }
}

/* u = lambda (mu_demo - mu), with mu the occupancy of the planner's policy at the estimate. */
static void utilities_are_gaps_of_occupancy(void **state)
{
  (void)state;
  static const double lambdas[] = {0.5, 10, 1000};
  for (size_t l = 0; l < 3; l++) {
    idm_problem *problem = support_yaml(WALK);
    idm_data *data =
        support_simulate(problem, (idm_simulation){.trajectories = 40, .steps = 20, .seed = 2});
    check(idm_problem_set_free(problem, "utility", &support_error));
    const idm_fit_settings settings = with_lambda(lambdas[l]);
    idm_posterior *p = support_fit(name, problem, data, &settings);
    idm_mdp *mdp = support_create_mdp(problem);
    double policy[6], demonstrated[6], own[6];
    frequencies(problem, data, policy);
    check(idm_mdp_occupancy(mdp, policy, demonstrated, &support_error));
    check(idm_mdp_occupancy(mdp, p->optimality->policy, own, &support_error));
    for (size_t u = 0; u < 2; u++)
      for (size_t s = 0; s < 3; s++)
        assert_near(p->value[u * 3 + s], lambdas[l] * (demonstrated[s * 2 + u] - own[s * 2 + u]),
                    1e-7);
    assert_true(idm_optimality_certified(p->optimality));
    assert_int_equal(p->optimality->open, 3);
    idm_mdp_destroy(mdp);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

static void no_price_gives_the_frequencies(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 60, .steps = 20, .seed = 3});
  check(idm_problem_set_free(problem, "utility", &support_error));
  const idm_fit_settings settings = with_lambda(INFINITY);
  idm_posterior *p = support_fit(name, problem, data, &settings);
  double policy[6];
  frequencies(problem, data, policy);
  for (size_t i = 0; i < 6; i++) assert_near(p->optimality->policy[i], policy[i], 1e-9);
  for (size_t i = 0; i < p->optimality->open; i++) {
    double product = 0;
    for (size_t k = 0; k < 6; k++) product += p->optimality->direction[i * 6 + k] * p->value[k];
    assert_near(product, 0, 1e-13);
  }
  assert_true(p->optimality->attained <= 1e-9);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* With a horizon and tied utilities, the moments of the tied numbers match, by sums over the steps
 * of the planner's policies. */
static void moments_over_a_horizon(void **state)
{
  (void)state;
  enum { T = 6 };
  idm_problem *problem = support_yaml(
      WALK_MATRICES "horizon: 6\n"
                    "free: {utility: {entries: {a: [left.a, right.a], b: [left.b, right.b], "
                    "c: [left.c, right.c]}}}\n");
  idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 400, .seed = 3});
  const idm_fit_settings settings = with_lambda(INFINITY);
  idm_posterior *p = support_fit(name, problem, data, &settings);
  idm_theta *theta;
  check(idm_theta_copy(problem->theta, &theta, &support_error));
  for (size_t e = 0; e < 6; e++) theta->block[IDM_UTILITY].value[e] = p->value[e % 3];
  idm_workspace *workspace;
  check(idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, &support_error));
  check(idm_plan(theta, NULL, workspace, NULL, &support_error));
  double stationary[6], law[2][3] = {{1, 0, 0}, {1, 0, 0}}, sum[2][3] = {{0}}, weight = 1;
  frequencies(problem, data, stationary);
  for (int t = 0; t < T; t++, weight *= 0.9) {
    double next[2][3] = {{0}};
    for (size_t s = 0; s < 3; s++) {
      double corner[3] = {0}, q[2], v = 0;
      corner[s] = 1;
      idm_plan_quality(workspace, 0, t, corner, q);
      for (size_t u = 0; u < 2; u++) v += 0.5 * exp(q[u]);
      for (size_t u = 0; u < 2; u++)
        for (size_t k = 0; k < 3; k++) {
          const double move = problem->setting->transition[(u * 3 + s) * 3 + k];
          next[0][k] += law[0][s] * 0.5 * exp(q[u]) / v * move;
          next[1][k] += law[1][s] * stationary[s * 2 + u] * move;
        }
      sum[0][s] += weight * law[0][s];
      sum[1][s] += weight * law[1][s];
    }
    memcpy(law, next, sizeof law);
  }
  for (size_t s = 0; s < 3; s++) assert_near(sum[0][s], sum[1][s], 1e-8);
  assert_true(idm_optimality_certified(p->optimality));
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void names_do_not_matter(void **state)
{
  (void)state;
  const size_t states = SUPPORT_TWIN_STATES;
  static const double lambdas[] = {5, INFINITY};
  support_twins twins = support_twins_create(3);
  support_twins_log(
      &twins, support_simulate(twins.problem[0],
                               (idm_simulation){.trajectories = 200, .steps = 30, .seed = 3}));
  for (size_t l = 0; l < 2; l++) {
    const idm_fit_settings settings = with_lambda(lambdas[l]);
    idm_posterior *p[2];
    for (size_t i = 0; i < 2; i++) {
      check(idm_problem_set_free(twins.problem[i], "utility", &support_error));
      p[i] = support_fit(name, twins.problem[i], twins.data[i], &settings);
    }
    assert_near(p[0]->optimality->objective, p[1]->optimality->objective, 1e-12);
    for (size_t e = 0; e < states * SUPPORT_TWIN_ACTIONS; e++)
      assert_near(p[0]->value[e],
                  p[1]->value[twins.turn[e / states] * states + twins.place[e % states]], 1e-8);
    for (size_t i = 0; i < 2; i++) idm_posterior_destroy(p[i]);
  }
  support_twins_destroy(&twins);
}

static void refusals(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  idm_data *data = support_data(problem, "trajectory,action,observation\n"
                                         "1,right,b\n1,right,c\n1,left,b\n1,left,a\n1,left,a\n");
  idm_fit_settings settings = with_lambda(INFINITY);
  support_refused(name, problem, data, &settings, "none is free");
  check(idm_problem_set_free(problem, "utility, alpha", &support_error));
  support_refused(name, problem, data, &settings, "alpha is free");
  check(idm_problem_set_free(problem, "utility", &support_error));
  support_refused(name, problem, data, &settings,
                  "actions that it never takes worse without limit");
  settings.occupancy = IDM_OCCUPANCY_EMPIRICAL;
  support_refused(name, problem, data, &settings, "--occupancy policy");
  settings = with_lambda(1);
  settings.occupancy = IDM_OCCUPANCY_EMPIRICAL;
  idm_posterior *p = support_fit(name, problem, data, &settings);
  assert_true(idm_optimality_certified(p->optimality));
  idm_posterior_destroy(p);
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0.1);
  support_refused(name, problem, data, &settings, "lapse = 0.1");
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0);
  idm_theta_set_scalar(problem->theta, IDM_PERSEVERANCE, -0.5);
  support_refused(name, problem, data, &settings, "perseverance = -0.5");
  check(idm_problem_set_planner(problem, idm_planner_find("rational"), &support_error));
  support_refused(name, problem, data, &settings, "alpha = 0");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* An action never taken in a state: with ties the moments are in the interior of those of policies,
 * so the estimate is finite and matches them. */
static void ties_keep_the_answer_finite(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      WALK "free: {utility: {entries: {stay: [left.a, right.c], go: [right.a, right.b]}}}\n");
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 40, .steps = 20, .seed = 4});
  for (size_t t = 0; t < data->trajectories; t++)
    for (size_t r = data->first[t], now = 0; r < data->first[t + 1]; r++) {
      if (now == 2 && data->action[r] == 0) data->action[r] = 1;
      now = (size_t)data->observation[r];
    }
  const idm_fit_settings settings = with_lambda(INFINITY);
  idm_posterior *p = support_fit(name, problem, data, &settings);
  idm_mdp *mdp = support_create_mdp(problem);
  double policy[6], demonstrated[6], own[6];
  frequencies(problem, data, policy);
  assert_true(policy[4] == 0); /* left in c */
  check(idm_mdp_occupancy(mdp, policy, demonstrated, &support_error));
  check(idm_mdp_occupancy(mdp, p->optimality->policy, own, &support_error));
  assert_near(own[0] + own[5], demonstrated[0] + demonstrated[5], 1e-8);
  assert_near(own[1] + own[3], demonstrated[1] + demonstrated[3], 1e-8);
  assert_true(idm_optimality_certified(p->optimality));
  idm_mdp_destroy(mdp);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* --- hidden states -------------------------------------------------------------------------- */

#define HIDDEN_AGENT "planner: bounded-rational, alpha: 0.4"

/* At the estimate the moments of beliefs and actions equal the demonstrator's up to u / lambda, by
 * plans and sums written out. Its choice probabilities are close to the truth (8,000 decisions). */
static void moments_of_beliefs(void **state)
{
  (void)state;
  belief_chain chain;
  double p[BMOST + 1][BU], q[BMOST + 1][BU], policy[BMOST + 1][BU], truth[BMOST + 1][BU];
  double utility[BU][BS];
  idm_problem *problem = belief_problem(BMOST, HIDDEN_AGENT, "utility");
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 400, .steps = 20, .seed = 4});
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.lambda = 1000;
  idm_posterior *found = support_fit("regularised-margin", problem, data, &settings);
  for (int e = 0; e < BU * BS; e++) utility[e / BS][e % BS] = found->value[e];
  belief_chain_make(BMOST, &chain);
  belief_demonstrate(&chain, data, p);
  belief_plan_for(&chain, utility, 0.4, policy);
  belief_visit(&chain, policy, q);
  belief_plan(&chain, 0.4, 0, truth);
  double others = 0;
  for (int u = 0; u < BU; u++)
    for (int s = 0; s < BS; s++) {
      double slope = utility[u][s] / settings.lambda;
      for (int i = 0; i <= BMOST; i++) {
        const double bad = (double)i / BMOST;
        slope += (q[i][u] - p[i][u]) * (s ? bad : 1 - bad);
      }
      assert_near(slope, 0, 1e-8);
    }
  for (int i = 0; i <= BMOST; i++)
    for (int u = 0; u < BU; u++)
      others += 0.5 * (q[i][0] + q[i][1] + q[i][2]) * fabs(policy[i][u] - truth[i][u]);
  assert_true(others < 0.02);
  assert_true(idm_optimality_certified(found->optimality));
  assert_int_equal(found->optimality->faults.count, 0);
  assert_int_equal(found->optimality->open, BS); /* a potential linear in the belief */
  assert_true(support_mentions(&found->optimality->words, "41 beliefs of a lattice"));
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* One free number; held entries keep their values. */
static void held_utilities(void **state)
{
  (void)state;
  idm_problem *problem = belief_problem(20, HIDDEN_AGENT, "{utility: {entries: [mend.good]}}");
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 200, .steps = 20, .seed = 4});
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  idm_posterior *found = support_fit("regularised-margin", problem, data, &settings);
  assert_int_equal(found->quantity.count, 1);
  assert_near(found->value[0], -0.6, 0.15);
  assert_true(
      support_mentions(&found->optimality->words, "of least log-loss of held-out decisions"));
  idm_posterior_destroy(found);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void refusals_over_beliefs(void **state)
{
  (void)state;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  idm_problem *problem = belief_problem(20, HIDDEN_AGENT, "utility");
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 5, .steps = 5, .seed = 4});
  settings.lambda = INFINITY;
  support_refused(name, problem, data, &settings, "needs a finite --lambda");
  settings.lambda = 10;
  problem->theta->block[IDM_BETA].value[0] = 2;
  support_refused(name, problem, data, &settings, "expected beta: inf");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(utilities_are_gaps_of_occupancy),
      cmocka_unit_test(no_price_gives_the_frequencies),
      cmocka_unit_test(moments_over_a_horizon),
      cmocka_unit_test(names_do_not_matter),
      cmocka_unit_test(ties_keep_the_answer_finite),
      cmocka_unit_test(refusals),
      cmocka_unit_test(moments_of_beliefs),
      cmocka_unit_test(held_utilities),
      cmocka_unit_test(refusals_over_beliefs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
