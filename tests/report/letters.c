/* Tests the estimated width of texts and their truncation to a width, for one-byte and multi-byte
 * characters. */
#include "report/markup.h"

#include <string.h>

#include "support.h"

static const char ellipsis[] = "\xE2\x80\xA6";

static void widths(void **state)
{
  (void)state;
  assert_near(idm_text_width(""), 0, 0);
  assert_true(idm_text_width("iii") < idm_text_width("mmm"));
  assert_near(idm_text_width("ab") + idm_text_width("cd"), idm_text_width("abcd"), 1e-12);
  /* All digits have equal width, as in the tabular figures of every typeface. */
  for (char d[] = "1"; *d <= '9'; (*d)++) assert_near(idm_text_width(d), idm_text_width("0"), 0);
  /* A character of two bytes counts as one; a CJK character is twice as wide. */
  assert_true(idm_text_width("\xCE\xB1") < 1);
  assert_near(idm_text_width("\xE6\xBC\xA2"), 2 * idm_text_width("\xCE\xB1"), 1e-12);
  /* Bytes that are not UTF-8 have a width and do not read past the end of the text. */
  assert_true(idm_text_width("\xFF\xC3") > 0);
}

static void fits(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "monitor", "\xCE\xB1\xCE\xB2\xCE\xB3\xCE\xB4\xCE\xB5", "",
      "a name longer than any buffer, which goes on and on and on and on"};
  char buffer[64];
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    for (double width = 0; width < 40; width += 0.37) {
      const char *kept = idm_text_fit(texts[i], width, buffer, sizeof buffer);
      const size_t length = strlen(kept);
      assert_ptr_equal(kept, buffer);
      assert_true(length < sizeof buffer);
      if (strcmp(kept, texts[i]) == 0) {
        assert_true(idm_text_width(texts[i]) <= width);
        continue;
      }
      assert_true(length >= strlen(ellipsis));
      assert_string_equal(kept + length - strlen(ellipsis), ellipsis);
      assert_memory_equal(kept, texts[i], length - strlen(ellipsis));
      assert_true(idm_text_width(kept) <= width || length == strlen(ellipsis));
      /* No multi-byte character is cut. */
      assert_int_not_equal((unsigned char)texts[i][length - strlen(ellipsis)] & 0xC0, 0x80);
    }
}

/* Elision keeps a prefix and a suffix of the text. */
static void squeezes(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "steps 11 to 30, declare_diseased", "\xCE\xB1\xCE\xB2\xCE\xB3\xCE\xB4\xCE\xB5", "",
      "a name longer than any buffer, which goes on and on and on and on, and then still further"};
  char buffer[64];
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    for (double width = 0; width < 60; width += 0.37) {
      const char *kept = idm_text_elide(texts[i], width, buffer, sizeof buffer);
      assert_true(strlen(kept) < sizeof buffer);
      if (strcmp(kept, texts[i]) == 0) {
        assert_true(idm_text_width(texts[i]) <= width);
        continue;
      }
      const char *at = strstr(kept, ellipsis);
      assert_non_null(at);
      const size_t before = (size_t)(at - kept), behind = strlen(at + strlen(ellipsis));
      assert_memory_equal(kept, texts[i], before);
      assert_string_equal(at + strlen(ellipsis), texts[i] + strlen(texts[i]) - behind);
      assert_true(idm_text_width(kept) <= width || before + behind == 0);
      assert_int_not_equal((unsigned char)texts[i][before] & 0xC0, 0x80);
      assert_int_not_equal((unsigned char)at[strlen(ellipsis)] & 0xC0, 0x80);
    }
  assert_string_equal(idm_text_elide("one and two", 5, buffer, sizeof buffer),
                      "one\xE2\x80\xA6 two");
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(widths), cmocka_unit_test(fits),
                                     cmocka_unit_test(squeezes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
