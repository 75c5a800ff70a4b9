/* POMDPs of agents: Bayes' rule against its definition and the library's filter, and refused
 * problems. */
#include "invert/utility/belief_mdp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const char log_text[] = "trajectory,action,observation\n1,%s,%s\n";

static idm_data *one_row(const idm_problem *problem)
{
  char text[200];
  snprintf(text, sizeof text, log_text, problem->setting->actions.name[0],
           problem->setting->observations.name[0]);
  return support_data(problem, text);
}

static idm_problem *random_problem(uint64_t seed, bool before)
{
  idm_random random;
  idm_random_init(&random, seed, 0);
  idm_problem *problem = support_problem((support_shape){3, 2, 3, 1, 5}, &random);
  problem->setting->emits_before = before;
  problem->agent.planner = idm_planner_find("deterministic-optimal");
  return problem;
}

/* The joint distribution by definition, and the filter of the planner. */
static void test_bayes(void **state)
{
  (void)state;
  enum { S = 3, X = 3 };
  for (uint64_t seed = 1; seed <= 4; seed++) {
    idm_problem *problem = random_problem(seed, seed % 2);
    const idm_setting *setting = problem->setting;
    idm_data *data = one_row(problem);
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_pomdp *pomdp;
    check(idm_pomdp_create(problem, data, "somebody", &pomdp, &support_error));
    const double z[] = {0.2, 0.7, 0.1};
    for (size_t u = 0; u < 2; u++)
      for (size_t x = 0; x < X; x++) {
        double joint[S], next[S], other[S], total = 0;
        for (size_t t = 0; t < S; t++) {
          joint[t] = 0;
          for (size_t s = 0; s < S; s++)
            joint[t] += z[s] * setting->transition[(u * S + s) * S + t] *
                        setting->emission[(u * S + (seed % 2 ? s : t)) * X + x];
          total += joint[t];
        }
        assert_near(idm_pomdp_update(pomdp, z, u, x, next), total, 1e-14);
        assert_near(idm_plan_recognise(workspace, 0, 0, z, u, x, other), total, 1e-14);
        for (size_t t = 0; t < S; t++) {
          assert_near(next[t], joint[t] / total, 1e-14);
          assert_near(next[t], other[t], 1e-14);
        }
        assert_near(idm_pomdp_joint(pomdp, z, u, x, next), total, 1e-14);
        for (size_t t = 0; t < S; t++) assert_near(next[t], joint[t], 1e-14);
      }
    idm_pomdp_destroy(pomdp);
    idm_workspace_destroy(workspace);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* Observations after a terminal action have probability 0. */
static void test_ends(void **state)
{
  (void)state;
  idm_problem *problem = random_problem(1, false);
  idm_data *data = one_row(problem);
  idm_pomdp *pomdp;
  const double z[] = {0.2, 0.7, 0.1};
  double next[3];
  problem->setting->terminal[1] = problem->setting->ends[1] = true;
  check(idm_pomdp_create(problem, data, "somebody", &pomdp, &support_error));
  for (size_t x = 0; x < 3; x++) {
    assert_true(idm_pomdp_update(pomdp, z, 0, x, next) > 0);
    assert_true(idm_pomdp_update(pomdp, z, 1, x, next) == 0);
  }
  idm_pomdp_destroy(pomdp);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void refuse(const idm_problem *problem, const idm_data *data, const char *words)
{
  idm_pomdp *pomdp;
  idm_error error = {0};
  assert_int_equal(idm_pomdp_create(problem, data, "somebody", &pomdp, &error), IDM_INPUT);
  assert_null(pomdp);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
}

static void test_refusals(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 1, 0);
  idm_problem *problem = support_problem((support_shape){3, 2, 3, 2, 5}, &random);
  idm_data *data = one_row(problem);
  problem->agent.planner = idm_planner_find("rational");
  refuse(problem, data, "one model of the environment, and this one has 2");
  /* A planner with known dynamics has one model, however many the file lists. */
  problem->agent.planner = idm_planner_find("deterministic-optimal");
  idm_pomdp *pomdp;
  check(idm_pomdp_create(problem, data, "somebody", &pomdp, &support_error));
  idm_pomdp_destroy(pomdp);
  problem->theta->block[IDM_EVIDENCE_WEIGHT].value[0] = 0.5;
  refuse(problem, data, "beliefs by Bayes' rule");
  problem->theta->block[IDM_EVIDENCE_WEIGHT].value[0] = 1;
  problem->theta->block[IDM_CERTAINTY].value[1] = 2;
  refuse(problem, data, "beliefs have a utility of their own");
  problem->theta->block[IDM_CERTAINTY].value[1] = 0;
  const idm_sizes n = problem->theta->sizes;
  check(idm_theta_resize(problem->theta, IDM_BELIEF_UTILITY, n.actions * (2 + n.states), 1,
                         &support_error));
  problem->theta->block[IDM_BELIEF_UTILITY].value[n.actions * (2 + n.states) - 1] = 1; /* a piece */
  refuse(problem, data, "beliefs have a utility of their own");
  check(idm_theta_resize(problem->theta, IDM_BELIEF_UTILITY, 2 * n.actions, 1, &support_error));
  problem->agent.discounting = IDM_NAIVE;
  refuse(problem, data, "discounts per step");
  problem->agent.discounting = IDM_EXPONENTIAL;
  problem->agent.planner = idm_planner_find("td-learner");
  refuse(problem, data, "the planner 'td-learner' has none");
  problem->agent.planner = idm_planner_find("deterministic-optimal");
  const double even[] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  free(data->start_belief);
  data->start_belief = malloc(sizeof even);
  assert_non_null(data->start_belief);
  memcpy(data->start_belief, even, sizeof even);
  data->starts = 1;
  data->start[0] = 0;
  refuse(problem, data, "the log gives start beliefs");
  data->start[0] = -1;
  data->available_set = realloc(data->available_set, 4 * sizeof *data->available_set);
  assert_non_null(data->available_set);
  data->available_set[2] = true;
  data->available_set[3] = false;
  data->available_sets = 2;
  data->available[0] = 1;
  refuse(problem, data, "every action available at every step");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bayes), cmocka_unit_test(test_ends),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
