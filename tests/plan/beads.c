/* Tests the beads task of Kobayashi et al. 2021 (human data), through examples/beads.yaml and
 * beads/prepare.py, against known optimal policies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static void draws_are_optimal(int horizon, const char *high, const char *low, int first, int last)
{
  idm_problem *problem;
  check(idm_problem_read("example:beads", &problem, NULL, &support_error));
  check(idm_problem_set_planner(problem, idm_planner_find("rational"), &support_error));
  support_assign(problem, high);
  support_assign(problem, low);
  support_assign(problem, "utility.draw=-0.1");
  problem->setting->horizon = horizon;
  idm_workspace *workspace = support_plan(problem, NULL);
  for (int d = -25; d <= 25; d++) {
    const double p = 1 / (1 + pow(1.5, -d));
    const double z[2] = {p, 1 - p};
    double policy[3];
    idm_plan_policy(workspace, 0, z, policy, NULL);
    assert_near(policy[0], d >= first && d <= last, 0);
  }
  idm_workspace_destroy(workspace);
  idm_problem_destroy(problem);
}

/* Known facts of the task (README of the shared data): the values of n_high - n_low at which the
 * optimal policy draws. */
static void the_rational_agent_draws_where_it_should(void **state)
{
  (void)state;
  const struct {
    const char *high, *low;
    int at23[2], at10[2], at5[2];
  } cases[] = {
      {"utility.bet_high=[70, 0]", "utility.bet_low=[0, 10]", {-8, 1}, {-8, -1}, {-7, -2}},
      {"utility.bet_high=[170, 100]", "utility.bet_low=[100, 110]", {-8, 1}, {-8, -1}, {-7, -2}},
      {"utility.bet_high=[7, 0]", "utility.bet_low=[0, 1]", {-5, -5}, {-5, -5}, {-5, -5}}};
  for (size_t i = 0; i < 3; i++) {
    draws_are_optimal(23, cases[i].high, cases[i].low, cases[i].at23[0], cases[i].at23[1]);
    draws_are_optimal(10, cases[i].high, cases[i].low, cases[i].at10[0], cases[i].at10[1]);
    draws_are_optimal(5, cases[i].high, cases[i].low, cases[i].at5[0], cases[i].at5[1]);
  }
}

static void the_whole_log_is_scored(void **state)
{
  (void)state;
  const char *path = support_shared("beads/beads_voi_decisions.csv");
  char csv[SUPPORT_PATH], command[2200];
  support_path(csv);
  snprintf(command, sizeof command, "python3 ../examples/beads/prepare.py '%s' > '%s'", path, csv);
  assert_int_equal(system(command), 0);

  idm_problem *problem;
  idm_data *data;
  check(idm_problem_read("example:beads", &problem, NULL, &support_error));
  check(idm_data_read_csv(csv, problem, NULL, &data, NULL, &support_error));
  remove(csv);
  check(idm_problem_bind(problem, data->variants, data->variant_value, &support_error));
  assert_int_equal(data->rows, 7075);
  assert_int_equal(data->trajectories, 3393);
  assert_int_equal(data->agent_name.count, 15);
  assert_int_equal(data->variants, 3);

  idm_workspace *workspace = support_plan(problem, NULL);
  support_scored scored = support_open_score(workspace, data);
  assert_int_equal(scored.score.decisions + scored.score.forced + scored.score.unrecorded, 7075);
  size_t limited = 0;
  for (size_t row = 0; row < data->rows; row++) limited += data->available[row] != 0;
  assert_int_equal(limited, 1249);
  assert_true(isfinite(scored.score.log_likelihood) && scored.score.log_likelihood < 0);
  support_close_score(&scored);
  idm_workspace_destroy(workspace);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_rational_agent_draws_where_it_should),
      cmocka_unit_test(the_whole_log_is_scored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
