/* Tests MDPs against the linear program of their values, solved by CLP. */
#include <coin/Clp_C_Interface.h>
#include <math.h>
#include <stdlib.h>

#include "support.h"

enum { STATES = 30, ACTIONS = 3, NEXT = 4 };

/* A random problem with NEXT successors per row. */
static idm_problem *problem_at(uint64_t seed)
{
  const idm_sizes n = {STATES, ACTIONS, STATES};
  idm_random random;
  idm_random_init(&random, seed, 0);
  idm_problem *problem;
  check(idm_problem_create_sparse(n, &problem, &support_error));
  problem->setting->fully_observed = true;
  idm_sparse_rows *moves;
  check(idm_sparse_rows_create((size_t)STATES * ACTIONS, (size_t)STATES * ACTIONS * NEXT, &moves,
                               &support_error));
  for (size_t row = 0; row < (size_t)STATES * ACTIONS; row++) {
    double p[NEXT];
    support_distribution(&random, p, NEXT);
    size_t next = (size_t)(idm_random_uniform(&random) * 5);
    for (size_t i = 0; i < NEXT; i++) {
      moves->next[row * NEXT + i] = (uint32_t)next;
      moves->probability[row * NEXT + i] = p[i];
      next += 1 + (size_t)(idm_random_uniform(&random) * 7);
    }
    moves->first[row + 1] = (row + 1) * NEXT;
  }
  problem->setting->moves = moves;
  for (size_t i = 0; i < (size_t)STATES * ACTIONS; i++)
    problem->theta->block[IDM_UTILITY].value[i] = 4 * idm_random_uniform(&random) - 2;
  check(idm_problem_set_planner(problem, idm_planner_find("rational"), &support_error));
  return problem;
}

/* min sum V subject to V(s) >= u(s,a) + gamma P V. */
static void solve_program(const idm_problem *problem, double gamma, double *v)
{
  const idm_sparse_rows *moves = problem->setting->moves;
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  Clp_Simplex *model = Clp_newModel();
  Clp_setLogLevel(model, 0);
  Clp_resize(model, 0, STATES);
  for (int s = 0; s < STATES; s++) {
    Clp_columnLower(model)[s] = -1e30;
    Clp_columnUpper(model)[s] = 1e30;
    Clp_objective(model)[s] = 1;
  }
  for (int row = 0; row < STATES * ACTIONS; row++) {
    double coefficient[STATES] = {0}, value[STATES];
    int column[STATES], count = 0;
    coefficient[row % STATES] = 1;
    for (size_t i = moves->first[row]; i < moves->first[row + 1]; i++)
      coefficient[moves->next[i]] -= gamma * moves->probability[i];
    for (int s = 0; s < STATES; s++)
      if (coefficient[s] != 0) {
        column[count] = s;
        value[count++] = coefficient[s];
      }
    const int starts[] = {0, count};
    const double lower = utility[row], upper = 1e30;
    Clp_addRows(model, 1, &lower, &upper, starts, column, value);
  }
  Clp_setPrimalTolerance(model, 1e-10);
  Clp_setDualTolerance(model, 1e-10);
  Clp_initialSolve(model);
  assert_int_equal(Clp_status(model), 0);
  for (int s = 0; s < STATES; s++) v[s] = Clp_getColSolution(model)[s];
  Clp_deleteModel(model);
}

static void rational_is_the_linear_program(void **state)
{
  (void)state;
  static const double discounts[] = {0.5, 0.9, 0.99};
  for (uint64_t seed = 1; seed <= 12; seed++) {
    idm_problem *problem = problem_at(seed);
    const double gamma = discounts[seed % 3];
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, gamma);
    idm_workspace *workspace = support_plan(problem, NULL);
    double v[STATES], z[STATES] = {0};
    solve_program(problem, gamma, v);
    for (size_t s = 0; s < STATES; s++) {
      z[s] = 1;
      assert_near(idm_plan_value(workspace, 0, z), v[s], 1e-7);
      z[s] = 0;
    }
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(rational_is_the_linear_program)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
