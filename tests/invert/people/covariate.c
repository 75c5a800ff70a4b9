/* Tests covariates: centring of numbers, coding of categories, and variation within people. */
#include "invert/people/people.h"

#include <math.h>
#include <string.h>

#include "invert/people/covariates_support.h"

static idm_problem *problem;
static idm_data *data;
static idm_person_map person_map;

static int set_up(void **state)
{
  (void)state;
  problem = covariates_problem();
  data =
      covariates_data(problem, covariates_log, (const char *const[]){"age", "dose", "drug", NULL});
  check(idm_person_map_create(problem, data, "agent", &person_map, &support_error));
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  idm_person_map_clear(&person_map);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return 0;
}

static void numbers_are_centred_over_people(void **state)
{
  (void)state;
  char column[] = "age";
  const idm_factor factor = {.column = column};
  idm_covariate c;
  check(idm_covariate_create(data, &person_map, &factor, "alpha ~ age", &c, NULL, &support_error));
  assert_false(c.category);
  assert_false(c.within);
  assert_int_equal(c.columns, 1);
  assert_string_equal(c.name.name[0], "age");
  assert_near(c.sd, sqrt(476.8), 1e-14);
  assert_near(c.value[0], 30, 1e-13);
  assert_near(c.value[11], -16, 1e-13);
  idm_covariate_clear(&c);
}

static void categories_are_coded_by_treatment(void **state)
{
  (void)state;
  char column[] = "age";
  char reference[] = "70";
  const idm_factor factor = {.column = column, .category = true, .opt_reference = reference};
  idm_covariate c;
  idm_notes notes = {0};
  check(
      idm_covariate_create(data, &person_map, &factor, "alpha ~ age", &c, &notes, &support_error));
  assert_true(c.category);
  assert_int_equal(c.columns, 4);
  assert_string_equal(c.name.name[0], "age[T.24]");
  assert_string_equal(c.name.name[3], "age[T.66]");
  for (size_t k = 0; k < 4; k++) assert_near(c.value[k * 12], 0, 0);
  assert_near(c.value[0 * 12 + 11], 1, 0);
  assert_int_equal(notes.count, 1); /* values 26, 30, 66 and 70 have one person each */
  idm_notes_clear(&notes);
  idm_covariate_clear(&c);
}

static void what_varies_within_people_is_known(void **state)
{
  (void)state;
  char dose[] = "dose";
  char drug[] = "drug";
  idm_covariate c;
  check(idm_covariate_create(data, &person_map, &(idm_factor){.column = dose}, "", &c, NULL,
                             &support_error));
  assert_true(c.within);
  idm_covariate_clear(&c);
  check(idm_covariate_create(data, &person_map, &(idm_factor){.column = drug}, "", &c, NULL,
                             &support_error));
  assert_false(c.within);
  idm_covariate_clear(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_centred_over_people),
      cmocka_unit_test(categories_are_coded_by_treatment),
      cmocka_unit_test(what_varies_within_people_is_known),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
