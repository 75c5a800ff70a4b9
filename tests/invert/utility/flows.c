/* Flow equations of occupancies: residuals, derivatives against differences, divergences by hand,
 * and the duality gap as a bound. */
#include "invert/utility/mdp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/utility/mdp_support.h"

enum { STATES = 5, ACTIONS = 3, ALL = STATES * ACTIONS };

typedef struct scene {
  idm_problem *problem;
  idm_mdp *mdp;
  idm_random random;
  double target[ALL];
} scene;

static void open_scene(scene *s)
{
  s->problem = support_mdp(STATES, ACTIONS, 2, 0.5, 41);
  s->mdp = support_create_mdp(s->problem);
  idm_random_init(&s->random, 1, 0);
  support_distribution(&s->random, s->target, ALL);
}

static void close_scene(scene *s)
{
  idm_mdp_destroy(s->mdp);
  idm_problem_destroy(s->problem);
}

static idm_flows *flows_of(const scene *s, idm_divergence divergence, double entropy)
{
  idm_flows *flows;
  check(idm_flows_create(s->mdp, s->problem->setting, s->target, NULL, divergence, 20, entropy,
                         &flows, &support_error));
  assert_int_equal(flows->entries, ALL);
  assert_int_equal(flows->rows, STATES);
  return flows;
}

static void draw_occupancy(scene *s, double *q)
{
  double policy[ALL];
  support_policy(&s->random, STATES, ACTIONS, policy);
  check(idm_mdp_occupancy(s->mdp, policy, q, &support_error));
}

/* Occupancies of policies satisfy the equations, others do not; dual costs are the transposed
 * operator. */
static void equations(void **state)
{
  (void)state;
  scene s;
  open_scene(&s);
  idm_flows *flows = flows_of(&s, IDM_DIVERGENCE_KL, 0);
  double q[ALL], left[STATES], y[STATES], dual_cost[ALL], direct = 0, across = 0;
  draw_occupancy(&s, q);
  idm_flows_residual(flows, q, left);
  for (size_t r = 0; r < STATES; r++) assert_near(left[r], 0, 1e-13);
  q[0] += 0.01;
  idm_flows_residual(flows, q, left);
  for (size_t r = 0; r < STATES; r++) {
    y[r] = idm_random_uniform(&s.random);
    direct += y[r] * (flows->source[r] - left[r]);
  }
  idm_flows_dual_cost(flows, y, dual_cost);
  for (size_t i = 0; i < ALL; i++) across += dual_cost[i] * q[i];
  assert_near(direct, across, 1e-13);
  assert_true(fabs(left[0]) > 1e-3);
  idm_flows_destroy(flows);
  close_scene(&s);
}

static void derivatives(void **state)
{
  (void)state;
  static const idm_divergence smooth[] = {IDM_DIVERGENCE_KL, IDM_DIVERGENCE_REVERSE_KL,
                                          IDM_DIVERGENCE_JS, IDM_DIVERGENCE_CHI2,
                                          IDM_DIVERGENCE_SQUARED};
  scene s;
  open_scene(&s);
  for (size_t d = 0; d < 5; d++) {
    idm_flows *flows = flows_of(&s, smooth[d], 0);
    double q[ALL];
    draw_occupancy(&s, q);
    for (size_t i = 0; i < ALL; i++) {
      const double h = 1e-4 * q[i], at = q[i];
      q[i] = at + h;
      const double up = idm_flows_objective(flows, q),
                   slope_up = idm_flows_derivative(flows, i, q[i]);
      q[i] = at - h;
      const double down = idm_flows_objective(flows, q);
      const double slope_down = idm_flows_derivative(flows, i, q[i]);
      q[i] = at;
      assert_near(idm_flows_derivative(flows, i, at), (up - down) / (2 * h), 1e-6);
      assert_near(idm_flows_curvature(flows, i, at), (slope_up - slope_down) / (2 * h), 1e-6);
    }
    idm_flows_destroy(flows);
  }
  close_scene(&s);
}

/* For any multipliers, no other occupancy is lower by more than the gap. */
static void the_gap_is_a_bound(void **state)
{
  (void)state;
  scene s;
  open_scene(&s);
  for (int d = IDM_DIVERGENCE_KL; d <= IDM_DIVERGENCE_SQUARED; d++)
    for (int w = 0; w < 2; w++) {
      idm_flows *flows = flows_of(&s, (idm_divergence)d, 0.2 * w);
      for (int k = 0; k < 200; k++) {
        double q[ALL], other[ALL], y[STATES], share[ALL], work[2 * ALL];
        draw_occupancy(&s, q);
        draw_occupancy(&s, other);
        for (size_t r = 0; r < STATES; r++) y[r] = 2 * idm_random_uniform(&s.random) - 1;
        for (size_t i = 0; i < ALL; i++) share[i] = idm_random_uniform(&s.random);
        const double gap = idm_flows_gap(flows, q, y, d == IDM_DIVERGENCE_TV ? share : NULL, work);
        assert_true(idm_flows_objective(flows, other) >=
                    idm_flows_objective(flows, q) - gap - 1e-12);
      }
      idm_flows_destroy(flows);
    }
  close_scene(&s);
}

/* Divergences of two distributions by hand; tv is half the sum of absolute differences. */
static void divergences_by_hand(void **state)
{
  (void)state;
  scene s;
  open_scene(&s);
  double q[ALL], expected[6] = {0};
  draw_occupancy(&s, q);
  for (size_t i = 0; i < ALL; i++) {
    const double p = s.target[i], m = 0.5 * (p + q[i]);
    expected[IDM_DIVERGENCE_KL] += p * log(p / q[i]);
    expected[IDM_DIVERGENCE_REVERSE_KL] += q[i] * log(q[i] / p);
    expected[IDM_DIVERGENCE_JS] += 0.5 * p * log(p / m) + 0.5 * q[i] * log(q[i] / m);
    expected[IDM_DIVERGENCE_TV] += 0.5 * fabs(p - q[i]);
    expected[IDM_DIVERGENCE_CHI2] += (p - q[i]) * (p - q[i]) / q[i];
    expected[IDM_DIVERGENCE_SQUARED] += 10 * (p - q[i]) * (p - q[i]);
  }
  double entropy = 0;
  for (size_t e = 0; e < ALL; e++) {
    double mass = 0;
    for (size_t u = 0; u < ACTIONS; u++) mass += q[e / ACTIONS * ACTIONS + u];
    entropy -= q[e] * log(q[e] / mass);
  }
  for (int d = IDM_DIVERGENCE_KL; d <= IDM_DIVERGENCE_SQUARED; d++) {
    idm_flows *flows = flows_of(&s, (idm_divergence)d, 0.3);
    assert_near(idm_flows_objective(flows, q), expected[d] - 0.3 * entropy, 1e-13);
    idm_flows_destroy(flows);
  }
  close_scene(&s);
}

/* Reverse KL keeps the support of p: actions that may leave it are removed, one after the other; a
 * start without actions is refused. Unreachable states have no rows. */
static void supports(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(
      "states: [a, b, c, d]\nactions: [stay, go]\nobservations: states\ndiscount: 0.9\nstart: a\n"
      "transition:\n  stay: identity\n"
      "  go: [[0, 0.5, 0.5, 0], [0, 0, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0]]\n"
      "agent: {planner: maximum-entropy, alpha: 1}\n");
  idm_mdp *mdp = support_create_mdp(problem);
  idm_flows *flows;
  idm_error error = {0};
  /* c has no mass: `go` from a or b may lead there, so only staying in a is left. */
  const double stays[] = {0.5, 0.2, 0, 0.3, 0, 0, 0, 0};
  check(idm_flows_create(mdp, problem->setting, stays, NULL, IDM_DIVERGENCE_REVERSE_KL, 1, 0,
                         &flows, &support_error));
  assert_int_equal(flows->entries, 1);
  assert_int_equal(flows->rows, 1);
  idm_flows_destroy(flows);
  const double goes[] = {0, 0.5, 0, 0.5, 0, 0, 0, 0};
  assert_int_equal(idm_flows_create(mdp, problem->setting, goes, NULL, IDM_DIVERGENCE_REVERSE_KL, 1,
                                    0, &flows, &error),
                   IDM_INPUT);
  assert_null(flows);
  assert_non_null(strstr(error.message, "'a'"));
  /* d is unreachable: kl is infinite for all policies, js is finite. */
  const double unreachable_cost[] = {0.5, 0, 0, 0, 0, 0, 0.5, 0};
  assert_int_equal(idm_flows_create(mdp, problem->setting, unreachable_cost, NULL,
                                    IDM_DIVERGENCE_KL, 1, 0, &flows, &error),
                   IDM_INPUT);
  assert_non_null(strstr(error.message, "infinite"));
  check(idm_flows_create(mdp, problem->setting, unreachable_cost, NULL, IDM_DIVERGENCE_JS, 1, 0,
                         &flows, &support_error));
  assert_int_equal(flows->rows, 3);
  assert_near(flows->unreachable_cost, 0.25 * log(2), 1e-15);
  idm_flows_destroy(flows);
  idm_mdp_destroy(mdp);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equations),          cmocka_unit_test(derivatives),
      cmocka_unit_test(the_gap_is_a_bound), cmocka_unit_test(divergences_by_hand),
      cmocka_unit_test(supports),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
