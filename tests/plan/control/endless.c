/* Tests a discount of 1 without a horizon, where episodes terminate by themselves, against
 * published utilities and direct value iteration. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Published utilities of the 4x3 world of Russell and Norvig, by state "xy". */
static void test_world(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    double value;
  } printed[] = {{"13", 0.812}, {"23", 0.868}, {"33", 0.918}, {"43", 1},
                 {"12", 0.762}, {"32", 0.660}, {"42", -1},    {"11", 0.705},
                 {"21", 0.655}, {"31", 0.611}, {"41", 0.388}, {"end", 0}};
  idm_problem *problem;
  check(idm_problem_read("plan/control/world.yaml", &problem, NULL, &support_error));
  idm_plan_report report;
  idm_workspace *workspace = support_plan(problem, &report);
  assert_true(report.bound < 1e-11);
  const size_t states = problem->setting->states.count;
  double *z = calloc(states, sizeof *z);
  assert_non_null(z);
  for (size_t i = 0; i < sizeof printed / sizeof printed[0]; i++) {
    const long s =
        idm_labels_find(&problem->setting->states, printed[i].name, strlen(printed[i].name));
    assert_true(s >= 0);
    z[s] = 1;
    assert_true(fabs(idm_plan_value(workspace, 0, z) - printed[i].value) < 5.1e-4);
    z[s] = 0;
  }
  free(z);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Direct value iteration to convergence: V is alpha log sum pi~ exp(Q/alpha), or the maximum. */
static void plain(const idm_problem *problem, double alpha, double *v)
{
  const idm_setting *setting = problem->setting;
  const size_t n = setting->states.count, actions = setting->actions.count;
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  for (int sweep = 0; sweep < 20000; sweep++)
    for (size_t s = 0; s < n; s++) {
      double q[8], best = -INFINITY, sum = 0;
      for (size_t u = 0; u < actions; u++) {
        q[u] = utility[u * n + s];
        for (size_t t = 0; t < n && !setting->terminal[u]; t++)
          q[u] += idm_sparse_rows_probability(setting->moves, u * n + s, t) * v[t];
        best = fmax(best, q[u]);
      }
      for (size_t u = 0; u < actions; u++) sum += exp((q[u] - best) / alpha) / (double)actions;
      v[s] = alpha > 0 ? best + alpha * log(sum) : best;
    }
}

static void agrees(const char *text, double alpha)
{
  idm_problem *problem = support_yaml(text);
  if (alpha > 0) {
    check(idm_problem_set_planner(problem, idm_planner_find("maximum-entropy"), &support_error));
    idm_theta_set_scalar(problem->theta, IDM_ALPHA, alpha);
  }
  idm_plan_report report;
  idm_workspace *workspace = support_plan(problem, &report);
  const size_t n = problem->setting->states.count;
  double *v = calloc(2 * n, sizeof *v), *z = v + n;
  assert_non_null(v);
  plain(problem, alpha, v);
  for (size_t s = 0; s < n; s++) {
    z[s] = 1;
    const double value = idm_plan_value(workspace, 0, z);
    assert_near(value, v[s], 1e-9);
    /* The reported bound holds, if there is one. */
    assert_true(fabs(value - v[s]) <= report.bound + 1e-12);
    z[s] = 0;
  }
  free(v);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

#define HEAD                                                                                       \
  "states: [a, b, c]\nactions: [x, y]\nobservations: states\ndiscount: 1\n"                        \
  "agent: {planner: rational}\n"

static void test_plain(void **state)
{
  (void)state;
  static const double alphas[] = {0, 0.05, 1};
  static const char *const problems[] = {
      HEAD "transition: {x: {a: {a: .5, b: .5}, b: {a: .9, c: .1}, c: c}, y: {a: b, b: a, c: c}}\n"
           "utility: {x: [-1, -2, 0], y: [-0.5, -0.1, 0]}\n",
      /* Passing through b has a positive utility, which cannot last. */
      HEAD "transition: {x: {a: a, b: c, c: c}, y: {a: b, b: {c: .5, b: .5}, c: c}}\n"
           "utility: {x: [-0.1, 3, 0], y: [-1, -0.2, 0]}\n",
      /* Termination by an action. */
      HEAD
      "terminal: [y]\ntransition: {x: {a: {b: .7, c: .3}, b: {a: .5, c: .5}, c: {a: .2, b: .8}}}\n"
      "utility: {x: -0.3, y: [1, 5, -2]}\n",
  };
  for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++)
    for (size_t k = 0; k < 3; k++) agrees(problems[i], alphas[k]);
}

static void refused(const char *text, const char *words)
{
  idm_problem *problem = support_yaml(text);
  idm_workspace *workspace;
  idm_error error = {0};
  check(
      idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace, &error));
  assert_int_equal(idm_plan(problem->theta, NULL, workspace, NULL, &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void test_refused(void **state)
{
  (void)state;
  refused(HEAD "transition: {x: {a: b, b: a, c: c}, y: {a: b, b: a, c: c}}\n"
               "utility: {x: [-1, -1, 0], y: [-1, -1, 0]}\n",
          "from 'a' no policy terminates");
  /* The absorbing state has a negative utility for ever. */
  refused(HEAD "transition: {x: {a: b, b: c, c: c}, y: identity}\nutility: {x: -1, y: -1}\n",
          "no policy terminates");
  /* Waiting has a utility of 0, or more. */
  refused(HEAD "transition: {x: {a: b, b: c, c: c}, y: {a: a, b: b, c: c}}\n"
               "utility: {x: [-1, -1, 0], y: [0, -1, 0]}\n",
          "as in 'a', was not shown to have a negative mean utility");
  refused(HEAD "transition: {x: {a: b, b: {a: .9, c: .1}, c: c}, y: {a: b, b: a, c: c}}\n"
               "utility: {x: [-1, 2, 0], y: [-1, 1.5, 0]}\n",
          "was not shown to have a negative mean utility");
  idm_problem *problem = support_yaml(HEAD "transition: {x: {\"*\": c}, y: identity}\n"
                                           "utility: {x: -1, y: -1}\n");
  check(idm_problem_set_planner(problem, idm_planner_find("bounded-rational"), &support_error));
  support_set(problem, -1, INFINITY, 0);
  idm_workspace *workspace;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  assert_int_equal(idm_plan(problem->theta, NULL, workspace, NULL, &support_error), IDM_INPUT);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_world), cmocka_unit_test(test_plain),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
