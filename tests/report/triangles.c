/* Tests the division of a simplex into triangles: they cover it once, and the mass at a point is
 * divided among the triangles that contain it. */
#include "report/markup.h"

#include <math.h>
#include <stdlib.h>

#include "support.h"

enum { side = 7, count = side * side };

/* Returns the area relative to the whole simplex, from the first two coordinates. */
static double area(const idm_triangle *t)
{
  const double(*c)[3] = (const double(*)[3])t->corner;
  return fabs((c[1][0] - c[0][0]) * (c[2][1] - c[0][1]) -
              (c[2][0] - c[0][0]) * (c[1][1] - c[0][1]));
}

/* Returns true if z is inside the triangle, edges included: the three triangles of z and two
 * corners have no larger total area. */
static bool holds(const idm_triangle *t, const double *z)
{
  idm_triangle part;
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    part = *t;
    for (int s = 0; s < 3; s++) part.corner[k][s] = z[s];
    sum += area(&part);
  }
  return sum < area(t) * (1 + 1e-6);
}

static void they_cover_it(void **state)
{
  (void)state;
  idm_triangle triangle[count];
  double sum = 0;
  assert_int_equal(idm_triangles_count(side), count);
  idm_triangles_make(side, triangle);
  for (size_t i = 0; i < count; i++) {
    double middle[3] = {0};
    for (int k = 0; k < 3; k++) {
      double all = 0;
      for (int s = 0; s < 3; s++) {
        all += triangle[i].corner[k][s];
        middle[s] += triangle[i].corner[k][s] / 3;
        assert_true(triangle[i].corner[k][s] > -1e-12);
      }
      assert_near(all, 1, 1e-12);
    }
    assert_near(area(&triangle[i]), 1.0 / count, 1e-12);
    sum += area(&triangle[i]);
    for (size_t j = 0; j < count; j++) assert_true(holds(&triangle[j], middle) == (i == j));
  }
  assert_near(sum, 1, 1e-12);
}

/* Compared with a test of every triangle. */
static void mass_is_shared(void **state)
{
  (void)state;
  idm_triangle triangle[count];
  idm_random random;
  idm_random_init(&random, 11, 0);
  idm_triangles_make(side, triangle);
  for (int trial = 0; trial < 400; trial++) {
    double z[3], sum[count] = {0};
    if (trial < 200) {
      support_distribution(&random, z, 3);
    } else { /* corners and edges of triangles */
      const int b = trial % (side + 1), c = (trial / (side + 1)) % (side + 1 - b);
      z[1] = (double)b / side;
      z[2] = (double)c / side;
      z[0] = 1 - z[1] - z[2];
      if (trial % 3 == 0 && b > 0) z[1] -= 0.3 / side, z[2] += 0.3 / side;
    }
    size_t meeting = 0;
    for (size_t i = 0; i < count; i++) meeting += holds(&triangle[i], z);
    idm_triangles_add_mass(side, z, 2, sum);
    assert_true(meeting >= 1);
    for (size_t i = 0; i < count; i++)
      assert_near(sum[i], holds(&triangle[i], z) ? 2.0 / (double)meeting : 0, 1e-9);
  }
}

static void cells_of_a_figure(void **state)
{
  (void)state;
  idm_figure *figure;
  idm_panel *panel;
  idm_mark *cells;
  idm_triangle triangle[count];
  idm_triangles_make(side, triangle);
  check(idm_figure_create("", "", 1, &figure, &support_error));
  check(idm_figure_add(figure, "", "", "", &panel, &support_error));
  check(idm_panel_add(panel, IDM_MARK_CELLS, "", 0, count, &cells, &support_error));
  for (size_t i = 0; i < count; i++) {
    idm_triangle_set(&triangle[i], cells, i, 0.5);
    const double x = cells->column[IDM_FIGURE_X][i], y = cells->column[IDM_FIGURE_Y][i];
    const double step = cells->column[IDM_FIGURE_RIGHT][i] - x;
    /* The corners are where the header of figures defines them. */
    assert_near(fabs(step), 1.0 / side, 1e-12);
    assert_near(x - step, triangle[i].corner[1][0], 1e-12);
    assert_near(y + step, triangle[i].corner[1][1], 1e-12);
    assert_near(x - step, triangle[i].corner[2][0], 1e-12);
    assert_near(y, triangle[i].corner[2][1], 1e-12);
    assert_near(cells->column[IDM_FIGURE_VALUE][i], 0.5, 0);
  }
  idm_figure_destroy(figure);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(they_cover_it),
                                     cmocka_unit_test(mass_is_shared),
                                     cmocka_unit_test(cells_of_a_figure)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
