/* Tests the derivative of K by the dynamics, with the values held fixed: at a belief between
 * lattice points against central differences of Q, and all observations at once against one by one.
 */
#include "plan/control/adjoint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/soft.h"
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
        idm_adjoint_dynamics(a, control_layer(c, 0, 1), z, u, 0, factor, NULL);
      compare(w, z, c->transition, control_transitions(c), STATES, a->sums.transition, factor);
      compare(w, z, c->emission, control_emissions(c), SEEN, a->sums.emission, factor);
    }
    /* A derivative of 0 contributes nothing. */
    idm_adjoint_begin(a);
    idm_adjoint_dynamics(a, control_layer(c, 0, 1), z, 0, 0, 0, NULL);
    for (size_t i = 0; i < control_transitions(c); i++) assert_true(a->sums.transition[i] == 0);
    idm_adjoint_destroy(a);
    idm_workspace_destroy(w);
    idm_problem_destroy(problem);
  }
}

/* --- all observations at once ---------------------------------------------------------------- */

/* More observations than one lane holds, and points that do not fill the last lane. */
enum { SYMBOLS = 11, MODELS = 2 };

/* Sums of derivatives with respect to the dynamics and the weights of the update. */
typedef struct sums {
  double transition[MODELS * ACTIONS * STATES * STATES];
  double emission[MODELS * ACTIONS * STATES * SYMBOLS];
  double weight[2];
} sums;

/* Three states, no surprise, an award with a ramp; some observations are impossible. */
static idm_problem *problem_at_once(idm_random *random)
{
  idm_problem *problem =
      support_problem((support_shape){STATES, ACTIONS, SYMBOLS, MODELS, 6}, random);
  idm_theta *theta = problem->theta;
  double *emission = theta->block[IDM_EMISSION].value;
  support_set(problem, 0.8, 1.5, 0);
  problem->agent.evaluate = IDM_LOOKAHEAD;
  theta->block[IDM_EMISSION].role = theta->block[IDM_PRIOR_WEIGHT].role = IDM_DESCRIPTIVE;
  memcpy(theta->block[IDM_CERTAINTY].value, (const double[]){0.6, 0.8, 0.3}, 3 * sizeof(double));
  for (size_t s = 0; s < STATES; s++) {
    double *row = emission + s * SYMBOLS;
    row[1] += row[0];
    row[0] = 0;
  }
  emission[3] += emission[2];
  emission[2] = 0;
  return problem;
}

/* Takes the sums, which are then 0. */
static sums take_sums(adjoint *a)
{
  sums all;
  memcpy(all.transition, a->sums.transition, sizeof all.transition);
  memcpy(all.emission, a->sums.emission, sizeof all.emission);
  all.weight[0] = a->sums.prior_weight;
  all.weight[1] = a->sums.evidence_weight;
  idm_adjoint_begin(a);
  return all;
}

static void compare_numbers(const double *x, const double *y, size_t count, const double *opt_p)
{
  for (size_t i = 0; i < count; i++)
    if (!opt_p || opt_p[i] > 0) assert_near(x[i], y[i], 1e-11 * (1 + fabs(y[i])));
}

/* Successors by an emission of 0 are at an edge of the lattice, where V has no derivative. */
static void compare_sums(const control *c, const sums *found, const sums *expected)
{
  compare_numbers(found->transition, expected->transition, control_transitions(c), NULL);
  compare_numbers(found->emission, expected->emission, control_emissions(c), c->emission);
  compare_numbers(found->weight, expected->weight, 2, NULL);
  assert_true(fabs(expected->weight[0]) > 1e-3 && fabs(expected->weight[1]) > 1e-3);
}

/* Adds the derivatives of one belief one observation at a time, given those with respect to Q. */
static void add_one_by_one(adjoint *a, const double *v, const double *z, const double *k,
                           const double *q_gradient)
{
  control *c = a->c;
  double sigma[MODELS];
  for (size_t u = 0; u < ACTIONS; u++) {
    idm_control_specify(c, k + u * MODELS, sigma);
    for (size_t m = 0; m < MODELS; m++)
      idm_adjoint_dynamics(a, v, z, u, m, q_gradient[u] * sigma[m], NULL);
  }
}

/* A sweep over the lattice, given the derivative with respect to the values. */
static void compare_sweep(adjoint *a, const double *lambda)
{
  control *c = a->c;
  const double *v = control_layer(c, 0, 1);
  double k[ACTIONS * MODELS], q[ACTIONS], pi[ACTIONS];
  adjoint_layer layer = {.v = v,
                         .quality = a->own_quality,
                         .decision = a->own_decision,
                         .specification = a->own_specification,
                         .opt_lambda = lambda};
  backup_output out = {.quality = a->own_quality,
                       .decision = a->own_decision,
                       .specification = a->own_specification};
  c->numbers.arrival = idm_control_arrival(c, 1);
  idm_control_backup(c, v, false, &out);
  idm_adjoint_begin(a);
  for (size_t i = 0; i < c->lattice->points; i++) {
    (void)idm_control_point(c, v, i, k, q);
    idm_soft(c->numbers.alpha, ACTIONS, c->numbers.action_prior, q, pi);
    for (size_t u = 0; u < ACTIONS; u++) pi[u] *= lambda[i];
    add_one_by_one(a, v, c->lattice->belief + i * STATES, k, pi);
  }
  const sums expected = take_sums(a);
  idm_adjoint_sweep(a, &layer, NULL);
  const sums found = take_sums(a);
  compare_sums(c, &found, &expected);
}

/* One step of lookahead between lattice points. */
static void compare_lookahead(adjoint *a, const idm_workspace *w, const double *z)
{
  control *c = a->c;
  double k[ACTIONS * MODELS], pi[ACTIONS], q_gradient[ACTIONS];
  const double g[ACTIONS] = {0.7, -1.1}, none[ACTIONS * MODELS] = {0};
  idm_control_policy(c, 0, 0, z, pi, NULL, w->scratch);
  const idm_policy_adjoint point = {
      .belief = z, .decision = pi, .log_decision_gradient = g, .specification_gradient = none};
  idm_adjoint_begin(a);
  idm_adjoint_lookahead(a, &point);
  memcpy(k, a->lookahead.k, sizeof k);
  const sums found = take_sums(a);
  for (size_t u = 0; u < ACTIONS; u++)
    q_gradient[u] = (g[u] - (g[0] + g[1]) * pi[u]) / c->numbers.temperature;
  add_one_by_one(a, control_layer(c, 0, 1), z, k, q_gradient);
  const sums expected = take_sums(a);
  compare_sums(c, &found, &expected);
}

/* Observations that are processed at once give the same derivatives as one by one. */
static void test_at_once(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 5, 3);
  idm_problem *problem = problem_at_once(&random);
  idm_workspace *w = support_plan(problem, NULL);
  control *c = w->content;
  void *made;
  double z[STATES];
  check(idm_adjoint_create(c, &made, &support_error));
  double *lambda = calloc(c->padded, sizeof *lambda);
  assert_non_null(lambda);
  assert_true(c->lattice->points % IDM_LANE_WIDTH != 0);
  for (size_t u = 0; u < ACTIONS; u++)
    for (size_t m = 0; m < MODELS; m++) assert_true(idm_adjoint_at_once(c, u, m));
  for (size_t i = 0; i < c->lattice->points; i++) lambda[i] = idm_random_uniform(&random) - 0.3;
  compare_sweep(made, lambda);
  for (int trial = 0; trial < 5; trial++) {
    support_distribution(&random, z, STATES);
    compare_lookahead(made, w, z);
  }
  free(lambda);
  idm_adjoint_destroy(made);
  idm_workspace_destroy(w);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_differences),
                                     cmocka_unit_test(test_at_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
