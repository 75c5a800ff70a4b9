/* Tests counts of decisions and the log-loss of uniform choice, against hand counts. */
#include "invert/people/people.h"

#include <math.h>

#include "invert/people/covariates_support.h"

static void decisions_are_rows_with_a_choice(void **state)
{
  (void)state;
  static const char csv[] = "agent,trajectory,action,observation,available\n"
                            "p1,a,monitor,negative,\n"
                            "p1,a,monitor,negative,monitor|declare_healthy\n"
                            "p1,a,monitor,negative,monitor\n"
                            "p1,a,,negative,\n"
                            "p1,b,declare_healthy,,\n"
                            "p2,c,monitor,negative,monitor\n";
  idm_problem *problem = covariates_problem();
  idm_data *data = covariates_data(problem, csv, (const char *const[]){NULL});
  const uint32_t person[] = {0, 0, 1};
  idm_person found[2] = {{0}};
  idm_count_decisions(data, person, 2, found);
  assert_int_equal(found[0].trajectories, 2);
  assert_int_equal(found[0].decisions, 3);
  assert_near(found[0].uniform_log_loss, (2 * log(3) + log(2)) / 3, 1e-15);
  assert_int_equal(found[1].trajectories, 1);
  assert_int_equal(found[1].decisions, 0);
  assert_true(isnan(found[1].uniform_log_loss));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(decisions_are_rows_with_a_choice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
