/* Features of a problem file: tables, mappings, weights, and what is refused. */
#include "io/problem/reader.h"

#include <unistd.h>

#include "io/problem/problem_support.h"

#define SPACES                                                                                     \
  "states: [a, b, end]\nactions: [stay, go]\nobservations: states\ndiscount: 0.9\n"                \
  "terminal: [end]\ntransition: {\"*\": identity}\n"

static void write_file(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

typedef struct place {
  char folder[40], table[60], problem[60];
} place;

static place make_place(const char *text)
{
  place p = {.folder = "/tmp/idm-features-XXXXXX"};
  assert_non_null(mkdtemp(p.folder));
  snprintf(p.table, sizeof p.table, "%s/f.csv", p.folder);
  snprintf(p.problem, sizeof p.problem, "%s/p.yaml", p.folder);
  write_file(p.problem, text);
  return p;
}

static void remove_place(const place *p)
{
  unlink(p->table);
  unlink(p->problem);
  rmdir(p->folder);
}

/* A table gives what a mapping gives; written and read again, both are the same. */
static void test_forms(void **state)
{
  (void)state;
  const place p =
      make_place(SPACES "features: f.csv\nfeature_weights: {far: 2}\nfree: [utility]\n");
  static const char *const tables[] = {
      "state,near,far\na,1,0.5\nb,-1,0.25\n",
      "far,near,state,action\n0.5,1,a,stay\n0.5,1,a,go\n0.25,-1,b,stay\n0.25,-1,b,go\n"};
  for (size_t i = 0; i < 2; i++) {
    idm_problem *problem = NULL, *again = NULL;
    char words[200];
    write_file(p.table, tables[i]);
    check(idm_problem_read(p.problem, &problem, NULL, &support_error));
    const double utility[] = {1, 0.5, 0, 1, 0.5, 0};
    assert_memory_equal(problem->theta->block[IDM_UTILITY].value, utility, sizeof utility);
    assert_int_equal(problem->theta->block[IDM_UTILITY].coordinate_name.count, 2);
    check(idm_problem_write_yaml(problem, p.problem, NULL, &support_error));
    check(idm_problem_read(p.problem, &again, NULL, &support_error));
    if (!idm_problem_compare(problem, again, 0, words, sizeof words)) fail_msg("%s", words);
    idm_problem_destroy(again);
    idm_problem_destroy(problem);
    write_file(p.problem, SPACES "features: f.csv\nfeature_weights: {far: 2}\nfree: [utility]\n");
  }
  remove_place(&p);
}

/* Weights that are not among `entries` are held, in a file that is written as well. All of them as
 * entries are the same as none. */
static void test_held(void **state)
{
  (void)state;
  static const char begin[] =
      SPACES "features: {x: {go: 1}, y: {\"*\": [0, 1, 0]}, z: {stay: [0, 0.5, 0]}}\n"
             "feature_weights: {x: 2, y: 3, z: 4}\nfree: {utility: {entries: ";
  char text[1000], path[] = "/tmp/idm-features-XXXXXX", words[200];
  const int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(close(file), 0);
  snprintf(text, sizeof text, "%s[z, x]}}\n", begin);
  idm_problem *problem = parse(text, NULL), *again = NULL;
  check(idm_problem_write_yaml(problem, path, NULL, &support_error));
  check(idm_problem_read(path, &again, NULL, &support_error));
  if (!idm_problem_compare(problem, again, 0, words, sizeof words)) fail_msg("%s", words);
  for (int i = 0; i < 2; i++) {
    const idm_block *utility = &(i ? again : problem)->theta->block[IDM_UTILITY];
    const bool fixed[] = {false, true, false};
    const int32_t coordinate[] = {-1, 0, -1, 0, 0, -1};
    assert_int_equal(utility->coordinate_name.count, 2);
    assert_string_equal(utility->coordinate_name.name[0], "x");
    assert_string_equal(utility->coordinate_name.name[1], "z");
    assert_memory_equal(utility->features->fixed, fixed, sizeof fixed);
    assert_memory_equal(utility->coordinate, coordinate, sizeof coordinate);
  }
  /* Nothing is held of a block that is free as a whole. */
  check(idm_problem_set_free(again, "[utility]", &support_error));
  assert_null(again->theta->block[IDM_UTILITY].features->fixed);
  assert_true(idm_problem_compare(problem, again, 0, words, sizeof words) == 0);
  idm_problem_destroy(again);
  idm_problem_destroy(problem);
  snprintf(text, sizeof text, "%s[x, y, z]}}\n", begin);
  problem = parse(text, NULL);
  assert_null(problem->theta->block[IDM_UTILITY].features->fixed);
  idm_problem_destroy(problem);
  unlink(path);
}

static void test_tables(void **state)
{
  (void)state;
  static const struct {
    const char *table;
    long line, column;
    const char *words;
  } cases[] = {{"near\n1\n", 1, 1, "no column 'state'"},
               {"state,action\na,go\n", 1, 1, "0 columns of features"},
               {"state,x\na,1\n", 1, 1, "no features of 'stay' in 'b'"},
               {"state,x\na,1\na,2\n", 3, 1, "given twice"},
               {"state,x\na,much\n", 2, 3, "'much' for a feature"},
               {"state,x\nq,1\n", 2, 1, "'q' is no state"},
               {"state,x,x\na,1,1\n", 1, 1, "two columns are called 'x'"},
               {"state,x[1]\na,1\n", 1, 1, "expected a name without"}};
  const place p = make_place(SPACES "features: f.csv\n");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = NULL;
    idm_error error = {0};
    write_file(p.table, cases[i].table);
    assert_int_equal(idm_problem_read(p.problem, &problem, NULL, &error), IDM_INPUT);
    support_expect_place(&error, cases[i].line, cases[i].column, cases[i].words);
  }
  remove_place(&p);
}

static void test_mappings(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    const char *words;
  } cases[] = {
      {SPACES "features: {x: {go: 1}}\nutility: {\"*\": 0}\n", "both given"},
      {SPACES "features: {}\n", "a mapping of 1 to 1000 names"},
      {SPACES "features: {x: {fly: 1}}\n", "'fly'"},
      {SPACES "features: {x: {go: cost}}\n", "expected numbers"},
      {SPACES "features: {x: {go: 1}}\nfeature_weights: {y: 1}\n", "the feature"},
      {SPACES "utility: {\"*\": 0}\nfeature_weights: {y: 1}\n", "together with `features`"},
      {SPACES "features: {x: {go: 1}}\nfree: {utility: {entries: [go]}}\n",
       "in free.utility.entries, the feature 'go' is unknown; expected one of x"},
      {SPACES "features: {x: {go: 1}}\nfree: {utility: {entries: [x, x]}}\n",
       "names a feature twice"},
      {SPACES "features: {x: {go: 1}}\nfree: {utility: {entries: {all: [x]}}}\n",
       "a list of names of features"},
      {SPACES "features: {x: {go: 1}}\nfree: {utility: {entries: [[x]]}}\n", "a name of a feature"},
      {SPACES "features: {x: {go: 1}}\nfree: {utility: {entries: []}}\n",
       "a list of names of features"},
      {SPACES "features: {x: {go: 1}}\nfree: {utility: {reference: go}}\n",
       "expected `entries`, the names of features"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = NULL;
    idm_error error = {0};
    assert_int_equal(idm_problem_parse_yaml(cases[i].text, strlen(cases[i].text), "p.yaml",
                                            &problem, NULL, &error),
                     IDM_INPUT);
    if (!strstr(error.message, cases[i].words))
      fail_msg("'%s' lacks '%s'", error.message, cases[i].words);
  }
  idm_problem *problem = parse(SPACES "features: {x: {go: 1}}\n", NULL);
  idm_error error = {0};
  assert_int_equal(idm_problem_set(problem, "utility.go=1", &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "feature_weights.NAME"));
  assert_int_equal(idm_problem_set(problem, "feature_weights.typo=1", &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "the feature 'typo' is unknown; expected one of x"));
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_held),
                                     cmocka_unit_test(test_tables),
                                     cmocka_unit_test(test_mappings)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
