/* Tests distorted belief updates: planning and likelihoods against direct computations, Bayes' rule
 * to the bit, limits, relabelling. */
#include "plan/choice.h"

#include <math.h>
#include <string.h>

#include "plan/control/control.h"
#include "plan/control/plain.h"
#include "plan/learner_support.h"
#include "plan/workspace.h"

static idm_problem *problem_of(support_shape shape, double prior, double evidence, uint64_t seed)
{
  idm_random random;
  idm_random_init(&random, seed, 6);
  idm_problem *problem = support_problem(shape, &random);
  support_set(problem, 0.6, 1.3, 0.3);
  idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.8);
  idm_theta_set_scalar(problem->theta, IDM_PRIOR_WEIGHT, prior);
  idm_theta_set_scalar(problem->theta, IDM_EVIDENCE_WEIGHT, evidence);
  return problem;
}

static const double powers[][2] = {{1, 1}, {0.5, 1}, {1, 0.4}, {1.7, 2.5}, {0, 1}, {1, 0}, {0, 0}};

/* V on the lattice is a fixed point of B* computed directly, and Q between lattice points is one
 * step of it. */
static void test_planning(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++)
    for (int way = 0; way < 4; way++) {
      const support_shape shape = {way % 2 ? 3 : 2, 2, 3, 2, 6};
      idm_problem *problem = problem_of(shape, powers[i][0], powers[i][1], i);
      problem->setting->emits_before = way > 1;
      problem->agent.evaluate = IDM_LOOKAHEAD;
      idm_workspace *w = support_plan(problem, NULL);
      const control *c = w->content;
      const double *v = control_layer(c, 0, 1);
      for (size_t point = 0; point < c->lattice->points; point++) {
        const plain_result plain =
            plain_backup(problem, c->lattice, 0, v, c->lattice->belief + point * shape.states);
        assert_near(plain.value, v[point], 1e-8);
      }
      const double z[3] = {0.37, way % 2 ? 0.41 : 0.63, 0.22};
      double q[PLAIN_MOST];
      const plain_result plain = plain_backup(problem, c->lattice, 0, v, z);
      idm_plan_quality(w, 0, 0, z, q);
      for (size_t u = 0; u < shape.actions; u++) assert_near(q[u], plain.q[u], 1e-12);
      idm_workspace_destroy(w);
      idm_problem_destroy(problem);
    }
}

/* Replaces z by the mean over sigma of the models' distorted updates. */
static void follow(const idm_problem *problem, const double *sigma, size_t u, size_t x, double *z)
{
  const idm_sizes n = problem->theta->sizes;
  double next[PLAIN_MOST] = {0}, total = 0;
  for (size_t m = 0; m < problem->theta->models; m++) {
    double after[PLAIN_MOST];
    const size_t at = m * n.actions + u;
    plain_after(problem, problem->theta->block[IDM_TRANSITION].value + at * n.states * n.states,
                problem->theta->block[IDM_EMISSION].value + at * n.states * n.observations, z, x,
                after);
    total += sigma[u * problem->theta->models + m];
    for (size_t s = 0; s < n.states; s++)
      next[s] += sigma[u * problem->theta->models + m] * after[s];
  }
  for (size_t s = 0; s < n.states; s++) z[s] = next[s] / total;
}

static double plain_score(const idm_problem *problem, idm_workspace *w, const idm_data *data)
{
  const size_t k = problem->theta->sizes.states;
  double sum = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    double z[PLAIN_MOST];
    memcpy(z, problem->setting->start, k * sizeof *z);
    for (size_t i = data->first[t]; i < data->first[t + 1]; i++) {
      double pi[PLAIN_MOST], sigma[PLAIN_MOST * PLAIN_MOST];
      idm_plan_policy(w, 0, z, pi, sigma);
      sum += log(pi[data->action[i]]);
      if (data->observation[i] != IDM_MISSING)
        follow(problem, sigma, (size_t)data->action[i], (size_t)data->observation[i], z);
    }
  }
  return sum;
}

/* The score of every planner over beliefs equals that of a direct loop. */
static void test_likelihood(void **state)
{
  (void)state;
  for (size_t p = 0; idm_planner_at(p); p++) {
    const idm_planner *planner = idm_planner_at(p);
    if (!planner->belief) {
      assert_false(idm_planner_reads(planner, IDM_PRIOR_WEIGHT));
      continue;
    }
    /* The bounds of point-based planners require Bayes' rule, so the update is not distorted; nor
     * is it where states are observed. */
    if (!idm_planner_reads(planner, IDM_EVIDENCE_WEIGHT)) {
      assert_true(strcmp(planner->name, "point-based") == 0 || planner->needs & IDM_NEEDS_STATES);
      continue;
    }
    for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++) {
      const support_shape shape = {i % 2 ? 3 : 2, 3, 2, 1, 7};
      idm_problem *problem = problem_of(shape, powers[i][0], powers[i][1], i);
      check(idm_problem_set_planner(problem, planner, &support_error));
      if (idm_planner_reads(planner, IDM_WEIGHTS)) {
        idm_random random;
        idm_random_init(&random, i, 7);
        support_redraw(problem->theta, IDM_WEIGHTS, &random);
      }
      if (strcmp(planner->name, "kl-penalised-robust") == 0)
        idm_theta_set_scalar(problem->theta, IDM_BETA, -1.3);
      /* For agents with a Dirac model prior the direct loop uses the environment too. */
      memcpy(problem->theta->block[IDM_TRANSITION].value, problem->setting->transition,
             problem->theta->block[IDM_TRANSITION].size * sizeof(double));
      memcpy(problem->theta->block[IDM_EMISSION].value, problem->setting->emission,
             problem->theta->block[IDM_EMISSION].size * sizeof(double));
      idm_workspace *w = support_plan(problem, NULL);
      idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 15, .steps = 5});
      const double expected = plain_score(problem, w, data);
      assert_near(support_score(w, data), expected, 1e-10);
      assert_true(isfinite(expected));
      idm_data_destroy(data);
      idm_workspace_destroy(w);
      idm_problem_destroy(problem);
    }
  }
}

/* If parameters of the beliefs are free, a planner without their derivative is left to differences.
 * Only plug-ins can lack it, since all planners of the registry have it. */
static void test_derivatives(void **state)
{
  (void)state;
  size_t count = 0;
  for (size_t p = 0; idm_planner_at(p); p++) {
    const idm_planner *planner = idm_planner_at(p);
    if (!planner->belief || !planner->belief->adjoint) continue;
    idm_random random;
    idm_random_init(&random, p, 5);
    idm_problem *problem = support_any(planner, (support_shape){2, 3, 2, 1, 7}, &random);
    idm_workspace *w = support_plan(problem, NULL);
    assert_true(w->belief_agent.differentiable);
    idm_workspace_destroy(w);
    problem->theta->block[IDM_EMISSION].role = IDM_DESCRIPTIVE;
    w = support_plan(problem, NULL);
    assert_true(w->belief_agent.differentiable);
    idm_workspace_destroy(w);
    idm_adjoint_ops adjoint = *planner->belief->adjoint;
    idm_belief_ops belief = *planner->belief;
    idm_planner other = *planner;
    adjoint.dynamics = false;
    belief.adjoint = &adjoint;
    other.belief = &belief;
    problem->agent.planner = &other;
    w = support_plan(problem, NULL);
    assert_false(w->belief_agent.differentiable);
    idm_workspace_destroy(w);
    idm_problem_destroy(problem);
    count++;
  }
  assert_true(count > 9);
}

/* At powers of 1 the code path is that of Bayes' rule, to the bit; the distorted path agrees with
 * it. */
static void test_bayes(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 2, 0.2);
  const idm_update update = idm_update_of(problem->theta);
  assert_false(update.distorted);
  idm_workspace *w = support_plan(problem, NULL);
  const control *c = w->content;
  idm_action_model bayes = control_action_model(c, 2, 0);
  idm_action_model distorted = bayes;
  distorted.update = (idm_update){true, 1, 1};
  for (int i = 0; i <= 20; i++) {
    const double z[2] = {i / 20.0, 1 - i / 20.0};
    double first[2], second[2];
    for (size_t x = 0; x < 2; x++) {
      const double p = idm_filter_joint(&bayes, z, x, first);
      assert_near(idm_filter_joint(&distorted, z, x, second), p, 1e-15);
      for (size_t s = 0; s < 2; s++) assert_near(first[s], second[s], 1e-15);
    }
  }
  /* After a change of the power and back the operator is identical. */
  const size_t bytes = c->padded * sizeof(double);
  double before[128];
  assert_true(bytes <= sizeof before);
  const idm_solver cold = {.method = IDM_METHOD_NEWTON, .limit = 100, .slots = IDM_START_COLD};
  check(idm_plan(problem->theta, &cold, w, NULL, &support_error));
  memcpy(before, control_layer(c, 0, 1), bytes);
  idm_theta_set_scalar(problem->theta, IDM_EVIDENCE_WEIGHT, 0.5);
  check(idm_plan(problem->theta, &cold, w, NULL, &support_error));
  assert_memory_not_equal(before, control_layer(c, 0, 1), bytes);
  idm_theta_set_scalar(problem->theta, IDM_EVIDENCE_WEIGHT, 1);
  check(idm_plan(problem->theta, &cold, w, NULL, &support_error));
  assert_memory_equal(before, control_layer(c, 0, 1), bytes);
  idm_workspace_destroy(w);
  idm_problem_destroy(problem);
}

/* Permuting the states leaves values and policies unchanged. */
static void test_relabelling(void **state)
{
  (void)state;
  idm_problem *problem = problem_of((support_shape){2, 3, 2, 2, 20}, 0.6, 1.4, 3);
  idm_problem *turned = problem_of((support_shape){2, 3, 2, 2, 20}, 0.6, 1.4, 3);
  const idm_block *from = problem->theta->block;
  idm_block *to = turned->theta->block;
  for (size_t i = 0; i < from[IDM_UTILITY].size; i++)
    to[IDM_UTILITY].value[i ^ 1] = from[IDM_UTILITY].value[i];
  for (size_t i = 0; i < from[IDM_TRANSITION].size; i++)
    to[IDM_TRANSITION].value[i ^ 3] = from[IDM_TRANSITION].value[i];
  for (size_t i = 0; i < from[IDM_EMISSION].size; i++)
    to[IDM_EMISSION].value[i ^ 2] = from[IDM_EMISSION].value[i];
  idm_workspace *a = support_plan(problem, NULL);
  idm_workspace *b = support_plan(turned, NULL);
  for (int i = 0; i <= 10; i++) {
    const double z[2] = {0.031 + 0.09 * i, 0.969 - 0.09 * i}, other[2] = {z[1], z[0]};
    assert_near(idm_plan_value(a, 0, z), idm_plan_value(b, 0, other), 1e-8);
  }
  idm_workspace_destroy(a);
  idm_workspace_destroy(b);
  idm_problem_destroy(problem);
  idm_problem_destroy(turned);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_planning),    cmocka_unit_test(test_likelihood),
      cmocka_unit_test(test_derivatives), cmocka_unit_test(test_bayes),
      cmocka_unit_test(test_relabelling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
