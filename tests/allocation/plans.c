/* Tests failing allocations during planning, and while a plan is simulated and scored. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "allocation/heap_support.h"
#include "allocation/setup_support.h"

static idm_status use_plan(const idm_problem *problem, idm_workspace *workspace, idm_error *error)
{
  const idm_sizes n = idm_setting_sizes(problem->setting);
  double decision[16];
  idm_forward forward;
  assert_true(n.actions <= sizeof decision / sizeof decision[0]);
  idm_plan_value(workspace, 0, problem->setting->start);
  idm_plan_policy(workspace, 0, problem->setting->start, decision, NULL);
  if (idm_workspace_planner(workspace)->lattice) {
    const idm_status status = idm_plan_forward(workspace, 0, &forward, NULL, error);
    if (status != IDM_OK) return status;
  }
  double lower, upper;
  return idm_plan_bounds(workspace, 0, problem->setting->start, &lower, &upper, error);
}

static idm_status plan(const void *argument, idm_error *error)
{
  const idm_problem *problem = argument;
  idm_workspace *workspace = GARBAGE;
  idm_status status =
      idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace, error);
  assert_result(status, workspace);
  if (status == IDM_OK) status = idm_plan(problem->theta, NULL, workspace, NULL, error);
  if (status == IDM_OK) status = use_plan(problem, workspace, error);
  idm_workspace_destroy(workspace);
  return status;
}

static void test_plan(void **state)
{
  (void)state;
  static const char *const cases[][2] = {{"example:diag", "alpha=0.5"},
                                         {"example:diag", "recognition=sampled"},
                                         {"example:diag", "surprise=observation"},
                                         {"example:diag", "evaluate=lookahead"},
                                         {"example:diag", "horizon=3"},
                                         {"example:diag", "alpha=0"},
                                         {"example:clinic", "resolution=7"},
                                         {"example:tiger", "eta=0.5"},
                                         {"example:maintenance", "alpha=0.5"},
                                         {"example:maintenance", "horizon=4"}};
  char name[80];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem;
    check(idm_problem_read(cases[i][0], &problem, NULL, &support_error));
    support_assign(problem, cases[i][1]);
    snprintf(name, sizeof name, "%s %s", cases[i][0], cases[i][1]);
    every_failure(name, plan, problem, succeeds);
    idm_problem_destroy(problem);
  }
}

static void plan_by_name(const char *planner)
{
  idm_problem *problem;
  char assignment[64];
  const bool seen = idm_planner_find(planner)->needs & IDM_NEEDS_STATES;
  check(idm_problem_read(seen ? "example:maintenance" : "example:diag", &problem, NULL,
                         &support_error));
  support_set(problem, 0.5, -2, 0);
  support_assign(problem, "budget=1000");
  snprintf(assignment, sizeof assignment, "planner=%s", planner);
  support_assign(problem, assignment);
  /* The weights of a rule have no default: one number per action and coordinate. */
  if (strcmp(planner, "decision-rule") == 0)
    check(idm_theta_resize(problem->theta, IDM_WEIGHTS, 3 * 3, 1, &support_error));
  problem->agent.gap = 0.5; /* few trials, because every allocation repeats them */
  every_failure(planner, plan, problem, succeeds);
  idm_problem_destroy(problem);
}

static void test_every_planner(void **state)
{
  (void)state;
  for (size_t i = 0; idm_planner_at(i); i++) plan_by_name(idm_planner_at(i)->name);
}

static idm_status plan_capacity(const void *argument, idm_error *error)
{
  const idm_problem *problem = argument;
  idm_theta *theta = NULL;
  idm_workspace *workspace = NULL;
  idm_status status = idm_theta_copy(problem->theta, &theta, error);
  assert_result(status, theta);
  if (status == IDM_OK)
    status = idm_workspace_create(problem->setting, theta, &problem->agent, &workspace, error);
  if (status == IDM_OK)
    status = idm_plan_capacity(theta, &problem->agent, NULL, workspace, NULL, NULL, error);
  idm_workspace_destroy(workspace);
  idm_theta_destroy(theta);
  return status;
}

static void test_capacity(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  support_assign(problem, "decision_capacity=0.5");
  every_failure("decision_capacity", plan_capacity, problem, succeeds);
  idm_problem_destroy(problem);
}

/* A workspace is created once; a chain plans in it thousands of times. */
static void test_planning_allocates_nothing(void **state)
{
  (void)state;
  static const char *const settings[] = {"alpha=0.5", "alpha=0", "horizon=5",
                                         "planner=maximum-entropy"};
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    idm_problem *problem = support_diag(0.5, 1.25, 0.001);
    support_assign(problem, settings[i]);
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_theta_set_scalar(problem->theta, IDM_BETA, 2);
    heap_arm(0, false);
    check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
    idm_plan_value(workspace, 0, problem->setting->start);
    double decision[3];
    idm_plan_policy(workspace, 0, problem->setting->start, decision, NULL);
    if (heap_calls()) fail_msg("%s: planning made %zu allocations", settings[i], heap_calls());
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* New dynamics rebuild the geometry. A failure there must leave a workspace that can still plan. */
static void test_new_dynamics(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_theta *other;
  check(idm_theta_copy(problem->theta, &other, &support_error));
  for (size_t i = 0; i < other->block[IDM_EMISSION].size; i += 2) {
    double *row = other->block[IDM_EMISSION].value + i;
    row[0] = 0.5 + 0.9 * (row[0] - 0.5);
    row[1] = 1 - row[0];
  }
  idm_workspace *fresh;
  check(idm_workspace_create(problem->setting, other, &problem->agent, &fresh, &support_error));
  check(idm_plan(other, NULL, fresh, NULL, &support_error));
  const double expected = idm_plan_value(fresh, 0, problem->setting->start);
  idm_workspace_destroy(fresh);
  bool failed = true;
  for (size_t i = 1; failed; i++) {
    idm_workspace *workspace = support_plan(problem, NULL);
    const double before = idm_plan_value(workspace, 0, problem->setting->start);
    heap_arm(i, true);
    const idm_status status = idm_plan(other, NULL, workspace, NULL, &support_error);
    failed = heap_disarm();
    assert_int_equal(status, failed ? IDM_MEMORY : IDM_OK);
    check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
    assert_near(idm_plan_value(workspace, 0, problem->setting->start), before, 1e-8);
    check(idm_plan(other, NULL, workspace, NULL, &support_error));
    assert_near(idm_plan_value(workspace, 0, problem->setting->start), expected, 1e-8);
    idm_workspace_destroy(workspace);
  }
  idm_theta_destroy(other);
  idm_problem_destroy(problem);
}

typedef struct planned {
  const idm_problem *problem;
  const idm_workspace *workspace;
  const idm_data *data;
} planned;

static idm_status simulate(const void *argument, idm_error *error)
{
  const planned *p = argument;
  idm_data *data = GARBAGE;
  idm_status status =
      idm_simulate(p->problem->setting, idm_workspace_behavior(p->workspace),
                   &(idm_simulation){.trajectories = 40, .steps = 30, .seed = 3}, &data, error);
  assert_result(status, data);
  if (status == IDM_OK) status = idm_data_write_csv(data, p->problem, in_folder("out"), error);
  idm_data_destroy(data);
  return status;
}

static idm_status score(const void *argument, idm_error *error)
{
  const planned *p = argument;
  idm_prefix_tree *tree = GARBAGE;
  idm_scorer *scorer = NULL;
  idm_score total;
  idm_status status = idm_prefix_tree_create(p->data, IDM_SCOPE_TRAJECTORY, &tree, error);
  assert_result(status, tree);
  if (status == IDM_OK) {
    scorer = GARBAGE;
    status = idm_scorer_create(p->data, tree, &scorer, error);
    assert_result(status, scorer);
  }
  if (status == IDM_OK)
    status = idm_scorer_run(scorer, idm_workspace_behavior(p->workspace), &total, error);
  idm_scorer_destroy(scorer);
  idm_prefix_tree_destroy(tree);
  return status;
}

static void test_behavior(void **state)
{
  (void)state;
  static const char *const recognitions[] = {"recognition=mean", "recognition=sampled"};
  for (size_t i = 0; i < 2; i++) {
    idm_problem *problem = support_diag(0.5, 1.25, 0.001);
    support_assign(problem, recognitions[i]);
    idm_workspace *workspace = support_plan(problem, NULL);
    idm_data *data = support_data(problem, allocation_diag);
    const planned p = {problem, workspace, data};
    char name[80];
    snprintf(name, sizeof name, "simulate, %s", recognitions[i]);
    every_failure(name, simulate, &p, succeeds);
    snprintf(name, sizeof name, "score, %s", recognitions[i]);
    every_failure(name, score, &p, succeeds);
    idm_data_destroy(data);
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

static idm_status bind(const void *argument, idm_error *error)
{
  const idm_data *data = argument;
  idm_problem *problem;
  idm_status status = idm_problem_read("example:beads", &problem, NULL, error);
  if (status == IDM_OK)
    status = idm_problem_bind(problem, data->variants, data->variant_value, error);
  if (status == IDM_OK) status = idm_problem_validate(problem, error);
  if (status == IDM_OK) status = plan(problem, error);
  idm_problem_destroy(problem);
  return status;
}

static void test_variants(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:beads", &problem, NULL, &support_error));
  idm_data *data = support_data(problem, allocation_beads);
  every_failure("utilities from columns", bind, data, succeeds);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrappers_are_linked),
      cmocka_unit_test(test_plan),
      cmocka_unit_test(test_every_planner),
      cmocka_unit_test(test_capacity),
      cmocka_unit_test(test_planning_allocates_nothing),
      cmocka_unit_test(test_new_dynamics),
      cmocka_unit_test(test_behavior),
      cmocka_unit_test(test_variants),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
