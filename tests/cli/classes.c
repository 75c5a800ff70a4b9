/* Tests the comparison of all classes on one log: each row against a separate fit of the class;
 * equivalent classes are fitted once, impossible ones have a reason. */
#include "cli/cli.h"
#include "cli/cli_support.h"
#include "cli/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_command *find(const char *name)
{
  size_t i = 0;
  while (strcmp(cli_commands[i]->name, name) != 0) i++;
  return cli_commands[i];
}

#define FIT(call, ...)                                                                             \
  check(cli_parse((call), find("fit"), sizeof((char *[]){__VA_ARGS__}) / sizeof(char *),           \
                  (char *[]){__VA_ARGS__}))

/* The path of a simulated log of the example of maintenance. */
static char path[SUPPORT_PATH];

static int make_log(void **state)
{
  (void)state;
  idm_problem *problem;
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  support_assign(problem, "alpha=4");
  idm_data *data =
      support_simulate(problem, (idm_simulation){.trajectories = 5, .steps = 4, .seed = 2});
  support_path(path);
  check(idm_data_write_csv(data, problem, path, &support_error));
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return 0;
}

static int remove_log(void **state)
{
  (void)state;
  return remove(path);
}

/* Returns the projection of an inverse planner without draws, fitted separately. */
static idm_projection alone(const idm_class *of)
{
  idm_problem *problem;
  idm_data *data;
  idm_posterior *posterior;
  idm_projection found;
  idm_fit_settings settings;
  check(idm_problem_read("example:maintenance", &problem, NULL, &support_error));
  check(idm_data_read_csv(path, problem, NULL, &data, NULL, &support_error));
  check(idm_class_apply(of, problem, &support_error));
  idm_fit_settings_default(&settings);
  idm_class_settings(of, &settings);
  check(idm_project(problem, data, idm_inverse_find(of->inverse), &settings, NULL, &posterior,
                    &found, NULL, &support_error));
  assert_int_not_equal(posterior->answer, IDM_POSTERIOR);
  idm_posterior_destroy(posterior);
  idm_data_destroy(data);
  idm_problem_destroy(problem);
  return found;
}

static const json_t *row_of(const json_t *list, const char *name)
{
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *row = json_array_get(list, i);
    if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0) return row;
  }
  fail_msg("there is no row of %s", name);
  return NULL;
}

static double number(const json_t *row, const char *key)
{
  const json_t *found = json_object_get(row, key);
  assert_true(json_is_number(found));
  return json_number_value(found);
}

static void as_json(void **state)
{
  (void)state;
  cli_call call;
  captured out;
  FIT(&call, "example:maintenance", path, "--chains", "1", "--warmup", "10", "--draws", "10",
      "--threads", "1", "--json");
  captured_open(&out, stdout);
  const idm_status status = cli_fit_classes(&call);
  char *text = captured_close(&out);
  check(status);
  json_t *object = json_loads(text, 0, NULL);
  const json_t *list = json_object_get(object, "classes");
  size_t classes = 0;
  while (idm_class_at(classes)) classes++;
  assert_int_equal(json_array_size(list), classes);
  for (size_t i = 0; i < classes; i++) {
    const json_t *row = json_array_get(list, i);
    assert_string_equal(json_string_value(json_object_get(row, "name")), idm_class_at(i)->name);
    assert_true(!json_object_get(row, "log_loss") != !json_object_get(row, "why_not"));
  }
  const idm_projection expected = alone(idm_class_find("me-irl"));
  const json_t *row = row_of(list, "me-irl");
  assert_near(number(row, "log_loss"), expected.log_loss, 1e-9);
  assert_near(number(row, "brier"), expected.brier, 1e-9);
  assert_near(number(row, "divergence"), expected.divergence, 1e-9);
  /* With observed states, the class with hidden states is equivalent. */
  const json_t *twin = row_of(list, "stoc-po-irl");
  assert_string_equal(json_string_value(json_object_get(twin, "same_as")), "stoc-irl");
  assert_true(number(twin, "log_loss") == number(row_of(list, "stoc-irl"), "log_loss"));
  assert_null(json_object_get(row, "same_as"));
  json_decref(object);
  free(text);
  cli_call_free(&call);
}

/* One line per class, with its results or the reason why it is not possible. */
static void as_a_table(void **state)
{
  (void)state;
  cli_call call;
  captured out;
  FIT(&call, "example:maintenance", path, "--chains", "1", "--warmup", "10", "--draws", "10",
      "--threads", "1");
  captured_open(&out, stdout);
  const idm_status status = cli_fit_classes(&call);
  char *text = captured_close(&out);
  check(status);
  for (size_t i = 0; idm_class_at(i); i++) {
    char line[64];
    snprintf(line, sizeof line, "\n%-12s ", idm_class_at(i)->name);
    assert_non_null(strstr(text, line));
  }
  assert_memory_equal(text, "class         log-loss     Brier", 32);
  assert_non_null(strstr(text, "\nstoc-po-irl  as stoc-irl: states are observed\n"));
  assert_non_null(strstr(text, "\ndet-irl      not possible: 'maximum-margin' needs one action"));
  free(text);
  cli_call_free(&call);
}

static void what_is_refused(void **state)
{
  (void)state;
  cli_call call;
  FIT(&call, "example:maintenance", path, "-o", "run");
  assert_int_equal(cli_fit_classes(&call), IDM_USAGE);
  assert_non_null(strstr(call.error.message, "keeps no run"));
  cli_call_free(&call);
  FIT(&call, "example:maintenance");
  assert_int_equal(cli_fit_classes(&call), IDM_USAGE);
  assert_non_null(strstr(call.error.message, "idm fit PROBLEM DATA..."));
  cli_call_free(&call);
  FIT(&call, "example:maintenance", "no/such.csv");
  assert_int_equal(cli_fit_classes(&call), IDM_INPUT);
  assert_non_null(strstr(call.error.message, "no/such.csv"));
  cli_call_free(&call);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_json),
      cmocka_unit_test(as_a_table),
      cmocka_unit_test(what_is_refused),
  };
  return cmocka_run_group_tests(tests, make_log, remove_log);
}
