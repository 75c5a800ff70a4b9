/* Locks of folders: one holder, within a process and among several, and none after a kill. */
#include "io/run/folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "io/run/run_support.h"

/* The lock that is a file of that path. */
static idm_status take(idm_lock *lock, const char *path, idm_error *error)
{
  const idm_location place = idm_location_of(path);
  return idm_lock_take(lock, &place, error);
}

static void test_one_holder(void **state)
{
  const folder *f = *state;
  idm_lock a = {0}, b = {0};
  idm_error error = {0};
  char number[32];
  check(take(&a, f->file, &support_error));
  assert_int_equal(take(&b, f->file, &error), IDM_SYSTEM);
  snprintf(number, sizeof number, "%ld", (long)getpid());
  assert_non_null(strstr(error.message, number));
  assert_non_null(strstr(error.message, f->file));
  idm_lock_release(&b); /* holds nothing */
  assert_int_equal(take(&b, f->file, NULL), IDM_SYSTEM);
  idm_lock_release(&a);
  assert_int_equal(entries(f, 0), 0);
  check(take(&b, f->file, &support_error));
  idm_lock_release(&b);
  idm_lock_release(&b);
  assert_int_equal(take(&a, "no/such/folder", &error), IDM_SYSTEM);
}

/* A child that holds the lock until it is killed. */
static pid_t hold(const folder *f)
{
  int ready[2];
  char byte = 0;
  assert_int_equal(pipe(ready), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    idm_lock lock = {0};
    byte = take(&lock, f->file, NULL) == IDM_OK;
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    for (;;) pause();
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  assert_int_equal(byte, 1);
  close(ready[0]);
  close(ready[1]);
  return child;
}

static void test_a_kill_releases_it(void **state)
{
  const folder *f = *state;
  idm_lock lock = {0};
  idm_error error = {0};
  for (int i = 0; i < 3; i++) {
    const pid_t child = hold(f);
    char number[32];
    assert_int_equal(take(&lock, f->file, &error), IDM_SYSTEM);
    snprintf(number, sizeof number, "%ld", (long)child);
    assert_non_null(strstr(error.message, number));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    /* Its file is left, and nobody holds it. */
    assert_int_equal(entries(f, 0), 1);
  }
  check(take(&lock, f->file, &support_error));
  idm_lock_release(&lock);
  assert_int_equal(entries(f, 0), 0);
}

/* A file that is there is not written to, whatever other name it has; only a regular file is a
 * lock. */
static void test_strangers(void **state)
{
  const folder *f = *state;
  idm_lock lock = {0};
  idm_error error = {0};
  char precious[128], bytes[32] = "";
  snprintf(precious, sizeof precious, "%s/precious", f->path);
  spill(precious, "precious", 8);
  assert_int_equal(link(precious, f->file), 0);
  check(take(&lock, f->file, &support_error));
  FILE *stream = fopen(precious, "rb");
  assert_non_null(stream);
  assert_int_equal(fread(bytes, 1, sizeof bytes, stream), 8);
  fclose(stream);
  assert_string_equal(bytes, "precious");
  idm_lock_release(&lock);
  assert_int_equal(entries(f, 0), 1);
  const int here = open(f->path, O_RDONLY);
  const idm_location place = {here, "out.txt", f->file};
  assert_int_equal(symlink("precious", f->file), 0);
  assert_int_equal(idm_lock_take(&lock, &place, &error), IDM_INPUT);
  assert_non_null(strstr(error.message, "a symbolic link"));
  remove(f->file);
  assert_int_equal(mkfifo(f->file, 0666), 0);
  assert_int_equal(idm_lock_take(&lock, &place, &error), IDM_INPUT);
  close(here);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_one_holder),
      IN_FOLDER(test_a_kill_releases_it),
      IN_FOLDER(test_strangers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
