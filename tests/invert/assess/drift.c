/* Tests the time covariates of drifts: their kinds, their ranges, and their orthogonal squares, on
 * logs of known layout. */
#include "invert/assess/extension.h"

#include <string.h>

#include "support.h"

enum { MOST = 2000 };
static decision_point points[MOST];

/* Decision points of agents with equally many trajectories of `rows` rows, ordered by agent. With
 * `remembers`, the depth counts the rows of earlier trajectories of the agent. */
static decision_residuals log_of(size_t agents, size_t trajectories, size_t rows, bool remembers)
{
  decision_residuals r = {.decision_point = points};
  const size_t all = agents * trajectories;
  for (size_t t = 0; t < all; t++)
    for (size_t row = 0; row < rows; row++) {
      const size_t own = t % trajectories;
      const period period_of = {trajectories > 1 ? (uint8_t)(PERIODS * own / (trajectories - 1))
                                                 : PERIODS / 2,
                                all > 1 ? (uint8_t)(PERIODS * t / (all - 1)) : PERIODS / 2};
      points[r.decision_points++] =
          (decision_point){.agent = (uint32_t)(t / trajectories),
                           .step = (uint32_t)row,
                           .depth = (uint32_t)(1 + row + remembers * own * (rows + 1)),
                           .period_of = period_of,
                           .decisions = 1};
    }
  return r;
}

/* Sum of (x - mean x) (y - mean y) over decision points. */
static double covariance(const decision_residuals *r, const double *x, const double *y)
{
  double n = (double)r->decision_points, mean_x = 0, mean_y = 0, sum = 0;
  for (size_t i = 0; i < r->decision_points; i++) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  for (size_t i = 0; i < r->decision_points; i++) sum += (x[i] - mean_x) * (y[i] - mean_y);
  return sum;
}

/* Checks that the linear covariates are `kind`[count], that every squared covariate is uncorrelated
 * with its linear one, and that all range over [-.5, .5]. */
static void expect(decision_residuals r, size_t count, const drift_kind *kind)
{
  drift_times c;
  size_t straight = 0;
  check(idm_drift_times_open(&c, &r, &support_error));
  for (size_t i = 0; i < c.count; i++) {
    double least = 1, most = -1;
    if (c.kind[i] < DRIFT_ROW_SQUARED) {
      assert_true(straight < count && i == straight);
      assert_int_equal(c.kind[i], kind[straight++]);
    } else if (c.kind[i] < DRIFT_PARITY) {
      size_t own = 0;
      while (own < count && kind[own] + DRIFT_ROW_SQUARED != c.kind[i]) own++;
      assert_true(own < count);
      assert_near(covariance(&r, c.time[i], c.time[own]), 0, 1e-9);
    }
    for (size_t k = 0; k < r.decision_points; k++) {
      least = c.time[i][k] < least ? c.time[i][k] : least;
      most = c.time[i][k] > most ? c.time[i][k] : most;
    }
    assert_near(least, -0.5, 0);
    assert_near(most, 0.5, 0);
  }
  assert_int_equal(straight, count);
  idm_drift_times_close(&c);
}

static size_t count_turns(decision_residuals r, bool *ret_parity)
{
  drift_times c;
  size_t turns = 0;
  *ret_parity = false;
  check(idm_drift_times_open(&c, &r, &support_error));
  for (size_t i = 0; i < c.count; i++) {
    turns += c.kind[i] >= DRIFT_ROW_SQUARED && c.kind[i] < DRIFT_PARITY;
    *ret_parity = *ret_parity || c.kind[i] == DRIFT_PARITY;
  }
  idm_drift_times_close(&c);
  return turns;
}

/* A covariate of two values has no square, and with two rows the parity equals the row. */
static void test_turns(void **state)
{
  (void)state;
  bool parity;
  assert_int_equal(count_turns(log_of(1, 20, 10, false), &parity), 2);
  assert_true(parity);
  assert_int_equal(count_turns(log_of(1, 20, 2, false), &parity), 1);
  assert_false(parity);
  assert_int_equal(count_turns(log_of(1, 2, 2, false), &parity), 0);
  assert_false(parity);
  /* In three rows, the parity is the square of the row. */
  assert_int_equal(count_turns(log_of(1, 1, 3, false), &parity), 1);
  assert_false(parity);
}

static void test_kept(void **state)
{
  (void)state;
  static const drift_kind both[] = {DRIFT_ROW, DRIFT_AGENT}, cohort[] = {DRIFT_ROW, DRIFT_LOG};
  static const drift_kind all[] = {DRIFT_ROW, DRIFT_AGENT, DRIFT_LOG};
  static const drift_kind four[] = {DRIFT_ROW, DRIFT_AGENT, DRIFT_HISTORY};
  /* One agent: the trajectory number in the log is that of the agent. The history coincides with
   * the row, without memory, or with the trajectory number, where trajectories are many and short;
   * with three long trajectories it is separate. */
  expect(log_of(1, 20, 10, false), 2, both);
  expect(log_of(1, 20, 10, true), 2, both);
  expect(log_of(1, 3, 50, true), 3, four);
  /* Several agents. */
  expect(log_of(20, 1, 10, true), 2, cohort);
  expect(log_of(5, 20, 10, false), 3, all);
  /* Trajectories of one row, and logs of one trajectory. */
  expect(log_of(1, 30, 1, true), 1, &both[1]);
  expect(log_of(1, 1, 30, true), 1, both);
  expect(log_of(1, 1, 1, true), 0, NULL);
}

/* Every kind of drift has its own name and span. */
static void test_words(void **state)
{
  (void)state;
  for (int i = 0; i < DRIFT_KINDS; i++)
    for (int k = 0; k < i; k++) {
      assert_true(strcmp(idm_drift_name((drift_kind)i), idm_drift_name((drift_kind)k)) != 0);
      assert_true(strcmp(idm_drift_span((drift_kind)i), idm_drift_span((drift_kind)k)) != 0);
    }
  assert_non_null(strstr(idm_drift_cure(DRIFT_ROW, false), "--where"));
  assert_non_null(strstr(idm_drift_cure(DRIFT_LOG, false), "--each"));
  assert_non_null(strstr(idm_drift_cure(DRIFT_AGENT, true), "--model"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_turns),
                                     cmocka_unit_test(test_words)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
