/* Sparse rows against dense ones under the same random operations. */
#include "io/pomdp/pomdp.h"

#include <math.h>
#include <string.h>

#include "io/pomdp/pomdp_support.h"

enum { ROWS = 3, WIDTH = 9, OPERATIONS = 4000 };

/* NaN entries are the same as each other. */
static void assert_same_row(const double *a, const double *b)
{
  for (size_t i = 0; i < WIDTH; i++) assert_true(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])));
}

static void operate(idm_pomdp_rows *rows, double dense[ROWS][WIDTH], uint64_t *seed)
{
  const size_t row = draw(seed, ROWS);
  const unsigned which = draw(seed, 20);
  if (which == 0) {
    idm_pomdp_rows_reset(rows, row);
    for (size_t i = 0; i < WIDTH; i++) dense[row][i] = NAN;
  } else if (which == 1) {
    for (size_t i = 0; i < WIDTH; i++) dense[row][i] = draw(seed, 3) / 4.0;
    check(idm_pomdp_rows_set(rows, row, dense[row], &support_error));
  } else {
    const size_t first = draw(seed, WIDTH);
    const size_t end = which < 5 ? first + 1 + draw(seed, (unsigned)(WIDTH - first)) : first + 1;
    const double value = draw(seed, 3) / 2.0;
    for (size_t i = first; i < end; i++) dense[row][i] = value;
    check(idm_pomdp_rows_put(rows, row, first, end, value, &support_error));
  }
}

static void rows_are_what_a_matrix_would_be(void **state)
{
  (void)state;
  uint64_t seed = 1;
  double dense[ROWS][WIDTH] = {{0}}, read[WIDTH];
  idm_pomdp_rows rows;
  check(idm_pomdp_rows_create(ROWS, WIDTH, &rows, &support_error));
  for (int n = 0; n < OPERATIONS; n++) {
    operate(&rows, dense, &seed);
    for (size_t i = 0; i < ROWS; i++) {
      idm_pomdp_rows_get(&rows, i, read);
      assert_same_row(read, dense[i]);
      for (size_t j = 0; j < rows.row[i].count; j++) assert_true(rows.row[i].value[j] != 0);
    }
  }
  idm_pomdp_rows_destroy(&rows);
}

static void moves_are_the_positive_entries(void **state)
{
  (void)state;
  idm_pomdp_rows rows;
  idm_sparse_rows *moves;
  check(idm_pomdp_rows_create(2, 4, &rows, &support_error));
  check(idm_pomdp_rows_put(&rows, 0, 3, 4, 0.25, &support_error));
  check(idm_pomdp_rows_put(&rows, 0, 1, 2, 0.75, &support_error));
  check(idm_pomdp_rows_put(&rows, 1, 2, 3, 1, &support_error));
  check(idm_pomdp_rows_moves(&rows, &moves, &support_error));
  assert_int_equal(moves->rows, 2);
  assert_int_equal(moves->first[2], 3);
  assert_near(idm_sparse_rows_probability(moves, 0, 1), 0.75, 0);
  assert_near(idm_sparse_rows_probability(moves, 0, 3), 0.25, 0);
  assert_near(idm_sparse_rows_probability(moves, 1, 2), 1, 0);
  const idm_sizes wider = {.states = 4, .actions = 1, .observations = 1};
  assert_int_equal(idm_sparse_rows_validate(moves, wider, NULL), IDM_INPUT); /* two rows of four */
  idm_sparse_rows_destroy(moves);
  idm_pomdp_rows_destroy(&rows);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_what_a_matrix_would_be),
      cmocka_unit_test(moves_are_the_positive_entries),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
