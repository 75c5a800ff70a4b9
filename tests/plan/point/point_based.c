/* Tests the planner `point-based` against published bounds, the lattice and enumeration, and the
 * problems it rejects. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/guess_support.h"

static idm_problem *read_problem(const char *path)
{
  idm_problem *problem;
  check(idm_problem_read(path, &problem, NULL, &support_error));
  check(idm_problem_set_planner(problem, idm_planner_find("point-based"), &support_error));
  return problem;
}

typedef struct interval {
  double lower;
  double upper;
} interval;

/* Bounds at the start, within the agent's gap. */
static interval bounds_of(const idm_problem *problem)
{
  interval found;
  idm_plan_report report;
  idm_workspace *workspace = support_plan(problem, &report);
  check(idm_plan_bounds(workspace, 0, problem->setting->start, &found.lower, &found.upper,
                        &support_error));
  assert_int_equal(report.stop, IDM_STOP_BOUND);
  assert_true(report.bound <= problem->agent.gap);
  assert_true(found.lower <= found.upper && found.upper - found.lower <= problem->agent.gap);
  assert_near(idm_plan_value(workspace, 0, problem->setting->start), found.lower, 1e-12);
  idm_workspace_destroy(workspace);
  return found;
}

/* --- published problems --------------------------------------------------------------------- */

/* The bounds enclose the known optimum. */
static void tiger_lies_between(void **state)
{
  (void)state;
  static const double gaps[] = {1, 1e-1, 1e-3, 1e-6, 1e-9};
  idm_problem *problem = read_problem("example:tiger");
  for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++) {
    problem->agent.gap = gaps[i];
    const interval found = bounds_of(problem);
    assert_true(found.lower <= 19.371368374891 + 1e-11);
    assert_true(found.upper >= 19.371368374891 - 1e-11);
  }
  idm_problem_destroy(problem);
}

/* Published certified bounds, rounded to the given digits. */
static void classic_problems_meet_published_bounds(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    double lower, upper, digit, gap;
  } published[] = {
      {"tiger.95", 19.37125, 19.37158, 1e-5, 1e-3},   {"1d", 1.26034, 1.26035, 1e-5, 1e-3},
      {"paint.95", 3.29360, 3.29360, 1e-5, 1e-3},     {"parr95.95", 7.20103, 7.20104, 1e-5, 1e-3},
      {"shuttle.95", 32.88970, 32.88973, 1e-5, 1e-3}, {"4x3.95", 1.88988, 1.89063, 1e-5, 1e-3},
      {"cheese.95", 3.48620, 3.48621, 1e-5, 1e-3},    {"network", 293.185, 295.215, 1e-3, 2}};
  for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
    char name[64];
    snprintf(name, sizeof name, "pomdp/%s.POMDP", published[i].name);
    const char *path = support_shared(name);
    idm_problem *problem = read_problem(path);
    const double gaps[] = {published[i].gap, published[i].gap / 20};
    for (size_t g = 0; g < 2; g++) {
      problem->agent.gap = gaps[g];
      const interval found = bounds_of(problem);
      /* Both intervals contain the optimum, so they overlap. */
      if (found.lower > published[i].upper + published[i].digit ||
          found.upper < published[i].lower - published[i].digit)
        fail_msg("%s: %.9f to %.9f is apart from the published bounds", name, found.lower,
                 found.upper);
    }
    idm_problem_destroy(problem);
  }
}

/* --- the lattice ---------------------------------------------------------------------------- */

/* Two states: a lattice fine enough to be exact to 1e-6, with any models and utilities of beliefs.
 */
static void two_states_agree_with_the_lattice(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 81, 0);
  for (int k = 0; k < 12; k++) {
    const support_shape shape = {2, 3, 2 + (size_t)k % 2, 1 + (size_t)k % 3, 20000};
    idm_problem *problem = support_problem(shape, &random);
    problem->setting->emits_before = k % 4 == 3;
    problem->setting->terminal[0] = problem->setting->ends[0] = k % 3 == 1;
    problem->agent.gap = 1e-5;
    problem->setting->horizon = k % 5 == 4 ? 6 : 0;
    check(idm_problem_set_planner(problem, idm_planner_find("rational"), &support_error));
    idm_workspace *lattice = support_plan(problem, NULL);
    check(idm_problem_set_planner(problem, idm_planner_find("point-based"), &support_error));
    idm_workspace *bounds = support_plan(problem, NULL);
    double *start = problem->setting->start;
    assert_true(fabs(idm_plan_value(bounds, 0, start) - idm_plan_value(lattice, 0, start)) <
                1.2e-5);
    for (int i = 0; i <= 10; i++) {
      const double z[] = {i / 10.0, 1 - i / 10.0};
      double lower, upper;
      check(idm_plan_bounds(bounds, 0, z, &lower, &upper, &support_error));
      assert_true(lower <= idm_plan_value(lattice, 0, z) + 1e-9);
      assert_true(upper >= idm_plan_value(lattice, 0, z) - 1e-6);
    }
    idm_workspace_destroy(lattice);
    idm_workspace_destroy(bounds);
    idm_problem_destroy(problem);
  }
}

/* --- utilities of beliefs ------------------------------------------------------------------- */

/* A maximum of linear pieces is equivalent to a guess that accompanies every action: both problems
 * have the same value, which both searches bound. */
static void pieces_are_guess_actions(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 84, 0);
  for (size_t k = 0; k < 12; k++) {
    idm_problem *belief_reward =
        support_problem((support_shape){2 + k % 3, 2, 2, 1 + k % 2, 5}, &random);
    belief_reward->setting->terminal[0] = belief_reward->setting->ends[0] = k % 3 == 1;
    belief_reward->setting->horizon = k % 4 == 3 ? 5 : 0;
    belief_reward->setting->emits_before = k % 5 == 2;
    belief_reward->agent.gap = 1e-4;
    idm_theta_set_scalar(belief_reward->theta, IDM_DISCOUNT, 0.85);
    support_pieces(belief_reward, 1 + k % 4, &random);
    idm_problem *guesses = support_guesses(belief_reward);
    check(idm_problem_set_planner(belief_reward, idm_planner_find("point-based"), &support_error));
    check(idm_problem_set_planner(guesses, idm_planner_find("point-based"), &support_error));
    const interval a = bounds_of(belief_reward), b = bounds_of(guesses);
    assert_true(a.lower <= b.upper + 1e-9 && b.lower <= a.upper + 1e-9);
    idm_problem_destroy(belief_reward);
    idm_problem_destroy(guesses);
  }
}

/* Pieces and a guess together, against a lattice that is exact to 1e-6. */
static void prizes_agree_with_the_lattice(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 85, 0);
  for (int k = 0; k < 6; k++) {
    idm_problem *problem = support_problem((support_shape){2, 3, 2, 1, 20000}, &random);
    support_pieces(problem, (size_t)k % 3, &random);
    for (size_t u = 0; u < 3; u++) /* by action */
      problem->theta->block[IDM_BELIEF_UTILITY].value[3 + u] = 1.5 * (double)u;
    problem->agent.gap = 1e-5;
    problem->setting->horizon = k == 5 ? 6 : 0;
    check(idm_problem_set_planner(problem, idm_planner_find("rational"), &support_error));
    idm_workspace *lattice = support_plan(problem, NULL);
    check(idm_problem_set_planner(problem, idm_planner_find("point-based"), &support_error));
    idm_workspace *bounds = support_plan(problem, NULL);
    const double *start = problem->setting->start;
    assert_near(idm_plan_value(bounds, 0, start), idm_plan_value(lattice, 0, start), 1.2e-5);
    for (int i = 0; i <= 10; i++) {
      const double z[] = {i / 10.0, 1 - i / 10.0};
      double lower, upper;
      check(idm_plan_bounds(bounds, 0, z, &lower, &upper, &support_error));
      assert_true(lower <= idm_plan_value(lattice, 0, z) + 1e-9);
      assert_true(upper >= idm_plan_value(lattice, 0, z) - 1e-6);
    }
    idm_workspace_destroy(lattice);
    idm_workspace_destroy(bounds);
    idm_problem_destroy(problem);
  }
}

/* The first action that the search considers may have no successors. */
static void the_best_plan_may_end_at_once(void **state)
{
  (void)state;
  idm_problem *problem =
      support_yaml("states: [a, b]\nobservations: [x, y]\nactions: [left, right]\ndiscount: 0.9\n"
                   "transition: {\"*\": identity}\nobservation: {\"*\": [[0.7, 0.3], [0.3, 0.7]]}\n"
                   "utility: {left: [4, 2], right: [2, 4]}\nterminal: [left, right]\n"
                   "agent: {planner: point-based}\n");
  const interval found = bounds_of(problem);
  assert_near(found.lower, 3, 1e-12);
  assert_near(found.upper, 3, 1e-9);
  idm_problem_destroy(problem);
}

/* --- enumeration ---------------------------------------------------------------------------- */

/* The optimal value at z with `left` steps left, by exhaustive enumeration. */
static double enumerate(const idm_problem *problem, const double *z, int left)
{
  const idm_sizes n = problem->theta->sizes;
  const double *utility = problem->theta->block[IDM_UTILITY].value;
  const double discount = idm_theta_scalar(problem->theta, IDM_DISCOUNT);
  double best = -INFINITY;
  for (size_t u = 0; u < n.actions && left > 0; u++) {
    double q = 0;
    for (size_t s = 0; s < n.states; s++) q += z[s] * utility[u * n.states + s];
    for (size_t x = 0; x < n.observations && !problem->setting->terminal[u]; x++) {
      double next[3] = {0}, p = 0;
      for (size_t s = 0; s < n.states; s++)
        for (size_t t = 0; t < n.states; t++)
          next[t] += z[s] * problem->setting->transition[(u * n.states + s) * n.states + t] *
                     problem->setting->emission[(u * n.states + t) * n.observations + x];
      for (size_t t = 0; t < n.states; t++) p += next[t];
      for (size_t t = 0; t < n.states; t++) next[t] /= p;
      q += discount * p * enumerate(problem, next, left - 1);
    }
    best = fmax(best, q);
  }
  return left > 0 ? best : 0;
}

static void horizons_agree_with_enumeration(void **state)
{
  (void)state;
  enum { HORIZON = 5 };
  idm_random random;
  idm_random_init(&random, 82, 0);
  for (int k = 0; k < 6; k++) {
    const support_shape shape = {3, 3, 2, 1, 6};
    idm_problem *problem = support_problem(shape, &random);
    problem->setting->horizon = HORIZON;
    problem->setting->terminal[1] = problem->setting->ends[1] = k % 2;
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, k < 3 ? 1 : 0.8);
    problem->agent.gap = 1e-9;
    check(idm_problem_set_planner(problem, idm_planner_find("point-based"), &support_error));
    idm_workspace *workspace = support_plan(problem, NULL);
    const double *start = problem->setting->start;
    const double best = enumerate(problem, start, HORIZON);
    double lower, upper;
    check(idm_plan_bounds(workspace, 0, start, &lower, &upper, &support_error));
    assert_near(lower, best, 1e-9);
    assert_near(upper, best, 1e-9);
    /* The last step is exact at any belief, and earlier values are lower bounds. */
    for (int steps = 1; steps < HORIZON; steps++) {
      double z[3];
      support_distribution(&random, z, 3);
      const double value = idm_plan_value_after(workspace, 0, steps, z);
      const double exact = enumerate(problem, z, HORIZON - steps);
      assert_true(value <= exact + 1e-12);
      if (steps == HORIZON - 1) assert_near(value, exact, 1e-12);
    }
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

/* --- invariance under relabelling ----------------------------------------------------------- */

/* The same problem in another order: index i holds what was at order[i]. */
static idm_problem *relabelled(const idm_problem *from, const size_t *states, const size_t *actions,
                               const size_t *observations)
{
  const idm_sizes n = from->theta->sizes;
  idm_problem *to;
  check(idm_problem_create(n, 1, true, true, &to, &support_error));
  for (size_t u = 0; u < n.actions; u++)
    for (size_t s = 0; s < n.states; s++) {
      const size_t row = u * n.states + s;
      const size_t old = actions[u] * n.states + states[s];
      to->theta->block[IDM_UTILITY].value[row] = from->theta->block[IDM_UTILITY].value[old];
      for (size_t t = 0; t < n.states; t++)
        to->setting->transition[row * n.states + t] =
            from->setting->transition[old * n.states + states[t]];
      for (size_t x = 0; x < n.observations; x++)
        to->setting->emission[row * n.observations + x] =
            from->setting->emission[old * n.observations + observations[x]];
    }
  const size_t pairs = n.actions * n.states;
  memcpy(to->theta->block[IDM_TRANSITION].value, to->setting->transition,
         pairs * n.states * sizeof(double));
  memcpy(to->theta->block[IDM_EMISSION].value, to->setting->emission,
         pairs * n.observations * sizeof(double));
  for (size_t s = 0; s < n.states; s++) to->setting->start[s] = from->setting->start[states[s]];
  idm_theta_set_scalar(to->theta, IDM_DISCOUNT, idm_theta_scalar(from->theta, IDM_DISCOUNT));
  check(idm_problem_set_planner(to, idm_planner_find("point-based"), &support_error));
  return to;
}

static void other_orders_change_nothing(void **state)
{
  (void)state;
  const char *path = support_shared("pomdp/4x3.95.POMDP");
  static const size_t states[] = {7, 3, 10, 0, 1, 9, 4, 2, 8, 5, 6};
  static const size_t actions[] = {2, 0, 3, 1};
  static const size_t observations[] = {5, 1, 0, 4, 2, 3};
  idm_problem *first = read_problem(path);
  first->agent.gap = 1e-6;
  idm_problem *second = relabelled(first, states, actions, observations);
  second->agent.gap = 1e-6;
  const interval a = bounds_of(first);
  const interval b = bounds_of(second);
  assert_true(a.lower <= b.upper && b.lower <= a.upper);
  idm_workspace *one = support_plan(first, NULL);
  idm_workspace *two = support_plan(second, NULL);
  double p[4], q[4];
  idm_plan_policy(one, 0, first->setting->start, p, NULL);
  idm_plan_policy(two, 0, second->setting->start, q, NULL);
  for (size_t u = 0; u < 4; u++) assert_true(q[u] == p[actions[u]]);
  idm_workspace_destroy(one);
  idm_workspace_destroy(two);
  idm_problem_destroy(first);
  idm_problem_destroy(second);
}

/* --- dependence on theta alone, and rejected problems ---------------------------------------- */

static void plans_do_not_depend_on_what_came_before(void **state)
{
  (void)state;
  idm_problem *problem = read_problem("example:tiger");
  idm_workspace *workspace = support_plan(problem, NULL);
  const double *start = problem->setting->start;
  const double first = idm_plan_value(workspace, 0, start);
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.9);
  check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
  assert_true(idm_plan_value(workspace, 0, start) < first - 1);
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.95);
  check(idm_plan(problem->theta, NULL, workspace, NULL, &support_error));
  assert_true(idm_plan_value(workspace, 0, start) == first);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static bool count_looks(void *context, double lower, double upper)
{
  (void)lower;
  (void)upper;
  ++*(long *)context;
  return false;
}

/* A change of perseverance or lapse alone needs no new search; other numbers or another gap do. */
static void habits_are_not_searched_for(void **state)
{
  (void)state;
  long looks = 0, before;
  idm_problem *problem = read_problem("example:tiger");
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_solver solver;
  idm_plan_report first, again;
  idm_solver_default(&solver);
  solver.opt_monitor = count_looks;
  solver.monitor_context = &looks;
  solver.tolerance = 0.01;
  check(idm_plan(problem->theta, &solver, workspace, &first, &support_error));
  assert_true(looks > 0); /* another gap */
  before = looks;
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0.2);
  idm_theta_set_scalar(problem->theta, IDM_PERSEVERANCE, 1);
  check(idm_plan(problem->theta, &solver, workspace, &again, &support_error));
  assert_int_equal(looks, before);
  assert_true(again.bound == first.bound && again.iterations == first.iterations);
  problem->theta->block[IDM_UTILITY].value[0] -= 1e-9;
  check(idm_plan(problem->theta, &solver, workspace, &again, &support_error));
  assert_true(looks > before);
  before = looks;
  solver.tolerance = 0.02;
  check(idm_plan(problem->theta, &solver, workspace, &again, &support_error));
  assert_true(looks > before);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

static void every_variant_has_its_own_bounds(void **state)
{
  (void)state;
  idm_problem *problem = read_problem("example:tiger");
  const size_t size = problem->theta->block[IDM_UTILITY].size;
  double before[8];
  memcpy(before, problem->theta->block[IDM_UTILITY].value, size * sizeof *before);
  check(idm_theta_resize(problem->theta, IDM_UTILITY, size, 2, &support_error));
  for (size_t i = 0; i < size; i++) {
    problem->theta->block[IDM_UTILITY].value[i] = before[i];
    problem->theta->block[IDM_UTILITY].value[size + i] = 3 * before[i];
  }
  idm_workspace *workspace = support_plan(problem, NULL);
  const double *start = problem->setting->start;
  assert_true(fabs(idm_plan_value(workspace, 1, start) - 3 * idm_plan_value(workspace, 0, start)) <
              4e-3);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* If utilities or the discount are free, the unit of the utilities and the effective horizon must
 * not affect the quality of plans: gaps scale with them, and the work is the same. */
static void gaps_go_along_with_what_is_free(void **state)
{
  (void)state;
  static const char *const freedom[] = {"utility", "discount"};
  for (size_t k = 0; k < 2; k++) {
    idm_problem *problem = read_problem("example:tiger");
    check(idm_problem_set_free(problem, freedom[k], &support_error));
    idm_block *utility = &problem->theta->block[IDM_UTILITY];
    idm_plan_report one, other;
    idm_workspace *workspace = support_plan(problem, &one);
    assert_true(one.stop == IDM_STOP_BOUND && one.bound <= 1e-4 * 110 / (1 - 0.95));
    for (size_t i = 0; i < utility->size; i++) utility->value[i] *= 0x1p-30;
    check(idm_plan(problem->theta, NULL, workspace, &other, &support_error));
    assert_true(other.stop == IDM_STOP_BOUND && other.iterations == one.iterations);
    assert_near(other.bound, one.bound * 0x1p-30, 1e-15);
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 1 - 1e-9);
    check(idm_plan(problem->theta, NULL, workspace, &other, &support_error));
    assert_true(other.stop == IDM_STOP_BOUND && other.iterations < 100);
    if (k == 1) { /* nearer to 1 rounding errors exceed the gap, which takes seconds to detect */
      idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 1 - 1e-13);
      assert_int_equal(idm_plan(problem->theta, NULL, workspace, NULL, &support_error),
                       IDM_NUMERICAL);
      assert_non_null(strstr(support_error.message, "too near 1"));
    }
    idm_workspace_destroy(workspace);
    idm_problem_destroy(problem);
  }
}

static void refuses_what_it_cannot_bound(void **state)
{
  (void)state;
  idm_workspace *workspace;
  idm_problem *problem = read_problem("example:maintenance");
  assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                        &workspace, &support_error),
                   IDM_INPUT);
  assert_null(workspace);
  assert_non_null(strstr(support_error.message, "fully observed"));
  idm_problem_destroy(problem);
  problem = read_problem("example:tiger");
  problem->theta->block[IDM_CERTAINTY].value[0] = 0.9;
  problem->theta->block[IDM_CERTAINTY].value[1] = 2.5;
  check(idm_workspace_create(problem->setting, problem->theta, &problem->agent, &workspace,
                             &support_error));
  assert_int_equal(idm_plan(problem->theta, NULL, workspace, NULL, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "certainty"));
  static const double unlike[][2] = {{0.5, 0}, {-0.5, 0}, {0, -1}};
  problem->theta->block[IDM_CERTAINTY].value[1] = 0;
  for (size_t i = 0; i < 3; i++) {
    problem->theta->block[IDM_BELIEF_UTILITY].value[1] = unlike[i][0]; /* of the second action */
    problem->theta->block[IDM_BELIEF_UTILITY].value[problem->theta->sizes.actions + 1] =
        unlike[i][1];
    assert_int_equal(idm_plan(problem->theta, NULL, workspace, NULL, &support_error), IDM_INPUT);
    assert_non_null(strstr(support_error.message, "finitely many linear pieces"));
  }
  /* Before planning there is no value. */
  assert_true(isnan(idm_plan_value(workspace, 0, problem->setting->start)));
  idm_workspace_destroy(workspace);
  /* Nor may they be free; a guess may. */
  memset(problem->theta->block[IDM_BELIEF_UTILITY].value, 0,
         problem->theta->block[IDM_BELIEF_UTILITY].size * sizeof(double));
  static const char *const freed[] = {"belief_utility.guess", "belief_utility.entropy",
                                      "certainty"};
  for (size_t i = 0; i < 3; i++) {
    check(idm_problem_set_free(problem, freed[i], &support_error));
    assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                          &workspace, &support_error),
                     i ? IDM_INPUT : IDM_OK);
    if (i) assert_non_null(strstr(support_error.message, "one of them is free"));
    if (!i) idm_workspace_destroy(workspace);
  }
  idm_theta_clamp(problem->theta);
  problem->agent.discounting = IDM_NAIVE;
  problem->setting->horizon = 5;
  assert_int_equal(idm_workspace_create(problem->setting, problem->theta, &problem->agent,
                                        &workspace, &support_error),
                   IDM_INPUT);
  assert_non_null(strstr(support_error.message, "delay"));
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiger_lies_between),
      cmocka_unit_test(classic_problems_meet_published_bounds),
      cmocka_unit_test(two_states_agree_with_the_lattice),
      cmocka_unit_test(the_best_plan_may_end_at_once),
      cmocka_unit_test(pieces_are_guess_actions),
      cmocka_unit_test(prizes_agree_with_the_lattice),
      cmocka_unit_test(horizons_agree_with_enumeration),
      cmocka_unit_test(other_orders_change_nothing),
      cmocka_unit_test(plans_do_not_depend_on_what_came_before),
      cmocka_unit_test(habits_are_not_searched_for),
      cmocka_unit_test(every_variant_has_its_own_bounds),
      cmocka_unit_test(gaps_go_along_with_what_is_free),
      cmocka_unit_test(refuses_what_it_cannot_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
