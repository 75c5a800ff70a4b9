/* Tests the opening of files by location against the file kinds created by the test: a path follows
 * symbolic links, a name in a folder given by descriptor does not. */
#include "io/file.h"

#include <fcntl.h>

#include "io/folder_support.h"

static const char *in(const folder *f, const char *file)
{
  static char path[200];
  snprintf(path, sizeof path, "%s/%s", f->path, file);
  return path;
}

static idm_status open_one(const idm_location *place, idm_error *error)
{
  int descriptor;
  const idm_status status = idm_location_open(place, &descriptor, error);
  assert_true((status == IDM_OK) == (descriptor >= 0));
  if (descriptor >= 0) close(descriptor);
  return status;
}

static void test_paths(void **state)
{
  const folder *f = *state;
  idm_error error = {0};
  spill(f->file, "x", 1);
  assert_int_equal(symlink("out.txt", in(f, "link")), 0);
  idm_location place = idm_location_of(in(f, "link"));
  assert_false(idm_location_in_folder(&place));
  assert_true(idm_location_exists(&place));
  check(idm_location_check(&place, &support_error));
  check(idm_location_check_reread(&place, &support_error));
  check(open_one(&place, &support_error));
  place = idm_location_of(in(f, "none"));
  assert_false(idm_location_exists(&place));
  assert_int_equal(open_one(&place, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "none"));
  assert_int_equal(mkfifo(in(f, "pipe"), 0666), 0);
  place = idm_location_of(in(f, "pipe"));
  assert_int_equal(idm_location_check_reread(&place, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "a pipe"));
}

/* Opening a pipe must return at once; the alarm ends a test that blocks until a writer opens the
 * pipe. */
static void test_named(void **state)
{
  const folder *f = *state;
  static const char *const names[] = {"pipe", "link-to-pipe", "inner"};
  static const char *const kinds[] = {"a pipe", "a pipe", "a folder"};
  int descriptor;
  spill(f->file, "x", 1);
  assert_int_equal(symlink("out.txt", in(f, "link")), 0);
  assert_int_equal(symlink("pipe", in(f, "link-to-pipe")), 0);
  assert_int_equal(mkfifo(in(f, "pipe"), 0666), 0);
  assert_int_equal(mkdir(in(f, "inner"), 0777), 0);
  alarm(30);
  for (size_t i = 0; i < 3; i++) {
    idm_error error = {0};
    const idm_location place = idm_location_of(in(f, names[i]));
    assert_int_equal(idm_location_open_named(&place, &descriptor, &error), IDM_INPUT);
    assert_int_equal(descriptor, -1);
    assert_non_null(strstr(error.message, kinds[i]));
  }
  alarm(0);
  const idm_location place = idm_location_of(in(f, "link"));
  check(idm_location_open_named(&place, &descriptor, &support_error));
  close(descriptor);
}

static void test_names(void **state)
{
  const folder *f = *state;
  static const char *const names[] = {"link", "loop", "pipe", "inner"};
  static const char *const kinds[] = {"a symbolic link", "a symbolic link", "a pipe", "a folder"};
  spill(f->file, "x", 1);
  assert_int_equal(symlink("out.txt", in(f, "link")), 0);
  assert_int_equal(symlink("loop", in(f, "loop")), 0);
  assert_int_equal(mkfifo(in(f, "pipe"), 0666), 0);
  assert_int_equal(mkdir(in(f, "inner"), 0777), 0);
  const int here = open(f->path, O_RDONLY);
  assert_true(here >= 0);
  for (size_t i = 0; i < 4; i++) {
    idm_error error = {0};
    const idm_location place = {here, names[i], names[i]};
    assert_true(idm_location_in_folder(&place) && idm_location_exists(&place));
    assert_int_equal(idm_location_check(&place, &error), IDM_INPUT);
    assert_non_null(strstr(error.message, kinds[i]));
    assert_int_equal(open_one(&place, &error), IDM_INPUT); /* must not block at the pipe */
    assert_non_null(strstr(error.message, names[i]));
  }
  const idm_location regular = {here, "out.txt", f->file}, none = {here, "none", "none"};
  check(idm_location_check(&regular, &support_error));
  check(open_one(&regular, &support_error));
  check(idm_location_check(&none, &support_error));
  assert_int_equal(open_one(&none, NULL), IDM_INPUT);
  close(here);
}

static void test_kinds(void **state)
{
  (void)state;
  assert_string_equal(idm_file_kind_name(S_IFSOCK), "a socket");
  assert_string_equal(idm_file_kind_name(S_IFCHR), "a device");
  assert_string_equal(idm_file_kind_name(S_IFBLK), "a device");
  assert_string_equal(idm_file_kind_name(S_IFREG), "a file");
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_paths),
      IN_FOLDER(test_named),
      IN_FOLDER(test_names),
      cmocka_unit_test(test_kinds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
