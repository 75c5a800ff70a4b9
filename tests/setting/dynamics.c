/* Tests the dynamics of a problem, and models that are derived from them by a rule, against
 * expected numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static idm_problem *make_problem(void)
{
  idm_random random;
  idm_random_init(&random, 4, 4);
  return support_problem((support_shape){2, 2, 3, 1, 5}, &random);
}

/* Dynamics that are set are returned unchanged; models that equal the environment are set with
 * them. */
static void test_put(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  idm_dynamics *d, *back;
  const idm_model_rule none = {0};
  check(idm_problem_apply_rule(problem, &none, &support_error));
  assert_true(idm_problem_models_derived(problem));
  check(idm_problem_dynamics(problem, &d, &support_error));
  d->start[0] = 0.25;
  d->start[1] = 0.75;
  d->transition[0] = 0.125;
  d->transition[1] = 0.875;
  check(idm_problem_set_dynamics(problem, d, &support_error));
  check(idm_problem_dynamics(problem, &back, &support_error));
  assert_memory_equal(d->start, back->start, d->numbers * sizeof(double));
  assert_near(problem->theta->block[IDM_TRANSITION].value[0], 0.125, 0);
  assert_true(idm_problem_models_derived(problem));
  idm_dynamics_destroy(d);
  idm_dynamics_destroy(back);
  idm_problem_destroy(problem);
}

/* An explicit list of models is not changed without an error. */
static void test_list(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  idm_dynamics *d;
  idm_error error = {0};
  check(idm_problem_dynamics(problem, &d, &support_error));
  d->emission[0] += 0.01;
  d->emission[1] -= 0.01;
  const idm_dynamics *const list[] = {d, d};
  check(idm_problem_set_models(problem, list, 2, &support_error));
  check(idm_problem_validate(problem, &support_error));
  assert_false(idm_problem_models_derived(problem));
  assert_int_equal(idm_problem_set_dynamics(problem, d, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "an explicit list"));
  idm_dynamics_destroy(d);
  idm_problem_destroy(problem);
}

/* Weight 0.5: zeros stay, and each row is the mean of itself and the uniform distribution over its
 * support. */
static void test_uniform(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  const idm_model_rule rule = {.uniform = 0.5};
  const double row[] = {0, 0.75, 0.25};
  memcpy(problem->setting->emission, row, sizeof row);
  check(idm_problem_apply_rule(problem, &rule, &support_error));
  assert_int_equal(problem->theta->models, 2);
  const double *second = problem->theta->block[IDM_EMISSION].value + 12;
  assert_near(second[0], 0, 0);
  assert_near(second[1], 0.625, 1e-15);
  assert_near(second[2], 0.375, 1e-15);
  check(idm_problem_validate(problem, &support_error));
  idm_problem_destroy(problem);
}

/* A file keeps the rule, and which actions share a matrix. */
static void test_file(void **state)
{
  (void)state;
  static const char text[] =
      "states: [a, b]\nactions: [u, v, w]\nobservations: [x, y]\ndiscount: 0.9\n"
      "transition: {u: identity, '*': [[0.9, 0.1], [0.2, 0.8]]}\n"
      "observation: {u: [[0.7, 0.3], [0.3, 0.7]], v: [[0.7, 0.3], [0.3, 0.7]], w: uniform}\n"
      "models: {uniform: 0.5}\nutility: {'*': 0}\n";
  idm_problem *problem, *again;
  char path[] = "/tmp/idm_dynamics_XXXXXX", why[200];
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  check(idm_problem_parse_yaml(text, strlen(text), NULL, &problem, NULL, &support_error));
  check(idm_problem_write_yaml(problem, path, NULL, &support_error));
  check(idm_problem_read(path, &again, NULL, &support_error));
  assert_true(idm_problem_compare(problem, again, 0, why, sizeof why));
  const bool moves[] = {false, true, true}, shows[] = {false, false, false};
  for (size_t u = 0; u < 3; u++) {
    assert_int_equal(again->setting->transition_shared[u], moves[u]);
    assert_int_equal(again->setting->emission_shared[u], shows[u]);
  }
  assert_near(again->models.uniform, 0.5, 0);
  assert_int_equal(again->theta->models, 2);
  remove(path);
  idm_problem_destroy(problem);
  idm_problem_destroy(again);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_put), cmocka_unit_test(test_list),
                                     cmocka_unit_test(test_uniform), cmocka_unit_test(test_file)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
