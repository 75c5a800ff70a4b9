/* Tests ties: rows stay distributions and zeros stay zeros for every value, and derivatives against
 * differences. */
#include "setting/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { STATES = 3, ACTIONS = 2, SIZE = ACTIONS * STATES * STATES };

/* Two tied numbers: one in the first two rows of the first action (twice in the second of them),
 * one in the last row of the second action; and a zero entry in a row that changes. */
static const int32_t pattern[SIZE] = {-1, 0,  -1, 0,  0,  -1, -1, -1, -1,
                                      -1, -1, -1, -1, -1, -1, -1, -1, 1};
static const double values[SIZE] = {0.5, 0.2, 0.3, 0.2, 0.2, 0.6, 0.1, 0.1, 0.8,
                                    1,   0,   0,   0,   1,   0,   0.3, 0,   0.7};

static idm_problem *tied(void)
{
  idm_problem *problem;
  check(
      idm_problem_create((idm_sizes){STATES, ACTIONS, 1}, 1, true, true, &problem, &support_error));
  idm_theta *theta = problem->theta;
  memcpy(theta->block[IDM_TRANSITION].value, values, sizeof values);
  int32_t *coordinate = malloc(sizeof pattern);
  assert_non_null(coordinate);
  memcpy(coordinate, pattern, sizeof pattern);
  check(idm_tie_set_shares(theta, IDM_TRANSITION, coordinate, &support_error));
  return problem;
}

static void test_rows(void **state)
{
  (void)state;
  idm_problem *problem = tied();
  idm_theta *theta = problem->theta;
  const double *to = theta->block[IDM_TRANSITION].value;
  assert_near(idm_tie_upper_bound(theta, IDM_TRANSITION, 0), 0.5, 0);
  assert_near(idm_tie_upper_bound(theta, IDM_TRANSITION, 1), 1, 0);
  idm_tie_set_value(theta, IDM_TRANSITION, 0, 0.2);
  for (size_t i = 0; i < SIZE; i++) assert_near(to[i], values[i], 1e-15);
  idm_tie_set_value(theta, IDM_TRANSITION, 0, 0.4);
  idm_tie_set_value(theta, IDM_TRANSITION, 1, 0.1);
  const double expected[SIZE] = {0.6 * 0.5 / 0.8,
                                 0.4,
                                 0.6 * 0.3 / 0.8,
                                 0.4,
                                 0.4,
                                 0.2,
                                 0.1,
                                 0.1,
                                 0.8,
                                 1,
                                 0,
                                 0,
                                 0,
                                 1,
                                 0,
                                 0.9,
                                 0,
                                 0.1};
  for (size_t i = 0; i < SIZE; i++) assert_near(to[i], expected[i], 1e-15);
  /* Setting the value to its bound and back restores the row. */
  idm_tie_set_value(theta, IDM_TRANSITION, 1, 1);
  assert_true(to[SIZE - 3] == 0 && to[SIZE - 2] == 0 && to[SIZE - 1] == 1);
  idm_tie_set_value(theta, IDM_TRANSITION, 1, 0.7);
  for (size_t i = SIZE - 3; i < SIZE; i++) assert_near(to[i], values[i], 1e-15);
  /* A copy keeps the ties. */
  idm_theta *copy;
  check(idm_theta_copy(theta, &copy, &support_error));
  idm_tie_set_value(copy, IDM_TRANSITION, 1, 0.6);
  assert_near(copy->block[IDM_TRANSITION].value[SIZE - 3], 0.4, 1e-15);
  assert_near(to[SIZE - 3], 0.3, 1e-15);
  idm_theta_destroy(copy);
  idm_problem_destroy(problem);
}

/* The derivative of a linear function of the rows, against its difference. */
static void test_slope(void **state)
{
  (void)state;
  idm_problem *problem = tied();
  idm_theta *theta = problem->theta;
  idm_theta *slope;
  check(idm_theta_copy(theta, &slope, &support_error));
  for (size_t i = 0; i < SIZE; i++)
    slope->block[IDM_TRANSITION].value[i] = sin(1 + (double)(i * i));
  for (int32_t c = 0; c < 2; c++) {
    double at[2];
    for (int k = 0; k < 2; k++) {
      at[k] = 0;
      idm_tie_set_value(theta, IDM_TRANSITION, c, 0.1 + 0.3 * k);
      for (size_t i = 0; i < SIZE; i++)
        at[k] += theta->block[IDM_TRANSITION].value[i] * slope->block[IDM_TRANSITION].value[i];
    }
    assert_near(idm_tie_derivative(slope, IDM_TRANSITION, c), (at[1] - at[0]) / 0.3, 1e-13);
  }
  idm_theta_destroy(slope);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_slope)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
