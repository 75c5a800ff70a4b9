/* The verdict on answers with a certificate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idm/assess.h"
#include "idm/inverse.h"
#include "invert/utility/answer.h"
#include "invert/utility/walk.h"
#include "support.h"

/* The verdict on utilities of the walk, with a certificate that stands at `attained`; of whoever
 * compares trajectories, and with a fault, where asked for. */
static idm_assessment *judge_as(const double *x, double attained, bool compared, const char *fault)
{
  idm_problem *problem = support_yaml(WALK);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 50, .steps = 10, .seed = 2});
  idm_sought *sought;
  idm_finding *finding;
  idm_posterior *p;
  idm_assessment *a;
  idm_fit_settings settings;
  idm_fit_settings_default(&settings);
  check(idm_problem_free(problem, "utility", &support_error));
  check(idm_sought_create(problem, &sought, &support_error));
  check(idm_finding_create(6, &finding, &support_error));
  snprintf(finding->certificate, sizeof finding->certificate, "duality gap");
  finding->attained = attained;
  finding->closed = 1e-9;
  finding->compared = compared;
  if (fault) idm_notes_add(&finding->faults, "%s", fault);
  check(idm_answer_utility(idm_inverse_find("distance"), problem, &settings, sought, x, "by hand",
                           finding, &p, &support_error));
  check(idm_assess(problem, data, p, 1, &a, &support_error));
  idm_posterior_destroy(p);
  idm_sought_destroy(sought);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return a;
}

static idm_assessment *judge(const double *x, double attained)
{
  return judge_as(x, attained, false, NULL);
}

static const double truth[] = {0.5, -1, 2, 3, -0.25, 1};

static void test_closed(void **state)
{
  (void)state;
  idm_assessment *a = judge(truth, 1e-12);
  assert_true(a->trusted);
  assert_int_equal(a->failures.count, 0);
  assert_int_equal(a->misfits.count, 0);
  idm_assessment_destroy(a);
}

static void test_open(void **state)
{
  (void)state;
  const double attained[] = {1e-3, NAN, INFINITY};
  for (size_t i = 0; i < 3; i++) {
    idm_assessment *a = judge(truth, attained[i]);
    assert_false(a->trusted);
    assert_int_equal(a->failures.count, 1);
    assert_non_null(strstr(a->failures.text[0], "the certificate is not closed"));
    idm_assessment_destroy(a);
  }
}

/* A closed certificate does not save utilities at which the planner does the opposite. */
static void test_misfit(void **state)
{
  (void)state;
  double x[6];
  for (size_t i = 0; i < 6; i++) x[i] = -5 * truth[i];
  idm_assessment *a = judge(x, 0);
  assert_false(a->trusted);
  assert_int_equal(a->misfits.count, 1);
  assert_non_null(strstr(a->misfits.text[0], "no better than chance"));
  idm_assessment_destroy(a);
}

/* A utility that is the same everywhere explains any log, and so none, whatever rounding makes of
 * it. */
static void test_constant(void **state)
{
  (void)state;
  const double constant[] = {0, 1, -1, 0.1, 0.3, -0.7, 3.3, 1e-12, 1e3, 12345.678, -1e-3, 77.7};
  for (size_t i = 0; i < sizeof constant / sizeof *constant; i++) {
    const double c = constant[i];
    idm_assessment *a = judge((const double[]){c, c, c, c, c, c}, 0);
    assert_false(a->trusted);
    assert_int_equal(a->misfits.count, 1);
    assert_non_null(strstr(a->misfits.text[0], "no better than chance"));
    idm_assessment_destroy(a);
  }
}

/* Whoever compares trajectories does not say that they are how it behaves. */
static void test_compared(void **state)
{
  (void)state;
  double x[6];
  for (size_t i = 0; i < 6; i++) x[i] = -5 * truth[i];
  idm_assessment *a = judge_as(x, 0, true, NULL);
  assert_true(a->trusted);
  assert_int_equal(a->misfits.count, 0);
  idm_assessment_destroy(a);
  a = judge_as(x, 1, true, NULL);
  assert_false(a->trusted);
  idm_assessment_destroy(a);
}

/* A fault speaks against an answer whatever its certificate says. */
static void test_fault(void **state)
{
  (void)state;
  idm_assessment *a = judge_as(truth, 0, false, "it is not so");
  assert_false(a->trusted);
  assert_int_equal(a->failures.count, 1);
  assert_string_equal(a->failures.text[0], "it is not so");
  idm_assessment_destroy(a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_closed),   cmocka_unit_test(test_open),
      cmocka_unit_test(test_misfit),   cmocka_unit_test(test_constant),
      cmocka_unit_test(test_compared), cmocka_unit_test(test_fault)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
