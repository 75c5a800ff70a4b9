/* Fuzz target: logs in CSV. Any bytes are rejected with a place in the file, or read and validated;
 * what is read is unchanged when written and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/log.h"
#include "idm/extension/data.h"
#include "idm/extension/prefix.h"
#include "io/log_file.h"
#include "io/problem_file.h"
#include "setting/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void name(idm_labels *labels, const char *const *names, size_t count)
{
  if (!labels->count && idm_labels_create(labels, count, NULL) != IDM_OK) abort();
  for (size_t i = 0; i < count; i++)
    if (idm_labels_set(labels, i, names[i], strlen(names[i]), NULL) != IDM_OK) abort();
}

/* Problem with derived columns and with every rule. */
static idm_problem *create_coded(void)
{
  static const char text[] =
      "states: [high, low]\nactions: [draw, bet]\nobservations: {x: [lo, hi], y: ['no', 'yes', "
      "none]}\ndiscount: 0.9\ntransition: {'*': identity}\nobservation: {'*': uniform}\n"
      "utility: {draw: -1, bet: 0}\n"
      "data:\n  trajectory: run\n  time: day\n  action: u\n  observation: both\n  missing: [NA]\n"
      "  derive:\n    u: {recode: v, missing: draw, else: bet}\n"
      "    x: {cut: r, at: [0, 2], labels: [lo, hi, top]}\n"
      "    y: {cut: v, sd: [-0.5], labels: ['no', 'yes'], missing: none}\n"
      "    z: {recode: x, labels: {lo: lo, hi: hi}, else: hi}\n"
      "    both: {product: [z, y]}\n    after: {next: both, missing: lo/none}\n"
      "  rules: [{require: r}, {keep: 'r>=-5'}, {drop: v=7}, {duplicates: last}, {truncate: "
      "{column: "
      "day, every: 1}}, {ends: {column: dx, in: [a, b]}}, {least: 2}]\n";
  idm_problem *problem;
  if (idm_problem_parse_yaml(text, sizeof text - 1, "fuzz", &problem, NULL, NULL) != IDM_OK)
    abort();
  return problem;
}

/* Four kinds of problem: all defaults, several columns per role, terminal actions, and derived
 * columns. */
static idm_problem *create_problem(int shape)
{
  idm_problem *problem;
  if (shape == 3) return create_coded();
  if (idm_problem_create((idm_sizes){2, 3, 2}, 1, false, false, &problem, NULL) != IDM_OK) abort();
  name(&problem->setting->states, (const char *const[]){"high", "low"}, 2);
  name(&problem->setting->actions, (const char *const[]){"draw", "bet_high", "bet|low"}, 3);
  name(&problem->setting->observations, (const char *const[]){"high", "a/b"}, 2);
  problem->setting->ends[1] = true;
  problem->setting->terminal[1] = shape == 2;
  if (shape == 1) {
    name(&problem->columns.role[IDM_COLUMN_TRAJECTORY], (const char *const[]){"run", "trial"}, 2);
    name(&problem->columns.role[IDM_COLUMN_TIME], (const char *const[]){"day", "hour"}, 2);
    name(&problem->columns.role[IDM_COLUMN_OBSERVATION], (const char *const[]){"x", "y"}, 2);
    problem->setting->horizon = 3;
  }
  if (shape == 2) name(&problem->columns.utility, (const char *const[]){"win"}, 1);
  return problem;
}

static void expect(bool truth, const char *what)
{
  if (truth) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

static void write_and_read(const idm_data *data, const idm_problem *problem)
{
  char path[64];
  snprintf(path, sizeof path, "/tmp/idm-fuzz-%ld.csv", (long)getpid());
  idm_error error = {0};
  /* The labels of this problem can always be written. */
  expect(idm_data_write_csv(data, problem, path, &error) == IDM_OK, error.message);
  idm_problem *plain = create_problem(0);
  idm_data *again;
  expect(idm_data_read_csv(path, plain, NULL, &again, NULL, &error) == IDM_OK, error.message);
  expect(again->rows == data->rows, "rows differ");
  for (size_t i = 0; i < data->rows; i++) {
    expect(again->action[i] == data->action[i], "an action differs");
    expect(again->observation[i] == data->observation[i], "an observation differs");
  }
  idm_data_destroy(again);
  idm_problem_destroy(plain);
  remove(path);
}

/* Ids joined from several columns may coincide in a single column, so only single columns must be
 * restored. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  const char *const keep[] = {"kept"};
  const idm_csv_options options = {.keep = keep, .keep_count = 1};
  for (int shape = 0; shape < 4; shape++) {
    idm_problem *problem = create_problem(shape);
    idm_data *data;
    idm_error error = {0};
    idm_notes notes = {0};
    const idm_status status =
        idm_data_parse_csv((const char *)bytes, size, "fuzz.csv", problem,
                           shape == 2 ? &options : NULL, &data, &notes, &error);
    if (status == IDM_OK) {
      expect(idm_data_validate(data, problem->setting, &error) == IDM_OK, error.message);
      idm_prefix_tree *tree;
      expect(idm_prefix_tree_create(data, IDM_SCOPE_TRAJECTORY, &tree, &error) == IDM_OK,
             error.message);
      idm_prefix_tree_destroy(tree);
      idm_log_size sum = data->log_counts->kept;
      for (size_t i = 0; i < data->log_counts->reasons; i++) {
        sum.rows += data->log_counts->dropped[i].lost.rows;
        sum.trajectories += data->log_counts->dropped[i].lost.trajectories;
        sum.agents += data->log_counts->dropped[i].lost.agents;
      }
      expect(memcmp(&sum, &data->log_counts->read, sizeof sum) == 0, "counts do not add up");
      expect(data->log_counts->kept.rows == data->rows, "rows disappear uncounted");
      expect(data->log_counts->kept.trajectories == data->trajectories, "trajectories disappear");
      if (shape == 0) write_and_read(data, problem);
    } else {
      expect(data == NULL, "data beside an error");
      expect(status == IDM_INPUT && error.line > 0 && error.column > 0, "an error without a place");
    }
    idm_data_destroy(data);
    idm_notes_clear(&notes);
    idm_problem_destroy(problem);
  }
  return 0;
}
