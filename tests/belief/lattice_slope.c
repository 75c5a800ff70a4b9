/* Tests complete cells of the lattice against idm_lattice_locate, and the gradient of the
 * interpolation against differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "belief/belief.h"
#include "support.h"

enum { MOST = 6 };

static const struct {
  size_t states;
  int resolution;
} shapes[] = {{1, 3}, {2, 1}, {2, 7}, {2, 99}, {3, 1}, {3, 10}, {4, 5}, {5, 7}, {6, 4}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* The complete cell that contains a belief. */
typedef struct cell {
  size_t count;
  uint32_t vertex[MOST];
  uint32_t step[MOST];
  double weight[MOST];
} cell;

static cell cell_of(const idm_lattice *lattice, const double *z)
{
  cell c;
  double scratch[2 * MOST];
  c.count = idm_lattice_cell(lattice, z, c.vertex, c.weight, c.step, scratch);
  return c;
}

static double interpolate(const idm_lattice *lattice, const double *v, const double *z)
{
  uint32_t vertex[MOST];
  double weight[MOST], scratch[2 * MOST], sum = 0;
  const size_t count = idm_lattice_locate(lattice, z, vertex, weight, scratch);
  for (size_t i = 0; i < count; i++) sum += weight[i] * v[vertex[i]];
  return sum;
}

/* The vertices of positive weight are those of idm_lattice_locate, and each step moves the vertex
 * by one in its coordinate y_i = r sum_{j >= i} z_j. */
static void check_cell(const idm_lattice *lattice, const double *z)
{
  const size_t k = lattice->states;
  const cell c = cell_of(lattice, z);
  uint32_t vertex[MOST];
  double weight[MOST], scratch[2 * MOST];
  const size_t count = idm_lattice_locate(lattice, z, vertex, weight, scratch);
  size_t found = 0;
  for (size_t i = 0; i < c.count; i++) {
    assert_true(c.vertex[i] < lattice->points && c.weight[i] >= 0);
    if (!(c.weight[i] > 0)) continue;
    assert_int_equal(c.vertex[i], vertex[found]);
    assert_true(c.weight[i] == weight[found++]);
  }
  assert_int_equal(found, count);
  assert_int_equal(c.step[0], 0);
  for (size_t i = 1; i < c.count; i++)
    for (size_t s = 0; s < k; s++) {
      const double moved =
          lattice->belief[c.vertex[i] * k + s] - lattice->belief[c.vertex[i - 1] * k + s];
      const double expected = (s == c.step[i]) - (double)(s + 1 == c.step[i]);
      assert_near(lattice->resolution * moved, expected, 1e-12);
    }
}

static idm_lattice *create(size_t shape)
{
  idm_lattice *lattice;
  check(idm_lattice_create(shapes[shape].states, shapes[shape].resolution, false, &lattice,
                           &support_error));
  return lattice;
}

static void cells_are_walks(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 1, 1);
  for (size_t i = 0; i < SHAPES; i++) {
    idm_lattice *lattice = create(i);
    const size_t k = lattice->states;
    double z[MOST];
    for (int round = 0; round < 100; round++) {
      support_distribution(&random, z, k);
      check_cell(lattice, z);
      /* On a face of the simplex. */
      if (k < 2) continue;
      const size_t dropped = (size_t)round % k;
      const double rest = 1 - z[dropped];
      z[dropped] = 0;
      for (size_t s = 0; s < k; s++) z[s] /= rest;
      check_cell(lattice, z);
    }
    for (size_t point = 0; point < lattice->points; point += 1 + lattice->points / 200) {
      const double *corner = lattice->belief + point * k;
      check_cell(lattice, corner);
      /* The cell is complete where every coordinate can increase. */
      if (corner[0] > 0) assert_int_equal(cell_of(lattice, corner).count, k);
    }
    idm_lattice_destroy(lattice);
  }
}

/* Differences along every edge of the simplex; within a cell they are exact. */
static void slopes_are_differences(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 2, 1);
  size_t compared = 0;
  for (size_t i = 1; i < SHAPES; i++) {
    idm_lattice *lattice = create(i);
    const size_t k = lattice->states;
    double *v = calloc(lattice->points, sizeof *v);
    assert_non_null(v);
    for (size_t point = 0; point < lattice->points; point++) v[point] = idm_random_uniform(&random);
    for (int round = 0; round < 100; round++) {
      double z[MOST], at[MOST], derivative[MOST];
      support_distribution(&random, z, k);
      const cell c = cell_of(lattice, z);
      for (size_t j = 0; j < c.count; j++) at[j] = v[c.vertex[j]];
      idm_lattice_gradient(lattice, c.count, c.step, at, derivative);
      double least = 1;
      for (size_t j = 0; j < c.count; j++) least = fmin(least, c.weight[j]);
      if (c.count < k || least < 1e-3) continue;
      const double h = 1e-4 / lattice->resolution;
      for (size_t s = 1; s < k; s++) {
        double moved[MOST];
        memcpy(moved, z, sizeof moved);
        moved[s] += h;
        moved[s - 1] -= h;
        const double difference = (interpolate(lattice, v, moved) - interpolate(lattice, v, z)) / h;
        assert_near(derivative[s] - derivative[s - 1], difference, 1e-8);
        compared++;
      }
    }
    free(v);
    idm_lattice_destroy(lattice);
  }
  assert_true(compared > 1000);
}

/* With corners a belief is its own weights, and the gradient is the vector of values. */
static void corners_are_their_own_slopes(void **state)
{
  (void)state;
  idm_lattice *lattice;
  check(idm_lattice_create(4, 9, true, &lattice, &support_error));
  const double z[4] = {0.5, 0, 0.2, 0.3}, v[4] = {3, 1, 4, 1.5};
  const cell c = cell_of(lattice, z);
  double derivative[4];
  assert_int_equal(c.count, 4);
  idm_lattice_gradient(lattice, c.count, c.step, v, derivative);
  for (size_t s = 0; s < 4; s++)
    assert_true(c.vertex[s] == s && c.weight[s] == z[s] && derivative[s] == v[s]);
  idm_lattice_destroy(lattice);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_are_walks),
      cmocka_unit_test(slopes_are_differences),
      cmocka_unit_test(corners_are_their_own_slopes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
