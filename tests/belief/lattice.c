/* Tests the simplex lattice: counts against Pascal's triangle, enumeration, and interpolation
 * between its points. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "belief/belief.h"
#include "idm/extension/random.h"

enum { MOST = 8 };

/* Numbers of states and resolutions on which every property is checked. */
static const struct {
  size_t states;
  int resolution;
} shapes[] = {{2, 1},  {2, 2},  {2, 7}, {2, 49}, {2, 99}, {3, 1}, {3, 2}, {3, 10},
              {3, 49}, {3, 99}, {4, 1}, {4, 3},  {4, 20}, {5, 1}, {5, 2}, {5, 7},
              {5, 13}, {6, 1},  {6, 4}, {6, 10}, {7, 3},  {8, 2}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static idm_lattice *create(size_t states, int resolution, bool corners)
{
  idm_lattice *lattice;
  idm_error error = {0};
  assert_int_equal(idm_lattice_create(states, resolution, corners, &lattice, &error), IDM_OK);
  return lattice;
}

/* A cell: vertices, weights, and how many. */
typedef struct cell {
  size_t count;
  uint32_t vertex[MOST];
  double weight[MOST];
} cell;

/* Locates a belief and checks what holds for every cell. */
static cell locate(const idm_lattice *lattice, const double *z)
{
  cell c;
  double scratch[2 * MOST];
  c.count = idm_lattice_locate(lattice, z, c.vertex, c.weight, scratch);
  assert_true(c.count >= 1 && c.count <= lattice->states);
  double sum = 0;
  for (size_t i = 0; i < c.count; i++) {
    assert_true(c.vertex[i] < lattice->points);
    assert_true(c.weight[i] > 0);
    for (size_t j = 0; j < i; j++) assert_true(c.vertex[i] != c.vertex[j]);
    sum += c.weight[i];
  }
  assert_true(fabs(sum - 1) <= 1e-12);
  return c;
}

static const double *point(const idm_lattice *lattice, size_t index)
{
  return lattice->belief + index * lattice->states;
}

/* The weighted mean of the vertices is the belief. */
static void check_reproduces(const idm_lattice *lattice, const double *z)
{
  const cell c = locate(lattice, z);
  for (size_t s = 0; s < lattice->states; s++) {
    double sum = 0;
    for (size_t i = 0; i < c.count; i++)
      sum += c.weight[i] * (lattice->corners ? c.vertex[i] == s : point(lattice, c.vertex[i])[s]);
    assert_true(fabs(sum - z[s]) <= 1e-12);
  }
}

/* Draws a random belief: uniform on the simplex, or with some states excluded. */
static void draw_belief(size_t states, double *z, idm_random *random)
{
  const bool sparse = idm_random_uniform(random) < 0.3;
  double total = 0;
  for (size_t s = 0; s < states; s++) {
    z[s] = -log(idm_random_uniform(random));
    if (sparse && s + 1 < states && idm_random_uniform(random) < 0.5) z[s] = 0;
    total += z[s];
  }
  for (size_t s = 0; s < states; s++) z[s] /= total;
}

/* --- counts --------------------------------------------------------------------------------- */

static void test_counts(void **state)
{
  (void)state;
  /* Pascal's triangle: c[k][r] = c[k - 1][r] + c[k][r - 1]. */
  size_t c[12][40];
  for (size_t k = 1; k < 12; k++)
    for (size_t r = 0; r < 40; r++) {
      c[k][r] = k == 1 || r == 0 ? 1 : c[k - 1][r] + c[k][r - 1];
      assert_int_equal(idm_lattice_count(k, (int)r), c[k][r]);
    }
  assert_int_equal(idm_lattice_count(2, 99), 100);
  assert_int_equal(idm_lattice_count(3, 99), 5050);
  assert_int_equal(idm_lattice_count(2, 1000000000), 1000000001);
}

static void test_counts_that_do_not_fit(void **state)
{
  (void)state;
  assert_true(idm_lattice_count(40, 1000) == SIZE_MAX);
  assert_true(idm_lattice_count(1000, 1000) == SIZE_MAX);
  assert_true(idm_lattice_count(4, 2000000000) == SIZE_MAX);
  assert_true(idm_lattice_count(100000, 100000) == SIZE_MAX);
}

static void check_fitting(size_t states, size_t points)
{
  const int r = idm_lattice_max_resolution(states, points);
  assert_true(r >= 0);
  if (r > 0) assert_true(idm_lattice_count(states, r) <= points);
  assert_true(idm_lattice_count(states, r + 1) > points);
}

static void test_fitting(void **state)
{
  (void)state;
  for (size_t states = 2; states <= 30; states++) {
    const size_t points[] = {1, 2, 3, 10, 99, 100, 101, 20000, 1000000};
    for (size_t i = 0; i < 9; i++) check_fitting(states, points[i]);
    for (int r = 1; r < 6; r++) {
      assert_int_equal(idm_lattice_max_resolution(states, idm_lattice_count(states, r)), r);
      assert_int_equal(idm_lattice_max_resolution(states, idm_lattice_count(states, r) - 1), r - 1);
    }
  }
}

static void test_defaults(void **state)
{
  (void)state;
  assert_int_equal(idm_lattice_default(2), 99);
  assert_int_equal(idm_lattice_default(3), 99);
  for (size_t states = 4; states <= 300; states++) {
    const int r = idm_lattice_default(states);
    assert_true(idm_lattice_count(states, r) <= 20000);
    assert_true(idm_lattice_count(states, r + 1) > 20000);
  }
  assert_true(idm_lattice_default(1) >= 1);
  assert_int_equal(idm_lattice_default(20000), 1);
  assert_int_equal(idm_lattice_default(50000), 1);
}

static void test_too_large_is_an_error(void **state)
{
  (void)state;
  const struct {
    size_t states;
    int resolution;
  } large[] = {{50, 1000}, {10, 1000}, {4, 4000}, {1000, 1000}};
  for (size_t i = 0; i < 4; i++) {
    idm_lattice *lattice = (idm_lattice *)&lattice;
    idm_error error = {0};
    assert_int_equal(
        idm_lattice_create(large[i].states, large[i].resolution, false, &lattice, &error),
        IDM_MEMORY);
    assert_null(lattice);
    assert_non_null(strstr(error.message, "too large"));
  }
  idm_lattice_destroy(NULL);
}

/* --- points --------------------------------------------------------------------------------- */

static void check_points(const idm_lattice *lattice)
{
  const double r = lattice->resolution;
  assert_int_equal(lattice->points, idm_lattice_count(lattice->states, lattice->resolution));
  for (size_t i = 0; i < lattice->points; i++) {
    const double *z = point(lattice, i);
    double steps = 0;
    for (size_t s = 0; s < lattice->states; s++) {
      assert_true(z[s] >= 0 && z[s] == round(r * z[s]) / r);
      steps += round(r * z[s]);
    }
    assert_true(steps == r);
    /* The cell of a point contains the point with weight 1. As the number of points is right, each
     * occurs exactly once. */
    const cell c = locate(lattice, z);
    size_t found = 0;
    for (size_t v = 0; v < c.count; v++)
      if (c.vertex[v] == i && fabs(c.weight[v] - 1) <= 1e-12) found++;
    assert_int_equal(found, 1);
  }
}

static void test_points_are_enumerated_once(void **state)
{
  (void)state;
  for (size_t i = 0; i < SHAPES; i++) {
    idm_lattice *lattice = create(shapes[i].states, shapes[i].resolution, false);
    assert_int_equal(lattice->resolution, shapes[i].resolution);
    assert_false(lattice->corners);
    check_points(lattice);
    idm_lattice_destroy(lattice);
  }
}

static void test_one_state(void **state)
{
  (void)state;
  idm_lattice *lattice = create(1, 99, false);
  assert_int_equal(lattice->points, 1);
  assert_true(lattice->belief[0] == 1);
  const cell c = locate(lattice, (const double[]){1});
  assert_int_equal(c.count, 1);
  assert_int_equal(c.vertex[0], 0);
  idm_lattice_destroy(lattice);
}

/* --- interpolation -------------------------------------------------------------------------- */

static void test_cells_reproduce_beliefs(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 31, 0);
  for (size_t i = 0; i < SHAPES; i++) {
    idm_lattice *lattice = create(shapes[i].states, shapes[i].resolution, false);
    for (int draw = 0; draw < 3000; draw++) {
      double z[MOST];
      draw_belief(shapes[i].states, z, &random);
      check_reproduces(lattice, z);
    }
    idm_lattice_destroy(lattice);
  }
}

/* In the coordinates y_i = r (z_i + ... + z_k) the vertices of a cell lie within one step of the
 * belief, and any two of them are ordered, which characterises the Freudenthal simplex. */
static void check_freudenthal(const idm_lattice *lattice, const double *z)
{
  const cell c = locate(lattice, z);
  const size_t k = lattice->states;
  double y[MOST][MOST], at[MOST], tail = 0;
  for (size_t i = k; i-- > 0;) {
    tail += z[i];
    at[i] = lattice->resolution * tail;
    for (size_t v = 0; v < c.count; v++)
      y[v][i] = round(lattice->resolution * point(lattice, c.vertex[v])[i]) +
                (i + 1 < k ? y[v][i + 1] : 0);
  }
  for (size_t v = 0; v < c.count; v++)
    for (size_t w = 0; w < c.count; w++) {
      bool below = true, above = true;
      for (size_t i = 0; i < k; i++) {
        assert_true(fabs(y[v][i] - at[i]) <= 1 + 1e-9);
        assert_true(fabs(y[v][i] - y[w][i]) <= 1);
        below = below && y[v][i] <= y[w][i];
        above = above && y[v][i] >= y[w][i];
      }
      assert_true(below || above);
    }
}

static void test_cells_are_freudenthal(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 32, 0);
  for (size_t i = 0; i < SHAPES; i++) {
    idm_lattice *lattice = create(shapes[i].states, shapes[i].resolution, false);
    for (int draw = 0; draw < 500; draw++) {
      double z[MOST];
      draw_belief(shapes[i].states, z, &random);
      check_freudenthal(lattice, z);
    }
    idm_lattice_destroy(lattice);
  }
}

typedef double (*shape)(size_t states, const double *z);

static double linear(size_t states, const double *z)
{
  double sum = 0;
  for (size_t s = 0; s < states; s++) sum += ((double)(s * s) - 3) * z[s];
  return sum;
}

static double squares(size_t states, const double *z)
{
  double sum = 0;
  for (size_t s = 0; s < states; s++) sum += z[s] * z[s];
  return sum;
}

/* A maximum of linear functions, which has the form of a value function. */
static double corners_of_value(size_t states, const double *z)
{
  double most = 0.4;
  for (size_t s = 0; s < states; s++) most = fmax(most, z[s]);
  return most;
}

static double interpolate(const idm_lattice *lattice, shape f, const double *z)
{
  const cell c = locate(lattice, z);
  double sum = 0;
  for (size_t i = 0; i < c.count; i++)
    sum += c.weight[i] * f(lattice->states, point(lattice, c.vertex[i]));
  return sum;
}

static void test_linear_is_exact_and_convex_is_bounded(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 33, 0);
  for (size_t i = 0; i < SHAPES; i++) {
    const size_t k = shapes[i].states;
    const double cell_size = 1.0 / shapes[i].resolution;
    idm_lattice *lattice = create(k, shapes[i].resolution, false);
    for (int draw = 0; draw < 1000; draw++) {
      double z[MOST];
      draw_belief(k, z, &random);
      assert_true(fabs(interpolate(lattice, linear, z) - linear(k, z)) <= 1e-11);
      const double above = interpolate(lattice, squares, z) - squares(k, z);
      /* Interpolation is an upper bound, and it is close: each coordinate has a range of at most
       * 2/r within a cell. */
      assert_true(above >= -1e-12);
      assert_true(above <= (double)k * cell_size * cell_size + 1e-12);
      assert_true(interpolate(lattice, corners_of_value, z) >= corners_of_value(k, z) - 1e-12);
    }
    idm_lattice_destroy(lattice);
  }
}

/* Interpolates arbitrary values at the points. */
static double blend(const idm_lattice *lattice, const double *v, const double *z)
{
  const cell c = locate(lattice, z);
  double sum = 0;
  for (size_t i = 0; i < c.count; i++) sum += c.weight[i] * v[c.vertex[i]];
  return sum;
}

/* Checks continuity at a belief on a face of a random cell, for beliefs at distance 1e-9. */
static void check_face(const idm_lattice *lattice, const double *v, idm_random *random)
{
  const size_t k = lattice->states;
  double z[MOST], face[MOST] = {0};
  draw_belief(k, z, random);
  const cell c = locate(lattice, z);
  const size_t dropped = (size_t)(idm_random_uniform(random) * (double)c.count);
  const double left = 1 - c.weight[dropped];
  if (c.count < 2 || left < 1e-3) return;
  for (size_t i = 0; i < c.count; i++)
    for (size_t s = 0; s < k && i != dropped; s++)
      face[s] += c.weight[i] / left * point(lattice, c.vertex[i])[s];
  const double centre = blend(lattice, v, face);
  for (int turn = 0; turn < 10; turn++) {
    double other[MOST];
    draw_belief(k, other, random);
    for (size_t s = 0; s < k; s++) other[s] = face[s] + 1e-9 * (other[s] - face[s]);
    /* Values lie in [0, 1]; the slope is at most r per coordinate y, and there are k coordinates.
     */
    const double most = 4e-9 * (double)k * lattice->resolution;
    assert_true(fabs(blend(lattice, v, other) - centre) <= most);
  }
}

static void test_interpolation_is_continuous(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 34, 0);
  for (size_t i = 0; i < SHAPES; i++) {
    idm_lattice *lattice = create(shapes[i].states, shapes[i].resolution, false);
    double *v = calloc(lattice->points, sizeof *v);
    assert_non_null(v);
    for (size_t p = 0; p < lattice->points; p++) v[p] = idm_random_uniform(&random);
    for (int draw = 0; draw < 300; draw++) check_face(lattice, v, &random);
    free(v);
    idm_lattice_destroy(lattice);
  }
}

/* Beliefs whose sum differs from 1 by rounding, above and below. */
static void test_rounding_of_the_sum(void **state)
{
  (void)state;
  idm_random random;
  idm_random_init(&random, 35, 0);
  for (size_t i = 0; i < SHAPES; i++) {
    const size_t k = shapes[i].states;
    idm_lattice *lattice = create(k, shapes[i].resolution, false);
    for (int draw = 0; draw < 500; draw++) {
      double z[MOST];
      draw_belief(k, z, &random);
      if (draw < (int)k)
        for (size_t s = 0; s < k; s++) z[s] = s == (size_t)draw;
      const double factors[] = {1 + 1e-16, 1 + 2.3e-16, 1 + 1e-15, 1 - 1e-16, 1 - 1e-15};
      for (size_t f = 0; f < 5; f++) {
        double off[MOST];
        for (size_t s = 0; s < k; s++) off[s] = z[s] * factors[f];
        check_reproduces(lattice, off);
      }
    }
    idm_lattice_destroy(lattice);
  }
}

static void test_corners(void **state)
{
  (void)state;
  for (size_t k = 1; k <= MOST; k++) {
    idm_lattice *lattice = create(k, 99, true);
    assert_true(lattice->corners);
    assert_int_equal(lattice->points, k);
    idm_random random;
    idm_random_init(&random, 36, k);
    for (size_t s = 0; s < k; s++) {
      double corner[MOST] = {0};
      corner[s] = 1;
      const cell c = locate(lattice, corner);
      assert_int_equal(c.count, 1);
      assert_int_equal(c.vertex[0], s);
    }
    for (int draw = 0; draw < 200; draw++) {
      double z[MOST];
      draw_belief(k, z, &random);
      check_reproduces(lattice, z);
    }
    idm_lattice_destroy(lattice);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_counts_that_do_not_fit),
      cmocka_unit_test(test_fitting),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_too_large_is_an_error),
      cmocka_unit_test(test_points_are_enumerated_once),
      cmocka_unit_test(test_one_state),
      cmocka_unit_test(test_cells_reproduce_beliefs),
      cmocka_unit_test(test_cells_are_freudenthal),
      cmocka_unit_test(test_linear_is_exact_and_convex_is_bounded),
      cmocka_unit_test(test_interpolation_is_continuous),
      cmocka_unit_test(test_rounding_of_the_sum),
      cmocka_unit_test(test_corners),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
