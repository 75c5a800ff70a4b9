/* Tests sparse transitions of observed states against a dense table. */
#include <math.h>

#include "support.h"

/* Two states, one action: 0 -> 1 with probability 1, 1 -> both. */
static idm_sparse_rows *two(void)
{
  idm_sparse_rows *moves;
  check(idm_sparse_rows_create(2, 3, &moves, &support_error));
  moves->first[1] = 1;
  moves->first[2] = 3;
  moves->next[0] = 1;
  moves->next[2] = 1;
  moves->probability[0] = 1;
  moves->probability[1] = 0.25;
  moves->probability[2] = 0.75;
  return moves;
}

static const idm_sizes sizes = {2, 1, 2};

static void test_find(void **state)
{
  (void)state;
  idm_sparse_rows *moves = two();
  check(idm_sparse_rows_validate(moves, sizes, &support_error));
  assert_true(idm_sparse_rows_probability(moves, 0, 0) == 0);
  assert_true(idm_sparse_rows_probability(moves, 0, 1) == 1);
  assert_true(idm_sparse_rows_probability(moves, 1, 0) == 0.25);
  assert_true(idm_sparse_rows_probability(moves, 1, 1) == 0.75);
  assert_true(idm_sparse_rows_probability(moves, 2, 0) == 0);
  assert_true(idm_sparse_rows_probability(NULL, 0, 0) == 0);
  idm_sparse_rows_destroy(moves);
}

/* Every row of random sparse transitions equals the row of the dense table. */
static void test_against_table(void **state)
{
  (void)state;
  enum { states = 23, rows = 2 * states };
  idm_random random;
  idm_random_init(&random, 4, 0);
  static double table[rows][states];
  size_t entries = 0;
  for (size_t i = 0; i < rows; i++)
    for (size_t s = 0; s < states; s++) {
      table[i][s] = idm_random_uniform(&random) < 0.3 ? idm_random_uniform(&random) : 0;
      entries += table[i][s] > 0;
    }
  idm_sparse_rows *moves;
  check(idm_sparse_rows_create(rows, entries, &moves, &support_error));
  size_t at = 0;
  for (size_t i = 0; i < rows; i++) {
    for (size_t s = 0; s < states; s++)
      if (table[i][s] > 0) {
        moves->next[at] = (uint32_t)s;
        moves->probability[at++] = table[i][s];
      }
    moves->first[i + 1] = at;
  }
  for (size_t i = 0; i < rows; i++)
    for (size_t s = 0; s < states; s++)
      assert_true(idm_sparse_rows_probability(moves, i, s) == table[i][s]);
  idm_sparse_rows_destroy(moves);
}

static void test_same(void **state)
{
  (void)state;
  idm_sparse_rows *a = two();
  idm_sparse_rows *b;
  check(idm_sparse_rows_copy(a, &b, &support_error));
  assert_true(idm_sparse_rows_same(a, b));
  assert_true(idm_sparse_rows_same(NULL, NULL));
  assert_false(idm_sparse_rows_same(a, NULL));
  b->probability[1] = 0.5;
  assert_false(idm_sparse_rows_same(a, b));
  b->probability[1] = 0.25;
  b->next[0] = 0;
  assert_false(idm_sparse_rows_same(a, b));
  b->next[0] = 1;
  b->first[1] = 2;
  assert_false(idm_sparse_rows_same(a, b));
  idm_sparse_rows_destroy(a);
  idm_sparse_rows_destroy(b);
}

/* Checks that transitions are rejected after one change. */
#define REFUSED(change)                                                                            \
  do {                                                                                             \
    idm_sparse_rows *moves = two();                                                                \
    change;                                                                                        \
    assert_int_equal(idm_sparse_rows_validate(moves, sizes, &support_error), IDM_INPUT);           \
    idm_sparse_rows_destroy(moves);                                                                \
  } while (0)

static void test_unsound(void **state)
{
  (void)state;
  REFUSED(moves->probability[0] = NAN);
  REFUSED(moves->probability[0] = INFINITY);
  REFUSED(moves->probability[0] = 0.9);
  REFUSED(moves->probability[1] = -0.25);
  REFUSED(moves->next[0] = 2);
  REFUSED(moves->next[2] = 0);
  REFUSED(moves->first[1] = 0);
  REFUSED(moves->first[0] = 1);
  idm_sparse_rows *moves = two();
  assert_int_equal(idm_sparse_rows_validate(moves, (idm_sizes){2, 2, 2}, &support_error),
                   IDM_INPUT);
  idm_sparse_rows_destroy(moves);
}

/* A setting has either dense or sparse transitions. */
static void test_setting(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_create_sparse(sizes, &problem, &support_error));
  assert_false(idm_setting_has_dynamics(problem->setting));
  problem->setting->moves = two();
  assert_true(idm_setting_has_dynamics(problem->setting));
  assert_int_equal(idm_setting_validate(problem->setting, &support_error), IDM_INPUT);
  problem->setting->fully_observed = true;
  check(idm_setting_validate(problem->setting, &support_error));
  assert_int_equal(problem->theta->block[IDM_TRANSITION].size, 0);
  check(idm_theta_validate(problem->theta, problem->setting, &support_error));
  idm_sparse_rows_destroy(problem->setting->moves);
  problem->setting->moves = NULL;
  assert_int_equal(idm_theta_validate(problem->theta, problem->setting, &support_error), IDM_USAGE);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_find), cmocka_unit_test(test_against_table),
      cmocka_unit_test(test_same), cmocka_unit_test(test_unsound), cmocka_unit_test(test_setting)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
