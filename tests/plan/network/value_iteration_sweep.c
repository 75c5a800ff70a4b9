/* Tests a sweep of value iteration against a sum over all possible successors. */
#include "plan/network/network.h"

#include "support.h"

enum { STATES = 3, ACTIONS = 2, VARIANTS = 2, SWEEPS = 2 };

/* Full rows, so that sparse and dense transitions share one array. */
static const double transition[ACTIONS][STATES][STATES] = {
    {{0.2, 0.3, 0.5}, {0.6, 0.1, 0.3}, {0.25, 0.25, 0.5}},
    {{0.9, 0.05, 0.05}, {0.4, 0.2, 0.4}, {0.1, 0.7, 0.2}}};

static double expected_future(const value_iteration *v, size_t variant, size_t sweep, size_t s,
                              size_t u)
{
  double sum = 0;
  for (size_t next = 0; next < STATES; next++)
    sum += transition[u][s][next] * v->value[(variant * (SWEEPS + 1) + sweep) * STATES + next];
  return v->setting->terminal[u] ? 0 : sum;
}

static void qualities_are_those_of_a_plain_sum(void **state)
{
  (void)state;
  bool terminal[ACTIONS] = {false, false};
  const idm_setting setting = {.terminal = terminal};
  idm_sparse_rows *moves;
  double utility[VARIANTS * ACTIONS * STATES], value[VARIANTS * (SWEEPS + 1) * STATES];
  double weight[SWEEPS * SWEEP_WEIGHTS] = {0.8, 1.3, 0.6, 1.2, 0.7, 1.9};
  check(
      idm_sparse_rows_create(ACTIONS * STATES, ACTIONS * STATES * STATES, &moves, &support_error));
  for (size_t i = 0; i < ACTIONS * STATES * STATES; i++) {
    moves->next[i] = (uint32_t)(i % STATES);
    moves->probability[i] = transition[i / STATES / STATES][i / STATES % STATES][i % STATES];
  }
  for (size_t row = 0; row <= ACTIONS * STATES; row++) moves->first[row] = row * STATES;
  for (size_t i = 0; i < VARIANTS * ACTIONS * STATES; i++) utility[i] = (double)(i * i % 7) - 3;
  for (size_t i = 0; i < VARIANTS * (SWEEPS + 1) * STATES; i++) value[i] = (double)(i * i % 11) - 5;
  const value_iteration v = {.setting = &setting,
                             .sizes = {STATES, ACTIONS, STATES},
                             .variants = VARIANTS,
                             .sweeps = SWEEPS,
                             .discount = 0.9,
                             .weight = weight,
                             .utility = utility,
                             .moves = moves,
                             .value = value};
  for (size_t i = 0; i < 2 * VARIANTS * SWEEPS * STATES; i++) {
    const size_t s = i % STATES, sweep = i / STATES % SWEEPS, variant = i / STATES / SWEEPS % 2;
    double quality[ACTIONS], again[ACTIONS], future[ACTIONS];
    terminal[1] = i / STATES / SWEEPS / VARIANTS; /* no successors */
    idm_sweep_quality(&v, variant, sweep, s, quality, future);
    idm_sweep_quality(&v, variant, sweep, s, again, NULL);
    for (size_t u = 0; u < ACTIONS; u++) {
      const double ahead = expected_future(&v, variant, sweep, s, u);
      assert_near(future[u], ahead, 1e-14);
      assert_near(quality[u],
                  weight[3 * sweep] * utility[(variant * ACTIONS + u) * STATES + s] +
                      weight[3 * sweep + 1] * 0.9 * ahead,
                  1e-14);
      assert_true(quality[u] == again[u]);
    }
  }
  idm_sparse_rows_destroy(moves);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(qualities_are_those_of_a_plain_sum)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
