/* Tests the derivative of K by the dynamics, at a belief between lattice points with the values
 * held fixed, against central differences of Q. */
#include "plan/control/adjoint.h"

#include <math.h>
#include <string.h>

#include "plan/control/control.h"
#include "plan/workspace.h"
#include "support.h"

enum { STATES = 3, ACTIONS = 2, SEEN = 2 };
enum { PLAIN, BELIEF_PRIOR, EMITS_BEFORE, BY_OBSERVATION, WAYS };

static idm_problem *problem_of(int way, idm_random *random)
{
  idm_problem *problem = support_problem((support_shape){STATES, ACTIONS, SEEN, 1, 6}, random);
  idm_theta *theta = problem->theta;
  support_set(problem, 0.8, 1.5, 0.7);
  problem->agent.evaluate = IDM_LOOKAHEAD;
  problem->setting->emits_before = way == EMITS_BEFORE;
  if (way == BY_OBSERVATION) problem->agent.surprise = IDM_SURPRISE_OBSERVATION;
  theta->block[IDM_EMISSION].role = IDM_DESCRIPTIVE;
  if (way != BELIEF_PRIOR) return problem;
  check(idm_theta_resize(theta, IDM_BELIEF_PRIOR, STATES, 1, &support_error));
  for (size_t s = 0; s < STATES; s++) theta->block[IDM_BELIEF_PRIOR].value[s] = 0.5 + (double)s;
  return problem;
}

/* Q of one action with number i of a row increased by h and its neighbour decreased by h. */
static double belief_gradient_k(const idm_workspace *w, const double *z, size_t u, double *table,
                                size_t i, size_t width, double h)
{
  double q[ACTIONS];
  const size_t j = i - i % width + (i + 1) % width;
  const double before[2] = {table[i], table[j]};
  table[i] += h;
  table[j] -= h;
  idm_control_quality(w->content, 0, 0, z, q, w->scratch);
  table[i] = before[0];
  table[j] = before[1];
  return q[u];
}

static void compare(const idm_workspace *w, const double *z, double *table, size_t count,
                    size_t width, const double *derivative, double factor)
{
  const double h = 1e-6;
  for (size_t i = 0; i < count; i++) {
    const size_t u = i / (count / ACTIONS);
    const size_t j = i - i % width + (i + 1) % width;
    const double difference = (belief_gradient_k(w, z, u, table, i, width, h) -
                               belief_gradient_k(w, z, u, table, i, width, -h)) /
                              (2 * h);
    assert_near(derivative[i] - derivative[j], factor * difference, 1e-7);
  }
}

static void test_differences(void **state)
{
  (void)state;
  const double factor = -1.7;
  for (int way = 0; way < WAYS; way++) {
    idm_random random;
    idm_random_init(&random, (uint64_t)way, 3);
    idm_problem *problem = problem_of(way, &random);
    idm_workspace *w = support_plan(problem, NULL);
    control *c = w->content;
    void *made;
    double z[STATES];
    check(idm_adjoint_create(c, &made, &support_error));
    adjoint *a = made;
    for (int trial = 0; trial < 5; trial++) {
      support_distribution(&random, z, STATES);
      idm_adjoint_begin(a);
      for (size_t u = 0; u < ACTIONS; u++)
        idm_adjoint_dynamics(a, control_layer(c, 0, 1), z, u, 0, factor);
      compare(w, z, c->transition, control_transitions(c), STATES, a->sums.transition, factor);
      compare(w, z, c->emission, control_emissions(c), SEEN, a->sums.emission, factor);
    }
    /* A derivative of 0 contributes nothing. */
    idm_adjoint_begin(a);
    idm_adjoint_dynamics(a, control_layer(c, 0, 1), z, 0, 0, 0);
    for (size_t i = 0; i < control_transitions(c); i++) assert_true(a->sums.transition[i] == 0);
    idm_adjoint_destroy(a);
    idm_workspace_destroy(w);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_differences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
