/* Tests dynamics learnt for a cell, against the true dynamics of a simulated log, with all else
 * unchanged. */
#include "invert/audit/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess.h"
#include "invert/audit/audit_support.h"
#include "invert/clone.h"
#include "invert/cut.h"
#include "learn/bits_support.h"

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
  /* True dynamics: a test is right with probability .6. */
  for (size_t i = 0; i < n.actions * n.states * n.observations; i++)
    worse->setting->emission[i] = worse->setting->emission[i] > 0.5 ? 0.6 : 0.4;
  check(idm_problem_apply_rule(problem, &rule, &support_error));
  check(idm_problem_apply_rule(worse, &rule, &support_error));
  support_assign(worse, "utility.monitor=-0.1");
  idm_data *data =
      support_simulate(worse, (idm_simulation){.trajectories = 2000, .steps = 20, .seed = 3});
  check(idm_audit_learn_dynamics(problem, data, true, 5, &draws, &support_error));
  assert_near(problem->setting->emission[0], 0.7, 1e-12);
  const size_t at =
      (size_t)idm_labels_find(&problem->setting->actions, "monitor", 7) * n.states * n.observations;
  const idm_cut_draws cuts = {problem, &draws, ways};
  double mean = 0, square = 0;
  check(idm_problem_clone(problem, &own, &support_error));
  for (size_t k = 0; k < ways; k++) {
    check(idm_cut_apply(&cuts, k, own, &support_error));
    const double learnt = own->setting->emission[at];
    mean += learnt / ways;
    square += learnt * learnt / ways;
    /* The models follow the environment by their rule, with probabilities lower and higher by .1.
     */
    assert_near(idm_theta_values(own->theta, IDM_EMISSION, 0)[at], learnt - 0.1, 1e-9);
  }
  const double sd = sqrt(square - mean * mean);
  print_message("  %.4f +- %.4f\n", mean, sd);
  assert_near(mean, 0.6, 4 * sd);
  assert_true(sd > 0.001 && sd < 0.03);
  assert_near(idm_theta_scalar(own->theta, IDM_ALPHA), 0.5, 0);
  idm_dynamics_draws_clear(&draws);
  /* As a point estimate: the mode, within three of these sds of the mean. */
  check(idm_audit_learn_dynamics(problem, data, false, 5, &draws, &support_error));
  check(idm_cut_apply(&(idm_cut_draws){problem, &draws, 1}, 0, own, &support_error));
  assert_near(own->setting->emission[at], mean, 3 * sd);
  idm_clone_destroy(own);
  idm_dynamics_draws_clear(&draws);
  idm_data_destroy(data);
  idm_problem_destroy(worse);
  idm_problem_destroy(problem);
}

/* The file's start leads to the lower of two modes. Dispersed starts find the higher one, from
 * which the draws are; draws of a lower mode make the audit fail. */
static void the_best_of_dispersed_starts_counts(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(bits_second);
  idm_data *data = bits_simulate(0.8, 0.75, 75, 20, 3);
  audit_cell cell = {0};
  const audit_model model = {.cells = 1, .cell = &cell};
  check(idm_audit_learn_dynamics(problem, data, true, 5, &cell.own, &support_error));
  idm_audit audit = {.trusted = true};
  idm_checks_begin(&audit.checks, IDM_CHECK_AUDIT);
  check(idm_audit_learn_check(&model, &audit, &support_error));
  const idm_check_result *result = &audit.checks.of[IDM_CHECK_HIGHER_MODE];
  print_message("  gap %.2f of %.1f\n", result->value, cell.own.highest);
  assert_int_equal(result->outcome, IDM_CHECK_PASSED);
  assert_true(audit.trusted);
  cell.own.highest += 10;
  check(idm_audit_learn_check(&model, &audit, &support_error));
  assert_int_equal(result->outcome, IDM_CHECK_FAILED);
  assert_false(audit.trusted);
  assert_int_equal(audit.failures.count, 1);
  assert_non_null(strstr(audit.failures.text[0], "in 1 of 1 groups"));
  idm_notes_clear(&audit.failures);
  idm_dynamics_draws_clear(&cell.own);
  /* As a point estimate: the states follow the first bit. */
  check(idm_audit_learn_dynamics(problem, data, false, 5, &cell.own, &support_error));
  const long low = idm_labels_find(&cell.own.name, "observation[look,a,lh]", 22);
  assert_true(low >= 0 && cell.own.value[low] > 0.3);
  audit = (idm_audit){.trusted = true};
  idm_checks_begin(&audit.checks, IDM_CHECK_AUDIT);
  check(idm_audit_learn_check(&model, &audit, &support_error));
  assert_int_equal(result->outcome, IDM_CHECK_NOT_RUN);
  assert_true(audit.trusted);
  idm_dynamics_draws_clear(&cell.own);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void records_keep_all_of_it(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(bits_second);
  idm_data *data = bits_simulate(0.8, 0.75, 20, 5, 3);
  idm_dynamics_draws draws, read;
  idm_record record;
  char *bytes;
  size_t length;
  check(idm_audit_learn_dynamics(problem, data, true, 5, &draws, &support_error));
  const size_t all = draws.chains * draws.draws;
  idm_record_begin(&record, "idmtest", 1);
  idm_audit_learn_write(&draws, &record);
  check(idm_record_finish(&record, &bytes, &length, &support_error));
  check(idm_record_open(&record, "idmtest", 1, bytes, length, &support_error));
  check(idm_audit_learn_read(&record, &read, &support_error));
  assert_int_equal(read.numbers, draws.numbers);
  assert_memory_equal(read.value, draws.value, draws.numbers * all * sizeof(double));
  assert_memory_equal(read.log_likelihood, draws.log_likelihood, all * sizeof(double));
  assert_true(read.highest == draws.highest && read.attained == draws.attained);
  for (size_t i = 0; i < draws.numbers; i++)
    assert_string_equal(read.name.name[i], draws.name.name[i]);
  free(bytes);
  idm_dynamics_draws_clear(&read);
  idm_dynamics_draws_clear(&draws);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(they_are_learnt_and_the_models_follow),
      cmocka_unit_test(the_best_of_dispersed_starts_counts),
      cmocka_unit_test(records_keep_all_of_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
