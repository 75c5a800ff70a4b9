/* Tests workspaces: the parameters they copy and reject, and results that do not depend on the
 * planner. */
#include "plan/learner_support.h"

#include <math.h>
#include <string.h>

static idm_status create(const idm_problem *problem, idm_workspace **ret_workspace)
{
  return idm_workspace_create(problem->setting, problem->theta, &problem->agent, ret_workspace,
                              &support_error);
}

/* The caller's theta is copied and clamped, and never modified. */
static void theta_is_copied(void **state)
{
  (void)state;
  idm_problem *problem = support_reversal(idm_planner_find("deterministic-optimal"));
  idm_workspace *workspace = support_plan(problem, NULL);
  const idm_theta *own = idm_workspace_theta(workspace);
  assert_true(own != problem->theta);
  assert_true(idm_theta_scalar(own, IDM_ALPHA) == 0);
  assert_true(idm_theta_scalar(problem->theta, IDM_ALPHA) == 0.7);
  assert_memory_equal(own->block[IDM_EMISSION].value, problem->setting->emission,
                      8 * sizeof(double));
  assert_memory_not_equal(problem->theta->block[IDM_EMISSION].value, problem->setting->emission,
                          8 * sizeof(double));
  idm_workspace_destroy(workspace);
  idm_workspace_destroy(NULL);
  idm_problem_destroy(problem);
}

/* The sizes, variants and planner of theta are fixed at creation. */
static void the_form_of_theta_is_fixed(void **state)
{
  (void)state;
  idm_problem *problem = support_reversal(idm_planner_at(0));
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_theta *other;
  check(idm_theta_copy(problem->theta, &other, &support_error));
  check(idm_theta_resize(other, IDM_UTILITY, 4, 2, &support_error));
  assert_int_equal(idm_plan(other, NULL, workspace, NULL, &support_error), IDM_USAGE);
  assert_non_null(strstr(support_error.message, "utility"));
  idm_theta_destroy(other);
  check(idm_theta_copy(problem->theta, &other, &support_error));
  check(idm_theta_resize(other, IDM_BELIEF_PRIOR, 2, 1, &support_error));
  assert_int_equal(idm_plan(other, NULL, workspace, NULL, &support_error), IDM_USAGE);
  assert_non_null(strstr(support_error.message, "belief_prior"));
  idm_theta_destroy(other);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* A theta that is not valid is rejected at creation. */
static void illegal_parameters_are_refused(void **state)
{
  (void)state;
  idm_problem *problem = support_reversal(idm_planner_at(0));
  idm_workspace *workspace;
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 1); /* without a horizon */
  assert_int_equal(create(problem, &workspace), IDM_INPUT);
  assert_null(workspace);
  assert_non_null(strstr(support_error.message, "discount"));
  problem->setting->horizon = 3;
  check(create(problem, &workspace));
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Before a plan, and at vectors that are not beliefs, every number is NaN and every status a usage
 * error. */
static void check_refused(idm_workspace *w, const double *z, bool planned)
{
  double decision[8], quality[8], next[8], lower = 0, upper = 0;
  idm_forward forward;
  for (size_t i = 0; i < 8; i++) decision[i] = quality[i] = next[i] = 0;
  assert_true(isnan(idm_plan_value(w, 0, z)) && isnan(idm_plan_value_after(w, 0, 1, z)));
  idm_plan_policy(w, 0, z, decision, NULL);
  idm_plan_quality(w, 0, 0, z, quality);
  assert_true(isnan(decision[0]) && isnan(decision[1]) && isnan(quality[0]));
  assert_true(isnan(idm_plan_predict(w, 0, 0, z, 0, 0)));
  assert_true(isnan(idm_plan_recognise(w, 0, 0, z, 0, 0, next)) && isnan(next[0]));
  assert_int_equal(idm_plan_bounds(w, 0, z, &lower, &upper, &support_error), IDM_USAGE);
  assert_true(isnan(lower) && isnan(upper));
  if (planned) return;
  assert_int_equal(idm_plan_forward(w, 0, &forward, NULL, &support_error), IDM_USAGE);
  assert_non_null(strstr(support_error.message, "no plan"));
}

static void nothing_is_evaluated_without_a_plan(void **state)
{
  (void)state;
  static const double good[] = {0.25, 0.75};
  static const double bad[][2] = {{0.5, 0.6},    {-0.5, 1.5}, {NAN, 1},
                                  {INFINITY, 0}, {0, 0},      {7, -3}};
  idm_problem *problem = support_reversal(idm_planner_at(0));
  idm_workspace *w;
  idm_forward forward;
  double decision[8];
  check(create(problem, &w));
  check_refused(w, good, false);
  check(idm_plan(problem->theta, NULL, w, NULL, &support_error));
  assert_true(isfinite(idm_plan_value(w, 0, good)));
  idm_plan_policy(w, 0, good, decision, NULL);
  assert_true(fabs(decision[0] + decision[1] - 1) < 1e-9);
  check(idm_plan_forward(w, 0, &forward, NULL, &support_error));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) check_refused(w, bad[i], true);
  /* Rounding errors of a belief are accepted. */
  assert_true(isfinite(idm_plan_value(w, 0, (const double[]){0.25, 0.75 + 1e-9})));
  idm_workspace_destroy(w);
  idm_problem_destroy(problem);
}

/* q(u) ~ pi(u) e^1 for the action taken last, then (1 - lapse) q(u) + lapse / actions. */
static void choices_have_perseverance_and_lapse(void **state)
{
  (void)state;
  static const double z[] = {0.25, 0.75};
  idm_problem *problem = support_diag(2, 1.25, 0.001);
  support_assign(problem, "lapse=0.3");
  support_assign(problem, "perseverance=1");
  idm_workspace *w = support_plan(problem, NULL);
  double pi[3], choice[3];
  idm_plan_policy_after(w, 0, 2, z, pi);
  assert_true(idm_workspace_has_bias(w));
  for (int last = IDM_MISSING; last < 3; last++) {
    double total = 0;
    for (int u = 0; u < 3; u++) total += pi[u] * (u == last ? exp(1) : 1);
    idm_plan_choice(w, 0, 2, z, last, choice);
    for (int u = 0; u < 3; u++)
      assert_near(choice[u], 0.7 * pi[u] * (u == last ? exp(1) : 1) / total + 0.1, 1e-14);
  }
  idm_plan_choice(w, 0, 2, z, 3, choice);
  assert_true(isnan(choice[0]) && isnan(choice[2]));
  idm_workspace_destroy(w);
  idm_problem_destroy(problem);
}

/* A planner that does not support a kind of problem is rejected by name. */
static void kinds_of_problems(void **state)
{
  (void)state;
  idm_planner limited = idm_learner;
  idm_workspace *workspace;
  limited.name = "limited";
  for (int horizon = 0; horizon < 2; horizon++) {
    limited.supports = horizon ? IDM_SUPPORTS_STATIONARY : IDM_SUPPORTS_HORIZON;
    idm_problem *problem = support_reversal(&limited);
    problem->setting->horizon = horizon;
    assert_int_equal(create(problem, &workspace), IDM_INPUT);
    assert_non_null(strstr(support_error.message, "limited"));
    problem->setting->horizon = !horizon;
    check(create(problem, &workspace));
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* Values depend on the steps taken of a horizon. */
static void values_shrink_with_the_steps_left(void **state)
{
  (void)state;
  const double z[2] = {0.8, 0.2};
  idm_problem *problem = support_reversal(idm_planner_find("rational"));
  for (size_t i = 0; i < 4; i++)
    problem->theta->block[IDM_UTILITY].value[i] += 2; /* every utility is then a gain */
  problem->setting->horizon = 4;
  idm_workspace *workspace = support_plan(problem, NULL);
  assert_true(idm_plan_value(workspace, 0, z) == idm_plan_value_after(workspace, 0, 0, z));
  for (int steps = 0; steps < 3; steps++)
    assert_true(idm_plan_value_after(workspace, 0, steps, z) >
                idm_plan_value_after(workspace, 0, steps + 1, z));
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void stops_have_names(void **state)
{
  (void)state;
  assert_string_equal(idm_stop_name(IDM_STOP_BOUND), "bound");
  assert_string_equal(idm_stop_name(IDM_STOP_UNPLANNED), "unplanned");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_evaluated_without_a_plan),
      cmocka_unit_test(theta_is_copied),
      cmocka_unit_test(the_form_of_theta_is_fixed),
      cmocka_unit_test(illegal_parameters_are_refused),
      cmocka_unit_test(choices_have_perseverance_and_lapse),
      cmocka_unit_test(kinds_of_problems),
      cmocka_unit_test(values_shrink_with_the_steps_left),
      cmocka_unit_test(stops_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
