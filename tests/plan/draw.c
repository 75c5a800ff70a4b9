/* Tests draws of the environment against its dynamics: frequencies, dense and sparse transitions,
 * and the state that emits. */
#include "plan/workspace.h"

#include <math.h>
#include <string.h>

#include "support.h"

enum { STATES = 3, ACTIONS = 2, OBSERVATIONS = 2, DRAWS = 40000 };

static const double transition[ACTIONS][STATES][STATES] = {
    {{0.2, 0, 0.8}, {0.5, 0.25, 0.25}, {0, 1, 0}}, {{0, 0.7, 0.3}, {1, 0, 0}, {0.1, 0.3, 0.6}}};
static const double emission[ACTIONS][STATES][OBSERVATIONS] = {{{0.9, 0.1}, {0.3, 0.7}, {1, 0}},
                                                               {{0, 1}, {0.5, 0.5}, {0.2, 0.8}}};

static idm_setting *make(void)
{
  idm_setting *setting;
  const idm_sizes sizes = {STATES, ACTIONS, OBSERVATIONS};
  check(idm_setting_create(sizes, true, true, &setting, &support_error));
  memcpy(setting->transition, transition, sizeof transition);
  memcpy(setting->emission, emission, sizeof emission);
  return setting;
}

/* Checks a frequency within 5 standard errors: one of these 72 comparisons fails by chance less
 * than once in 20,000, and the seed is fixed. Impossible outcomes never occur. */
static void expect_share(size_t count, double p)
{
  if (p == 0) assert_int_equal(count, 0);
  assert_true(fabs((double)count / DRAWS - p) <= 5 * sqrt(p * (1 - p) / DRAWS));
}

static void answers_follow_the_dynamics(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 4, 0);
  idm_setting *setting = make();
  for (int early = 0; early < 2; early++)
    for (size_t u = 0; u < ACTIONS; u++)
      for (size_t s = 0; s < STATES; s++) {
        size_t count[STATES][OBSERVATIONS] = {{0}};
        setting->emits_before = early;
        for (int i = 0; i < DRAWS; i++) {
          size_t at = s;
          const int seen = idm_draw_transition(setting, u, &at, &random);
          count[at][seen]++;
        }
        for (size_t next = 0; next < STATES; next++)
          for (size_t x = 0; x < OBSERVATIONS; x++)
            expect_share(count[next][x], transition[u][s][next] * emission[u][early ? s : next][x]);
      }
  idm_setting_destroy(setting);
}

/* Sparse transitions give the same states for the same random numbers, as a choice among possible
 * successors skips only impossible ones. */
static void rows_are_as_good_as_matrices(void **state)
{
  (void)state;
  idm_setting *matrices = make(), *rows = make();
  check(idm_sparse_rows_create(ACTIONS * STATES, ACTIONS * STATES * STATES, &rows->moves,
                               &support_error));
  size_t entries = 0;
  for (size_t row = 0; row < ACTIONS * STATES; row++) {
    for (size_t next = 0; next < STATES; next++) {
      const double p = transition[row / STATES][row % STATES][next];
      if (p == 0) continue;
      rows->moves->next[entries] = (uint32_t)next;
      rows->moves->probability[entries++] = p;
    }
    rows->moves->first[row + 1] = entries;
  }
  matrices->fully_observed = rows->fully_observed = true;
  idm_random one, two;
  idm_random_init(&one, 5, 0);
  idm_random_init(&two, 5, 0);
  size_t a = 0, b = 0;
  memset(rows->transition, 0, sizeof transition); /* the dense matrix is not used */
  for (size_t i = 0; i < 1000; i++) {
    const int seen = idm_draw_transition(matrices, i % ACTIONS, &a, &one);
    const int seen_by_row = idm_draw_transition(rows, i % ACTIONS, &b, &two);
    assert_int_equal(seen, a);
    assert_int_equal(seen_by_row, b);
    assert_int_equal(a, b);
  }
  idm_setting_destroy(matrices);
  idm_setting_destroy(rows);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_follow_the_dynamics),
      cmocka_unit_test(rows_are_as_good_as_matrices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
