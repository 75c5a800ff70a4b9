/* Who is who: by role and by column, and rows that leave it open. */
#include "invert/people/who.h"

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
    idm_who who;
    check(idm_who_create(problem, data, cases[i].by, &who, &support_error));
    assert_int_equal(who.people, cases[i].people);
    assert_int_equal(who.name.count, cases[i].people);
    assert_string_equal(who.name.name[who.people - 1], cases[i].last);
    for (size_t t = 0; t < data->trajectories; t++) assert_true(who.of_trajectory[t] < who.people);
    assert_int_equal(who.of_trajectory[0], 0);
    idm_who_clear(&who);
  }
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

static void roles_go_by_their_columns_too(void **state)
{
  (void)state;
  idm_problem *problem = covariates_problem();
  assert_int_equal(idm_who_by(problem, "clinician"), IDM_WHO_COVARIATE);
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_AGENT], "clinician");
  SUPPORT_NAMES(&problem->columns.role[IDM_COLUMN_TRAJECTORY], "hospital", "patient");
  assert_int_equal(idm_who_by(problem, "clinician"), IDM_WHO_AGENT);
  assert_int_equal(idm_who_by(problem, "agent"), IDM_WHO_AGENT);
  assert_int_equal(idm_who_by(problem, "trajectory"), IDM_WHO_TRAJECTORY);
  assert_int_equal(idm_who_by(problem, "patient"), IDM_WHO_COVARIATE);
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
    idm_who who;
    idm_error error = {0};
    assert_int_equal(idm_who_create(problem, data, "who", &who, &error), IDM_INPUT);
    assert_int_equal(error.line, cases[i].line);
    assert_string_equal(error.file, "log.csv");
    assert_non_null(strstr(error.message, cases[i].says));
    assert_int_equal(idm_who_create(problem, data, "whom", &who, &error), IDM_USAGE);
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
