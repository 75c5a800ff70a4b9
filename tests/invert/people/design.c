/* Tests designs against regressors computed by hand, and requests that are rejected. */
#include "invert/people.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invert/people/covariates_support.h"

static idm_problem *problem;

static int set_up(void **state)
{
  (void)state;
  problem = covariates_problem();
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  idm_problem_destroy(problem);
  return 0;
}

static idm_design *design_of(const char *by, const char *opt_model, const char *opt_second)
{
  idm_design *d = covariates_design(problem, covariates_log, by, opt_model, opt_second, NULL);
  if (!d) fail_msg("%s", support_error.message);
  return d;
}

static void without_a_formula_there_is_an_intercept(void **state)
{
  (void)state;
  idm_design *d = design_of("agent", NULL, NULL);
  assert_int_equal(d->people, 6);
  assert_int_equal(d->cells, 6);
  assert_int_equal(d->coordinates, 2);
  assert_int_equal(d->effects, 2);
  assert_string_equal(d->effect.name[0], "log_alpha");
  assert_string_equal(d->effect.name[1], "inverse_beta");
  assert_int_equal(d->cell_of[11], 5);
  for (size_t e = 0; e < 2; e++) {
    const double s = e ? 4 : 2;
    assert_int_equal(d->effect_coordinate[e], e);
    assert_int_equal(d->coefficients[e], 1);
    assert_string_equal(d->coefficient[e].name[0], "Intercept");
    assert_near(d->coefficient_mean[e][0], 0, 0);
    assert_near(d->coefficient_sd[e][0], s, 0);
    assert_near(d->sd_scale[e], s / 2, 0);
    for (size_t i = 0; i < 6; i++) {
      assert_near(d->regressor[e][i], 1, 0);
      assert_near(d->share[i * 2 + e], 1, 0);
    }
  }
  assert_near(d->correlation, 2, 0);
  idm_design_destroy(d);
}

/* Columns of drug * group + age, where age has mean 40 and sd sqrt(476.8) over people. */
static void regressors_are_those_of_treatment_coding(void **state)
{
  (void)state;
  static const char *const names[] = {"Intercept", "drug[T.yes]", "group[T.young]", "age",
                                      "drug[T.yes]:group[T.young]"};
  static const double w[6][5] = {{1, 0, 0, 30, 0},  {1, 1, 0, 26, 0},  {1, 0, 1, -10, 0},
                                 {1, 1, 1, -14, 1}, {1, 0, 1, -16, 0}, {1, 1, 1, -16, 1}};
  const double age_sd = sqrt(476.8);
  idm_design *d = design_of("agent", "alpha ~ drug * group + age", NULL);
  assert_int_equal(d->coefficients[0], 5);
  assert_int_equal(d->coefficients[1], 1);
  for (size_t k = 0; k < 5; k++) {
    assert_string_equal(d->coefficient[0].name[k], names[k]);
    assert_near(d->coefficient_sd[0][k], k == 0 ? 2 : k == 3 ? 1 / age_sd : 1, 1e-14);
    for (size_t i = 0; i < 6; i++) assert_near(d->regressor[0][i * 5 + k], w[i][k], 1e-13);
  }
  idm_design_destroy(d);
}

static void references_and_categories_can_be_chosen(void **state)
{
  (void)state;
  idm_design *d = design_of("agent", "alpha, beta ~ C(drug, ref=yes)", NULL);
  for (size_t e = 0; e < 2; e++) {
    assert_string_equal(d->coefficient[e].name[1], "drug[T.no]");
    assert_near(d->regressor[e][0 * 2 + 1], 1, 0);
    assert_near(d->regressor[e][1 * 2 + 1], 0, 0);
  }
  idm_design_destroy(d);
  d = design_of("agent", "alpha ~ C(age, ref=66)", "beta ~ group");
  assert_int_equal(d->coefficients[0], 5);
  assert_string_equal(d->coefficient[0].name[1], "age[T.24]");
  assert_string_equal(d->coefficient[1].name[1], "group[T.young]");
  idm_design_destroy(d);
}

/* dose varies within p1 to p5: it is an effect with its own regression. */
static void what_varies_within_people_is_an_effect(void **state)
{
  (void)state;
  idm_design *d = design_of("agent", "alpha ~ dose * drug", NULL);
  assert_int_equal(d->cells, 11);
  assert_int_equal(d->effects, 3);
  assert_string_equal(d->effect.name[0], "log_alpha");
  assert_string_equal(d->effect.name[1], "log_alpha:dose[T.low]");
  assert_int_equal(d->effect_coordinate[1], 0);
  assert_string_equal(d->effect.name[2], "inverse_beta");
  assert_string_equal(d->coefficient[0].name[1], "drug[T.yes]");
  assert_int_equal(d->coefficients[1], 2);
  assert_string_equal(d->coefficient[1].name[0], "dose[T.low]");
  assert_string_equal(d->coefficient[1].name[1], "dose[T.low]:drug[T.yes]");
  assert_near(d->coefficient_mean[1][0], 0, 0);
  assert_near(d->coefficient_sd[1][0], 1, 0);
  assert_near(d->sd_scale[1], 1, 0);
  for (size_t c = 0; c < 11; c++) {
    assert_near(d->share[c * 3], 1, 0);
    assert_near(d->share[c * 3 + 1], c % 2 == 0, 0); /* low, high, low, high, ..., low */
    if (c) assert_true(d->cell_person[c] >= d->cell_person[c - 1]);
  }
  for (size_t i = 0; i < 6; i++) {
    assert_near(d->regressor[1][i * 2], 1, 0);
    assert_near(d->regressor[1][i * 2 + 1], (double)(i % 2), 0);
  }
  assert_int_equal(d->cell_of[0], 0);
  assert_int_equal(d->cell_of[1], 1);
  assert_int_equal(d->cell_of[10], 10);
  assert_int_equal(d->cell_of[11], 10);
  idm_design_destroy(d);
}

static void the_problem_may_say_what_a_population_is_like(void **state)
{
  (void)state;
  problem->theta->block[IDM_ALPHA].population = (idm_population){.sd = 0.3, .coefficient = 0.7};
  problem->correlation = 5;
  idm_design *d = design_of("agent", "alpha ~ drug", NULL);
  assert_near(d->sd_scale[0], 0.3, 0);
  assert_near(d->sd_scale[1], 2, 0);
  assert_near(d->coefficient_sd[0][0], 2, 0);
  assert_near(d->coefficient_sd[0][1], 0.7, 0);
  assert_near(d->correlation, 5, 0);
  idm_design_destroy(d);
  problem->theta->block[IDM_ALPHA].population = (idm_population){0};
  problem->correlation = 0;
}

static void what_cannot_be_told_is_refused_with_what_to_do(void **state)
{
  (void)state;
  static const struct {
    const char *by;
    const char *model;
    idm_status status;
    const char *says;
  } cases[] = {
      {"agent", "alfa ~ drug", IDM_USAGE, "did you mean 'alpha'? free are: alpha, beta"},
      {"agent", "eta ~ drug", IDM_USAGE, "'eta' at character 1 is not free"},
      {"agent", "alpha ~ drog", IDM_INPUT, "did you mean 'drug'?"},
      {"agnt", NULL, IDM_INPUT, "did you mean 'agent'?"},
      {"agent", "alpha ~ same", IDM_INPUT, "is 'k' everywhere"},
      {"agent", "alpha ~ site", IDM_INPUT, "changes within the trajectory 'k'"},
      {"agent", "alpha ~ C(drug, ref=yess)", IDM_USAGE, "has no level 'yess'; did you mean 'yes'?"},
      {"agent", "alpha ~ C(drug, ref=placebo)", IDM_USAGE, "it has no, yes"},
      {"agent", "alpha ~ drug:group", IDM_USAGE, "write a * b"},
      {"agent", "alpha ~ drug + age:group + age", IDM_OK, NULL},
      {"agent", "alpha ~ drug + age:group", IDM_USAGE, "write a * b"},
      {"agent", "alpha ~ agent", IDM_INPUT, "6 coefficients for 6 people"},
      {"drug", "alpha ~ 1", IDM_OK, NULL},
      {"same", "alpha ~ 1", IDM_INPUT, "there is one person"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    idm_design *d =
        covariates_design(problem, covariates_log, cases[i].by, cases[i].model, NULL, NULL);
    const char *found = support_error.message;
    if (support_error.status != cases[i].status || (cases[i].says && !strstr(found, cases[i].says)))
      fail_msg("%s by %s: %s", cases[i].model, cases[i].by, found);
    assert_true((d != NULL) == (cases[i].status == IDM_OK));
    idm_design_destroy(d);
  }
  assert_null(covariates_design(problem, covariates_log, "agent", "alpha ~ drug",
                                "beta, alpha ~ age", NULL));
  assert_non_null(strstr(support_error.message, "'alpha' is in two formulas"));
}

/* sum is a + b; no person is both young and rich. */
static void collinear_regressors_are_named(void **state)
{
  (void)state;
  static const char csv[] = "agent,action,observation,a,b,sum,group,purse\n"
                            "p1,declare_healthy,,1,2,3,old,rich\n"
                            "p2,declare_healthy,,2,7,9,old,poor\n"
                            "p3,declare_healthy,,3,1,4,young,poor\n"
                            "p4,declare_healthy,,5,5,10,young,poor\n"
                            "p5,declare_healthy,,4,9,13,old,rich\n";
  assert_null(covariates_design(problem, csv, "agent", "alpha ~ a + b + sum", NULL, NULL));
  assert_int_equal(support_error.status, IDM_INPUT);
  assert_non_null(strstr(support_error.message, "'sum' is a linear combination of a, b,"));
  assert_null(
      covariates_design(problem, csv, "agent", "alpha ~ group * C(purse, ref=rich)", NULL, NULL));
  assert_non_null(strstr(support_error.message, "is a linear combination of group[T.young],"));
  assert_null(covariates_design(problem, csv, "agent", "alpha ~ group * purse", NULL, NULL));
  assert_non_null(strstr(support_error.message, "no person has 'group[T.young]:purse[T.rich]'"));
}

static void gaps_are_filled_counted_or_refused(void **state)
{
  (void)state;
  static const char csv[] = "agent,trajectory,action,observation,sex,age\n"
                            "p1,a,declare_healthy,,f,31\n"
                            "p1,b,declare_healthy,,,31\n"
                            "p2,c,declare_healthy,,m,\n"
                            "p3,d,declare_healthy,,f,34\n"
                            "p3,e,declare_healthy,,m,34\n"
                            "p4,f,declare_healthy,,m,n/a\n";
  idm_notes notes = {0};
  idm_design *d = covariates_design(problem, csv, "trajectory", "alpha ~ 1", NULL, &notes);
  assert_non_null(d);
  idm_design_destroy(d);
  assert_null(covariates_design(problem, csv, "agent", "alpha ~ age", NULL, &notes));
  assert_non_null(strstr(support_error.message, "'age' is empty for 1 trajectories"));
  assert_non_null(strstr(support_error.message, "--where 'age!='"));
  assert_int_equal(support_error.line, 4);
  /* sex varies within p3, so that a missing value is not filled from another trajectory. */
  assert_null(covariates_design(problem, csv, "agent", "alpha ~ sex", NULL, &notes));
  assert_int_equal(support_error.line, 3);
  assert_null(covariates_design(problem, csv, "trajectory", "alpha ~ age", NULL, &notes));
  idm_notes_clear(&notes);
}

static void numbers_and_words_are_not_mixed(void **state)
{
  (void)state;
  static const char csv[] = "agent,action,observation,age,size\n"
                            "p1,declare_healthy,,31,\"1,5\"\n"
                            "p2,declare_healthy,,unknown,\"2,5\"\n"
                            "p3,declare_healthy,,33,\"1,5\"\n"
                            "p4,declare_healthy,,33,3\n";
  assert_null(covariates_design(problem, csv, "agent", "alpha ~ age", NULL, NULL));
  assert_non_null(strstr(support_error.message, "contains numbers and 'unknown'"));
  assert_int_equal(support_error.line, 3);
  assert_null(covariates_design(problem, csv, "agent", "alpha ~ size", NULL, NULL));
  assert_non_null(strstr(support_error.message, "decimal point"));
  idm_notes notes = {0};
  idm_design *d = covariates_design(problem, csv, "agent", "alpha ~ C(age)", NULL, &notes);
  assert_non_null(d);
  assert_int_equal(d->coefficients[0], 3);
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "2 of 3 levels of 'age' have one person"));
  assert_non_null(strstr(notes.text[0], "'unknown' has only 'p2'"));
  idm_notes_clear(&notes);
  idm_design_destroy(d);
}

/* Names of coefficients are keys and must be unique. */
static void two_coefficients_of_one_name_are_refused(void **state)
{
  (void)state;
  static const char csv[] = "agent,action,observation,Intercept,a,b,a:b,g,g[T.y]\n"
                            "p1,declare_healthy,,1,2,3,7,x,1\n"
                            "p2,declare_healthy,,2,7,9,1,y,2\n"
                            "p3,declare_healthy,,3,1,4,2,y,5\n"
                            "p4,declare_healthy,,5,5,10,9,x,3\n"
                            "p5,declare_healthy,,4,9,12,4,x,9\n"
                            "p6,declare_healthy,,8,1,5,3,y,4\n"
                            "p7,declare_healthy,,6,6,2,8,x,2\n";
  static const struct {
    const char *model;
    const char *name;
  } cases[] = {{"alpha ~ Intercept", "called 'Intercept'"},
               {"alpha ~ a * b + `a:b`", "called 'a:b'"},
               {"alpha ~ g + `g[T.y]`", "called 'g[T.y]'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_null(covariates_design(problem, csv, "agent", cases[i].model, NULL, NULL));
    assert_int_equal(support_error.status, IDM_INPUT);
    if (!strstr(support_error.message, cases[i].name)) fail_msg("%s", support_error.message);
  }
  idm_design *d = covariates_design(problem, csv, "agent", "alpha ~ `a:b` + b", NULL, NULL);
  assert_non_null(d);
  idm_design_destroy(d);
}

/* 30, 30.0 and 3e1 are equal as numbers. */
static void equal_numbers_are_one_value(void **state)
{
  (void)state;
  static const char csv[] = "agent,trajectory,action,observation,age,one,far,near\n"
                            "p1,a,declare_healthy,,30,1,1e200,1e-40\n"
                            "p1,b,declare_healthy,,30.0,1.0,1e200,1e-40\n"
                            "p2,c,declare_healthy,,3e1,1,2e200,2e-40\n"
                            "p3,d,declare_healthy,,42,1,3e200,3e-40\n"
                            "p4,e,declare_healthy,,50,1,4e200,5e-40\n";
  idm_notes notes = {0};
  idm_design *d = covariates_design(problem, csv, "agent", "alpha ~ age", NULL, &notes);
  assert_non_null(d);
  assert_int_equal(d->effects, 2);
  assert_int_equal(d->cells, 4);
  assert_near(d->regressor[0][1], -8, 1e-12);
  assert_near(d->regressor[0][3], -8, 1e-12);
  idm_design_destroy(d);
  assert_null(covariates_design(problem, csv, "agent", "alpha ~ one", NULL, &notes));
  assert_non_null(strstr(support_error.message, "is '1' everywhere"));
  assert_null(covariates_design(problem, csv, "agent", "alpha ~ far", NULL, &notes));
  assert_non_null(strstr(support_error.message, "use another unit"));
  assert_null(covariates_design(problem, csv, "agent", "alpha ~ near", NULL, &notes));
  assert_non_null(strstr(support_error.message, "use another unit"));
  idm_notes_clear(&notes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_formula_there_is_an_intercept),
      cmocka_unit_test(regressors_are_those_of_treatment_coding),
      cmocka_unit_test(references_and_categories_can_be_chosen),
      cmocka_unit_test(what_varies_within_people_is_an_effect),
      cmocka_unit_test(the_problem_may_say_what_a_population_is_like),
      cmocka_unit_test(what_cannot_be_told_is_refused_with_what_to_do),
      cmocka_unit_test(collinear_regressors_are_named),
      cmocka_unit_test(gaps_are_filled_counted_or_refused),
      cmocka_unit_test(numbers_and_words_are_not_mixed),
      cmocka_unit_test(two_coefficients_of_one_name_are_refused),
      cmocka_unit_test(equal_numbers_are_one_value),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
