/* Agents of the paper's table: bounded rational control with some blocks clamped, each equal to
 * what it is a limit of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* A problem for all of them: alpha and beta of the signs that each can have. */
static idm_problem *common_problem(const char *planner)
{
  idm_problem *problem = support_diag(0.7, -1.5, 0.2);
  idm_theta *theta = problem->theta;
  check(idm_problem_plan_by(problem, idm_planner_find(planner), &support_error));
  const double prior[3] = {0.2, 0.3, 0.5};
  memcpy(theta->block[IDM_ACTION_PRIOR].value, prior, sizeof prior);
  return problem;
}

/* The policy of a planner at belief z in DIAG. */
static void policy_of(const char *planner, const char *const *settings, double z, double *policy)
{
  idm_problem *problem = common_problem(planner);
  for (; settings && *settings; settings++) support_assign(problem, *settings);
  idm_workspace *workspace = support_plan(problem, NULL);
  const double belief[2] = {1 - z, z};
  idm_plan_policy(workspace, 0, belief, policy, NULL);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void same_policy(const char *a, const char *const *a_settings, const char *b,
                        const char *const *b_settings, double tolerance)
{
  for (double z = 0.03; z < 1; z += 0.11) {
    double p[3], q[3];
    policy_of(a, a_settings, z, p);
    policy_of(b, b_settings, z, q);
    for (int u = 0; u < 3; u++) assert_near(p[u], q[u], tolerance);
  }
}

static void agents_are_what_the_table_says(void **state)
{
  (void)state;
  double p[3];
  policy_of("uniformly-random", NULL, 0.9, p);
  for (int u = 0; u < 3; u++) assert_near(p[u], 1.0 / 3, 1e-12);
  policy_of("deterministic-optimal", NULL, 0.5, p);
  assert_near(p[2], 1, 0);
  policy_of("deterministic-optimal", NULL, 0.99, p);
  assert_near(p[1], 1, 0);
  /* Boltzmann exploration becomes the optimal agent as its temperature falls. */
  same_policy("boltzmann-exploratory", (const char *[]){"temperature=1e-9", NULL},
              "deterministic-optimal", NULL, 1e-9);
  policy_of("boltzmann-exploratory", (const char *[]){"temperature=1e9", NULL}, 0.9, p);
  assert_near(p[0], 1.0 / 3, 1e-6);
  /* KL-regularised with a uniform prior is maximum entropy. */
  idm_problem *problem = common_problem("kl-regularised");
  for (int u = 0; u < 3; u++) problem->theta->block[IDM_ACTION_PRIOR].value[u] = 1.0 / 3;
  idm_workspace *workspace = support_plan(problem, NULL);
  double q[3];
  idm_plan_policy(workspace, 0, (const double[]){0.4, 0.6}, q, NULL);
  policy_of("maximum-entropy", NULL, 0.6, p);
  for (int u = 0; u < 3; u++) assert_near(p[u], q[u], 1e-9);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
  /* Robustness fades as beta goes to minus infinity: the rational planner remains. */
  same_policy("kl-penalised-robust", (const char *[]){"beta=-1e9", NULL}, "rational", NULL, 1e-9);
}

static void agents_refuse_what_they_cannot_be(void **state)
{
  (void)state;
  const char *const cases[][3] = {{"maximum-entropy", "alpha=-1", "positive"},
                                  {"kl-regularised", "alpha=inf", "positive"},
                                  {"kl-penalised-robust", "beta=2", "negative"}};
  for (size_t i = 0; i < 3; i++) {
    idm_problem *problem = common_problem(cases[i][0]);
    support_assign(problem, cases[i][1]);
    idm_workspace *workspace;
    assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                          &workspace, &support_error),
                     IDM_INPUT);
    assert_non_null(strstr(support_error.message, cases[i][2]));
    idm_problem_destroy(problem);
  }
}

/* An MDP costs one point a state, and agrees with value iteration written out plainly. */
static void an_mdp_needs_no_lattice(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  support_set(problem, 0, INFINITY, 0);
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_sizes n = idm_setting_sizes(problem->setting);
  assert_int_equal(idm_workspace_points(workspace), n.states);
  const double gamma = idm_theta_scalar(problem->theta, IDM_DISCOUNT);
  const double *utility = idm_theta_values(problem->theta, IDM_UTILITY, 0);
  double *v = calloc(n.states, sizeof *v), *next = calloc(n.states, sizeof *next);
  double *mean = calloc(n.actions * n.states * n.states, sizeof *mean);
  for (size_t m = 0; m < problem->theta->models; m++)
    for (size_t i = 0; i < n.actions * n.states * n.states; i++)
      mean[i] +=
          problem->theta->block[IDM_MODEL_PRIOR].value[m] *
          problem->theta->block[IDM_TRANSITION].value[m * n.actions * n.states * n.states + i];
  for (int sweep = 0; sweep < 3000; sweep++) {
    for (size_t s = 0; s < n.states; s++) {
      next[s] = -INFINITY;
      for (size_t u = 0; u < n.actions; u++) {
        double q = utility[u * n.states + s];
        for (size_t t = 0; t < n.states; t++)
          q += problem->setting->terminal[u]
                   ? 0
                   : gamma * mean[(u * n.states + s) * n.states + t] * v[t];
        next[s] = fmax(next[s], q);
      }
    }
    memcpy(v, next, n.states * sizeof *v);
  }
  for (size_t s = 0; s < n.states; s++) {
    double *corner = calloc(n.states, sizeof *corner);
    corner[s] = 1;
    assert_near(idm_plan_value(workspace, 0, corner), v[s], 1e-8);
    free(corner);
  }
  free(v);
  free(next);
  free(mean);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agents_are_what_the_table_says),
      cmocka_unit_test(agents_refuse_what_they_cannot_be),
      cmocka_unit_test(an_mdp_needs_no_lattice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
