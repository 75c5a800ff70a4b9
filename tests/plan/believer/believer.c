/* Agents that hold beliefs: likelihoods against a filter written out plainly, whatever was not
 * recorded. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* --- plain computations: a filter written out, one trajectory at a time --------------------- */

/* The successor belief under one model and the probability of x, from the definitions. */
static double plain_update(const idm_problem *p, size_t m, const double *z, size_t u, size_t x,
                           double *next)
{
  const idm_sizes n = idm_setting_sizes(p->setting);
  const double *tau =
      p->theta->block[IDM_TRANSITION].value + (m * n.actions + u) * n.states * n.states;
  const double *omega =
      p->theta->block[IDM_EMISSION].value + (m * n.actions + u) * n.states * n.observations;
  double total = 0;
  for (size_t t = 0; t < n.states; t++) {
    next[t] = 0;
    for (size_t s = 0; s < n.states; s++) next[t] += z[s] * tau[s * n.states + t];
    next[t] *= omega[t * n.observations + x];
    total += next[t];
  }
  for (size_t t = 0; t < n.states; t++) next[t] /= total;
  return total;
}

/* sum over everything not recorded of the product of decision probabilities (and of the weights of
 * what was not recorded); with `sampled` also over the models' successors. */
static double plain_likelihood(const idm_problem *p, idm_workspace *w, bool sampled,
                               const double *z, const int *actions, const int *observations,
                               int steps)
{
  if (steps == 0) return 1;
  const idm_sizes n = idm_setting_sizes(p->setting);
  const size_t models = p->theta->models;
  double pi[8], sigma[64], next[8], mean[8];
  idm_plan_policy(w, 0, z, pi, sigma);
  double sum = 0;
  for (size_t u = 0; u < n.actions; u++) {
    if (actions[0] != IDM_MISSING && (size_t)actions[0] != u) continue;
    if (steps == 1) {
      sum += pi[u];
      continue;
    }
    if (actions[0] == IDM_MISSING && p->setting->ends[u]) continue;
    for (size_t x = 0; x < n.observations; x++) {
      if (observations[0] != IDM_MISSING && (size_t)observations[0] != x) continue;
      double predictive = 0, branches = 0;
      memset(mean, 0, sizeof mean);
      for (size_t m = 0; m < models; m++) {
        predictive += sigma[u * models + m] * plain_update(p, m, z, u, x, next);
        for (size_t s = 0; s < n.states; s++) mean[s] += sigma[u * models + m] * next[s];
        if (sampled)
          branches += sigma[u * models + m] *
                      plain_likelihood(p, w, true, next, actions + 1, observations + 1, steps - 1);
      }
      if (!sampled)
        branches = plain_likelihood(p, w, false, mean, actions + 1, observations + 1, steps - 1);
      sum += pi[u] * (observations[0] == IDM_MISSING ? predictive : 1) * branches;
    }
  }
  return sum;
}

static idm_data *one_trajectory(const idm_problem *problem, const int *actions,
                                const int *observations, int steps)
{
  char csv[1024] = "trajectory,agent,action,observation\n";
  for (int t = 0; t < steps; t++) {
    char row[64], u[8] = "", x[8] = "";
    if (actions[t] != IDM_MISSING) snprintf(u, sizeof u, "%d", actions[t]);
    if (observations[t] != IDM_MISSING) snprintf(x, sizeof x, "%d", observations[t]);
    snprintf(row, sizeof row, "1,1,%s,%s\n", u, x);
    strcat(csv, row);
  }
  return support_data(problem, csv);
}

/* Sets of beliefs against brute force over everything that was not recorded, both recognitions. */
static void missing_values_match_brute_force(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 32, 0);
  for (int i = 0; i < 60; i++) {
    idm_problem *problem = support_problem((support_shape){3, 3, 3, 2, 8}, &random);
    support_set(problem, support_signed(&random, 0.3, 3), support_signed(&random, 0.3, 3), 0.2);
    problem->agent.recognition = i % 2 ? IDM_RECOGNITION_SAMPLED : IDM_RECOGNITION_MEAN;
    problem->agent.evaluate = i % 4 < 2 ? IDM_LOOKAHEAD : IDM_INTERPOLATE;
    problem->setting->ends[0] = true;
    idm_workspace *workspace = support_plan(problem, NULL);
    enum { steps = 4 };
    int actions[steps], observations[steps];
    for (int t = 0; t < steps; t++) {
      actions[t] = 1 + (int)(2 * idm_random_uniform(&random));
      observations[t] = (int)(3 * idm_random_uniform(&random));
      if (idm_random_uniform(&random) < 0.3) observations[t] = IDM_MISSING;
      if (idm_random_uniform(&random) < 0.2) actions[t] = IDM_MISSING;
    }
    actions[steps - 1] = (int)(3 * idm_random_uniform(&random));
    idm_data *data = one_trajectory(problem, actions, observations, steps);
    const double fast = support_score(workspace, data);
    const double slow =
        plain_likelihood(problem, workspace, problem->agent.recognition == IDM_RECOGNITION_SAMPLED,
                         problem->setting->start, actions, observations, steps);
    /* What would have ended the trajectory has weight 0 and the rest is renormalised, so with
     * actions missing the plain sum lacks a factor: compare only where none is missing before the
     * end. */
    bool comparable = true;
    for (int t = 0; t + 1 < steps; t++) comparable = comparable && actions[t] != IDM_MISSING;
    if (comparable) assert_near(fast, log(slow), 1e-9);
    assert_true(isfinite(fast));
    idm_data_destroy(data);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* A missing action, by hand: weights pi over the actions that do not end, renormalised. */
static void a_missing_action_weighs_by_the_policy(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 33, 0);
  idm_problem *problem = support_problem((support_shape){2, 3, 2, 1, 20}, &random);
  support_set(problem, 0.8, INFINITY, 0);
  problem->setting->ends[0] = true;
  idm_workspace *workspace = support_plan(problem, NULL);
  const int actions[2] = {IDM_MISSING, 2}, observations[2] = {1, IDM_MISSING};
  idm_data *data = one_trajectory(problem, actions, observations, 2);
  double pi[3], after[3], next[2], top = 0, bottom = 0;
  idm_plan_policy(workspace, 0, problem->setting->start, pi, NULL);
  for (size_t u = 1; u < 3; u++) {
    plain_update(problem, 0, problem->setting->start, u, 1, next);
    idm_plan_policy(workspace, 0, next, after, NULL);
    top += pi[u] * after[2];
    bottom += pi[u];
  }
  assert_near(support_score(workspace, data), log(top / bottom), 1e-10);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Saw nothing: an observation whose emission does not depend on the state leaves the predictive
 * belief. */
static void seeing_nothing_keeps_the_predictive_belief(void **state)
{
  (void)state;
  const char *text = "states: [a, b]\nactions: [go]\nobservations: [yes, no, none]\n"
                     "transition: {go: [[0.8, 0.2], [0.3, 0.7]]}\n"
                     "observation: {go: [[0.5, 0.1, 0.4], [0.1, 0.5, 0.4]]}\nutility: {go: 0}\n"
                     "start: [0.25, 0.75]\n";
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "t", &problem, NULL, &support_error));
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_behavior b = idm_workspace_behavior(workspace);
  void *memory;
  double z[2];
  check(b.ops->memory_create(b.content, &memory, &support_error));
  check(b.ops->begin_trajectory(b.content, memory, memory, 0, NULL, &support_error));
  check(b.ops->observe(b.content, memory, memory, 0, 2, 0, NULL, &support_error));
  b.ops->belief(b.content, memory, z);
  assert_near(z[0], 0.25 * 0.8 + 0.75 * 0.3, 1e-14);
  b.ops->memory_destroy(memory);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Data that are refused when they are scored; support_error says why. */
static void cannot_score(const idm_workspace *workspace, const idm_data *data)
{
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  check(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  assert_int_equal(
      idm_scorer_run(scorer, idm_workspace_behavior(workspace), &score, &support_error), IDM_INPUT);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
}

/* A model under which what was seen is impossible is dropped; if all are, it is an error. */
static void impossible_observations(void **state)
{
  (void)state;
  const char *text =
      "states: [a, b]\nactions: [go, stop]\nobservations: [x, y]\ntransition: {\"*\": identity}\n"
      "observation: {\"*\": [[1, 0], [0.5, 0.5]]}\nutility: {go: 0, stop: [1, 0]}\nstart: [1, 0]\n"
      "models: [{weight: 1}, {weight: 3, observation: {go: [[0.5, 0.5], [0.25, 0.75]]}}]\n"
      "agent: {alpha: 1}\n";
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "t", &problem, NULL, &support_error));
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_data *data = support_data(problem, "agent,action,observation\n1,go,y\n1,go,x\n");
  assert_true(isfinite(support_score(workspace, data)));
  idm_data_destroy(data);

  data = support_data(problem, "agent,action,observation\n1,go,x\n1,stop,y\n1,go,x\n");
  cannot_score(workspace, data);
  assert_int_equal(support_error.line, 3);
  assert_non_null(strstr(support_error.message, "'y' after 'stop' is impossible"));
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Ten observations not recorded in a row: more beliefs than are followed, and the row is named. */
static void a_set_too_large_is_an_error_with_its_row(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 34, 0);
  idm_problem *problem = support_problem((support_shape){4, 2, 4, 1, 3}, &random);
  support_set(problem, 1, INFINITY, 0);
  idm_workspace *workspace = support_plan(problem, NULL);
  int actions[12], observations[12];
  for (int t = 0; t < 12; t++) {
    actions[t] = 0;
    observations[t] = IDM_MISSING;
  }
  idm_data *data = one_trajectory(problem, actions, observations, 12);
  cannot_score(workspace, data);
  assert_non_null(strstr(support_error.message, "possible beliefs"));
  assert_true(support_error.line > 2 && support_error.line <= 13);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(missing_values_match_brute_force),
      cmocka_unit_test(a_missing_action_weighs_by_the_policy),
      cmocka_unit_test(seeing_nothing_keeps_the_predictive_belief),
      cmocka_unit_test(impossible_observations),
      cmocka_unit_test(a_set_too_large_is_an_error_with_its_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
