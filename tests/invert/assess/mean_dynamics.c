/* Tests the verdict on answers over learnt dynamics: the checks of the model given their mean,
 * against those of a plain fit, and draws that miss a part of the posterior. */
#include "invert/assess/context.h"

#include <math.h>

#include "invert/assess.h"
#include "invert/assess/answered_support.h"

/* DIAG with an agent of alpha .5 and a lapse rate, fitted without lapse. */
static answered make(double lapse, uint64_t seed)
{
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  problem->agent.resolution = 40;
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, lapse);
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 150, .steps = 30, .seed = seed});
  idm_theta_set_scalar(problem->theta, IDM_LAPSE, 0);
  check(idm_problem_set_free(problem, "alpha", &support_error));
  return answered_fit("bayes", problem, data, 500, 300, 1);
}

static idm_assessment *assess(const answered *a, const idm_posterior *given)
{
  idm_assessment *assessment;
  check(idm_assess_given_mean(a->problem, a->data, a->posterior, given, 1, NULL, &assessment,
                              &support_error));
  return assessment;
}

static idm_check_outcome outcome(const idm_assessment *a, idm_check_id id)
{
  return a->checks.of[id].outcome;
}

/* A correct model passes. All checks have the outcome of a plain fit, except those of the file's
 * dynamics, which are not run. */
static void test_right(void **state)
{
  (void)state;
  answered a = make(0, 3);
  idm_assessment *over = assess(&a, a.posterior);
  assert_true(over->trusted);
  for (int id = 0; id < IDM_CHECK_COUNT; id++) {
    const bool of_file = id == IDM_CHECK_ENVIRONMENT || id == IDM_CHECK_DEPENDS;
    const idm_check_outcome plain = outcome(a.assessment, (idm_check_id)id);
    if (of_file)
      assert_int_equal(outcome(over, (idm_check_id)id), IDM_CHECK_NOT_RUN);
    else if (id != IDM_CHECK_GIVEN_MEAN && id != IDM_CHECK_PRIOR_GAP)
      assert_int_equal(outcome(over, (idm_check_id)id), plain);
  }
  assert_int_equal(outcome(over, IDM_CHECK_GIVEN_MEAN), IDM_CHECK_PASSED);
  assert_true(over->model.evaluated && over->importance.points && over->identified);
  assert_true(support_mentions(&over->remarks, "given the mean of the learnt dynamics"));
  idm_assessment_destroy(over);
  answered_close(&a);
}

/* A wrong model has at least the misfits of a plain fit, since the level is divided among fewer
 * tests. */
static void test_wrong(void **state)
{
  (void)state;
  answered a = make(0.2, 4);
  idm_assessment *over = assess(&a, a.posterior);
  assert_false(over->trusted);
  assert_int_equal(over->failures.count, 0);
  assert_true(over->misfits.count >= a.assessment->misfits.count);
  assert_int_equal(outcome(over, IDM_CHECK_EXTENSIONS), IDM_CHECK_MISFIT);
  assert_true(support_mentions(&over->misfits, "given the mean of the learnt dynamics"));
  idm_assessment_destroy(over);
  answered_close(&a);
}

/* Draws with a third of the sd, or shifted by four sds, miss a part of the posterior; draws with
 * three times the sd do not. */
static void test_missed_part(void **state)
{
  (void)state;
  static const double scale[] = {0.3, 1, 3}, shift[] = {0, 4, 0};
  for (size_t k = 0; k < 3; k++) {
    answered a = make(0, 3), b = make(0, 3);
    const size_t count = a.posterior->chains * a.posterior->draws;
    const double sd = a.assessment->diagnosis[0].sd / a.assessment->diagnosis[0].mean;
    const double middle = log(a.assessment->diagnosis[0].mean);
    for (size_t i = 0; i < count; i++) {
      double *y = &a.posterior->unconstrained[i];
      *y = middle + shift[k] * sd + scale[k] * (*y - middle);
      a.posterior->value[i] = exp(*y);
    }
    idm_assessment *over = assess(&a, b.posterior);
    assert_int_equal(outcome(over, IDM_CHECK_GIVEN_MEAN),
                     k < 2 ? IDM_CHECK_FAILED : IDM_CHECK_PASSED);
    assert_int_equal(support_mentions(&over->failures, "miss a part"), k < 2);
    idm_assessment_destroy(over);
    answered_close(&a);
    answered_close(&b);
  }
}

/* If the fit given the mean fails its own checks, the comparison is not run. */
static void test_unchecked(void **state)
{
  (void)state;
  answered a = make(0, 3), b = make(0, 3);
  for (size_t i = 0; i < b.posterior->draws; i++) b.posterior->value[i] += 1;
  idm_assessment *over = assess(&a, b.posterior);
  assert_int_equal(outcome(over, IDM_CHECK_GIVEN_MEAN), IDM_CHECK_NOT_RUN);
  assert_int_equal(outcome(over, IDM_CHECK_IMPORTANCE), IDM_CHECK_NOT_RUN);
  assert_true(support_mentions(&over->remarks, "unchecked: whether the draws miss a mode"));
  idm_assessment_destroy(over);
  answered_close(&a);
  answered_close(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_right), cmocka_unit_test(test_wrong),
                                     cmocka_unit_test(test_missed_part),
                                     cmocka_unit_test(test_unchecked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
