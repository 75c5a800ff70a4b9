/* Learnt rows as log-ratios: round trips, ties, and the density with its Jacobian against finite
 * differences. */
#include "learn/learn.h"

#include <math.h>
#include <string.h>

#include "support.h"

/* `go` and `stay` share their emissions under "*"; `end` is terminal. */
static const char yaml[] =
    "states: [a, b]\nactions: [go, stay, end]\nobservations: [x, y, z]\ndiscount: 0.9\n"
    "start: [0.3, 0.7]\nterminal: [end]\n"
    "transition: {go: [[0.2, 0.8], [0, 1]], stay: identity, end: identity}\n"
    "observation: {'*': [[0.2, 0.5, 0.3], [0.25, 0.75, 0]], end: uniform}\n"
    "utility: {go: 0, stay: 0, end: 0}\n";
enum { COUNT = 1 + 1 + 2 + 1 }; /* start, go from a, emissions of a, emissions of b */

typedef struct fixture {
  idm_problem *problem;
  idm_dynamics *dynamics;
  structure *s;
} fixture;

static fixture open_fixture(void)
{
  fixture f = {.problem = support_yaml(yaml)};
  check(structure_create(f.problem, 0, true, true, &f.s, &support_error));
  check(idm_problem_dynamics(f.problem, &f.dynamics, &support_error));
  return f;
}

static void close_fixture(fixture *f)
{
  structure_destroy(f->s);
  idm_dynamics_destroy(f->dynamics);
  idm_problem_destroy(f->problem);
}

static void test_there_and_back(void **state)
{
  (void)state;
  fixture f = open_fixture();
  double y[COUNT], again[COUNT];
  idm_dynamics *d;
  assert_int_equal(ratio_count(f.s), COUNT);
  ratio_get(f.s, f.dynamics->start, y);
  assert_near(y[0], log(0.3 / 0.7), 1e-15);
  assert_near(y[1], log(0.2 / 0.8), 1e-15);
  assert_near(y[3], log(0.5 / 0.3), 1e-15);
  assert_near(y[4], log(0.25 / 0.75), 1e-15);
  check(idm_problem_dynamics(f.problem, &d, &support_error));
  for (size_t i = 0; i < COUNT; i++) y[i] += i == 2 ? 900 : -0.3; /* one entry becomes nearly 1 */
  ratio_set(f.s, y, d->start);
  const double *go = d->emission, *stay = d->emission + 6;
  assert_memory_equal(go, stay, 6 * sizeof(double)); /* tied */
  assert_near(go[0], 1, 0);
  assert_near(go[3] + go[4], 1, 1e-15);
  assert_near(go[5], 0, 0); /* impossible */
  assert_memory_equal(d->emission + 12, f.dynamics->emission + 12, 6 * sizeof(double));
  y[2] = 1;
  ratio_set(f.s, y, d->start);
  ratio_get(f.s, d->start, again);
  for (size_t i = 0; i < COUNT; i++) assert_near(again[i], y[i], 1e-13);
  idm_dynamics_destroy(d);
  close_fixture(&f);
}

/* Dirichlet(1.7) over a row of three entries times the determinant of their derivatives by the
 * log-ratios, by differences, up to a constant. */
static double by_differences(const structure *s, const double *y, double *numbers)
{
  const size_t first = s->row[structure_emission(s, 0, 0)].first;
  double slope[2][2], moved[COUNT];
  const double h = 1e-5;
  for (size_t k = 0; k < 2; k++)
    for (int side = 0; side < 2; side++) {
      memcpy(moved, y, sizeof moved);
      moved[2 + k] += side ? h : -h;
      ratio_set(s, moved, numbers);
      for (size_t i = 0; i < 2; i++)
        slope[i][k] = side ? (numbers[first + i] - slope[i][k]) / (2 * h) : numbers[first + i];
    }
  ratio_set(s, y, numbers);
  double sum = log(slope[0][0] * slope[1][1] - slope[0][1] * slope[1][0]);
  for (size_t i = 0; i < 3; i++) sum += 0.7 * log(numbers[first + i]);
  return sum;
}

static void test_density(void **state)
{
  (void)state;
  fixture f = open_fixture();
  double y[COUNT], density[2], expected[2];
  ratio_get(f.s, f.dynamics->start, y);
  for (int k = 0; k < 2; k++) {
    y[2] += 0.8 * k;
    y[3] -= 0.4 * k;
    expected[k] = by_differences(f.s, y, f.dynamics->start);
    density[k] = ratio_log_prior(f.s, 1.7, f.dynamics->start);
  }
  assert_near(density[1] - density[0], expected[1] - expected[0], 1e-7);
  y[4] = -1e4; /* underflows */
  ratio_set(f.s, y, f.dynamics->start);
  assert_true(ratio_log_prior(f.s, 1.7, f.dynamics->start) == -INFINITY);
  close_fixture(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back),
                                     cmocka_unit_test(test_density)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
