/* Tests the requirements on every planner whose policies are functions of a belief. */
#include "plan/learner_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 3, ACTIONS = 3, MODELS = 2, HORIZON = 4, GUARD = 64 };
static const support_shape shape = {
    .states = STATES, .actions = ACTIONS, .observations = 2, .models = MODELS, .resolution = 6};

/* Returns the next planner over beliefs from index *i on and moves *i past it; NULL at the end. */
static const idm_planner *next_planner(size_t *i)
{
  while (support_planner_at(*i) && !support_planner_at(*i)->belief) ++*i;
  return support_planner_at((*i)++);
}

/* A planner used directly through its table; its theta is clamped as in a workspace. */
typedef struct table {
  const idm_planner *planner;
  idm_problem *problem;
  idm_workspace *workspace;
  void *content;
  size_t scratches;
  double *scratch; /* [scratches + GUARD] */
} table;

static const double guard = 7.25e77;

static table set_up(const idm_planner *planner, int horizon, idm_evaluate evaluate,
                    idm_random *random)
{
  table t = {.planner = planner, .problem = support_any(planner, shape, random)};
  idm_solver solver;
  idm_plan_report report;
  idm_solver_default(&solver);
  t.problem->setting->horizon = horizon;
  t.problem->agent.evaluate = evaluate;
  t.workspace = support_plan(t.problem, NULL);
  const idm_theta *theta = idm_workspace_theta(t.workspace);
  check(planner->create(t.problem->setting, theta, &t.problem->agent, &t.content, &support_error));
  check(planner->plan(t.content, theta, &solver, &report, &support_error));
  t.scratches = planner->belief->scratch(t.content);
  t.scratch = malloc((t.scratches + GUARD) * sizeof *t.scratch);
  assert_non_null(t.scratch);
  for (size_t i = 0; i < t.scratches + GUARD; i++) t.scratch[i] = i < t.scratches ? NAN : guard;
  return t;
}

/* Checks that the planner did not write beyond its scratch. */
static void tear_down(table *t)
{
  for (size_t i = 0; i < GUARD; i++) assert_true(t->scratch[t->scratches + i] == guard);
  free(t->scratch);
  t->planner->destroy(t->content);
  idm_workspace_destroy(t->workspace);
  idm_problem_destroy(t->problem);
}

static void policies_at(table *t, int steps, const double *z)
{
  const idm_belief_ops *belief = t->planner->belief;
  double decision[ACTIONS], again[ACTIONS], logs[ACTIONS], specification[ACTIONS * MODELS];
  belief->policy(t->content, 0, steps, z, decision, specification, t->scratch);
  double sum = 0;
  for (size_t u = 0; u < ACTIONS; u++) {
    double models = 0;
    assert_true(decision[u] >= 0);
    sum += decision[u];
    for (size_t m = 0; m < MODELS; m++) {
      assert_true(specification[u * MODELS + m] >= 0);
      models += specification[u * MODELS + m];
    }
    assert_near(models, 1, 1e-12);
  }
  assert_near(sum, 1, 1e-12);
  /* The policy does not depend on whether the specification is requested. */
  belief->policy(t->content, 0, steps, z, again, NULL, t->scratch);
  assert_memory_equal(again, decision, sizeof again);
  belief->log_policy(t->content, 0, steps, z, logs, t->scratch);
  for (size_t u = 0; u < ACTIONS; u++) {
    assert_near(exp(logs[u]), decision[u], 1e-12);
    if (decision[u] > 1e-200) assert_near(logs[u], log(decision[u]), 1e-10);
  }
  if (belief->value) assert_true(isfinite(belief->value(t->content, 0, steps, z, t->scratch)));
}

static void policies_are_distributions(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 71, 0);
  const idm_planner *planner;
  for (size_t i = 0; (planner = next_planner(&i));)
    for (int k = 0; k < 4; k++) {
      const int horizon = k % 2 ? HORIZON : 0;
      if (!(planner->supports & (horizon ? IDM_SUPPORTS_HORIZON : IDM_SUPPORTS_STATIONARY)))
        continue;
      table t = set_up(planner, horizon, k < 2 ? IDM_LOOKAHEAD : IDM_INTERPOLATE, &random);
      for (int draw = 0; draw < 20; draw++) {
        double z[STATES];
        support_distribution(&random, z, STATES);
        if (draw < STATES)
          for (int s = 0; s < STATES; s++) z[s] = s == draw; /* the corners */
        policies_at(&t, horizon ? draw % HORIZON : 0, z);
      }
      tear_down(&t);
    }
}

/* A workspace returns the value of the table, and NaN if the table has no value. */
static void values_are_there_as_the_table_says(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 72, 0);
  const idm_planner *planner;
  for (size_t i = 0; (planner = next_planner(&i));) {
    table t = set_up(planner, 0, IDM_LOOKAHEAD, &random);
    double z[STATES], decision[ACTIONS], expected[ACTIONS];
    support_distribution(&random, z, STATES);
    const double value = idm_plan_value(t.workspace, 0, z);
    assert_int_equal(planner->belief->value == NULL, isnan(value) != 0);
    if (planner->belief->value)
      assert_near(value, planner->belief->value(t.content, 0, 0, z, t.scratch), 1e-12);
    idm_plan_policy(t.workspace, 0, z, decision, NULL);
    planner->belief->policy(t.content, 0, 0, z, expected, NULL, t.scratch);
    for (size_t u = 0; u < ACTIONS; u++) assert_near(decision[u], expected[u], 1e-12);
    tear_down(&t);
  }
  /* A planner that does not decide by a belief has neither value nor policy of a belief. */
  for (size_t i = 0; support_planner_at(i); i++) {
    if (support_planner_at(i)->belief) continue;
    idm_problem *problem = support_any(support_planner_at(i), shape, &random);
    idm_workspace *workspace = support_plan(problem, NULL);
    double z[STATES], decision[ACTIONS];
    support_distribution(&random, z, STATES);
    assert_true(isnan(idm_plan_value(workspace, 0, z)));
    idm_plan_policy(workspace, 0, z, decision, NULL);
    for (size_t u = 0; u < ACTIONS; u++) assert_true(isnan(decision[u]));
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

static void tables_are_complete(void **state)
{
  (void)state;
  const idm_planner *planner;
  for (size_t i = 0; (planner = next_planner(&i));) {
    const idm_belief_ops *belief = planner->belief;
    const idm_adjoint_ops *adjoint = belief->adjoint;
    assert_true(belief->scratch && belief->policy && belief->log_policy);
    if (adjoint)
      assert_true(adjoint->create && adjoint->destroy && adjoint->begin && adjoint->point &&
                  adjoint->finish);
  }
}

/* An adjoint without contributions returns zeros, and can be used again. */
static void an_adjoint_of_nothing_is_nothing(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 73, 0);
  const idm_planner *planner;
  for (size_t i = 0; (planner = next_planner(&i));) {
    const idm_adjoint_ops *ops = planner->belief->adjoint;
    if (!ops) continue;
    table t = set_up(planner, 0, IDM_LOOKAHEAD, &random);
    void *adjoint;
    idm_theta *derivative;
    check(idm_theta_copy(t.problem->theta, &derivative, &support_error));
    check(ops->create(t.content, &adjoint, &support_error));
    for (int run = 0; run < 2; run++) {
      double decision[ACTIONS], zeros[ACTIONS * MODELS] = {0}, z[STATES], back[STATES] = {0};
      support_distribution(&random, z, STATES);
      planner->belief->policy(t.content, 0, 0, z, decision, NULL, t.scratch);
      const idm_policy_adjoint point = {.belief = z,
                                        .decision = decision,
                                        .log_decision_gradient = zeros,
                                        .specification_gradient = zeros,
                                        .opt_belief_gradient = back};
      idm_theta_clear(derivative);
      ops->begin(adjoint);
      if (run) ops->point(adjoint, &point);
      check(ops->finish(adjoint, derivative, &support_error));
      for (size_t id = 0; id < derivative->blocks; id++)
        for (size_t k = 0; k < derivative->block[id].size; k++)
          assert_true(derivative->block[id].value[k] == 0);
      for (size_t s = 0; s < STATES; s++) assert_true(back[s] == 0);
    }
    ops->destroy(adjoint);
    ops->destroy(NULL);
    idm_theta_destroy(derivative);
    tear_down(&t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_are_complete),
      cmocka_unit_test(policies_are_distributions),
      cmocka_unit_test(values_are_there_as_the_table_says),
      cmocka_unit_test(an_adjoint_of_nothing_is_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
