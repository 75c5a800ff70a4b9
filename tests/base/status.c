/* Tests status codes, errors with a place, and notes against expected values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/library.h"

static void test_names_and_exit_codes(void **state)
{
  (void)state;
  assert_int_equal(IDM_OK, 0);
#define CHECK_STATUS(id, code, words)                                                              \
  assert_string_equal(idm_status_name(id), #id);                                                   \
  assert_string_equal(idm_status_text(id), words);                                                 \
  assert_int_equal(idm_status_exit_code(id), code);
  IDM_STATUS_LIST(CHECK_STATUS)
#undef CHECK_STATUS
  /* The exit codes, which scripts depend on. */
  assert_int_equal(idm_status_exit_code(IDM_OK), 0);
  assert_int_equal(idm_status_exit_code(IDM_UNTRUSTED), 1);
  assert_int_equal(idm_status_exit_code(IDM_USAGE), 2);
  assert_int_equal(idm_status_exit_code(IDM_INPUT), 3);
  assert_int_equal(idm_status_exit_code(IDM_NUMERICAL), 4);
  assert_int_equal(idm_status_exit_code(IDM_MEMORY), 5);
  assert_int_equal(idm_status_exit_code(IDM_SYSTEM), 5);
}

static void test_unknown_status_is_a_system_failure(void **state)
{
  (void)state;
  assert_string_equal(idm_status_name((idm_status)99), "IDM_SYSTEM");
  assert_string_equal(idm_status_text((idm_status)99), "system failure");
  assert_int_equal(idm_status_exit_code((idm_status)-1), 5);
}

static void test_fail_fills_everything(void **state)
{
  (void)state;
  idm_error error;
  memset(&error, 'x', sizeof error);
  assert_int_equal(idm_fail_at(&error, "a.yaml", 3, 7, "found %d, expected %s", 4, "five"),
                   IDM_INPUT);
  assert_int_equal(error.status, IDM_INPUT);
  assert_int_equal(error.line, 3);
  assert_int_equal(error.column, 7);
  assert_string_equal(error.file, "a.yaml");
  assert_string_equal(error.message, "found 4, expected five");

  /* A second failure clears the place of the first. */
  assert_int_equal(idm_fail(&error, IDM_NUMERICAL, "bound %g", 0.5), IDM_NUMERICAL);
  assert_int_equal(error.status, IDM_NUMERICAL);
  assert_int_equal(error.line, 0);
  assert_int_equal(error.column, 0);
  assert_string_equal(error.file, "");
  assert_string_equal(error.message, "bound 0.5");

  assert_int_equal(idm_fail_memory(&error), IDM_MEMORY);
  assert_int_equal(error.status, IDM_MEMORY);
  assert_string_equal(error.message, "out of memory");
}

static void test_fail_without_a_handle(void **state)
{
  (void)state;
  assert_int_equal(idm_fail(NULL, IDM_USAGE, "%s", "lost"), IDM_USAGE);
  assert_int_equal(idm_fail_at(NULL, NULL, 1, 1, "%s", "lost"), IDM_INPUT);
  assert_int_equal(idm_fail_memory(NULL), IDM_MEMORY);
}

static void test_long_texts_are_cut(void **state)
{
  (void)state;
  static char text[3 * IDM_PATH_SIZE];
  memset(text, 'm', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  idm_error error;
  assert_int_equal(idm_fail_at(&error, text, 1, 2, "%s", text), IDM_INPUT);
  assert_int_equal(strlen(error.file), sizeof error.file - 1);
  assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

static void check_text(const char *file, long line, long column, const char *expected)
{
  idm_error error;
  assert_int_equal(idm_fail_at(&error, file, line, column, "no"), IDM_INPUT);
  char buffer[64];
  assert_ptr_equal(idm_error_text(&error, buffer, sizeof buffer), buffer);
  assert_string_equal(buffer, expected);
}

static void test_error_text(void **state)
{
  (void)state;
  check_text("f.csv", 12, 4, "f.csv:12:4: no");
  check_text("f.csv", 12, 0, "f.csv:12: no");
  check_text("f.csv", 0, 0, "f.csv: no");
  check_text(NULL, 0, 0, "no");

  idm_error error;
  assert_int_equal(idm_fail_at(&error, "f.csv", 12, 4, "no"), IDM_INPUT);
  char small[6];
  assert_string_equal(idm_error_text(&error, small, sizeof small), "f.csv");
}

static void test_notes_keep_their_order(void **state)
{
  (void)state;
  idm_notes notes = {0};
  for (int i = 0; i < 100; i++) idm_notes_add(&notes, "note %d", i);
  assert_int_equal(notes.count, 100);
  assert_true(notes.capacity >= notes.count);
  for (int i = 0; i < 100; i++) {
    char expected[32];
    snprintf(expected, sizeof expected, "note %d", i);
    assert_string_equal(notes.text[i], expected);
  }
  idm_notes_clear(&notes);
  assert_int_equal(notes.count, 0);
  assert_null(notes.text);
  idm_notes_clear(&notes);

  idm_notes_add(&notes, "again");
  assert_int_equal(notes.count, 1);
  assert_string_equal(notes.text[0], "again");
  idm_notes_clear(&notes);
}

static void test_notes_without_a_list_and_too_long(void **state)
{
  (void)state;
  idm_notes_add(NULL, "nobody listens to %d", 1);
  char text[4096];
  memset(text, 'n', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  idm_notes notes = {0};
  idm_notes_add(&notes, "%s", text);
  assert_int_equal(notes.count, 1);
  const size_t length = strlen(notes.text[0]);
  assert_true(length >= 256 && length < sizeof text);
  assert_memory_equal(notes.text[0], text, length);
  idm_notes_clear(&notes);
}

static void test_version(void **state)
{
  (void)state;
  assert_non_null(idm_version());
  assert_true(strlen(idm_version()) > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_and_exit_codes),
      cmocka_unit_test(test_unknown_status_is_a_system_failure),
      cmocka_unit_test(test_fail_fills_everything),
      cmocka_unit_test(test_fail_without_a_handle),
      cmocka_unit_test(test_long_texts_are_cut),
      cmocka_unit_test(test_error_text),
      cmocka_unit_test(test_notes_keep_their_order),
      cmocka_unit_test(test_notes_without_a_list_and_too_long),
      cmocka_unit_test(test_version),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
