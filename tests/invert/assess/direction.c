/* Tests directions of the dynamics: their list, names, limits, shifts, and their derivative against
 * a finite difference. */
#include "invert/assess/environment.h"

#include <math.h>
#include <string.h>

#include "support.h"

static const char three[] =
    "states: [a, b, c]\n"
    "actions: [look, wait, stop]\n"
    "observations: [x, y]\n"
    "start: [0.2, 0.8, 0]\n"
    "discount: 0.9\n"
    "terminal: [stop]\n"
    "transition: {look: identity, wait: [[0.5, 0.25, 0.25], [0, 1, 0], [0.1, 0.9, 0]]}\n"
    "observation: {\"*\": [[0.7, 0.3], [0.4, 0.6], [1, 0]]}\n"
    "utility: {look: -1, wait: 0, stop: [1, 2, 3]}\n"
    "agent: {planner: bounded-rational, alpha: 1, resolution: 5}\n";

static size_t find(const directions *d, const char *name)
{
  char own[200];
  for (size_t i = 0; i < d->count; i++) {
    idm_direction_name(d, i, own, sizeof own);
    if (strcmp(own, name) == 0) return i;
  }
  fail_msg("no direction %s", name);
  return 0;
}

static void test_list(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(three);
  directions d;
  char where[200], what[200];
  check(idm_directions_open(&d, problem, true, &support_error));
  /* Two matrices, two rows of two observations, one row of three transitions, one of two, and the
   * start. */
  assert_int_equal(d.count, 2 + 2 + 3 + 1 + 1);
  assert_near(idm_direction_probability(&d, find(&d, "observation[*]")), 0.65, 1e-12);
  assert_near(idm_direction_probability(&d, find(&d, "observation[*,b,y]")), 0.6, 1e-12);
  assert_near(idm_direction_probability(&d, find(&d, "transition[wait,a,c]")), 0.25, 1e-12);
  assert_near(idm_direction_probability(&d, find(&d, "transition[wait,c,b]")), 0.9, 1e-12);
  assert_near(idm_direction_probability(&d, find(&d, "start[b]")), 0.8, 1e-12);
  idm_direction_describe(&d, find(&d, "observation[*,b,y]"), where, sizeof where, what,
                         sizeof what);
  assert_string_equal(where, "observations after `look` and 1 more action in state `b`");
  assert_string_equal(what, "`y`");
  idm_direction_describe(&d, find(&d, "transition[wait,c,b]"), where, sizeof where, what,
                         sizeof what);
  assert_string_equal(where, "transitions after `wait` from state `c`");
  idm_direction_describe(&d, find(&d, "transition[wait]"), where, sizeof where, what, sizeof what);
  assert_string_equal(what, "the likeliest next state of each state");
  idm_direction_describe(&d, find(&d, "start[b]"), where, sizeof where, what, sizeof what);
  assert_string_equal(where, "the start");
  idm_directions_close(&d);
  check(idm_directions_open(&d, problem, false, &support_error));
  assert_int_equal(d.count, 2);
  idm_directions_close(&d);
  idm_problem_destroy(problem);
}

/* Shifted rows remain distributions, zeros remain zero, tied rows shift together, and the
 * derivative equals a finite difference. */
static void test_moves(void **state)
{
  (void)state;
  idm_problem *problem = support_yaml(three);
  directions d;
  idm_dynamics *to;
  check(idm_directions_open(&d, problem, true, &support_error));
  check(idm_dynamics_create(d.own->sizes, &to, &support_error));
  for (size_t i = 0; i < d.count; i++) {
    double low, high;
    idm_direction_limits(&d, i, &low, &high);
    assert_true(low < 0 && high > 0);
    idm_direction_shift(&d, i, 0.5 * high, to);
    const double *row = to->start;
    size_t moved = 0;
    for (size_t r = 0; r < 1 + 2 * 9; r++) {
      const size_t width = r < 10 ? 3 : 2;
      double sum = 0;
      for (size_t j = 0; j < width; j++) {
        const double before = d.own->start[row - to->start + (ptrdiff_t)j];
        sum += row[j];
        assert_int_equal(row[j] > 0, before > 0);
        moved += fabs(row[j] - before) > 1e-12;
      }
      assert_near(sum, 1, 1e-12);
      row += width;
    }
    assert_true(moved >= 2);
  }
  /* Actions 0 (look) and 1 (wait) share their observations; action 2 (stop) is terminal. */
  const size_t tied = find(&d, "observation[*,a,x]");
  idm_direction_shift(&d, tied, 0.1, to);
  assert_near(to->emission[0], 0.8, 1e-12);
  assert_near(to->emission[6], 0.8, 1e-12);
  assert_near(to->emission[12], 0.7, 1e-12);
  const size_t wide = find(&d, "transition[wait,a,a]");
  idm_direction_shift(&d, wide, 1e-6, to);
  for (size_t j = 0; j < 3; j++)
    assert_near((to->transition[9 + j] - d.own->transition[9 + j]) / 1e-6,
                idm_direction_derivative(d.own->transition + 9, 0, j), 1e-6);
  idm_dynamics_destroy(to);
  idm_directions_close(&d);
  idm_problem_destroy(problem);
}

/* Each of three models shifts by the same amount; a row that gives probability 1 to an outcome does
 * not shift. */
static void test_models(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, 1, 0);
  directions d;
  check(idm_directions_open(&d, problem, true, &support_error));
  double *emission = problem->theta->block[IDM_EMISSION].value;
  const size_t i = find(&d, "observation[*,healthy,negative]");
  idm_direction_shift_models(&d, i, 0.05, problem->theta);
  assert_near(emission[0], 0.65, 1e-12);
  assert_near(emission[1], 0.35, 1e-12);
  assert_near(emission[2], 0.4, 1e-12);
  assert_near(emission[12], 0.75, 1e-12);
  assert_near(emission[24 + 8], 0.85, 1e-12);
  emission[0] = 1;
  emission[1] = 0;
  idm_direction_shift_models(&d, i, 0.05, problem->theta);
  assert_true(emission[0] == 1 && emission[1] == 0);
  idm_directions_close(&d);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_list),
      cmocka_unit_test(test_moves),
      cmocka_unit_test(test_models),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
