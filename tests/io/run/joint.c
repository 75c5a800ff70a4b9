/* Dynamics drawn with the decisions, in JSON. */
#include "io/run/folder.h"

#include <math.h>

#include "support.h"

static void test_object(void **state)
{
  (void)state;
  idm_joint_dynamics *d;
  idm_labels name = {0};
  SUPPORT_NAMES(&name, "start[a]", "start[b]");
  check(idm_joint_dynamics_create(&name, &d, &support_error));
  d->mean[0] = 0.25;
  d->mean[1] = 0.75;
  d->sd[0] = d->sd[1] = 0.125;
  json_t *object = idm_json_joint(d);
  assert_near(json_real_value(json_object_get(json_object_get(object, "mean"), "start[b]")), 0.75,
              0);
  assert_near(json_real_value(json_object_get(json_object_get(object, "sd"), "start[a]")), 0.125,
              0);
  assert_true(json_is_null(json_object_get(object, "r_hat")));
  json_decref(object);
  idm_joint_dynamics_destroy(d);
  idm_labels_destroy(&name);
}

static void test_central(void **state)
{
  (void)state;
  idm_dynamics_sets *d;
  check(idm_dynamics_sets_create(3, 2, &d, &support_error));
  d->central[1] = 0.75;
  json_t *object = idm_json_central(d);
  assert_null(json_object_get(object, "draw"));
  const json_t *list = json_object_get(object, "probability");
  assert_int_equal(json_array_size(list), 2);
  assert_near(json_real_value(json_array_get(list, 1)), 0.75, 0);
  json_decref(object);
  d->of = 3;
  object = idm_json_central(d);
  assert_int_equal(json_integer_value(json_object_get(object, "draw")), 3);
  json_decref(object);
  idm_dynamics_sets_destroy(d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_object), cmocka_unit_test(test_central)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
