/* Fields of settings from YAML: every kind of key, its range, and where a wrong one stands. */
#include "io/yaml/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/key_support.h"

/* Read every pair of a mapping into the fields; the status of the first that fails. */
static idm_status read_all(const char *text, fields *f, idm_error *error)
{
  idm_yaml_tree *tree;
  check(idm_yaml_load(text, strlen(text), "k.yaml", &tree, error));
  const idm_yaml_node *root = idm_yaml_root(tree);
  idm_status status = IDM_OK;
  for (size_t i = 0; i < idm_yaml_count(root) && status == IDM_OK; i++) {
    const idm_key *key = idm_key_find(keys, idm_yaml_text(idm_yaml_key(tree, root, i)));
    assert_non_null(key);
    status = idm_yaml_read_key(tree, idm_yaml_item(tree, root, i), key, "fit.it", f);
  }
  idm_yaml_destroy(tree);
  return status;
}

static void every_kind_is_read(void **state)
{
  (void)state;
  fields f = {.word = -1};
  idm_error error = {0};
  assert_int_equal(read_all("number: 0.1\nwhole: 9\nlength: 1000000000\ncount: 12\n"
                            "seed: 18446744073709551615\nflag: true\nword: high\ntext: seven..\n",
                            &f, &error),
                   IDM_OK);
  assert_true(f.number == 0.1 && f.flag);
  assert_int_equal(f.whole, 9);
  assert_int_equal(f.length, 1000000000);
  assert_int_equal(f.count, 12);
  assert_true(f.seed == UINT64_MAX);
  assert_int_equal(f.word, 1);
  assert_string_equal(f.text, "seven..");
}

/* A wrong value is refused at its place, named and with what may stand there; the field stays. */
static void wrong_values_are_refused(void **state)
{
  (void)state;
  static const char *const wrong[] = {"number: 0",
                                      "number: -1",
                                      "number: inf",
                                      "number: many",
                                      "number: [1]",
                                      "whole: 0",
                                      "whole: 10",
                                      "whole: 1.5",
                                      "whole: few",
                                      "length: -1",
                                      "length: 2e9",
                                      "count: -1",
                                      "count: {a: 1}",
                                      "seed: -1",
                                      "seed: 1.5",
                                      "seed: [1]",
                                      "seed: 18446744073709551616",
                                      "flag: perhaps",
                                      "flag: 1",
                                      "word: middle",
                                      "word: [low]",
                                      "text: eight...",
                                      "text: [a]"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    fields f = {.number = 3, .whole = 4, .length = 5, .count = 6, .seed = 7, .text = "old"};
    const fields before = f;
    idm_error error = {0};
    const long column = (long)(strchr(wrong[i], ':') - wrong[i]) + 3;
    if (read_all(wrong[i], &f, &error) != IDM_INPUT) fail_msg("'%s' was read", wrong[i]);
    assert_string_equal(error.file, "k.yaml");
    assert_int_equal(error.line, 1);
    assert_int_equal(error.column, column);
    if (!strstr(error.message, "fit.it") || !strstr(error.message, "expected"))
      fail_msg("'%s': %s", wrong[i], error.message);
    for (const idm_key *key = keys; key->name; key++)
      assert_true(idm_key_same(key, &f, &before, 0));
  }
}

/* What a field holds, written as text, is read back as the same. */
static void what_is_written_is_read(void **state)
{
  (void)state;
  const fields f = {.number = 1.0 / 3,
                    .whole = 7,
                    .length = 123456789,
                    .count = 5,
                    .seed = 9007199254740993u,
                    .flag = true,
                    .word = 1,
                    .text = "a b"};
  for (const idm_key *key = keys; key->name; key++) {
    char value[64], line[120];
    fields g = {0};
    idm_error error = {0};
    snprintf(line, sizeof line, "%s: %s\n", key->name, idm_key_text(key, &f, value, sizeof value));
    assert_int_equal(read_all(line, &g, &error), IDM_OK);
    assert_true(idm_key_same(key, &f, &g, 0));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_is_read),
      cmocka_unit_test(wrong_values_are_refused),
      cmocka_unit_test(what_is_written_is_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
