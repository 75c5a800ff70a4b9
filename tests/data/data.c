/* Tests the destruction of partially built data and every check of idm_data_validate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/log.h"
#include "idm/extension/data.h"
#include "setting/model.h"

typedef struct fixture {
  idm_setting *setting;
  idm_data *data;
} fixture;

/* Two trajectories of three rows and one row, two agents, two sets, one start, two variants, one
 * covariate. */
static int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  assert_int_equal(idm_setting_create((idm_sizes){2, 3, 2}, false, false, &f->setting, NULL),
                   IDM_OK);
  idm_data *data = f->data = calloc(1, sizeof *data);
  assert_non_null(data);
  data->sizes = (idm_sizes){2, 3, 2};
  data->rows = 4;
  data->trajectories = 2;
  data->action = calloc(4, sizeof *data->action);
  data->observation = calloc(4, sizeof *data->observation);
  data->available = calloc(4, sizeof *data->available);
  data->line = calloc(4, sizeof *data->line);
  data->first = calloc(3, sizeof *data->first);
  data->agent = calloc(2, sizeof *data->agent);
  data->variant = calloc(2, sizeof *data->variant);
  data->start = calloc(2, sizeof *data->start);
  data->first[1] = 3;
  data->first[2] = 4;
  data->agent[1] = 1;
  data->variant[1] = 1;
  data->start[0] = -1;
  data->action[2] = 2;
  data->line[2] = 17;
  data->available[2] = 1;
  data->available_sets = 2;
  data->available_set = calloc(6, sizeof *data->available_set);
  const bool sets[] = {true, true, true, false, true, true};
  memcpy(data->available_set, sets, sizeof sets);
  data->starts = 1;
  data->start_belief = calloc(2, sizeof *data->start_belief);
  data->start_belief[0] = 0.25;
  data->start_belief[1] = 0.75;
  data->variants = 2;
  data->columns = 1;
  data->variant_value = calloc(2, sizeof *data->variant_value);
  data->covariates = 1;
  data->covariate = calloc(4, sizeof *data->covariate);
  data->covariate_level = calloc(1, sizeof *data->covariate_level);
  assert_int_equal(idm_labels_create(&data->covariate_level[0], 1, NULL), IDM_OK);
  assert_int_equal(idm_labels_create(&data->covariate_name, 1, NULL), IDM_OK);
  assert_int_equal(idm_labels_set(&data->covariate_name, 0, "sex", 3, NULL), IDM_OK);
  assert_int_equal(idm_labels_create(&data->agent_name, 2, NULL), IDM_OK);
  *state = f;
  return 0;
}

static int tear_down(void **state)
{
  fixture *f = *state;
  idm_data_destroy(f->data);
  idm_setting_destroy(f->setting);
  free(f);
  return 0;
}

static void expect_refused(const fixture *f, const char *words)
{
  idm_error error = {0};
  assert_int_equal(idm_data_validate(f->data, f->setting, &error), IDM_INPUT);
  if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
}

static void test_good(void **state)
{
  const fixture *f = *state;
  idm_error error = {0};
  assert_int_equal(idm_data_validate(f->data, f->setting, &error), IDM_OK);
  f->data->action[0] = IDM_MISSING;
  f->data->observation[3] = IDM_MISSING;
  f->data->covariate[1] = IDM_MISSING;
  assert_int_equal(idm_data_validate(f->data, f->setting, &error), IDM_OK);
}

static void test_destroy(void **state)
{
  (void)state;
  idm_data_destroy(NULL);
  idm_data *data = calloc(1, sizeof *data);
  assert_non_null(data);
  data->covariates = 3;
  idm_data_destroy(data);
}

static void test_tables(void **state)
{
  const fixture *f = *state;
  f->data->sizes.actions = 4;
  expect_refused(f, "4 actions");
  f->data->sizes.actions = 3;
  f->data->available_set[1] = false;
  expect_refused(f, "set 0 must hold all actions");
  f->data->available_set[1] = true;
  f->data->available_set[4] = f->data->available_set[5] = false;
  expect_refused(f, "set 1 is empty");
  f->data->available_set[5] = true;
  f->data->start_belief[1] = 0.8;
  expect_refused(f, "start belief 0 is no distribution");
  f->data->start_belief[1] = NAN;
  expect_refused(f, "start belief 0 is no distribution");
  f->data->start_belief[1] = 0.75;
  f->data->variant_value[1] = INFINITY;
  expect_refused(f, "utility 0 of variant 1 is not finite");
  f->data->variant_value[1] = 0;
  f->data->variants = 0;
  expect_refused(f, "one variant");
}

static void test_trajectories(void **state)
{
  const fixture *f = *state;
  f->data->first[2] = 3;
  expect_refused(f, "span the 4 rows");
  f->data->first[2] = 4;
  f->data->first[1] = 4;
  expect_refused(f, "trajectory 2 has no rows");
  f->data->first[1] = 3;
  f->data->agent[1] = 2;
  expect_refused(f, "trajectory 2 is of agent 2");
  f->data->agent[1] = 0;
  f->data->variant[0] = 2;
  expect_refused(f, "trajectory 1 is of variant 2");
  f->data->variant[0] = 0;
  f->data->start[1] = 1;
  expect_refused(f, "trajectory 2 has start belief 1");
  f->data->start[1] = -2;
  expect_refused(f, "trajectory 2 has start belief -2");
  f->data->start[1] = -1;
  assert_int_equal(idm_labels_create(&f->data->trajectory_name, 1, NULL), IDM_OK);
  expect_refused(f, "2 trajectories have 1 names");
}

static void test_rows(void **state)
{
  const fixture *f = *state;
  f->data->action[1] = 3;
  expect_refused(f, "row 1 (line 0) has action 3");
  f->data->action[1] = -2;
  expect_refused(f, "row 1 (line 0) has action -2");
  f->data->action[1] = 0;
  f->data->observation[2] = 2;
  expect_refused(f, "row 2 (line 17) has observation 2");
  f->data->observation[2] = 0;
  f->data->available[3] = 2;
  expect_refused(f, "row 3 (line 0) has availability set 2");
  f->data->available[3] = 0;
  f->data->action[2] = 0;
  expect_refused(f, "row 2 (line 17): the action taken, '0', is not among those available");
  f->data->action[2] = 1;
  f->data->missed = malloc(f->data->rows * sizeof *f->data->missed);
  assert_non_null(f->data->missed);
  for (size_t row = 0; row < f->data->rows; row++) f->data->missed[row] = IDM_MISSING;
  f->data->missed[1] = -2;
  expect_refused(f, "row 1 (line 0) has missed response -2");
  f->data->missed[1] = 0;
  expect_refused(f, "row 1 (line 0) is a missed response with 3 actions available; expected '0'");
  assert_true(idm_data_missed(f->data, 1) && !idm_data_missed(f->data, 2));
  assert_false(idm_data_missed(f->data, f->data->rows));
  f->data->action[1] = IDM_MISSING;
  assert_int_equal(idm_data_validate(f->data, f->setting, NULL), IDM_OK);
  f->data->action[1] = 0;
  f->data->missed[1] = IDM_MISSING;
  f->data->covariate[3] = 1;
  expect_refused(f, "row 3 has level 1 of covariate 'sex'");
}

/* Trajectories are found by name, or by number if they have no names. Trajectories of different
 * agents may share a name. */
static void test_find(void **state)
{
  const fixture *f = *state;
  idm_data *data = f->data;
  char number[24];
  size_t found;
  idm_error error = {0};
  idm_labels_destroy(&data->trajectory_name);
  assert_string_equal(idm_data_trajectory_name(data, 1, number, sizeof number), "2");
  assert_int_equal(idm_data_find_trajectory(data, "2", &found, &error), IDM_OK);
  assert_int_equal(found, 1);
  assert_int_equal(idm_data_find_trajectory(data, "3", &found, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "no trajectory '3'; the log has 2, the first is '1'"));
  assert_int_equal(idm_labels_create(&data->trajectory_name, 2, NULL), IDM_OK);
  for (size_t t = 0; t < 2; t++)
    assert_int_equal(idm_labels_set(&data->trajectory_name, t, t ? "b" : "a", 1, NULL), IDM_OK);
  assert_string_equal(idm_data_trajectory_name(data, 1, number, sizeof number), "b");
  assert_string_equal(idm_data_trajectory_name(data, 2, number, sizeof number), "");
  assert_int_equal(idm_data_find_trajectory(data, "b", &found, &error), IDM_OK);
  assert_int_equal(found, 1);
  assert_int_equal(idm_data_find_trajectory(data, "1", &found, &error), IDM_USAGE);
  assert_int_equal(idm_labels_set(&data->trajectory_name, 1, "a", 1, NULL), IDM_OK);
  assert_int_equal(idm_data_find_trajectory(data, "a", &found, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "several trajectories 'a'"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_good, set_up, tear_down),
      cmocka_unit_test(test_destroy),
      cmocka_unit_test_setup_teardown(test_tables, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_trajectories, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_rows, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_find, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
