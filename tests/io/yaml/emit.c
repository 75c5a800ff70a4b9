/* YAML written by libyaml's emitter: whatever a text or a number is, our reader gives it back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "io/path_support.h"
#include "io/yaml/yaml.h"

/* --- support -------------------------------------------------------------------------------- */

/* What was written, as text and as a tree. */
typedef struct written {
  char *text;
  idm_yaml_tree *tree;
} written;

static written finish(idm_emitter *out)
{
  written w = {0};
  size_t length;
  check(idm_emit_end(out, &support_error));
  check(idm_file_read(path, (size_t)1 << 28, &w.text, &length, &support_error));
  if (idm_yaml_load(w.text, length, path, &w.tree, &support_error) != IDM_OK)
    fail_msg("%ld:%ld: %s in\n%.20000s", support_error.line, support_error.column,
             support_error.message, w.text);
  return w;
}

static void drop(written *w)
{
  idm_yaml_destroy(w->tree);
  free(w->text);
}

static void expect_text(const idm_yaml_node *node, const char *text)
{
  assert_true(idm_yaml_is_scalar(node));
  assert_string_equal(idm_yaml_text(node), text);
  assert_false(idm_yaml_is_null(node));
}

/* Every text as key and as value, of a mapping in a list: in block style and in flow. */
static void round_trip(const char *const *text, size_t count)
{
  static const idm_emit_style styles[] = {IDM_EMIT_BLOCK, IDM_EMIT_FLOW};
  static const char *const names[] = {"block", "flow"};
  idm_emitter out;
  idm_emit_begin(&out, path);
  for (int k = 0; k < 2; k++) {
    idm_emit_list(&out, names[k], styles[k]);
    for (size_t i = 0; i < count; i++) {
      idm_emit_mapping(&out, NULL, styles[k]);
      idm_emit_text(&out, text[i], text[i]);
      idm_emit_mapping_end(&out);
    }
    idm_emit_list_end(&out);
  }
  idm_emit_texts(&out, "texts", text, count);
  written w = finish(&out);
  const idm_yaml_node *root = idm_yaml_root(w.tree);
  for (int k = 0; k < 2; k++) {
    const idm_yaml_node *list = idm_yaml_find(w.tree, root, names[k]);
    assert_int_equal(idm_yaml_count(list), count);
    for (size_t i = 0; i < count; i++) {
      const idm_yaml_node *pair = idm_yaml_item(w.tree, list, i);
      assert_int_equal(idm_yaml_count(pair), 1);
      expect_text(idm_yaml_key(w.tree, pair, 0), text[i]);
      expect_text(idm_yaml_item(w.tree, pair, 0), text[i]);
    }
  }
  const idm_yaml_node *texts = idm_yaml_find(w.tree, root, "texts");
  assert_int_equal(idm_yaml_count(texts), count);
  for (size_t i = 0; i < count; i++) expect_text(idm_yaml_item(w.tree, texts, i), text[i]);
  drop(&w);
}

static size_t encode(unsigned long code, char *bytes)
{
  if (code < 0x80) return bytes[0] = (char)code, 1;
  const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = length; i-- > 1; code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
  bytes[0] = (char)((0xf00 >> length & 0xf0) | code);
  return length;
}

/* --- texts ---------------------------------------------------------------------------------- */

static void test_hostile_texts(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "",
      " ",
      "  lead",
      "trail ",
      " \n ",
      "\n",
      "\n\n\n",
      "a\n",
      "\na",
      "a\nb",
      "a \n b",
      "a\n\n  b\n",
      "a\r\nb",
      "a\tb",
      "\t",
      "'",
      "''",
      "\"",
      "it's",
      "say \"q\"",
      "'quoted'",
      "\"quoted\"",
      "\\",
      "\\n",
      "a\\",
      ":",
      ": ",
      "a:",
      "a: b",
      "a:b",
      ":a",
      "::",
      "-",
      "--",
      "---",
      "--- a",
      "- a",
      "-a",
      "...",
      "... ",
      "#",
      "# a",
      "a #b",
      "a#b",
      "%",
      "%TAG ! x",
      "%YAML 1.1",
      "@",
      "@a",
      "`",
      "`a`",
      "?",
      "? a",
      "?a",
      "!",
      "!tag",
      "!!str a",
      "&",
      "&a",
      "*",
      "*a",
      "|",
      "|-",
      ">",
      ">+",
      "<<",
      "=",
      ",",
      "a, b",
      "[",
      "]",
      "[]",
      "[a]",
      "{",
      "}",
      "{}",
      "{a: b}",
      "\xc3\xa9t\xc3\xa9",
      "\xe2\x82\xac",
      "\xf0\x9f\x99\x82",
      "\xc2\x85",
      "a\xc2\x85 b",
      "\xc2\xa0",
      "\xe2\x80\xa8",
      "a\xe2\x80\xa8 b\xe2\x80\xa9",
      "\xef\xbb\xbf",
      "\xef\xbb\xbf# a",
      "\xef\xbf\xbe",
      "\xef\xbf\xbf",
      "\x7f",
      "\x1b[0m",
  };
  round_trip(texts, sizeof texts / sizeof texts[0]);
}

/* What some reader takes for a truth value, nothing, a number or a date is in quotes. */
static void test_taken_words(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "yes",   "no",   "on",   "off",      "y",   "n",        "true",       "false",
      "null",  "inf",  "nan",  "Yes",      "NO",  "On",       "oFF",        "Y",
      "N",     "TRUE", "Null", "INF",      "NaN", "identity", "uniform",    "~",
      "",      "0",    "12",   "-3",       "+4",  "1.5",      ".5",         "5.",
      "1e3",   "-1E5", "0x1F", "0o17",     "017", "0b1",      "1_000",      ".inf",
      "-.inf", ".nan", "-inf", "12:30:45", "<<",  "=",        "2024-01-01", "1e400",
  };
  const size_t count = sizeof texts / sizeof texts[0];
  round_trip(texts, count);
  for (size_t i = 0; i < count; i++) {
    char *piece;
    char expected[40];
    snprintf(expected, sizeof expected, "\"%s\"", texts[i]);
    check(idm_emit_text_piece(texts[i], &piece, &support_error));
    assert_string_equal(piece, expected);
    free(piece);
  }
}

/* Every character there is, sixty-three to a text and each of the first thousand and more by
 * itself. */
static void test_every_character(void **state)
{
  (void)state;
  enum { alone = 0x600, width = 63, most = alone + 0x110000 / width + 1 };
  char **text = calloc(most, sizeof *text);
  assert_non_null(text);
  size_t count = 0;
  for (unsigned long code = 1; code < 0x110000; count++) {
    const unsigned long end = code < alone ? code + 1 : code + width;
    char bytes[4 * width + 1];
    size_t length = 0;
    for (; code < end && code < 0x110000; code++)
      if (code < 0xd800 || code > 0xdfff) length += encode(code, bytes + length);
    bytes[length] = '\0';
    assert_true(idm_utf8_valid(bytes, length));
    text[count] = strdup(bytes);
    assert_non_null(text[count]);
  }
  assert_true(count <= most);
  round_trip((const char *const *)text, count);
  for (size_t i = 0; i < count; i++) free(text[i]);
  free(text);
}

/* Short texts at random from what YAML gives a meaning to. */
static void test_random_texts(void **state)
{
  (void)state;
  static const char *const parts[] = {
      " ", "\n", "\r",   "\t", ":", "-",   "#",  "\"", "'", "\\",       ",",
      "[", "]",  "{",    "}",  "&", "*",   "!",  "|",  ">", "%",        "@",
      "`", "?",  ".",    "~",  "a", "b",   "0",  "1",  "e", "\xc2\x85", "\xe2\x80\xa8",
      "=", "<",  "\x01", "+",  "_", "yes", "\\x"};
  enum { count = 6000 };
  char **text = calloc(count, sizeof *text);
  assert_non_null(text);
  idm_random random;
  idm_random_init(&random, 7, 0);
  for (size_t i = 0; i < count; i++) {
    char bytes[64] = "";
    for (size_t k = (size_t)(9 * idm_random_uniform(&random)); k; k--)
      strcat(bytes, parts[(size_t)(40 * idm_random_uniform(&random))]);
    text[i] = strdup(bytes);
    assert_non_null(text[i]);
  }
  round_trip((const char *const *)text, count);
  for (size_t i = 0; i < count; i++) free(text[i]);
  free(text);
}

/* YAML's short form of a key ends at 1024 characters. */
static void test_long_texts(void **state)
{
  (void)state;
  static const size_t lengths[] = {120, 128, 129, 1000, 1023, 1024, 1025, 5000, 70000};
  static const char *const parts[] = {"k", "\x02", "\"", "word ", "\n", "\xf0\x9f\x99\x82"};
  enum { lengths_count = 9, parts_count = 6 };
  char *text[lengths_count * parts_count];
  for (size_t i = 0; i < lengths_count * parts_count; i++) {
    const char *part = parts[i % parts_count];
    const size_t length = lengths[i / parts_count];
    text[i] = calloc(length + 1, 1);
    assert_non_null(text[i]);
    for (size_t at = 0; at + strlen(part) <= length; at += strlen(part))
      memcpy(text[i] + at, part, strlen(part));
  }
  round_trip((const char *const *)text, lengths_count * parts_count);
  for (size_t i = 0; i < lengths_count * parts_count; i++) free(text[i]);
}

/* --- the rest ------------------------------------------------------------------------------- */

static double random_number(idm_random *random)
{
  double x = NAN;
  while (isnan(x)) {
    uint64_t bits = 0;
    for (int k = 0; k < 8; k++) bits = bits << 8 | (uint64_t)(256 * idm_random_uniform(random));
    memcpy(&x, &bits, sizeof x);
  }
  return x;
}

static void test_numbers(void **state)
{
  (void)state;
  static const double odd[] = {0.0, -0.0, INFINITY, -INFINITY, 4.9e-324, 1.7976931348623157e308,
                               0.1, 1e15, 1e16,     1.0 / 3,   -5e-5,    9007199254740993.0};
  enum { count = 30000 };
  double *number = calloc(count, sizeof *number);
  assert_non_null(number);
  idm_random random;
  idm_random_init(&random, 11, 0);
  for (size_t i = 0; i < count; i++)
    number[i] = i < sizeof odd / sizeof odd[0] ? odd[i] : random_number(&random);
  idm_emitter out;
  idm_emit_begin(&out, path);
  idm_emit_numbers(&out, "numbers", number, count);
  idm_emit_number(&out, "negative zero", -0.0);
  idm_emit_number(&out, "infinite", -INFINITY);
  idm_emit_integer(&out, "whole", UINT64_MAX);
  idm_emit_word(&out, "yes", "true");
  idm_emit_word(&out, "matrix", "identity");
  written w = finish(&out);
  const idm_yaml_node *list = idm_yaml_find(w.tree, idm_yaml_root(w.tree), "numbers");
  for (size_t i = 0; i < count; i++) {
    double value;
    check(idm_yaml_number(w.tree, idm_yaml_item(w.tree, list, i), "a number", true, &value));
    assert_memory_equal(&value, &number[i], sizeof value);
  }
  assert_non_null(strstr(w.text, "numbers: [0, -0.0, inf, -inf, "));
  assert_non_null(strstr(w.text, "]\n\"negative zero\": -0.0\ninfinite: -inf\n"
                                 "whole: 18446744073709551615\n\"yes\": true\n"
                                 "matrix: identity\n"));
  drop(&w);
  free(number);
}

static void test_layout(void **state)
{
  (void)state;
  char words[6001];
  for (size_t i = 0; i < 6000; i++) words[i] = i % 3 == 2 ? ' ' : 'w';
  words[6000] = '\0';
  idm_emitter out;
  idm_emit_begin(&out, path);
  idm_emit_mapping(&out, "a b", IDM_EMIT_BLOCK);
  idm_emit_text(&out, "two\nlines", "x\ny");
  idm_emit_list(&out, "rows", IDM_EMIT_BLOCK);
  idm_emit_numbers(&out, NULL, (const double[]){1, 0.5}, 2);
  idm_emit_numbers(&out, NULL, NULL, 0);
  idm_emit_list_end(&out);
  idm_emit_mapping_end(&out);
  idm_emit_mapping(&out, "none", IDM_EMIT_BLOCK);
  idm_emit_mapping_end(&out);
  idm_emit_mapping(&out, "flow", IDM_EMIT_FLOW);
  idm_emit_texts(&out, "in", (const char *const[]){"it", "1"}, 2);
  idm_emit_mapping(&out, "deep", IDM_EMIT_BLOCK);
  idm_emit_mapping_end(&out);
  idm_emit_mapping_end(&out);
  idm_emit_text(&out, "long", words);
  written w = finish(&out);
  static const char head[] = "\"a b\":\n  ? \"two\\nlines\"\n  : \"x\\ny\"\n  rows:\n"
                             "  - [1, 0.5]\n  - []\nnone: {}\n"
                             "flow: {in: [it, \"1\"], deep: {}}\nlong: \"ww ww ww ";
  if (strncmp(w.text, head, sizeof head - 1) != 0) fail_msg("%.*s", (int)sizeof head, w.text);
  /* The long text is on one line, the last. */
  const char *last = strstr(w.text, "long: ");
  assert_ptr_equal(strchr(last, '\n'), last + strlen(last) - 1);
  drop(&w);
}

static void test_pieces(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    const char *piece;
  } cases[] = {{"word", "word"},        {"two words", "\"two words\""},
               {"a\nb", "\"a\\nb\""},   {"\xc3\xa9", "\"\xc3\xa9\""},
               {"\xc2\x85", "\"\\N\""}, {"\xef\xbb\xbf", "\"\\uFEFF\""},
               {"\x01", "\"\\x01\""},   {"say \"q\"", "\"say \\\"q\\\"\""},
               {"x]", "\"x]\""}};
  char *piece;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check(idm_emit_text_piece(cases[i].text, &piece, &support_error));
    assert_string_equal(piece, cases[i].piece);
    free(piece);
  }
  check(idm_emit_texts_piece((const char *const[]){"a", "no", "c, d"}, 3, &piece, &support_error));
  assert_string_equal(piece, "[a, \"no\", \"c, d\"]");
  free(piece);
  check(idm_emit_texts_piece(NULL, 0, &piece, &support_error));
  assert_string_equal(piece, "[]");
  free(piece);
  idm_error error = {0};
  assert_int_equal(idm_emit_text_piece("\xff", &piece, &error), IDM_INPUT);
  assert_null(piece);
}

/* The first failure comes out, and no file is left. */
static void expect_failure(idm_emitter *out, idm_status status, const char *words)
{
  idm_error error = {0};
  assert_int_equal(idm_emit_end(out, &error), status);
  assert_int_equal(error.status, status);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
}

static void test_failures(void **state)
{
  (void)state;
  idm_emitter out;
  char missing[80];
  snprintf(missing, sizeof missing, "%s.yaml", path);
  if (access("/dev/full", W_OK) == 0) {
    idm_emit_begin(&out, "/dev/full");
    idm_emit_text(&out, "a", "b");
    expect_failure(&out, IDM_SYSTEM, "cannot write '/dev/full'");
    idm_emit_begin(&out, "/dev/full");
    for (int i = 0; i < 20000; i++) idm_emit_number(&out, "a", i);
    expect_failure(&out, IDM_SYSTEM, "cannot write '/dev/full'");
  }
  idm_emit_begin(&out, "/nowhere/x.yaml");
  idm_emit_text(&out, "\xff", "b");
  expect_failure(&out, IDM_SYSTEM, "cannot write '/nowhere/x.yaml'");
  static const char *const broken[] = {"\xff", "a\x80", "\xed\xa0\x80", "\xc0\x80", "\xe2\x82"};
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    idm_emit_begin(&out, missing);
    idm_emit_text(&out, i % 2 ? "key" : broken[i], broken[i]);
    idm_emit_number(&out, "more", 1);
    expect_failure(&out, IDM_INPUT, "?' is not UTF-8 text");
  }
  idm_emit_begin(&out, missing);
  (void)idm_fail_memory(&out.error);
  idm_emit_text(&out, "a", "b");
  expect_failure(&out, IDM_MEMORY, "out of memory");
  /* A list that is never ended. */
  idm_emit_begin(&out, missing);
  idm_emit_list(&out, "a", IDM_EMIT_BLOCK);
  expect_failure(&out, IDM_SYSTEM, "cannot write YAML");
  idm_emit_begin(&out, missing);
  idm_emit_list(&out, "a", IDM_EMIT_BLOCK);
  assert_int_equal(idm_emit_end(&out, NULL), IDM_SYSTEM);
  assert_int_not_equal(access(missing, F_OK), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hostile_texts),   cmocka_unit_test(test_taken_words),
      cmocka_unit_test(test_every_character), cmocka_unit_test(test_random_texts),
      cmocka_unit_test(test_long_texts),      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_layout),          cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_failures),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
