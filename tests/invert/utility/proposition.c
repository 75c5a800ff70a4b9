/* The duality of regularised margins and occupancy matching: two methods without common code give
 * the same policy, and their objectives sum to a constant. */
#include "invert/proposition.h"

#include <math.h>
#include <string.h>

#include "invert/utility/mdp_support.h"

static void holds(const idm_problem *problem, double alpha, double lambda)
{
  idm_proposition *p;
  check(idm_proposition_create(problem, alpha, lambda, &p, &support_error));
  assert_true(p->difference <= 1e-8);
  assert_near(p->margin + p->matching, p->constant, 1e-9);
  assert_near(p->constant, -alpha * log((double)problem->setting->actions.count), 1e-15);
  assert_true(p->gradient_max <= 1e-9);
  assert_true(p->gap <= 1e-9);
  /* The regulariser has an effect: the policy found is not uniform. */
  double apart = 0, sum = 0;
  const size_t actions = p->action.count;
  for (size_t e = 0; e < p->state.count * actions; e++)
    apart = fmax(apart, fabs(p->matched[e] - 1.0 / (double)actions));
  for (size_t s = 0; s < p->state.count; s++) sum += p->occupancy[s];
  assert_true(apart > 1e-3);
  assert_near(sum, 1, 1e-12);
  idm_proposition_destroy(p);
}

static void on_problems_drawn_at_random(void **state)
{
  (void)state;
  static const double alphas[] = {0.05, 0.5, 3}, lambdas[] = {1, 100, 3000};
  for (uint64_t seed = 1; seed <= 4; seed++)
    for (size_t i = 0; i < 3; i++)
      for (size_t j = 0; j < 3; j++) {
        idm_problem *problem = support_mdp(3 + 4 * seed, 2 + seed % 3, 1 + seed, 0.4, seed);
        holds(problem, alphas[i], lambdas[j]);
        idm_problem_destroy(problem);
      }
}

static void on_maintenance(void **state)
{
  (void)state;
  static const double lambdas[] = {1, 10, 100, 1000};
  idm_problem *problem;
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  for (size_t j = 0; j < 4; j++) holds(problem, 0.5, lambdas[j]);
  idm_problem_destroy(problem);
}

/* Unreachable states have no mass. */
static void where_some_states_are_not_come_to(void **state)
{
  (void)state;
  idm_problem *problem = support_mdp(6, 3, 2, 0.4, 9);
  double *tau = problem->setting->transition;
  for (size_t r = 0; r < 3 * 6; r++) {
    tau[r * 6] += tau[r * 6 + 5];
    tau[r * 6 + 5] = 0;
  }
  memcpy(problem->theta->block[IDM_TRANSITION].value, tau, 3 * 6 * 6 * sizeof *tau);
  problem->setting->start[0] += problem->setting->start[5];
  problem->setting->start[5] = 0;
  idm_proposition *p;
  check(idm_proposition_create(problem, 0.5, 50, &p, &support_error));
  assert_true(p->occupancy[5] == 0);
  assert_true(p->difference <= 1e-8);
  idm_proposition_destroy(p);
  idm_problem_destroy(problem);
}

/* Every regulariser, for a rule and for a network. */
static void with_any_regulariser(void **state)
{
  (void)state;
  static const double scales[IDM_ZETA_COUNT] = {100, 0.01, 0.1, 1, 0.3};
  for (uint64_t seed = 1; seed <= 3; seed++) {
    idm_problem *problem = support_mdp(3 + seed, 2 + seed % 2, 2, 0.4, seed);
    for (int z = 0; z < IDM_ZETA_COUNT; z++)
      for (int units = 0; units <= 8; units += 8) {
        idm_proposition *p;
        check(idm_proposition_create_with(problem, 0.5, (idm_zeta)z, scales[z], units, &p,
                                          &support_error));
        assert_near(p->margin + p->matching, p->constant, 1e-6);
        assert_true(p->occupancy_difference <= 1e-6);
        assert_true(p->gradient_max <= 1e-6 && p->gap <= 1e-6);
        double far = 0;
        for (size_t e = 0; e < p->state.count * p->action.count; e++)
          far = fmax(far, fabs(p->matched[e] - p->demonstrated[e]));
        assert_true(far > 1e-3); /* the regulariser is active */
        idm_proposition_destroy(p);
      }
    idm_problem_destroy(problem);
  }
}

static void lines(void **state)
{
  (void)state;
  idm_problem *problem;
  idm_proposition *p;
  char line[200], all[4000] = "";
  size_t count = 0;
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  check(idm_proposition_create(problem, 0.5, 100, &p, &support_error));
  for (; idm_proposition_line(p, count, line, sizeof line); count++) {
    strcat(all, line);
    strcat(all, "\n");
  }
  assert_int_equal(count, 2 + 9 + 5);
  assert_non_null(strstr(all, "replace"));
  assert_non_null(strstr(all, "-alpha log|U| = -0.549306144334"));
  assert_non_null(strstr(all, "their sum -0.549306144"));
  idm_proposition_destroy(p);
  idm_problem_destroy(problem);
}

static void refusals(void **state)
{
  (void)state;
  idm_problem *problem = support_mdp(3, 2, 2, 0.4, 1);
  idm_proposition *p;
  assert_int_equal(idm_proposition_create(problem, 0, 1, &p, &support_error), IDM_USAGE);
  assert_int_equal(idm_proposition_create(problem, 1, INFINITY, &p, &support_error), IDM_USAGE);
  assert_null(p);
  assert_int_equal(
      idm_proposition_create_with(problem, 1, IDM_ZETA_COUNT, 1, 0, &p, &support_error), IDM_USAGE);
  assert_null(p);
  assert_null(idm_zeta_name(IDM_ZETA_COUNT));
  check(idm_problem_set_planner(problem, idm_planner_find("rational"), &support_error));
  assert_int_equal(idm_proposition_create_with(problem, 1, IDM_ZETA_GAIL, 1, 0, &p, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "takes every action in every state it visits"));
  problem->setting->horizon = 5;
  assert_int_equal(idm_proposition_create(problem, 1, 1, &p, &support_error), IDM_INPUT);
  assert_null(p);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(on_problems_drawn_at_random),
      cmocka_unit_test(on_maintenance),
      cmocka_unit_test(where_some_states_are_not_come_to),
      cmocka_unit_test(with_any_regulariser),
      cmocka_unit_test(lines),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
