/* The occupancy loss and its gradient against sums, and differences of sums, written out here. */
#include "invert/utility/occupancy_loss.h"

#include <math.h>
#include <string.h>

#include "invert/utility/occupancy_support.h"

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
  idm_fit_settings settings;
  idm_task task;
  idm_parameters *parameters;
  double p[S][U];
  idm_occupancy_loss loss;
} fixture;

static void open_fixture(fixture *f, idm_divergence divergence, double entropy)
{
  f->problem = occupancy_problem(0.2, "alpha,lapse");
  f->data = occupancy_log(f->problem, 20);
  f->settings = occupancy_settings(divergence, entropy);
  occupancy_demonstrate(f->data, f->p);
  check(idm_task_open(&f->task,
                      &(idm_fit_arguments){.inverse = idm_inverse_find("distribution-matching"),
                                           .problem = f->problem,
                                           .data = f->data,
                                           .settings = &f->settings},
                      0, &support_error));
  check(idm_parameters_create(f->problem, &f->parameters, &support_error));
  check(idm_occupancy_loss_open(&f->loss, &f->task, f->parameters, &f->p[0][0], &support_error));
}

static void close_fixture(fixture *f)
{
  idm_occupancy_loss_close(&f->loss);
  idm_parameters_destroy(f->parameters);
  idm_task_close(&f->task);
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
}

/* The loss at the parameters of coordinates y. */
static double slow_loss(fixture *f, const double *y)
{
  double number[2];
  idm_parameters_report(f->parameters, y, number);
  const bool first = strcmp(f->parameters->quantity.name[0], "alpha") == 0;
  return occupancy_objective(f->settings.divergence, f->settings.entropy, f->p, number[!first],
                             number[first]);
}

static void test_loss(void **state)
{
  (void)state;
  for (int d = IDM_DIVERGENCE_KL; d <= IDM_DIVERGENCE_SQUARED; d++)
    for (int k = 0; k < 2; k++) {
      fixture f;
      double y[2], loss, gradient[2];
      open_fixture(&f, (idm_divergence)d, k ? 0.1 : 0);
      for (int j = 0; j < 2; j++) y[j] = f.loss.own[j] + 0.3 * (j + 1);
      check(idm_occupancy_loss_at(&f.loss, y, &loss, gradient, &support_error));
      assert_near(loss, slow_loss(&f, y), 1e-10);
      for (int j = 0; j < 2; j++) {
        double up[2] = {y[0], y[1]}, down[2] = {y[0], y[1]};
        up[j] += 1e-5;
        down[j] -= 1e-5;
        assert_near(gradient[j], (slow_loss(&f, up) - slow_loss(&f, down)) / 2e-5, 1e-6);
      }
      close_fixture(&f);
    }
}

/* The objective if the log has no decision in state b: there the demonstrator uses the planner's
 * policy. */
static double slow_completed(fixture *f, const double *y)
{
  double number[2], policy[S][U];
  idm_parameters_report(f->parameters, y, number);
  const bool first = strcmp(f->parameters->quantity.name[0], "alpha") == 0;
  occupancy_plan(number[!first], number[first], policy);
  for (int u = 0; u < U; u++) {
    policy[0][u] = f->task.demonstrator->policy[u];
    policy[2][u] = f->task.demonstrator->policy[2 * U + u];
  }
  occupancy_visit(policy, f->p);
  return occupancy_objective(f->settings.divergence, f->settings.entropy, f->p, number[!first],
                             number[first]);
}

static void test_completed(void **state)
{
  (void)state;
  for (int d = IDM_DIVERGENCE_KL; d <= IDM_DIVERGENCE_SQUARED; d++) {
    fixture f;
    idm_occupancy_loss own;
    double y[2], loss, gradient[2], target[S][U];
    open_fixture(&f, (idm_divergence)d, 0.1);
    check(idm_task_demonstrator(&f.task, &support_error));
    f.task.demonstrator->visits[1] = 0;
    memcpy(target, f.p, sizeof target);
    check(idm_occupancy_loss_open(&own, &f.task, f.parameters, &target[0][0], &support_error));
    for (int j = 0; j < 2; j++) y[j] = own.own[j] + 0.3 * (j + 1);
    check(idm_occupancy_loss_at(&own, y, &loss, gradient, &support_error));
    assert_near(loss, slow_completed(&f, y), 1e-10);
    for (int j = 0; j < 2; j++) {
      double up[2] = {y[0], y[1]}, down[2] = {y[0], y[1]};
      up[j] += 1e-5;
      down[j] -= 1e-5;
      assert_near(gradient[j], (slow_completed(&f, up) - slow_completed(&f, down)) / 2e-5, 1e-6);
    }
    idm_occupancy_loss_close(&own);
    close_fixture(&f);
  }
}

static void test_window(void **state)
{
  (void)state;
  fixture f;
  double y[2], loss;
  open_fixture(&f, IDM_DIVERGENCE_KL, 0);
  f.loss.window = 2;
  memcpy(y, f.loss.own, sizeof y);
  y[0] += 1.9 * f.loss.unit[0];
  check(idm_occupancy_loss_at(&f.loss, y, &loss, NULL, &support_error));
  assert_true(isfinite(loss));
  y[0] += 0.2 * f.loss.unit[0];
  check(idm_occupancy_loss_at(&f.loss, y, &loss, NULL, &support_error));
  assert_true(loss == INFINITY);
  close_fixture(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_loss), cmocka_unit_test(test_completed),
                                     cmocka_unit_test(test_window)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
