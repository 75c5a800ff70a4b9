/* `derive` and `rules` of a YAML problem: read, written, compared, and every mistake in them. */
#include "io/problem/reader.h"

#include <stdio.h>
#include <string.h>

#include "support.h"

static const char head[] =
    "states: [a, b]\nactions: [test, wait]\nobservations: [x, y]\ndiscount: 0.9\n"
    "transition: {'*': identity}\nobservation: {'*': uniform}\nutility: {test: -1, wait: 0}\n";

static idm_status parse(const char *data, idm_problem **ret_problem, idm_error *error)
{
  static char text[4000];
  snprintf(text, sizeof text, "%sdata:\n%s", head, data);
  return idm_problem_parse_yaml(text, strlen(text), "p.yaml", ret_problem, NULL, error);
}

static const char whole[] =
    "  derive:\n"
    "    cdr: {cut: CDRSB, at: [0, 2.5], labels: [normal, '0', 'yes'], closed: left}\n"
    "    volume: {cut: Hippocampus, sd: [-0.5, 0.5], labels: [low, mid, high], missing: none}\n"
    "    frozen: {cut: Hippocampus, sd: [-1], at: [17.25], labels: [low, high]}\n"
    "    action: {recode: volume, labels: {none: wait, 'a: b': test}, missing: wait, else: test}\n"
    "    observation: {product: [cdr, volume], missing: x}\n"
    "    after: {next: cdr, missing: x}\n"
    "  rules:\n"
    "    - {require: DX}\n"
    "    - {keep: 'AGE >= 55'}\n"
    "    - {drop: 'SITE=a, b'}\n"
    "    - {duplicates: last}\n"
    "    - {truncate: {column: M, every: 0.1}}\n"
    "    - {ends: {column: DX, in: [NL, 'MCI: x']}}\n"
    "    - {least: 2}\n";

static void test_round_trip(void **state)
{
  (void)state;
  idm_problem *first;
  idm_problem *second;
  char path[SUPPORT_PATH];
  char difference[200];
  check(parse(whole, &first, &support_error));
  assert_int_equal(first->columns.derived_count, 6);
  assert_int_equal(first->columns.rules, 7);
  support_path(path);
  check(idm_problem_write_yaml(first, path, NULL, &support_error));
  check(idm_problem_read(path, &second, NULL, &support_error));
  if (!idm_problem_compare(first, second, 0, difference, sizeof difference))
    fail_msg("%s differ", difference);
  remove(path);
  /* Every part counts. */
  second->columns.derived[2].at[0] = 17;
  assert_false(idm_problem_compare(first, second, 0, difference, sizeof difference));
  assert_string_equal(difference, "derived columns");
  second->columns.derived[2].at[0] = 17.25;
  second->columns.rule[6].least = 3;
  assert_false(idm_problem_compare(first, second, 0, difference, sizeof difference));
  assert_string_equal(difference, "rules of the data");
  idm_problem_destroy(first);
  idm_problem_destroy(second);
}

static void test_rule_texts(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "require DX",           "keep AGE>=55",          "drop SITE=a, b", "duplicates last",
      "truncate M every 0.1", "ends DX in NL, MCI: x", "least 2"};
  idm_problem *problem;
  check(parse(whole, &problem, &support_error));
  for (size_t i = 0; i < problem->columns.rules; i++) {
    char text[100];
    assert_string_equal(idm_rule_text(&problem->columns.rule[i], text, sizeof text), texts[i]);
  }
  idm_problem_destroy(problem);
}

static void test_mistakes(void **state)
{
  (void)state;
  static const struct {
    const char *data;
    const char *words;
  } cases[] = {
      {"  derive: []\n", "a mapping of new columns"},
      {"  derive: {a: 3}\n", "one of the keys cut, recode, product, next"},
      {"  derive: {a: {cut: x, next: y}}\n", "one of the keys cut, recode, product, next"},
      {"  derive: {a: {cutt: x}}\n", "one of the keys cut, recode, product, next"},
      {"  derive: {a: {cut: x, at: [1], label: [b, c]}}\n", "labels"},
      {"  derive: {a: {cut: x, labels: [b, c]}}\n", "has no cut points"},
      {"  derive: {a: {cut: x, at: [], labels: [b]}}\n", "increasing numbers"},
      {"  derive: {a: {cut: x, at: [2, 1], labels: [b, c, d]}}\n", "a number above the one before"},
      {"  derive: {a: {cut: x, at: [one], labels: [b, c]}}\n", "data.derive.a.at"},
      {"  derive: {a: {cut: x, at: [1, 2], labels: [b, c]}}\n",
       "2 cut points make 3 intervals; expected a list of as many labels"},
      {"  derive: {a: {cut: x, at: [1], labels: [b, b]}}\n", "data.derive.a.labels"},
      {"  derive: {a: {cut: x, at: [1], sd: [1, 2], labels: [b, c]}}\n", "data.derive.a.at"},
      {"  derive: {a: {cut: x, at: [1], labels: [b, c], closed: up}}\n", "right or left"},
      {"  derive: {a: {cut: [x, y], at: [1], labels: [b, c]}}\n", "one column"},
      {"  derive: {a: {recode: x}}\n", "labels: {TEXT: LABEL, ...}"},
      {"  derive: {a: {recode: x, labels: [b]}}\n", "labels: {TEXT: LABEL, ...}"},
      {"  derive: {a: {recode: x, labels: {b: [c]}}}\n", "data.derive.a.labels"},
      {"  derive: {a: {product: [x]}}\n", "a list of 2 to 16 columns"},
      {"  derive: {a: {product: x}}\n", "a list of 2 to 16 columns"},
      {"  derive: {a: {next: a}}\n", "which is itself"},
      {"  derive: {a: {next: b}, b: {next: x}}\n", "which is derived below it"},
      {"  rules: {require: DX}\n", "data.rules"},
      {"  rules: [DX]\n", "one rule, as {require: COLUMN}"},
      {"  rules: [{require: DX, drop: x=1}]\n", "one rule, as {require: COLUMN}"},
      {"  rules: [{requires: DX}]\n", "require, keep, drop"},
      {"  rules: [{require: [a, b]}]\n", "data.rules.require"},
      {"  rules: [{keep: AGE}]\n", "'AGE' is no predicate"},
      {"  rules: [{keep: [AGE]}]\n", "a predicate"},
      {"  rules: [{truncate: M}]\n", "data.rules.truncate"},
      {"  rules: [{truncate: {column: M}}]\n", "{column: COLUMN, every: STEP}"},
      {"  rules: [{truncate: {column: M, every: 0}}]\n", "a step above 0"},
      {"  rules: [{ends: {column: DX}}]\n", "{column: COLUMN, in: [LABEL, ...]}"},
      {"  rules: [{duplicates: both}]\n", "first or last"},
      {"  rules: [{least: 0}]\n", "data.rules.least"},
      {"  rules: [{least: 2}, {require: DX}]\n", "'require' follows 'least'"},
      {"  rules: [{least: 2}, {duplicates: first}]\n", "'duplicates' follows 'least'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem;
    idm_error error = {0};
    assert_int_equal(parse(cases[i].data, &problem, &error), IDM_INPUT);
    if (!strstr(error.message, cases[i].words))
      fail_msg("%s: '%s' lacks '%s'", cases[i].data, error.message, cases[i].words);
    assert_int_equal(error.line, 9);
    assert_null(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                     cmocka_unit_test(test_rule_texts),
                                     cmocka_unit_test(test_mistakes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
