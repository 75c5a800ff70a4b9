/* Sorted names: found as labels are, and repeated ones. */
#include "io/yaml/yaml.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

/* Whatever the labels, a name is found where idm_labels_find finds it. */
static void found_as_labels_are(void **state)
{
  (void)state;
  idm_labels labels = {0};
  idm_names names;
  SUPPORT_NAMES(&labels, "b", "a", "2", "ab", "\xc3\xa9", "0x1", "B");
  check(idm_names_create(&labels, &names, &support_error));
  assert_int_equal(idm_names_repeated(&names), -1);
  static const char *const queried[] = {"a", "b", "ab", "B",   "\xc3\xa9", "0",
                                        "1", "2", "6",  "7",   "06",       "-1",
                                        "",  "c", "A",  "0x1", " a",       "12345678901234567890"};
  for (size_t i = 0; i < sizeof queried / sizeof queried[0]; i++)
    assert_int_equal(idm_names_find(&names, queried[i]),
                     idm_labels_find(&labels, queried[i], strlen(queried[i])));
  assert_int_equal(idm_names_find(&names, "2"), 2); /* a label beats a number */
  idm_names_destroy(&names);
  idm_names_destroy(&names);
  idm_labels_destroy(&labels);
}

static void repeated_names_are_found(void **state)
{
  (void)state;
  idm_labels labels = {0};
  idm_names names;
  SUPPORT_NAMES(&labels, "z", "y", "x", "y", "z");
  check(idm_names_create(&labels, &names, &support_error));
  assert_int_equal(idm_names_repeated(&names), 3);
  idm_names_destroy(&names);
  idm_labels_destroy(&labels);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(found_as_labels_are),
      cmocka_unit_test(repeated_names_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
