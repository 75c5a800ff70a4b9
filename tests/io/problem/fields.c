/* Fields by action, rows, and which of their numbers are free. */
#include "io/problem/reader.h"

#include "io/problem/problem_support.h"

enum { ACTIONS = 3, STATES = 2, FIELDS = 2 * ACTIONS };

/* --- values --------------------------------------------------------------------------------- */

static void fields_are_read_by_action(void **state)
{
  (void)state;
  static const struct {
    const char *line;
    double values[FIELDS];
  } cases[] = {
      {"belief_utility: {guess: {stop: 2}}", {0, 0, 0, 0, 0, 2}},
      {"belief_utility: {entropy: 0.5, guess: {stop: 2, \"*\": -1}}", {0.5, 0.5, 0.5, -1, -1, 2}},
      {"belief_utility: {entropy: {go: 1, stay: 3}}", {3, 1, 0, 0, 0, 0}},
      {"belief_utility: {entropy: {\"*\": 4}}", {4, 4, 4, 0, 0, 0}}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = parse(with(cases[i].line), NULL);
    assert_int_equal(problem->theta->block[IDM_BELIEF_UTILITY].size, FIELDS);
    expect_numbers(block(problem, IDM_BELIEF_UTILITY), cases[i].values, FIELDS);
    idm_problem_destroy(problem);
  }
}

/* An action with fewer rows than another repeats its last; one without any has rows of 0. */
static void rows_are_read_by_action(void **state)
{
  (void)state;
  idm_problem *problem =
      parse(with("belief_utility: {pieces: {go: [[1, 2], 3], stop: [{b: 5, \"*\": -1}]}}"), NULL);
  static const double rows[] = {0, 0, 1, 2, -1, 5, 0, 0, 3, 3, -1, 5};
  assert_int_equal(problem->theta->block[IDM_BELIEF_UTILITY].size, FIELDS + 12);
  expect_numbers(block(problem, IDM_BELIEF_UTILITY) + FIELDS, rows, 12);
  idm_problem_destroy(problem);
}

static void wrong_values_are_refused(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"belief_utility: {guess: {run: 2}}", 11, 26, "the action 'run' is unknown"},
      {"belief_utility: {guess: {stop: nan}}", 11, 32, "belief_utility.guess is 'nan'"},
      {"belief_utility: {guess: {stop: 1, stop: 2}}", 11, 35, "stop"},
      {"belief_utility: {guess: [1, 2, 3]}", 11, 25, "belief_utility.guess is a list of 3"},
      {"belief_utility: {pieces: {run: [1]}}", 11, 27, "the action 'run' is unknown"},
      {"belief_utility: {pieces: {go: [[1]]}}", 11, 32, "belief_utility.pieces is a list of 1"},
      {"belief_utility: {pieces: {go: 1}}", 11, 31, "expected a list of rows"},
      {"belief_utility: {pieces: {}}", 11, 26, "expected a list of rows for some action"},
      {"certainty: {above: 0.9, award: {go: 1}}", 11, 32, "certainty.award is a mapping"},
  };
  EXPECT_BAD(cases);
}

/* --- freedom -------------------------------------------------------------------------------- */

static void expect_free(const char *lines, idm_block_id id, const int *coordinate, size_t count,
                        const char *expected)
{
  idm_problem *problem = parse(with(lines), NULL);
  const idm_block *b = &problem->theta->block[id];
  assert_int_equal(b->role, IDM_DESCRIPTIVE);
  assert_int_equal(b->prior.kind, IDM_PRIOR_NORMAL);
  assert_int_equal(b->size, count);
  for (size_t i = 0; i < count; i++)
    if (b->coordinate[i] != coordinate[i])
      fail_msg("%s: number %zu is %d, expected %d", lines, i, b->coordinate[i], coordinate[i]);
  char names[200] = "";
  for (size_t i = 0; i < b->coordinate_name.count; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "",
             b->coordinate_name.name[i]);
  assert_string_equal(names, expected);
  idm_problem_destroy(problem);
}

/* What is one number in the file is one that moves; what is by action moves by action. */
static void fields_are_free(void **state)
{
  (void)state;
  expect_free("free: [belief_utility]", IDM_BELIEF_UTILITY, (int[]){0, 0, 0, 1, 1, 1}, FIELDS,
              "entropy guess");
  expect_free("free: [belief_utility.entropy]", IDM_BELIEF_UTILITY, (int[]){0, 0, 0, -1, -1, -1},
              FIELDS, "entropy");
  expect_free("free: [belief_utility.guess.stop, alpha, belief_utility.entropy]",
              IDM_BELIEF_UTILITY, (int[]){1, 1, 1, -1, -1, 0}, FIELDS, "guess,stop entropy");
  expect_free("belief_utility: {guess: {stop: 2}}\nfree: [belief_utility]", IDM_BELIEF_UTILITY,
              (int[]){0, 0, 0, 1, 2, 3}, FIELDS, "entropy guess,stay guess,go guess,stop");
  expect_free("free: {belief_utility: {entries: {acts: [guess.stay, guess.go], rest: guess.stop}}}",
              IDM_BELIEF_UTILITY, (int[]){-1, -1, -1, 0, 0, 1}, FIELDS, "acts rest");
  expect_free("free: {belief_utility.entropy: {prior: {normal: [0, 3]}}}", IDM_BELIEF_UTILITY,
              (int[]){0, 0, 0, -1, -1, -1}, FIELDS, "entropy");
  expect_free("free: {belief_utility: {entries: entropy.go}}", IDM_BELIEF_UTILITY,
              (int[]){-1, 0, -1, -1, -1, -1}, FIELDS, "entropy,go");
  expect_free("certainty: {above: 0.9, award: 2}\nfree: [certainty]", IDM_CERTAINTY,
              (int[]){-1, 0, -1}, 3, "award");
}

/* The default prior is that of a utility: normal(0, 2R), and R is 3 here. */
static void the_prior_is_that_of_utilities(void **state)
{
  (void)state;
  idm_problem *problem = parse(with("free: [belief_utility, certainty]"), NULL);
  for (int i = 0; i < 2; i++) {
    const idm_block *b = &problem->theta->block[i ? IDM_CERTAINTY : IDM_BELIEF_UTILITY];
    assert_true(b->prior.argument[0] == 0 && b->prior.argument[1] == 6);
    assert_int_equal(b->scale, IDM_SCALE_IDENTITY);
  }
  idm_problem_destroy(problem);
}

static void wrong_freedom_is_refused(void **state)
{
  (void)state;
  static const bad_line cases[] = {
      {"free: [belief_utility.pieces]", 11, 8, "expected entropy or guess"},
      {"free: [belief_utility.guess.run]", 11, 8, "of one action as FIELD.ACTION"},
      {"free: [belief_utility.entropy, belief_utility.entropy.go]", 11, 32, "names an entry twice"},
      {"free: [belief_utility, belief_utility.entropy]", 11, 24, "is given twice"},
      {"free: [certainty.above]", 11, 8, "free.certainty is 'certainty.above'; expected award"},
      {"free: [certainty.award.go]", 11, 8, "expected award"},
      {"free: [utility.go]", 11, 8, "the block 'utility.go' is unknown"},
      {"free: {belief_utility: {entries: []}}", 11, 24, "leaves no entry free"},
      {"free: {belief_utility: {entries: [[guess, go]]}}", 11, 35, "expected entropy or guess"},
      {"free: {belief_utility: {entries: {a/b: guess}}}", 11, 35, "a name without '/'"},
      {"free: {belief_utility: {entries: {a: []}}}", 11, 38, "at least one entry"},
      {"free: {belief_utility: {reference: go}}", 11, 36, "has no reference"},
      {"free: {belief_utility.entropy: {entries: [guess]}}", 11, 42, "its name is one already"},
      {"free: {belief_utility: {prior: {dirichlet: [1]}}}", 11, 33, "a prior of numbers"},
  };
  EXPECT_BAD(cases);
}

/* --- writing -------------------------------------------------------------------------------- */

static void what_is_written_reads_back(void **state)
{
  (void)state;
  static const char path[] = "fields.yaml";
  static const struct {
    const char *lines;
    const char *words;
  } cases[] = {
      {"belief_utility: {entropy: 0.5, guess: {stop: 2}}\nfree: [belief_utility]",
       "belief_utility: {entropy: 0.5, guess: {stop: 2}}"},
      {"belief_utility: {pieces: {go: [[1, 2], 3], stop: [[1, 2], 3]}}",
       "pieces: {go: [[1, 2], [3, 3]], stop: [[1, 2], [3, 3]]}"},
      {"belief_utility: {pieces: {\"*\": [[1, 2]]}}", "pieces: [[1, 2]]"},
      {"free: [belief_utility.entropy, belief_utility.guess.go]",
       "entries: {entropy: [\"entropy.stay\", \"entropy.go\", \"entropy.stop\"], "},
      {"certainty: {above: 0.9, award: 2}\nfree: [certainty.award]", "entries: {award: [award]}"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = parse(with(cases[i].lines), NULL), *again = NULL;
    char difference[200], *text = NULL;
    size_t length;
    check(idm_problem_write_yaml(problem, path, NULL, &support_error));
    check(idm_file_read(path, 1 << 20, &text, &length, &support_error));
    if (!strstr(text, cases[i].words)) fail_msg("'%s' is not in\n%s", cases[i].words, text);
    check(idm_problem_read(path, &again, NULL, &support_error));
    if (!idm_problem_compare(problem, again, 0, difference, sizeof difference))
      fail_msg("%s\n%s", difference, text);
    free(text);
    idm_problem_destroy(again);
    idm_problem_destroy(problem);
  }
  remove(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_are_read_by_action),      cmocka_unit_test(rows_are_read_by_action),
      cmocka_unit_test(wrong_values_are_refused),       cmocka_unit_test(fields_are_free),
      cmocka_unit_test(the_prior_is_that_of_utilities), cmocka_unit_test(wrong_freedom_is_refused),
      cmocka_unit_test(what_is_written_reads_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
