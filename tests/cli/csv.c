/* Tests tables written by commands, unchanged and with --spreadsheet-safe, against expected texts.
 */
#include "cli/cli.h"

#include "cli/cli_support.h"
#include "io/folder_support.h"

static const cli_command command = {
    .name = "table", .max_arguments = 1, .options = (const cli_option[]){CLI_SAFE_OPTION, CLI_END}};

static idm_status put(const void *content, const char *path, idm_error *error)
{
  idm_file *file;
  const idm_status status = idm_file_create(path, &file, error);
  if (status != IDM_OK) return status;
  idm_file_printf(file, "%s", (const char *)content);
  return idm_file_commit(file, error);
}

static idm_status refuse(const void *content, const char *path, idm_error *error)
{
  (void)content;
  return idm_fail(error, IDM_INPUT, "no table for '%s'", path);
}

static void test_tables(void **state)
{
  const folder *f = *state;
  for (int safe = 0; safe < 2; safe++) {
    cli_call call;
    char *text, *words[] = {"--spreadsheet-safe"};
    size_t length;
    check(cli_parse(&call, &command, safe, words));
    check(cli_write_csv(&call, f->file, put, "=a,-1\n"));
    check(idm_file_read(f->file, 100, &text, &length, &support_error));
    assert_string_equal(text, safe ? "\"'=a\",-1\n" : "=a,-1\n");
    free(text);
    assert_int_equal(cli_write_csv(&call, f->file, refuse, NULL), IDM_INPUT);
    cli_call_free(&call);
  }
  assert_int_equal(entries(f, 0), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_tables, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
