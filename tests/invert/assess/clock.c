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

static void expect(residual r, size_t count, const clock_kind *kind)
{
  clocks c;
  check(idm_clocks_open(&c, &r, &support_error));
  assert_int_equal(c.count, count);
  for (size_t i = 0; i < count; i++) {
    double least = 1, most = -1;
    assert_int_equal(c.kind[i], kind[i]);
    for (size_t k = 0; k < r.questions; k++) {
      least = c.time[i][k] < least ? c.time[i][k] : least;
      most = c.time[i][k] > most ? c.time[i][k] : most;
    }
    assert_near(least, -0.5, 0);
    assert_near(most, 0.5, 0);
  }
  idm_clocks_close(&c);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_words)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
