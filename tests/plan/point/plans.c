/* Tests that plans are compacted together with their vectors. */
#include "plan/point/search.h"

#include "plan/point/bounds.h"
#include "support.h"

static void goes_on_as_what_took_its_place(void **state)
{
  (void)state;
  static const double vector[][2] = {{0, 1}, {1, 0}, {0, 2}, {3, 3}};
  static const uint32_t after[][2] = {{0, 0}, {1, 0}, {1, 2}, {2, 1}};
  alphas a = {.states = 2};
  plans p = {.width = 2};
  for (uint32_t i = 0; i < 3; i++) {
    check(idm_alphas_add(&a, vector[i], i, &support_error));
    check(idm_plans_add(&p, 10 + i, after[i], &support_error));
  }
  uint32_t map[4], before[5];
  idm_alphas_compact(&a, map, before); /* the third dominates the first */
  idm_plans_compact(&p, map, before);
  assert_int_equal(p.count, 2);
  assert_true(p.owner[0] == 11 && p.owner[1] == 12);
  assert_true(p.after[0] == 0 &&
              p.after[1] == 1); /* the second continues with itself, and with the third */
  assert_true(p.after[2] == 0 && p.after[3] == 1);
  check(idm_alphas_add(&a, vector[3], 3, &support_error)); /* dominates all */
  check(idm_plans_add(&p, 13, (const uint32_t[]){1, 0}, &support_error));
  idm_alphas_compact(&a, map, before);
  idm_plans_compact(&p, map, before);
  assert_true(p.count == 1 && p.owner[0] == 13 && p.after[0] == 0 && p.after[1] == 0);
  idm_plans_free(&p);
  idm_alphas_free(&a);
}

static void keeps_nothing_without_width(void **state)
{
  (void)state;
  plans p = {0};
  check(idm_plans_add(&p, 1, NULL, &support_error));
  assert_int_equal(p.count, 0);
  idm_plans_free(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(goes_on_as_what_took_its_place),
      cmocka_unit_test(keeps_nothing_without_width),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
