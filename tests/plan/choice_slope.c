/* Tests derivatives of a function of choice probabilities against its differences. */
#include "plan/workspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { POINTS = 4, U = 3 };

static const double z[POINTS][2] = {{1, 0}, {0.7, 0.3}, {0.35, 0.65}, {0.05, 0.95}};

static idm_problem *problem_of(const char *agent)
{
  char text[1200];
  snprintf(text, sizeof text,
           "states: [good, bad]\nactions: [use, mend, look]\nobservations: [fine, odd]\n"
           "start: [0.8, 0.2]\ndiscount: 0.8\n"
           "transition: {use: [[0.85, 0.15], [0, 1]], mend: [[1, 0], [0.9, 0.1]],\n"
           "             look: [[0.95, 0.05], [0, 1]]}\n"
           "observation: {use: [[0.6, 0.4], [0.4, 0.6]], mend: [[0.6, 0.4], [0.4, 0.6]],\n"
           "              look: [[0.85, 0.15], [0.15, 0.85]]}\n"
           "utility: {use: [1, -1], mend: [-0.6, -0.6], look: [-0.1, -0.1]}\nagent: {%s}\n",
           agent);
  return support_yaml(text);
}

/* A function of all choices that is nonlinear in each. */
static double weigh(double choice[POINTS][U], double by_choice[POINTS][U])
{
  double sum = 0;
  for (int i = 0; i < POINTS; i++)
    for (int u = 0; u < U; u++) {
      const double w = sin(1 + i * U + u);
      sum += w * choice[i][u] * choice[i][u];
      by_choice[i][u] = 2 * w * choice[i][u];
    }
  return sum;
}

static double value_at(const idm_theta *theta, idm_workspace *workspace, double by[POINTS][U])
{
  double choice[POINTS][U];
  idm_solver solver;
  idm_solver_default(&solver);
  solver.slots = IDM_START_COLD;
  solver.tolerance = 1e-13;
  check(idm_plan(theta, &solver, workspace, NULL, &support_error));
  for (int i = 0; i < POINTS; i++) idm_plan_choice(workspace, 0, 0, z[i], IDM_MISSING, choice[i]);
  return weigh(choice, by);
}

/* Compares the derivative by a number of theta whose scale is the identity. */
static void compare(idm_problem *problem, idm_workspace *workspace, size_t block, size_t number,
                    double derivative)
{
  double by[POINTS][U], side[2];
  double *value = &problem->theta->block[block].value[number];
  const double own = *value;
  for (int k = 0; k < 2; k++) {
    *value = own + (k ? 1e-5 : -1e-5);
    side[k] = value_at(problem->theta, workspace, by);
  }
  *value = own;
  assert_near(derivative, (side[1] - side[0]) / 2e-5, 1e-7);
}

static void agrees(const char *agent, const size_t *block, size_t blocks)
{
  double by[POINTS][U];
  idm_theta *derivative;
  idm_workspace *workspace;
  idm_choice_adjoint *s;
  idm_problem *problem = problem_of(agent);
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  assert_true(idm_choice_adjoint_possible(workspace));
  check(idm_choice_adjoint_create(workspace, &s, &support_error));
  check(idm_theta_copy(problem->theta, &derivative, &support_error));
  for (size_t i = 0; i < derivative->blocks; i++) derivative->block[i].role = IDM_DESCRIPTIVE;
  value_at(problem->theta, workspace, by);
  for (int round = 0; round < 2; round++) { /* a second pass starts from zero */
    idm_choice_adjoint_begin(s);
    for (int i = 0; i < POINTS; i++) idm_choice_adjoint_point(s, z[i], by[i]);
    check(idm_choice_adjoint_finish(s, derivative, &support_error));
  }
  double size = 0;
  for (size_t b = 0; b < blocks; b++)
    for (size_t i = 0; i < problem->theta->block[block[b]].size; i++) {
      const double here = derivative->block[block[b]].value[i];
      size = fmax(size, fabs(here));
      compare(problem, workspace, block[b], i, here);
    }
  assert_true(size > 1e-3);
  idm_choice_adjoint_destroy(s);
  idm_theta_destroy(derivative);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void test_control(void **state)
{
  (void)state;
  static const size_t blocks[] = {IDM_UTILITY, IDM_LAPSE, IDM_DISCOUNT};
  agrees("planner: bounded-rational, alpha: 0.4, resolution: 20, lapse: 0.1", blocks, 3);
  agrees("planner: bounded-rational, alpha: 0.4, resolution: 20", blocks, 1);
}

static void test_networks(void **state)
{
  (void)state;
  static const size_t network[] = {IDM_BLOCK_COUNT, IDM_LAPSE}, weights[] = {IDM_WEIGHTS};
  agrees("planner: decision-network, hidden: 3, seed: 1, lapse: 0.2", network, 2);
  agrees("planner: decision-network, hidden: 0, seed: 1", network, 1);
  agrees("planner: decision-rule, weights: {use: [0, 0.3, 0], mend: [0, -1, 1], look: [0, -1, 0]}",
         weights, 1);
}

/* A policy of best actions has no derivative. */
static void test_impossible(void **state)
{
  (void)state;
  idm_problem *problem = problem_of("planner: point-based");
  idm_workspace *workspace = support_plan(problem, NULL);
  assert_false(idm_choice_adjoint_possible(workspace));
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_control),
                                     cmocka_unit_test(test_networks),
                                     cmocka_unit_test(test_impossible)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
