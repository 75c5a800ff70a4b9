/* Tests the check of collinear regressors, in different units. */
#include "invert/people/people.h"

#include <string.h>

#include "invert/people/covariates_support.h"

/* Five people, one effect, four regressors, the last of which is `last`. */
static idm_design *design_of(const double *last)
{
  static const char csv[] = "agent,action,observation,a,b,c\n"
                            "p1,declare_healthy,,1,2,3\n"
                            "p2,declare_healthy,,2,7,9\n"
                            "p3,declare_healthy,,3,1,5\n"
                            "p4,declare_healthy,,5,5,7\n"
                            "p5,declare_healthy,,4,9,2\n";
  idm_problem *problem = covariates_problem();
  idm_design *d = covariates_design(problem, csv, "agent", "alpha ~ a + b + c", NULL, NULL);
  idm_problem_destroy(problem);
  assert_non_null(d);
  for (size_t i = 0; i < 5; i++) d->regressor[0][i * 4 + 3] = last[i];
  return d;
}

static void combinations_are_found_and_named(void **state)
{
  (void)state;
  static const struct {
    double last[5];
    const char *says; /* NULL: not collinear */
  } cases[] = {
      {{1, 0, 0, 0, 0}, NULL},
      {{1e-9, 0, 0, 0, 0}, NULL},
      {{0, 0, 0, 0, 0}, "no person has 'c'"},
      {{3, 3, 3, 3, 3}, "'c' is a linear combination of Intercept,"},
      {{-2e6, -1e6, 0, 2e6, 1e6}, "'c' is a linear combination of a,"}, /* a minus its mean */
      {{-2 - 5.6, -1 - 4.4, 0 - 7.6, 2 - 0.4, 1 + 8.4}, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    idm_design *d = design_of(cases[i].last);
    idm_error error = {0};
    const idm_status status = idm_design_check_rank(d, 0, "alpha ~ a + b + c", &error);
    assert_int_equal(status, cases[i].says ? IDM_INPUT : IDM_OK);
    if (cases[i].says && !strstr(error.message, cases[i].says)) fail_msg("%s", error.message);
    assert_int_equal(idm_design_check_rank(d, 1, "", &error), IDM_OK);
    idm_design_destroy(d);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(combinations_are_found_and_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
