/* Posteriors: sizes, theta of a draw, and the mean of all draws. */
#include "invert/posterior.h"

#include <math.h>
#include <stdlib.h>

#include "support.h"

/* A problem with two free parameters. */
static idm_problem *make_problem(void)
{
  idm_problem *problem = support_diag(0.5, 1.25, 0.3);
  check(idm_problem_set_free(problem, "{beta: {scale: inverse}, eta: }", &support_error));
  return problem;
}

/* A posterior of 2 chains of 3 draws: coordinate k of draw i is 10 k + i. */
static idm_posterior *make_posterior(const idm_parameters *parameters)
{
  idm_posterior *p = calloc(1, sizeof *p);
  assert_non_null(p);
  p->chains = 2;
  p->draws = 3;
  check(idm_labels_copy(idm_parameters_quantities(parameters), &p->quantity, &support_error));
  check(idm_labels_copy(idm_parameters_coordinates(parameters), &p->coordinate, &support_error));
  p->unconstrained = calloc(2 * 6, sizeof *p->unconstrained);
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < 6; i++) p->unconstrained[k * 6 + i] = 10 * (double)k + (double)i;
  return p;
}

static void test_draws(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  idm_parameters *parameters;
  check(idm_parameters_create(problem, &parameters, &support_error));
  idm_posterior *p = make_posterior(parameters);
  assert_int_equal(idm_posterior_dimension(p), 2);
  assert_int_equal(idm_posterior_numbers(p), 3); /* beta, its inverse, eta */
  double centre[2];
  idm_posterior_centre(p, centre);
  assert_near(centre[0], 2.5, 1e-15);
  assert_near(centre[1], 12.5, 1e-15);
  check(idm_posterior_theta(p, parameters, 1, 2, problem->theta, &support_error));
  assert_near(idm_theta_scalar(problem->theta, IDM_BETA), 1.0 / 5, 1e-15);
  assert_near(idm_theta_scalar(problem->theta, IDM_ETA), 15, 1e-15);
  assert_true(idm_theta_scalar(problem->theta, IDM_ALPHA) == 0.5);
  idm_posterior_destroy(p);
  idm_parameters_destroy(parameters);
  idm_problem_destroy(problem);
}

/* Draws from another algorithm: their shape, and sampler statistics that are NaN. */
static void test_open(void **state)
{
  (void)state;
  idm_posterior *p;
  check(idm_posterior_allocate("learn", "gibbs", 2, 3, 4, &p, &support_error));
  assert_int_equal(p->answer, IDM_POSTERIOR);
  assert_string_equal(p->inverse, "learn");
  assert_string_equal(p->sampler, "gibbs");
  assert_int_equal(p->chains, 2);
  assert_int_equal(p->draws, 3);
  assert_int_equal(p->quantity.count, 0);
  for (size_t i = 0; i < 4; i++) assert_false(p->summarised[i]);
  for (size_t i = 0; i < 2 * 3 * 4; i++) assert_true(p->value[i] == 0);
  for (size_t i = 0; i < 6; i++) {
    const idm_statistics *s = &p->statistics[i];
    assert_true(isnan(s->log_density) && isnan(s->acceptance) && isnan(s->step_size) &&
                isnan(s->energy));
    assert_true(s->tree_depth == -1 && s->evaluations == -1 && !s->diverging);
  }
  idm_posterior_destroy(p);
}

/* Every number of an opaque block is counted. */
static void test_sizes(void **state)
{
  (void)state;
  size_t sizes[2] = {1, 7};
  idm_posterior p = {.quantity = {.count = 2}, .quantity_size = sizes, .coordinate = {.count = 2}};
  assert_int_equal(idm_posterior_numbers(&p), 8);
  assert_int_equal(idm_posterior_dimension(&p), 2);
  p.coordinate_size = sizes;
  assert_int_equal(idm_posterior_dimension(&p), 8);
}

/* A posterior of other parameters is refused. */
static void test_draws_of_another_problem(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  idm_parameters *parameters;
  check(idm_parameters_create(problem, &parameters, &support_error));
  idm_posterior *p = make_posterior(parameters);
  idm_parameters_destroy(parameters);
  const char *const others[] = {"alpha", "{alpha: , beta: {scale: inverse}}"};
  for (size_t i = 0; i < 2; i++) {
    check(idm_problem_set_free(problem, others[i], &support_error));
    check(idm_parameters_create(problem, &parameters, &support_error));
    assert_int_equal(idm_posterior_theta(p, parameters, 0, 0, problem->theta, &support_error),
                     IDM_INPUT);
    idm_parameters_destroy(parameters);
  }
  idm_posterior_destroy(p);
  idm_posterior_destroy(NULL);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_draws),
      cmocka_unit_test(test_open),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_draws_of_another_problem),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
