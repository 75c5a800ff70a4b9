/* Summaries of replications (uniformity of ranks, coverage, bias, error, correlation) against
 * values by hand. */
#include <math.h>

#include "support.h"

/* Twelve replications with one parameter and the log-likelihood; ten of them are done. */
typedef struct made {
  idm_problem *problem;
  idm_calibration *c;
} made;

static made make(void)
{
  made m = {.problem = support_diag(0.5, 1.25, 0.3)};
  idm_calibration_settings settings;
  idm_calibration_settings_default(&settings);
  settings.replications = 12;
  check(idm_problem_set_free(m.problem, "{beta: {scale: inverse, prior: {normal: [0.5, 0.5]}}}",
                             &support_error));
  check(idm_calibration_create(m.problem, &settings, &m.c, &support_error));
  for (size_t i = 0; i < 12; i++) m.c->done[i] = i < 10;
  return m;
}

static void destroy(made *m)
{
  idm_calibration_destroy(m->c);
  idm_problem_destroy(m->problem);
}

/* With two bins, 7 of 10 ranks are below 50. Expected are 5 each: (4 + 4) / 5 = 1.6. */
static void test_uniformity(void **state)
{
  (void)state;
  made m = make();
  const int ranks[12] = {0, 1, 9, 10, 20, 30, 49, 50, 98, 99, 60, 60};
  size_t count[10];
  for (size_t i = 0; i < 12; i++) {
    m.c->recovery[2 * i].rank = ranks[i];
    m.c->recovery[2 * i + 1].rank = 99;
  }
  assert_near(idm_calibration_uniformity(m.c, 0, 2, count), 1.6, 1e-12);
  assert_int_equal(count[0], 7);
  assert_int_equal(count[1], 3);
  /* Ten bins with one rank expected in each: 3, 1, 1, 1, 1, 1, 0, 0, 0, 2 gives 4 + 0 x 5 + 3 + 1 =
   * 8. */
  assert_near(idm_calibration_uniformity(m.c, 0, 10, count), 8, 1e-12);
  const size_t expected[10] = {3, 1, 1, 1, 1, 1, 0, 0, 0, 2};
  assert_memory_equal(count, expected, sizeof expected);
  assert_near(idm_calibration_uniformity(m.c, 1, 10, count), 90, 1e-12);
  destroy(&m);
}

/* Means 2 above truths 0 .. 9, sd 4; the intervals of the last three replications begin above the
 * truth. */
static void test_recovered(void **state)
{
  (void)state;
  made m = make();
  for (size_t i = 0; i < 12; i++) {
    const double truth = i < 10 ? (double)i : 1e6;
    m.c->recovery[2 * i] = (idm_recovery){truth, truth + 2, 4, truth - (i < 7), truth + 3, 0};
    if (i >= 7) m.c->recovery[2 * i].low = truth + 1;
    m.c->rhat[i] = 1 + 0.001 * (double)i;
  }
  assert_int_equal(idm_calibration_done(m.c), 10);
  const idm_recovery_accuracy r = idm_calibration_accuracy(m.c, 0);
  assert_near(r.coverage, 0.7, 1e-12);
  assert_near(r.bias, 0.5, 1e-12);
  assert_near(r.error, 2, 1e-12);
  assert_near(r.correlation, 1, 1e-12);
  assert_near(idm_calibration_rhat(m.c), 1.009, 1e-12);
  /* Means of opposite sign to the truths -1 and 1: errors of 2. */
  for (size_t i = 0; i < 10; i++) {
    m.c->recovery[2 * i].truth = i % 2 ? 1 : -1;
    m.c->recovery[2 * i].mean = i % 2 ? -1 : 1;
  }
  assert_near(idm_calibration_accuracy(m.c, 0).correlation, -1, 1e-12);
  assert_near(idm_calibration_accuracy(m.c, 0).error, 2, 1e-12);
  assert_near(idm_calibration_accuracy(m.c, 0).bias, 0, 1e-12);
  destroy(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_uniformity),
      cmocka_unit_test(test_recovered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
