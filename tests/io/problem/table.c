/* Tables beside a problem file: utilities and starts, and where an error is. */
#include "io/problem/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/problem/problem_support.h"
#include "io/problem/yaml.h"

static const char spaces[] = "states: [a, b, end]\nactions: [stay, go]\nobservations: states\n"
                             "discount: 0.9\nterminal: [end]\ntransition: {\"*\": identity}\n";

typedef struct place {
  char folder[40], table[60], problem[60];
} place;

static void write_file(const char *path, const char *text, const char *more)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0 && fputs(more, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static place make_place(void)
{
  place p = {.folder = "/tmp/idm-table-XXXXXX"};
  assert_non_null(mkdtemp(p.folder));
  snprintf(p.table, sizeof p.table, "%s/t.csv", p.folder);
  snprintf(p.problem, sizeof p.problem, "%s/p.yaml", p.folder);
  return p;
}

static void remove_place(const place *p)
{
  unlink(p->table);
  unlink(p->problem);
  rmdir(p->folder);
}

static idm_problem *read_with(const place *p, const char *line, const char *table)
{
  idm_problem *problem = NULL;
  write_file(p->problem, spaces, line);
  write_file(p->table, table, "");
  check(idm_problem_read(p->problem, &problem, NULL, &support_error));
  return problem;
}

static void test_utility(void **state)
{
  (void)state;
  const place p = make_place();
  idm_problem *problem = read_with(&p, "utility: t.csv\n",
                                   "utility,state,action,note\n1,a,stay,x\n2,b,stay,\n3,a,go,\n"
                                   "-4.5,b,go,\n");
  const double by_action[] = {1, 2, 0, 3, -4.5, 0};
  assert_memory_equal(problem->theta->block[IDM_UTILITY].value, by_action, sizeof by_action);
  idm_problem_destroy(problem);
  idm_notes notes = {0};
  write_file(p.table, "state,utility\nb,2\na,1\nend,3\n", "");
  check(idm_problem_read(p.problem, &problem, &notes, &support_error));
  assert_int_equal(notes.count, 1);
  assert_non_null(strstr(notes.text[0], "utility: 2 entries of terminal states (as 'end')"));
  idm_notes_clear(&notes);
  idm_problem_destroy(problem);
  problem = read_with(&p, "utility: t.csv\n", "state,utility\nb,2\na,1\nend,0\n");
  const double by_state[] = {1, 2, 0, 1, 2, 0};
  assert_memory_equal(problem->theta->block[IDM_UTILITY].value, by_state, sizeof by_state);
  idm_problem_destroy(problem);
  remove_place(&p);
}

static void test_start(void **state)
{
  (void)state;
  const place p = make_place();
  idm_problem *problem = read_with(&p, "start: t.csv\n", "state,probability\nb,0.75\na,0.25\n");
  const double start[] = {0.25, 0.75, 0};
  assert_memory_equal(problem->setting->start, start, sizeof start);
  idm_problem_destroy(problem);
  remove_place(&p);
}

static void test_errors(void **state)
{
  (void)state;
  static const struct {
    const char *line, *table;
    long at, column;
    const char *words;
  } cases[] = {
      {"utility: t.csv\n", "state,reward\na,1\n", 1, 1, "no column 'utility'"},
      {"utility: t.csv\n", "state,utility\nq,1\n", 2, 1, "'q' is no state"},
      {"utility: t.csv\n", "state,utility\na,much\n", 2, 3, "'much' for a utility"},
      {"utility: t.csv\n", "state,utility\na,1\na,2\n", 3, 1, "given twice"},
      {"utility: t.csv\n", "state,utility\na,1\n", 1, 1, "no utility of 'stay' in 'b'"},
      {"utility: t.csv\n", "action,state,utility\nfly,a,1\n", 2, 1, "'fly' is no action"},
      {"utility: t.csv\n", "", 1, 1, "expected a header"},
      {"start: t.csv\n", "state,probability\na,-1\n", 2, 3, "-1 for the start in 'a'"},
      {"start: t.csv\n", "state,probability\na,0.5\na,0.5\n", 3, 3, "one probability per state"},
      {"start: t.csv\n", "state\na\n", 1, 1, "no column 'probability'"},
  };
  const place p = make_place();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    idm_problem *problem = NULL;
    idm_error error = {0};
    write_file(p.problem, spaces, cases[i].line);
    write_file(p.table, cases[i].table, "");
    assert_int_equal(idm_problem_read(p.problem, &problem, NULL, &error), IDM_INPUT);
    support_expect_place(&error, cases[i].at, cases[i].column, cases[i].words);
    assert_string_equal(error.file, p.table);
  }
  write_file(p.problem, spaces, "utility: nowhere.csv\n");
  idm_problem *problem = NULL;
  idm_error error = {0};
  assert_int_equal(idm_problem_read(p.problem, &problem, NULL, &error), IDM_INPUT);
  support_expect_place(&error, 7, 10, "cannot open");
  remove_place(&p);
}

static const char *const lines[] = {"utility: t.csv\n", "start: t.csv\n", "features: t.csv\n",
                                    "transition: t.csv\n"};

/* A problem with one of the lines above. Only the last replaces a line of the spaces. */
static void write_problem(const place *p, size_t line)
{
  char head[sizeof spaces];
  strcpy(head, spaces);
  if (line == 3) *strstr(head, "transition:") = '\0';
  write_file(p->problem, head, lines[line]);
}

/* Read the problem as the file of a folder. */
static idm_status read_inside(const place *p, idm_problem **ret_problem, idm_error *opt_error)
{
  const int folder = open(p->folder, O_RDONLY);
  assert_true(folder >= 0);
  const idm_location here = {folder, "p.yaml", p->problem};
  const idm_status status =
      idm_problem_read_sections(&here, NULL, NULL, ret_problem, NULL, opt_error);
  close(folder);
  return status;
}

/* A pipe without a writer is refused at once; the alarm ends a test that waits for one. */
static void test_pipes(void **state)
{
  (void)state;
  const place p = make_place();
  assert_int_equal(mkfifo(p.table, 0666), 0);
  alarm(30);
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    for (size_t inside = 0; inside < 2; inside++) {
      idm_problem *problem = NULL;
      idm_error error = {0};
      write_problem(&p, i);
      assert_int_equal(inside ? read_inside(&p, &problem, &error)
                              : idm_problem_read(p.problem, &problem, NULL, &error),
                       IDM_INPUT);
      assert_non_null(strstr(error.message, "t.csv' is a pipe"));
      assert_string_equal(error.file, p.problem);
    }
  alarm(0);
  remove_place(&p);
}

/* A link is followed where the caller names the problem, and refused in a folder. */
static void test_links(void **state)
{
  (void)state;
  const place p = make_place();
  char target[80], line[120];
  idm_problem *problem = NULL;
  idm_error error = {0};
  snprintf(target, sizeof target, "%s/target.csv", p.folder);
  write_file(target, "state,utility\na,1\nb,2\n", "");
  assert_int_equal(symlink(target, p.table), 0);
  write_problem(&p, 0);
  check(idm_problem_read(p.problem, &problem, NULL, &support_error));
  idm_problem_destroy(problem);
  assert_int_equal(read_inside(&p, &problem, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "t.csv' is a symbolic link"));
  write_file(p.problem, spaces, "utility: target.csv\n");
  check(read_inside(&p, &problem, &support_error));
  assert_true(problem->theta->block[IDM_UTILITY].value[1] == 2);
  idm_problem_destroy(problem);
  snprintf(line, sizeof line, "utility: %s\n", target);
  write_file(p.problem, spaces, line);
  assert_int_equal(read_inside(&p, &problem, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "not a file in the folder of the run"));
  unlink(target);
  remove_place(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_utility), cmocka_unit_test(test_start),
                                     cmocka_unit_test(test_errors), cmocka_unit_test(test_pipes),
                                     cmocka_unit_test(test_links)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
