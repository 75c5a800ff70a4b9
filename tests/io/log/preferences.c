/* Preferences from a table: what is read, and the place of what is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "support.h"

static const char *const log_text = "trajectory,action,observation\nt1,declare_healthy,\nt "
                                    "2,monitor,negative\nt 2,declare_healthy,"
                                    "\nt3,declare_healthy,\n";

typedef struct fixture {
  idm_problem *problem;
  idm_data *data;
} fixture;

static int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->problem = support_diag(0.5, 1.25, 0.3);
  f->data = support_data(f->problem, log_text);
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  idm_data_destroy(f->data);
  idm_problem_destroy(f->problem);
  free(f);
  return 0;
}

static idm_status parse(fixture *f, const char *text, idm_notes *opt_notes)
{
  return idm_preferences_parse_csv(text, strlen(text), "p.csv", f->data, opt_notes, &support_error);
}

static void expect_pair(const fixture *f, size_t i, uint32_t worse, uint32_t better, double weight)
{
  const idm_preferences *p = f->data->preferences;
  assert_int_equal(p->worse[i], worse);
  assert_int_equal(p->better[i], better);
  assert_true(p->weight[i] == weight);
}

static void test_read(void **state)
{
  fixture *f = *state;
  check(parse(f, "worse,better\nt1,t 2\n\"t 2\", t3 \n", NULL));
  assert_int_equal(f->data->preferences->count, 2);
  expect_pair(f, 0, 0, 1, 1);
  expect_pair(f, 1, 1, 2, 1);
  /* Another order, columns that mean nothing here, weights, tabs; and it replaces what was there.
   */
  check(parse(f, "who\tweight\tbetter\tworse\nx\t2.5\tt1\tt3\ny\t1e-3\tt1\tt3\n", NULL));
  assert_int_equal(f->data->preferences->count, 2);
  expect_pair(f, 0, 2, 0, 2.5);
  expect_pair(f, 1, 2, 0, 1e-3);
  check(idm_data_validate(f->data, f->problem->setting, &support_error));
}

/* More rows than fit into the first room. */
static void test_many(void **state)
{
  fixture *f = *state;
  char *text = malloc(20000);
  size_t used = (size_t)sprintf(text, "worse,better,weight\n");
  for (int i = 0; i < 1000; i++) used += (size_t)sprintf(text + used, "t1,t3,%d\n", i + 1);
  check(parse(f, text, NULL));
  assert_int_equal(f->data->preferences->count, 1000);
  for (size_t i = 0; i < 1000; i++) expect_pair(f, i, 0, 2, (double)i + 1);
  free(text);
}

/* Trajectories without names go by their numbers. */
static void test_numbers(void **state)
{
  fixture *f = *state;
  idm_labels_destroy(&f->data->trajectory_name);
  check(parse(f, "worse,better\n3,1\n", NULL));
  expect_pair(f, 0, 2, 0, 1);
  assert_int_equal(parse(f, "worse,better\n3,4\n", NULL), IDM_INPUT);
  support_expect_place(&support_error, 2, 3, "'4' under better is no trajectory");
}

static void test_files(void **state)
{
  fixture *f = *state;
  char path[SUPPORT_PATH];
  support_path(path);
  gzFile file = gzopen(path, "wb");
  assert_non_null(file);
  gzputs(file, "worse;better\nt3;t1\n");
  gzclose(file);
  check(idm_preferences_read_csv(path, f->data, NULL, &support_error));
  expect_pair(f, 0, 2, 0, 1);
  remove(path);
  assert_int_equal(idm_preferences_read_csv(path, f->data, NULL, &support_error), IDM_INPUT);
  assert_non_null(strstr(support_error.message, "cannot open"));
  assert_int_equal(f->data->preferences->count, 1);
}

static void test_bad_input(void **state)
{
  fixture *f = *state;
  static const struct {
    const char *text;
    long line, column;
    const char *words;
  } bad[] = {
      {"better,weight\nt1,1\n", 1, 1, "no column 'worse'"},
      {"worse,weight\nt1,1\n", 1, 1, "no column 'better'"},
      {"", 1, 1, "no column 'worse'"},
      {"worse,better,worse\nt1,t3,t1\n", 1, 14, "a second column 'worse'"},
      {"worse,better\n", 1, 1, "no preferences below the header"},
      {"worse,better\nt1,t3\nt1,t4\n", 3, 4, "'t4' under better is no trajectory of the log"},
      {"worse,better\nT1,t3\n", 2, 1, "such as 't1'"},
      {"worse,better\n,t3\n", 2, 1, "'' under worse"},
      {"worse,better\nt3,t3\n", 2, 4, "'t3' is called better than itself"},
      {"worse,better,weight\nt1,t3,0\n", 2, 7, "'0' for the weight of a preference; expected"},
      {"worse,better,weight\nt1,t3,-1\n", 2, 7, "above 0"},
      {"worse,better,weight\nt1,t3,inf\n", 2, 7, "above 0"},
      {"worse,better,weight\nt1,t3,nan\n", 2, 7, "above 0"},
      {"worse,better,weight\nt1,t3,\n", 2, 7, "above 0"},
      {"worse,better,weight\nt1,t3,2x\n", 2, 7, "'2x' for the weight"},
      {"worse,better\nt1\n", 2, 1, "this row has 1 field"},
  };
  check(parse(f, "worse,better\nt1,t3\n", NULL));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(parse(f, bad[i].text, NULL), IDM_INPUT);
    support_expect_place(&support_error, bad[i].line, bad[i].column, bad[i].words);
    assert_string_equal(support_error.file, "p.csv");
    assert_int_equal(f->data->preferences->count, 1); /* as it was */
  }
}

static void test_circles(void **state)
{
  fixture *f = *state;
  idm_notes notes = {0};
  check(parse(f, "worse,better\nt1,t3\nt1,t 2\nt 2,t3\n", &notes));
  assert_int_equal(notes.count, 0);
  check(parse(f, "worse,better\nt1,t3\nt3,t 2\nt 2,t1\n", &notes));
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "cycle, as in t1 over t 2 over t3 over t1: no utility"));
  assert_int_equal(f->data->preferences->count, 3);
  idm_notes_clear(&notes);
}

/* A long circle is cut short in the note. */
static void test_long_circles(void **state)
{
  fixture *f = *state;
  idm_notes notes = {0};
  idm_data_destroy(f->data);
  char text[2000] = "trajectory,action,observation\n", table[2000] = "worse,better\n";
  for (int i = 0; i < 9; i++) {
    sprintf(text + strlen(text), "t%d,declare_healthy,\n", i);
    sprintf(table + strlen(table), "t%d,t%d\n", (i + 1) % 9, i);
  }
  f->data = support_data(f->problem, text);
  check(parse(f, table, &notes));
  assert_int_equal(notes.count, 1);
  assert_non_null(
      strstr(notes.text[0], "as in t0 over t1 over t2 over t3 over t4 over ...: no utility"));
  idm_notes_clear(&notes);
}

int main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      WITH(test_read),      WITH(test_many),    WITH(test_numbers),      WITH(test_files),
      WITH(test_bad_input), WITH(test_circles), WITH(test_long_circles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
