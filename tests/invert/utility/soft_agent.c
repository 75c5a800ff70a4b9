/* Soft agents after the planner's clamps, and the undetermined directions of their utilities
 * against second derivatives and cases by hand. */
#include "invert/utility/soft_plan.h"

#include <math.h>
#include <string.h>

#include "idm/extension/optimality.h"
#include "invert/utility/mdp_support.h"
#include "invert/utility/walk.h"

static void priors_are_clamped(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK "action_prior: {left: 3, right: 1}\n");
  idm_soft_agent *agent;
  check(idm_soft_agent_create(problem, "somebody", &agent, &support_error));
  assert_true(agent->alpha == 1);
  assert_near(agent->prior[0], 0.5, 1e-15);
  idm_soft_agent_destroy(agent);
  check(idm_problem_set_planner(problem, idm_planner_find("kl-regularised"), &support_error));
  check(idm_soft_agent_create(problem, "somebody", &agent, &support_error));
  assert_near(agent->prior[0], 0.75, 1e-15);
  idm_soft_agent_destroy(agent);
  idm_problem_destroy(problem);
}

static void refused(idm_problem *problem, const char *words)
{
  idm_soft_agent *agent;
  idm_error error = {0};
  assert_int_equal(idm_soft_agent_create(problem, "somebody", &agent, &error), IDM_INPUT);
  assert_null(agent);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
  idm_problem_destroy(problem);
}

static void others_are_refused(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(WALK);
  check(
      idm_problem_set_planner(problem, idm_planner_find("deterministic-optimal"), &support_error));
  refused(problem, "alpha = 0");
  problem = support_yaml(WALK);
  problem->agent.alpha_unit = IDM_ALPHA_RANGE;
  refused(problem, "alpha_unit: absolute");
  problem = support_yaml(WALK);
  check(idm_problem_set_planner(problem, idm_planner_find("bounded-rational"), &support_error));
  support_set(problem, 1, INFINITY, 0.5);
  refused(problem, "eta = 0");
}

/* The number of undetermined directions is `expected`, and along each the second derivative is 0:
 * policies of all steps are unchanged. */
static void check_open(idm_problem *problem, const char *free_entries, size_t expected)
{
  check(idm_problem_set_free(problem, free_entries, &support_error));
  const idm_sizes n = idm_setting_sizes(problem->setting);
  const size_t all = n.states * n.actions;
  idm_mdp *mdp = support_create_mdp(problem);
  idm_free_utility *free_utility;
  idm_optimality *optimality;
  idm_soft_plan *plan;
  double uniform[8], entry[64], change[64], value;
  for (size_t u = 0; u < n.actions; u++) uniform[u] = 1.0 / (double)n.actions;
  check(idm_free_utility_create(problem, &free_utility, &support_error));
  check(idm_optimality_create(free_utility->count, &optimality, &support_error));
  check(idm_soft_plan_create(mdp, 1, uniform, &plan, &support_error));
  check(idm_soft_agent_nullspace(mdp, NULL, free_utility, optimality, &support_error));
  check(
      idm_soft_plan_solve(plan, problem->theta->block[IDM_UTILITY].value, &value, &support_error));
  assert_true(optimality->evaluated);
  assert_int_equal(optimality->open, expected);
  for (size_t i = 0; i < optimality->open; i++) {
    for (size_t e = 0; e < all; e++)
      entry[e] =
          free_utility->number[e] < 0
              ? 0
              : optimality->direction[i * optimality->free + (size_t)free_utility->number[e]];
    idm_soft_plan_hessian_product(plan, entry, change);
    for (size_t e = 0; e < all; e++) assert_near(change[e], 0, 1e-12);
  }
  idm_soft_plan_destroy(plan);
  idm_optimality_destroy(optimality);
  idm_free_utility_destroy(free_utility);
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

static idm_problem *with_horizon(idm_problem *problem, int horizon)
{
  problem->setting->horizon = horizon;
  return problem;
}

static void what_is_open(void **state)
{
  (void)state;
  check_open(support_mdp(5, 3, 3, 1, 71), "utility", 5);
  check_open(support_mdp(5, 3, 3, 1, 71), "{utility: {reference: 0}}", 0);
  /* With a horizon only a shift; with one step one number per state. */
  check_open(with_horizon(support_mdp(5, 3, 3, 1, 71), 6), "utility", 1);
  check_open(with_horizon(support_mdp(5, 3, 3, 1, 71), 1), "utility", 5);
  check_open(with_horizon(support_mdp(5, 3, 3, 1, 71), 6), "{utility: {reference: 0}}", 0);
  /* With discount 0 one number per state, whatever the horizon. */
  idm_problem *blind = with_horizon(support_mdp(5, 3, 3, 1, 71), 6);
  blind->theta->block[IDM_DISCOUNT].value[0] = 0;
  check_open(blind, "utility", 5);
}

/* Two states that no action chooses between: the difference of their utilities is undetermined as
 * well. */
static void where_actions_do_not_matter(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "states: [a, b]\nactions: [x, y]\nobservations: states\ndiscount: 0.9\nhorizon: 5\nstart: a\n"
      "transition: {\"*\": [[0.3, 0.7], [0.6, 0.4]]}\nutility: {x: [1, 2], y: [0, 1]}\n"
      "agent: {planner: maximum-entropy, alpha: 1}\n");
  check_open(problem, "utility", 2);
}

/* An unvisited state by hand: x leads from a to b, which is absorbing, y stays. In an undetermined
 * direction both actions of a change equally, by the mean change in b under its policy. */
static void where_nobody_was(void **state)
{
  (void)state;
  double visits[2] = {5, 0}, policy[4] = {0.3, 0.7, 0.25, 0.75};
  idm_problem *problem = support_yaml(
      "states: [a, b]\nactions: [x, y]\nobservations: states\ndiscount: 0.9\nhorizon: 3\nstart: a\n"
      "transition: {x: [[0, 1], [0, 1]], y: identity}\nutility: {x: [1, 2], y: [0, 1]}\n"
      "agent: {planner: maximum-entropy, alpha: 1}\nfree: [utility]\n");
  const idm_demonstrator seen = {
      .n = idm_setting_sizes(problem->setting), .visits = visits, .policy = policy};
  idm_mdp *mdp = support_create_mdp(problem);
  idm_free_utility *free_utility;
  idm_optimality *optimality;
  check(idm_free_utility_create(problem, &free_utility, &support_error));
  for (size_t horizon = 1; horizon <= 9; horizon += 2) {
    mdp->horizon = horizon;
    check(idm_optimality_create(free_utility->count, &optimality, &support_error));
    check(idm_soft_agent_nullspace(mdp, &seen, free_utility, optimality, &support_error));
    assert_int_equal(optimality->open, horizon > 1 ? 2 : 3); /* with one step b has no effect */
    for (size_t i = 0; i < optimality->open; i++) {
      const double *d = optimality->direction + i * 4; /* x in a, in b, y in a, in b */
      assert_near(d[0], d[2], 1e-12);
      if (horizon > 1) assert_near(0.25 * d[1] + 0.75 * d[3], d[0], 1e-12);
    }
    assert_int_equal(optimality->words.count, 1);
    assert_non_null(strstr(optimality->words.text[0], "1 of the 2 states were never visited"));
    idm_optimality_destroy(optimality);
  }
  idm_free_utility_destroy(free_utility);
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(priors_are_clamped), cmocka_unit_test(others_are_refused),
      cmocka_unit_test(what_is_open),       cmocka_unit_test(where_actions_do_not_matter),
      cmocka_unit_test(where_nobody_was),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
