/* Tests the encoding and decoding of every UTF-8 code, and every malformed form. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

/* Encodes a code by the definition of UTF-8 (RFC 3629). Returns the number of bytes. */
static size_t encode(unsigned long code, char *bytes)
{
  if (code < 0x80) {
    bytes[0] = (char)code;
    return 1;
  }
  const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = length; i-- > 1; code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
  bytes[0] = (char)((0xf00 >> length & 0xff) | code);
  return length;
}

static void every_code_is_read_back(void **state)
{
  (void)state;
  for (unsigned long code = 0; code < 0x110000; code++) {
    char bytes[4];
    unsigned long found = 0;
    const size_t length = encode(code, bytes);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    assert_int_equal(idm_utf8_decode(bytes, length, &found), surrogate ? 0 : length);
    if (!surrogate) assert_int_equal(found, code);
    if (length > 1) assert_int_equal(idm_utf8_decode(bytes, length - 1, &found), 0);
  }
}

static void malformed_forms_are_refused(void **state)
{
  (void)state;
  const char *const bad[] = {"\x80",
                             "\xc0\x80",
                             "\xc1\xbf",
                             "\xe0\x9f\xbf",
                             "\xed\xa0\x80",
                             "\xf0\x8f\xbf\xbf",
                             "\xf4\x90\x80\x80",
                             "\xf8\x88\x80\x80\x80",
                             "\xff",
                             "\xc3(",
                             "a\xe9"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_false(idm_utf8_valid(bad[i], strlen(bad[i])));
  assert_true(idm_utf8_valid("", 0));
  assert_true(idm_utf8_valid("Z\xc3\xbcrich \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x99\x82", 19));
}

static void controls_are_not_plain(void **state)
{
  (void)state;
  static const char *const texts[][2] = {{"", ""},
                                         {"a b", "a b"},
                                         {"caf\xc3\xa9", "caf\xc3\xa9"},
                                         {"a\nb\tc", "a?b?c"},
                                         {"\x7f\x1b[0m", "??[0m"},
                                         {"x\xc2\x85y\xc2\xa0z", "x?y\xc2\xa0z"},
                                         {"a\xe9z\xf0\x9f", "a?z??"}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    char shown[40];
    snprintf(shown, sizeof shown, "%s", texts[i][0]);
    idm_utf8_sanitise(shown);
    assert_string_equal(shown, texts[i][1]);
    assert_int_equal(idm_utf8_is_printable(texts[i][0], strlen(texts[i][0])),
                     strcmp(texts[i][0], texts[i][1]) == 0);
  }
}

/* Columns: one per letter, none per combining mark, two per wide character. Texts are cut between
 * characters. */
static void columns_are_counted(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    size_t columns;
    size_t fits; /* bytes that fit into three columns */
  } cases[] = {
      {"", 0, 0},
      {"abcd", 4, 3},
      {"M\xc3\xbcnchen", 7, 4},                   /* u with diaeresis, one code */
      {"Mu\xcc\x88nchen", 7, 5},                  /* the same, decomposed */
      {"\xe6\x9d\xb1\xe4\xba\xac", 4, 3},         /* two ideographs, two columns each; one fits */
      {"\xce\xb1\xce\xb2\xce\xb3\xce\xb4", 4, 6}, /* Greek */
      {"\xff\xfe", 2, 2},                         /* malformed: one column per byte */
      {"ab\xf0\x9f\x99\x82", 4, 2},               /* an emoji has two columns */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(idm_utf8_width(cases[i].text, strlen(cases[i].text)), cases[i].columns);
    assert_int_equal(idm_utf8_fit(cases[i].text, 3), cases[i].fits);
    assert_int_equal(idm_utf8_fit(cases[i].text, 100), strlen(cases[i].text));
  }
  for (char c = ' '; c < 0x7f; c++) assert_int_equal(idm_utf8_width(&c, 1), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_code_is_read_back),
      cmocka_unit_test(malformed_forms_are_refused),
      cmocka_unit_test(controls_are_not_plain),
      cmocka_unit_test(columns_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
