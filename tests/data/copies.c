/* Tests that duplicate trajectories of a log are named unless chance explains them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static idm_notes look_at(const idm_data *data)
{
  idm_notes notes = {0};
  check(idm_data_note_duplicates(data, &notes, &support_error));
  return notes;
}

static void expect_note(const idm_data *data, const char *opt_words)
{
  idm_notes notes = look_at(data);
  if (opt_words) {
    assert_int_equal(notes.count, 1);
    assert_non_null(strstr(notes.text[0], opt_words));
  } else {
    assert_int_equal(notes.count, 0);
  }
  idm_notes_clear(&notes);
}

/* A log of 30 trajectories with `rows` monitored rows each and random observations. The last
 * trajectory repeats the third up to row `changed`, which differs. */
static idm_data *make_log(const idm_problem *problem, size_t rows, size_t changed)
{
  enum { TRAJECTORIES = 30, ROOM = 60000 };
  char *csv = malloc(ROOM);
  assert_non_null(csv);
  size_t used = (size_t)snprintf(csv, ROOM, "trajectory,action,observation\n");
  for (size_t t = 0; t < TRAJECTORIES; t++) {
    idm_random random;
    idm_random_init(&random, 7, t + 1 == TRAJECTORIES ? 2 : t);
    for (size_t r = 0; r < rows; r++) {
      bool seen = idm_random_uniform(&random) < 0.5;
      if (t + 1 == TRAJECTORIES && r == changed) seen = !seen;
      used += (size_t)snprintf(csv + used, ROOM - used, "t%zu,monitor,%s\n", t,
                               seen ? "positive" : "negative");
    }
  }
  idm_data *data = support_data(problem, csv);
  free(csv);
  return data;
}

static void test_copies(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, INFINITY, 0);
  idm_data *data = make_log(problem, 40, SIZE_MAX);
  expect_note(data,
              "1 trajectory has the same rows as another one under its own name ('t29' and 't2')");
  idm_data_destroy(data);
  data = make_log(problem, 40, 39);
  expect_note(data, NULL); /* the last row differs */
  idm_data_destroy(data);
  data = make_log(problem, 4, SIZE_MAX);
  expect_note(data, NULL); /* too short */
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Trajectories with the same rows but different numbers are not duplicates. */
static void test_numbers(void **state)
{
  (void)state;
  idm_problem *problem = support_diag(1, INFINITY, 0);
  idm_data *data = make_log(problem, 40, SIZE_MAX);
  data->number[IDM_COLUMN_REWARD] = calloc(data->rows, sizeof(double));
  expect_note(data, "('t29' and 't2')");
  data->number[IDM_COLUMN_REWARD][data->rows - 1] = 0.25;
  expect_note(data, NULL);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Short histories of few labels coincide by chance. 20 simulated logs contain no duplicates; a note
 * on any of them has a probability below 0.02. */
static void test_chance(void **state)
{
  (void)state;
  size_t pairs = 0;
  idm_problem *problem = support_diag(1, INFINITY, 0);
  problem->agent.resolution = 20;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    idm_data *data = support_simulate(problem, (idm_simulation){.trajectories = 200, .seed = seed});
    expect_note(data, NULL);
    for (size_t t = 1; t < data->trajectories; t++) {
      const size_t rows = data->first[t + 1] - data->first[t], first = data->first[t];
      for (size_t s = 0; rows >= 5 && s < t; s++)
        pairs += data->first[s + 1] - data->first[s] == rows &&
                 memcmp(data->action + data->first[s], data->action + first,
                        rows * sizeof(int32_t)) == 0 &&
                 memcmp(data->observation + data->first[s], data->observation + first,
                        rows * sizeof(int32_t)) == 0;
    }
    idm_data_destroy(data);
  }
  assert_true(pairs > 100); /* identical pairs occur */
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies), cmocka_unit_test(test_numbers),
                                     cmocka_unit_test(test_chance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
