/* Linear programs: known optima and multipliers, infeasible and unbounded programs, warm starts,
 * and interrupts. */
#include "infer/program.h"

#include <math.h>

#include "support.h"

static void enter(idm_program *p, size_t column, double value)
{
  check(idm_program_add_entry(p, column, value, &support_error));
}

static void add(idm_program *p, double lower, double upper)
{
  check(idm_program_add_row(p, lower, upper, &support_error));
}

static idm_program_solution solve(idm_program *p)
{
  idm_program_solution s;
  check(idm_program_solve(p, NULL, NULL, &s, &support_error));
  return s;
}

/* max 3x + 5y subject to x <= 4, 2y <= 12, 3x + 2y <= 18 (Hillier and Lieberman's example): 36 at
 * (2, 6), multipliers 0, 3/2, 1. */
static idm_program *textbook(void)
{
  idm_program *p;
  check(idm_program_create(2, &p, &support_error));
  idm_program_set_cost(p, 0, -3);
  idm_program_set_cost(p, 1, -5);
  idm_program_set_bounds(p, 0, 0, INFINITY);
  idm_program_set_bounds(p, 1, 0, INFINITY);
  enter(p, 0, 1);
  add(p, -INFINITY, 4);
  enter(p, 1, 1);
  enter(p, 1, 1); /* entries are summed */
  add(p, -INFINITY, 12);
  enter(p, 0, 3);
  enter(p, 1, 2);
  add(p, -INFINITY, 18);
  return p;
}

static void test_textbook(void **state)
{
  (void)state;
  idm_program *p = textbook();
  const idm_program_solution s = solve(p);
  assert_int_equal(s.end, IDM_PROGRAM_SOLVED);
  assert_near(s.objective, -36, 1e-12);
  assert_near(s.x[0], 2, 1e-12);
  assert_near(s.x[1], 6, 1e-12);
  assert_near(s.dual[0], 0, 1e-12);
  assert_near(s.dual[1], -1.5, 1e-12);
  assert_near(s.dual[2], -1, 1e-12);
  assert_true(s.gap < 1e-12 && s.violation < 1e-12);
  assert_int_equal(idm_program_columns(p), 2);
  assert_int_equal(idm_program_rows(p), 3);
  idm_program_destroy(p);
}

static void test_going_on(void **state)
{
  (void)state;
  idm_program *p = textbook();
  solve(p);
  idm_program_set_cost(p, 1, 0); /* max 3x: 12 */
  assert_near(solve(p).objective, -12, 1e-12);
  enter(p, 0, 1);
  enter(p, 1, 1);
  add(p, 9, INFINITY); /* x + y >= 9, y <= 6 and x >= 3 contradict 3x + 2y <= 18 */
  assert_int_equal(solve(p).end, IDM_PROGRAM_INFEASIBLE);
  idm_program_set_row(p, 3, 7, INFINITY); /* x >= 1, and 3x + 2y <= 18: x = 4, y = 3 */
  const idm_program_solution s = solve(p);
  assert_int_equal(s.end, IDM_PROGRAM_SOLVED);
  assert_near(s.objective, -12, 1e-12);
  assert_near(s.x[0], 4, 1e-12);
  assert_near(s.x[1], 3, 1e-12);
  idm_program_destroy(p);
}

static void test_unbounded(void **state)
{
  (void)state;
  idm_program *p;
  check(idm_program_create(2, &p, &support_error));
  idm_program_set_cost(p, 0, -1);
  enter(p, 0, 1);
  enter(p, 1, -1);
  add(p, 0, 0);
  const idm_program_solution s = solve(p);
  assert_int_equal(s.end, IDM_PROGRAM_UNBOUNDED);
  assert_true(isnan(s.objective));
  idm_program_destroy(p);
}

/* Random programs with a known optimum: x and multipliers are drawn, and rows are active where
 * multipliers are positive. */
static void test_random(void **state)
{
  (void)state;
  enum { columns = 12, rows = 20 };
  for (uint64_t seed = 1; seed <= 50; seed++) {
    idm_random random;
    idm_random_init(&random, seed, 0);
    idm_program *p;
    check(idm_program_create(columns, &p, &support_error));
    double x[columns], cost[columns] = {0}, optimum = 0;
    for (size_t j = 0; j < columns; j++) x[j] = idm_random_normal(&random);
    for (size_t i = 0; i < rows; i++) {
      const bool tight = i % 2 == 0;
      const double price = tight ? idm_random_uniform(&random) : 0;
      double activity = 0;
      for (size_t j = 0; j < columns; j++) {
        const double value = idm_random_normal(&random);
        enter(p, j, value);
        activity += value * x[j];
        cost[j] += price * value;
      }
      add(p, tight ? activity : activity - idm_random_uniform(&random), INFINITY);
    }
    for (size_t j = 0; j < columns; j++) {
      idm_program_set_cost(p, j, cost[j]);
      optimum += cost[j] * x[j];
    }
    const idm_program_solution s = solve(p);
    assert_int_equal(s.end, IDM_PROGRAM_SOLVED);
    assert_near(s.objective, optimum, 1e-9 * (1 + fabs(optimum)));
    assert_true(s.gap < 1e-9 && s.violation < 1e-9);
    idm_program_destroy(p);
  }
}

static bool stop(void *context)
{
  ++*(int *)context;
  return true;
}

static void test_interrupt(void **state)
{
  (void)state;
  idm_program *p = textbook();
  idm_program_solution s;
  int calls = 0;
  check(idm_program_solve(p, stop, &calls, &s, &support_error));
  assert_int_equal(s.end, IDM_PROGRAM_STOPPED);
  assert_int_equal(calls, 1);
  assert_near(solve(p).objective, -36, 1e-12);
  idm_program_destroy(p);
}

/* Stops at a given call of the callback. */
typedef struct patience {
  int calls;
  int until;
} patience;

static bool stop_at_last(void *context)
{
  patience *p = context;
  return ++p->calls >= p->until;
}

/* A box with random rows, large enough for several calls of the callback. */
static idm_program *long_program(void)
{
  enum { ROWS = 450, COLUMNS = 450 };
  idm_program *p;
  idm_random random;
  idm_random_init(&random, 3, 0);
  check(idm_program_create(COLUMNS, &p, &support_error));
  for (size_t j = 0; j < COLUMNS; j++) {
    idm_program_set_bounds(p, j, -1, 1);
    idm_program_set_cost(p, j, idm_random_normal(&random));
  }
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < COLUMNS; j++) enter(p, j, idm_random_normal(&random));
    add(p, -1, 1);
  }
  return p;
}

/* The callback is called repeatedly during one long program, and stops it. */
static void test_asks_again(void **state)
{
  (void)state;
  idm_program *p = long_program();
  idm_program_solution s;
  patience patient = {.until = 1000000}, hasty = {.until = 2};
  check(idm_program_solve(p, stop_at_last, &patient, &s, &support_error));
  assert_int_equal(s.end, IDM_PROGRAM_SOLVED);
  assert_true(s.gap < 1e-9 && s.violation < 1e-9);
  assert_true(patient.calls >= 3);
  idm_program_destroy(p);
  p = long_program();
  check(idm_program_solve(p, stop_at_last, &hasty, &s, &support_error));
  assert_int_equal(s.end, IDM_PROGRAM_STOPPED);
  assert_int_equal(hasty.calls, 2);
  idm_program_destroy(p);
}

/* Every method gives the same optimum. */
static void test_methods(void **state)
{
  (void)state;
  for (int method = IDM_PROGRAM_AUTOMATIC; method <= IDM_PROGRAM_BARRIER; method++) {
    idm_program *p = textbook();
    idm_program_set_method(p, (idm_program_method)method);
    const idm_program_solution s = solve(p);
    assert_int_equal(s.end, IDM_PROGRAM_SOLVED);
    assert_near(s.objective, -36, 1e-10);
    assert_true(s.gap < 1e-9 && s.violation < 1e-9);
    idm_program_destroy(p);
  }
}

/* min x + y subject to x + y >= 1 on [0, 1]^2: the optimal face is kept under other costs. */
static void test_keep_optimal(void **state)
{
  (void)state;
  idm_program *p;
  check(idm_program_create(2, &p, &support_error));
  for (size_t j = 0; j < 2; j++) {
    idm_program_set_bounds(p, j, 0, 1);
    idm_program_set_cost(p, j, 1);
    enter(p, j, 1);
  }
  add(p, 1, INFINITY);
  solve(p);
  idm_program_fix_optimal(p);
  assert_near(idm_program_get_view(p).upper[0], 1, 0);
  for (int sign = -1; sign <= 1; sign += 2) {
    idm_program_set_cost(p, 0, sign);
    idm_program_set_cost(p, 1, 0);
    const idm_program_solution s = solve(p);
    assert_near(s.x[0], sign > 0 ? 0 : 1, 1e-12);
    assert_near(s.x[0] + s.x[1], 1, 1e-12);
  }
  idm_program_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_textbook),     cmocka_unit_test(test_methods),
      cmocka_unit_test(test_keep_optimal), cmocka_unit_test(test_going_on),
      cmocka_unit_test(test_unbounded),    cmocka_unit_test(test_random),
      cmocka_unit_test(test_interrupt),    cmocka_unit_test(test_asks_again)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
