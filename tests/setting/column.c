/* Tests descriptors of columns: each is consistent, and no two share a name. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "support.h"

static void descriptors_are_consistent(void **state)
{
  (void)state;
  for (int c = 0; c < IDM_COLUMN_COUNT; c++) {
    const idm_column_info *info = idm_column_describe((idm_column)c);
    size_t names = 0;
    assert_true(info->key && info->key[0] && info->what && info->what[0]);
    while (names < 9 && info->names[names]) names++;
    assert_true(names < 9); /* the list is terminated */
    assert_true(info->defaults >= 1 && info->defaults <= names);
    /* By default a column is found under its key. */
    assert_string_equal(info->names[0], info->key);
    /* Columns that every log has are not requested as evidence; columns of numbers and of labels
     * are. */
    assert_false(info->required && info->evidence);
    assert_true(info->evidence ==
                (info->kind == IDM_COLUMN_NUMBER || info->kind == IDM_COLUMN_LABEL));
    assert_true(isnan(info->least) == 0);
    if (info->whole) assert_int_equal(info->kind, IDM_COLUMN_NUMBER);
  }
}

static void names_belong_to_one_column(void **state)
{
  (void)state;
  for (int a = 0; a < IDM_COLUMN_COUNT; a++)
    for (int b = 0; b < IDM_COLUMN_COUNT; b++) {
      const idm_column_info *x = idm_column_describe((idm_column)a);
      const idm_column_info *y = idm_column_describe((idm_column)b);
      for (size_t i = 0; x->names[i]; i++)
        for (size_t j = 0; y->names[j]; j++)
          if (a != b || i != j) assert_true(strcasecmp(x->names[i], y->names[j]) != 0);
      if (a != b) assert_string_not_equal(x->key, y->key);
    }
}

/* A set of columns is stored in the bits of an unsigned. */
static void columns_fit_into_a_set(void **state)
{
  (void)state;
  assert_true(IDM_COLUMN_COUNT < 8 * sizeof(unsigned));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(descriptors_are_consistent),
      cmocka_unit_test(names_belong_to_one_column),
      cmocka_unit_test(columns_fit_into_a_set),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
