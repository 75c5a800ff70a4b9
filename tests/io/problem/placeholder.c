/* Placeholders that nobody has filled in: all their lines in one sentence. */
#include "io/problem/yaml.h"

#include "io/problem/problem_support.h"

static void expect_lines(const char *text, long first, const char *words)
{
  idm_yaml_tree *tree;
  idm_error error = {0};
  check(idm_yaml_load(text, strlen(text), "p.yaml", &tree, &support_error));
  tree->opt_error = &error;
  assert_int_equal(idm_yaml_check_placeholders(tree), words ? IDM_INPUT : IDM_OK);
  if (words) {
    support_expect_place(&error, first, 1, words);
    assert_string_equal(error.file, "p.yaml");
    /* Nothing follows the last line. */
    assert_string_equal(error.message + strlen(error.message) - strlen(words), words);
  }
  idm_yaml_destroy(tree);
}

static void test_lines(void **state)
{
  (void)state;
  expect_lines("a: 1\n", 0, NULL);
  expect_lines("a: FILL_IN\n", 1,
               "1 placeholder (FILL_IN) that `idm init` or `idm learn` left is still to be filled "
               "in, on line 1");
  expect_lines(
      "x: 0\na: [FILL_IN, FILL_IN]\n", 2,
      "2 placeholders (FILL_IN) that `idm init` or `idm learn` left are still to be filled "
      "in, on line 2");
  expect_lines("a: FILL_IN\nb: 1\nc: FILL_IN\n", 1, "on lines 1 and 3");
  expect_lines(
      "a: FILL_IN\nb: FILL_IN\nc: FILL_IN\n", 1,
      "3 placeholders (FILL_IN) that `idm init` or `idm learn` left are still to be filled "
      "in, on lines 1 to 3");
  expect_lines("a: FILL_IN\n\nc: 1\nd: FILL_IN\ne: FILL_IN\n\nf: FILL_IN\n", 1,
               "on lines 1, 4 to 5 and 7");
  /* Keys count like values, by their place in the file, not in the tree. */
  expect_lines("a: {b: 1,\n FILL_IN: 2}\nc: [FILL_IN,\n 1]\n", 2, "on lines 2 to 3");
}

/* A text in quotes, or one that only holds the word, is somebody's own. */
static void test_texts(void **state)
{
  (void)state;
  expect_lines("a: \"FILL_IN\"\nb: 'FILL_IN'\nc: FILL_IN_NOT\nd: fill_in\n# FILL_IN\n", 0, NULL);
}

/* Hundreds of them: the sentence ends in time. */
static void test_many(void **state)
{
  (void)state;
  enum { count = 400 };
  char text[count * 32] = "";
  size_t length = 0;
  idm_yaml_tree *tree;
  idm_error error = {0};
  for (int i = 0; i < count; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, "k%d: FILL_IN\nz%d: 1\n", i, i);
  check(idm_yaml_load(text, length, "p.yaml", &tree, &support_error));
  tree->opt_error = &error;
  assert_int_equal(idm_yaml_check_placeholders(tree), IDM_INPUT);
  support_expect_place(&error, 1, 1, "400 placeholders");
  assert_non_null(strstr(error.message, "on lines 1, 3, 5, 7"));
  idm_yaml_destroy(tree);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_texts),
                                     cmocka_unit_test(test_many)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
