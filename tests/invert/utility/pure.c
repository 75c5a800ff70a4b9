/* Projection on deterministic policies: against enumeration of all of them, exact targets, infinite
 * divergences, and permuted names. */
#include "invert/utility/mdp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/mdp_support.h"

enum {
  STATES = SUPPORT_TWIN_STATES,
  ACTIONS = SUPPORT_TWIN_ACTIONS,
  ALL = STATES * ACTIONS,
  POLICIES = 243
};

static const idm_divergence divergences[] = {IDM_DIVERGENCE_JS, IDM_DIVERGENCE_TV,
                                             IDM_DIVERGENCE_SQUARED, IDM_DIVERGENCE_REVERSE_KL};
enum { DIVERGENCES = sizeof divergences / sizeof divergences[0] };

static const double lambda = 50;

/* Occupancy of a deterministic policy by 400 steps of its transitions. */
static void follow(const idm_problem *problem, const size_t *action, double *occupancy)
{
  const double discount = idm_theta_scalar(problem->theta, IDM_DISCOUNT);
  double now[STATES], next[STATES], weight = 1 - discount;
  memcpy(now, problem->setting->start, sizeof now);
  memset(occupancy, 0, ALL * sizeof *occupancy);
  for (int t = 0; t < 400; t++, weight *= discount) {
    memset(next, 0, sizeof next);
    for (size_t s = 0; s < STATES; s++) {
      occupancy[s * ACTIONS + action[s]] += weight * now[s];
      for (size_t k = 0; k < STATES; k++)
        next[k] += now[s] * problem->setting->transition[(action[s] * STATES + s) * STATES + k];
    }
    memcpy(now, next, sizeof now);
  }
}

/* Divergences written out. */
static double distance(idm_divergence divergence, const double *p, const double *q)
{
  double sum = 0;
  for (size_t e = 0; e < ALL; e++) {
    const double mean = (p[e] + q[e]) / 2;
    switch (divergence) {
    case IDM_DIVERGENCE_JS:
      if (p[e] > 0) sum += 0.5 * p[e] * log(p[e] / mean);
      if (q[e] > 0) sum += 0.5 * q[e] * log(q[e] / mean);
      break;
    case IDM_DIVERGENCE_TV:
      sum += 0.5 * fabs(p[e] - q[e]);
      break;
    case IDM_DIVERGENCE_REVERSE_KL:
      if (q[e] > 0) sum += q[e] * log(q[e] / p[e]);
      break;
    default:
      sum += lambda / 2 * (p[e] - q[e]) * (p[e] - q[e]);
    }
  }
  return sum;
}

/* The smallest divergence over all policies; stores the best occupancy, and in second[0] the
 * smallest divergence of a policy with another occupancy. */
static double enumerate(const idm_problem *problem, idm_divergence divergence, const double *target,
                        double *best, double *second)
{
  double least = INFINITY;
  *second = INFINITY;
  for (size_t i = 0; i < POLICIES; i++) {
    size_t action[STATES], rest = i;
    double occupancy[ALL];
    for (size_t s = 0; s < STATES; s++, rest /= ACTIONS) action[s] = rest % ACTIONS;
    follow(problem, action, occupancy);
    const double here = distance(divergence, target, occupancy);
    double apart = 0;
    for (size_t e = 0; e < ALL; e++) apart = fmax(apart, fabs(occupancy[e] - best[e]));
    if (here < least - 1e-12) {
      if (apart > 1e-9) *second = least;
      least = here;
      memcpy(best, occupancy, sizeof occupancy);
    } else if (here < *second && apart > 1e-9) {
      *second = here;
    }
  }
  return least;
}

static idm_occupancy_projection *nearest(const idm_problem *problem, const double *target,
                                         const double *fallback, idm_divergence divergence,
                                         idm_branch_stats *pure)
{
  idm_mdp *mdp = support_create_mdp(problem);
  idm_occupancy_projection *found;
  check(idm_deterministic_projection_create(mdp, problem->setting, target, fallback, divergence,
                                            lambda, NULL, pure, &found, &support_error));
  idm_mdp_destroy(mdp);
  return found;
}

static void is_pure(const idm_occupancy_projection *found)
{
  for (size_t s = 0; s < STATES; s++) {
    double mass = 0, most = 0;
    for (size_t u = 0; u < ACTIONS; u++) {
      mass += found->occupancy[s * ACTIONS + u];
      most = fmax(most, found->policy[s * ACTIONS + u]);
    }
    if (mass > 0) assert_true(most == 1);
  }
}

/* Realisable and other targets: the solution is the minimum over all 243 policies. */
static void as_near_as_any(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++)
    for (size_t d = 0; d < DIVERGENCES; d++) {
      idm_random random;
      idm_random_init(&random, seed, 0);
      idm_problem *problem = support_mdp(STATES, ACTIONS, 3, 0.5, seed);
      idm_mdp *mdp = support_create_mdp(problem);
      double policy[ALL], target[ALL], best[ALL] = {0}, second;
      support_policy(&random, STATES, ACTIONS, policy);
      if (seed % 2)
        check(idm_mdp_occupancy(mdp, policy, target, &support_error));
      else
        support_distribution(&random, target, ALL);
      const double least = enumerate(problem, divergences[d], target, best, &second);
      idm_branch_stats pure;
      idm_occupancy_projection *found = nearest(problem, target, policy, divergences[d], &pure);
      assert_near(found->objective, least, 1e-9);
      assert_true(found->gap <= 1e-9);
      is_pure(found);
      if (second > least + 1e-6) {
        assert_false(pure.non_unique);
        for (size_t e = 0; e < ALL; e++) assert_near(found->occupancy[e], best[e], 1e-9);
      }
      idm_occupancy_projection_destroy(found);
      idm_mdp_destroy(mdp);
      idm_problem_destroy(problem);
    }
}

/* The occupancy of a deterministic policy is met with objective 0, for every divergence. */
static void pure_targets_are_met(void **state)
{
  (void)state;
  for (int d = IDM_DIVERGENCE_KL; d <= IDM_DIVERGENCE_SQUARED; d++) {
    idm_problem *problem = support_mdp(STATES, ACTIONS, 2, 0.5, 9);
    idm_mdp *mdp = support_create_mdp(problem);
    double policy[ALL] = {0}, target[ALL];
    for (size_t s = 0; s < STATES; s++) policy[s * ACTIONS + (s * s) % ACTIONS] = 1;
    check(idm_mdp_occupancy(mdp, policy, target, &support_error));
    idm_branch_stats pure;
    /* Starting from the demonstrated policy, and from the uniform policy. */
    idm_occupancy_projection *found = nearest(problem, target, policy, (idm_divergence)d, &pure);
    assert_true(found->objective == 0 && found->gap == 0);
    assert_memory_equal(found->policy, policy, sizeof policy);
    idm_occupancy_projection_destroy(found);
    double level[ALL];
    for (size_t e = 0; e < ALL; e++) level[e] = 1.0 / ACTIONS;
    found = nearest(problem, target, level, (idm_divergence)d, &pure);
    assert_near(found->objective, 0, 1e-10);
    assert_true(found->gap <= 1e-9);
    for (size_t e = 0; e < ALL; e++)
      if (target[e] > 0) assert_near(found->policy[e], 1, 1e-12);
    idm_occupancy_projection_destroy(found);
    idm_mdp_destroy(mdp);
    idm_problem_destroy(problem);
  }
}

/* Too many policies for branch and bound: the uniform policy is far from each of 2^20 policies. The
 * solution is between its bound and the objectives of thousands of random policies. */
static void bounds_are_said(void **state)
{
  (void)state;
  enum { MANY = 20, TWO = 2, ENTRIES = MANY * TWO };
  idm_problem *problem = support_mdp(MANY, TWO, 3, 0.5, 3);
  idm_mdp *mdp = support_create_mdp(problem);
  idm_random random;
  idm_random_init(&random, 7, 0);
  double level[ENTRIES], target[ENTRIES];
  for (size_t e = 0; e < ENTRIES; e++) level[e] = 1.0 / TWO;
  check(idm_mdp_occupancy(mdp, level, target, &support_error));
  idm_branch_stats pure;
  idm_occupancy_projection *found;
  check(idm_deterministic_projection_create(mdp, problem->setting, target, level, IDM_DIVERGENCE_TV,
                                            1, NULL, &pure, &found, &support_error));
  assert_true(found->gap > 1e-3 && found->gap < found->objective);
  assert_true(pure.branches >= 3000);
  for (int trial = 0; trial < 2000; trial++) {
    double policy[ENTRIES] = {0}, occupancy[ENTRIES], here = 0;
    for (size_t s = 0; s < MANY; s++) policy[s * TWO + (idm_random_uniform(&random) < 0.5)] = 1;
    check(idm_mdp_occupancy(mdp, policy, occupancy, &support_error));
    for (size_t e = 0; e < ENTRIES; e++) here += 0.5 * fabs(target[e] - occupancy[e]);
    assert_true(here >= found->objective - found->gap - 1e-9);
    assert_true(here >= found->objective - 1e-9);
  }
  idm_occupancy_projection_destroy(found);
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

static void expect(const idm_problem *problem, const double *target, idm_divergence divergence,
                   const char *words)
{
  idm_mdp *mdp = support_create_mdp(problem);
  idm_occupancy_projection *found;
  idm_branch_stats pure;
  idm_error error = {0};
  double level[ALL];
  for (size_t e = 0; e < ALL; e++) level[e] = 1.0 / ACTIONS;
  assert_int_equal(idm_deterministic_projection_create(mdp, problem->setting, target, level,
                                                       divergence, 1, NULL, &pure, &found, &error),
                   IDM_INPUT);
  assert_null(found);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in '%s'", words, error.message);
  idm_mdp_destroy(mdp);
}

/* Two actions in a state: kl and chi2 are infinite for every deterministic policy. */
static void infinite_divergences(void **state)
{
  (void)state;
  idm_problem *problem = support_mdp(STATES, ACTIONS, 2, 0.5, 9);
  double target[ALL];
  for (size_t e = 0; e < ALL; e++) target[e] = e % ACTIONS ? 0 : 1.0 / STATES;
  target[1] = target[0] = 0.5 / STATES;
  expect(problem, target, IDM_DIVERGENCE_KL, "several actions in 1 state, as in");
  expect(problem, target, IDM_DIVERGENCE_CHI2, "--divergence js, tv or squared");
  idm_problem_destroy(problem);
}

/* Two actions with the same transitions are equally good; the choice depends on names, not on
 * order. */
static void rivals_are_said(void **state)
{
  (void)state;
  support_twins twins = support_twins_create(0.5);
  const size_t *place = twins.place, *turn = twins.turn;
  const size_t matrix = STATES * STATES;
  double policy[2][ALL], target[2][ALL];
  for (size_t i = 0; i < 2; i++) {
    double *rows = twins.problem[i]->setting->transition;
    memcpy(rows + (i ? turn[1] : 1) * matrix, rows + (i ? turn[0] : 0) * matrix,
           matrix * sizeof *rows);
  }
  /* Names are permuted with their states and actions. */
  idm_labels *from = &twins.problem[0]->setting->actions;
  for (size_t u = 0; u < ACTIONS; u++)
    strcpy(twins.problem[1]->setting->actions.name[turn[u]], from->name[u]);
  from = &twins.problem[0]->setting->states;
  for (size_t s = 0; s < STATES; s++)
    strcpy(twins.problem[1]->setting->states.name[place[s]], from->name[s]);
  idm_mdp *mdp = support_create_mdp(twins.problem[0]);
  for (size_t e = 0; e < ALL; e++) policy[0][e] = e % ACTIONS == 2 ? 0 : 0.5;
  check(idm_mdp_occupancy(mdp, policy[0], target[0], &support_error));
  for (size_t e = 0; e < ALL; e++) {
    const size_t to = place[e / ACTIONS] * ACTIONS + turn[e % ACTIONS];
    target[1][to] = target[0][e];
    policy[1][to] = policy[0][e];
  }
  for (size_t d = 0; d < 3; d++) {
    idm_occupancy_projection *found[2];
    for (size_t i = 0; i < 2; i++) {
      idm_branch_stats pure;
      found[i] = nearest(twins.problem[i], target[i], policy[i], divergences[d], &pure);
      assert_true(pure.non_unique);
    }
    assert_near(found[0]->objective, found[1]->objective, 1e-10);
    for (size_t e = 0; e < ALL; e++)
      assert_near(found[0]->policy[e],
                  found[1]->policy[place[e / ACTIONS] * ACTIONS + turn[e % ACTIONS]], 1e-12);
    for (size_t i = 0; i < 2; i++) idm_occupancy_projection_destroy(found[i]);
  }
  idm_mdp_destroy(mdp);
  support_twins_destroy(&twins);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_near_as_any), cmocka_unit_test(pure_targets_are_met),
      cmocka_unit_test(bounds_are_said), cmocka_unit_test(infinite_divergences),
      cmocka_unit_test(rivals_are_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
