/* Tests the check of outlying people on simulated effects. */
#include "invert/people/people.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/assess.h"
#include "support.h"

enum { PEOPLE = 12, DRAWS = 50 };

/* Result for a population of one effect, normal around a line in a regressor; `far` is added to
 * person 3. */
static idm_check_result judge(uint64_t seed, double far, idm_notes *misfits)
{
  double regressor[2 * PEOPLE], effect[PEOPLE * DRAWS];
  double *w = regressor;
  size_t coefficients = 2;
  char names[PEOPLE][8], *name[PEOPLE], own[] = "log_alpha", *effects = own;
  idm_random random;
  idm_random_init(&random, seed, 0);
  for (size_t i = 0; i < PEOPLE; i++) {
    snprintf(names[i], sizeof names[i], "p%zu", i);
    name[i] = names[i];
    regressor[2 * i] = 1;
    regressor[2 * i + 1] = (double)i - 5.5;
    const double x = 2 + 0.3 * regressor[2 * i + 1] + idm_random_normal(&random);
    for (size_t k = 0; k < DRAWS; k++)
      effect[i * DRAWS + k] = x + (i == 3 ? far : 0) + 0.1 * idm_random_normal(&random);
  }
  const idm_design design = {.people = PEOPLE,
                             .person = {PEOPLE, name},
                             .effects = 1,
                             .effect = {1, &effects},
                             .coefficients = &coefficients,
                             .regressor = &w};
  const idm_people people = {
      .chains = 1, .draws = DRAWS, .people = PEOPLE, .effects = 1, .effect = effect};
  idm_assessment a = {0};
  idm_checks_begin(&a.checks, IDM_CHECK_POPULATION);
  size_t person;
  check(idm_test_outliers(&design, &people, &a, &person, &support_error));
  assert_int_equal(person < PEOPLE, a.misfits.count);
  *misfits = a.misfits;
  return a.checks.of[IDM_CHECK_OUTLIER];
}

/* More than 8 of SEEDS normal cohorts fail at a level of 1 % with probability 1e-3. */
static void normal_people_pass(void **state)
{
  (void)state;
  enum { SEEDS = 300 };
  size_t failed = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    idm_notes misfits;
    failed += judge(seed, 0, &misfits).outcome == IDM_CHECK_MISFIT;
    idm_notes_clear(&misfits);
  }
  print_message("  %zu of %d normal cohorts failed\n", failed, SEEDS);
  assert_true(failed <= 8);
}

/* One outlier of ten sds among twelve people is at most 3.2 sds away if the sd includes it. */
static void one_far_off_is_named(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    idm_notes misfits;
    assert_int_equal(judge(seed, seed % 2 ? 10 : -10, &misfits).outcome, IDM_CHECK_MISFIT);
    assert_int_equal(misfits.count, 1);
    assert_non_null(strstr(misfits.text[0], "'p3' is far from the others: its log_alpha is "));
    idm_notes_clear(&misfits);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(normal_people_pass),
      cmocka_unit_test(one_far_off_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
