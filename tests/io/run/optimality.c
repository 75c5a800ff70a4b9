/* Findings in summary.json: what is written is read back. */
#include "io/run/folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static idm_optimality *sample(void)
{
  idm_optimality *f;
  check(idm_optimality_create(2, &f, &support_error));
  f->objective = 1.25;
  snprintf(f->certificate, sizeof f->certificate, "duality gap");
  f->attained = 1e-13;
  f->closed = 1e-9;
  f->evaluated = true;
  f->open = 1;
  f->direction = calloc(2, sizeof *f->direction);
  f->direction[0] = 1;
  f->direction[1] = -0.9;
  f->range = calloc(4, sizeof *f->range);
  f->range[0] = -INFINITY;
  f->range[1] = 0.1;
  f->range[2] = -1;
  f->range[3] = 1;
  f->at_box = calloc(4, sizeof *f->at_box);
  f->at_box[2] = f->at_box[3] = true;
  support_names(&f->state, (const char *const[]){"s", "t"}, 2);
  support_names(&f->action, (const char *const[]){"u", "v"}, 2);
  f->policy = calloc(4, sizeof *f->policy);
  f->policy[0] = 0.1;
  f->policy[1] = 0.9;
  f->policy[3] = 1;
  return f;
}

static void test_round_trip(void **state)
{
  (void)state;
  idm_labels name = {0};
  support_names(&name, (const char *const[]){"utility[u,s]", "utility[v,s]"}, 2);
  idm_optimality *f = sample();
  idm_optimality *back;
  json_t *object = json_object();
  idm_optimality_put(&object, &name, f);
  assert_non_null(object);
  assert_near(json_number_value(json_object_get(object, "certificate")), 1e-13, 0);
  assert_int_equal(json_array_size(json_object_get(object, "open_directions")), 1);
  check(idm_optimality_read(object, &name, &back, &support_error));
  assert_string_equal(back->certificate, "duality gap");
  assert_near(back->objective, 1.25, 0);
  assert_true(idm_optimality_certified(back));
  assert_true(back->evaluated);
  assert_int_equal(back->open, 1);
  assert_memory_equal(back->direction, f->direction, 2 * sizeof *f->direction);
  assert_memory_equal(back->range, f->range, 4 * sizeof *f->range);
  assert_memory_equal(back->at_box, f->at_box, 4 * sizeof *f->at_box);
  assert_memory_equal(back->policy, f->policy, 4 * sizeof *f->policy);
  assert_string_equal(back->state.name[1], "t");
  json_decref(object);
  idm_optimality_destroy(f);
  idm_optimality_destroy(back);
  idm_labels_destroy(&name);
}

/* What an answer by the likelihood has of it comes back as such, and as no optimality record; a
 * point has no certificate. */
static void test_matched(void **state)
{
  (void)state;
  idm_labels name = {0};
  idm_optimality *f = sample();
  idm_optimality *back;
  snprintf(f->certificate, sizeof f->certificate, "R-hat");
  json_t *object = json_object();
  idm_likelihood_optimality_put(&object, f);
  assert_null(json_object_get(object, "open_directions"));
  check(idm_optimality_read(object, &name, &back, &support_error));
  assert_null(back);
  check(idm_likelihood_optimality_read(object, &back, &support_error));
  assert_string_equal(back->certificate, "R-hat");
  assert_near(back->objective, 1.25, 0);
  assert_near(back->attained, 1e-13, 0);
  assert_near(back->closed, 1e-9, 0);
  assert_memory_equal(back->policy, f->policy, 4 * sizeof *f->policy);
  idm_optimality_destroy(back);
  json_decref(object);
  f->certificate[0] = '\0';
  object = json_object();
  idm_likelihood_optimality_put(&object, f);
  assert_null(json_object_get(object, "certificate"));
  check(idm_likelihood_optimality_read(object, &back, &support_error));
  assert_string_equal(back->certificate, "");
  idm_optimality_destroy(back);
  json_decref(object);
  /* A optimality record is none of these. */
  object = json_object();
  snprintf(f->certificate, sizeof f->certificate, "R-hat");
  f->free = 0;
  idm_optimality_put(&object, &name, f);
  check(idm_likelihood_optimality_read(object, &back, &support_error));
  assert_null(back);
  json_decref(object);
  idm_optimality_destroy(f);
}

/* A summary without one has none; one that was tampered with is read as far as it goes. */
static void test_absent_and_odd(void **state)
{
  (void)state;
  idm_labels name = {0};
  idm_optimality *f;
  support_names(&name, (const char *const[]){"x"}, 1);
  json_t *object = json_pack("{s:s}", "inverse", "bayes");
  check(idm_optimality_read(object, &name, &f, &support_error));
  assert_null(f);
  json_decref(object);
  object = json_pack("{s:s, s:s, s:[i, s], s:{s:s}, s:i}", "certificate_kind", "gap", "certificate",
                     "no number", "open_directions", 3, "x", "ranges", "x", "y", "policy", 7);
  check(idm_optimality_read(object, &name, &f, &support_error));
  assert_false(idm_optimality_certified(f));
  assert_int_equal(f->open, 2);
  assert_true(isnan(f->range[0]) && isnan(f->range[1]));
  assert_null(f->policy);
  idm_optimality_destroy(f);
  json_decref(object);
  idm_labels_destroy(&name);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                     cmocka_unit_test(test_matched),
                                     cmocka_unit_test(test_absent_and_odd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
