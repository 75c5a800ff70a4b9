/* The inverse planner `map`: the maximum against a grid, against its gradient, and against random
 * points near it. */
#include <math.h>
#include <string.h>

#include "support.h"

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_parameters *parameters;
  idm_prefix_tree *tree;
  idm_matching *matching;
  idm_posterior *posterior;
} fixture;

/* A log of an agent with alpha = 0.5, fitted from the given starting value. */
static fixture fit_diag_from(const char *free_blocks, double alpha)
{
  fixture f;
  f.problem = support_diag(0.5, 1.25, 0.3);
  f.problem->agent.resolution = 30;
  f.problem->agent.evaluate = IDM_LOOKAHEAD;
  f.problem->agent.tolerance = 1e-12;
  check(idm_problem_set_free(f.problem, free_blocks, &support_error));
  const idm_simulation simulation = {.trajectories = 80, .seed = 6};
  f.data = support_simulate(f.problem, simulation);
  idm_theta_set_scalar(f.problem->theta, IDM_ALPHA, alpha);
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  settings.threads = 1;
  settings.chains = 2;
  check(idm_inverse_fit(idm_inverse_find("map"), f.problem, f.data, &settings, NULL, &f.posterior,
                        NULL, &support_error));
  check(idm_parameters_create(f.problem, &f.parameters, &support_error));
  check(idm_prefix_tree_create(f.data, IDM_SCOPE_TRAJECTORY, &f.tree, &support_error));
  check(idm_matching_create(f.problem, f.data, f.tree, f.parameters, &f.matching, &support_error));
  return f;
}

static fixture fit_diag(const char *free_blocks)
{
  return fit_diag_from(free_blocks, 0.5);
}

static void close_fixture(fixture *f)
{
  idm_posterior_destroy(f->posterior);
  idm_matching_destroy(f->matching);
  idm_prefix_tree_destroy(f->tree);
  idm_parameters_destroy(f->parameters);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

static double density(const fixture *f, const double *y, double *opt_gradient)
{
  const idm_target target = idm_matching_target(f->matching);
  double value;
  check(target.evaluate(target.context, y, &value, opt_gradient, &support_error));
  return value;
}

/* The best of 2,001 grid points over log alpha in [-5, 5]: the maximum is within one grid step of
 * it. */
static void test_grid(void **state)
{
  (void)state;
  fixture f = fit_diag("alpha");
  const double found = f.posterior->unconstrained[0], step = 0.005;
  double best = -INFINITY, at = NAN;
  for (int i = -1000; i <= 1000; i++) {
    const double y = i * step, value = density(&f, &y, NULL);
    if (value > best) {
      best = value;
      at = y;
    }
  }
  assert_true(fabs(found - at) <= step);
  assert_true(density(&f, &found, NULL) >= best);
  assert_near(f.posterior->statistics[0].log_density, density(&f, &found, NULL), 1e-10);
  close_fixture(&f);
}

static void test_stationary(void **state)
{
  (void)state;
  fixture f = fit_diag("{alpha: , beta: {scale: inverse}, eta: }");
  const double *y = f.posterior->unconstrained;
  double gradient[3], covariance[9], near[3];
  bool definite = false;
  const idm_target target = idm_matching_target(f.matching);
  check(idm_laplace(&target, y, covariance, NULL, &definite, &support_error));
  assert_true(definite);
  const double top = density(&f, y, gradient);
  /* The gradient is near 0 in units of the posterior sd. */
  for (size_t i = 0; i < 3; i++) assert_true(fabs(gradient[i]) * sqrt(covariance[4 * i]) < 1e-2);
  idm_random random;
  idm_random_init(&random, 8, 0);
  for (int k = 0; k < 200; k++) {
    const double reach = pow(10, -3 * idm_random_uniform(&random));
    for (size_t i = 0; i < 3; i++)
      near[i] = y[i] + reach * sqrt(covariance[4 * i]) * idm_random_normal(&random);
    assert_true(density(&f, near, NULL) <= top + 1e-6);
  }
  close_fixture(&f);
}

/* alpha = 0 has likelihood 0 and separates the two signs: started with the wrong sign, the fit
 * finds the right one. */
static void test_two_sides(void **state)
{
  (void)state;
  fixture f = fit_diag_from("{alpha: {scale: identity, prior: {normal: [0, 5]}}}", -2);
  const double found = f.posterior->unconstrained[0];
  double below = -INFINITY, above = -INFINITY;
  for (int i = 1; i <= 500; i++) {
    const double y = 0.01 * i, minus = -y;
    above = fmax(above, density(&f, &y, NULL));
    below = fmax(below, density(&f, &minus, NULL));
  }
  assert_true(above > below + 5);
  assert_true(found > 0);
  assert_true(density(&f, &found, NULL) >= above);
  close_fixture(&f);
}

/* Without data the maximum is that of the prior, in the unconstrained coordinate. */
static void test_prior_alone(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  problem->agent.resolution = 10;
  check(idm_problem_set_free(problem,
                             "{beta: {scale: inverse, prior: {normal: [2, 3]}}, "
                             "discount: {prior: {beta: [4, 2]}}}",
                             &support_error));
  idm_data *data = support_data(problem, "trajectory,action,observation\n1,,\n");
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  idm_posterior *p;
  check(idm_inverse_fit(idm_inverse_find("map"), problem, data, &settings, NULL, &p, NULL,
                        &support_error));
  /* The density of the logit of a beta(a, b) variable has its maximum at a / (a + b). */
  assert_near(p->value[0], 4.0 / 6, 1e-6);
  assert_near(p->value[2], 2, 1e-6);
  assert_near(p->value[1], 0.5, 1e-6);
  idm_posterior_destroy(p);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_grid),
      cmocka_unit_test(test_stationary),
      cmocka_unit_test(test_two_sides),
      cmocka_unit_test(test_prior_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
