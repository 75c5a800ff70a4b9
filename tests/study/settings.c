/* Settings by name: every one read, set, written back and refused; logs read with settings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idm/data.h"
#include "idm/plan.h"
#include "idm/settings.h"
#include "io/folder_support.h"

enum { MOST = 200, SIZE = 5000 };

static idm_settings *defaults(void)
{
  idm_settings *settings;
  check(idm_settings_create(&settings, &support_error));
  return settings;
}

static const char *get(const idm_settings *settings, const char *name)
{
  static char buffer[SIZE];
  assert_ptr_equal(idm_settings_get(settings, name, buffer, sizeof buffer), buffer);
  return buffer;
}

/* Texts of all settings, by index; freed by the caller. */
static size_t snapshot(const idm_settings *settings, char *texts[MOST])
{
  char name[80];
  size_t count = 0;
  for (; idm_settings_name(settings, count, name, sizeof name); count++) {
    assert_true(count < MOST);
    texts[count] = strdup(get(settings, name));
    assert_non_null(texts[count]);
  }
  return count;
}

static void forget(char *texts[MOST], size_t count)
{
  for (size_t i = 0; i < count; i++) free(texts[i]);
}

/* --- names ---------------------------------------------------------------------------------- */

/* Keys of files and of their hashes, which functions set from their arguments. */
static bool is_input(const idm_key *key)
{
  return strcmp(key->name, "problem") == 0 || strcmp(key->name, "data") == 0 ||
         strcmp(key->name, "design") == 0 || strstr(key->name, "_sha256");
}

static void names_are_complete_and_unique(void **state)
{
  (void)state;
  static const char *const some[] = {
      "chains",       "draws",      "warmup",      "seed",        "inverse",
      "sampler",      "checks",     "by",          "each",        "model",
      "where",        "class",      "audit.by",    "audit.group", "audit.pool",
      "audit.people", "learn.seed", "learn.draws", "threads",     "calibration.replications"};
  idm_settings *settings = defaults();
  static char name[MOST][80];
  size_t count = 0, keys = 1;
  while (idm_settings_name(settings, count, name[count], sizeof name[0])) count++;
  static const idm_key *(*const tables[])(void) = {idm_request_keys, idm_audit_keys, idm_learn_keys,
                                                   idm_calibration_keys};
  for (size_t i = 0; i < 4; i++)
    for (const idm_key *key = tables[i](); key->name; key++) keys += !is_input(key);
  assert_int_equal(count, keys);
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < i; j++) assert_string_not_equal(name[i], name[j]);
  for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
    size_t at = 0;
    while (at < count && strcmp(name[at], some[i]) != 0) at++;
    if (at == count) fail_msg("no setting '%s'", some[i]);
  }
  assert_null(idm_settings_name(settings, count, name[0], sizeof name[0]));
  assert_null(idm_settings_name(settings, SIZE_MAX, name[0], sizeof name[0]));
  assert_null(idm_settings_name(NULL, 0, name[0], sizeof name[0]));
  assert_null(idm_settings_name(settings, 0, NULL, 8));
  assert_null(idm_settings_name(settings, 0, name[0], 0));
  char cut[4];
  assert_string_equal(idm_settings_name(settings, 0, cut, sizeof cut), "inv");
  idm_settings_destroy(settings);
}

/* --- values --------------------------------------------------------------------------------- */

/* Some of these are legal for every setting, and differ from its default. */
static const char *const candidates[] = {
    "51",   "0.25",      "true",          "site",  "bayes", "none",    "full",   "inf",
    "2",    "1",         "return",        "js",    "holm",  "groups",  "random", "start",
    "free", "empirical", "all-decisions", "level", "group", "decision"};

/* Set to another value, a setting has that value and no other setting changes; set to its default,
 * all are as they were. */
static void every_setting_round_trips(void **state)
{
  (void)state;
  idm_settings *settings = defaults();
  char *before[MOST], *after[MOST], name[80];
  const size_t count = snapshot(settings, before);
  for (size_t i = 0; i < count; i++) {
    assert_non_null(idm_settings_name(settings, i, name, sizeof name));
    size_t k = 0;
    const size_t all = sizeof candidates / sizeof candidates[0];
    while (k < all && (strcmp(candidates[k], before[i]) == 0 ||
                       idm_settings_set(settings, name, candidates[k], NULL) != IDM_OK))
      k++;
    if (k == all) fail_msg("no candidate is a value of '%s'", name);
    assert_int_equal(snapshot(settings, after), count);
    assert_string_equal(after[i], candidates[k]);
    for (size_t j = 0; j < count; j++)
      if (j != i && strcmp(before[j], after[j]) != 0)
        fail_msg("'%s' changed setting %zu from '%s' to '%s'", name, j, before[j], after[j]);
    forget(after, count);
    /* A number that is not given has no text. */
    if (before[i][0] || idm_settings_set(settings, name, "", NULL) == IDM_OK)
      check(idm_settings_set(settings, name, before[i], &support_error));
    else {
      idm_settings_destroy(settings);
      settings = defaults();
    }
    assert_string_equal(get(settings, name), before[i]);
  }
  forget(before, count);
  idm_settings_destroy(settings);
}

/* The defaults are those of the commands fit, learn and recover; an audit has those of a fit. */
static void defaults_are_those_of_the_commands(void **state)
{
  (void)state;
  idm_settings *settings = defaults();
  idm_request *request = malloc(sizeof *request);
  idm_learn_settings learn;
  idm_calibration_settings study;
  char text[SIZE], name[80];
  assert_non_null(request);
  idm_request_default(request);
  idm_learn_settings_default(&learn);
  idm_calibration_settings_default(&study);
  for (const idm_key *key = idm_request_keys(); key->name; key++)
    if (!is_input(key))
      assert_string_equal(get(settings, key->name), idm_key_text(key, request, text, sizeof text));
  for (const idm_key *key = idm_learn_keys(); key->name; key++) {
    snprintf(name, sizeof name, "learn.%s", key->name);
    assert_string_equal(get(settings, name), idm_key_text(key, &learn, text, sizeof text));
  }
  for (const idm_key *key = idm_calibration_keys(); key->name; key++) {
    if (is_input(key)) continue;
    snprintf(name, sizeof name, "calibration.%s", key->name);
    assert_string_equal(get(settings, name), idm_key_text(key, &study, text, sizeof text));
  }
  free(request);
  idm_settings_destroy(settings);
}

/* What is out of range is refused with the range, and changes nothing. */
static void ranges_are_checked(void **state)
{
  (void)state;
  static const char *const refused[][3] = {{"chains", "0", "from 1 to"},
                                           {"chains", "1.5", "whole number"},
                                           {"chains", "", "whole number"},
                                           {"draws", "-3", "whole number"},
                                           {"draws", "many", "whole number"},
                                           {"warmup", "-1", "whole number"},
                                           {"seed", "-1", "below 2^64"},
                                           {"seed", "18446744073709551616", "below 2^64"},
                                           {"checks", "some", "fast"},
                                           {"epsilon", "-1", "number"},
                                           {"stan", "1", "true or false"},
                                           {"audit.pool", "x", "expected"},
                                           {"audit.people", "yes", "true or false"},
                                           {"learn.starts", "0", "from 1 to"},
                                           {"learn.prior", "0.5", "at least 1"},
                                           {"learn.start", "here", "file or random"},
                                           {"calibration.replications", "0", "from 1 to"},
                                           {"calibration.draws", "49", "from 50 to"},
                                           {"threads", "-1", "from 0"},
                                           {"threads", "1025", "1024"},
                                           {"threads", "2.5", "whole number"},
                                           {"threads", "", "whole number"},
                                           {"threads", "two", "whole number"},
                                           {"", "1", "no setting"},
                                           {"chain", "1", "no setting 'chain'"},
                                           {"audit.chains", "1", "no setting"},
                                           {"learn.", "1", "no setting"},
                                           {"fit.chains", "1", "no setting"},
                                           {"problem", "a.yaml", "no setting"},
                                           {"data", "a.csv", "no setting"},
                                           {"data_sha256", "", "no setting"},
                                           {"calibration.design", "", "no setting"}};
  idm_settings *settings = defaults();
  char *before[MOST], *after[MOST];
  const size_t count = snapshot(settings, before);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    idm_error error = {0};
    const idm_status status = idm_settings_set(settings, refused[i][0], refused[i][1], &error);
    if (status != IDM_USAGE || !strstr(error.message, refused[i][2]))
      fail_msg("%s=%s: %s '%s'", refused[i][0], refused[i][1], idm_status_name(status),
               error.message);
    assert_int_equal(snapshot(settings, after), count);
    for (size_t j = 0; j < count; j++) assert_string_equal(before[j], after[j]);
    forget(after, count);
  }
  forget(before, count);
  idm_settings_destroy(settings);
}

/* The ends of a range, all bits of a seed, words for 0. */
static void values_in_full(void **state)
{
  (void)state;
  static const char *const kept[][2] = {{"seed", "18446744073709551615"},
                                        {"calibration.seed", "18446744073709551615"},
                                        {"learn.seed", "18446744073709551615"},
                                        {"epsilon", "0.10000000000000001"},
                                        {"thin", "0"},
                                        {"learn.draws", "none"},
                                        {"learn.repeats", "off"},
                                        {"threads", "1"},
                                        {"threads", "1024"},
                                        {"by", "a column, with = and \xc3\xa9"}};
  idm_settings *settings = defaults();
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
    check(idm_settings_set(settings, kept[i][0], kept[i][1], &support_error));
    if (strcmp(kept[i][0], "epsilon") == 0)
      assert_true(strtod(get(settings, "epsilon"), NULL) == 0.1);
    else
      assert_string_equal(get(settings, kept[i][0]), kept[i][1]);
  }
  /* 0 threads: one per processor. */
  check(idm_settings_set(settings, "threads", "0", &support_error));
  assert_true(strtol(get(settings, "threads"), NULL, 10) >= 1);
  idm_settings_destroy(settings);
}

/* Lists have an entry per line; setting one replaces what was set; empty lines are no entries. */
static void lists_have_lines(void **state)
{
  (void)state;
  static const char *const lists[] = {"where", "model", "audit.group"};
  idm_settings *settings = defaults();
  for (size_t i = 0; i < 3; i++) {
    check(idm_settings_set(settings, lists[i], "site=a\nage>50", &support_error));
    assert_string_equal(get(settings, lists[i]), "site=a\nage>50");
    check(idm_settings_set(settings, lists[i], "sex=f\n", &support_error));
    assert_string_equal(get(settings, lists[i]), "sex=f");
    check(idm_settings_set(settings, lists[i], "", &support_error));
    assert_string_equal(get(settings, lists[i]), "");
    /* Longer than there is room for: refused, and what was set stays. */
    char *longer = malloc(20001);
    assert_non_null(longer);
    memset(longer, 'x', 20000);
    longer[20000] = '\0';
    check(idm_settings_set(settings, lists[i], "site=a", &support_error));
    assert_int_equal(idm_settings_set(settings, lists[i], longer, NULL), IDM_USAGE);
    assert_string_equal(get(settings, lists[i]), "site=a");
    free(longer);
  }
  idm_settings_destroy(settings);
}

static void bad_arguments(void **state)
{
  (void)state;
  idm_settings *settings = defaults();
  idm_error error = {0};
  char buffer[4];
  assert_int_equal(idm_settings_create(NULL, &error), IDM_USAGE);
  assert_int_equal(idm_settings_set(NULL, "chains", "1", &error), IDM_USAGE);
  assert_int_equal(idm_settings_set(settings, NULL, "1", &error), IDM_USAGE);
  assert_int_equal(idm_settings_set(settings, "chains", NULL, &error), IDM_USAGE);
  assert_null(idm_settings_get(NULL, "chains", buffer, sizeof buffer));
  assert_null(idm_settings_get(settings, NULL, buffer, sizeof buffer));
  assert_null(idm_settings_get(settings, "chains", NULL, 4));
  assert_null(idm_settings_get(settings, "chains", buffer, 0));
  assert_null(idm_settings_get(settings, "chain", buffer, sizeof buffer));
  check(idm_settings_set(settings, "seed", "123456", &support_error));
  assert_string_equal(idm_settings_get(settings, "seed", buffer, sizeof buffer), "123");
  check(idm_settings_set(settings, "by", "person", &support_error));
  assert_string_equal(idm_settings_get(settings, "by", buffer, sizeof buffer), "per");
  idm_settings_watch(NULL, NULL, NULL);
  idm_settings_watch(settings, NULL, NULL);
  idm_settings_destroy(settings);
  idm_settings_destroy(NULL);
}

/* --- logs ----------------------------------------------------------------------------------- */

static const char rows[] = "agent,trajectory,action,observation,site,age\n"
                           "ann,1,monitor,positive,a,61\nann,1,declare_diseased,,a,61\n"
                           "bob,2,monitor,negative,b,40\nbob,2,declare_healthy,,b,40\n"
                           "cyd,3,monitor,negative,a,30\ncyd,3,declare_healthy,,a,30\n";

static idm_data *parse(idm_problem *problem, const idm_settings *settings)
{
  idm_data *data;
  check(idm_data_parse(problem, rows, strlen(rows), settings, &data, NULL, &support_error));
  return data;
}

static void settings_select_rows_and_columns(void **state)
{
  (void)state;
  static const char *const kept[][3] = {{"audit.by", "site", "site"},
                                        {"audit.group", "age>50\nsite=a", "age"},
                                        {"by", "site", "site"},
                                        {"each", "age", "age"}};
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  idm_settings *settings = defaults();
  idm_data *data = parse(problem, NULL);
  assert_int_equal(idm_data_agents(data), 3);
  assert_int_equal(data->covariates, 0);
  idm_data_destroy(data);
  check(idm_settings_set(settings, "where", "site=a", &support_error));
  data = parse(problem, settings);
  assert_int_equal(idm_data_agents(data), 2);
  assert_string_equal(idm_data_agent_name(data, 1), "cyd");
  idm_data_destroy(data);
  check(idm_settings_set(settings, "where", "site=a\nage>50", &support_error));
  data = parse(problem, settings);
  assert_int_equal(idm_data_agents(data), 1);
  idm_data_destroy(data);
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
    idm_settings_destroy(settings);
    settings = defaults();
    check(idm_settings_set(settings, kept[i][0], kept[i][1], &support_error));
    data = parse(problem, settings);
    assert_true(data->covariates >= 1);
    assert_string_equal(data->covariate_name.name[0], kept[i][2]);
    idm_data_destroy(data);
  }
  /* Columns of formulas and of groups together, each once. */
  idm_settings_destroy(settings);
  settings = defaults();
  check(idm_settings_set(settings, "by", "agent", &support_error));
  check(idm_settings_set(settings, "model", "alpha ~ site + age", &support_error));
  check(idm_settings_set(settings, "audit.by", "site", &support_error));
  data = parse(problem, settings);
  assert_int_equal(data->covariates, 2);
  idm_data_destroy(data);
  idm_settings_destroy(settings);
  idm_problem_destroy(problem);
}

/* Files give the log that their text gives; several are read as one log. */
static void files_and_text(void **state)
{
  folder *f = *state;
  char second[100];
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  idm_data *text = parse(problem, NULL), *read;
  snprintf(second, sizeof second, "%s/second.csv", f->path);
  const char *const paths[] = {f->file, second};
  const char *bob = strstr(rows, "bob,2,monitor");
  char first_rows[400];
  spill(f->file, rows, strlen(rows));
  check(idm_data_read(problem, paths, 1, NULL, &read, NULL, &support_error));
  assert_int_equal(idm_data_rows(read), idm_data_rows(text));
  assert_memory_equal(idm_data_actions(read, NULL), idm_data_actions(text, NULL),
                      idm_data_rows(text) * sizeof(int32_t));
  assert_memory_equal(idm_data_observations(read, NULL), idm_data_observations(text, NULL),
                      idm_data_rows(text) * sizeof(int32_t));
  idm_data_destroy(read);
  snprintf(first_rows, sizeof first_rows, "%.*s", (int)(bob - rows), rows);
  spill(f->file, first_rows, strlen(first_rows));
  snprintf(first_rows, sizeof first_rows, "%.*s%s", (int)strcspn(rows, "\n") + 1, rows, bob);
  spill(second, first_rows, strlen(first_rows));
  check(idm_data_read(problem, paths, 2, NULL, &read, NULL, &support_error));
  assert_int_equal(idm_data_rows(read), idm_data_rows(text));
  assert_memory_equal(idm_data_actions(read, NULL), idm_data_actions(text, NULL),
                      idm_data_rows(text) * sizeof(int32_t));
  for (size_t i = 0; i < 3; i++)
    assert_string_equal(idm_data_agent_name(read, i), idm_data_agent_name(text, i));
  idm_data_destroy(read);
  idm_data_destroy(text);
  idm_problem_destroy(problem);
}

/* Utilities that come from a column are set in the problem: the score is that of the numbers. */
static void utilities_from_columns(void **state)
{
  (void)state;
  static const char fees[] = "trajectory,action,observation,fee\n1,monitor,positive,-2.5\n"
                             "1,declare_diseased,,-2.5\n2,declare_healthy,,-2.5\n";
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  idm_score score, of_numbers;
  idm_data *data, *without;
  support_assign(problem, "utility.monitor=fee");
  check(idm_data_parse(problem, fees, strlen(fees), NULL, &data, NULL, &support_error));
  check(idm_score_log(problem, data, &score, NULL, &support_error));
  support_assign(problem, "utility.monitor=-2.5");
  check(idm_data_parse(problem, fees, strlen(fees), NULL, &without, NULL, &support_error));
  check(idm_score_log(problem, without, &of_numbers, NULL, &support_error));
  assert_near(score.log_likelihood, of_numbers.log_likelihood, 1e-12);
  idm_data_destroy(data);
  idm_data_destroy(without);
  idm_problem_destroy(problem);
}

static void logs_that_are_refused(void **state)
{
  (void)state;
  static const char bad[] = "trajectory,action,observation\n1,monitor,positive\n1,wait,negative\n";
  idm_problem *problem = support_diag(0.5, 1.25, 0.1);
  idm_settings *settings = defaults();
  idm_error error = {0};
  idm_data *data;
  assert_int_equal(idm_data_parse(problem, bad, strlen(bad), NULL, &data, NULL, &error), IDM_INPUT);
  support_expect_place(&error, 3, 3, "wait");
  assert_null(data);
  error = (idm_error){0};
  const char *const paths[] = {"no/such.csv", NULL};
  assert_int_not_equal(idm_data_read(problem, paths, 1, NULL, &data, NULL, &error), IDM_OK);
  assert_null(data);
  assert_int_equal(idm_data_read(problem, paths, 2, NULL, &data, NULL, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "path 1 is NULL"));
  assert_int_equal(idm_data_read(problem, paths, 0, NULL, &data, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_data_read(problem, NULL, 1, NULL, &data, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_data_read(NULL, paths, 1, NULL, &data, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_data_parse(problem, NULL, 0, NULL, &data, NULL, &error), IDM_USAGE);
  assert_int_equal(idm_data_parse(problem, rows, strlen(rows), NULL, NULL, NULL, &error),
                   IDM_USAGE);
  /* Columns that the log does not have, formulas and conditions that are none. */
  static const char *const wrong[][2] = {{"by", "nobody"},       {"each", "nobody"},
                                         {"audit.by", "nobody"}, {"audit.group", "nobody=1"},
                                         {"audit.group", "=="},  {"where", "nobody=1"},
                                         {"where", "="}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    idm_settings_destroy(settings);
    settings = defaults();
    check(idm_settings_set(settings, wrong[i][0], wrong[i][1], &support_error));
    const idm_status status =
        idm_data_parse(problem, rows, strlen(rows), settings, &data, NULL, &error);
    if (status != IDM_INPUT && status != IDM_USAGE)
      fail_msg("%s=%s: %s", wrong[i][0], wrong[i][1], idm_status_name(status));
    assert_null(data);
  }
  check(idm_settings_set(settings, "where", "", &support_error));
  check(idm_settings_set(settings, "by", "agent", &support_error));
  check(idm_settings_set(settings, "model", "alpha ~ (", &support_error));
  assert_int_not_equal(idm_data_parse(problem, rows, strlen(rows), settings, &data, NULL, &error),
                       IDM_OK);
  assert_null(data);
  idm_settings_destroy(settings);
  idm_problem_destroy(problem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_complete_and_unique),
      cmocka_unit_test(every_setting_round_trips),
      cmocka_unit_test(defaults_are_those_of_the_commands),
      cmocka_unit_test(ranges_are_checked),
      cmocka_unit_test(values_in_full),
      cmocka_unit_test(lists_have_lines),
      cmocka_unit_test(bad_arguments),
      cmocka_unit_test(settings_select_rows_and_columns),
      cmocka_unit_test_setup_teardown(files_and_text, make_folder, remove_folder),
      cmocka_unit_test(utilities_from_columns),
      cmocka_unit_test(logs_that_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
