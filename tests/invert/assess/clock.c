/* Clocks: which are kept, and what they show. */
#include "invert/assess/clock.h"

#include <string.h>

#include "support.h"

enum { MOST = 2000 };
static question asked[MOST];

/* Questions of agents that each have trajectories of so many rows, as a behaviour that remembers
 * over trajectories (or does not) has them; the agents come one after the other. */
static residual log_of(size_t agents, size_t trajectories, size_t rows, bool remembers)
{
  residual r = {.question = asked};
  const size_t all = agents * trajectories;
  for (size_t t = 0; t < all; t++)
    for (size_t row = 0; row < rows; row++) {
      const size_t own = t % trajectories;
      const moment when = {trajectories > 1 ? (uint8_t)(MOMENTS * own / (trajectories - 1))
                                            : MOMENTS / 2,
                           all > 1 ? (uint8_t)(MOMENTS * t / (all - 1)) : MOMENTS / 2};
      asked[r.questions++] = (question){.agent = (uint32_t)(t / trajectories),
                                        .step = (uint32_t)row,
                                        .depth = (uint32_t)(1 + row + remembers * own * (rows + 1)),
                                        .when = when,
                                        .asked = 1};
    }
  return r;
}

/* Sum of x[question] y[question], both less their means. */
static double covariance(const residual *r, const double *x, const double *y)
{
  double n = (double)r->questions, mean_x = 0, mean_y = 0, sum = 0;
  for (size_t i = 0; i < r->questions; i++) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  for (size_t i = 0; i < r->questions; i++) sum += (x[i] - mean_x) * (y[i] - mean_y);
  return sum;
}

/* The straight clocks are these, and the squares of some of them, each uncorrelated with its clock.
 */
static void expect(residual r, size_t count, const clock_kind *kind)
{
  clocks c;
  size_t straight = 0;
  check(idm_clocks_open(&c, &r, &support_error));
  for (size_t i = 0; i < c.count; i++) {
    double least = 1, most = -1;
    if (c.kind[i] < CLOCK_ROW_TURN) {
      assert_true(straight < count && i == straight);
      assert_int_equal(c.kind[i], kind[straight++]);
    } else if (c.kind[i] < CLOCK_PARITY) {
      size_t own = 0;
      while (own < count && kind[own] + CLOCK_ROW_TURN != c.kind[i]) own++;
      assert_true(own < count);
      assert_near(covariance(&r, c.time[i], c.time[own]), 0, 1e-9);
    }
    for (size_t k = 0; k < r.questions; k++) {
      least = c.time[i][k] < least ? c.time[i][k] : least;
      most = c.time[i][k] > most ? c.time[i][k] : most;
    }
    assert_near(least, -0.5, 0);
    assert_near(most, 0.5, 0);
  }
  assert_int_equal(straight, count);
  idm_clocks_close(&c);
}

static size_t count_turns(residual r, bool *ret_parity)
{
  clocks c;
  size_t turns = 0;
  *ret_parity = false;
  check(idm_clocks_open(&c, &r, &support_error));
  for (size_t i = 0; i < c.count; i++) {
    turns += c.kind[i] >= CLOCK_ROW_TURN && c.kind[i] < CLOCK_PARITY;
    *ret_parity = *ret_parity || c.kind[i] == CLOCK_PARITY;
  }
  idm_clocks_close(&c);
  return turns;
}

/* A clock of two values has no square of its own, and two rows are odd and even by themselves. */
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
  /* In three rows, the middle is the even one. */
  assert_int_equal(count_turns(log_of(1, 1, 3, false), &parity), 1);
  assert_false(parity);
}

static void test_kept(void **state)
{
  (void)state;
  static const clock_kind both[] = {CLOCK_ROW, CLOCK_AGENT}, cohort[] = {CLOCK_ROW, CLOCK_LOG};
  static const clock_kind all[] = {CLOCK_ROW, CLOCK_AGENT, CLOCK_LOG};
  static const clock_kind four[] = {CLOCK_ROW, CLOCK_AGENT, CLOCK_HISTORY};
  /* One agent: the log is its own, and a trajectory is the history or the history a long one. */
  expect(log_of(1, 20, 10, false), 2, both);
  expect(log_of(1, 20, 10, true), 2, both);
  expect(log_of(1, 3, 50, true), 3, four);
  /* Several. */
  expect(log_of(20, 1, 10, true), 2, cohort);
  expect(log_of(5, 20, 10, false), 3, all);
  /* Trajectories of one row, and one trajectory. */
  expect(log_of(1, 30, 1, true), 1, &both[1]);
  expect(log_of(1, 1, 30, true), 1, both);
  expect(log_of(1, 1, 1, true), 0, NULL);
}

/* Every clock has words of its own. */
static void test_words(void **state)
{
  (void)state;
  for (int i = 0; i < CLOCK_KINDS; i++)
    for (int k = 0; k < i; k++) {
      assert_true(strcmp(idm_clock_name((clock_kind)i), idm_clock_name((clock_kind)k)) != 0);
      assert_true(strcmp(idm_clock_span((clock_kind)i), idm_clock_span((clock_kind)k)) != 0);
    }
  assert_non_null(strstr(idm_clock_cure(CLOCK_ROW, false), "--where"));
  assert_non_null(strstr(idm_clock_cure(CLOCK_LOG, false), "--each"));
  assert_non_null(strstr(idm_clock_cure(CLOCK_AGENT, true), "--model"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_turns),
                                     cmocka_unit_test(test_words)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
