/* Priors over the free part of theta: densities with their Jacobians, gradients and draws, against
 * closed forms, quadrature and finite differences. */
#include <math.h>
#include <string.h>

#include "invert/parameters.h"
#include "invert/parameters_support.h"

/* --- densities ------------------------------------------------------------------------------ */

typedef struct prior_case {
  const char *free_blocks;
  double mass; /* integral of the density of y */
  double mean; /* of c */
  double sd;
} prior_case;

/* A prior wider than the support is truncated, not renormalised: normal(0.9, 0.2) has 31 % of its
 * mass above 1. */
static const prior_case priors[] = {
    {"{alpha: {scale: log, prior: {normal: [0.3, 1.5]}}}", 1, 0.3, 1.5},
    {"{beta: {scale: inverse, prior: {normal: [-0.2, 0.7]}}}", 1, -0.2, 0.7},
    {"{eta: {scale: signed-log, prior: {normal: [1, 2]}}}", 1, 1, 2},
    {"{alpha: {scale: identity, prior: {lognormal: [0.2, 0.5]}}}", 1, 1.3840306459807514,
     0.73760659694340867},
    {"{alpha: {scale: identity, prior: {halfnormal: 2}}}", 1, 1.5957691216057308,
     1.2056204460136142},
    {"{alpha: {scale: identity, prior: {exponential: 4}}}", 1, 0.25, 0.25},
    {"{alpha: {scale: identity, prior: {gamma: [3, 2]}}}", 1, 1.5, 0.8660254037844386},
    {"{alpha: {scale: identity, prior: {uniform: [-1, 2]}}}", 1, 0.5, 0.8660254037844386},
    {"{discount: {prior: {beta: [3, 2]}}}", 1, 0.6, 0.2},
    {"{discount: {prior: {uniform: [0.2, 0.8]}}}", 1, 0.5, 0.17320508075688773},
    {"{discount: {prior: flat}}", 1, 0.5, 0.28867513459481287},
    {"{discount: {prior: {normal: [0.9, 0.2]}}}", 0.69145906437480404, NAN, NAN},
};
enum { PRIORS = sizeof priors / sizeof priors[0] };

/* Rectangle rule over y: the densities are negligible for |y| > 60. */
static void test_densities_integrate_to_one(void **state)
{
  (void)state;
  for (size_t i = 0; i < PRIORS; i++) {
    idm_problem *problem = support_free_diag(priors[i].free_blocks);
    idm_parameters *parameters = support_parameters(problem);
    const double step = 0.01;
    double sum = 0;
    for (int k = -6000; k <= 6000; k++) {
      const double y = k * step;
      sum += exp(idm_parameters_log_prior(parameters, &y, NULL)) * step;
    }
    assert_near(sum, priors[i].mass, 1e-6);
    idm_parameters_destroy(parameters);
    idm_problem_destroy(problem);
  }
}

static void test_dirichlet_integrates_to_one(void **state)
{
  (void)state;
  const char *const cases[] = {"{model_prior: {prior: {dirichlet: [2, 3, 1.5]}}}",
                               "{model_prior: {prior: flat}}"};
  /* A flat prior has density 1 on the simplex, whose area is 1/2. */
  const double mass[] = {1, 0.5};
  for (size_t i = 0; i < 2; i++) {
    idm_problem *problem = support_free_diag(cases[i]);
    idm_parameters *parameters = support_parameters(problem);
    const double step = 0.2;
    double sum = 0;
    for (int j = -100; j <= 100; j++)
      for (int k = -100; k <= 100; k++) {
        const double y[2] = {j * step, k * step};
        sum += exp(idm_parameters_log_prior(parameters, y, NULL)) * step * step;
      }
    assert_near(sum, mass[i], 1e-6);
    idm_parameters_destroy(parameters);
    idm_problem_destroy(problem);
  }
}

static double log_normal(double x, double mean, double sd)
{
  const double z = (x - mean) / sd;
  return -0.5 * z * z - log(sd) - 0.91893853320467274;
}

/* The log prior is the sum over scalars of the log density at c plus log |dc/dy|, with dc/dy by
 * differences. */
static void test_log_prior_is_a_sum(void **state)
{
  (void)state;
  idm_problem *problem = support_free_diag("{beta: {scale: inverse, prior: {normal: [0.1, 2]}}, "
                                           "eta: {scale: signed-log, prior: {normal: [-0.5, 1]}}, "
                                           "discount: {prior: {beta: [4, 2]}}}");
  idm_parameters *parameters = support_parameters(problem);
  idm_random random;
  idm_random_init(&random, 5, 0);
  for (int k = 0; k < 20; k++) {
    double y[3], above[5], below[5];
    for (size_t i = 0; i < 3; i++) y[i] = idm_random_normal(&random);
    /* Blocks are in the order of IDM_BLOCK_LIST: discount, beta, eta. */
    const double h = 1e-5, at = y[0], c = 1 / (1 + exp(-at));
    y[0] = at + h;
    idm_parameters_report(parameters, y, above);
    y[0] = at - h;
    idm_parameters_report(parameters, y, below);
    y[0] = at;
    const double slope = (above[0] - below[0]) / (2 * h);
    const double expected = log(20 * c * c * c * (1 - c)) + log(slope) + log_normal(y[1], 0.1, 2) +
                            log_normal(y[2], -0.5, 1);
    assert_near(idm_parameters_log_prior(parameters, y, NULL), expected, 1e-8);
  }
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

static void test_gradient_of_the_prior(void **state)
{
  (void)state;
  idm_problem *problem = support_free_diag(support_everything);
  idm_parameters *parameters = support_parameters(problem);
  idm_random random;
  idm_random_init(&random, 6, 0);
  assert_int_equal(idm_parameters_dimension(parameters), SUPPORT_EVERYTHING);
  for (int k = 0; k < 20; k++) {
    double y[SUPPORT_EVERYTHING], gradient[SUPPORT_EVERYTHING];
    for (size_t i = 0; i < SUPPORT_EVERYTHING; i++) y[i] = 1.5 * idm_random_normal(&random);
    const double here = idm_parameters_log_prior(parameters, y, gradient);
    assert_true(here == idm_parameters_log_prior(parameters, y, NULL));
    for (size_t i = 0; i < SUPPORT_EVERYTHING; i++) {
      const double h = 1e-5, at = y[i];
      y[i] = at + h;
      const double above = idm_parameters_log_prior(parameters, y, NULL);
      y[i] = at - h;
      const double below = idm_parameters_log_prior(parameters, y, NULL);
      y[i] = at;
      assert_near(gradient[i], (above - below) / (2 * h), 1e-8);
    }
  }
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

/* --- draws ---------------------------------------------------------------------------------- */

enum { DRAWS = 20000 };

/* Mean within 4.5 standard errors, and the variance within 4.5 of its own (the fourth moment from
 * the draws): 2 x 11 checks at 7e-6 each, a false alarm at one seed in 7,000. */
static void check_moments(const double *x, double mean, double sd)
{
  double sum = 0, square = 0, fourth = 0;
  for (size_t i = 0; i < DRAWS; i++) sum += x[i] / DRAWS;
  for (size_t i = 0; i < DRAWS; i++) {
    const double d = x[i] - mean;
    square += d * d / DRAWS;
    fourth += d * d * d * d / DRAWS;
  }
  assert_true(fabs(sum - mean) < 4.5 * sd / sqrt(DRAWS));
  assert_true(fabs(square - sd * sd) < 4.5 * sqrt((fourth - square * square) / DRAWS));
}

/* c, the inverse of the transform of `report`. */
static double coordinate_of(idm_scale scale, double value)
{
  return idm_scale_transform(scale, value);
}

static void test_draws(void **state)
{
  (void)state;
  static double x[DRAWS];
  const idm_block_id blocks[] = {IDM_ALPHA, IDM_BETA, IDM_ETA, IDM_DISCOUNT};
  for (size_t i = 0; i < PRIORS; i++) {
    idm_problem *problem = support_free_diag(priors[i].free_blocks);
    idm_parameters *parameters = support_parameters(problem);
    idm_scale scale = IDM_SCALE_IDENTITY;
    for (size_t b = 0; b < 4; b++)
      if (problem->theta->block[blocks[b]].role == IDM_DESCRIPTIVE)
        scale = problem->theta->block[blocks[b]].scale;
    assert_true(idm_parameters_proper(parameters));
    idm_random random;
    idm_random_init(&random, 11, i);
    for (size_t k = 0; k < DRAWS; k++) {
      double y, reported[2];
      idm_parameters_draw(parameters, &random, &y);
      idm_parameters_report(parameters, &y, reported);
      x[k] = coordinate_of(scale, reported[0]);
      assert_true(isfinite(y) && isfinite(x[k]));
      if (strstr(priors[i].free_blocks, "discount")) assert_true(x[k] > 0 && x[k] < 1);
    }
    if (!isnan(priors[i].mean)) check_moments(x, priors[i].mean, priors[i].sd);
    idm_parameters_destroy(parameters);
    idm_problem_destroy(problem);
  }
}

/* Dirichlet(a): means a_i / A, variances m (1 - m) / (A + 1). */
static void test_draws_of_a_simplex(void **state)
{
  (void)state;
  static double x[3][DRAWS];
  idm_problem *problem = support_free_diag("{model_prior: {prior: {dirichlet: [2, 3, 5]}}}");
  idm_parameters *parameters = support_parameters(problem);
  idm_random random;
  idm_random_init(&random, 12, 0);
  for (size_t k = 0; k < DRAWS; k++) {
    double y[2], p[3];
    idm_parameters_draw(parameters, &random, y);
    idm_parameters_report(parameters, y, p);
    for (size_t i = 0; i < 3; i++) x[i][k] = p[i];
  }
  const double mean[] = {0.2, 0.3, 0.5};
  for (size_t i = 0; i < 3; i++) check_moments(x[i], mean[i], sqrt(mean[i] * (1 - mean[i]) / 11));
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

static void test_proper(void **state)
{
  (void)state;
  const struct {
    const char *free_blocks;
    bool proper;
  } cases[] = {
      {"alpha, beta", true},
      {"{alpha: {prior: flat}}", false},
      {"{alpha: , beta: {prior: flat}}", false},
      {"{discount: {prior: flat}}", true},
      {"{model_prior: {prior: flat}}", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = support_free_diag(cases[i].free_blocks);
    idm_parameters *parameters = support_parameters(problem);
    assert_int_equal(idm_parameters_proper(parameters), cases[i].proper);
    idm_parameters_destroy(parameters);
    idm_problem_destroy(problem);
  }
}

/* Draws of a prior truncated by its support have the truncated density, in the far tail too: the
 * mean of 20,000 draws is within five standard errors of that by quadrature. */
static void test_draws_of_cut_priors(void **state)
{
  (void)state;
  static const char *const cases[] = {
      "{alpha: {scale: identity, prior: {halfnormal: 2}}}",
      "{discount: {prior: {normal: [0.5, 1]}}}",
      "{discount: {prior: {normal: [-5, 0.8]}}}",
      "{discount: {prior: {normal: [9, 1.5]}}}",
      "{discount: {prior: {normal: [0.4, 3000]}}}",
      "{discount: {prior: {lognormal: [7, 2]}}}",
      "{discount: {prior: {exponential: 3}}}",
      "{discount: {prior: {gamma: [30, 2]}}}",
      "{beta: {scale: inverse, prior: {uniform: [-2, 5]}}}",
  };
  enum { POINTS = 20000 };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = support_free_diag(cases[i]);
    idm_parameters *parameters = support_parameters(problem);
    double total = 0, mean = 0, square = 0, found = 0;
    for (size_t k = 0; k < POINTS; k++) {
      const double y = -60 + 120 * ((double)k + 0.5) / POINTS;
      const double weight = exp(idm_parameters_log_prior(parameters, &y, NULL)) * 120 / POINTS;
      double number[2];
      idm_parameters_report(parameters, &y, number);
      const double x = number[idm_parameters_numbers(parameters) - 1];
      total += weight;
      mean += weight * x;
      square += weight * x * x;
    }
    assert_near(log(total), idm_parameters_log_mass(parameters), 1e-4);
    mean /= total;
    idm_random random;
    idm_random_init(&random, 31, i);
    for (size_t k = 0; k < DRAWS; k++) {
      double y, number[2];
      idm_parameters_draw(parameters, &random, &y);
      idm_parameters_report(parameters, &y, number);
      found += number[idm_parameters_numbers(parameters) - 1] / DRAWS;
    }
    const double error = sqrt((square / total - mean * mean) / DRAWS);
    if (!(fabs(found - mean) < 5 * error)) fail_msg("%s: %g, not %g", cases[i], found, mean);
    idm_parameters_destroy(parameters);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_densities_integrate_to_one),
      cmocka_unit_test(test_dirichlet_integrates_to_one),
      cmocka_unit_test(test_log_prior_is_a_sum),
      cmocka_unit_test(test_gradient_of_the_prior),
      cmocka_unit_test(test_draws),
      cmocka_unit_test(test_draws_of_a_simplex),
      cmocka_unit_test(test_draws_of_cut_priors),
      cmocka_unit_test(test_proper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
