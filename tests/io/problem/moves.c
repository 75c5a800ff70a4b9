/* Transitions of observed states, row by row, in files. */
#include "io/problem/reader.h"

#include <stdio.h>
#include <unistd.h>

#include "io/problem/problem_support.h"

static const char head[] =
    "states: [a, b, c]\nactions: [stay, go]\nobservations: states\n"
    "utility: {stay: [0, 0, 1], go: -0.1}\ndiscount: 0.9\n"
    "agent: {planner: maximum-entropy, alpha: 0.5, weights: {stay: [0, 1, 2, 3]}}\n"
    "start: a\n";

static char *with_transition(const char *transition)
{
  static char text[1000];
  snprintf(text, sizeof text, "%stransition: %s\n", head, transition);
  return text;
}

static const char rows[] = "{stay: {a: {a: .9, b: .1}, b: {b: .9, c: .1}, \"*\": c}, "
                           "go: {a: {b: .9, a: .1}, b: {c: .9, b: .1, a: 0}, c: a}}";
static const char matrices[] = "{stay: [[.9, .1, 0], [0, .9, .1], [0, 0, 1]], "
                               "go: [[.1, .9, 0], [0, .1, .9], [1, 0, 0]]}";

static void test_rows(void **state)
{
  (void)state;
  idm_problem *p = parse(with_transition(rows), NULL);
  const idm_sparse_rows *moves = p->setting->moves;
  assert_non_null(moves);
  assert_null(p->setting->transition);
  assert_int_equal(moves->first[6], 10);
  assert_true(idm_sparse_rows_probability(moves, 2, 2) == 1);
  assert_true(idm_sparse_rows_probability(moves, 3, 0) == 0.1);
  assert_true(idm_sparse_rows_probability(moves, 4, 0) == 0);
  assert_true(idm_sparse_rows_probability(moves, 5, 0) == 1);
  expect_round_trip(p);
  idm_problem_destroy(p);
}

/* The same problem by rows and by matrices: values, decisions, simulations and scores. */
static void test_as_matrices(void **state)
{
  (void)state;
  idm_problem *sparse = parse(with_transition(rows), NULL);
  idm_problem *dense = parse(with_transition(matrices), NULL);
  static const char *const planners[] = {"maximum-entropy", "rational", "bounded-rational",
                                         "decision-rule"};
  for (size_t i = 0; i < sizeof planners / sizeof planners[0]; i++) {
    check(idm_problem_set_planner(sparse, idm_planner_find(planners[i]), &support_error));
    check(idm_problem_set_planner(dense, idm_planner_find(planners[i]), &support_error));
    idm_workspace *a = support_plan(sparse, NULL);
    idm_workspace *b = support_plan(dense, NULL);
    const idm_simulation simulation = {.trajectories = 50, .steps = 8, .seed = 7};
    idm_data *x = support_simulate(sparse, simulation);
    idm_data *y = support_simulate(dense, simulation);
    assert_int_equal(x->rows, y->rows);
    for (size_t row = 0; row < x->rows; row++) {
      assert_int_equal(x->action[row], y->action[row]);
      assert_int_equal(x->observation[row], y->observation[row]);
    }
    /* What was not recorded is averaged over by the same environment. */
    for (size_t row = 0; row < x->rows; row += 5) x->observation[row] = IDM_MISSING;
    for (size_t row = 3; row < x->rows; row += 7) x->action[row] = IDM_MISSING;
    assert_near(support_score(a, x), support_score(b, x), 1e-12);
    idm_data_destroy(x);
    idm_data_destroy(y);
    idm_workspace_destroy(a);
    idm_workspace_destroy(b);
  }
  idm_problem_destroy(sparse);
  idm_problem_destroy(dense);
}

static void test_bad_rows(void **state)
{
  (void)state;
  static const struct {
    const char *transition;
    long column;
    const char *words;
  } cases[] = {
      {"{stay: identity, go: {a: b, b: c}}", 13, "transition has no entry for 'go' in 'c'"},
      {"{stay: {a: b, \"*\": a}}", 13, "transition has no entry for 'go' in 'a'"},
      {"{stay: {d: b, \"*\": a}, go: identity}", 21, "'d'"},
      {"{stay: {a: d, \"*\": a}, go: identity}", 24, "'d'"},
      {"{stay: {a: {b: .5, c: .6}, \"*\": a}, go: identity}", 25, "sum to 1.1; expected 1"},
      {"{stay: {a: {b: -1, c: 2}, \"*\": a}, go: identity}", 25, "a probability of -1"},
      {"{stay: {a: {b: nan}, \"*\": a}, go: identity}", 28, "nan"},
      {"{stay: {a: {b: 1, b: 0}, \"*\": a}, go: identity}", 31, "'b'"},
      {"{stay: {a: [b], \"*\": a}, go: identity}", 24, "{to: probability}"},
      {"{stay: {a: b, \"*\": a}, go: [[1, 0, 0], [1, 0, 0], [1, 0, 0]]}", 40,
       "{from: {to: probability}} or identity"},
      {"nowhere.csv", 13, "cannot open"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_error(with_transition(cases[i].transition), 8, cases[i].column, cases[i].words);
}

/* Models are matrices; where states are hidden so are transitions. */
static void test_elsewhere(void **state)
{
  (void)state;
  char text[1200];
  snprintf(text, sizeof text, "%smodels: [{}]\n", with_transition(rows));
  expect_error(text, 9, 9, "models are matrices, and transition is given row by row");
  snprintf(text, sizeof text, "%sfree: {transition: {hazard: [[a, b, .], [., a, b], [b, ., a]]}}\n",
           with_transition(rows));
  expect_error(text, 9, 8, "the block 'transition' has no values");
  expect_error("states: [a, b]\nactions: [u]\nobservations: [x]\ntransition: {u: {a: b, b: a}}\n"
               "observation: uniform\n",
               4, 17, "transition.u");
}

static void write_table(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void test_table(void **state)
{
  (void)state;
  char folder[] = "/tmp/idm-moves-XXXXXX";
  assert_non_null(mkdtemp(folder));
  char table[80], problem[80];
  snprintf(table, sizeof table, "%s/moves.csv", folder);
  snprintf(problem, sizeof problem, "%s/problem.yaml", folder);
  write_table(problem, with_transition("moves.csv"));
  write_table(table, "from,to,action,probability,note\n"
                     "a,b,stay,.1,x\na,a,stay,.9,x\nb,b,stay,.9,x\nb,c,stay,.1,\nc,c,stay,1,\n"
                     "a,b,go,.9,\na,a,go,.1,\nb,c,go,.9,\nb,b,go,.1,\nc,a,go,1,\n");
  idm_problem *p;
  check(idm_problem_read(problem, &p, NULL, &support_error));
  idm_problem *same = parse(with_transition(rows), NULL);
  assert_true(idm_sparse_rows_same(p->setting->moves, same->setting->moves));
  idm_problem_destroy(same);
  idm_problem_destroy(p);

  static const struct {
    const char *text;
    long line, column;
    const char *words;
  } cases[] = {
      {"from,to,action\n", 1, 1, "no column 'probability'"},
      {"from,to,action,probability\na,d,stay,1\n", 2, 3, "'d' is no state"},
      {"from,to,action,probability\na,b,fly,1\n", 2, 5, "'fly' is no action"},
      {"from,to,action,probability\na,b,stay,some\n", 2, 10, "'some' for a probability"},
      {"from,to,action,probability\na,b,stay,1e400\n", 2, 10, "for a probability"},
      {"from,to,action,probability\na,b,stay,2\n", 2, 10, "a probability of 2"},
      {"from,to,action,probability\na,b,stay,.5\na,b,stay,.5\n", 3, 10, "twice (before on line 2)"},
      {"from,to,action,probability\na,b,stay,.5\n", 2, 10, "sum to 0.5"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    write_table(table, cases[i].text);
    idm_error error = {0};
    assert_int_equal(idm_problem_read(problem, &p, NULL, &error), IDM_INPUT);
    support_expect_place(&error, cases[i].line, cases[i].column, cases[i].words);
    assert_string_equal(error.file, table);
  }
  unlink(table);
  unlink(problem);
  rmdir(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows), cmocka_unit_test(test_as_matrices),
      cmocka_unit_test(test_bad_rows), cmocka_unit_test(test_elsewhere),
      cmocka_unit_test(test_table)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
