/* Tests the specification policy, and the planner that minimises over the worst share of its
 * models, against a direct backup and its limits. */
#include "plan/control/control.h"

#include <math.h>
#include <stdlib.h>

#include "base/soft.h"
#include "base/statistics.h"
#include "plan/control/plain.h"
#include "support.h"

static idm_problem *cvar_scratch(idm_random *random, double level)
{
  const support_shape shape = {
      .states = 3, .actions = 3, .observations = 3, .models = 4, .resolution = 6};
  idm_problem *problem = support_problem(shape, random);
  check(idm_problem_set_planner(problem, idm_planner_find("cvar-robust"), &support_error));
  support_set(problem, 0.3, INFINITY, 0.1);
  idm_theta_set_scalar(problem->theta, IDM_BLOCK_COUNT, level);
  return problem;
}

/* V = B*V, by a direct backup with the mean of the worst share over models. */
static void test_fixed_point(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 17, 0);
  static const double levels[] = {1, 0.6, 0.25, 0.01, 0};
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
    idm_problem *problem = cvar_scratch(&random, levels[i]);
    const idm_theta *theta = problem->theta;
    idm_plan_report report;
    idm_workspace *workspace = support_plan(problem, &report);
    assert_true(report.bound < 1e-6);
    idm_lattice *lattice;
    check(idm_lattice_create(3, 6, false, &lattice, &support_error));
    double *v = calloc(lattice->points, sizeof *v);
    assert_non_null(v);
    for (size_t p = 0; p < lattice->points; p++)
      v[p] = idm_plan_value(workspace, 0, lattice->belief + 3 * p);
    for (size_t p = 0; p < lattice->points; p++) {
      const double *z = lattice->belief + 3 * p;
      double q[3];
      for (size_t u = 0; u < 3; u++) {
        double k[4];
        q[u] = 0;
        for (size_t s = 0; s < 3; s++)
          q[u] += z[s] * idm_theta_values(theta, IDM_UTILITY, 0)[u * 3 + s];
        for (size_t m = 0; m < 4; m++) k[m] = plain_k(problem, lattice, v, z, u, m);
        q[u] += idm_cvar(levels[i], 4, idm_theta_values(theta, IDM_MODEL_PRIOR, 0), k, NULL);
      }
      const double expected =
          idm_soft(0.3, 3, idm_theta_values(theta, IDM_ACTION_PRIOR, 0), q, NULL);
      assert_near(v[p], expected, 1e-6);
    }
    free(v);
    idm_lattice_destroy(lattice);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* At its limits the planner is bounded rational control: the mean over models, and the worst model.
 */
static void test_ends(void **state)
{
  (void)state;
  static const struct {
    double level, beta;
  } ends[] = {{1, INFINITY}, {0, -0.0}};
  for (size_t i = 0; i < 2; i++) {
    idm_random random;
    idm_random_init(&random, 23, i);
    idm_problem *problem = cvar_scratch(&random, ends[i].level);
    idm_workspace *robust = support_plan(problem, NULL);
    check(idm_problem_set_planner(problem, idm_planner_find("bounded-rational"), &support_error));
    support_set(problem, 0.3, ends[i].beta, 0.1);
    idm_workspace *bounded = support_plan(problem, NULL);
    for (int draw = 0; draw < 50; draw++) {
      double z[3], p[3], q[3], a[12], b[12];
      support_distribution(&random, z, 3);
      idm_plan_policy(robust, 0, z, p, a);
      idm_plan_policy(bounded, 0, z, q, b);
      assert_near(idm_plan_value(robust, 0, z), idm_plan_value(bounded, 0, z), 1e-6);
      for (size_t u = 0; u < 3; u++) assert_near(p[u], q[u], 1e-5);
      for (size_t j = 0; j < 12; j++) assert_near(a[j], b[j], 1e-9);
    }
    idm_workspace_destroy(robust);
    idm_workspace_destroy(bounded);
    idm_problem_destroy(problem);
  }
}

/* The value increases with the level. */
static void test_monotone(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 31, 0);
  idm_problem *problem = cvar_scratch(&random, 0);
  double last = -INFINITY;
  for (int i = 0; i <= 10; i++) {
    idm_theta_set_scalar(problem->theta, IDM_BLOCK_COUNT, i / 10.0);
    idm_workspace *workspace = support_plan(problem, NULL);
    const double value = idm_plan_value(workspace, 0, problem->setting->start);
    assert_true(value >= last - 1e-6);
    last = value;
    idm_workspace_destroy(workspace);
  }
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fixed_point),
                                     cmocka_unit_test(test_ends), cmocka_unit_test(test_monotone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
