/* Which entries of the utility are free: `entries`, `reference`, ties, and --free. */
#include "io/problem/problem_support.h"

/* --- support -------------------------------------------------------------------------------- */

/* Labels that mislead: dots, numbers, slashes, an action that looks like ACTION.STATE. */
static const char head[] =
    "states: [a, b.c, \"1\"]\n"
    "actions: [go, go.a, \"2\", stop, v1.5]\n"
    "observations: [x]\n"
    "discount: 0.9\n"
    "transition: identity\n"
    "observation: uniform\n"
    "utility: {go: 1, go.a: [1, 2, 3], \"2\": 2, stop: [pay, 0, -pay], v1.5: "
    "0}\n";
enum { STATES = 3, ACTIONS = 5, ENTRIES = STATES * ACTIONS, LINE = 8 };

static char *with_free(const char *utility)
{
  static char text[16384];
  snprintf(text, sizeof text, "%sfree: {utility: {%s}}\n", head, utility);
  return text;
}

/* Coordinates by entry, and the names of them, joined by spaces. */
static void expect_free(const char *utility, const int *coordinate, const char *expected)
{
  idm_problem *problem = parse(with_free(utility), NULL);
  const idm_block *b = &problem->theta->block[IDM_UTILITY];
  assert_int_equal(b->role, IDM_DESCRIPTIVE);
  assert_non_null(b->coordinate);
  for (size_t i = 0; i < ENTRIES; i++)
    if (b->coordinate[i] != coordinate[i])
      fail_msg("%s: entry %zu is %d, expected %d", utility, i, b->coordinate[i], coordinate[i]);
  char names[400] = "";
  for (size_t i = 0; i < b->coordinate_name.count; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "",
             b->coordinate_name.name[i]);
  assert_string_equal(names, expected);
  idm_problem_destroy(problem);
}

/* --- what is accepted ----------------------------------------------------------------------- */

static void test_entries(void **state)
{
  (void)state;
  /* An action is all of its states; the order is that of the entries. */
  expect_free("entries: go", (int[]){0, 1, 2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
              "go,a go,b.c go,1");
  /* "go.a" is the action of that name, not the state a of go. */
  expect_free("entries: [go.a]", (int[]){-1, -1, -1, 0, 1, 2, -1, -1, -1, -1, -1, -1, -1, -1, -1},
              "go.a,a go.a,b.c go.a,1");
  expect_free("entries: [[go, a]]",
              (int[]){0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, "go,a");
  /* Dots on both sides of the dot, and numbers as labels. */
  expect_free("entries: [v1.5.b.c, 2.1, [2, a], go.a.b.c]",
              (int[]){-1, -1, -1, -1, 0, -1, 1, -1, 2, -1, -1, -1, -1, 3, -1},
              "go.a,b.c 2,a 2,1 v1.5,b.c");
  /* What comes from a column stays out of the way. */
  expect_free("entries: [stop.b.c]",
              (int[]){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, -1, -1, -1, -1}, "stop,b.c");
}

static void test_ties(void **state)
{
  (void)state;
  expect_free("entries: {cost: [go, 2.a], gain: stop.b.c}",
              (int[]){0, 0, 0, -1, -1, -1, 0, -1, -1, -1, 1, -1, -1, -1, -1}, "cost gain");
  expect_free("entries: {\"7\": [[go, a], [go.a, a]]}",
              (int[]){0, -1, -1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, "7");
  /* A list of two texts is two entries, not a pair. */
  expect_free("entries: {both: [go, v1.5]}",
              (int[]){0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0}, "both");
}

static void test_reference(void **state)
{
  (void)state;
  expect_free("reference: [go, v1.5]", (int[]){-1, -1, -1, 0, 1, 2, 3, 4, 5, -1, 6, -1, -1, -1, -1},
              "go.a,a go.a,b.c go.a,1 2,a 2,b.c 2,1 stop,b.c");
  expect_free("reference: [[go, a]]", (int[]){-1, 0, 1, 2, 3, 4, 5, 6, 7, -1, 8, -1, 9, 10, 11},
              "go,b.c go,1 go.a,a go.a,b.c go.a,1 2,a 2,b.c 2,1 stop,b.c v1.5,a v1.5,b.c v1.5,1");
}

/* As many ties as entries, and own names of entries whatever they are made of. */
static void test_names(void **state)
{
  (void)state;
  char text[2000];
  size_t length = 0;
  length += (size_t)snprintf(text, sizeof text,
                             "states: [\"a/b\", \"[c]\"]\nactions: [u, \"v[w\"]\n"
                             "observations: [x]\ndiscount: 0.9\ntransition: "
                             "identity\nobservation: uniform\nutility: {\"*\": "
                             "0}\n");
  snprintf(text + length, sizeof text - length,
           "free: {utility: {entries: {\"u,a/b\": [[u, \"a/b\"]], 'u,\"[c]\"': [[u, \"[c]\"]], "
           "'\"v[w\",a/b': [[\"v[w\", \"a/b\"]], d: [[\"v[w\", \"[c]\"]]}}}\n");
  idm_problem *problem = parse(text, NULL);
  assert_int_equal(problem->theta->block[IDM_UTILITY].coordinate_name.count, 4);
  idm_problem_destroy(problem);
  /* The name of another entry is none of its own. */
  snprintf(text + length, sizeof text - length,
           "free: {utility: {entries: {\"u,a/b\": [[u, \"[c]\"]]}}}\n");
  expect_error(text, LINE, 28, "expected a name without '/'");
  snprintf(text + length, sizeof text - length, "free: {utility: {entries: {\"u,a/b\": [u]}}}\n");
  expect_error(text, LINE, 28, "expected a name without '/'");
  snprintf(text + length, sizeof text - length, "free: {utility: {entries: {\"u,[c]\": [u]}}}\n");
  expect_error(text, LINE, 28, "expected a name without '/'");
}

/* --- what is not ---------------------------------------------------------------------------- */

static void test_errors(void **state)
{
  (void)state;
  static const struct {
    const char *utility;
    long column;
    const char *words;
  } cases[] = {
      {"entries: fly", 27, "free.utility.entries is 'fly'; expected ACTION, ACTION.STATE or"},
      {"entries: [fly]", 28, "'fly'"},
      {"entries: [go, fly]", 32, "'fly'"},
      {"entries: [go.fly]", 28, "'go.fly'"},
      {"entries: [.a]", 28, "'.a'"},
      {"entries: [go.]", 28, "'go.'"},
      {"entries: ['']", 28, "''"},
      {"entries: []", 27, "expected at least one entry"},
      {"entries: {}", 27, "leaves no entry free"},
      {"entries: ~", 27, "free.utility.entries"},
      {"entries: [[go, a, b]]", 28, "expected ACTION, ACTION.STATE"},
      {"entries: [[go]]", 28, "expected ACTION, ACTION.STATE"},
      {"entries: [[]]", 28, "expected ACTION, ACTION.STATE"},
      {"entries: [{go: a}]", 28, "expected ACTION, ACTION.STATE"},
      {"entries: [[fly, a]]", 29, "'fly'; expected an action"},
      {"entries: [[go, fly]]", 33, "'fly'; expected a state"},
      {"entries: [[go, [a]]]", 33, "expected a state"},
      {"entries: [go, go]", 32, "names an entry twice"},
      {"entries: [go, [go, a]]", 32, "names an entry twice"},
      {"entries: [[go, a], [go, a]]", 37, "names an entry twice"},
      {"entries: {x: go, y: [[go, a]]}", 39, "names an entry twice"},
      {"entries: {x: go, x: go.a}", 35, "twice"},
      {"entries: [stop]", 28, "comes from a data column"},
      {"entries: [[stop, a]]", 28, "comes from a data column"},
      {"entries: {x: [stop.1]}", 32, "comes from a data column"},
      {"entries: {x: []}", 31, "expected at least one entry"},
      {"entries: {'': go}", 28, "expected a name"},
      {"entries: {a/b: go}", 28, "a name without '/', '[' and ']'"},
      {"entries: {'a[b': go}", 28, "a name without '/', '[' and ']'"},
      {"entries: {x: {y: go}}", 31, "expected ACTION, ACTION.STATE"},
      {"entries: go, reference: go.a", 42, "entries and a reference"},
      {"reference: []", 29, "expected at least one entry"},
      {"reference: [go, go]", 34, "names an entry twice"},
      {"reference: [go, go.a, 2, stop, v1.5]", 29, "leaves no entry free"},
      {"reference: {x: go}", 29, "expected ACTION, ACTION.STATE"},
      {"entrys: go", 18, "did you mean 'entries'?"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_error(with_free(cases[i].utility), LINE, cases[i].column, cases[i].words);
}

static void test_too_many_names(void **state)
{
  (void)state;
  char text[1000] = "entries: {";
  for (int i = 0; i <= ENTRIES; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%sn%d: go", i ? ", " : "", i);
  strcat(text, "}");
  expect_error(with_free(text), LINE, 27, "more names than there are entries");
}

/* ACTION.STATE that can be read in two ways is no entry. */
static void test_two_readings(void **state)
{
  (void)state;
  static const char text[] = "states: [a, b.a]\nactions: [go, go.b]\nobservations: [x]\n"
                             "discount: 0.9\ntransition: identity\nobservation: uniform\n"
                             "utility: {\"*\": 0}\nfree: {utility: {entries: [go.b.a]}}\n";
  expect_error(text, LINE, 28, "'go.b.a'");
}

static void test_other_blocks(void **state)
{
  (void)state;
  char text[2000];
  snprintf(text, sizeof text, "%sfree: {action_prior: {entries: [go]}}\n", head);
  expect_error(text, LINE, 32, "has no entries to choose");
  snprintf(text, sizeof text, "%sfree: {beta: {reference: go}}\n", head);
  expect_error(text, LINE, 26, "has no reference to choose");
}

/* --- --free --------------------------------------------------------------------------------- */

/* Blocks that are free, as a sum of bits. */
static unsigned freed(const idm_problem *problem)
{
  unsigned bits = 0;
  for (int i = 0; i < IDM_BLOCK_COUNT; i++)
    if (problem->theta->block[i].role == IDM_DESCRIPTIVE) bits |= 1u << i;
  return bits;
}

static void test_free_replaces(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    unsigned blocks;
  } cases[] = {
      {"beta,eta", 1u << IDM_BETA | 1u << IDM_ETA},
      {" beta , eta ", 1u << IDM_BETA | 1u << IDM_ETA},
      {"beta", 1u << IDM_BETA},
      {"beta,", 1u << IDM_BETA},
      {"[beta]", 1u << IDM_BETA},
      {"  [alpha, eta]", 1u << IDM_ALPHA | 1u << IDM_ETA},
      {"{beta: {scale: log, prior: flat}}", 1u << IDM_BETA},
      {"{beta: {}, discount: }", 1u << IDM_BETA | 1u << IDM_DISCOUNT},
      {"{utility: {entries: go}}", 1u << IDM_UTILITY},
      {"utility", 1u << IDM_UTILITY},
      {"", 0},
      {"[]", 0},
      {"{}", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = parse(with_free("entries: {t: [go, 2]}"), NULL);
    idm_error error = {0};
    if (idm_problem_set_free(problem, cases[i].text, &error) != IDM_OK)
      fail_msg("%s: %s", cases[i].text, error.message);
    assert_int_equal(freed(problem), cases[i].blocks);
    /* What the file had tied is tied no longer. */
    const idm_block *utility = &problem->theta->block[IDM_UTILITY];
    assert_int_equal(utility->coordinate != NULL, strstr(cases[i].text, "entries") != NULL);
    if (strstr(cases[i].text, "log")) {
      assert_int_equal(problem->theta->block[IDM_BETA].scale, IDM_SCALE_LOG);
      assert_int_equal(problem->theta->block[IDM_BETA].prior.kind, IDM_PRIOR_FLAT);
    }
    assert_int_equal(idm_problem_validate(problem, &error), IDM_OK);
    idm_problem_destroy(problem);
  }
}

static void test_free_refuses(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "garbage",
      ",",
      "[beta",
      "{beta",
      "{beta: 3}",
      "beta: {}}",
      "beta,beta",
      "horizon",
      "[[beta]]",
      "{beta: {prior: {normal: [0]}}}",
      "{utility: {entries: []}}",
      "{utility: {entries: [fly]}}",
      "{beta: {entries: [go]}}",
      "\xff",
      "a\nb\tc",
      "&x [*x]",
      "!!",
      "---\n---",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    idm_problem *problem = parse(with_free("entries: go"), NULL);
    idm_error error = {0};
    if (idm_problem_set_free(problem, texts[i], &error) != IDM_USAGE)
      fail_msg("'%s' is no usage error: %s", texts[i], error.message);
    assert_int_equal(error.status, IDM_USAGE);
    if (strncmp(error.message, "--free ", 7) != 0) fail_msg("'%s'", error.message);
    for (const char *c = error.message; *c; c++) assert_true(*c != '\n' && *c != '\t');
    assert_int_equal(idm_problem_set_free(problem, texts[i], NULL), IDM_USAGE);
    idm_problem_destroy(problem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_entries),       cmocka_unit_test(test_ties),
      cmocka_unit_test(test_reference),     cmocka_unit_test(test_names),
      cmocka_unit_test(test_errors),        cmocka_unit_test(test_too_many_names),
      cmocka_unit_test(test_two_readings),  cmocka_unit_test(test_other_blocks),
      cmocka_unit_test(test_free_replaces), cmocka_unit_test(test_free_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
