/* The forward recursion: duality with the value, occupancy as a distribution, simulation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

/* J - alpha I - beta I - eta I against the value; infinite multipliers contribute 0. */
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

/* The naive divergence breaks the duality at 3e-8 for beta = 1e9. */
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

/* Where the agent's one model is the environment, J is the expected utility of what it really does:
 * compare with 20,000 simulated trajectories. The tolerance is 4 standard errors: 6e-5 of seeds
 * would fail. */
static void return_is_what_simulation_pays(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(2, INFINITY, 0);
  check(idm_problem_plan_by(problem, idm_planner_find("kl-regularised"), &support_error));
  problem->agent.resolution = 999;
  for (size_t u = 0; u < 3; u++) problem->setting->ends[u] = false;
  idm_workspace *workspace = support_plan(problem, NULL);
  idm_forward forward;
  check(idm_plan_forward(workspace, 0, &forward, NULL, &support_error));
  const idm_simulation simulation = {.trajectories = 20000, .steps = 60, .seed = 5};
  idm_data *data;
  check(idm_simulate(problem->setting, idm_workspace_behavior(workspace), &simulation, &data,
                     &support_error));
  /* The state is hidden in the log: use the utility expected under the exact belief instead. */
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
  /* 60 steps leave 0.95^60 = 4.6 % of the weight, at an average utility within 3 of the mean. */
  const double tail = pow(0.95, 60);
  assert_true(fabs(mean - (1 - tail) * forward.internal_return) < 4 * error + 3 * tail);
  idm_data_destroy(data);
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(duality_holds_on_200_random_problems),
      cmocka_unit_test(duality_survives_near_limits),
      cmocka_unit_test(occupancy_is_a_distribution),
      cmocka_unit_test(return_is_what_simulation_pays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
