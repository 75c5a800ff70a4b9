/* Tests the assignment of trajectories to people by role or column, and rows that are rejected. */
#include "invert/people/people.h"

#include <string.h>

#include "invert/people/covariates_support.h"

static void people_are_agents_trajectories_or_levels(void **state)
{
  (void)state;
  static const struct {
    const char *by;
    size_t people;
    const char *last;
  } cases[] = {{"agent", 6, "p6"}, {"trajectory", 12, "l"}, {"drug", 2, "yes"}, {"age", 5, "24"}};
  idm_problem *problem = covariates_problem();
  idm_data *data =
      covariates_data(problem, covariates_log, (const char *const[]){"drug", "age", NULL});
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    idm_person_map person_map;
    check(idm_person_map_create(problem, data, cases[i].by, &person_map, &support_error));
    assert_int_equal(person_map.people, cases[i].people);
    assert_int_equal(person_map.name.count, cases[i].people);
    assert_string_equal(person_map.name.name[person_map.people - 1], cases[i].last);
    for (size_t t = 0; t < data->trajectories; t++)
      assert_true(person_map.of_trajectory[t] < person_map.people);
    assert_int_equal(person_map.of_trajectory[0], 0);
    idm_person_map_clear(&person_map);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void roles_go_by_their_columns_too(void **state)
{
  (void)state;
  idm_problem *problem = covariates_problem();
  assert_int_equal(idm_person_by_column(problem, "clinician"), IDM_PERSON_BY_COVARIATE);
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_AGENT], "clinician");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_TRAJECTORY], "hospital", "patient");
  assert_int_equal(idm_person_by_column(problem, "clinician"), IDM_PERSON_BY_AGENT);
  assert_int_equal(idm_person_by_column(problem, "agent"), IDM_PERSON_BY_AGENT);
  assert_int_equal(idm_person_by_column(problem, "trajectory"), IDM_PERSON_BY_TRAJECTORY);
  assert_int_equal(idm_person_by_column(problem, "patient"), IDM_PERSON_BY_COVARIATE);
  idm_problem_destroy(problem);
}

static void what_leaves_it_open_is_named_with_its_line(void **state)
{
  (void)state;
  static const struct {
    const char *csv;
    long line;
    const char *says;
  } cases[] = {
      {"agent,trajectory,action,observation,who\n"
       "p1,a,monitor,negative,x\n"
       "p1,a,monitor,negative,\n"
       "p1,a,declare_healthy,,y\n",
       4, "'x' before, 'y' here"},
      {"agent,trajectory,action,observation,who\n"
       "p1,a,declare_healthy,,x\n"
       "p1,b,declare_healthy,,\n",
       3, "'who' is empty"},
  };
  idm_problem *problem = covariates_problem();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    idm_data *data = covariates_data(problem, cases[i].csv, (const char *const[]){"who", NULL});
    idm_person_map person_map;
    idm_error error = {0};
    assert_int_equal(idm_person_map_create(problem, data, "who", &person_map, &error), IDM_INPUT);
    assert_int_equal(error.line, cases[i].line);
    assert_string_equal(error.file, "log.csv");
    assert_non_null(strstr(error.message, cases[i].says));
    assert_int_equal(idm_person_map_create(problem, data, "whom", &person_map, &error), IDM_USAGE);
    idm_data_destroy(data);
  }
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(people_are_agents_trajectories_or_levels),
      cmocka_unit_test(roles_go_by_their_columns_too),
      cmocka_unit_test(what_leaves_it_open_is_named_with_its_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
