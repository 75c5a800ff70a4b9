/* Tests the agents of the paper's table, which are bounded rational control with some blocks
 * clamped, against the limits that they equal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* A problem for all agents: alpha and beta have signs that each of them accepts. */
static idm_problem *common_problem(const char *planner)
{
  idm_problem *problem = support_diag(0.7, -1.5, 0.2);
  idm_theta *theta = problem->theta;
  check(idm_problem_set_planner(problem, idm_planner_find(planner), &support_error));
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
  /* Boltzmann exploration converges to the optimal agent as its temperature decreases. */
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
  /* As beta tends to minus infinity robustness vanishes, and the rational planner is the limit. */
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

/* With a discount of 1, a horizon and deterministic transitions, exp(V/alpha) of a KL-regularised
 * planner is linear: z_t(s) = sum_u prior(u) exp(u(s,u)/alpha) z_{t+1}(next(s,u)). */
static void kl_regularised_control_is_linear(void **state)
{
  (void)state;
  enum { STATES = 4, ACTIONS = 3, STEPS = 6 };
  static const size_t next[ACTIONS][STATES] = {{1, 2, 3, 0}, {0, 0, 1, 3}, {2, 3, 0, 1}};
  static const double prior[ACTIONS] = {0.2, 0.5, 0.3}, alpha = 0.7;
  idm_problem *problem = support_yaml(
      "states: [a, b, c, d]\nactions: [x, y, z]\nobservations: states\nstart: a\n"
      "discount: 1\nhorizon: 6\naction_prior: [0.2, 0.5, 0.3]\n"
      "transition: {x: {a: b, b: c, c: d, d: a}, y: {a: a, b: a, c: b, d: d}, "
      "z: {a: c, b: d, c: a, d: b}}\n"
      "utility: {x: [0.3, -1, 2, 0.1], y: [0, 0.4, -0.6, 1], z: [-2, 0.7, 0.2, -0.3]}\n"
      "agent: {planner: kl-regularised, alpha: 0.7}\n");
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  idm_workspace *workspace = support_plan(problem, NULL);
  double later[STATES] = {1, 1, 1, 1};
  for (int t = STEPS; t-- > 0;) {
    double now[STATES] = {0};
    for (size_t s = 0; s < STATES; s++) {
      double z[STATES] = {0}, policy[ACTIONS], part[ACTIONS];
      for (size_t u = 0; u < ACTIONS; u++) {
        part[u] = prior[u] * exp(utility[u * STATES + s] / alpha) * later[next[u][s]];
        now[s] += part[u];
      }
      z[s] = 1;
      assert_near(idm_plan_value_after(workspace, 0, t, z), alpha * log(now[s]), 1e-12);
      if (t) continue;
      idm_plan_policy(workspace, 0, z, policy, NULL);
      for (size_t u = 0; u < ACTIONS; u++) assert_near(policy[u], part[u] / now[s], 1e-12);
    }
    memcpy(later, now, sizeof later);
  }
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* An MDP needs one point per state, and agrees with direct value iteration. */
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
      cmocka_unit_test(kl_regularised_control_is_linear),
      cmocka_unit_test(an_mdp_needs_no_lattice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
