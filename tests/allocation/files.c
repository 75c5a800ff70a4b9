/* Tests failing allocations while files are read, written and summarised: YAML, .POMDP, overrides,
 * logs. */
#include <stdio.h>
#include <string.h>

#include "allocation/heap_support.h"
#include "allocation/setup_support.h"

static idm_status parse_yaml(const void *argument, idm_error *error)
{
  idm_problem *problem = GARBAGE;
  idm_status status =
      idm_problem_parse_yaml(argument, strlen(argument), "p.yaml", &problem, NULL, error);
  assert_result(status, problem);
  if (status == IDM_OK) status = idm_problem_validate(problem, error);
  idm_problem_destroy(problem);
  return status;
}

static idm_status parse_pomdp(const void *argument, idm_error *error)
{
  idm_problem *problem = GARBAGE;
  idm_status status =
      idm_problem_parse_pomdp(argument, strlen(argument), "p.POMDP", &problem, NULL, error);
  assert_result(status, problem);
  if (status == IDM_OK) status = idm_problem_validate(problem, error);
  idm_problem_destroy(problem);
  return status;
}

/* Notes may be lost to a failed allocation, the problem may not. */
static idm_status read_with_notes(const void *argument, idm_error *error)
{
  idm_problem *problem = GARBAGE;
  idm_notes notes = {0};
  const idm_status status = idm_problem_read(argument, &problem, &notes, error);
  assert_result(status, problem);
  idm_problem_destroy(problem);
  idm_notes_clear(&notes);
  return status;
}

static const char every_key[] =
    "name: every key\n"
    "states: [a, b, c]\n"
    "actions: [stay, go, stop]\n"
    "observations: {p: [n, y], q: 2}\n"
    "start: [0.5, 0.25, 0.25]\n"
    "discount: 1\n"
    "horizon: 3\n"
    "terminal: [stop]\n"
    "ends: [go]\n"
    "transition: {stay: identity, \"*\": uniform}\n"
    "observation:\n"
    "  stay: {p: &m [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], q: uniform}\n"
    "  \"*\": {p: *m, q: *m}\n"
    "utility: {stay: -cost, go: [1, gain, 0], stop: 0}\n"
    "models: [{weight: 2}, {observation: uniform, transition: {\"*\": identity}}]\n"
    "action_prior: [1, 2, 3]\n"
    "belief_prior: {dirichlet: [1, 2, 3]}\n"
    "certainty: {above: 0.9, award: 2.5}\n"
    "agent: {planner: bounded-rational, alpha: -1, beta: inf, eta: 0.5, resolution: 5}\n"
    "free: {alpha: {scale: inverse, prior: {normal: [0, 2]}},\n"
    "  action_prior: {prior: {dirichlet: [1, 1, 1]}}, beta: {}}\n"
    "data: {agent: who, trajectory: [who, case], time: day, action: did, observation: saw,\n"
    "  missed: {values: [late, NA], action: stay},\n"
    "  derive: {did: {recode: x, labels: {1: stay}, missing: stop, else: go},\n"
    "    p: {cut: y, at: [1], labels: [n, y]}, q: {cut: y, sd: [0], labels: ['0', '1']},\n"
    "    saw: {product: [p, q], missing: n/0}, after: {next: p}},\n"
    "  rules: [{require: x}, {keep: x>0}, {drop: x=9}, {duplicates: first},\n"
    "    {truncate: {column: day, every: 1}}, {ends: {column: x, in: [1, 2]}}, {least: 2}]}\n";

static void test_yaml(void **state)
{
  (void)state;
  for (size_t i = 0; idm_example_name(i); i++)
    every_failure(idm_example_name(i), parse_yaml, idm_example_text(i), succeeds);
  every_failure("every key", parse_yaml, every_key, succeeds);
  every_failure("a second document", parse_yaml, "a: 1\n---\nb: 1\n", refuses);
  every_failure("a label that is unknown", parse_yaml,
                "states: [a, b]\nactions: [go]\nobservations: [x]\ntransition: {og: identity}\n",
                refuses);
  every_failure("problem_read with notes", read_with_notes, "example:diag", recovers);
}

static void test_pomdp(void **state)
{
  (void)state;
  static const char good[] = "discount: 0.9 values: cost\n"
                             "states: left right middle\nactions: 2\nobservations: hear-l hear-r\n"
                             "start include: left right\n"
                             "T: 0 identity\nT: 1 uniform\n"
                             "O: 0\n0.8 0.2\n0.2 0.8\n0.5 0.5\nO: 1 : * uniform\n"
                             "R: 0 : * : * : * 1\nR: 1 : left : * : hear-l 5\n"
                             "R: 1 : right : left\n1 2\nR: 1 : middle\n1 2\n3 4\n5 6\n";
  every_failure("every section", parse_pomdp, good, succeeds);
  every_failure("a name that is unknown", parse_pomdp,
                "discount: 0.9 states: 2 actions: 2 observations: 2 T: x identity", refuses);
}

static idm_status assign(const void *argument, idm_error *error)
{
  idm_problem *problem;
  idm_status status = idm_problem_read("example:diag", &problem, NULL, error);
  if (status == IDM_OK) status = idm_problem_set(problem, argument, error);
  if (status == IDM_OK) status = idm_problem_validate(problem, error);
  idm_problem_destroy(problem);
  return status;
}

static void test_set(void **state)
{
  (void)state;
  static const char *const assignments[] = {
      "alpha=-0.0",         "utility.monitor.healthy=2", "utility.monitor=-2", "start=diseased",
      "start=[0.25, 0.75]", "planner=maximum-entropy",   "horizon=3"};
  for (size_t i = 0; i < sizeof assignments / sizeof assignments[0]; i++)
    every_failure(assignments[i], assign, assignments[i], succeeds);
}

typedef struct table {
  const idm_problem *problem;
  const char *csv;
  size_t rows;
} table;

/* Every column is derived, and every rule and condition removes something. */
static const char coded_log[] = "RID,M,AGE,CDRSB,Hippocampus,DX\n"
                                "1,0,60,0,5000,NL\n"
                                "1,6,60,0.5,,NL\n"
                                "1,18,60,1,7000,NL\n"
                                "2,0,80,3,8000,MCI\n"
                                "3,6,60,0,6000,NL\n"
                                "3,0,60,,6000,NL\n"
                                "4,0,60,0,,NL to MCI\n";

static idm_status parse_csv(const void *argument, idm_error *error)
{
  const table *t = argument;
  const char *const keep[] = {"site"};
  const char *const where[] = {"AGE<75"};
  const idm_csv_options options = {.keep = keep,
                                   .keep_count = strstr(t->csv, "site") ? 1 : 0,
                                   .where = where,
                                   .where_count = strstr(t->csv, "AGE") ? 1 : 0};
  idm_data *data = GARBAGE;
  idm_prefix_tree *tree = NULL;
  idm_status status =
      idm_data_parse_csv(t->csv, strlen(t->csv), "d.csv", t->problem, &options, &data, NULL, error);
  assert_result(status, data);
  if (status == IDM_OK) status = idm_data_validate(data, t->problem->setting, error);
  if (status == IDM_OK) {
    idm_lint *lint = GARBAGE;
    status = idm_lint_create(t->problem, data, NULL, &lint, error);
    assert_result(status, lint);
    idm_lint_destroy(lint);
  }
  if (status == IDM_OK) {
    assert_int_equal(data->rows, t->rows);
    tree = GARBAGE;
    status = idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, error);
    assert_result(status, tree);
  }
  idm_prefix_tree_destroy(tree);
  idm_data_destroy(data);
  return status;
}

static void test_csv(void **state)
{
  (void)state;
  idm_problem *diag = support_diag(0.5, 1.25, 0.001);
  idm_problem *beads;
  idm_problem *adni;
  check(idm_problem_read("example:beads", &beads, NULL, &support_error));
  check(idm_problem_read("../examples/adni/adni.yaml", &adni, NULL, &support_error));
  every_failure("visits", parse_csv, &(table){adni, coded_log, 3}, recovers);
  every_failure("diagnoses", parse_csv, &(table){diag, allocation_diag, 6}, recovers);
  every_failure("beads", parse_csv, &(table){beads, allocation_beads, 3}, recovers);
  idm_problem *late = support_diag(0.5, 1.25, 0.001);
  SUPPORT_NAMES(&late->columns.missed, "late");
  late->columns.missed_action = 3;
  every_failure("missed responses", parse_csv,
                &(table){late,
                         "trajectory,time,action,observation\n1,2,monitor,positive\n"
                         "1,1,late,negative\n",
                         2},
                recovers);
  idm_problem_destroy(late);
  every_failure(
      "a label that is unknown", parse_csv,
      &(table){diag, "agent,action,observation\n1,monitor,positive\n1,wait,negative\n", 0},
      refuses);
  idm_problem_destroy(diag);
  idm_problem_destroy(beads);
  idm_problem_destroy(adni);
}

/* Preferences between trajectories of a log that form a cycle. */
static idm_status parse_preferences(const void *argument, idm_error *error)
{
  static const char log[] = "trajectory,action,observation\na,monitor,positive\n"
                            "b,monitor,negative\nc,declare_healthy,\n";
  static const char given[] = "worse,better,weight\na,b,1\nb,c,2\nc,a,0.5\n";
  idm_data *data = NULL;
  idm_notes notes = {0};
  idm_status status =
      idm_data_parse_csv(log, strlen(log), "d.csv", argument, NULL, &data, NULL, error);
  if (status == IDM_OK)
    status = idm_preferences_parse_csv(given, strlen(given), "p.csv", data, &notes, error);
  if (data) assert_result(status, data->preferences);
  idm_notes_clear(&notes);
  idm_data_destroy(data);
  return status;
}

static void test_preferences(void **state)
{
  (void)state;
  idm_problem *diag = support_diag(0.5, 1.25, 0.001);
  every_failure("preferences", parse_preferences, diag, recovers);
  idm_problem_destroy(diag);
}

static idm_status write_yaml(const void *argument, idm_error *error)
{
  return idm_problem_write_yaml(argument, in_folder("out"), NULL, error);
}

static idm_status write_pomdp(const void *argument, idm_error *error)
{
  return idm_problem_write_pomdp(argument, in_folder("out"), NULL, error);
}

static void test_write(void **state)
{
  (void)state;
  for (size_t i = 0; idm_example_name(i); i++) {
    idm_problem *problem;
    char name[80];
    snprintf(name, sizeof name, "example:%s", idm_example_name(i));
    check(idm_problem_read(name, &problem, NULL, &support_error));
    snprintf(name, sizeof name, "write %s", idm_example_name(i));
    every_failure(name, write_yaml, problem, succeeds);
    const bool expressible = !problem->setting->horizon && !problem->setting->emits_before;
    snprintf(name, sizeof name, "write %s as .POMDP", idm_example_name(i));
    if (expressible) every_failure(name, write_pomdp, problem, succeeds);
    idm_problem_destroy(problem);
  }
}

static idm_status copy(const void *argument, idm_error *error)
{
  idm_theta *theta = GARBAGE;
  const idm_status status = idm_theta_copy(argument, &theta, error);
  assert_result(status, theta);
  idm_theta_destroy(theta);
  return status;
}

static idm_status create(const void *argument, idm_error *error)
{
  const idm_sizes *sizes = argument;
  idm_problem *problem = GARBAGE;
  const idm_status status = idm_problem_create(*sizes, 2, true, true, &problem, error);
  assert_result(status, problem);
  idm_problem_destroy(problem);
  return status;
}

static idm_status resize(const void *argument, idm_error *error)
{
  idm_theta *theta;
  idm_status status = idm_theta_copy(argument, &theta, error);
  if (status == IDM_OK) status = idm_theta_resize(theta, IDM_WEIGHTS, 9, 2, error);
  if (status == IDM_OK) status = idm_theta_resize(theta, IDM_WEIGHTS, 0, 1, error);
  idm_theta_destroy(theta);
  return status;
}

static void test_copy_and_compare(void **state)
{
  (void)state;
  idm_problem *a = support_diag(0.5, 1.25, 0.001);
  idm_problem *b = support_diag(0.5, 1.25, 0.002);
  char difference[200];
  every_failure("problem_create", create, &(idm_sizes){2, 3, 4}, succeeds);
  every_failure("theta_copy", copy, a->theta, succeeds);
  every_failure("theta_resize", resize, a->theta, succeeds);
  heap_arm(1, true);
  const bool same = idm_problem_compare(a, a, 0, difference, sizeof difference);
  const bool differ = !idm_problem_compare(a, b, 0, difference, sizeof difference);
  heap_disarm();
  assert_true(same && differ);
  idm_problem_destroy(a);
  idm_problem_destroy(b);
}

static idm_status init(const void *argument, idm_error *error)
{
  return idm_init_write(argument, in_folder("out"), NULL, error);
}

static idm_status read_log(const void *argument, idm_error *error)
{
  char *text = GARBAGE;
  size_t length;
  const idm_status status = idm_file_read(argument, 1 << 24, &text, &length, error);
  assert_result(status, text);
  free(text);
  return status;
}

static void test_init(void **state)
{
  (void)state;
  FILE *stream = fopen(log_file, "wb");
  assert_non_null(stream);
  fputs(allocation_diag, stream);
  /* Long enough for buffers to grow. */
  for (int i = 0; i < 9000; i++) fprintf(stream, "agent%d,%d,1,monitor,negative,,,,x\n", i, i);
  assert_int_equal(fclose(stream), 0);
  every_failure("init", init, log_file, succeeds);
  every_failure("file_read", read_log, log_file, succeeds);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrappers_are_linked),
      cmocka_unit_test(test_yaml),
      cmocka_unit_test(test_pomdp),
      cmocka_unit_test(test_set),
      cmocka_unit_test(test_csv),
      cmocka_unit_test(test_preferences),
      cmocka_unit_test(test_write),
      cmocka_unit_test(test_copy_and_compare),
      cmocka_unit_test(test_init),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
