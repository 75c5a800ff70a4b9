/* Optimal faces of linear programs: the nearest optimum, whether it is unique, and the ranges of
 * the face, against a segment by hand. */
#include "invert/utility/bellman.h"

#include <math.h>
#include <string.h>

#include "support.h"

/* min x + y subject to x + y >= 1 on [0, 1]^2: a segment of optima. With a third of y's cost (0, 1)
 * is the only optimum. */
static idm_program *segment(double cost_of_y, double least)
{
  idm_program *p;
  check(idm_program_create(2, &p, &support_error));
  for (size_t j = 0; j < 2; j++) {
    idm_program_set_bounds(p, j, 0, 1);
    idm_program_set_cost(p, j, j ? cost_of_y : 1);
    check(idm_program_add_entry(p, j, 1, &support_error));
  }
  check(idm_program_add_row(p, least, INFINITY, &support_error));
  return p;
}

static const double weight[] = {1, 1}, key[] = {0.7, 1.3};

static idm_status choose(idm_program *p, double *x, idm_face *face)
{
  idm_cancel cancel;
  idm_cancel_init(&cancel, NULL, "testing");
  *face = (idm_face){.count = 2, .weight = weight, .key = key, .x = x};
  return idm_face_choose_unique(p, "there is none", "there is no end", face, &cancel,
                                &support_error);
}

static void test_segment(void **state)
{
  (void)state;
  double x[2], range[4];
  idm_face face;
  idm_cancel cancel;
  idm_cancel_init(&cancel, NULL, "testing");
  idm_program *p = segment(1, 1);
  check(choose(p, x, &face));
  assert_false(face.unique);
  assert_true(face.nearest && face.attained <= 1e-9);
  assert_near(x[0], 0.5, 1e-9);
  assert_near(x[1], 0.5, 1e-9);
  assert_near(face.objective, 1, 1e-9);
  check(idm_face_ranges(p, 2, range, &cancel, &support_error));
  for (size_t i = 0; i < 4; i++) assert_near(range[i], (double)(i % 2), 1e-9);
  idm_program_destroy(p);
}

static void test_only_one(void **state)
{
  (void)state;
  double x[2];
  idm_face face;
  idm_program *p = segment(1.0 / 3, 1);
  check(choose(p, x, &face));
  assert_true(face.unique && face.attained <= 1e-9);
  assert_near(x[0], 0, 1e-12);
  assert_near(x[1], 1, 1e-12);
  idm_program_destroy(p);
}

static void test_refusals(void **state)
{
  (void)state;
  double x[2];
  idm_face face;
  idm_program *p = segment(1, 3);
  assert_int_equal(choose(p, x, &face), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "there is none"));
  idm_program_destroy(p);
  p = segment(-1, 1);
  idm_program_set_bounds(p, 1, 0, INFINITY);
  assert_int_equal(choose(p, x, &face), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "there is no end"));
  idm_program_destroy(p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_segment),
      cmocka_unit_test(test_only_one),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
