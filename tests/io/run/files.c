/* The files of a run to read, whether or not they are in their place. */
#include "io/run/folder.h"

#include "io/run/run_support.h"

static const char *in(const folder *f, const char *file)
{
  static char path[IDM_PATH_SIZE];
  snprintf(path, sizeof path, "%s/%s", f->path, file);
  return path;
}

static void put(const folder *f, const char *file)
{
  spill(in(f, file), "", 0);
}

static void test_places(void **state)
{
  const folder *f = *state;
  char path[IDM_PATH_SIZE];
  idm_run_files files;
  put(f, "run.nc");
  put(f, "config.yaml");
  check(idm_run_files_open(&files, f->path, &support_error));
  assert_false(idm_run_files_is_pending(&files));
  assert_ptr_equal(idm_run_files_unfinished(&files), &files.run);
  assert_string_equal(idm_run_files_location(&files, "run.nc", path).path, in(f, "run.nc"));
  assert_false(idm_folder_is_complete(&files.run));
  idm_run_files_close(&files);
  assert_int_equal(mkdir(in(f, ".idm-ready"), 0777), 0);
  assert_int_equal(mkdir(in(f, ".idm-next"), 0777), 0);
  put(f, ".idm-ready/run.nc");
  put(f, ".idm-next/config.yaml");
  check(idm_run_files_open(&files, f->path, &support_error));
  assert_true(idm_run_files_is_pending(&files));
  assert_ptr_equal(idm_run_files_unfinished(&files), &files.next);
  assert_string_equal(idm_run_files_location(&files, "run.nc", path).path,
                      in(f, ".idm-ready/run.nc"));
  assert_string_equal(idm_run_files_location(&files, "config.yaml", path).path,
                      in(f, "config.yaml"));
  assert_true(idm_run_files_exist(&files, "run.nc") && idm_run_files_exist(&files, "config.yaml"));
  assert_false(idm_run_files_exist(&files, "summary.json"));
  idm_run_files_close(&files);
  remove(in(f, ".idm-ready/run.nc"));
  /* Complete, but not yet renamed. */
  put(f, ".idm-next/run.nc");
  put(f, ".idm-next/summary.json");
  idm_folder run;
  check(idm_folder_open(&run, f->path, &support_error));
  check(idm_run_files_of(&files, &run, &support_error));
  assert_string_equal(files.run.path, f->path);
  assert_true(idm_folder_is_complete(&files.next) && idm_run_files_is_pending(&files));
  idm_run_files_close(&files);
  idm_folder_close(&run);
  remove(in(f, ".idm-next/config.yaml"));
  remove(in(f, ".idm-next/run.nc"));
  remove(in(f, ".idm-next/summary.json"));
}

/* The folders within are not reached through links. */
static void test_links(void **state)
{
  const folder *f = *state;
  static const char *const names[] = {".idm-next", ".idm-ready"};
  for (size_t i = 0; i < 2; i++) {
    idm_run_files files;
    idm_error error = {0};
    assert_int_equal(symlink(".", in(f, names[i])), 0);
    assert_int_equal(idm_run_files_open(&files, f->path, &error), IDM_INPUT);
    assert_non_null(strstr(error.message, names[i]));
    assert_int_equal(files.run.descriptor, -1);
    entries(f, 1);
  }
}

static void test_outputs(void **state)
{
  const folder *f = *state;
  idm_folder o;
  char around[200];
  check(idm_folder_open(&o, f->path, &support_error));
  snprintf(around, sizeof around, "%s/../%s/page", f->path, strrchr(f->path, '/') + 1);
  idm_location place = idm_folder_output(&o, around);
  assert_int_equal(place.folder, o.descriptor);
  assert_string_equal(place.name, "page");
  assert_string_equal(place.path, around);
  static const char *const outside[] = {"page", "/tmp/page", "-", "no/such/folder/page"};
  for (size_t i = 0; i < 4; i++)
    assert_false(
        idm_location_in_folder(&(idm_location){idm_folder_output(&o, outside[i]).folder, "", ""}));
  idm_folder_close(&o);
  place = idm_folder_output(&o, around);
  assert_false(idm_location_in_folder(&place));
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_places),
      IN_FOLDER(test_links),
      IN_FOLDER(test_outputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
