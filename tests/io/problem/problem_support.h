/* Support of the tests of the YAML problem file: a small problem to vary, and what to expect of it.
 */
#ifndef IDM_TEST_PROBLEM_YAML_H
#define IDM_TEST_PROBLEM_YAML_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/problem_file.h"
#include "support.h"

/* A small problem; a case replaces the line of its key, or adds a line 11. */
static const char *const base[] = {
    "name: base",
    "states: [a, b]",
    "actions: [stay, go, stop]",
    "observations: [x, y]",
    "start: [0.5, 0.5]",
    "discount: 0.9",
    "terminal: [stop]",
    "transition: {stay: identity, go: uniform}",
    "observation: {\"*\": [[0.8, 0.2], [0.3, 0.7]]}",
    "utility: {stay: -1, go: [1, 2], stop: 0}",
};

static inline char *with(const char *line)
{
  static char text[8192];
  const size_t key = line ? strcspn(line, ":") + 1 : 0;
  size_t length = 0;
  bool replaced = false;
  for (size_t i = 0; i < sizeof base / sizeof base[0]; i++) {
    const bool same = line && strncmp(base[i], line, key) == 0;
    /* "key:" alone takes the line away. */
    const char *put = !same ? base[i] : line[key] ? line : "#";
    length += (size_t)snprintf(text + length, sizeof text - length, "%s\n", put);
    replaced = replaced || same;
  }
  if (line && !replaced) snprintf(text + length, sizeof text - length, "%s\n", line);
  return text;
}

static inline idm_problem *parse(const char *text, idm_notes *notes)
{
  idm_error error = {0};
  idm_problem *problem = NULL;
  if (idm_problem_parse_yaml(text, strlen(text), "p.yaml", &problem, notes, &error) != IDM_OK)
    fail_msg("%ld:%ld: %s\n%s", error.line, error.column, error.message, text);
  assert_non_null(problem);
  return problem;
}

static inline void expect_error(const char *text, long line, long column, const char *words)
{
  idm_error error = {0};
  idm_problem *problem = NULL;
  const idm_status status =
      idm_problem_parse_yaml(text, strlen(text), "p.yaml", &problem, NULL, &error);
  if (status != IDM_INPUT) fail_msg("expected '%s', got status %d from\n%s", words, status, text);
  assert_null(problem);
  assert_string_equal(error.file, "p.yaml");
  support_expect_place(&error, line, column, words);
  assert_int_equal(idm_problem_parse_yaml(text, strlen(text), NULL, &problem, NULL, NULL),
                   IDM_INPUT);
}

/* A line of the base problem that is wrong, where, and what is said of it. */
typedef struct bad_line {
  const char *line; /* given to with() */
  long at_line, at_column;
  const char *words;
} bad_line;

static inline void expect_bad(const bad_line *cases, size_t count)
{
  for (size_t i = 0; i < count; i++)
    expect_error(with(cases[i].line), cases[i].at_line, cases[i].at_column, cases[i].words);
}
#define EXPECT_BAD(cases) expect_bad(cases, sizeof(cases) / sizeof *(cases))

/* What is written of a problem reads back as the same, bit for bit. */
static inline void expect_round_trip(const idm_problem *problem)
{
  char path[SUPPORT_PATH], difference[400];
  idm_problem *again;
  idm_notes notes = {0};
  support_path(path);
  check(idm_problem_write_yaml(problem, path, &notes, &support_error));
  check(idm_problem_read(path, &again, &notes, &support_error));
  assert_int_equal(notes.count, 0);
  if (!idm_problem_compare(problem, again, 0, difference, sizeof difference))
    fail_msg("%s", difference);
  idm_problem_destroy(again);
  remove(path);
}

static inline void expect_line_round_trip(const char *line)
{
  idm_problem *problem = parse(with(line), NULL);
  expect_round_trip(problem);
  idm_problem_destroy(problem);
}

static inline void expect_numbers(const double *found, const double *expected, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (found[i] != expected[i])
      fail_msg("number %zu is %.17g, expected %.17g", i, found[i], expected[i]);
}

static inline void expect_near(const double *found, const double *expected, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!(fabs(found[i] - expected[i]) < 1e-15))
      fail_msg("number %zu is %.17g, expected %.17g", i, found[i], expected[i]);
}

static inline const double *block(const idm_problem *problem, size_t id)
{
  return idm_theta_values(problem->theta, id, 0);
}

#endif
