/* Tests the report page of a folder: it is written into the folder, and a symbolic link in its
 * place is refused. */
#include "cli/common.h"

#include "cli/cli.h"
#include "cli/cli_support.h"
#include "io/folder_support.h"

static const cli_command command = {.name = "report",
                                    .arguments = "RUN",
                                    .max_arguments = 1,
                                    .options = (const cli_option[]){CLI_END}};

/* Makes the folder of a study of one replication. */
static void make_study(const char *path)
{
  idm_problem *problem;
  idm_calibration *c;
  idm_calibration_settings settings;
  check(idm_problem_read("example:diag", &problem, NULL, &support_error));
  problem->agent.resolution = 9;
  check(idm_problem_set_free(problem, "alpha", &support_error));
  idm_calibration_settings_default(&settings);
  settings.replications = 1;
  settings.trajectories = 5;
  settings.threads = 1;
  snprintf(settings.inverse, sizeof settings.inverse, "laplace");
  check(idm_calibration_create(problem, &settings, &c, &support_error));
  check(idm_replications_run(c, path, NULL, NULL, &support_error));
  idm_calibration_destroy(c);
  idm_problem_destroy(problem);
}

static void test_page(void **state)
{
  const folder *f = *state;
  cli_call call = {0};
  char path[CLI_PAGE_PATH], *text;
  size_t length;
  check(cli_parse(&call, &command, 0, NULL));
  make_study(f->path);
  check(cli_write_page(&call, f->path, cli_page_path(f->path, path)));
  check(idm_file_read(path, 1 << 24, &text, &length, &support_error));
  assert_non_null(strstr(text, "content=\"idm "));
  free(text);
  /* A symbolic link in its place is refused, and its target is unchanged. */
  assert_int_equal(remove(path), 0);
  spill(f->file, "precious", 8);
  assert_int_equal(symlink("out.txt", path), 0);
  assert_int_equal(cli_write_page(&call, f->path, path), IDM_INPUT);
  assert_non_null(strstr(call.error.message, "report.html"));
  check(idm_file_read(f->file, 100, &text, &length, &support_error));
  assert_string_equal(text, "precious");
  free(text);
  assert_int_equal(cli_write_page(&call, "no/such/folder", path), IDM_INPUT);
  cli_call_free(&call);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_page, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
