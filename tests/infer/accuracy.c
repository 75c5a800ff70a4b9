/* Tests scores of forecasts against hand computations and definitions by counting, absent classes,
 * and bad input. scikit-learn's scores are compared in tests/comparison.py. */
#include <math.h>
#include <string.h>

#include "infer/comparison.h"
#include "support.h"

static idm_accuracy score(const double *probability, const unsigned char *occurred, size_t count)
{
  idm_accuracy a;
  check(idm_accuracy_of_events(probability, occurred, count, &a, &support_error));
  assert_near(a.brier, a.miscalibration - a.discrimination + a.uncertainty, 1e-15);
  assert_true((a.reason != NULL) == (bool)isnan(a.roc_area));
  return a;
}

static void test_by_hand(void **state)
{
  (void)state;
  const idm_accuracy a =
      score((const double[]){0.9, 0.6, 0.6, 0.2}, (const unsigned char[]){1, 0, 1, 0}, 4);
  assert_near(a.brier, (0.01 + 0.36 + 0.16 + 0.04) / 4, 1e-15);
  assert_near(a.log_loss, -(log(0.9) + log(0.4) + log(0.6) + log(0.8)) / 4, 1e-15);
  /* Thresholds .9, .6, .2: recall .5, 1, 1, precision 1, 2/3, 1/2. */
  assert_near(a.average_precision, 0.5 + 0.5 * 2 / 3, 1e-15);
  assert_near(a.precision_recall_area, 0.5 + 0.5 * (1 + 2 / 3.0) / 2, 1e-15);
  assert_near(a.roc_area, 3.5 / 4, 1e-15);
  /* Bins of .9, of .6 twice, and of .2. */
  assert_near(a.calibration_error, (0.1 + 0.2 + 0.2) / 4, 1e-15);
  /* Recalibrated: 1, .5, .5, 0. */
  assert_near(a.uncertainty, 0.25, 1e-15);
  assert_near(a.discrimination, 0.25 - 0.125, 1e-15);
  assert_true(!a.reason);
}

static void test_extremes(void **state)
{
  (void)state;
  const unsigned char occurred[] = {1, 0, 1};
  idm_accuracy a = score((const double[]){1, 0, 1}, occurred, 3);
  assert_true(a.brier == 0 && a.roc_area == 1 && a.average_precision == 1);
  assert_true(a.precision_recall_area == 1 && a.calibration_error == 0 && a.miscalibration == 0);
  assert_true(a.log_loss < 1e-15);
  a = score((const double[]){0, 1, 0}, occurred, 3);
  assert_true(a.brier == 1 && a.roc_area == 0);
  assert_near(a.log_loss, 52 * log(2), 1e-12); /* impossible events count as 2^-52 */
  a = score((const double[]){0.5, 0.5, 0.5}, occurred, 3);
  assert_true(a.roc_area == 0.5 && fabs(a.discrimination) < 1e-15);
  assert_near(a.average_precision, 2 / 3.0, 1e-15);
}

/* The area under the ROC curve is the share of pairs that are in order, ties counting half. */
static void test_pairs(void **state)
{
  (void)state;
  double probability[200];
  unsigned char occurred[200];
  idm_random random;
  idm_random_init(&random, 1, 0);
  for (size_t i = 0; i < 200; i++) {
    probability[i] = floor(20 * idm_random_uniform(&random)) / 20;
    occurred[i] = idm_random_uniform(&random) < probability[i];
  }
  double ordered = 0, pairs = 0;
  for (size_t i = 0; i < 200; i++)
    for (size_t j = 0; j < 200; j++)
      if (occurred[i] && !occurred[j]) {
        ordered += (probability[i] > probability[j]) + 0.5 * (probability[i] == probability[j]);
        pairs++;
      }
  const idm_accuracy a = score(probability, occurred, 200);
  assert_near(a.roc_area, ordered / pairs, 1e-14);
  assert_true(a.miscalibration >= 0 && a.discrimination >= 0);
}

static void test_absent_classes(void **state)
{
  (void)state;
  const double probability[] = {0.2, 0.7};
  idm_accuracy a = score(probability, (const unsigned char[]){0, 0}, 2);
  assert_true(isnan(a.average_precision) && isnan(a.precision_recall_area) && isnan(a.roc_area));
  assert_string_equal(a.reason, "no event occurred");
  assert_near(a.brier, (0.04 + 0.49) / 2, 1e-15);
  a = score(probability, (const unsigned char[]){1, 1}, 2);
  assert_true(a.average_precision == 1 && a.precision_recall_area == 1 && isnan(a.roc_area));
  assert_string_equal(a.reason, "every event occurred");
}

static void test_bad_input(void **state)
{
  (void)state;
  const double bad[] = {-0.1, 1.1, NAN};
  const unsigned char occurred[] = {2};
  idm_accuracy a;
  assert_int_equal(idm_accuracy_of_events(bad, occurred, 0, &a, &support_error), IDM_USAGE);
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(
        idm_accuracy_of_events(bad + i, (const unsigned char[]){1}, 1, &a, &support_error),
        IDM_INPUT);
  assert_int_equal(idm_accuracy_of_events((const double[]){0.5}, occurred, 1, &a, &support_error),
                   IDM_INPUT);
}

/* Unavailable actions are no events. */
static void test_decisions(void **state)
{
  (void)state;
  const double p[] = {0.5, 0.3, 0.2, 0.6, 0.4, 0};
  const unsigned char available[] = {1, 1, 1, 1, 1, 0};
  int32_t action[] = {1, 0};
  idm_forecasts f = {2, 3, p, action, available};
  idm_accuracy a;
  check(idm_accuracy_of_decisions(&f, &a, &support_error));
  const idm_accuracy pooled = score(p, (const unsigned char[]){0, 1, 0, 1, 0}, 5);
  assert_near(a.log_loss, -(log(0.3) + log(0.6)) / 2, 1e-15);
  a.log_loss = pooled.log_loss;
  assert_true(a.brier == pooled.brier && a.roc_area == pooled.roc_area);
  assert_true(a.average_precision == pooled.average_precision);
  assert_true(a.discrimination == pooled.discrimination);
  f.opt_available = NULL;
  check(idm_accuracy_of_decisions(&f, &a, &support_error));
  assert_near(a.brier, pooled.brier * 5 / 6, 1e-15);
  f.opt_available = available;
  for (size_t i = 0; i < 3; i++) {
    action[1] = (const int32_t[]){2, 3, -1}[i];
    assert_int_equal(idm_accuracy_of_decisions(&f, &a, &support_error), IDM_INPUT);
  }
  f.decisions = 0;
  assert_int_equal(idm_accuracy_of_decisions(&f, &a, &support_error), IDM_USAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),   cmocka_unit_test(test_extremes),
      cmocka_unit_test(test_pairs),     cmocka_unit_test(test_absent_classes),
      cmocka_unit_test(test_bad_input), cmocka_unit_test(test_decisions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
