/* Cassandra's format: every bad input with its place. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/pomdp/pomdp_support.h"
#include "io/problem_file.h"

/* --- bad input ------------------------------------------------------------------------------ */

typedef struct bad {
  const char *text;
  long line;
  long column;
  const char *part; /* of the message */
} bad;

static void assert_bad(const char *bytes, size_t length, const bad *c)
{
  idm_problem *problem = (idm_problem *)&problem;
  idm_error error = {0};
  idm_notes notes = {0};
  const idm_status status =
      idm_problem_parse_pomdp(bytes, length, "bad.POMDP", &problem, &notes, &error);
  idm_notes_clear(&notes);
  if (status != IDM_INPUT || problem) fail_msg("accepted: %s", c->text);
  if (error.status != IDM_INPUT || strcmp(error.file, "bad.POMDP") != 0 || error.line != c->line ||
      error.column != c->column || !strstr(error.message, c->part))
    fail_msg("%s\n%s:%ld:%ld: %s\nexpected %ld:%ld: %s", c->text, error.file, error.line,
             error.column, error.message, c->line, c->column, c->part);
}

static void assert_all_bad(const bad *cases, size_t count)
{
  for (size_t i = 0; i < count; i++) assert_bad(cases[i].text, strlen(cases[i].text), &cases[i]);
}

#define ASSERT_ALL_BAD(cases) assert_all_bad(cases, sizeof(cases) / sizeof((cases)[0]))

static void test_bad_preamble(void **state)
{
  (void)state;
  static const bad cases[] = {
      {"", 1, 1, "found the end of the file, expected discount:"},
      {"discount: 0.9\n", 2, 1, "expected states:"},
      {"discount: 0.9 states: 2", 1, 24, "expected actions:"},
      {"states: 2 actions: 2 observations: 2 T: * identity O: * uniform", 1, 64, "discount:"},
      {"discount: 0.9 states: 2 actions: 1 observations: 1", 1, 51, "T: for every action"},
      {"\n  discount: 1.1", 2, 13, "found '1.1', expected a discount in [0, 1]"},
      {"discount: -0.1", 1, 11, "found '-0.1'"},
      {"discount: nan", 1, 11, "found 'nan', expected a discount"},
      {"discount: inf", 1, 11, "found 'inf'"},
      {"discount: 1e999", 1, 11, "fits into a double"},
      {"discount: 0.9\ndiscount: 0.9", 2, 1, "found 'discount', expected each key"},
      {"values: reward\nvalues: cost", 2, 1, "found 'values'"},
      {"values: money", 1, 9, "found 'money', expected reward or cost"},
      {"states: 2\n states: a b", 2, 2, "found 'states'"},
      {"actions: 2\n actions: 2", 2, 2, "found 'actions'"},
      {"observations: 2\n observations: 2", 2, 2, "found 'observations'"},
      {"states: 0", 1, 9, "found '0', expected a count from 1"},
      {"states: -3", 1, 9, "found '-3'"},
      {"states: 2.5", 1, 9, "found '2.5'"},
      {"states: 99999999999999999999999", 1, 9, "expected a count from 1 to 1000000"},
      {"states: actions: 2", 1, 9, "found 'actions', expected a count, or the name of a state"},
      {"states:", 1, 8, "found the end of the file"},
      {"states: a b\n  c a", 2, 5, "found 'a', expected a name that is not taken"},
      {"states: a 2 b", 1, 11, "found '2', expected the name of a state"},
      {"states: a * b", 1, 11, "found '*'"},
      {"states: a :: b", 1, 9, "found 'a'"},
      {"states: \xc3\xa9t\xc3\xa9 b\x01 c", 1, 13, "without control characters"},
      {"states: \xff\xfe c", 1, 9, "expected the name of a state in UTF-8"},
      {"states: 2 3", 1, 11, "found '3', expected a key"},
      {"stats: 2", 1, 1, "found 'stats', expected discount:"},
      {"states 2", 1, 1, "found 'states', expected a key with its colon"},
      {": states", 1, 1, "found ':'"},
      {"T: 0 identity", 1, 1, "found 'T', expected states: first"},
      {"states: 2\nR: 0 : 0 : 0 : 0 1", 2, 1, "found 'R', expected actions: first"},
      {TWO "T: * identity\nobservations: 2", 3, 1, "found 'observations'"},
      {"states: 2 actions: 2 T: * identity observations: 2", 1, 36, "before the first T:"},
      {"states: 2 actions: 2 T: * identity O: * uniform", 1, 36, "observations: in the preamble"},
  };
  ASSERT_ALL_BAD(cases);
}

static void test_bad_sizes(void **state)
{
  (void)state;
  static const bad cases[] = {
      {"states: 11586 actions: 1 observations: 1\nT: 0 identity", 2, 1, "to fit into 1 GiB"},
      {"states: 10 actions: 1000000 observations: 14\nT: 0 identity", 2, 1, "observation prob"},
      {"states: 1000000 actions: 1000000 observations: 1000000\n R: * : * : * : * 0", 2, 2,
       "transition probabilities"},
      {"states: 12000 actions: 1 T: * uniform", 1, 26, "1 GiB"},
  };
  ASSERT_ALL_BAD(cases);
}

static void test_bad_start(void **state)
{
  (void)state;
  static const bad cases[] = {
      {"start: uniform states: 2", 1, 1, "found 'start', expected states: before start"},
      {TWO "start: a\nstart: b", 3, 1, "found 'start', expected each key"},
      {TWO "start: c", 2, 8, "found 'c', expected probabilities, uniform, or a state"},
      {TWO "start:\nT: u identity", 3, 1, "found 'T'"},
      {TWO "start: 2", 2, 8, "found '2', expected a state: a number from 0 to 1"},
      {TWO "start: 0.5", 2, 11,
       "found the end of the file, expected a probability of start, "
       "number 2 of 2"},
      {TWO "start: 0.5 0.5 0.5", 2, 16, "found '0.5', expected a key"},
      {TWO "start: 0.5 -0.5", 2, 12, "found '-0.5', expected a probability of start from 0 to 1"},
      {TWO "start: 1.1 0", 2, 8, "found '1.1'"},
      {TWO "start:\n 0.5 0.4 T: * identity " TWO_O, 3, 2, "start that sum to 0.9"},
      {TWO "start include: a c", 2, 18, "found 'c', expected a state: one of the names"},
      {TWO "start include:", 2, 15, "found the end of the file"},
      {TWO "start exclude: a b", 2, 1, "to leave a state"},
      {TWO "start include a", 2, 7,
       "found 'include', expected the name of an observation, or a key"},
      {"states: 2 start uniform", 1, 11, "found 'start', expected a key with its colon"},
  };
  ASSERT_ALL_BAD(cases);
}

static void test_bad_tables(void **state)
{
  (void)state;
  static const bad cases[] = {
      {TWO "T: w identity", 2, 4,
       "found 'w', expected an action: one of the names, a number from 0 "
       "to 1, or *"},
      {TWO "T: 2 identity", 2, 4, "found '2', expected an action"},
      {TWO "T: -1 identity", 2, 4, "found '-1', expected an action"},
      {TWO "T: 1.0 identity", 2, 4, "found '1.0', expected an action"},
      {TWO "T: u : c 1 0", 2, 8, "found 'c', expected a state"},
      {TWO "T: u : a : 7 1", 2, 12, "found '7', expected a state"},
      {TWO "O: u : a : w 1", 2, 12, "found 'w', expected an observation"},
      {TWO "T: u : a : b : x 1", 2, 14, "found ':', expected a probability of T:"},
      {TWO "T: u\n1 0\n0", 4, 2,
       "found the end of the file, expected a probability of T:, number 2"},
      {TWO "T: u\n1 0\n0 1 1", 4, 5, "found '1', expected a key"},
      {TWO "T: u : a 1 O: u uniform", 2, 12,
       "found 'O', expected a probability of T:, number 2 of 2"},
      {TWO "T: u : a identity", 2, 10,
       "found 'identity', expected a row of 2 probabilities, reset"},
      {TWO "T: u reset", 2, 6, "found 'reset', expected 2 rows of 2 probabilities, identity"},
      {TWO "O: u identity", 2, 6,
       "found 'identity', expected 2 rows of 3 probabilities or uniform"},
      {TWO "O: u : a reset", 2, 10, "found 'reset', expected a row of 3 probabilities or uniform"},
      {TWO "T: u : a : b -1e-9", 2, 14, "found '-1e-9', expected a probability of T: from 0 to 1"},
      {TWO "T: u : a : b nan", 2, 14, "found 'nan'"},
      {TWO "T: u : a : b 2", 2, 14, "found '2', expected a probability"},
      {TWO "T: u", 2, 5, "found the end of the file"},
      {TWO "T:", 2, 3, "found the end of the file, expected an action"},
      {TWO "T: u identity junk", 2, 15, "found 'junk', expected a key"},
      {TWO TWO_O "T: u identity T: v : a 1 0\n", 4, 1,
       "expected a row of T: for action 'v' and state 'b'"},
      {TWO "T: * identity O: u uniform\nO: v : b uniform", 3, 17,
       "expected a row of O: for action 'v' and state 'a'"},
      {TWO TWO_O "T: *\n1 0\n 0.5 0.4", 5, 2, "T: u : b that sum to 0.9"},
      {TWO TWO_O "T: v identity T: u identity\nT: u : b : a 0.1", 4, 14, "sum to 1.1, expected"},
      {TWO "T: * identity\nO: v : * uniform\nO: u : * : x 0.999", 4, 14, "O: u : a that sum to"},
      {TWO TWO_O "T: * : * reset T: u : a : a 1 start: b", 3, 29, "T: u : a that sum to 2"},
  };
  ASSERT_ALL_BAD(cases);
}

static void test_bad_rewards(void **state)
{
  (void)state;
  static const bad cases[] = {
      {TWO "R: u 1", 2, 6, "found '1', expected ':' and a state"},
      {TWO "R: u : a 1 2 3 4 5", 2, 19,
       "found the end of the file, expected a reward, number 6 of 6"},
      {TWO "R: u : a : b 1 2\nT: u identity", 3, 1, "found 'T', expected a reward, number 3 of 3"},
      {TWO "R: u : a : b : x", 2, 17, "expected a reward"},
      {TWO "R: u : a : b : x inf", 2, 18, "found 'inf', expected a reward"},
      {TWO "R: u : a : b : x -1e400", 2, 18, "found '-1e400', expected a reward that fits"},
      {TWO "R: u : a : b : w 1", 2, 16, "found 'w', expected an observation"},
      {TWO "R: u : a : b : x 1 2", 2, 20, "found '2', expected a key"},
      {TWO "R: u : a : b : x : 2", 2, 18, "found ':', expected a reward"},
  };
  ASSERT_ALL_BAD(cases);
}

/* Bytes that are no text, and tokens too long for a message. */
static void test_bad_bytes(void **state)
{
  (void)state;
  static const char nul[] = "states: a\0b c";
  const bad c = {"a NUL byte", 1, 9, "found 'a?b'"};
  assert_bad(nul, sizeof nul - 1, &c);

  char number[2000] = "discount: 0.";
  memset(number + 12, '3', sizeof number - 12);
  const bad d = {"a long number", 1, 11, "...', expected a discount"};
  assert_bad(number, sizeof number, &d);

  idm_problem *problem = NULL;
  assert_int_equal(idm_problem_parse_pomdp("x", 1, NULL, &problem, NULL, NULL), IDM_INPUT);
  assert_null(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bad_preamble), cmocka_unit_test(test_bad_sizes),
      cmocka_unit_test(test_bad_start),    cmocka_unit_test(test_bad_tables),
      cmocka_unit_test(test_bad_rewards),  cmocka_unit_test(test_bad_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
