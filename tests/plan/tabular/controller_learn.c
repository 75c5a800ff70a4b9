/* Tests learnt controllers: against the optimum of Tiger, their own estimate of the return, and
 * their budget. */
#include <math.h>
#include <string.h>

#include "plan/tabular/controller_support.h"

enum { STATES = 2, NODES = 16 };

/* The value of an action in a state and a node, given the values v of the successors. */
static double ahead(const idm_problem *p, const controller *c, size_t s, size_t n, size_t u,
                    double v[STATES][NODES])
{
  const idm_sizes z = c->sizes;
  double q = p->theta->block[IDM_UTILITY].value[u * z.states + s];
  for (size_t next = 0; next < z.states; next++)
    for (size_t x = 0; x < z.observations; x++) {
      const double likely = p->setting->transition[(u * z.states + s) * z.states + next] *
                            p->setting->emission[(u * z.states + next) * z.observations + x];
      const double *node_transition =
          c->learnt[0].node_transition + ((n * z.actions + u) * z.observations + x) * c->nodes;
      for (size_t m = 0; likely > 0 && m < c->nodes; m++)
        q += idm_theta_scalar(p->theta, IDM_DISCOUNT) * likely * node_transition[m] * v[next][m];
    }
  return q;
}

/* The exact return of a controller of two states, by the Markov chain of states and nodes. */
static double worth(const idm_problem *p, const controller *c)
{
  double v[STATES][NODES] = {{0}}, w[STATES][NODES], moved = 1;
  assert_true(c->sizes.states == STATES && c->nodes <= NODES);
  while (moved > 1e-12) {
    moved = 0;
    for (size_t s = 0; s < STATES; s++)
      for (size_t n = 0; n < c->nodes; n++) {
        w[s][n] = 0;
        for (size_t u = 0; u < c->sizes.actions; u++)
          w[s][n] += c->learnt[0].choice[n * c->sizes.actions + u] * ahead(p, c, s, n, u, v);
        moved = fmax(moved, fabs(w[s][n] - v[s][n]));
      }
    memcpy(v, w, sizeof v);
  }
  return p->setting->start[0] * v[0][0] + p->setting->start[1] * v[1][0];
}

/* The return is at least 95 % of the optimum, not above it, and equal to its own estimate. */
static void tiger_is_learnt(void **state)
{
  (void)state;
  const double optimum = 19.371368374891;
  idm_problem *problem = controller_read("example:tiger", NULL);
  static const uint64_t seeds[] = {1, 2, 5, 8};
  for (size_t i = 0; i < (IDM_LONG ? 4 : 2); i++) {
    problem->agent.seed = seeds[i];
    idm_plan_report report;
    idm_workspace *workspace = support_plan(problem, &report);
    const idm_learning_report found = report.learning;
    const double exact = worth(problem, controller_of(workspace));
    print_message("return %.4f, estimated %.4f with standard error %.4f; gradient %.4f\n", exact,
                  found.value, found.standard_error, found.derivative);
    assert_true(exact >= 0.95 * optimum && exact <= optimum);
    assert_true(found.value >= 0.95 * optimum && found.value <= optimum + found.standard_error);
    assert_true(fabs(found.value - exact) < 4 * found.standard_error);
    assert_true(report.stop == IDM_STOP_BUDGET && isinf(report.bound) && isnan(found.residual));
    assert_true(found.transitions <= 30000000);
    idm_workspace_destroy(workspace);
  }
  idm_problem_destroy(problem);
}

/* One state and no noise: the best action, and a return without error. */
static void a_bandit_is_learnt(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml("states: [only]\nactions: [a, b, c]\nobservations: [seen]\n"
                                      "transition: {\"*\": identity}\nobservation: {\"*\": [[1]]}\n"
                                      "discount: 0.8\nutility: {a: 0, b: 1, c: 0.5}\n"
                                      "agent: {planner: controller, nodes: 2, budget: 200000}\n");
  idm_plan_report report;
  idm_workspace *workspace = support_plan(problem, &report);
  assert_near(report.learning.value, 5, 0.01);
  assert_true(report.learning.derivative < 0.02);
  assert_true(controller_of(workspace)->learnt[0].choice[1] > 0.99);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* An episode ends with a terminal action: waiting costs, stopping pays once. */
static void terminal_actions_end_episodes(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [only]\nactions: [wait, stop]\nobservations: [seen]\n"
                   "transition: {\"*\": identity}\nobservation: {\"*\": [[1]]}\n"
                   "terminal: [stop]\ndiscount: 0.9\nutility: {wait: -1, stop: 4}\n"
                   "agent: {planner: controller, nodes: 2, budget: 200000}\n");
  idm_plan_report report;
  idm_workspace *workspace = support_plan(problem, &report);
  assert_near(report.learning.value, 4, 0.01);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Whatever the length of an episode by the discount, no more transitions are drawn than the budget;
 * if too few complete episodes fit, there is no estimate of the return. */
static void the_budget_is_kept(void **state)
{
  (void)state;
  static const char *const discounts[] = {"discount=0.5", "discount=0.9", "discount=0.99",
                                          "discount=0.9999"};
  static const long budgets[] = {1000, 10000, 100000};
  for (size_t i = 0; i < 4; i++)
    for (size_t b = 0; b < 3; b++) {
      idm_problem *problem = controller_read("example:tiger", discounts[i]);
      problem->agent.budget = budgets[b];
      idm_plan_report report;
      idm_workspace *workspace = support_plan(problem, &report);
      const idm_learning_report found = report.learning;
      assert_true(found.transitions > budgets[b] / 3 && found.transitions <= budgets[b]);
      /* The evaluation uses a tenth of the budget: at least 5 episodes of log(1e-6)/log(discount)
       * steps. */
      const double judged = 0.1 * (double)budgets[b];
      const double length = ceil(log(1e-6) / log(idm_theta_scalar(problem->theta, IDM_DISCOUNT)));
      assert_int_equal(isnan(found.value) != 0, judged < 5 * fmin(length, 10000));
      assert_int_equal(isnan(found.value), isnan(found.standard_error));
      idm_workspace_destroy(workspace);
      idm_problem_destroy(problem);
    }
}

static void the_seed_decides(void **state)
{
  (void)state;
  idm_problem *problem = controller_read("example:tiger", "budget=100000");
  idm_workspace *first = support_plan(problem, NULL), *again = support_plan(problem, NULL);
  problem->agent.seed = 2;
  idm_workspace *other = support_plan(problem, NULL);
  const controller *a = controller_of(first), *b = controller_of(again), *c = controller_of(other);
  const size_t size = a->nodes * a->sizes.actions * sizeof(double);
  const size_t passes = size * a->sizes.observations * a->nodes;
  assert_memory_equal(a->learnt[0].choice, b->learnt[0].choice, size);
  assert_memory_equal(a->learnt[0].node_transition, b->learnt[0].node_transition, passes);
  assert_true(memcmp(a->learnt[0].node_transition, c->learnt[0].node_transition, passes) != 0);
  idm_workspace_destroy(first);
  idm_workspace_destroy(again);
  idm_workspace_destroy(other);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiger_is_learnt),
      cmocka_unit_test(a_bandit_is_learnt),
      cmocka_unit_test(terminal_actions_end_episodes),
      cmocka_unit_test(the_budget_is_kept),
      cmocka_unit_test(the_seed_decides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
