/* The tree of a YAML document: nodes, places of failures, numbers, and names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/yaml/yaml.h"

static idm_yaml_tree *load(const char *text, idm_error *error)
{
  idm_yaml_tree *tree = NULL;
  *error = (idm_error){0};
  assert_int_equal(idm_yaml_load(text, strlen(text), "t.yaml", &tree, error), IDM_OK);
  assert_non_null(tree);
  return tree;
}

static void expect_failure(const char *text, size_t length, long line, long column,
                           const char *words)
{
  idm_error error = {0};
  idm_yaml_tree *tree = NULL;
  assert_int_equal(idm_yaml_load(text, length, "t.yaml", &tree, &error), IDM_INPUT);
  assert_null(tree);
  assert_string_equal(error.file, "t.yaml");
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
  assert_int_equal(error.line, line);
  assert_int_equal(error.column, column);
}

static void test_nodes(void **state)
{
  (void)state;
  idm_error error;
  idm_yaml_tree *tree = load("a: [1, two, ~]\nb: {c: &x \"3\", d: *x}\n", &error);
  const idm_yaml_node *root = idm_yaml_root(tree);
  assert_true(idm_yaml_is_mapping(root));
  assert_int_equal(idm_yaml_count(root), 2);
  const idm_yaml_node *a = idm_yaml_find(tree, root, "a");
  assert_true(idm_yaml_is_list(a));
  assert_int_equal(idm_yaml_count(a), 3);
  assert_string_equal(idm_yaml_text(idm_yaml_item(tree, a, 1)), "two");
  assert_true(idm_yaml_is_null(idm_yaml_item(tree, a, 2)));
  assert_false(idm_yaml_is_null(a));
  const idm_yaml_node *b = idm_yaml_find(tree, root, "b");
  assert_string_equal(idm_yaml_text(idm_yaml_key(tree, b, 1)), "d");
  assert_ptr_equal(idm_yaml_item(tree, b, 0), idm_yaml_item(tree, b, 1));
  assert_null(idm_yaml_find(tree, root, "c"));
  assert_null(idm_yaml_find(tree, a, "c"));
  assert_int_equal(idm_yaml_count(idm_yaml_item(tree, a, 0)), 0);
  assert_int_equal(idm_yaml_unexpected(tree, a, "a", "a word"), IDM_INPUT);
  assert_string_equal(error.message, "a is a list of 3; expected a word");
  assert_int_equal(error.line, 1);
  assert_int_equal(error.column, 4);
  idm_yaml_destroy(tree);
  idm_yaml_destroy(NULL);
}

static void test_bad_documents(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    long line, column;
    const char *words;
  } cases[] = {
      {"", 1, 1, "empty"},
      {"# only a comment\n", 1, 1, "empty"},
      {"a: 1\n---\nb: 2\n", 2, 1, "second YAML document"},
      {"a: 1\n---\n[", 2, 1, "second YAML document"},
      {"%TAG ! tag:x:\n---\na: 1\n", 1, 1, "%TAG"},
      {"a: [1, 2\nb: 3\n", 2, 2, "not YAML"},
      {"a: 1\na: 2\n", 2, 1, "'a' is given twice"},
      {"x: {b: 1, c: 2, b: 3}\n", 1, 17, "'b' is given twice"},
      {"? [a]\n: 1\n", 1, 3, "a key is a list of 1; expected a word"},
      {"a: *nowhere\n", 1, 4, "undefined alias"},
      {"a: !!binary aGk=\n", 1, 4, "tag"},
      {"a: !mine 1\n", 1, 4, "tag"},
      {"a: \"b\\0c\"\n", 1, 4, "NUL"},
      {"a: b\nc: \x01\n", 2, 4, "control characters"},
      {"a: b\nc: \xff\xfe\n", 2, 4, "UTF-8"},
      {"a:\n\t- b\n", 2, 1, "cannot start any token"},
      {"%YAML 9.9\n---\na: 1\n", 1, 1, "incompatible"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_failure(cases[i].text, strlen(cases[i].text), cases[i].line, cases[i].column,
                   cases[i].words);
}

/* Cycles and shared nodes load; nothing here walks without bound. */
static void test_aliases(void **state)
{
  (void)state;
  idm_error error;
  idm_yaml_tree *tree = load("&a [*a, *a]\n", &error);
  const idm_yaml_node *root = idm_yaml_root(tree);
  assert_ptr_equal(idm_yaml_item(tree, root, 0), root);
  idm_yaml_destroy(tree);
  tree = load("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n", &error);
  idm_yaml_destroy(tree);
}

/* Refused within the first levels, however long the file is. */
static void test_deep_nesting(void **state)
{
  (void)state;
  const size_t length = 4000000;
  char *text = malloc(length);
  assert_non_null(text);
  memset(text, '[', length);
  expect_failure(text, length, 1, 33, "nested too deeply; expected at most 32 levels");
  for (size_t i = 0; i < length; i++) text[i] = i % 2 ? ' ' : '-';
  expect_failure(text, length, 1, 65, "nested too deeply");
  for (size_t i = 0; i < length; i++) text[i] = i % 2 ? ' ' : '?';
  expect_failure(text, length, 1, 65, "nested too deeply");
  free(text);
}

static void test_many_anchors(void **state)
{
  (void)state;
  const size_t count = 100000;
  char *text = malloc(count * 16 + 2);
  assert_non_null(text);
  size_t length = 0;
  for (size_t i = 0; i < count; i++)
    length += (size_t)snprintf(text + length, 16, "- &a%zu x\n", i);
  expect_failure(text, length, 1001, 3, "too many anchors; expected at most 1000");
  free(text);
}

static void test_numerals(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    idm_yaml_numeral kind;
    double value;
  } cases[] = {
      {"1", IDM_YAML_NUMBER, 1},
      {"-2.5e3", IDM_YAML_NUMBER, -2500},
      {"+.5", IDM_YAML_NUMBER, 0.5},
      {"5.", IDM_YAML_NUMBER, 5},
      {"inf", IDM_YAML_NUMBER, INFINITY},
      {"-inf", IDM_YAML_NUMBER, -INFINITY},
      {"+inf", IDM_YAML_NUMBER, INFINITY},
      {".inf", IDM_YAML_NUMBER, INFINITY},
      {"-.Inf", IDM_YAML_NUMBER, -INFINITY},
      {"4.9e-324", IDM_YAML_NUMBER, 4.9e-324},
      {"nan", IDM_YAML_ILLEGAL, 0},
      {"-.NaN", IDM_YAML_ILLEGAL, 0},
      {"0x10", IDM_YAML_ILLEGAL, 0},
      {"-0X1p3", IDM_YAML_ILLEGAL, 0},
      {"1e999", IDM_YAML_ILLEGAL, 0},
      {"", IDM_YAML_TEXT, 0},
      {" 1", IDM_YAML_TEXT, 0},
      {"1 ", IDM_YAML_TEXT, 0},
      {"1e", IDM_YAML_TEXT, 0},
      {"1e+", IDM_YAML_TEXT, 0},
      {".", IDM_YAML_TEXT, 0},
      {"-", IDM_YAML_TEXT, 0},
      {"1,5", IDM_YAML_TEXT, 0},
      {"infinity", IDM_YAML_TEXT, 0},
      {"--1", IDM_YAML_TEXT, 0},
      {"cost", IDM_YAML_TEXT, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double value = 0;
    if (idm_yaml_parse_number(cases[i].text, &value) != cases[i].kind)
      fail_msg("'%s' was read as another kind", cases[i].text);
    if (value != cases[i].value) fail_msg("'%s' is %g", cases[i].text, value);
  }
  double zero = 1;
  assert_int_equal(idm_yaml_parse_number("-0.0", &zero), IDM_YAML_NUMBER);
  assert_true(zero == 0 && signbit(zero));
}

static void test_values(void **state)
{
  (void)state;
  idm_error error;
  idm_yaml_tree *tree = load("[3, 2.5, true, inf, word, [1], 1e10]", &error);
  const idm_yaml_node *root = idm_yaml_root(tree);
  const idm_yaml_node *item[7];
  for (size_t i = 0; i < 7; i++) item[i] = idm_yaml_item(tree, root, i);
  long integer = 0;
  double number = 0;
  bool truth = false;
  assert_int_equal(idm_yaml_integer(tree, item[0], "n", 1, &integer), IDM_OK);
  assert_int_equal(integer, 3);
  assert_int_equal(idm_yaml_integer(tree, item[0], "n", 4, &integer), IDM_INPUT);
  assert_string_equal(error.message, "n is '3'; expected an integer from 4 to 1000000000");
  assert_int_equal(idm_yaml_integer(tree, item[1], "n", 1, &integer), IDM_INPUT);
  assert_int_equal(idm_yaml_integer(tree, item[3], "n", 1, &integer), IDM_INPUT);
  assert_int_equal(idm_yaml_integer(tree, item[6], "n", 1, &integer), IDM_INPUT);
  assert_int_equal(idm_yaml_boolean(tree, item[2], "b", &truth), IDM_OK);
  assert_true(truth);
  assert_int_equal(idm_yaml_boolean(tree, item[4], "b", &truth), IDM_INPUT);
  assert_string_equal(error.message, "b is 'word'; expected false or true");
  assert_int_equal(error.column, 21);
  assert_int_equal(idm_yaml_number(tree, item[3], "x", true, &number), IDM_OK);
  assert_true(isinf(number));
  assert_int_equal(idm_yaml_number(tree, item[3], "x", false, &number), IDM_INPUT);
  assert_int_equal(idm_yaml_number(tree, item[5], "x", true, &number), IDM_INPUT);
  assert_string_equal(error.message, "x is a list of 1; expected a number, inf or -inf");
  idm_yaml_destroy(tree);
}

static void test_unknown_words(void **state)
{
  (void)state;
  static const char *const known[] = {"discount", "horizon", "utility", NULL};
  idm_error error;
  idm_yaml_tree *tree = load("horizon: 1\ndiscont: 2\n", &error);
  assert_int_equal(idm_yaml_check_keys(tree, idm_yaml_root(tree), "the problem", known), IDM_INPUT);
  assert_string_equal(error.message,
                      "in the problem, the key 'discont' is unknown; did you mean 'discount'?");
  assert_int_equal(error.line, 2);
  assert_int_equal(error.column, 1);
  idm_yaml_destroy(tree);
  tree = load("zzz: 2\n", &error);
  assert_int_equal(idm_yaml_check_keys(tree, idm_yaml_root(tree), "the problem", known), IDM_INPUT);
  assert_string_equal(
      error.message,
      "in the problem, the key 'zzz' is unknown; expected one of discount, horizon, utility");
  idm_yaml_destroy(tree);
}

static void test_names(void **state)
{
  (void)state;
  char *text[] = {(char[]){"b"}, (char[]){"1"}, (char[]){"a"}, (char[]){"b"}, (char[]){"a"}};
  const idm_labels labels = {5, text};
  idm_names names;
  assert_int_equal(idm_names_create(&labels, &names, NULL), IDM_OK);
  assert_int_equal(idm_names_repeated(&names), 3);
  assert_int_equal(idm_names_find(&names, "a"), 2);
  assert_int_equal(idm_names_find(&names, "1"), 1);
  assert_int_equal(idm_names_find(&names, "4"), 4);
  assert_int_equal(idm_names_find(&names, "5"), -1);
  assert_int_equal(idm_names_find(&names, ""), -1);
  assert_int_equal(idm_names_find(&names, "99999999999999999999"), -1);
  idm_names_destroy(&names);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nodes),        cmocka_unit_test(test_bad_documents),
      cmocka_unit_test(test_aliases),      cmocka_unit_test(test_deep_nesting),
      cmocka_unit_test(test_many_anchors), cmocka_unit_test(test_numerals),
      cmocka_unit_test(test_values),       cmocka_unit_test(test_unknown_words),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
