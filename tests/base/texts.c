/* Tests lists of texts, one per line: adding, finding, splitting, and texts that do not fit. */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static void added_texts_come_back(void **state)
{
  (void)state;
  static const char *const given[] = {"a.csv", "b c.csv", "x=1"};
  char texts[40] = "";
  const char *text;
  for (size_t i = 0; i < 3; i++)
    check(idm_texts_add(texts, sizeof texts, given[i], &support_error));
  assert_string_equal(texts, "a.csv\nb c.csv\nx=1");
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(idm_texts_at(texts, i, &text), strlen(given[i]));
    assert_memory_equal(text, given[i], strlen(given[i]));
  }
  assert_int_equal(idm_texts_at(texts, 3, &text), 0);
  size_t count = 9;
  char **list = idm_texts_split(texts, &count);
  assert_non_null(list);
  assert_int_equal(count, 3);
  for (size_t i = 0; i < 3; i++) assert_string_equal(list[i], given[i]);
  free(list);
  list = idm_texts_split("", &count);
  assert_int_equal(count, 0);
  free(list);
}

static void what_does_not_fit(void **state)
{
  (void)state;
  char texts[6] = "";
  assert_int_equal(idm_texts_add(texts, sizeof texts, "123456", NULL), IDM_USAGE);
  assert_int_equal(idm_texts_add(texts, sizeof texts, "", NULL), IDM_USAGE);
  assert_int_equal(idm_texts_add(texts, sizeof texts, "a\nb", NULL), IDM_USAGE);
  check(idm_texts_add(texts, sizeof texts, "123", &support_error));
  assert_int_equal(idm_texts_add(texts, sizeof texts, "45", NULL), IDM_USAGE);
  check(idm_texts_add(texts, sizeof texts, "4", &support_error));
  assert_string_equal(texts, "123\n4");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(added_texts_come_back),
      cmocka_unit_test(what_does_not_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
