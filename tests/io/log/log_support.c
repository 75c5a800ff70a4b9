#include "io/log/log_support.h"

#include <string.h>

idm_data *log_parse_keeping(const idm_problem *problem, const char *text,
                            const idm_csv_options *options, idm_notes *notes)
{
  idm_data *data;
  idm_error error = {0};
  if (idm_data_parse_csv(text, strlen(text), "log.csv", problem, options, &data, notes, &error) !=
      IDM_OK)
    fail_msg("%ld:%ld: %s", error.line, error.column, error.message);
  assert_int_equal(idm_data_validate(data, problem->setting, &error), IDM_OK);
  return data;
}

idm_data *log_parse(const idm_problem *problem, const char *text)
{
  return log_parse_keeping(problem, text, NULL, NULL);
}

void log_expect_error_with(const idm_problem *problem, const char *text,
                           const idm_csv_options *options, long line, long column,
                           const char *words)
{
  idm_data *data;
  idm_error error = {0};
  assert_int_equal(
      idm_data_parse_csv(text, strlen(text), "log.csv", problem, options, &data, NULL, &error),
      IDM_INPUT);
  assert_null(data);
  support_expect_place(&error, line, column, words);
  assert_string_equal(error.file, "log.csv");
}

void log_expect_error(const idm_problem *problem, const char *text, long line, long column,
                      const char *words)
{
  log_expect_error_with(problem, text, NULL, line, column, words);
}

void log_expect_rows(const int32_t *values, const int32_t *expected, size_t count)
{
  for (size_t i = 0; i < count; i++) assert_int_equal(values[i], expected[i]);
}

idm_problem *log_bandit(void)
{
  idm_problem *problem = support_labels_problem(2, 2, 2);
  SUPPORT_NAMES(&problem->setting->actions, "left", "right");
  SUPPORT_NAMES(&problem->setting->observations, "win", "loss");
  return problem;
}
