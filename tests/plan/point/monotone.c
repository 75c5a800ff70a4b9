/* Tests systems whose fixed point is a maximum of linear rows against direct iteration. */
#include "plan/point/bounds.h"

#include <math.h>
#include <stdlib.h>

#include "idm/extension/random.h"
#include "support.h"

enum { NUMBERS = 12, ROWS = 3 };

/* Numbers with up to ROWS rows each, and lower bounds for some. */
static void draw(idm_random *random, double discount, monotone *m)
{
  check(idm_monotone_create(NUMBERS, discount, m, &support_error));
  for (size_t i = 0; i < NUMBERS; i++) {
    const size_t rows = i % (ROWS + 1);
    for (size_t r = 0; r < rows; r++) {
      double left = discount;
      for (size_t k = 0; k < 4; k++) {
        const double share = left * idm_random_uniform(random);
        const size_t column = (size_t)(NUMBERS * idm_random_uniform(random));
        check(idm_monotone_add(m, column, share, &support_error));
        left -= share;
      }
      check(idm_monotone_end_row(m, idm_random_normal(random), &support_error));
    }
    idm_monotone_end(m, rows == 2 ? -INFINITY : idm_random_normal(random));
  }
}

/* One iteration of the system. */
static void sweep(const monotone *m, const double *x, double *y)
{
  for (size_t i = 0; i < NUMBERS; i++) {
    y[i] = m->floor[i];
    for (size_t r = m->first[i]; r < m->first[i + 1]; r++) {
      double sum = m->row[r].constant;
      for (size_t e = m->row[r].entry; e < m->row[r + 1].entry; e++)
        sum += m->value[e] * x[m->column[e]];
      y[i] = fmax(y[i], sum);
    }
  }
}

static void iterate(const monotone *m, double *x)
{
  double y[NUMBERS];
  for (long n = 0; n < 40000; n++) {
    sweep(m, x, y);
    for (size_t i = 0; i < NUMBERS; i++) x[i] = y[i];
  }
}

/* From far above, the solution approaches the fixed point and is never below it. */
static void comes_down_to_the_fixed_point(void **state)
{
  (void)state;
  static const double discount[] = {0, 0.5, 0.95, 0.999};
  idm_random random;
  idm_random_init(&random, 3, 0);
  for (size_t k = 0; k < 40; k++) {
    monotone m;
    draw(&random, discount[k % 4], &m);
    double plain[NUMBERS], x[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++) plain[i] = x[i] = 1e4;
    iterate(&m, plain);
    for (int n = 0; n < 6; n++) check(idm_monotone_lower(&m, x, &support_error));
    for (size_t i = 0; i < NUMBERS; i++) {
      assert_true(x[i] >= plain[i] - 1e-9);
      assert_near(x[i], plain[i], 1e-5);
    }
    idm_monotone_free(&m);
  }
}

/* The fixed point is not changed, and no number ever increases. */
static void never_goes_up(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 4, 0);
  monotone m;
  draw(&random, 0.9, &m);
  double x[NUMBERS] = {0}, y[NUMBERS];
  iterate(&m, x);
  for (size_t i = 0; i < NUMBERS; i++) y[i] = x[i];
  check(idm_monotone_lower(&m, y, &support_error));
  for (size_t i = 0; i < NUMBERS; i++) {
    assert_true(y[i] <= x[i]);
    assert_near(y[i], x[i], 1e-12);
  }
  idm_monotone_free(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comes_down_to_the_fixed_point),
      cmocka_unit_test(never_goes_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
