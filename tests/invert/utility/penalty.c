/* L1 penalties of linear programs: small programs with known solutions. */
#include "invert/utility/bellman.h"

#include "support.h"

/* min -x + y + penalty (|x| + 2 |y|), x <= 3, y >= -4: x is nonzero for penalties below 1, y for
 * penalties below 1/2. */
static void test_price(void **state)
{
  (void)state;
  const double penalty[] = {0.25, 0.75, 1.5}, x[] = {3, 3, 0}, y[] = {-4, 0, 0}, weight[] = {1, 2};
  for (size_t i = 0; i < 3; i++) {
    idm_program *program;
    idm_program_solution found;
    check(idm_program_create(6, &program, &support_error));
    idm_program_set_cost(program, 0, -1);
    idm_program_set_cost(program, 1, 1);
    idm_program_set_bounds(program, 0, -5, 3);
    idm_program_set_bounds(program, 1, -4, 5);
    check(idm_penalty_add(program, 2, 2, penalty[i], weight, NULL, &support_error));
    check(idm_program_solve(program, NULL, NULL, &found, &support_error));
    assert_int_equal(found.end, IDM_PROGRAM_SOLVED);
    assert_near(found.x[0], x[i], 1e-9);
    assert_near(found.x[1], y[i], 1e-9);
    assert_near(found.objective, -x[i] + y[i] + penalty[i] * (x[i] - 2 * y[i]), 1e-9);
    idm_program_destroy(program);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_price)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
