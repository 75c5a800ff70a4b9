/* What a simulation writes, the same problem reads back: rows, design and log-likelihood. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#include "io/log/log.h"
#include "io/log_file.h"
#include "io/problem_file.h"

/* --- going there and back ------------------------------------------------------------------- */

static idm_data *write_and_read(const idm_data *data, const idm_problem *problem)
{
  char path[SUPPORT_PATH];
  idm_data *again;
  support_path(path);
  check(idm_data_write_csv(data, problem, path, &support_error));
  check(idm_data_read_csv(path, problem, NULL, &again, NULL, &support_error));
  remove(path);
  return again;
}

static const double *start_of(const idm_data *data, const idm_problem *problem, size_t t)
{
  return data->start[t] < 0 ? problem->setting->start
                            : data->start_belief + (size_t)data->start[t] * data->sizes.states;
}

static void expect_same_design(const idm_data *a, const idm_data *b, const idm_problem *problem)
{
  const size_t actions = a->sizes.actions;
  assert_int_equal(a->trajectories, b->trajectories);
  assert_int_equal(a->columns, b->columns);
  for (size_t t = 0; t < a->trajectories; t++) {
    assert_memory_equal(start_of(a, problem, t), start_of(b, problem, t),
                        a->sizes.states * sizeof(double));
    assert_memory_equal(a->variant_value + a->variant[t] * a->columns,
                        b->variant_value + b->variant[t] * b->columns, a->columns * sizeof(double));
    for (size_t v = 0; v < t; v++)
      assert_int_equal(a->agent[t] == a->agent[v], b->agent[t] == b->agent[v]);
  }
  for (size_t row = 0; row < a->rows && row < b->rows; row++)
    assert_memory_equal(a->available_set + a->available[row] * actions,
                        b->available_set + b->available[row] * actions, actions);
}

/* Rows, design and log-likelihood come back. Returns the log-likelihood. */
static double round_trip(idm_problem *problem, const idm_data *data)
{
  idm_data *again = write_and_read(data, problem);
  assert_int_equal(data->rows, again->rows);
  assert_memory_equal(data->first, again->first, (data->trajectories + 1) * sizeof *data->first);
  assert_memory_equal(data->action, again->action, data->rows * sizeof *data->action);
  assert_memory_equal(data->observation, again->observation,
                      data->rows * sizeof *data->observation);
  expect_same_design(data, again, problem);
  idm_workspace *workspace = support_plan(problem, NULL);
  const double before = support_score(workspace, data);
  if (problem->utility_sources) {
    idm_workspace_destroy(workspace);
    /* Variants may be numbered otherwise. */
    check(idm_problem_bind(problem, again->variants, again->variant_value, &support_error));
    workspace = support_plan(problem, NULL);
  }
  const double after = support_score(workspace, again);
  if (before != after) assert_near(after, before, 1e-12); /* both may be -inf */
  if (problem->utility_sources)
    check(idm_problem_bind(problem, data->variants, data->variant_value, &support_error));
  idm_workspace_destroy(workspace);
  idm_data_destroy(again);
  return before;
}

/* --- problems at random --------------------------------------------------------------------- */

static size_t pick(idm_random *random, size_t count)
{
  const size_t i = (size_t)(idm_random_uniform(random) * (double)count);
  return i < count ? i : count - 1;
}

/* Labels of two parts, with all that CSV quotes. */
static void name_labels(idm_labels *labels, const char *odd)
{
  for (size_t i = 0; i < labels->count; i++) {
    char name[64];
    const int length = snprintf(name, sizeof name, "%zu %s/b%zu", i, odd, i % 2);
    check(idm_labels_set(labels, i, name, (size_t)length, &support_error));
  }
}

static void map(idm_problem *problem, idm_column role, size_t count, const char *word)
{
  idm_labels *columns = &problem->columns.role[role];
  idm_labels_destroy(columns);
  check(idm_labels_create(columns, count, &support_error));
  for (size_t i = 0; i < count; i++) {
    char name[64];
    const int length = snprintf(name, sizeof name, "%s;%zu, of", word, i);
    check(idm_labels_set(columns, i, name, (size_t)length, &support_error));
  }
}

static void map_columns(idm_problem *problem, idm_random *random)
{
  map(problem, IDM_COLUMN_AGENT, pick(random, 3), "who");
  /* Some share the agent's columns: then each trajectory is an agent. */
  map(problem, IDM_COLUMN_TRAJECTORY, pick(random, 4), pick(random, 2) ? "case" : "who");
  map(problem, IDM_COLUMN_TIME, pick(random, 3), "when");
  map(problem, IDM_COLUMN_ACTION, pick(random, 3), "did");
  map(problem, IDM_COLUMN_OBSERVATION, pick(random, 3), "saw \"x\"");
  map(problem, IDM_COLUMN_AVAILABLE, pick(random, 3), "open");
  map(problem, IDM_COLUMN_REWARD, pick(random, 2), "step");
  map(problem, IDM_COLUMN_SCORE, pick(random, 2), "points");
  map(problem, IDM_COLUMN_BATCH, pick(random, 2), "batch");
  map(problem, IDM_COLUMN_ENVIRONMENT, pick(random, 2), "where");
}

/* Two utilities by one column and one by another; three variants. */
static void take_utilities_from_columns(idm_problem *problem)
{
  static const idm_utility_source sources[] = {{0, 0, 0, 1}, {1, 0, 1, -2}, {0, 1, 0, 0.5}};
  problem->utility_source = malloc(sizeof sources);
  assert_non_null(problem->utility_source);
  memcpy(problem->utility_source, sources, sizeof sources);
  problem->utility_sources = 3;
  check(idm_labels_create(&problem->columns.utility, 2, &support_error));
  SUPPORT_NAMES(&problem->columns.utility, "pays", "cost, in \"EUR\"");
  const double values[] = {1, 0.1, 2.5, 1.0 / 3, -1e-7, 12345678.901};
  check(idm_problem_bind(problem, 3, values, &support_error));
}

static idm_problem *random_problem(idm_random *random)
{
  const support_shape shape = {2 + pick(random, 2), 2 + pick(random, 3), 2 + pick(random, 3), 2, 9};
  idm_problem *problem = support_problem(shape, random);
  name_labels(&problem->setting->states, "s,\"x\"");
  name_labels(&problem->setting->actions, "u; \"y\" ,z");
  name_labels(&problem->setting->observations, "o\t,\n\"");
  problem->setting->ends[0] = pick(random, 2);
  map_columns(problem, random);
  if (pick(random, 2)) take_utilities_from_columns(problem);
  return problem;
}

/* Agents, start beliefs, variants and actions open, at random; each row's own action stays open. */
static void decorate(idm_data *data, const idm_problem *problem, idm_random *random)
{
  const idm_sizes n = data->sizes;
  data->available_sets = 3;
  data->available_set = realloc(data->available_set, 3 * n.actions * sizeof *data->available_set);
  data->starts = 2;
  data->start_belief = realloc(data->start_belief, 2 * n.states * sizeof *data->start_belief);
  assert_true(data->available_set && data->start_belief);
  for (size_t u = 0; u < n.actions; u++) {
    data->available_set[n.actions + u] = u < 2;
    data->available_set[2 * n.actions + u] = u > 0;
  }
  support_distribution(random, data->start_belief, n.states);
  support_distribution(random, data->start_belief + n.states, n.states);
  data->variants = idm_theta_variants(problem->theta);
  data->columns = problem->columns.utility.count;
  free(data->variant_value);
  data->variant_value = calloc(data->variants * data->columns + 1, sizeof *data->variant_value);
  assert_non_null(data->variant_value);
  check(idm_problem_unbind(problem, problem->theta, data->variant_value, &support_error));
  for (size_t t = 0; t < data->trajectories; t++) {
    data->start[t] = (int32_t)pick(random, 3) - 1;
    data->variant[t] = (uint32_t)pick(random, data->variants);
    for (size_t row = data->first[t]; row < data->first[t + 1]; row++)
      data->available[row] = data->action[row] == 0  ? (uint32_t)pick(random, 2)
                             : data->action[row] > 1 ? 2 * (uint32_t)pick(random, 2)
                                                     : (uint32_t)pick(random, 3);
  }
}

/* A log by the design of another one. */
static idm_data *simulate_like(const idm_problem *problem, const idm_data *like, uint64_t seed)
{
  const idm_simulation simulation = {.seed = seed, .opt_design_log = like, .states = seed % 2};
  return support_simulate(problem, simulation);
}

static void expect_design_kept(const idm_data *like, const idm_data *data,
                               const idm_setting *setting)
{
  assert_int_equal(like->trajectories, data->trajectories);
  for (size_t t = 0; t < like->trajectories; t++) {
    const size_t expected = like->first[t + 1] - like->first[t];
    const size_t took = data->first[t + 1] - data->first[t];
    const bool ended = setting->ends[like->action[like->first[t + 1] - 1]];
    assert_true(ended || took <= expected);
    assert_true(ended || took == expected || setting->ends[data->action[data->first[t + 1] - 1]]);
    assert_int_equal(like->agent[t], data->agent[t]);
    assert_int_equal(like->variant[t], data->variant[t]);
    assert_int_equal(like->start[t], data->start[t]);
    for (size_t i = 0; i < took; i++) {
      const size_t row = like->first[t] + (i < expected ? i : expected - 1);
      assert_int_equal(like->available[row], data->available[data->first[t] + i]);
    }
  }
}

static void problems_at_random(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 150; seed++) {
    idm_random random;
    idm_random_init(&random, 77, seed);
    idm_problem *problem = random_problem(&random);
    const idm_simulation simulation = {
        .trajectories = 12, .steps = 4, .seed = seed, .agents = 1 + pick(&random, 3)};
    idm_data *like = support_simulate(problem, simulation);
    decorate(like, problem, &random);
    round_trip(problem, like);
    idm_data *data = simulate_like(problem, like, seed);
    expect_design_kept(like, data, problem->setting);
    round_trip(problem, data);
    idm_data_destroy(data);
    idm_data_destroy(like);
    idm_problem_destroy(problem);
  }
}

static void examples_and_golden_problems(void **state)
{
  (void)state;
  const char *const files[] = {"golden/mdp.yaml", "golden/horizon.yaml", "golden/terminal.yaml",
                               "golden/three_states.yaml", "golden/tiger_observation.yaml"};
  const size_t golden = sizeof files / sizeof files[0];
  for (size_t i = 0; i < golden || idm_example_name(i - golden); i++) {
    char name[64];
    snprintf(name, sizeof name, i < golden ? "%s" : "example:%s",
             i < golden ? files[i] : idm_example_name(i - golden));
    idm_problem *problem;
    check(idm_problem_read(name, &problem, NULL, &support_error));
    const size_t columns = problem->columns.utility.count;
    double *values = calloc(2 * columns + 1, sizeof *values);
    assert_non_null(values);
    for (size_t k = 0; k < 2 * columns; k++) values[k] = 0.1 + (double)k;
    check(idm_problem_bind(problem, 2, values, &support_error));
    const idm_simulation simulation = {.trajectories = 20, .steps = 6, .seed = 5};
    idm_data *data = support_simulate(problem, simulation);
    free(data->variant_value);
    data->variant_value = values;
    data->columns = columns;
    data->variants = idm_theta_variants(problem->theta);
    for (size_t t = 0; t < data->trajectories; t++)
      data->variant[t] = (uint32_t)(t % data->variants);
    print_message("%s: %.4f\n", name, round_trip(problem, data));
    idm_data *again = simulate_like(problem, data, 6);
    round_trip(problem, again);
    idm_data_destroy(again);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

/* --- names that are kept -------------------------------------------------------------------- */

static void ids_of_several_columns_come_back(void **state)
{
  idm_problem *problem = *state;
  SUPPORT_NAMES(&problem->setting->observations, "neg/low", "pos/high");
  support_codes(problem, "labels");
  idm_labels *role = problem->columns.role;
  SUPPORT_NAMES(&role[IDM_COLUMN_AGENT], "subject");
  SUPPORT_NAMES(&role[IDM_COLUMN_TRAJECTORY], "subject", "block");
  SUPPORT_NAMES(&role[IDM_COLUMN_OBSERVATION], "test", "level");
  idm_data *data = support_data(problem, "subject,block,action,test,level\n"
                                         "ann,b 1,monitor,neg,low\nann,b 1,monitor,pos,high\n"
                                         "bob,b 1,monitor,,\n");
  char path[SUPPORT_PATH], line[100];
  support_path(path);
  check(idm_data_write_csv(data, problem, path, &support_error));
  FILE *stream = fopen(path, "r");
  assert_non_null(stream);
  const char *const expected[] = {"subject,block,step,action,test,level\n",
                                  "ann,b 1,1,monitor,neg,low\n", "ann,b 1,2,monitor,pos,high\n",
                                  "bob,b 1,1,monitor,,\n"};
  for (size_t i = 0; i < 4; i++) {
    assert_non_null(fgets(line, sizeof line, stream));
    assert_string_equal(line, expected[i]);
  }
  fclose(stream);
  remove(path);
  idm_data *again = write_and_read(data, problem);
  assert_string_equal(again->trajectory_name.name[1], "bob/b 1");
  idm_data_destroy(again);
  idm_data_destroy(data);
}

/* Codes as the problem maps them; a label beats a code, and what means "not recorded" is refused.
 */
static void codes_are_written(void **state)
{
  (void)state;
  static const char form[] =
      "states: 2\nactions: [left, right]\nobservations: {card: [low, high], coin: [tail, head]}\n"
      "start: uniform\ntransition: identity\nobservation: uniform\nutility: {\"*\": 0, left: [1, "
      "0]}\n"
      "data: {observation: [c, k], codes: {action: %s, observation: %s}, missing: [%s]}\n";
  static const struct {
    const char *action, *observation, *missing, *row;
  } cases[] = {
      {"index", "index", "n/a", "1,1,1,1,1,0\n"},
      {"{9: right, 8: left}", "[{x: high, y: low}, {h: head, t: tail}]", "n/a", "1,1,1,9,x,t\n"},
      {"{9: left}", "[{x: high}, {0: head, 1: tail}]", "n/a", "1,1,1,right,x,1\n"},
      /* Numbers and ids that would be missing get zeros in front; codes give way to labels. */
      {"index", "index", "1, 01, 2", "001,001,001,right,high,0\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char yaml[700], path[SUPPORT_PATH], line[100];
    snprintf(yaml, sizeof yaml, form, cases[i].action, cases[i].observation, cases[i].missing);
    idm_problem *problem;
    check(idm_problem_parse_yaml(yaml, strlen(yaml), "codes", &problem, NULL, &support_error));
    idm_data *data =
        support_data(problem, "agent,action,c,k\nx,right,high,tail\nx,left,low,head\n");
    check(idm_labels_set(&data->agent_name, 0, "1", 1, &support_error));
    check(idm_labels_set(&data->trajectory_name, 0, "1", 1, &support_error));
    support_path(path);
    check(idm_data_write_csv(data, problem, path, &support_error));
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    assert_non_null(fgets(line, sizeof line, stream));
    assert_non_null(fgets(line, sizeof line, stream));
    assert_string_equal(line, cases[i].row);
    fclose(stream);
    idm_data *again = write_and_read(data, problem);
    assert_memory_equal(again->action, data->action, 2 * sizeof *data->action);
    assert_memory_equal(again->observation, data->observation, 2 * sizeof *data->observation);
    idm_data_destroy(again);
    /* A label that would be lost is refused. */
    idm_codes_destroy(&problem->columns.codes[IDM_COLUMN_ACTION]);
    check(idm_labels_set(&problem->columns.missing, 0, "right", 5, &support_error));
    idm_error error = {0};
    assert_int_equal(idm_data_write_csv(data, problem, path, &error), IDM_INPUT);
    assert_non_null(strstr(error.message, "data.missing"));
    remove(path);
    idm_data_destroy(data);
    idm_problem_destroy(problem);
  }
}

static void expect_refused(const idm_problem *problem, const idm_data *data, const char *words)
{
  idm_error error = {0};
  assert_int_equal(idm_data_write_csv(data, problem, "/tmp/idm-test-unused.csv", &error),
                   IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("%s", error.message);
}

/* What could not be read back is refused. */
static void columns_of_two_roles_are_refused(void **state)
{
  idm_problem *problem = *state;
  idm_data *data = support_data(problem, "agent,action,observation\na,monitor,\n");
  idm_labels *role = problem->columns.role;
  SUPPORT_NAMES(&role[IDM_COLUMN_ACTION], "observation");
  expect_refused(problem, data, "cannot hold both the action and the observation");
  SUPPORT_NAMES(&role[IDM_COLUMN_ACTION], "time");
  expect_refused(problem, data, "would be read as the time too");
  SUPPORT_NAMES(&role[IDM_COLUMN_ACTION], "step"); /* which gives way */
  idm_data_destroy(write_and_read(data, problem));
  support_codes(problem, "labels");
  SUPPORT_NAMES(&role[IDM_COLUMN_OBSERVATION], "test", "level");
  expect_refused(problem, data, "cannot be written in 2 columns");
  idm_data_destroy(data);
}

static void pieces(void **state)
{
  (void)state;
  const char *piece = NULL;
  size_t length = 0;
  assert_true(idm_layout_piece("a/b/c", 2, 1, &piece, &length));
  assert_int_equal(length, 3);
  assert_string_equal(piece, "b/c");
  assert_false(idm_layout_piece("a", 2, 0, &piece, &length));
  assert_false(idm_layout_piece("a/", 2, 0, &piece, &length));
  assert_false(idm_layout_piece("a /b", 2, 0, &piece, &length));
  assert_false(idm_layout_piece("", 1, 0, &piece, &length));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(problems_at_random),
      cmocka_unit_test(examples_and_golden_problems),
      cmocka_unit_test_setup_teardown(ids_of_several_columns_come_back, support_set_up,
                                      support_tear_down),
      cmocka_unit_test_setup_teardown(columns_of_two_roles_are_refused, support_set_up,
                                      support_tear_down),
      cmocka_unit_test(codes_are_written),
      cmocka_unit_test(pieces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
