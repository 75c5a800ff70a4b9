/* Tests the growing text buffer of drawings against expected texts: escaping, invalid bytes,
 * coordinates. */
#include "report/markup.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static void take(idm_markup *m, const char *expected)
{
  char *text;
  check(idm_markup_take(m, &text, &support_error));
  assert_string_equal(text, expected);
  assert_null(m->text);
  free(text);
}

static void empty(void **state)
{
  (void)state;
  idm_markup m = {0};
  take(&m, "");
}

static void escapes(void **state)
{
  (void)state;
  idm_markup m = {0};
  idm_markup_text(&m, "a<b>&\"c'\xC3\xA9");
  idm_markup_raw(&m, "<i/>", 4);
  take(&m, "a&lt;b&gt;&amp;&quot;c&#39;\xC3\xA9<i/>");
}

/* Control characters and bytes that are not UTF-8 are replaced by U+FFFD. */
static void bytes_that_no_document_holds(void **state)
{
  (void)state;
  idm_markup m = {0};
  idm_markup_text(&m, "a\x01"
                      "b\x1F\t\n"
                      "c\xFF"
                      "d\xC3");
  take(&m, "a\xEF\xBF\xBD"
           "b\xEF\xBF\xBD\t\n"
           "c\xEF\xBF\xBD"
           "d\xEF\xBF\xBD");
}

/* Text much longer than any buffer on the stack. */
static void grows(void **state)
{
  (void)state;
  idm_markup m = {0};
  char part[2000], *text;
  memset(part, 'x', sizeof part);
  part[sizeof part - 1] = '\0';
  for (int i = 0; i < 50; i++) idm_markup_add(&m, "%s|%d", part, i % 10);
  assert_int_equal(m.length, 50 * 2001);
  check(idm_markup_take(&m, &text, &support_error));
  assert_int_equal(strlen(text), 50 * 2001);
  for (size_t i = 0; i < 50; i++) {
    assert_memory_equal(text + i * 2001, part, 1999);
    assert_int_equal(text[i * 2001 + 1999], '|');
    assert_int_equal(text[i * 2001 + 2000], '0' + (int)i % 10);
  }
  free(text);
}

static void places(void **state)
{
  (void)state;
  idm_markup m = {0};
  const double place[] = {0, -0.001, 1.005001, 12, 1e6, -3.14159, 0.1};
  for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
    idm_markup_coordinate(&m, place[i]);
    idm_markup_raw(&m, " ", 1);
  }
  idm_markup_at(&m, "x", 2.5);
  take(&m, "0 0 1.01 12 1000000 -3.14 0.1  x=\"2.5\"");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(empty), cmocka_unit_test(escapes),
                                     cmocka_unit_test(bytes_that_no_document_holds),
                                     cmocka_unit_test(grows), cmocka_unit_test(places)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
