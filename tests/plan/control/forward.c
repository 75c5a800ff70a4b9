/* Tests the forward recursion: duality with the value, occupancy against dense elimination, and
 * return against simulation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/control/plain.h"
#include "support.h"

/* J - alpha I - beta I - eta I minus the value; infinite multipliers contribute 0. */
static double duality_gap(const idm_problem *problem, const idm_forward *f, double *ret_scale)
{
  const idm_theta *theta = problem->theta;
  const double alpha = idm_theta_scalar(theta, IDM_ALPHA);
  const double beta = idm_theta_scalar(theta, IDM_BETA);
  const double a = isinf(alpha) ? 0 : alpha * f->decision;
  const double b = isinf(beta) ? 0 : beta * f->specification;
  const double e = idm_theta_scalar(theta, IDM_ETA) * f->recognition;
  *ret_scale = fmax(fmax(fmax(1, fabs(f->internal_return)), fmax(fabs(a), fabs(b))),
                    fmax(fabs(e), fabs(f->value)));
  return fabs(f->internal_return - a - b - e - f->value);
}

static void check_duality(idm_problem *problem, int index)
{
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_forward forward;
  check(idm_plan_forward(workspace, 0, &forward, NULL, &support_error));
  double scale;
  const double gap = duality_gap(problem, &forward, &scale);
  if (!(gap <= 1e-9 * scale)) print_error("problem %d: gap %g of %g\n", index, gap, scale);
  assert_true(gap <= 1e-9 * scale);
  idm_workspace_destroy(workspace);
}

static void duality_holds_on_200_random_problems(void **state)
{
  (void)state;
  const support_shape shapes[] = {{2, 3, 2, 3, 25}, {3, 3, 2, 2, 10}, {4, 2, 3, 2, 6}};
  idm_random random;
  idm_random_init(&random, 21, 0);
  for (int i = 0; i < 200; i++) {
    idm_problem *problem = support_problem(shapes[i % 3], &random);
    const double alpha = i % 10 == 7 ? INFINITY : support_signed(&random, 0.01, 100);
    const double beta = i % 10 == 8 ? -INFINITY : support_signed(&random, 0.01, 100);
    support_set(problem, alpha, beta, support_signed(&random, 0.01, 10));
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 0.99 * idm_random_uniform(&random));
    if (i % 20 == 3) problem->setting->terminal[0] = problem->setting->ends[0] = true;
    if (i % 20 == 13) problem->setting->horizon = 6;
    check_duality(problem, i);
    idm_problem_destroy(problem);
  }
}

/* A naive formula for the divergence violates the duality by 3e-8 at beta = 1e9. */
static void duality_survives_near_limits(void **state)
{
  (void)state;
  const double sizes[] = {1e9, -1e9, 1e12, 1e-8, -1e-8, 1e-3};
  for (size_t i = 0; i < 6; i++)
    for (size_t j = 0; j < 6; j++) {
      idm_problem *problem = support_diag(sizes[i], sizes[j], 0.5);
      check_duality(problem, (int)(10 * i + j));
      idm_problem_destroy(problem);
    }
}

static void occupancy_is_a_distribution(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.001);
  idm_workspace *workspace = support_plan(problem, NULL);
  double *mass = calloc(idm_workspace_points(workspace), sizeof *mass);
  idm_forward forward;
  check(idm_plan_forward(workspace, 0, &forward, mass, &support_error));
  double total = 0;
  for (size_t i = 0; i < idm_workspace_points(workspace); i++) {
    assert_true(mass[i] > -1e-12);
    total += mass[i];
  }
  assert_near(total, 1, 1e-10);
  free(mass);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* If the agent's only model is the environment, J is the expected utility in the environment. It is
 * compared with 20,000 simulated trajectories. The tolerance is 4 standard errors: 6e-5 of seeds
 * would fail. */
static void return_is_what_simulation_pays(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, INFINITY, 0);
  check(idm_problem_set_planner(problem, idm_planner_find("kl-regularised"), &support_error));
  problem->agent.resolution = 999;
  for (size_t u = 0; u < 3; u++) problem->setting->ends[u] = false;
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_forward forward;
  check(idm_plan_forward(workspace, 0, &forward, NULL, &support_error));
  const idm_simulation simulation = {.trajectories = 20000, .steps = 60, .seed = 5};
  idm_data *data;
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                     &support_error));
  /* The state is not in the log, so the expected utility under the exact belief is used instead. */
  const double *utility = idm_theta_values(problem->theta, IDM_UTILITY, 0);
  double sum = 0, squares = 0;
  for (size_t t = 0; t < data->trajectories; t++) {
    double z = 0.5, total = 0, weight = 0.05;
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++, weight *= 0.95) {
      const int u = data->action[row];
      total += weight * ((1 - z) * utility[2 * u] + z * utility[2 * u + 1]);
      const double prior = u == 2 ? z : 0.5;
      const double up = data->observation[row] == 1 ? 0.7 : 0.3;
      z = prior * up / (prior * up + (1 - prior) * (1 - up));
    }
    sum += total;
    squares += total * total;
  }
  const double mean = sum / 20000, error = sqrt((squares / 20000 - mean * mean) / 20000);
  /* After 60 steps 0.95^60 = 4.6 % of the weight remains, at an average utility within 3 of the
   * mean. */
  const double tail = pow(0.95, 60);
  assert_true(fabs(mean - (1 - tail) * forward.internal_return) < 4 * error + 3 * tail);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* --- discounts near 1 ----------------------------------------------------------------------- */

enum { MOST_POINTS = 80 };

/* The expected result of the forward recursion, by dense elimination in long double. */
typedef struct dense {
  double mass[MOST_POINTS];
  idm_forward forward;
} dense;

/* V - V[0] by relative value iteration if no action is terminal (B* is then shift-equivariant, so
 * that no large number occurs), otherwise V by ordinary value iteration. */
static void plain_values(const idm_problem *problem, const idm_lattice *lattice, bool relative,
                         double *v)
{
  double next[MOST_POINTS];
  memset(v, 0, lattice->points * sizeof *v);
  double moved = 1;
  for (int sweep = 0; sweep < 4000 && moved > 1e-13; sweep++) {
    moved = 0;
    for (size_t i = 0; i < lattice->points; i++)
      next[i] = plain_backup(problem, lattice, 0, v, lattice->belief + 2 * i).value;
    for (size_t i = 0; i < lattice->points; i++) {
      const double value = next[i] - (relative ? next[0] : 0);
      moved = fmax(moved, fabs(value - v[i]));
      v[i] = value;
    }
  }
}

/* P(i -> j) under the mixture of the models' updates, from policies at point i. */
static void plain_row(const idm_problem *problem, const idm_lattice *lattice,
                      const plain_result *at, const double *z, long double *row)
{
  const idm_sizes n = problem->theta->sizes;
  const idm_theta *theta = problem->theta;
  for (size_t u = 0; u < n.actions; u++)
    for (size_t m = 0; m < theta->models && !problem->setting->terminal[u]; m++)
      for (size_t x = 0; x < n.observations; x++) {
        const double *tau = theta->block[IDM_TRANSITION].value + (m * n.actions + u) * 4;
        const double *omega =
            theta->block[IDM_EMISSION].value + (m * n.actions + u) * 2 * n.observations;
        double next[2], p = 0, weight[2], scratch[4];
        uint32_t vertex[2];
        for (size_t t = 0; t < 2; t++) {
          next[t] = (z[0] * tau[t] + z[1] * tau[2 + t]) * omega[t * n.observations + x];
          p += next[t];
        }
        if (!(p > 0)) continue;
        for (size_t t = 0; t < 2; t++) next[t] /= p;
        const size_t count = idm_lattice_locate(lattice, next, vertex, weight, scratch);
        for (size_t k = 0; k < count; k++)
          row[vertex[k]] +=
              (long double)at->pi[u] * at->sigma[u * theta->models + m] * p * weight[k];
      }
}

/* Solves A x = b in place by Gaussian elimination; A is diagonally dominant by columns. */
static void eliminate(size_t n, long double a[MOST_POINTS][MOST_POINTS], long double *x)
{
  for (size_t k = 0; k < n; k++)
    for (size_t i = k + 1; i < n; i++) {
      const long double factor = a[i][k] / a[k][k];
      for (size_t j = k; j < n; j++) a[i][j] -= factor * a[k][j];
      x[i] -= factor * x[k];
    }
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++) x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
}

static double divergence(size_t count, const double *p, const double *q)
{
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += p[i] > 0 ? p[i] * log(p[i] / q[i]) : 0;
  return sum;
}

/* The contribution of a visit: utility, and KL of both policies (recognition follows by duality).
 */
static void plain_visit(const idm_problem *problem, const plain_result *at, const double *z,
                        double mass, idm_forward *forward)
{
  const idm_theta *theta = problem->theta;
  const idm_sizes n = theta->sizes;
  const double *utility = idm_theta_values(theta, IDM_UTILITY, 0);
  forward->decision +=
      mass * divergence(n.actions, at->pi, idm_theta_values(theta, IDM_ACTION_PRIOR, 0));
  for (size_t u = 0; u < n.actions; u++) {
    for (size_t s = 0; s < 2; s++)
      forward->internal_return += mass * at->pi[u] * z[s] * utility[2 * u + s];
    if (!problem->setting->terminal[u])
      forward->specification += mass * at->pi[u] *
                                divergence(theta->models, at->sigma + u * theta->models,
                                           idm_theta_values(theta, IDM_MODEL_PRIOR, 0));
  }
}

static dense solve_densely(const idm_problem *problem)
{
  static long double a[MOST_POINTS][MOST_POINTS];
  long double x[MOST_POINTS] = {0};
  idm_lattice *lattice;
  dense out = {0};
  double v[MOST_POINTS], weight[2], scratch[4];
  uint32_t vertex[2];
  bool relative = true;
  for (size_t u = 0; u < problem->theta->sizes.actions; u++)
    relative = relative && !problem->setting->terminal[u];
  const long double gamma = idm_theta_scalar(problem->theta, IDM_DISCOUNT);
  check(idm_lattice_create(2, problem->agent.resolution, false, &lattice, &support_error));
  plain_values(problem, lattice, relative, v);
  memset(a, 0, sizeof a);
  for (size_t i = 0; i < lattice->points; i++) {
    long double row[MOST_POINTS] = {0};
    const double *z = lattice->belief + 2 * i;
    const plain_result at = plain_backup(problem, lattice, 0, v, z);
    plain_row(problem, lattice, &at, z, row);
    for (size_t j = 0; j < lattice->points; j++) a[j][i] = (i == j) - gamma * row[j];
  }
  const size_t count =
      idm_lattice_locate(lattice, problem->setting->start, vertex, weight, scratch);
  for (size_t k = 0; k < count; k++) x[vertex[k]] = (1 - gamma) * weight[k];
  eliminate(lattice->points, a, x);
  for (size_t i = 0; i < lattice->points; i++) {
    const double *z = lattice->belief + 2 * i;
    const plain_result at = plain_backup(problem, lattice, 0, v, z);
    out.mass[i] = (double)x[i];
    plain_visit(problem, &at, z, (double)x[i], &out.forward);
  }
  idm_lattice_destroy(lattice);
  return out;
}

/* Checks that the result is accurate to six digits, or rejected with a bound. Returns whether it
 * was accurate. */
static bool check_against_dense(idm_problem *problem)
{
  const dense expected = solve_densely(problem);
  idm_plan_report report;
  idm_workspace *workspace = support_plan(problem, &report);
  double mass[MOST_POINTS];
  idm_forward forward;
  idm_error error = {0};
  const idm_status status = idm_plan_forward(workspace, 0, &forward, mass, &error);
  if (status == IDM_OK) {
    for (size_t i = 0; i < idm_workspace_points(workspace); i++)
      assert_near(mass[i], expected.mass[i], 1e-6);
    assert_near(forward.internal_return, expected.forward.internal_return, 1e-5);
    assert_near(forward.decision, expected.forward.decision, 1e-5);
    assert_near(forward.specification, expected.forward.specification, 1e-5);
    double scale;
    /* The value is as accurate as the certificate of planning: V is of order 1/(1 - discount), and
     * so is its rounding error. */
    const double expected_certainty =
        (1 - idm_theta_scalar(problem->theta, IDM_DISCOUNT)) * report.bound;
    assert_true(duality_gap(problem, &forward, &scale) <= 1e-8 * scale + expected_certainty);
  } else {
    assert_int_equal(status, IDM_NUMERICAL);
    assert_non_null(strstr(error.message, "at a discount of 0.9999"));
    assert_non_null(strstr(error.message, "expected"));
  }
  idm_workspace_destroy(workspace);
  return status == IDM_OK;
}

static void discounts_near_1_are_right_or_refused(void **state)
{
  (void)state;
  const double gaps[] = {1e-5, 1e-6, 1e-7, 1e-8, 1e-10};
  for (size_t g = 0; g < 5; g++) {
    idm_random random;
    idm_random_init(&random, 22, 0);
    for (int i = 0; i < 12; i++) {
      idm_problem *problem = support_problem((support_shape){2, 3, 2, 2, 24}, &random);
      support_set(problem, support_signed(&random, 0.2, 5), support_signed(&random, 0.2, 5), 0.3);
      idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 1 - gaps[g]);
      problem->setting->ends[0] = i % 3 == 1;
      const bool right = check_against_dense(problem);
      assert_true(right || gaps[g] < 1e-7);
      idm_problem_destroy(problem);
    }
  }
}

/* Terminal actions end trajectories long before the discount has an effect. */
static void terminal_actions_near_1(void **state)
{
  (void)state;
  for (int i = 0; i < 4; i++) {
    idm_random random;
    idm_random_init(&random, 23, (uint64_t)i);
    idm_problem *problem = support_problem((support_shape){2, 3, 2, 2, 24}, &random);
    support_set(problem, 2, 1.5, 0.3);
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, i % 2 ? 1 - 1e-6 : 1 - 1e-8);
    problem->setting->terminal[0] = problem->setting->ends[0] = true;
    assert_true(check_against_dense(problem));
    idm_problem_destroy(problem);
  }
}

/* Beliefs that do not recur: two absorbing corners. No result is rejected at .9999, and every
 * accepted result nearer to 1 is accurate. */
static void absorbed_beliefs(void **state)
{
  (void)state;
  const double gaps[] = {1e-4, 1e-6, 1e-8, 1e-10};
  for (size_t g = 0; g < 4; g++) {
    idm_random random;
    idm_random_init(&random, 24, 0);
    idm_problem *problem = support_problem((support_shape){2, 2, 2, 1, 24}, &random);
    double *tau = problem->theta->block[IDM_TRANSITION].value;
    for (size_t k = 0; k < 8; k++) tau[k] = k % 4 == 0 || k % 4 == 3;
    support_set(problem, 2, INFINITY, 0);
    idm_theta_set_scalar(problem->theta, IDM_DISCOUNT, 1 - gaps[g]);
    const bool right = check_against_dense(problem);
    assert_true(right || gaps[g] < 1e-4);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(duality_holds_on_200_random_problems),
      cmocka_unit_test(duality_survives_near_limits),
      cmocka_unit_test(occupancy_is_a_distribution),
      cmocka_unit_test(return_is_what_simulation_pays),
      cmocka_unit_test(discounts_near_1_are_right_or_refused),
      cmocka_unit_test(terminal_actions_near_1),
      cmocka_unit_test(absorbed_beliefs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
