/* Projection on a polyhedron: by hand, and against enumeration of all active sets. */
#include "infer/program.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "support.h"

enum { COLUMNS = 3, ROWS = 4 };

static const double ones[COLUMNS] = {1, 1, 1};

static idm_program_projection nearest(const idm_program *p, const double *weight,
                                      const double *target, double *x)
{
  idm_program_projection near = {.weight = weight, .target = target, .effort = 1e8};
  check(idm_program_project(p, &near, x, NULL, NULL, &support_error));
  return near;
}

/* x + y = 2, y <= 0.5, target (0, 3): the projection is (1.5, 0.5). */
static void test_by_hand(void **state)
{
  (void)state;
  const double target[] = {0, 3};
  double x[] = {0, 0};
  idm_program *p;
  check(idm_program_create(2, &p, &support_error));
  check(idm_program_add_entry(p, 0, 1, &support_error));
  check(idm_program_add_entry(p, 1, 1, &support_error));
  check(idm_program_add_row(p, 2, 2, &support_error));
  idm_program_set_bounds(p, 1, -INFINITY, 0.5);
  const idm_program_projection near = nearest(p, ones, target, x);
  assert_near(x[0], 1.5, 1e-10);
  assert_near(x[1], 0.5, 1e-10);
  assert_near(near.distance, hypot(1.5, 2.5), 1e-10);
  assert_true(near.residual < 1e-10);
  idm_program_destroy(p);
}

/* Two contradictory rows: the residual is positive. */
static void test_nothing_there(void **state)
{
  (void)state;
  double x[] = {0};
  idm_program *p;
  check(idm_program_create(1, &p, &support_error));
  for (int sign = -1; sign <= 1; sign += 2) {
    check(idm_program_add_entry(p, 0, sign, &support_error));
    check(idm_program_add_row(p, 1, INFINITY, &support_error));
  }
  assert_true(nearest(p, ones, x, x).residual > 0.1);
  idm_program_destroy(p);
}

/* Smallest distance over all sets of active rows that violate no other row. Rows a x <= 1 contain
 * 0. */
static double by_all_sets(const double *rows, const double *target)
{
  double best = INFINITY;
  for (unsigned set = 0; set < 1u << ROWS; set++) {
    double a[ROWS * COLUMNS], b[ROWS], d[COLUMNS] = {0}, x[COLUMNS], distance = 0;
    size_t met = 0, rank = 0;
    for (size_t i = 0; i < ROWS; i++) {
      if (!(set >> i & 1)) continue;
      memcpy(a + met * COLUMNS, rows + i * COLUMNS, COLUMNS * sizeof *a);
      b[met] = 1;
      for (size_t j = 0; j < COLUMNS; j++) b[met] -= rows[i * COLUMNS + j] * target[j];
      met++;
    }
    if (met > COLUMNS) continue;
    if (met) assert_true(idm_least_squares(met, COLUMNS, a, b, 1e-12, d, &rank));
    bool inside = true;
    for (size_t j = 0; j < COLUMNS; j++) {
      x[j] = target[j] + d[j];
      distance += d[j] * d[j];
    }
    for (size_t i = 0; i < ROWS; i++) {
      double sum = 0;
      for (size_t j = 0; j < COLUMNS; j++) sum += rows[i * COLUMNS + j] * x[j];
      inside = inside && sum <= 1 + 1e-9;
    }
    if (inside) best = fmin(best, sqrt(distance));
  }
  return best;
}

static void test_all_sets(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 3, 0);
  for (int trial = 0; trial < 200; trial++) {
    double rows[ROWS * COLUMNS], target[COLUMNS], x[COLUMNS] = {0};
    idm_program *p;
    check(idm_program_create(COLUMNS, &p, &support_error));
    for (size_t j = 0; j < COLUMNS; j++) target[j] = 3 * idm_random_normal(&random);
    for (size_t i = 0; i < ROWS; i++) {
      for (size_t j = 0; j < COLUMNS; j++) {
        rows[i * COLUMNS + j] = idm_random_normal(&random);
        check(idm_program_add_entry(p, j, rows[i * COLUMNS + j], &support_error));
      }
      check(idm_program_add_row(p, -INFINITY, 1, &support_error));
    }
    const idm_program_projection near = nearest(p, ones, target, x);
    assert_true(near.residual <= 1e-9);
    assert_near(near.distance, by_all_sets(rows, target), 1e-8);
    idm_program_destroy(p);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_nothing_there),
      cmocka_unit_test(test_all_sets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
