/* Folders of runs: what lies there, who may write there, and what a failure leaves. */
#include "io/run/folder.h"

#include "io/run/run_support.h"

static void put(const folder *f, const char *file)
{
  char path[IDM_PATH];
  FILE *stream = fopen(idm_folder_path(f->path, file, path), "wb");
  assert_non_null(stream);
  assert_int_equal(fclose(stream), 0);
}

static void test_paths(void **state)
{
  const folder *f = *state;
  char path[IDM_PATH], expected[128], far[2 * IDM_PATH];
  snprintf(expected, sizeof expected, "%s/run.nc", f->path);
  assert_string_equal(idm_folder_path(f->path, IDM_FILE_POSTERIOR, path), expected);
  snprintf(expected, sizeof expected, "%s/chain-1.csv", f->path);
  assert_string_equal(idm_folder_chain(f->path, 0, path), expected);
  assert_true(idm_folder_is(f->path) && idm_run_is(f->path));
  assert_false(idm_folder_is("no/such/folder"));
  assert_false(idm_folder_has(f->path, IDM_FILE_CONFIG));
  put(f, IDM_FILE_CONFIG);
  assert_true(idm_folder_has(f->path, IDM_FILE_CONFIG));
  /* A path that no system takes is nowhere. */
  memset(far, 'x', sizeof far);
  far[sizeof far - 1] = '\0';
  assert_false(idm_folder_has(far, IDM_FILE_CONFIG));
}

static void test_modes(void **state)
{
  const folder *f = *state;
  idm_error error = {0};
  char path[IDM_PATH];
  bool made = true;
  for (int mode = 0; mode < 3; mode++) {
    check(idm_folder_open(f->path, (idm_run_mode)mode, &made, &support_error));
    assert_false(made);
  }
  put(f, IDM_FILE_CONFIG);
  assert_int_equal(idm_folder_open(f->path, IDM_RUN_NEW, &made, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "holds a run already"));
  check(idm_folder_open(f->path, IDM_RUN_RESUME, &made, &support_error));
  check(idm_folder_open(f->path, IDM_RUN_OVERWRITE, &made, &support_error));
  idm_folder_path(f->path, "new", path);
  assert_int_equal(idm_folder_open(path, IDM_RUN_RESUME, &made, &error), IDM_USAGE);
  assert_non_null(strstr(error.message, "there is no run"));
  check(idm_folder_open(path, IDM_RUN_NEW, &made, &support_error));
  assert_true(made);
  check(idm_folder_make(path, &made, &support_error));
  assert_false(made);
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(idm_folder_make("no/such/folder", &made, &error), IDM_SYSTEM);
  assert_false(made);
  put(f, "file");
  assert_int_equal(idm_folder_make(idm_folder_path(f->path, "file", path), &made, &error),
                   IDM_SYSTEM);
}

static void test_what_is_there(void **state)
{
  const folder *f = *state;
  assert_false(idm_folder_unfinished(f->path) || idm_run_complete(f->path));
  put(f, IDM_FILE_CONFIG);
  assert_true(idm_folder_unfinished(f->path));
  put(f, IDM_FILE_POSTERIOR);
  assert_true(idm_run_complete(f->path));
  assert_false(idm_folder_unfinished(f->path));
  put(f, IDM_FILE_CHECKPOINT);
  assert_false(idm_run_complete(f->path));
  idm_folder_clear(f->path);
  put(f, IDM_FILE_REPLICATIONS);
  assert_false(idm_folder_unfinished(f->path));
}

static void test_leaving(void **state)
{
  const folder *f = *state;
  static const char *const files[] = {IDM_FILE_CONFIG, IDM_FILE_POSTERIOR, IDM_FILE_SUMMARY,
                                      "chain-1.csv",   "chain-2.csv",      "notes.txt"};
  for (size_t i = 0; i < 6; i++) put(f, files[i]);
  put(f, IDM_FILE_CHECKPOINT);
  /* There is something to go on with. */
  idm_folder_abandon(f->path, true);
  assert_int_equal(entries(f, 0), 7);
  idm_folder_clear(f->path);
  assert_int_equal(entries(f, 0), 2);
  assert_true(idm_folder_has(f->path, IDM_FILE_CONFIG));
  /* What is not of a run stays, and with it the folder. */
  idm_folder_abandon(f->path, true);
  assert_int_equal(entries(f, 0), 1);
  assert_true(idm_folder_has(f->path, "notes.txt"));
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_paths),
      IN_FOLDER(test_modes),
      IN_FOLDER(test_what_is_there),
      IN_FOLDER(test_leaving),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
