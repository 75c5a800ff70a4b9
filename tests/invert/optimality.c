/* Optimality records: when a certificate holds, and deep copies. */
#include "idm/extension/optimality.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static void test_certificates(void **state)
{
  (void)state;
  idm_optimality *f;
  check(idm_optimality_create(2, &f, &support_error));
  f->closed = 1e-9;
  assert_false(idm_optimality_certified(f)); /* no value is attained yet */
  f->attained = 1e-9;
  assert_true(idm_optimality_certified(f));
  f->attained = 1.1e-9;
  assert_false(idm_optimality_certified(f));
  f->attained = NAN;
  assert_false(idm_optimality_certified(f));
  assert_false(idm_optimality_certified(NULL));
  idm_optimality_destroy(f);
}

static void test_copy(void **state)
{
  (void)state;
  idm_optimality *f;
  idm_optimality *copy;
  check(idm_optimality_create(2, &f, &support_error));
  f->open = 1;
  f->direction = calloc(2, sizeof *f->direction);
  f->range = calloc(4, sizeof *f->range);
  f->at_box = calloc(4, sizeof *f->at_box);
  f->direction[1] = 3;
  f->range[3] = 7;
  f->at_box[2] = true;
  support_names(&f->state, (const char *const[]){"s"}, 1);
  support_names(&f->action, (const char *const[]){"u", "v"}, 2);
  f->policy = calloc(2, sizeof *f->policy);
  f->policy[1] = 1;
  f->compared = true;
  idm_notes_add(&f->words, "a word");
  idm_notes_add(&f->faults, "a fault");
  check(idm_optimality_copy(f, &copy, &support_error));
  idm_optimality_destroy(f);
  assert_near(copy->direction[1], 3, 0);
  assert_near(copy->range[3], 7, 0);
  assert_true(copy->at_box[2]);
  assert_near(copy->policy[1], 1, 0);
  assert_string_equal(copy->action.name[1], "v");
  assert_true(copy->compared);
  assert_string_equal(copy->words.text[0], "a word");
  assert_string_equal(copy->faults.text[0], "a fault");
  idm_optimality_destroy(copy);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_certificates),
                                     cmocka_unit_test(test_copy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
