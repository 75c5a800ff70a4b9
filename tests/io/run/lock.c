/* Locks of folders: one holder, within a process and among several, and none after a kill. */
#include "io/run/lock.h"

#include <signal.h>
#include <sys/wait.h>

#include "io/run/run_support.h"

static void test_one_holder(void **state)
{
  const folder *f = *state;
  idm_lock a = {0}, b = {0};
  idm_error error = {0};
  char number[32];
  check(idm_lock_take(&a, f->file, &support_error));
  assert_int_equal(idm_lock_take(&b, f->file, &error), IDM_SYSTEM);
  snprintf(number, sizeof number, "%ld", (long)getpid());
  assert_non_null(strstr(error.message, number));
  assert_non_null(strstr(error.message, f->file));
  idm_lock_release(&b); /* holds nothing */
  assert_int_equal(idm_lock_take(&b, f->file, NULL), IDM_SYSTEM);
  idm_lock_release(&a);
  assert_int_equal(entries(f, 0), 0);
  check(idm_lock_take(&b, f->file, &support_error));
  idm_lock_release(&b);
  idm_lock_release(&b);
  assert_int_equal(idm_lock_take(&a, "no/such/folder", &error), IDM_SYSTEM);
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
    byte = idm_lock_take(&lock, f->file, NULL) == IDM_OK;
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
    assert_int_equal(idm_lock_take(&lock, f->file, &error), IDM_SYSTEM);
    snprintf(number, sizeof number, "%ld", (long)child);
    assert_non_null(strstr(error.message, number));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    /* Its file is left, and nobody holds it. */
    assert_int_equal(entries(f, 0), 1);
  }
  check(idm_lock_take(&lock, f->file, &support_error));
  idm_lock_release(&lock);
  assert_int_equal(entries(f, 0), 0);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_one_holder),
      IN_FOLDER(test_a_kill_releases_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
