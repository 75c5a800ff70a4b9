/* Logs from CSV text, and what tests of their reading expect. */
#ifndef IDM_TESTS_IO_LOG_LOG_SUPPORT_H
#define IDM_TESTS_IO_LOG_LOG_SUPPORT_H

#include "support.h"

/* A log that must be read, and be sound. */
idm_data *log_parse_keeping(const idm_problem *problem, const char *text,
                            const idm_csv_options *options, idm_notes *notes);
idm_data *log_parse(const idm_problem *problem, const char *text);
/* One that must be refused, at this place and with these words. */
void log_expect_error_with(const idm_problem *problem, const char *text,
                           const idm_csv_options *options, long line, long column,
                           const char *words);
void log_expect_error(const idm_problem *problem, const char *text, long line, long column,
                      const char *words);
void log_expect_rows(const int32_t *values, const int32_t *expected, size_t count);
#define EXPECT_ROWS(values, ...)                                                                   \
  log_expect_rows(values, (const int32_t[]){__VA_ARGS__},                                          \
                  sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))
/* A bandit with two arms. */
idm_problem *log_bandit(void);
/* DIAG's labels as the fixture of a test. */
#define WITH_DIAG(test) cmocka_unit_test_setup_teardown(test, support_set_up, support_tear_down)

#endif
