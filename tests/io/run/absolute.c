/* Paths of a request that are good from every folder. */
#include "io/run/folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/folder_support.h"
#include "support.h"

static void put(const char *path)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fclose(file), 0);
}

/* Files that are there become absolute, links and dots followed; what is not stays as given, and so
 * does a problem without a hash, which is a built-in example. */
static void test_paths(void **state)
{
  const folder *f = *state;
  char here[1024], real[1200], log[1200], expected[2600];
  idm_request r;
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(f->path), 0);
  assert_non_null(getcwd(real, sizeof real));
  put("a b.csv");
  put("p.yaml");
  assert_int_equal(symlink("a b.csv", "link.csv"), 0);
  idm_request_default(&r);
  strcpy(r.data, "./a b.csv\nlink.csv\nno/such.csv");
  strcpy(r.problem, "p.yaml");
  idm_request_make_absolute(&r);
  snprintf(log, sizeof log, "%.1100s/a b.csv", real);
  snprintf(expected, sizeof expected, "%s\n%s\nno/such.csv", log, log);
  assert_string_equal(r.data, expected);
  assert_string_equal(r.problem, "p.yaml");
  strcpy(r.problem_hash, "ab");
  idm_request_make_absolute(&r);
  assert_string_equal(r.data, expected); /* the same again */
  snprintf(expected, sizeof expected, "%.1100s/p.yaml", real);
  assert_string_equal(r.problem, expected);
  assert_int_equal(chdir(here), 0);
}

/* What config.yaml could not name stays. */
static void test_unnamable(void **state)
{
  const folder *f = *state;
  char here[1024];
  idm_request r;
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(f->path), 0);
  assert_int_equal(mkdir("\xff", 0700), 0);
  assert_int_equal(chdir("\xff"), 0);
  put("p.yaml");
  idm_request_default(&r);
  strcpy(r.data, "p.yaml");
  strcpy(r.problem, "p.yaml");
  strcpy(r.problem_hash, "ab");
  idm_request_make_absolute(&r);
  assert_string_equal(r.data, "p.yaml");
  assert_string_equal(r.problem, "p.yaml");
  remove("p.yaml");
  assert_int_equal(chdir(".."), 0);
  assert_int_equal(rmdir("\xff"), 0);
  assert_int_equal(chdir(here), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_paths, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_unnamable, make_folder, remove_folder)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
