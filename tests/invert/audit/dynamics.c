/* Dynamics of a cell's own: learnt, with everything else as it was. */
#include "invert/audit/dynamics.h"

#include <math.h>
#include <string.h>

#include "idm/cut.h"
#include "invert/audit/audit_support.h"
#include "invert/fork.h"

static void they_are_learnt_and_the_models_follow(void **state)
{
  (void)state;
  idm_problem *problem = audit_problem(1.5);
  idm_problem *worse = audit_problem(1.5);
  const idm_model_rule rule = {.perturb = {0, 0.1}};
  idm_problem *own;
  idm_dynamics_draws draws;
  enum { ways = 20 };
  const idm_sizes n = idm_setting_sizes(problem->setting);
  /* The truth: a test that is right six times in ten. */
  for (size_t i = 0; i < n.actions * n.states * n.observations; i++)
    worse->setting->emission[i] = worse->setting->emission[i] > 0.5 ? 0.6 : 0.4;
  check(idm_problem_apply_rule(problem, &rule, &support_error));
  check(idm_problem_apply_rule(worse, &rule, &support_error));
  support_assign(worse, "utility.monitor=-0.1");
  idm_data *data =
      support_simulate(worse, (idm_simulation){.trajectories = 2000, .steps = 20, .seed = 3});
  check(idm_audit_learn(problem, data, true, 5, &draws, &support_error));
  assert_near(problem->setting->emission[0], 0.7, 1e-12);
  const size_t at =
      (size_t)idm_labels_find(&problem->setting->actions, "monitor", 7) * n.states * n.observations;
  const idm_cuts cuts = {problem, &draws, ways};
  double mean = 0, square = 0;
  check(idm_problem_fork(problem, &own, &support_error));
  for (size_t k = 0; k < ways; k++) {
    check(idm_cut_take(&cuts, k, own, &support_error));
    const double learnt = own->setting->emission[at];
    mean += learnt / ways;
    square += learnt * learnt / ways;
    /* The models are the environment, less and more certain. */
    assert_near(idm_theta_values(own->theta, IDM_EMISSION, 0)[at], learnt - 0.1, 1e-9);
  }
  const double sd = sqrt(square - mean * mean);
  print_message("  %.4f +- %.4f\n", mean, sd);
  assert_near(mean, 0.6, 4 * sd);
  assert_true(sd > 0.001 && sd < 0.03);
  assert_near(idm_theta_scalar(own->theta, IDM_ALPHA), 0.5, 0);
  idm_dynamics_draws_clear(&draws);
  /* As a point: the mode, within three of these sds of their mean. */
  check(idm_audit_learn(problem, data, false, 5, &draws, &support_error));
  check(idm_cut_take(&(idm_cuts){problem, &draws, 1}, 0, own, &support_error));
  assert_near(own->setting->emission[at], mean, 3 * sd);
  idm_fork_destroy(own);
  idm_dynamics_draws_clear(&draws);
  idm_data_destroy(data);
  idm_problem_destroy(worse);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(they_are_learnt_and_the_models_follow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
