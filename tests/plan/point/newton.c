/* Tests that bounds improved by Newton's method remain bounds, and equal the limit of value
 * iteration. */
#include "plan/point/search.h"

#include <math.h>
#include <string.h>

#include "plan/point/graph_support.h"

/* The optimal value of Tiger at equal odds. */
static const double tiger_value = 19.371368374891;

/* A plan that listens twice and opens the door heard less often satisfies, repeated for ever, v =
 * -1 - g + g^2 (r + g v), with r by hand. */
static void plans_are_worth_what_they_go_on_as(void **state)
{
  (void)state;
  fixture f;
  open_graph(&f, "example:tiger");
  search_graph *g = &f.graph;
  alphas *lower = &f.bounds.stage[0].lower;
  g->plans.width = 2;
  uint32_t start;
  check(idm_graph_add(g, 0, f.p.start, &start, &support_error));
  /* Vectors far below their value: listen and continue with the next; open left or right, and start
   * again. Plans that repeat an action are omitted. */
  idm_alphas_free(lower);
  static const double low[] = {-1e5, -1e5};
  static const uint32_t after[][2] = {{2, 1}, {0, 0}, {0, 0}};
  for (size_t i = 0; i < 3; i++) {
    const double slight[] = {low[0] + (double)i, low[1] - (double)i};
    check(idm_alphas_add(lower, slight, i, &support_error));
    check(idm_plans_add(&g->plans, start, after[i], &support_error));
  }
  for (int n = 0; n < 3; n++) check(idm_newton_lower(g, &support_error));
  /* Listen, then open the other door: 10 with probability .85, else -100; then start again. */
  const double once = -1 + 0.95 * (0.85 * 10 - 0.15 * 100);
  const double worth = once / (1 - 0.95 * 0.95);
  assert_near(idm_graph_lower(g, start), worth, 1e-6);
  assert_true(idm_graph_lower(g, start) <= worth + 1e-9);
  close_graph(&f);
}

static void make_point(search_graph *g, uint32_t at)
{
  const double value = idm_graph_upper(g, at);
  const sparse_belief b = graph_belief(g, at);
  sawtooth *upper = &g->bounds->stage[0].upper;
  uint32_t *point = &g->node[at].point;
  if (*point == SAWTOOTH_NONE)
    check(idm_sawtooth_lower(upper, &b, value, at, point, &support_error));
}

/* Adds all successors of the start within this many steps, by any actions, as points of the bound.
 */
static void spread(search_graph *g, int steps)
{
  for (int n = 0; n < steps; n++) {
    const size_t count = g->count;
    for (uint32_t at = 0; at < count; at++)
      for (size_t u = 0; u < g->problem->kernel->actions; u++)
        check(idm_graph_expand(g, at, u, &support_error));
  }
  for (uint32_t at = 0; at < g->count; at++) make_point(g, at);
}

static void points_come_down_and_stay_above(void **state)
{
  (void)state;
  fixture f;
  open_graph(&f, "example:tiger");
  search_graph *g = &f.graph;
  uint32_t start;
  check(idm_graph_add(g, 0, f.p.start, &start, &support_error));
  spread(g, 18);
  double before = idm_graph_upper(g, start);
  assert_true(before > 40);
  for (int n = 0; n < 4; n++) {
    check(idm_newton_upper(g, 0, &support_error));
    const double now = idm_graph_upper(g, start);
    assert_true(now <= before && now >= tiger_value - 1e-9);
    before = now;
  }
  assert_near(before, tiger_value, 1e-3);
  close_graph(&f);
}

static bool looked_often(void *context, double lower, double upper)
{
  assert_true(lower <= upper);
  return ++*(int *)context > 60;
}

/* Values of the start: of repeating an action for ever, at best, and of an agent that observes the
 * states. */
static void plain_bounds(const idm_problem *problem, double *lower, double *upper)
{
  const double *move = problem->setting->transition;
  const double *utility = idm_theta_values(problem->theta, IDM_UTILITY, 0);
  const double g = problem->theta->block[IDM_DISCOUNT].value[0];
  double blind[3][3] = {{0}}, seen[3] = {0};
  for (int step = 0; step < 300000; step++) {
    double best[3] = {-INFINITY, -INFINITY, -INFINITY}, next[3][3];
    for (size_t u = 0; u < 3; u++)
      for (size_t s = 0; s < 3; s++) {
        double same = utility[u * 3 + s], any = same;
        for (size_t t = 0; t < 3; t++) {
          same += g * move[(u * 3 + s) * 3 + t] * blind[u][t];
          any += g * move[(u * 3 + s) * 3 + t] * seen[t];
        }
        next[u][s] = same;
        best[s] = fmax(best[s], any);
      }
    memcpy(blind, next, sizeof blind);
    memcpy(seen, best, sizeof seen);
  }
  *lower = -INFINITY;
  *upper = 0;
  for (size_t u = 0; u < 3; u++) {
    double value = 0;
    for (size_t s = 0; s < 3; s++) value += problem->setting->start[s] * blind[u][s];
    *lower = fmax(*lower, value);
  }
  for (size_t s = 0; s < 3; s++) *upper += problem->setting->start[s] * seen[s];
}

/* Actions with fewer outcomes than others have shorter plans. Unused entries contain a valid vector
 * index, and must not be followed. */
static void actions_may_have_fewer_outcomes(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "{states: [a, b, c], actions: [x, y, z], observations: [p, q, r], discount: 0.9999,\n"
      "start: [0, 1, 0], transition: {x: [[.12, .45, .43], [.24, .39, .37], [0, .5, .5]],\n"
      "y: [[.36, .14, .5], [1, 0, 0], [.73, 0, .27]], z: [[1, 0, 0], [.4, .6, 0], [.27, 0, "
      ".73]]},\n"
      "observation: {x: [[.82, 0, .18], [.15, .46, .39], [.65, 0, .35]],\n"
      "y: [[.17, 0, .83], [.23, .62, .15], [0, .86, .14]], z: [[0, .5, .5], [0, .86, .14], [0, 1, "
      "0]]},\n"
      "utility: {x: [3.4, 0, 2.7], y: [1.8, -.6, .2], z: [-.3, 1.5, 1.2]},\n"
      "agent: {planner: point-based, gap: 1e-5}}");
  idm_workspace *workspace;
  idm_solver solver;
  idm_plan_report report;
  double lower, upper;
  int looks = 0;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  idm_solver_default(&solver);
  solver.tolerance = 1e-5;
  solver.opt_monitor = looked_often;
  solver.monitor_context = &looks;
  check(idm_plan(problem->theta, &solver, workspace, &report, &support_error));
  check(idm_plan_bounds(workspace, 0, problem->setting->start, &lower, &upper, &support_error));
  double least, most;
  plain_bounds(problem, &least, &most);
  print_message("  %.3f to %.3f; plainly %.3f to %.3f\n", lower, upper, least, most);
  assert_true(lower <= upper && lower <= most + 1e-6 && upper >= least - 1e-6);
  /* The bounds are no worse than those from which the search starts, and much closer. */
  assert_true(lower >= least - 1e-6 && upper <= most + 1e-6);
  assert_true(upper - lower < 0.2 * (most - least));
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans_are_worth_what_they_go_on_as),
      cmocka_unit_test(points_come_down_and_stay_above),
      cmocka_unit_test(actions_may_have_fewer_outcomes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
