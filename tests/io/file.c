/* Tests reading of whole files up to a size limit and atomic writing (temporary file and rename)
 * against the bytes and directory entries expected after each operation. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/file.h"
#include "io/folder_support.h"

static void check_content(const char *path, const char *expected, size_t length)
{
  char *text;
  size_t found;
  idm_error error = {0};
  assert_int_equal(idm_file_read(path, (size_t)1 << 24, &text, &found, &error), IDM_OK);
  assert_int_equal(found, length);
  assert_memory_equal(text, expected, length);
  assert_int_equal(text[length], 0);
  free(text);
}

/* --- reading -------------------------------------------------------------------------------- */

static void test_read_sizes(void **state)
{
  const folder *f = *state;
  const size_t lengths[] = {0, 1, 100, 65534, 65535, 65536, 65537, 131071, 131072, 1000000};
  char *bytes = malloc(1000000);
  assert_non_null(bytes);
  for (size_t i = 0; i < 1000000; i++) bytes[i] = (char)(i * 7919 >> 3);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    spill(f->file, bytes, lengths[i]);
    check_content(f->file, bytes, lengths[i]);
  }
  free(bytes);
}

static void check_unreadable(const char *path, size_t limit, const char *words)
{
  char *text = (char *)&text;
  size_t length = 99;
  idm_error error = {0};
  assert_int_equal(idm_file_read(path, limit, &text, &length, &error), IDM_INPUT);
  assert_null(text);
  assert_int_equal(length, 0);
  assert_int_equal(error.status, IDM_INPUT);
  assert_non_null(strstr(error.message, path));
  if (!strstr(error.message, words)) fail_msg("'%s' does not speak of '%s'", error.message, words);
  assert_int_equal(idm_file_read(path, limit, &text, &length, NULL), IDM_INPUT);
}

static void test_read_limit(void **state)
{
  const folder *f = *state;
  char bytes[101];
  memset(bytes, 'a', sizeof bytes);
  char *text;
  size_t length;
  spill(f->file, bytes, 100);
  assert_int_equal(idm_file_read(f->file, 100, &text, &length, NULL), IDM_OK);
  assert_int_equal(length, 100);
  free(text);
  spill(f->file, bytes, 101);
  check_unreadable(f->file, 100, "larger than");
  /* A file of unlimited length: reading stops at the limit. */
  check_unreadable("/dev/zero", (size_t)3 << 20, "larger than 3145728 bytes");
}

static void test_read_what_is_not_there(void **state)
{
  const folder *f = *state;
  check_unreadable(f->file, 100, "cannot open");
  check_unreadable(f->file, 100, strerror(ENOENT));
  check_unreadable("", 100, "cannot open");
  check_unreadable(f->path, 100, strerror(EISDIR));
}

static void test_read_standard_input(void **state)
{
  const folder *f = *state;
  spill(f->file, "from\0stdin", 10);
  assert_non_null(freopen(f->file, "rb", stdin));
  check_content("-", "from\0stdin", 10);
  assert_non_null(freopen("/dev/null", "rb", stdin));
  check_content("-", "", 0);
}

/* --- writing -------------------------------------------------------------------------------- */

static idm_file *start(const char *path)
{
  idm_file *file;
  idm_error error = {0};
  if (idm_file_create(path, &file, &error) != IDM_OK) fail_msg("%s", error.message);
  assert_non_null(file);
  return file;
}

static void test_nothing_before_commit(void **state)
{
  const folder *f = *state;
  idm_file *file = start(f->file);
  idm_file_printf(file, "%s %d\n", "line", 1);
  idm_file_write(file, "a\0b", 3);
  assert_int_equal(access(f->file, F_OK), -1);
  /* The temporary file is in the same folder as the final file, where a rename is atomic. */
  assert_int_equal(entries(f, 0), 1);
  assert_int_equal(idm_file_commit(file, NULL), IDM_OK);
  assert_int_equal(entries(f, 0), 1);
  check_content(f->file, "line 1\na\0b", 10);
}

static void test_an_old_file_stays_until_commit(void **state)
{
  const folder *f = *state;
  spill(f->file, "old", 3);
  idm_file *file = start(f->file);
  for (int i = 0; i < 100000; i++) idm_file_printf(file, "%d\n", i);
  check_content(f->file, "old", 3);
  assert_int_equal(idm_file_commit(file, NULL), IDM_OK);
  char *text;
  size_t length;
  assert_int_equal(idm_file_read(f->file, (size_t)1 << 24, &text, &length, NULL), IDM_OK);
  assert_int_equal(length, 588890);
  assert_memory_equal(text + length - 6, "99999\n", 6);
  free(text);
}

static void test_abandon_leaves_nothing(void **state)
{
  const folder *f = *state;
  idm_file *file = start(f->file);
  idm_file_printf(file, "never seen\n");
  idm_file_abandon(file);
  assert_int_equal(entries(f, 0), 0);
  spill(f->file, "old", 3);
  idm_file_abandon(start(f->file));
  assert_int_equal(entries(f, 0), 1);
  check_content(f->file, "old", 3);
  idm_file_abandon(NULL);
}

static void test_two_writers_do_not_mix(void **state)
{
  const folder *f = *state;
  idm_file *a = start(f->file);
  idm_file *b = start(f->file);
  idm_file_printf(a, "a");
  idm_file_printf(b, "b");
  assert_int_equal(idm_file_commit(b, NULL), IDM_OK);
  check_content(f->file, "b", 1);
  assert_int_equal(idm_file_commit(a, NULL), IDM_OK);
  check_content(f->file, "a", 1);
  assert_int_equal(entries(f, 0), 1);
}

static void test_mode_honours_the_mask(void **state)
{
  const folder *f = *state;
  const mode_t masks[] = {022, 027, 077, 0};
  const mode_t before = umask(0);
  for (size_t i = 0; i < 4; i++) {
    umask(masks[i]);
    const idm_status status = idm_file_commit(start(f->file), NULL);
    const mode_t after = umask(before);
    assert_int_equal(status, IDM_OK);
    assert_int_equal(after, masks[i]);
    struct stat info;
    assert_int_equal(stat(f->file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0666 & ~masks[i]);
    assert_int_equal(remove(f->file), 0);
  }
}

/* --- failing writes ------------------------------------------------------------------------- */

static void check_commit_fails(idm_file *file, const char *path, int number)
{
  idm_error error = {0};
  assert_int_equal(idm_file_commit(file, &error), IDM_SYSTEM);
  assert_int_equal(error.status, IDM_SYSTEM);
  assert_non_null(strstr(error.message, path));
  if (number && !strstr(error.message, strerror(number)))
    fail_msg("'%s' does not speak of '%s'", error.message, strerror(number));
}

static void test_full_device(void **state)
{
  (void)state;
  /* The device reports the error at the flush, during a print, and during a large write. */
  idm_file *file = start("/dev/full");
  idm_file_printf(file, "short");
  check_commit_fails(file, "/dev/full", ENOSPC);

  file = start("/dev/full");
  for (int i = 0; i < 100000; i++) idm_file_printf(file, "line %d\n", i);
  check_commit_fails(file, "/dev/full", ENOSPC);

  char *bytes = calloc(1, 1 << 20);
  assert_non_null(bytes);
  file = start("/dev/full");
  idm_file_write(file, bytes, 1 << 20);
  idm_file_printf(file, "errors stick");
  check_commit_fails(file, "/dev/full", ENOSPC);
  free(bytes);

  file = start("/dev/full");
  idm_file_printf(file, "dropped");
  idm_file_abandon(file);
  assert_int_equal(access("/dev/full", F_OK), 0);
}

static void test_device_takes_bytes_directly(void **state)
{
  (void)state;
  idm_file *file = start("/dev/null");
  idm_file_printf(file, "gone");
  assert_int_equal(idm_file_commit(file, NULL), IDM_OK);
  struct stat info;
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
}

static void check_cannot_create(const char *path)
{
  idm_file *file = (idm_file *)&file;
  idm_error error = {0};
  assert_int_equal(idm_file_create(path, &file, &error), IDM_SYSTEM);
  assert_null(file);
  assert_non_null(strstr(error.message, "cannot write"));
  assert_non_null(strstr(error.message, path));
  assert_int_equal(idm_file_create(path, &file, NULL), IDM_SYSTEM);
}

static void test_places_that_cannot_be_written(void **state)
{
  const folder *f = *state;
  char path[160];
  snprintf(path, sizeof path, "%s/missing/out.txt", f->path);
  check_cannot_create(path);
  check_cannot_create(f->path);
  check_cannot_create("/proc/out.txt");
  /* Root can write to a folder whatever its mode, so the check below does not apply to root. */
  if (geteuid() == 0) return;
  assert_int_equal(chmod(f->path, 0500), 0);
  check_cannot_create(f->file);
}

/* A folder with the final name is created before the commit: the rename fails and the temporary
 * file is removed. */
static void test_rename_fails(void **state)
{
  const folder *f = *state;
  idm_file *file = start(f->file);
  idm_file_printf(file, "text");
  assert_int_equal(mkdir(f->file, 0700), 0);
  check_commit_fails(file, f->file, 0);
  assert_int_equal(entries(f, 0), 1);
}

/* --- what is left, and what may be written ------------------------------------------------------ */

static void test_links_stay(void **state)
{
  const folder *f = *state;
  char link[160];
  struct stat info;
  spill(f->file, "old", 3);
  snprintf(link, sizeof link, "%s/link", f->path);
  assert_int_equal(symlink("out.txt", link), 0);
  idm_file *file = start(link);
  idm_file_printf(file, "new");
  assert_int_equal(idm_file_commit(file, NULL), IDM_OK);
  check_content(f->file, "new", 3);
  assert_true(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
  assert_int_equal(remove(f->file), 0);
  check_cannot_create(link);
}

static void test_read_only(void **state)
{
  const folder *f = *state;
  idm_error error = {0};
  idm_file *file;
  spill(f->file, "old", 3);
  assert_int_equal(chmod(f->file, 0444), 0);
  assert_int_equal(idm_file_create(f->file, &file, &error), IDM_SYSTEM);
  assert_non_null(strstr(error.message, "read-only"));
  check_content(f->file, "old", 3);
  assert_int_equal(entries(f, 0), 1);
}

static void test_inputs(void **state)
{
  const folder *f = *state;
  char link[160], hard[160], around[256];
  idm_error error = {0};
  spill(f->file, "old", 3);
  snprintf(link, sizeof link, "%s/link", f->path);
  snprintf(hard, sizeof hard, "%s/hard", f->path);
  snprintf(around, sizeof around, "%s/../%s/out.txt", f->path, strrchr(f->path, '/') + 1);
  assert_int_equal(symlink("out.txt", link), 0);
  assert_int_equal(linkat(AT_FDCWD, f->file, AT_FDCWD, hard, 0), 0);
  const char *const ways[] = {f->file, link, hard, around};
  for (size_t i = 0; i < 4; i++) {
    const char *const inputs[] = {"example:diag", "-", ways[i]};
    assert_true(idm_file_same(f->file, ways[i]));
    assert_int_equal(idm_file_check_output(f->file, inputs, 2, &error), IDM_OK);
    assert_int_equal(idm_file_check_output(f->file, inputs, 3, &error), IDM_USAGE);
    assert_non_null(strstr(error.message, "cannot be written at the same time"));
    assert_int_equal(idm_file_check_output(ways[i], (const char *const[]){f->file}, 1, NULL),
                     IDM_USAGE);
    assert_int_equal(idm_file_check_output("-", inputs, 3, &error), IDM_OK);
  }
  assert_false(idm_file_same(f->file, "no/such/file"));
  assert_false(idm_file_same("no/such/file", "no/such/file"));
}

/* A write removes temporary files of processes that have ended, here a killed child, and keeps
 * those of running processes. */
static void test_dead_files_are_swept(void **state)
{
  const folder *f = *state;
  int ready[2];
  char byte = 0;
  assert_int_equal(pipe(ready), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    idm_file *file;
    if (idm_file_create(f->file, &file, NULL) != IDM_OK || write(ready[1], &byte, 1) != 1) _exit(1);
    for (;;) pause();
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  idm_file_sweep(f->file);
  assert_int_equal(entries(f, 0), 1);
  assert_int_equal(idm_file_commit(start(f->file), NULL), IDM_OK);
  assert_int_equal(entries(f, 0), 2);
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_int_equal(idm_file_commit(start(f->file), NULL), IDM_OK);
  assert_int_equal(entries(f, 0), 1);
  /* The sweep removes only files whose names match FINAL_NAME.PID-NUMBER.tmp; these names do not.
   */
  static const char *const others[] = {"out.txt.tmp", "out.txt.1-.tmp", "out.txt.1-1.tm",
                                       "xout.txt.1-1.tmp", "out.txt.1.1.tmp"};
  for (size_t i = 0; i < 5; i++) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", f->path, others[i]);
    spill(path, "", 0);
  }
  assert_int_equal(idm_file_commit(start(f->file), NULL), IDM_OK);
  assert_int_equal(entries(f, 0), 6);
}

/* --- standard output ------------------------------------------------------------------------ */

/* Redirects standard output to `path`; returns a duplicate of the original descriptor. */
static int redirect(const char *path)
{
  fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  assert_true(kept >= 0);
  FILE *target = fopen(path, "wb");
  assert_non_null(target);
  assert_true(dup2(fileno(target), STDOUT_FILENO) >= 0);
  fclose(target);
  return kept;
}

static void restore(int kept)
{
  fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  clearerr(stdout);
}

static void test_standard_output(void **state)
{
  const folder *f = *state;
  idm_file *file;
  const int kept = redirect(f->file);
  const idm_status created = idm_file_create("-", &file, NULL);
  idm_status committed = IDM_SYSTEM;
  if (created == IDM_OK) {
    idm_file_printf(file, "to %s", "stdout");
    committed = idm_file_commit(file, NULL);
  }
  /* The commit does not close standard output. */
  const int more = printf(", and more");
  restore(kept);
  assert_int_equal(created, IDM_OK);
  assert_int_equal(committed, IDM_OK);
  assert_int_equal(more, 10);
  check_content(f->file, "to stdout, and more", 19);
}

static void test_standard_output_is_full(void **state)
{
  (void)state;
  idm_file *file;
  idm_error error = {0};
  const int kept = redirect("/dev/full");
  idm_status status = idm_file_create("-", &file, &error);
  if (status == IDM_OK) {
    idm_file_printf(file, "lost");
    status = idm_file_commit(file, &error);
  }
  restore(kept);
  assert_int_equal(status, IDM_SYSTEM);
  assert_non_null(strstr(error.message, "standard output"));
}

/* Writing in a folder given by descriptor: a regular file is replaced and a symbolic link is
 * refused. A symbolic link placed at a predicted name of the temporary file is not followed. */
static void test_in_a_folder(void **state)
{
  const folder *f = *state;
  idm_error error = {0};
  idm_file *file;
  char guess[160], precious[128], *text;
  size_t length;
  snprintf(precious, sizeof precious, "%s/precious", f->path);
  spill(precious, "precious", 8);
  snprintf(guess, sizeof guess, "%s.%ld-0.tmp", f->file, (long)getpid());
  assert_int_equal(symlink("precious", guess), 0);
  const int here = open(f->path, O_RDONLY);
  const idm_location place = {here, "out.txt", f->file};
  check(idm_file_create_at(&place, &file, &support_error));
  idm_file_printf(file, "new");
  check(idm_file_commit(file, &support_error));
  check(idm_file_read_at(&place, 100, &text, &length, &support_error));
  assert_string_equal(text, "new");
  free(text);
  check(idm_file_read(precious, 100, &text, &length, &support_error));
  assert_string_equal(text, "precious");
  free(text);
  assert_int_equal(remove(f->file), 0);
  assert_int_equal(symlink("precious", f->file), 0);
  assert_int_equal(idm_file_create_at(&place, &file, &error), IDM_INPUT);
  assert_null(file);
  assert_int_equal(idm_file_read_at(&place, 100, &text, &length, &error), IDM_INPUT);
  assert_null(text);
  /* A sparse file whose size exceeds any memory. */
  assert_int_equal(truncate(precious, (off_t)1 << 42), 0);
  assert_int_equal(idm_file_read(precious, SIZE_MAX, &text, &length, &error), IDM_INPUT);
  close(here);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      TEST(test_in_a_folder),
      TEST(test_read_sizes),
      TEST(test_read_limit),
      TEST(test_read_what_is_not_there),
      TEST(test_read_standard_input),
      TEST(test_nothing_before_commit),
      TEST(test_an_old_file_stays_until_commit),
      TEST(test_abandon_leaves_nothing),
      TEST(test_two_writers_do_not_mix),
      TEST(test_mode_honours_the_mask),
      TEST(test_full_device),
      TEST(test_device_takes_bytes_directly),
      TEST(test_places_that_cannot_be_written),
      TEST(test_rename_fails),
      TEST(test_links_stay),
      TEST(test_read_only),
      TEST(test_inputs),
      TEST(test_dead_files_are_swept),
      TEST(test_standard_output),
      TEST(test_standard_output_is_full),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
