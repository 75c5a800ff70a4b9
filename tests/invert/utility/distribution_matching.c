/* Distribution matching with decision rules: frequencies where they are optimal, weights that give
 * the projected policy, refusals, and invariance under permuted names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "invert/utility/mdp_support.h"

static const char name[] = "distribution-matching";

#define RULE                                                                                       \
  "states: [a, b, c]\nactions: [left, right]\nobservations: states\ndiscount: 0.9\nstart: a\n"     \
  "transition:\n"                                                                                  \
  "  left: [[1, 0, 0], [0.8, 0.2, 0], [0, 1, 0]]\n"                                                \
  "  right: [[0.2, 0.8, 0], [0, 0, 1], [0, 0, 1]]\n"                                               \
  "agent: {planner: decision-rule, weights: {left: [0, 0, 0, 0], right: [0.5, 1, 0, -1]}}\n"

static idm_fit_settings settings_of(idm_divergence divergence, double entropy,
                                    idm_occupancy occupancy)
{
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.divergence = divergence;
  settings.entropy = entropy;
  settings.occupancy = occupancy;
  return settings;
}

/* The planner's policy at an estimate. */
static void plan_at(const idm_problem *problem, const idm_posterior *p, double *policy)
{
  const size_t states = problem->setting->states.count, actions = problem->setting->actions.count;
  idm_parameters *parameters;
  idm_theta *theta;
  idm_workspace *workspace;
  check(idm_parameters_create(problem, &parameters, &support_error));
  check(idm_theta_copy(problem->theta, &theta, &support_error));
  check(idm_posterior_theta(p, parameters, 0, 0, theta, &support_error));
  check(idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, &support_error));
  check(idm_plan(theta, NULL, workspace, NULL, &support_error));
  for (size_t s = 0; s < states; s++) {
    double corner[16] = {0};
    corner[s] = 1;
    idm_plan_policy(workspace, 0, corner, policy + s * actions, NULL);
  }
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  idm_parameters_destroy(parameters);
}

/* The demonstrator's own policy with objective 0, for every divergence. In b it always goes right.
 */
static void own_occupancy_gives_frequencies(void **state)
{
  (void)state;
  static const char *const freedoms[] = {"weights", "{weights: {reference: right}}",
                                         "{weights: {reference: none}}"};
  const double expected[] = {0.25, 0.75, 0, 1, 2.0 / 3, 1.0 / 3};
  for (size_t k = 0; k < 3; k++)
    for (int d = IDM_DIVERGENCE_KL; d <= IDM_DIVERGENCE_SQUARED; d++) {
      idm_problem *problem = support_yaml(RULE);
      idm_data *data =
          support_data(problem, "trajectory,action,observation\n"
                                "1,left,a\n1,right,a\n1,right,a\n1,right,b\n1,right,c\n1,left,b\n"
                                "1,right,c\n1,right,c\n1,left,b\n");
      check(idm_problem_set_free(problem, freedoms[k], &support_error));
      const idm_fit_settings settings = settings_of((idm_divergence)d, 0, IDM_OCCUPANCY_POLICY);
      idm_posterior *p = support_fit(name, problem, data, &settings);
      double policy[6];
      plan_at(problem, p, policy);
      assert_true(p->optimality->objective == 0);
      assert_true(idm_optimality_certified(p->optimality));
      for (size_t e = 0; e < 6; e++) {
        assert_true(p->optimality->policy[e] == expected[e]);
        assert_near(policy[e], expected[e], 1e-12);
      }
      bool said = false;
      for (size_t i = 0; i < p->optimality->words.count; i++)
        said |= strstr(p->optimality->words.text[i], "weight of -inf") != NULL;
      assert_true(said);
      idm_posterior_destroy(p);
      idm_data_destroy(data);
      idm_problem_destroy(problem);
    }
}

/* With a trade-off the policy of the estimated weights is the projected policy. */
static void weights_stand_for_the_policy(void **state)
{
  (void)state;
  for (int d = IDM_DIVERGENCE_KL; d <= IDM_DIVERGENCE_SQUARED; d++)
    for (int w = 0; w < 2; w++) {
      idm_problem *problem = support_yaml(RULE);
      idm_data *data =
          support_simulate(problem, (idm_simulation){.trajectories = 20, .steps = 15, .seed = 3});
      check(idm_problem_set_free(problem, "weights", &support_error));
      const idm_fit_settings settings =
          settings_of((idm_divergence)d, 0.4 * w, IDM_OCCUPANCY_EMPIRICAL);
      idm_posterior *p = support_fit(name, problem, data, &settings);
      double policy[6];
      plan_at(problem, p, policy);
      for (size_t e = 0; e < 6; e++) assert_near(policy[e], p->optimality->policy[e], 1e-12);
      assert_true(idm_optimality_certified(p->optimality));
      assert_true(p->optimality->evaluated);
      assert_int_equal(p->optimality->open, 0);
      assert_true(w ? p->optimality->objective < 0 : p->optimality->objective > 0);
      idm_posterior_destroy(p);
      idm_data_destroy(data);
      idm_problem_destroy(problem);
    }
}

static void names_do_not_matter(void **state)
{
  (void)state;
  const size_t states = SUPPORT_TWIN_STATES, actions = SUPPORT_TWIN_ACTIONS;
  support_twins twins = support_twins_create(0.6);
  support_twins_log(&twins,
                    support_simulate(twins.problem[0],
                                     (idm_simulation){.trajectories = 30, .steps = 30, .seed = 3}));
  for (size_t i = 0; i < 2; i++) {
    idm_problem *task = twins.problem[i];
    check(idm_problem_set_planner(task, idm_planner_find("decision-rule"), &support_error));
    check(idm_theta_resize(task->theta, IDM_WEIGHTS, actions * (states + 1), 1, &support_error));
    check(idm_problem_set_free(task, "weights", &support_error));
  }
  for (int d = IDM_DIVERGENCE_KL; d <= IDM_DIVERGENCE_SQUARED; d++)
    for (int w = 0; w < 2; w++) {
      const idm_fit_settings settings =
          settings_of((idm_divergence)d, 0.2 * w, IDM_OCCUPANCY_EMPIRICAL);
      idm_posterior *p[2];
      for (size_t i = 0; i < 2; i++)
        p[i] = support_fit(name, twins.problem[i], twins.data[i], &settings);
      assert_near(p[0]->optimality->objective, p[1]->optimality->objective, 1e-10);
      /* Without entropy tv has several optimal policies with the same objective. */
      for (size_t e = 0; e < states * actions && (w || d != IDM_DIVERGENCE_TV); e++)
        assert_near(
            p[0]->optimality->policy[e],
            p[1]->optimality->policy[twins.place[e / actions] * actions + twins.turn[e % actions]],
            1e-5);
      for (size_t i = 0; i < 2; i++) idm_posterior_destroy(p[i]);
    }
  support_twins_destroy(&twins);
}

/* choice: best. The best actions of the weights are the policy, whatever is held; the objective is
 * 0 if the log has one action per state. */
static void the_best_action_stands_for_the_policy(void **state)
{
  (void)state;
  static const char *const freedoms[] = {"weights", "{weights: {reference: right}}",
                                         "{weights: {reference: none}}"};
  static const char *const logs[] = {
      "trajectory,action,observation\n1,left,a\n1,right,a\n1,right,a\n1,right,b\n1,right,c\n"
      "1,left,b\n1,right,c\n1,right,c\n1,left,b\n",
      "trajectory,action,observation\n1,right,a\n1,right,b\n1,right,c\n1,left,b\n1,right,c\n"};
  for (size_t k = 0; k < 3; k++)
    for (size_t l = 0; l < 2; l++)
      for (int o = IDM_OCCUPANCY_POLICY; o <= IDM_OCCUPANCY_EMPIRICAL; o++) {
        idm_problem *problem = support_yaml(RULE);
        idm_data *data = support_data(problem, logs[l]);
        problem->agent.choice = IDM_CHOICE_BEST;
        check(idm_problem_set_free(problem, freedoms[k], &support_error));
        const idm_fit_settings settings = settings_of(IDM_DIVERGENCE_JS, 0, (idm_occupancy)o);
        idm_posterior *p = support_fit(name, problem, data, &settings);
        double policy[6];
        plan_at(problem, p, policy);
        assert_memory_equal(policy, p->optimality->policy, sizeof policy);
        assert_true(idm_optimality_certified(p->optimality));
        assert_string_equal(p->optimality->certificate, "gap to the bound");
        /* a and b go right; a deterministic log has no loss. */
        assert_true(policy[1] == 1 && policy[3] == 1);
        if (l && o == IDM_OCCUPANCY_POLICY) assert_true(p->optimality->objective == 0);
        if (!l) assert_true(p->optimality->objective > 0.01);
        idm_posterior_destroy(p);
        idm_data_destroy(data);
        idm_problem_destroy(problem);
      }
}

/* In unreachable states equally frequent actions are ties, which a note reports. */
static void ties_are_said(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(RULE);
  /* From a only left: b has decisions but is not reachable. */
  idm_data *data = support_data(problem, "trajectory,state,action\n1,a,left\n2,a,left\n"
                                         "3,b,left\n4,b,right\n");
  problem->agent.choice = IDM_CHOICE_BEST;
  check(idm_problem_set_free(problem, "weights", &support_error));
  const idm_fit_settings settings = settings_of(IDM_DIVERGENCE_KL, 0, IDM_OCCUPANCY_POLICY);
  idm_posterior *p = support_fit(name, problem, data, &settings);
  const double expected[] = {1, 0, 0.5, 0.5, 0.5, 0.5};
  assert_memory_equal(p->optimality->policy, expected, sizeof expected);
  bool said = false;
  for (size_t i = 0; i < p->optimality->words.count; i++)
    said |=
        strstr(p->optimality->words.text[i], "in 2 states that the rule does not reach") != NULL;
  assert_true(said);
  assert_true(p->optimality->objective == 0);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void refusals_of_the_best(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(RULE);
  idm_data *data = support_data(problem, "trajectory,state,action\n1,a,left\n2,a,right\n");
  problem->agent.choice = IDM_CHOICE_BEST;
  check(idm_problem_set_free(problem, "weights", &support_error));
  idm_fit_settings settings = settings_of(IDM_DIVERGENCE_JS, 0.1, IDM_OCCUPANCY_POLICY);
  support_refused(name, problem, data, &settings, "--entropy has no effect");
  settings = settings_of(IDM_DIVERGENCE_KL, 0, IDM_OCCUPANCY_POLICY);
  support_refused(name, problem, data, &settings, "infinite for every deterministic rule");
  idm_fit_settings_default(&settings);
  support_refused("map", problem, data, &settings, "needs action probabilities");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void refusals(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(RULE);
  idm_data *data = support_data(problem, "trajectory,action,observation\n1,right,b\n1,right,c\n");
  idm_fit_settings settings = settings_of(IDM_DIVERGENCE_KL, 0, IDM_OCCUPANCY_POLICY);
  support_refused(name, problem, data, &settings, "nothing is free");
  check(idm_problem_set_free(problem, "weights", &support_error));
  /* Right is the last action in b, and leads to c, where the log has no decisions. */
  settings = settings_of(IDM_DIVERGENCE_REVERSE_KL, 0, IDM_OCCUPANCY_EMPIRICAL);
  support_refused(name, problem, data, &settings, "expected another --divergence");
  settings = settings_of(IDM_DIVERGENCE_SQUARED, 0, IDM_OCCUPANCY_EMPIRICAL);
  settings.lambda = INFINITY;
  support_refused(name, problem, data, &settings, "finite --lambda");
  settings.lambda = 1;
  settings.divergence = IDM_DIVERGENCE_JS;
  support_refused(name, problem, data, &settings, "the divergence is js");
  settings.divergence = IDM_DIVERGENCE_SQUARED;
  problem->setting->horizon = 4;
  support_refused(name, problem, data, &settings, "without `horizon`");
  problem->setting->horizon = 0;
  check(idm_problem_set_planner(problem, idm_planner_find("decision-network"), &support_error));
  support_refused(name, problem, data, &settings, "does not read it");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* The empirical occupancy lacks the steps after the last rows; the occupancy of a policy has them.
 */
static void test_cut_trajectories(void **state)
{
  (void)state;
  static const struct {
    int steps;
    idm_occupancy occupancy;
    bool fails;
  } given[] = {{20, IDM_OCCUPANCY_EMPIRICAL, true},
               {20, IDM_OCCUPANCY_POLICY, false},
               {60, IDM_OCCUPANCY_EMPIRICAL, false}}; /* 0.9^60 is 0.0018 */
  for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
    idm_problem *problem = support_yaml(RULE);
    idm_data *data = support_simulate(
        problem, (idm_simulation){.trajectories = 20, .steps = given[k].steps, .seed = 2});
    check(idm_problem_set_free(problem, "weights", &support_error));
    const idm_fit_settings settings = settings_of(IDM_DIVERGENCE_KL, 0, given[k].occupancy);
    idm_posterior *p = support_fit(name, problem, data, &settings);
    assert_int_equal(support_mentions(&p->optimality->faults, "after the last rows"),
                     given[k].fails);
    idm_posterior_destroy(p);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(own_occupancy_gives_frequencies),
      cmocka_unit_test(weights_stand_for_the_policy),
      cmocka_unit_test(names_do_not_matter),
      cmocka_unit_test(the_best_action_stands_for_the_policy),
      cmocka_unit_test(ties_are_said),
      cmocka_unit_test(refusals_of_the_best),
      cmocka_unit_test(refusals),
      cmocka_unit_test(test_cut_trajectories),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
