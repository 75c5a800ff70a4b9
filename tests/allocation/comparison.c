/* Tests failing allocations in the functions that compare models. */
#include <math.h>

#include "allocation/heap_support.h"
#include "infer/comparison.h"

enum { DRAWS = 80 };

/* Draws of four chains: numbers that do not repeat. */
static double number[DRAWS];
static double result[DRAWS];

static idm_status left_out(const void *argument, idm_error *error)
{
  (void)argument;
  idm_left_out one;
  double efficiency;
  const idm_status status = idm_relative_efficiency(number, 1, 4, DRAWS / 4, &efficiency, error);
  return status == IDM_OK ? idm_leave_one_out(number, DRAWS, 1, efficiency, &one, error) : status;
}

static idm_status stacking(const void *argument, idm_error *error)
{
  (void)argument;
  idm_stacking s;
  return idm_stacking_weights(number, DRAWS / 4, 4, result, &s, error);
}

static idm_status selection(const void *argument, idm_error *error)
{
  (void)argument;
  idm_model_selection s = {result, result + 4, result + 8, result + 12, 0, 0};
  return idm_model_select(number, DRAWS / 4, 4, 1, &s, error);
}

static idm_status normal_target(void *context, const double *x, double *log_density,
                                double *opt_gradient, idm_error *opt_error)
{
  (void)context, (void)opt_gradient, (void)opt_error;
  *log_density = -0.5 * x[0] * x[0];
  return IDM_OK;
}

static idm_status bridge(const void *argument, idm_error *error)
{
  (void)argument;
  const idm_target target = {1, false, NULL, normal_target};
  idm_bridge b;
  return idm_bridge_sample(&target, &(idm_bridge_draws){4, DRAWS / 4, number, NULL}, 1, &b, error);
}

static idm_status decisions(const void *argument, idm_error *error)
{
  (void)argument;
  static const int32_t action[] = {0, 1};
  static const double probability[] = {0.7, 0.3, 0.2, 0.8};
  idm_accuracy a;
  return idm_accuracy_of_decisions(&(idm_forecasts){2, 2, probability, action, NULL}, &a, error);
}

static idm_status sensitivity(const void *argument, idm_error *error)
{
  (void)argument;
  double s;
  return idm_power_sensitivity(number, number, DRAWS, &s, error);
}

static void test_comparison(void **state)
{
  (void)state;
  for (size_t i = 0; i < DRAWS; i++) number[i] = sin(3 * (double)(i + 1));
  every_failure("left out", left_out, NULL, succeeds);
  every_failure("stacking", stacking, NULL, succeeds);
  every_failure("selection", selection, NULL, succeeds);
  every_failure("bridge", bridge, NULL, succeeds);
  every_failure("decisions", decisions, NULL, succeeds);
  every_failure("sensitivity", sensitivity, NULL, succeeds);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrappers_are_linked),
      cmocka_unit_test(test_comparison),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
