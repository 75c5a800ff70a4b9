/* Tests a subset of a log: the fields it keeps, and that its likelihood is the same as within the
 * whole log. */
#include "data/log.h"

#include <string.h>

#include "support.h"

static const char csv[] = "agent,trajectory,action,observation\n"
                          "ann,1,late,negative\n"
                          "ann,1,declare_healthy,\n"
                          "bob,2,declare_diseased,\n"
                          "ann,3,monitor,positive\n"
                          "ann,3,late,positive\n"
                          "ann,3,declare_diseased,\n"
                          "eve,4,declare_healthy,\n";

/* DIAG, where a missed response counts as monitoring. */
static idm_problem *make_problem(void)
{
  idm_problem *problem = support_diag(0.5, 2, 0);
  SUPPORT_NAMES(&problem->columns.missed, "late");
  problem->columns.missed_action = 3;
  return problem;
}

static idm_data *part_of(const idm_data *data, const uint32_t *trajectory, size_t count)
{
  idm_data *part;
  check(idm_data_subset(data, trajectory, count, &part, &support_error));
  return part;
}

static void trajectories_keep_rows_names_and_lines(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  idm_data *data = support_data(problem, csv);
  idm_data *part = part_of(data, (const uint32_t[]){1, 2}, 2);
  check(idm_data_validate(part, problem->setting, &support_error));
  assert_int_equal(part->trajectories, 2);
  assert_int_equal(part->rows, 4);
  assert_int_equal(part->agent_name.count, 2);
  assert_string_equal(part->agent_name.name[part->agent[0]], "bob");
  assert_string_equal(part->agent_name.name[part->agent[1]], "ann");
  assert_string_equal(part->trajectory_name.name[1], "3");
  for (size_t row = 0; row < 4; row++) {
    assert_int_equal(part->action[row], data->action[2 + row]);
    assert_int_equal(part->observation[row], data->observation[2 + row]);
    assert_int_equal(part->line[row], data->line[2 + row]);
    assert_int_equal(idm_data_missed(part, row), row == 2);
  }
  assert_string_equal(idm_data_file(part, 0), idm_data_file(data, 2));
  idm_data_destroy(part);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void parts_score_as_within_the_whole(void **state)
{
  (void)state;
  idm_problem *problem = make_problem();
  idm_data *data = support_data(problem, csv);
  idm_workspace *workspace = support_plan(problem, NULL);
  double sum = 0;
  for (uint32_t t = 0; t < data->trajectories; t++) {
    idm_data *part = part_of(data, &t, 1);
    sum += support_score(workspace, part);
    idm_data_destroy(part);
  }
  assert_near(sum, support_score(workspace, data), 1e-13);
  idm_workspace_destroy(workspace);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(trajectories_keep_rows_names_and_lines),
                                     cmocka_unit_test(parts_score_as_within_the_whole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
