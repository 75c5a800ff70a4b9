/* Sorted names: found as labels are, repeated ones, and the word that was probably meant. */
#include "io/yaml/names.h"

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
  static const char *const asked[] = {"a", "b", "ab", "B",   "\xc3\xa9", "0",
                                      "1", "2", "6",  "7",   "06",       "-1",
                                      "",  "c", "A",  "0x1", " a",       "12345678901234567890"};
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
    assert_int_equal(idm_names_find(&names, asked[i]),
                     idm_labels_find(&labels, asked[i], strlen(asked[i])));
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

static void the_nearest_word_is_suggested(void **state)
{
  (void)state;
  static const char *const known[] = {"alpha", "beta", "eta", "temperature", "resolution"};
  static const char *const cases[][2] = {{"alfa", "alpha"},
                                         {"bata", "beta"},
                                         {"temprature", "temperature"},
                                         {"resolutions", "resolution"},
                                         {"zzzz", NULL},
                                         {"", NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *found = idm_names_suggest(cases[i][0], known, 5);
    if (!cases[i][1])
      assert_null(found);
    else
      assert_string_equal(found, cases[i][1]);
  }
  char longest[100];
  memset(longest, 'a', sizeof longest);
  longest[99] = '\0';
  assert_null(idm_names_suggest(longest, known, 5));
  assert_null(idm_names_suggest("a", (const char *const[]){longest}, 1));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(found_as_labels_are),
      cmocka_unit_test(repeated_names_are_found),
      cmocka_unit_test(the_nearest_word_is_suggested),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
