/* Tests suggestions: a misspelt word returns the nearest known word, anything else returns none. */
#include "base/text.h"

#include <string.h>

#include "support.h"

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
    const char *found = idm_suggest(cases[i][0], known, 5);
    if (!cases[i][1])
      assert_null(found);
    else
      assert_string_equal(found, cases[i][1]);
  }
  char longest[100];
  memset(longest, 'a', sizeof longest);
  longest[99] = '\0';
  assert_null(idm_suggest(longest, known, 5));
  assert_null(idm_suggest("a", (const char *const[]){longest}, 1));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_nearest_word_is_suggested),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
