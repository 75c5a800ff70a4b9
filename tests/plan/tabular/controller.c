/* The controller against the optimum of Tiger and against sums over all ways through its nodes;
 * what it knows of itself, and what it refuses. */
#include "plan/tabular/controller.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "idm/data.h"
#include "support.h"

static idm_problem *read(const char *name, const char *setting)
{
  idm_problem *problem;
  check(idm_problem_read(name, &problem, NULL, &support_error));
  support_assign(problem, "planner=controller");
  if (setting) support_assign(problem, setting);
  return problem;
}

static idm_problem *parse(const char *text)
{
  idm_problem *problem;
  check(idm_problem_parse_yaml(text, strlen(text), "test.yaml", &problem, NULL, &support_error));
  return problem;
}

static const controller *content_of(const idm_workspace *workspace)
{
  return idm_workspace_behavior(workspace).content;
}

/* --- what it is worth ----------------------------------------------------------------------- */

enum { STATES = 2, NODES = 16 };

/* What an action is worth in a state and a node, given the values v of what may follow. */
static double ahead(const idm_problem *p, const controller *c, size_t s, size_t n, size_t u,
                    double v[STATES][NODES])
{
  const idm_sizes z = c->sizes;
  double q = p->theta->block[IDM_UTILITY].value[u * z.states + s];
  for (size_t next = 0; next < z.states; next++)
    for (size_t x = 0; x < z.observations; x++) {
      const double likely = p->setting->transition[(u * z.states + s) * z.states + next] *
                            p->setting->emission[(u * z.states + next) * z.observations + x];
      const double *pass =
          c->learnt[0].pass + ((n * z.actions + u) * z.observations + x) * c->nodes;
      for (size_t m = 0; likely > 0 && m < c->nodes; m++)
        q += idm_theta_scalar(p->theta, IDM_DISCOUNT) * likely * pass[m] * v[next][m];
    }
  return q;
}

/* The exact return of a controller of two states: states and nodes are a Markov chain. */
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

/* At least 95 % of the optimum, which nothing is above, and as much as it says. */
static void tiger_is_learnt(void **state)
{
  (void)state;
  const double optimum = 19.371368374891;
  idm_problem *problem = read("example:tiger", NULL);
  static const uint64_t seeds[] = {1, 2, 5, 8};
  for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
    problem->agent.seed = seeds[i];
    idm_plan_report report;
    idm_workspace *workspace = support_plan(problem, &report);
    const idm_experience found = report.experience;
    const double exact = worth(problem, content_of(workspace));
    print_message("return %.4f, estimated %.4f with standard error %.4f; gradient %.4f\n", exact,
                  found.value, found.standard_error, found.slope);
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
  idm_problem *problem = parse("states: [only]\nactions: [a, b, c]\nobservations: [seen]\n"
                               "transition: {\"*\": identity}\nobservation: {\"*\": [[1]]}\n"
                               "discount: 0.8\nutility: {a: 0, b: 1, c: 0.5}\n"
                               "agent: {planner: controller, nodes: 2, budget: 200000}\n");
  idm_plan_report report;
  idm_workspace *workspace = support_plan(problem, &report);
  assert_near(report.experience.value, 5, 0.01);
  assert_true(report.experience.slope < 0.02);
  assert_true(content_of(workspace)->learnt[0].choice[1] > 0.99);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* An episode ends with a terminal action: waiting costs, stopping pays once. */
static void terminal_actions_end_episodes(void **state)
{
  (void)state;
  idm_problem *problem = parse("states: [only]\nactions: [wait, stop]\nobservations: [seen]\n"
                               "transition: {\"*\": identity}\nobservation: {\"*\": [[1]]}\n"
                               "terminal: [stop]\ndiscount: 0.9\nutility: {wait: -1, stop: 4}\n"
                               "agent: {planner: controller, nodes: 2, budget: 200000}\n");
  idm_plan_report report;
  idm_workspace *workspace = support_plan(problem, &report);
  assert_near(report.experience.value, 4, 0.01);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Whatever an episode's length by the discount, no more transitions are drawn than were granted;
 * where too few whole ones fit, nothing is said of the return. */
static void the_budget_is_kept(void **state)
{
  (void)state;
  static const char *const discounts[] = {"discount=0.5", "discount=0.9", "discount=0.99",
                                          "discount=0.9999"};
  static const long budgets[] = {1000, 10000, 100000};
  for (size_t i = 0; i < 4; i++)
    for (size_t b = 0; b < 3; b++) {
      idm_problem *problem = read("example:tiger", discounts[i]);
      problem->agent.budget = budgets[b];
      idm_plan_report report;
      idm_workspace *workspace = support_plan(problem, &report);
      const idm_experience found = report.experience;
      assert_true(found.transitions > budgets[b] / 3 && found.transitions <= budgets[b]);
      /* Judged for a tenth of it: 5 episodes of log(1e-6)/log(discount) steps. */
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
  idm_problem *problem = read("example:tiger", "budget=100000");
  idm_workspace *first = support_plan(problem, NULL), *again = support_plan(problem, NULL);
  problem->agent.seed = 2;
  idm_workspace *other = support_plan(problem, NULL);
  const controller *a = content_of(first), *b = content_of(again), *c = content_of(other);
  const size_t size = a->nodes * a->sizes.actions * sizeof(double);
  const size_t passes = size * a->sizes.observations * a->nodes;
  assert_memory_equal(a->learnt[0].choice, b->learnt[0].choice, size);
  assert_memory_equal(a->learnt[0].pass, b->learnt[0].pass, passes);
  assert_true(memcmp(a->learnt[0].pass, c->learnt[0].pass, passes) != 0);
  idm_workspace_destroy(first);
  idm_workspace_destroy(again);
  idm_workspace_destroy(other);
  idm_problem_destroy(problem);
}

/* --- how likely what it did is -------------------------------------------------------------- */

/* The probability of a node's choice with habits, as TABLES writes them. */
static double choice(const idm_problem *p, const controller *c, size_t node, int last, size_t u)
{
  const double kappa = idm_theta_scalar(p->theta, IDM_PERSEVERANCE);
  const double lapse = idm_theta_scalar(p->theta, IDM_LAPSE);
  const double *pi = c->learnt[0].choice + node * c->sizes.actions;
  double total = 0;
  for (size_t v = 0; v < c->sizes.actions; v++) total += pi[v] * exp(kappa * (last == (int)v));
  return (1 - lapse) * pi[u] * exp(kappa * (last == (int)u)) / total +
         lapse / (double)c->sizes.actions;
}

/* The probability of all actions from a row on: a sum over every way through the nodes. */
static double ways(const idm_problem *p, const controller *c, const idm_data *data, size_t row,
                   size_t end, size_t node, int last)
{
  if (row == end) return 1;
  const size_t u = (size_t)data->action[row];
  const double chosen = choice(p, c, node, last, u);
  if (row + 1 == end) return chosen;
  const size_t x = (size_t)data->observation[row];
  const double *pass =
      c->learnt[0].pass + ((node * c->sizes.actions + u) * c->sizes.observations + x) * c->nodes;
  double total = 0;
  for (size_t n = 0; n < c->nodes; n++)
    total += pass[n] * ways(p, c, data, row + 1, end, n, (int)u);
  return chosen * total;
}

static void the_likelihood_sums_over_all_ways(void **state)
{
  (void)state;
  idm_problem *problem = read("example:tiger", "budget=300000");
  support_assign(problem, "nodes=4");
  idm_theta_set_scalar(problem->theta, IDM_PERSEVERANCE, 0.7);
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0.2);
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_behavior b = idm_workspace_behavior(workspace);
  const idm_simulation simulation = {.trajectories = 20, .steps = 6, .seed = 5};
  idm_data *data;
  idm_prefix_tree *tree;
  idm_scorer *scorer;
  idm_score score;
  check(idm_simulate(problem->setting, b, &simulation, &data, &support_error));
  check(idm_evidence_tree(problem, data, &tree, &support_error));
  check(idm_scorer_create(data, tree, &scorer, &support_error));
  check(idm_scorer_run(scorer, b, &score, &support_error));
  double expected = 0;
  for (size_t t = 0; t < data->trajectories; t++)
    expected += log(ways(problem, content_of(workspace), data, data->first[t], data->first[t + 1],
                         0, IDM_MISSING));
  assert_near(score.log_likelihood, expected, 1e-11);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* --- what it refuses ------------------------------------------------------------------------ */

static void gaps_are_refused(void **state)
{
  (void)state;
  idm_problem *problem = read("example:tiger", "budget=1000");
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_behavior b = idm_workspace_behavior(workspace);
  void *memory;
  double p[3];
  check(b.ops->memory_create(b.content, &memory, &support_error));
  check(b.ops->begin_agent(b.content, memory, &support_error));
  check(b.ops->begin_trajectory(b.content, memory, memory, 0, NULL, &support_error));
  check(b.ops->act(b.content, memory, NULL, p, &support_error));
  idm_event event = {.action = IDM_MISSING, .observation = 0};
  assert_int_equal(b.ops->observe(b.content, memory, memory, &event, NULL, NULL, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "an action was not recorded"));
  event = (idm_event){.action = 0, .observation = IDM_MISSING};
  assert_int_equal(b.ops->observe(b.content, memory, memory, &event, NULL, NULL, &support_error),
                   IDM_INPUT);
  event.last = true;
  check(b.ops->observe(b.content, memory, memory, &event, NULL, NULL, &support_error));
  assert_int_equal(b.ops->begin_trajectory(b.content, memory, memory, 1, NULL, &support_error),
                   IDM_USAGE);
  b.ops->memory_destroy(memory);
  idm_workspace_destroy(workspace);
  support_assign(problem, "horizon=3");
  assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                        &workspace, &support_error),
                   IDM_INPUT);
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
      cmocka_unit_test(the_likelihood_sums_over_all_ways),
      cmocka_unit_test(gaps_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
