/* Tests the check of the form of regressions over people, on simulated effects with known terms. */
#include "invert/people/people.h"

#include <string.h>

#include "invert/assess.h"
#include "support.h"

enum { PEOPLE = 16, DRAWS = 50, EFFECTS = 2 };

/* Terms that the design lacks: the first effect has age and dose as regressors, the second has
 * none. */
typedef struct truth {
  double product;
  double square;
  double second;
} truth;

/* Result for two effects, normal around the true regression. */
static idm_check_result judge(uint64_t seed, const truth *t, idm_notes *misfits)
{
  static double effect[EFFECTS * PEOPLE * DRAWS];
  double first[3 * PEOPLE], second[PEOPLE], *regressor[] = {first, second};
  size_t coefficients[] = {3, 1};
  char name[][12] = {"Intercept", "age", "dose[T.b]", "log_alpha", "eta"};
  char *columns[] = {name[0], name[1], name[2]}, *effects[] = {name[3], name[4]};
  idm_labels coefficient[] = {{3, columns}, {1, columns}};
  idm_random random;
  idm_random_init(&random, seed, 0);
  for (size_t i = 0; i < PEOPLE; i++) {
    const double age = idm_random_normal(&random), dose = (double)(i % 2);
    const double mean[] = {2 + 0.5 * age - dose + t->product * age * dose + t->square * age * age,
                           1 + t->second * age};
    const double row[] = {1, age, dose};
    memcpy(first + 3 * i, row, sizeof row);
    second[i] = 1;
    for (size_t e = 0; e < EFFECTS; e++) {
      const double x = mean[e] + 0.5 * idm_random_normal(&random);
      for (size_t k = 0; k < DRAWS; k++)
        effect[(e * PEOPLE + i) * DRAWS + k] = x + 0.1 * idm_random_normal(&random);
    }
  }
  const idm_design design = {.people = PEOPLE,
                             .effects = EFFECTS,
                             .effect = {EFFECTS, effects},
                             .coefficients = coefficients,
                             .coefficient = coefficient,
                             .regressor = regressor};
  const idm_people people = {
      .chains = 1, .draws = DRAWS, .people = PEOPLE, .effects = EFFECTS, .effect = effect};
  idm_assessment a = {0};
  idm_checks_begin(&a.checks, IDM_CHECK_POPULATION);
  form_term term;
  check(idm_test_form(&design, &people, &a, &term, &support_error));
  assert_int_equal(a.misfits.count, term.first != NULL);
  *misfits = a.misfits;
  return a.checks.of[IDM_CHECK_FORM];
}

/* More than 8 of SEEDS correct forms fail at a level of 1 % with probability 4e-3. */
static void right_forms_pass(void **state)
{
  (void)state;
  enum { SEEDS = 300 };
  size_t failed = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    idm_notes misfits;
    failed += judge(seed, &(truth){0}, &misfits).outcome == IDM_CHECK_MISFIT;
    idm_notes_clear(&misfits);
  }
  print_message("  %zu of %d right forms failed\n", failed, SEEDS);
  assert_true(failed <= 8);
}

static void expect(const truth *t, const char *sentence)
{
  for (uint64_t seed = 0; seed < 10; seed++) {
    idm_notes misfits;
    assert_int_equal(judge(seed, t, &misfits).outcome, IDM_CHECK_MISFIT);
    assert_int_equal(misfits.count, 1);
    assert_non_null(strstr(misfits.text[0], sentence));
    idm_notes_clear(&misfits);
  }
}

static void terms_that_are_left_out_are_named(void **state)
{
  (void)state;
  expect(&(truth){.product = 5}, "log_alpha depends on age x dose[T.b], which its regression does "
                                 "not contain");
  expect(&(truth){.square = 3}, "log_alpha depends on the square of age, which its regression");
  expect(&(truth){.second = 3}, "eta depends on age, which its regression does not contain");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_forms_pass),
      cmocka_unit_test(terms_that_are_left_out_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
