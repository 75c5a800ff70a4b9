/* Lines of CSV about rows of a log: whose they are, their cells, and files that are not finished.
 */
#include "io/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/folder_support.h"

/* Content of a row: a number, NaN on odd rows, and a text that needs quotes. */
static idm_status put_header(idm_row_writer *lines, idm_error *opt_error)
{
  const idm_status status = idm_row_writer_header(lines, "number", NULL, opt_error);
  return status == IDM_OK ? idm_row_writer_header(lines, "p", "go, now", opt_error) : status;
}

static idm_status put_row(idm_row_writer *lines, const void *content, size_t row,
                          idm_error *opt_error)
{
  const size_t *stop = content;
  if (row == *stop) return idm_fail(opt_error, IDM_NUMERICAL, "row %zu has no number", row);
  idm_row_writer_number(lines, row % 2 ? NAN : (double)row / 4, -1, INFINITY);
  idm_row_writer_text(lines, row ? "plain" : "a \"b\"\n");
  return IDM_OK;
}

static const size_t never = SIZE_MAX;
static const idm_row_content content = {&never, put_header, put_row};

static idm_data *data_of(const idm_problem *problem)
{
  return support_data(problem, "agent,trajectory,action,observation\n"
                               "\"ann, md\",p1,monitor,positive\n"
                               "\"ann, md\",p1,declare_diseased,\n"
                               "bob,p2,,negative\n");
}

static void expect_text(const char *path, const char *expected)
{
  char text[2000] = "";
  FILE *stream = fopen(path, "rb");
  assert_non_null(stream);
  text[fread(text, 1, sizeof text - 1, stream)] = '\0';
  fclose(stream);
  assert_string_equal(text, expected);
}

static void test_cells(void **state)
{
  const folder *f = *state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_data *data = data_of(problem);
  check(idm_row_writer_write(data, problem->setting, false, &content, -1, f->file, &support_error));
  expect_text(f->file, "agent,trajectory,step,line,action,observation,number,\"p.go, now\"\n"
                       "\"ann, md\",p1,1,2,monitor,positive,0,\"a \"\"b\"\"\n\"\n"
                       "\"ann, md\",p1,2,3,declare_diseased,,,plain\n"
                       "bob,p2,1,4,,negative,0.5,plain\n");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* One trajectory of several, with quantiles: three cells a number, its steps counted from 1. */
static void test_one_trajectory(void **state)
{
  const folder *f = *state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_data *data = data_of(problem);
  check(idm_row_writer_write(data, problem->setting, true, &content, 1, f->file, &support_error));
  expect_text(f->file, "agent,trajectory,step,line,action,observation,number,number.q5,number.q95,"
                       "\"p.go, now\",\"p.go, now.q5\",\"p.go, now.q95\"\n"
                       "bob,p2,1,4,,negative,0.5,-1,inf,plain\n");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Without names trajectories are numbers from 1; a row that stands in no file has no line. */
static void test_nameless(void **state)
{
  const folder *f = *state;
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_data *data = data_of(problem);
  idm_labels_destroy(&data->trajectory_name);
  for (size_t row = 0; row < data->rows; row++) data->line[row] = 0;
  check(idm_row_writer_write(data, problem->setting, false, &content, 1, f->file, &support_error));
  expect_text(f->file, "agent,trajectory,step,line,action,observation,number,\"p.go, now\"\n"
                       "bob,2,1,,,negative,0.5,plain\n");
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

/* Where the content fails midway its status comes through, and the older file stays. */
static void test_unfinished(void **state)
{
  const folder *f = *state;
  const size_t second = 1;
  const idm_row_content failing = {&second, put_header, put_row};
  idm_problem *problem = support_diag(0.5, INFINITY, 0);
  idm_data *data = data_of(problem);
  idm_error error = {0};
  assert_int_equal(
      idm_row_writer_write(data, problem->setting, false, &failing, -1, f->file, &error),
      IDM_NUMERICAL);
  assert_string_equal(error.message, "row 1 has no number");
  assert_int_equal(entries(f, 0), 0);
  check(idm_row_writer_write(data, problem->setting, false, &failing, 1, f->file, &support_error));
  assert_int_equal(
      idm_row_writer_write(data, problem->setting, false, &failing, -1, f->file, &error),
      IDM_NUMERICAL);
  expect_text(f->file, "agent,trajectory,step,line,action,observation,number,\"p.go, now\"\n"
                       "bob,p2,1,4,,negative,0.5,plain\n");
  char path[128];
  snprintf(path, sizeof path, "%s/missing/out.csv", f->path);
  assert_int_equal(idm_row_writer_write(data, problem->setting, false, &content, -1, path, &error),
                   IDM_SYSTEM);
  data->action[0] = 99;
  assert_int_not_equal(
      idm_row_writer_write(data, problem->setting, false, &content, -1, f->file, &error), IDM_OK);
  assert_int_equal(entries(f, 0), 1);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(test_cells),
      TEST(test_one_trajectory),
      TEST(test_nameless),
      TEST(test_unfinished),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
